/* Laws of sums of likelihood ratios, for a record that takes part in one of many steps: spread so that means are kept (upper
 * bounds of every convex function's mean) or merged into conditional means (lower bounds). */
#ifndef RIEMDP_ACCOUNTANT_ALLOCATION_H
#define RIEMDP_ACCOUNTANT_ALLOCATION_H

#include "ground.h"

#include <stdint.h>

/* Masses of the numbers e^(step j), j = coarse first, coarse (first + 1), ... */
struct allocation_law {
    const double *mass;
    size_t n;
    int64_t first;
    int64_t coarse; /* 1, or how many steps lie between two points */
};

/* Where log(1 + e^-d) lies on the finer grid: whole steps below it, and the share of the point above. */
struct allocation_place {
    int64_t below;
    double share;
};

/* how many distances two laws' points have */
size_t allocation_reach(const struct allocation_law *a, const struct allocation_law *b);

/* The sum of a number of law a and one of law b, independent, on the points e^(step j/refine), j = first, first + 1, ...: each sum
 * is split between the two points around it so that mass and mean are kept. `out` holds `bins` numbers, zeroed here. With `b` NULL
 * both are of law a, whose coarse is 1; else `places` has room for allocation_reach() of them. Returns nonzero, and `out` is of no use,
 * where a point would lie outside. */
int allocation_spread(const struct allocation_law *a, const struct allocation_law *b, double step, int64_t refine, int64_t first,
                      size_t bins, struct allocation_place *places, double *out, struct host *host);

/* n outcomes (mass, value) of one law and m of another, values ascending: masses of their sums, and of mass times value, for each
 * of the bins between the ascending edges; the last bin has no upper end. With `second` NULL both are of the first law. */
void allocation_merge(size_t n, const double *mass, const double *value, size_t m, const double *second_mass,
                      const double *second, size_t bins, const double *edges, double *out, struct host *host);

#endif
