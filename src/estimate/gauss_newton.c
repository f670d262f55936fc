#include "gauss_newton.h"

#include <string.h>

#include "linalg.h"

size_t gauss_newton_frame_work(manifold_t m)
{
    return m->dim + 3 * m->ambient + la_symeig_work(m->dim) + manifold_numeric_work(m) + m->dim * (2 * m->dim + 1);
}

static void flat_frame(size_t d, double *turn, double *lambda)
{
    memset(turn, 0, d * d * sizeof *turn);
    for (size_t j = 0; j < d; j++) {
        turn[j * d + j] = 1;
        lambda[j] = 0;
    }
}

/* a vector of `count` numbers less its parts along k orthonormal ones (taken off twice), at length 1 */
static void orthonormalise(size_t count, const double *basis, size_t k, double *c)
{
    for (size_t l = 0; l < 2 * k; l++) {
        const double *e = basis + l % k * count;
        double along = dot(count, e, c);
        for (size_t j = 0; j < count; j++)
            c[j] -= along * e[j];
    }
    double length = sqrt(dot(count, c, c));
    for (size_t j = 0; j < count; j++)
        c[j] /= length;
}

/* Another basis of the space that g vectors of d numbers span: by Gram and Schmidt the axes' projections on it, each
 * time the first axis that has half of the longest rest. */
static void settle_space(size_t d, size_t g, double *space, double *work)
{
    double *left = work;                                /* of each axis */
    double *chosen = left + d, *basis = chosen + d * d; /* in terms of `space`, and in full */
    for (size_t i = 0; i < d; i++) {
        left[i] = 0;
        for (size_t j = 0; j < g; j++)
            left[i] += square(space[j * d + i]);
    }
    for (size_t k = 0; k < g; k++) {
        double most = 0, *c = chosen + k * g;
        size_t axis = 0;
        for (size_t i = 0; i < d; i++)
            most = fmax(most, left[i]);
        while (axis + 1 < d && left[axis] < 0.5 * most)
            axis++;
        for (size_t j = 0; j < g; j++)
            c[j] = space[j * d + axis];
        orthonormalise(g, chosen, k, c);
        for (size_t i = 0; i < d; i++) {
            double *b = basis + k * d + i;
            *b = 0;
            for (size_t j = 0; j < g; j++)
                *b += c[j] * space[j * d + i];
            left[i] -= square(*b);
        }
    }
    memcpy(space, basis, g * d * sizeof *space);
}

/* Eigenvalues coincide on most spaces, and any basis of their eigenspace would do; so that the last digits of p and v don't
 * turn it, it is one that follows from the eigenspace. Values become their mean. */
static void settle(size_t d, double *turn, double *value, double *work)
{
    static const double same = 1e-9;
    for (size_t from = 0, to; from < d; from = to) {
        double sum = 0;
        for (to = from; to < d && value[to] - value[from] <= same; to++)
            sum += value[to];
        settle_space(d, to - from, turn + from * d, work);
        for (size_t j = from; j < to; j++)
            value[j] = sum / (double)(to - from);
    }
}

/* the matrix of C = cos(s sqrt(R)) along exp_p(s v), R the Jacobi operator, by columns; coordinates at p */
static int jacobi_cosine(manifold_t m, const double *p, const double *v, double s, double *matrix, double *work)
{
    size_t d = m->dim, n = m->ambient;
    double *a = work, *u = a + d, *c = u + n, *other = c + n, *rest = other + n;
    int status = STATUS_OK;
    for (size_t j = 0; j < d && status == STATUS_OK; j++) {
        for (size_t i = 0; i < d; i++)
            a[i] = i == j;
        status = manifold_from_coords(m, u, one(p), one(a), 0, 1, rest);
        if (status == STATUS_OK)
            status = manifold_jacobi(m, c, other, one(p), one(v), one(&s), one(u), 0, 1, rest);
        if (status == STATUS_OK)
            status = manifold_coords(m, matrix + j * d, one(p), one(c), 0, 1, rest);
    }
    return status;
}

/* By one Jacobi operator C = cos(s sqrt(lambda)), self-adjoint, at an s so short that angles stay below 1 where curvature is
 * positive: there the cosine tells the eigenvalue. acos loses half the digits of small ones, which does no harm: lambda is a
 * public number of the features, whose bounds hold for any, and an absolute error of 1e-16/s^2 doesn't show in them. */
