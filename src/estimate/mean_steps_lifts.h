/* Parts of mean_steps.c: metrics whose points are handled above the manifold. */
#ifndef RIEMDP_MEAN_STEPS_LIFTS_H
#define RIEMDP_MEAN_STEPS_LIFTS_H

#include "mean_steps.h"

/* planar shapes: the rotation that carries the point with coordinates a to the centre, or back, and coordinates of what was carried */
void make_turn(const struct mean_steps *c, const double *a, double *turn);
void turn_planar(const struct mean_steps *c, const double *turn, int back, const double *y, double *out);
void log_turned(const struct mean_steps *c, const double *y, double *a);

void subspace_exp(const struct mean_steps *c, const double *b, double *y, double *work);
void make_subspace_turn(const struct mean_steps *c, const double *b, double *turn, double *work);
void turn_subspace(const struct mean_steps *c, const double *turn, int back, const double *y, double *out, double *work);
void subspace_log(const struct mean_steps *c, const double *y, double *a, double *work);

void bures_factor(const struct mean_steps *c, const double *a, double *y);
void bures_coords(const struct mean_steps *c, const double *z, double *a);
void bures_log(const struct mean_steps *c, const double *b, const double *y, double *out, double *work);

/* n x p frames: a point is its coordinates. How long the series of a ball's radius are */
void frame_series(struct mean_steps *c);
void frame_isometry(const struct mean_steps *c, const double *a, double *isometry, double *work);
void frame_log(const struct mean_steps *c, const double *isometry, int back, const double *y, double *z, double *work);

#endif
