/* Hyperbolic space H^d of curvature -1 as the Poincare ball |x| < 1 with the metric 4 <u, v>/(1 - |x|^2)^2. Ungar's gyrovector
 * calculus where it keeps its digits: -x (+) y is formed from y - x. Otherwise by way of the hyperboloid, whose frames are these. */
#include "manifold_certified.h"
#include "manifold_hyperbolic.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 1)
        return STATUS_BAD_MANIFOLD;
    m->dim = m->ambient = (size_t)m->param[0];
    m->k_min = m->k_max = m->dim == 1 ? 0 : -1;
    m->mean_curvature = m->k_max;
    m->volume_growth = (double)m->dim - 1;
    m->inj = m->rho_max = INFINITY;
    m->model = MODEL_HYPERBOLIC;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | MANIFOLD_ONE_MEAN |
               MANIFOLD_KNG;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    return 3 * m->ambient;
}

/* 1 - |x|^2 >= 2^-45 is HYPERBOLIC_HOLD again: x_0 = 2/(1 - |x|^2) - 1 */
static const double LEAST = 2 / HYPERBOLIC_HOLD;

/* 1 - |x|^2 from products and sums with their rounding errors (Ogita, Rump and Oishi 2005, doi:10.1137/030601818) */
static double gap(size_t n, const double *x)
{
    double s = 1, low = 0;
    for (size_t j = 0; j < n; j++) {
        double p = -x[j] * x[j], t = s + p, back = t - s;
        low += fma(-x[j], x[j], -p) + ((s - (t - back)) + (p - back));
        s = t;
    }
    return s + low;
}

static void keep_inside(size_t n, double *x)
{
    if (!(gap(n, x) >= LEAST)) {
        double s = (1 - 0.5 * LEAST) / norm2(n, x);
        for (size_t j = 0; j < n; j++)
            x[j] *= s;
    }
}

/* space coordinates of x on the hyperboloid and back, which is total */
static void up(size_t n, const double *x, double *a)
{
    double s = 2 / gap(n, x);
    for (size_t j = 0; j < n; j++)
        a[j] = s * x[j];
}

static void down(size_t n, double *a, double *x)
{
    double s = 1 / (1 + hyperbolic_hold(n, a));
    for (size_t j = 0; j < n; j++)
        x[j] = s * a[j];
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        if (!(norm2(m->ambient, at(x, i)) < 1))
            return STATUS_OFF_MANIFOLD;
        if (!(gap(m->ambient, at(x, i)) >= 0.95 * LEAST))
            return STATUS_OUT_OF_REACH;
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
    double *a = work, *z = a + n, *y = z + n;
    for (size_t i = begin; i < end; i++) {
        double s = 2 / gap(n, at(p, i));
        up(n, at(p, i), a);
        for (size_t j = 0; j < n; j++)
            z[j] = s * at(v, i)[j];
        hyperbolic_exp(n, z);
        hyperbolic_boost(n, -1, a, z, y);
        down(n, y, out + i * n);
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

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t n = m->ambient;
    double *a = work, *b = a + n, *normal = b + n;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * n, scale = gap(n, at(q, i)) / gap(n, at(p, i));
        up(n, at(p, i), a);
        up(n, at(q, i), b);
        for (size_t j = 0; j < n; j++)
            o[j] = scale * at(v, i)[j];
        hyperbolic_turn(n, a, b, o, normal);
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
    size_t n = m->ambient;
    double *a = work, *z = a + n, *y = z + n;
    up(n, base, a);
    for (size_t i = begin; i < end; i++) {
        up(n, at(x, i), z);
        hyperbolic_boost(n, -1, a, z, y);
        down(n, y, out + i * n);
    }
    return STATUS_OK;
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    manifold_hyperboloid.radial(m, rho, log_area, slope);
}

static int at_edge(manifold_t m, const double *x)
{
    return gap(m->ambient, x) <= 1.05 * LEAST;
}

const struct manifold_ops manifold_ball = {
    .name = "ball",
    .family = "hyperbolic",
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
    .at_edge = at_edge,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
    .certified = &certified_ball,
};
