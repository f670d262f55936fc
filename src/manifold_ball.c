/* Hyperbolic space H^d of curvature -1 as the Poincare ball |x| < 1 with the metric 4 <u, v>/(1 - |x|^2)^2.
 * Ungar's gyrovector calculus; -x (+) y is formed from y - x, so that near points keep their digits. */
#include "manifold.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 1)
        return STATUS_BAD_MANIFOLD;
    m->dim = m->ambient = (size_t)m->param[0];
    m->k_min = m->k_max = m->dim == 1 ? 0 : -1;
    m->inj = m->rho_max = INFINITY;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    return 2 * m->ambient;
}

static const double LARGEST = 1 - 1e-15;

/* 1 - |x|^2 */
static double gap(size_t n, const double *x)
{
    double r = norm2(n, x);
    return (1 - r) * (1 + r);
}

static void keep_inside(size_t n, double *x)
{
    double r = norm2(n, x);
    if (r > LARGEST)
        for (size_t j = 0; j < n; j++)
            x[j] *= LARGEST / r;
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        if (!(norm2(m->ambient, at(x, i)) < 1))
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++)
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
    return STATUS_OK;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(n, at(x, i)) || !(norm2(n, at(x, i)) < INFINITY))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = at(x, i)[j];
        keep_inside(n, out + i * n);
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    int status = check_tangent(m, p, v, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = at(v, i)[j];
    return status;
}

/* x (+) y; o may be x or y */
static void gyro_add(size_t n, double *o, const double *x, const double *y)
{
    double xy = dot(n, x, y), xx = dot(n, x, x), yy = dot(n, y, y);
    double a = 1 + 2 * xy + yy, b = (1 - sqrt(xx)) * (1 + sqrt(xx)), d = 1 + 2 * xy + xx * yy;
    for (size_t j = 0; j < n; j++)
        o[j] = (a * x[j] + b * y[j]) / d;
    keep_inside(n, o);
}

/* -x (+) y; with d = y - x the numerator is (1 - |x|^2) d - |d|^2 x */
static void gyro_difference(size_t n, double *o, const double *x, const double *y)
{
    double dd = 0, a = gap(n, x), b = gap(n, y);
    for (size_t j = 0; j < n; j++)
        dd += square(y[j] - x[j]);
    double den = dd + a * b;
    for (size_t j = 0; j < n; j++) {
        double xj = x[j];
        o[j] = (a * (y[j] - xj) - dd * xj) / den;
    }
}

static double distance(size_t n, const double *x, const double *y)
{
    double dd = 0;
    for (size_t j = 0; j < n; j++)
        dd += square(y[j] - x[j]);
    return 2 * asinh(sqrt(dd / (gap(n, x) * gap(n, y))));
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double t = norm2(n, u), s = t > 0 ? tanh(t / gap(n, x)) / t : 0;
        for (size_t j = 0; j < n; j++)
            work[j] = s * u[j];
        gyro_add(n, out + i * n, x, work);
    }
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i);
        double d = distance(n, x, y), g = gap(n, x), *o = out + i * n;
        gyro_difference(n, o, x, y);
        double t = norm2(n, o), s = t > 0 ? 0.5 * g * d / t : 0;
        for (size_t j = 0; j < n; j++)
            o[j] *= s;
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = dot(m->ambient, at(u, i), at(v, i)) * square(2 / gap(m->ambient, at(p, i)));
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = distance(m->ambient, at(p, i), at(q, i));
    return STATUS_OK;
}

/* (lambda_x / lambda_y) gyr[y, -x] u, the gyration written out: linear in u and exact */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i), *u = at(v, i);
        double *o = out + i * n;
        double a_u = dot(n, y, u), b_u = -dot(n, x, u), ab = -dot(n, x, y), aa = dot(n, y, y), bb = dot(n, x, x);
        double A = -a_u * bb + b_u + 2 * ab * b_u, B = -b_u * aa - a_u, D = 1 + 2 * ab + aa * bb;
        double scale = gap(n, y) / gap(n, x);
        for (size_t j = 0; j < n; j++)
            o[j] = scale * (u[j] + 2 * (A * y[j] - B * x[j]) / D);
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        double s = 2 / gap(n, at(p, i));
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s * at(v, i)[j];
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        double s = 0.5 * gap(n, at(p, i));
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s * at(a, i)[j];
    }
    return STATUS_OK;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = ((double)m->dim - 1) * log_sinhc(2 * norm2(m->ambient, at(v, i)) / gap(m->ambient, at(p, i)));
    return STATUS_OK;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(v, i), *e = at(u, i);
        double vv = dot(n, w, w), s = *at(x, i), t = s * 2 * sqrt(vv) / gap(n, at(p, i)), c = cosh(t), b = s * sinhc(t);
        double along = vv > 0 ? dot(n, w, e) / vv : 0;
        if (n == 1) { /* a line is flat */
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
        out[j] = 0;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        gyro_difference(m->ambient, out + i * m->ambient, base, at(x, i));
        keep_inside(m->ambient, out + i * m->ambient);
    }
    return STATUS_OK;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        gyro_add(m->ambient, out + i * m->ambient, base, at(x, i));
    return STATUS_OK;
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    manifold_hyperboloid.radial(m, rho, log_area, slope);
}

const struct manifold_ops manifold_ball = {
    .name = "ball",
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
