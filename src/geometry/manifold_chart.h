/* Flat spaces seen through a chart: a global diffeomorphism onto R^dim carries the Euclidean metric back, so distances, geodesics and
 * transports are those of R^dim (inst/proofs/geometry.md, section 5). A chart says how points and tangent vectors go there and back;
 * manifold_chart.c has the operations, and a manifold's table ends in CHART_OPERATIONS. */
#ifndef RIEMDP_MANIFOLD_CHART_H
#define RIEMDP_MANIFOLD_CHART_H

#include "manifold.h"

/* One point, one vector; x, v: `ambient` doubles, a: `dim` doubles. `y`: `size` doubles that `to` makes of a point: its coordinates, and
 * after them whatever `push` and `pull` need of it. Nothing overlaps. */
struct chart {
    size_t (*size)(manifold_t m);
    size_t (*work)(manifold_t m);
    int (*to)(manifold_t m, double *y, const double *x, double *work);
    int (*from)(manifold_t m, double *x, const double *a, double *work); /* not OK where doubles hold no such point */
    int (*push)(manifold_t m, double *a, const double *y, const double *v, double *work); /* derivative of `to` */
    int (*pull)(manifold_t m, double *v, const double *y, const double *a, double *work); /* and its inverse */
};

/* what a flat space is, for `init` once sizes are set */
void chart_init(struct manifold *m);

size_t chart_work(manifold_t m);
int chart_exp(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
int chart_exp_held(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
int chart_log(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work);
int chart_inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                double *work);
int chart_coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
int chart_from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                      double *work);
int chart_dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work);
int chart_transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                    size_t end, double *work);
int chart_log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                  size_t begin, size_t end, double *work);
int chart_start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                    double *work);
int chart_start_end(manifold_t m, double *out, double *acc, double total, double *work);
int chart_to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                    double *work);
int chart_from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                      double *work);

#define CHART_OPERATIONS                                                                                               \
    .work = chart_work, .exp = chart_exp, .log = chart_log, .inner = chart_inner, .coords = chart_coords,              \
    .from_coords = chart_from_coords, .dist = chart_dist, .transport = chart_transport,                                \
    .log_density = manifold_flat_log_density, .jacobi = manifold_flat_jacobi, .log_sum = chart_log_sum,                \
    .start_add = chart_start_add, .start_end = chart_start_end, .to_origin = chart_to_origin,                          \
    .from_origin = chart_from_origin, .exp_held = chart_exp_held, .radial = manifold_flat_radial

#endif
