/* Rotations of space, many at once: loops over columns of records (manifold_rotations_space.c). */
#ifndef RIEMDP_MANIFOLD_ROTATIONS_H
#define RIEMDP_MANIFOLD_ROTATIONS_H

#include "manifold.h"

/* The operation on n records of 9 numbers each, checks of its arguments first where `check` says so; `record` and `coordinate` as in
 * manifold.h's `strided`. The output may be an input where inputs aren't columns. No record changes a bit of another's. */
int rotations_space_run(enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
                        int check, size_t n);
/* the same on points, unchecked */
int rotations_space_points(enum strided_operation op, double *out, const struct points *in, size_t begin, size_t end);
/* sums w c of the coordinates of logarithms at p, and w d^2 */
int rotations_space_log_sum(double *total, double *sum_sq, const double *p, struct points x, const double *w, size_t begin, size_t end);
/* whether all are points */
int rotations_space_check(struct points x, size_t begin, size_t end);
/* exp of one vector of any length */
int rotations_exp_one(size_t n, double *out, const double *p, const double *v);

#endif
