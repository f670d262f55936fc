/* The Frechet mean with a proven bound of all its rounding errors, as normal coordinates at the public centre: what the
 * lattice release rounds and adds integer noise to. Bounds, and the numbers in struct lattice_mean: inst/proofs/lattice.md
 * and R/mechanism-lattice.R. */
#ifndef RIEMDP_MECHANISM_LATTICE_H
#define RIEMDP_MECHANISM_LATTICE_H

#include "manifold.h"

/* model spaces in which bounds are proven; they see normal coordinates only */
enum lattice_model {
    LATTICE_NONE,
    LATTICE_FLAT,
    LATTICE_SPHERE,
    LATTICE_HYPERBOLIC,
    LATTICE_PLANAR,
    LATTICE_SPD,
    LATTICE_GRASSMANN
};

struct lattice_mean {
    enum lattice_model model;
    size_t dim, rows, cols; /* rows, cols of matrices: k, k, or n, p of subspaces */
    double radius;
    double step; /* of the gradient, and their number */
    int steps;
    int bits;    /* sums are whole multiples of 2^-bits */
    double base; /* series of the matrix logarithm: tanh(r'/4), r' the radius of its spectrum, and its terms */
    int terms;   /* of that, or of the series of subspaces' logarithms */
};

enum lattice_model lattice_model(manifold_t m);
size_t lattice_point_size(const struct lattice_mean *c);
size_t lattice_mean_work(const struct lattice_mean *c);
/* One record's coordinates: at length `radius` or below for certain, multiples of 2^-bits; what isn't finite becomes 0 */
void lattice_clip(const struct lattice_mean *c, double *a);
/* the point of the model space with normal coordinates a */
void lattice_embed(const struct lattice_mean *c, const double *a, double *y, double *work);
/* Coordinates of the mean of n embedded points. sum: dim integers. Nothing can fail, and the number of steps is public. */
void lattice_mean_run(const struct lattice_mean *c, size_t n, const double *y, double *a, int64_t *sum,
                      struct host *host, double *work);

/* The same where the points are elsewhere: `add` adds what they add to the sum at coordinates a. Integers: the same bits. */
struct lattice_records {
    void (*add)(const struct lattice_records *r, const double *a, int64_t *sum);
    void *data;
};
void lattice_mean_of(const struct lattice_mean *c, size_t n, const struct lattice_records *records, double *a,
                     int64_t *sum, struct host *host, double *work);
/* adds what n points add */
void lattice_add(const struct lattice_mean *c, size_t n, const double *y, const double *a, int64_t *sum,
                 struct host *host, double *work);

#endif
