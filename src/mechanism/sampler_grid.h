/* Points of a lattice in a ball of R^d, each with probability in proportion to a weight that is a fraction: by integer arithmetic on
 * random bits, whatever doubles the weights come from (inst/proofs/median.md, section 4). */
#ifndef RIEMDP_SAMPLER_GRID_H
#define RIEMDP_SAMPLER_GRID_H

#include <stddef.h>

#include "sampler_discrete.h"

enum {
    GRID_BINS = 512, /* to one side, 32 to a standard deviation */
    GRID_PARTS = 192,
    GRID_RADII = 640,
    GRID_DIM = 128
};

struct grid {
    /* in */
    size_t d;            /* up to GRID_DIM */
    double radius, step; /* lattice points are z step, step a power of two and radius at most 2^52 of it */
    const int64_t *base; /* where weights are large */
    /* log of a bound of the weights of all points at least u from the base; it falls, and where a weight is above it the law isn't the
     * one of the weights (`clamped`) */
    double (*most)(const void *data, double u);
    /* NULL, or what the proposals' widths and numbers are made for in the place of `most`, with its data and the reach */
    double (*fit)(const void *data, double u);
    const void *fit_data;
    double fit_reach;
    /* of the point with coordinates a; m = 0: there is none */
    struct dyadic (*weight)(void *data, const double *a);
    void *data;
    /* made by grid_make */
    double reach; /* no point is farther from the base */
    size_t parts;
    uint64_t size[GRID_PARTS], number[GRID_PARTS], total; /* bins are `size` steps wide; with which numbers parts are proposed */
    uint64_t factor[GRID_PARTS];                          /* size = factor times a power of two */
    size_t twos[GRID_PARTS];                              /* that power's logarithm */
    uint64_t table[GRID_BINS], sums[GRID_BINS];           /* of a bin, and up to it */
    double above;                                         /* log of how much a weight can be of its proposal */
    struct dyadic most_of;                                /* that, or more */
    double share[GRID_PARTS], log_number[GRID_PARTS], log_size[GRID_PARTS];
    /* counts for tests; never part of a release */
    double trials, clamped;
};

size_t grid_work(void);
void grid_make(struct grid *g, double *work);
/* log of what weights add up to where every trial succeeds */
double grid_log_proposed(const struct grid *g);
/* coordinates of a point; trials go on until one is kept */
void grid_draw(struct grid *g, struct bits *bits, double *a);

#endif
