/* What the two models of hyperbolic space share. A point of the hyperboloid is its d space coordinates a, its time coordinate is
 * a_0 = sqrt(1 + |a|^2), and a tangent vector there is its coordinates in the frame that the boost of a to the apex carries to the
 * axes. Nothing here is a difference of large numbers: relative errors stay at some d units in the last place wherever a point
 * lies (inst/proofs/geometry.md, section 1). Points lie within HYPERBOLIC_HOLD. */
#ifndef RIEMDP_MANIFOLD_HYPERBOLIC_H
#define RIEMDP_MANIFOLD_HYPERBOLIC_H

#include "manifold.h"

/* The largest time coordinate, at a distance of 32.6 from the apex. There rounding of a point's coordinates alone moves it by up
 * to sqrt(d)/128: further out doubles say little about where a point is. */
#define HYPERBOLIC_HOLD 0x1p46

/* y: space coordinates of x after the boost that carries sign * a to the apex (sign = -1: back). y overlaps neither. */
void hyperbolic_boost(size_t d, double sign, const double *a, const double *x, double *y);
/* z: coordinates of the tangent vector at a with space part u; no overlap */
void hyperbolic_coords(size_t d, const double *a, const double *u, double *z);
/* the space part u of the tangent vector with coordinates z, and its time part; u may be z */
double hyperbolic_from_coords(size_t d, const double *a, const double *z, double *u);
/* coordinates at a to those of the parallel vector at b, in place; normal: d doubles */
void hyperbolic_turn(size_t d, const double *a, const double *b, double *z, double *normal);
/* coordinates z of a logarithm from the carried point y, and back; in place */
void hyperbolic_log(size_t d, double *y);
void hyperbolic_exp(size_t d, double *z);
/* moves a point beyond HYPERBOLIC_HOLD along its ray to there; its time coordinate */
double hyperbolic_hold(size_t d, double *a);

#endif
