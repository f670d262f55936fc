/* Hyperbolic space H^d of curvature -1 as the upper sheet of <x, x> = -1 in R^{1,d}, <x, y> = -x_1 y_1 + sum x_j y_j.
 * Lengths of tangents are taken after the boost that brings the base to the apex: no cancellation, never negative. */
#include "manifold.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 1)
        return STATUS_BAD_MANIFOLD;
    m->dim = (size_t)m->param[0];
    m->ambient = m->dim + 1;
    m->k_min = m->k_max = m->dim == 1 ? 0 : -1;
    m->inj = m->rho_max = INFINITY;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    return m->ambient;
}

static double lorentz(size_t n, const double *x, const double *y)
{
    return dot(n - 1, x + 1, y + 1) - x[0] * y[0];
}

static void lift(size_t n, double *x)
{
    x[0] = hypot(1, norm2(n - 1, x + 1));
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *p = at(x, i);
        if (!all_finite(n, p))
            return STATUS_NOT_FINITE;
        if (!(p[0] > 0) || fabs(hypot(1, norm2(n - 1, p + 1)) - p[0]) > RIEMDP_TOL * p[0])
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(n, at(v, i)))
            return STATUS_NOT_FINITE;
        double scale = at(p, i)[0] * (1 + norm2(n, at(v, i)));
        if (fabs(lorentz(n, at(p, i), at(v, i))) > RIEMDP_TOL * scale)
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

/* keeps the d space coordinates */
static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(n, at(x, i)))
            return STATUS_NOT_FINITE;
        for (size_t j = 1; j < n; j++)
            out[i * n + j] = at(x, i)[j];
        lift(n, out + i * n);
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double t = lorentz(n, x, u);
        if (!(fabs(t) < INFINITY))
            return STATUS_NOT_FINITE;
        double *o = out + i * n, x0 = x[0], s = 0;
        for (size_t j = 1; j < n; j++) {
            double xj = x[j];
            o[j] = u[j] + t * xj;
            s += o[j] * xj;
        }
        o[0] = s / x0;
    }
    return STATUS_OK;
}

/* inner product at w through the boost to the apex */
static double boosted(size_t n, const double *w, const double *u, const double *v)
{
    double s = u[0] / (1 + w[0]), t = v[0] / (1 + w[0]), sum = 0;
    for (size_t j = 1; j < n; j++)
        sum += (u[j] - s * w[j]) * (v[j] - t * w[j]);
    return sum;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double t = sqrt(boosted(n, x, u, u)), c = cosh(t), s = sinhc(t), *o = out + i * n;
        if (!(t < 700))
            return STATUS_DOMAIN_EXCEEDED;
        for (size_t j = 1; j < n; j++)
            o[j] = c * x[j] + s * u[j];
        lift(n, o);
    }
    return STATUS_OK;
}

/* Chord <d, d>, d = y - x, corrected for what rounding left of <x, x> + 1: with s = x + y, points scaled to the sheet have the
 * squared chord <d, d> + (<d, s>/2)^2. Where its terms are larger than those of cosh d = -<x, y>, as for points far from each
 * other, that is taken: the chord's digits are gone at a distance of 36 from the apex. */
static double distance(size_t n, const double *x, const double *y)
{
    double time = square(y[0] - x[0]), dd = 0, ds = -(y[0] - x[0]) * (x[0] + y[0]);
    for (size_t j = 1; j < n; j++) {
        dd += square(y[j] - x[j]);
        ds += (y[j] - x[j]) * (x[j] + y[j]);
    }
    if (!(time + dd <= x[0] * y[0])) {
        double c = -lorentz(n, x, y);
        return c <= 1 ? 0 : acosh(c);
    }
    dd -= time;
    if (fabs(dd) < 1e-6)
        dd += 0.25 * ds * ds;
    return dd <= 0 ? 0 : 2 * asinh(0.5 * sqrt(dd));
}

/* (y - x) + <x, y - x> x, scaled to the distance: differences first, so that near points keep their digits far from the apex */
static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i);
        double d = distance(n, x, y), *o = work, s;
        if (!(d < 700))
            return STATUS_DOMAIN_EXCEEDED;
        for (size_t j = 0; j < n; j++)
            o[j] = y[j] - x[j];
        s = lorentz(n, x, o);
        for (size_t j = 0; j < n; j++)
            o[j] += s * x[j];
        o[0] = dot(n - 1, o + 1, x + 1) / x[0];
        s = boosted(n, x, o, o);
        s = s > 0 ? d / sqrt(s) : 0;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s * o[j];
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = boosted(m->ambient, at(p, i), at(u, i), at(v, i));
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = distance(m->ambient, at(p, i), at(q, i));
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i), *u = at(v, i);
        double s = lorentz(n, y, u) / (1 - lorentz(n, x, y)), y0 = y[0], t = 0, *o = out + i * n;
        for (size_t j = 1; j < n; j++) {
            double yj = y[j];
            o[j] = u[j] + s * (x[j] + yj);
            t += o[j] * yj;
        }
        o[0] = t / y0;
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        double s = u[0] / (1 + w[0]);
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = u[j + 1] - s * w[j + 1];
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    size_t n = m->ambient, d = m->dim;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *z = at(a, i);
        double t = dot(d, w + 1, z), s = t / (1 + w[0]), *o = out + i * n;
        for (size_t j = d; j > 0; j--)
            o[j] = z[j - 1] + s * w[j];
        o[0] = t;
    }
    return STATUS_OK;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = ((double)m->dim - 1) * log_sinhc(sqrt(boosted(m->ambient, at(p, i), at(v, i), at(v, i))));
    return STATUS_OK;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(v, i), *e = at(u, i);
        double vv = boosted(n, at(p, i), w, w), s = *at(x, i), t = s * sqrt(vv), c = cosh(t), b = s * sinhc(t);
        double along = vv > 0 ? boosted(n, at(p, i), w, e) / vv : 0;
        if (m->dim == 1) {
            c = 1;
            b = s;
        }
        manifold_constant_jacobi(n, along, w, e, c, s, b, out_p + i * n, out_v + i * n);
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = j == 0;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i);
        double s = (y[0] - lorentz(n, base, y)) / (1 + base[0]), *o = out + i * n;
        for (size_t j = 1; j < n; j++)
            o[j] = y[j] - s * base[j];
        lift(n, o);
    }
    return STATUS_OK;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i);
        double s = dot(n - 1, base + 1, y + 1) / (1 + base[0]) + y[0], *o = out + i * n;
        for (size_t j = 1; j < n; j++)
            o[j] = y[j] + s * base[j];
        lift(n, o);
    }
    return STATUS_OK;
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double d = (double)m->dim;
    *log_area = (d - 1) * (log(rho) + log_sinhc(rho));
    *slope = (d - 1) / tanh(rho);
}

const struct manifold_ops manifold_hyperboloid = {
    .name = "hyperboloid",
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = inner,
    .coords = coords,
    .from_coords = from_coords,
    .dist = dist,
    .transport = transport,
    .log_density = log_density,
    .jacobi = jacobi,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
};
