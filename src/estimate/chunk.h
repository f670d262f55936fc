/* What one chunk of records adds to sums over all of them. Every record's numbers are made by themselves and added exactly, so the sums
 * depend neither on where chunks are cut, nor on who works on them in which order. */
#ifndef RIEMDP_CHUNK_H
#define RIEMDP_CHUNK_H

#include "exact.h"
#include "source.h"

struct chunk_pass {
    manifold_t m;
    const struct source *x;
    size_t width; /* numbers a record */
    size_t work;  /* doubles that `rows` needs */
    /* the numbers of `count` records from number `begin` on; a status where one of them has none */
    int (*rows)(const struct chunk_pass *c, double *out, struct points x, size_t begin, size_t count, double *work);
    int total; /* a record without numbers, or with such that aren't finite, adds nothing; else the pass ends */
    const void *data;
};

size_t chunk_work(const struct chunk_pass *c);
/* sums: one for each lane of the source, cleared; their total is in the first */
int chunk_run(const struct chunk_pass *c, struct exact *sums, double *work);

/* w log_p x and w d^2 (mean), or w log/d and w d (median): ambient + 1 numbers */
struct chunk_logs {
    const double *p, *w; /* w may be NULL */
    int median;
};
struct chunk_pass chunk_logs_pass(manifold_t m, const struct source *x, const struct chunk_logs *data, int total);

/* what manifold_start_add() adds to `seed`: 2 ambient numbers */
struct chunk_start {
    const double *seed, *w;
};
struct chunk_pass chunk_start_pass(manifold_t m, const struct source *x, const struct chunk_start *data);

/* orthonormal coordinates of log_p x: dim numbers; and points as they are: ambient numbers */
struct chunk_pass chunk_coords_pass(manifold_t m, const struct source *x, const double *p);
/* coordinates at p, each record's no longer than `most`, exactly */
struct coords_within {
    const double *p;
    double most;
};
struct chunk_pass chunk_short_coords_pass(manifold_t m, const struct source *x, const struct coords_within *w);
struct chunk_pass chunk_points_pass(manifold_t m, const struct source *x);

/* Records moved into the public ball, and the ball (if `carried`) to the reference point `origin`, as private means see them. */
struct ball_view {
    manifold_t m;
    const double *centre, *origin;
    double radius;
    int carried;
};
/* out may be x */
void ball_view(const struct ball_view *b, double *out, struct points x, size_t count, double *work);

#endif
