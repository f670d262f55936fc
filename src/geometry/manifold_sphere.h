/* Spheres: what their files share. Three coordinates, many records at once: manifold_sphere_space.c. */
#ifndef RIEMDP_MANIFOLD_SPHERE_H
#define RIEMDP_MANIFOLD_SPHERE_H

#include "manifold.h"

enum { SPHERE_CHUNK = 128 };

/* of y about p, for each record: |y - p|^2, |y + p|^2 and p'(y - p) */
struct sphere_apart {
    double chord[SPHERE_CHUNK], anti[SPHERE_CHUNK], along[SPHERE_CHUNK];
};

/* The operation on n records of 3 numbers each, checks of its arguments first where `check` says so; `record` and `coordinate` as in
 * manifold.h's `strided`. */
int sphere_space_run(enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
                     int check, size_t n);
/* the same on points, unchecked */
int sphere_space_points(enum strided_operation op, double *out, struct points a, struct points b, struct points c,
                        size_t begin, size_t end);
/* of at most SPHERE_CHUNK records */
void sphere_space_apart(size_t count, const double *p, struct points x, struct sphere_apart *to);
/* to length one */
void sphere_rescale(size_t n, double *x);

#endif
