/* What the metrics on full-rank k x k correlation matrices share. */
#ifndef RIEMDP_MANIFOLD_CORRELATION_H
#define RIEMDP_MANIFOLD_CORRELATION_H

#include "manifold_chart.h"
#include "manifold_spd.h"

int correlation_init(struct manifold *m);
/* doubles enough for the functions below */
size_t correlation_work(manifold_t m);
int correlation_check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work);
int correlation_check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work);
int correlation_project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work);
int correlation_project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                                double *work);
/* D X D with a diagonal of exactly 1 */
int correlation_scale(size_t k, double *x);

/* all of a table but its name and its chart */
#define CORRELATION_OPERATIONS                                                                                         \
    .family = "correlation", .init = correlation_init, .check_point = correlation_check_point,                         \
    .check_tangent = correlation_check_tangent, .project = correlation_project,                                        \
    .project_tangent = correlation_project_tangent, .origin = spd_origin, CHART_OPERATIONS

#endif
