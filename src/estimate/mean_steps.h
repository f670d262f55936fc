/* The Frechet mean with a proven bound of all its rounding errors, as normal coordinates at the public centre: what every private
 * mean rests on. A public number of steps, or fewer where a mean found otherwise passes a test that the steps would pass as well.
 * Bounds, and the numbers in struct mean_steps: inst/proofs/mean-solver.md and R/mean-steps.R. */
#ifndef RIEMDP_MEAN_STEPS_H
#define RIEMDP_MEAN_STEPS_H

#include "manifold.h"

/* model spaces in which bounds are proven; they see normal coordinates only */

/* an exponential acts as so many equal factors, each by a series of this degree */
struct frame_series {
    int parts, degree;
};

/* terms of a matrix logarithm's series, and for which matrices it is */
struct log_series {
    double base, range;
    int terms;
};

enum {
    SERIES = 13,
    STEPS_GROUP = 16 /* records that are worked on at once, between two ticks */
};

struct mean_part;

struct mean_steps {
    enum manifold_model model;
    size_t dim, rows, cols; /* rows, cols of matrices: k, k, or n, p of subspaces */
    size_t span;            /* numbers of a gradient: dim, or k^2 of a matrix */
    double radius;
    double step; /* of the gradient, and their number */
    int steps;
    int bits;    /* coordinates and sums are whole multiples of 2^-bits */
    double base; /* series of the matrix logarithm: tanh(r'/2), eigenvalues' logarithms within 2r', and its terms */
    struct log_series series[SERIES]; /* that one, and shorter ones for matrices nearer to I */
    int even;                         /* that one alone: the work doesn't tell how near they are */
    double *used;                     /* how often each was taken, for tests; or NULL */
    int terms;   /* of that, or of the series of subspaces' logarithms, or of an iteration for a polar factor, or for a frame's logarithm */
    double accept; /* a start whose computed gradient is no longer than this is the mean */
    const double *root; /* Bures-Wasserstein: the roots of the centre's eigenvalues, from the smallest */
    double scale;       /* brings products of two factors to norm 1 or below */
    struct frame_series near, far; /* frames: of points in the ball, and of points as far from each other as carried ones */
    int carry;                     /* terms of parallel transport */
    size_t parts;                  /* of a product */
    const struct mean_part *part;
};

/* A product's part: its own coordinates are those of the product over `root`. Where its numbers begin among the product's coordinates,
 * gradients, embedded points and room. */
struct mean_part {
    struct mean_steps steps;
    double root;
    size_t coord, span, point, room;
};

enum manifold_model steps_model(manifold_t m);
size_t steps_point_size(const struct mean_steps *c);
size_t steps_work(const struct mean_steps *c);
/* what is no longer as computed isn't longer than `radius` */
double steps_edge(const struct mean_steps *c);
/* One record's coordinates: at length `radius` or below for certain, multiples of 2^-bits; what isn't finite becomes 0 */
void steps_clip(const struct mean_steps *c, double *a);
/* the point of the model space with normal coordinates a */
void steps_embed(const struct mean_steps *c, const double *a, double *y, double *work);
/* n of them: numbers of record i stand at a + i a_apart, and go to y + i y_apart. Each gives the bits of a single call. */
void steps_embed_all(const struct mean_steps *c, size_t n, const double *a, size_t a_apart, double *y, size_t y_apart, double *work);

/* n embedded points, or, where y is NULL, points elsewhere: `add` adds what they add to the sum at coordinates a. Sums are whole
 * numbers, 2 span of them: multiples of 2^31, and the rest. So the bits don't depend on who sums in which order. */
struct steps_records {
    size_t n;
    const double *y;
    void (*add)(const struct steps_records *r, const double *a, int64_t *sum);
    double (*squares)(const struct steps_records *r, const double *a);
    void *data;
};

/* adds what n points add; `progress`: done of how many */
void steps_add(const struct mean_steps *c, size_t n, const double *y, const double *a, int64_t *sum, struct host *host,
               double *work);
/* to the point with coordinates a, and from there the logarithm of an embedded point, in `span` coordinates, v; `work` stays between them */
void steps_stand(const struct mean_steps *c, const double *a, double *work);
void steps_log(const struct mean_steps *c, const double *a, const double *y, double *v, double *work);
/* n of them, as steps_embed_all() has records */
void steps_logs(const struct mean_steps *c, const double *a, size_t n, const double *y, size_t y_apart, double *v, size_t v_apart,
                double *work);
/* from there along v, in `span` coordinates that are overwritten: the coordinates a of that point become those of the end, not clipped */
void steps_end(const struct mean_steps *c, double *v, double *a, double *work);
/* Minus the gradient of the energy at the point with coordinates a, in `span` coordinates there; returns its length. */
double steps_gradient(const struct mean_steps *c, const struct steps_records *r, const double *a, double *g,
                      int64_t *sum, struct host *host, double *work);
/* The sum of the points' squared distances from that with coordinates a, over that of the ball's diameter, each rounded up to a multiple of
 * 2^-bits and counted in these, `most` for larger ones: a whole number. */
double steps_squares(const struct mean_steps *c, size_t n, const double *y, const double *a, double bits, double most, struct host *host,
                     double *work);
/* Adds to `sum` the products of each point's logarithm there with itself, over the square of the ball's diameter: for j <= k the product of
 * coordinates j and k, times sqrt(2) where they differ (so the vector is as long as the squared distance), each rounded to a multiple of
 * 2^-bits and counted in these. A logarithm longer than `reach` times the diameter counts as one of that length. span (span + 1)/2 numbers,
 * the last index k fastest. */
void steps_products(const struct mean_steps *c, size_t n, const double *y, const double *a, double bits, double reach, double *sum,
                    struct host *host, double *work);
/* at least the root of the records' mean squared distance from there */
double steps_far(const struct mean_steps *c, const struct steps_records *r, const double *a, struct host *host, double *work);
/* Coordinates of the mean. start: NULL (all steps are taken), or coordinates to try first. Nothing can fail. */
void mean_steps_run(const struct mean_steps *c, const struct steps_records *r, const double *start, double *a,
                    int64_t *sum, struct host *host, double *work);

#endif