int gauss_newton_frame(manifold_t m, const double *p, const double *v, double *turn, double *lambda, double *work)
{
    size_t d = m->dim;
    double *rest = work + d + 3 * m->ambient, bend = fmax(fabs(m->k_min), fabs(m->k_max)), speed;
    flat_frame(d, turn, lambda);
    int status = m->ops->inner(m, &speed, one(p), one(v), one(v), 0, 1, rest);
    if (status != STATUS_OK)
        return status;
    speed = sqrt(fmax(0, speed));
    if (!(m->flags & MANIFOLD_SYMMETRIC) || !(bend > 0) || !(bend < INFINITY) || !(speed > 0))
        return STATUS_OK;
    double s = 1 / (sqrt(bend) * speed);
    if (!(s < 1e12))
        return STATUS_OK; /* a curve that hardly moves */
    status = jacobi_cosine(m, p, v, s, turn, work);
    if (status == STATUS_OK) {
        la_symmetrize(d, turn);
        status = la_symeig(d, turn, lambda, 1, rest);
    }
    if (status == STATUS_OK)
        settle(d, turn, lambda, rest);
    if (status != STATUS_OK || !all_finite(d * d, turn)) {
        flat_frame(d, turn, lambda);
        return STATUS_OK;
    }
    for (size_t j = 0; j < d; j++) {
        double angle = lambda[j] < 1 ? acos(fmax(-1, lambda[j])) : acosh(lambda[j]);
        lambda[j] = (lambda[j] < 1 ? 1 : -1) * square(angle / s);
    }
    if (!all_finite(d, lambda))
        flat_frame(d, turn, lambda);
    return STATUS_OK;
}

size_t gauss_newton_work(manifold_t m)
{
    return 5 * m->ambient + m->dim + manifold_work(m);
}

/* Logarithm of y at the curve, carried back to p, in coordinates there; a status instead of a number where there is none */
static int residual(const struct gauss_newton *g, const double *x, const double *y, double *out, double *work)
{
    manifold_t m = g->m;
    size_t n = m->ambient;
    double *speed = work, *part = speed + n, *here = part + n, *next = here + n, *e = next + n, *rest = e + n;
    for (size_t j = 0; j < n; j++) {
        speed[j] = 0;
        for (size_t k = 0; k < g->predictors; k++)
            speed[j] += x[k] * g->v[k * n + j];
    }
    int status = m->ops->exp(m, here, one(g->p), one(speed), 0, 1, rest);
    if (status == STATUS_OK)
        status = m->ops->check_point(m, one(y), 0, 1, rest);
    if (status == STATUS_OK)
        status = m->ops->log(m, e, one(here), one(y), 0, 1, rest);
    for (size_t leg = g->legs; leg > 0 && status == STATUS_OK; leg--) {
        double share = (double)(leg - 1) / (double)g->legs;
        for (size_t j = 0; j < n; j++)
            part[j] = share * speed[j];
        status = leg > 1 ? m->ops->exp(m, next, one(g->p), one(part), 0, 1, rest) : STATUS_OK;
        const double *to = leg > 1 ? next : g->p;
        if (status == STATUS_OK)
            status = manifold_transport(m, part, one(here), one(to), one(e), 0, 1, rest);
        memcpy(e, part, n * sizeof *e);
        memcpy(here, to, n * sizeof *here);
    }
    return status == STATUS_OK ? manifold_coords(m, out, one(g->p), one(e), 0, 1, rest) : status;
}

void gauss_newton_record(const struct gauss_newton *g, const double *x, const double *y, double *features,
                         double *response, double *work)
{
    size_t d = g->m->dim;
    double *a = work;
    int fine = all_finite(g->predictors, x);
    if (fine && y) {
        fine = all_finite(g->m->ambient, y) && residual(g, x, y, a, work + d) == STATUS_OK && all_finite(d, a);
        for (size_t j = 0; j < d; j++)
            response[j] = fine ? dot(d, g->turn + j * d, a) : 0;
        fine = fine && all_finite(d, response);
    }
    memset(features, 0, (1 + g->predictors) * d * sizeof *features);
    if (!fine) {
        if (y)
            memset(response, 0, d * sizeof *response);
        return;
    }
    for (size_t j = 0; j < d; j++) {
        double angle = sqrt(fabs(g->lambda[j])) * x[0];
        features[j] = g->lambda[j] < 0 ? cosh(angle) : cos(angle);
        for (size_t k = 0; k < g->predictors; k++)
            features[(1 + k) * d + j] = x[k] / g->reach[k];
        features[d + j] *= g->lambda[j] < 0 ? sinhc(angle) : sinc(angle);
    }
}
