/* Unit sphere S^d in R^{d+1}, curvature 1. Distances by atan2 of chords, logs by a difference that keeps its digits near
 * coincidence; frames by the Householder reflection that takes the base point to the nearer pole. */
#include "manifold_certified.h"
#include "manifold_sphere.h"
#include "trig.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 1)
        return STATUS_BAD_MANIFOLD;
    m->dim = (size_t)m->param[0];
    m->ambient = m->dim + 1;
    /* a circle is flat; its injectivity radius is what bounds a ball there */
    m->k_min = m->k_max = m->dim == 1 ? 0 : 1;
    m->mean_curvature = m->k_max;
    m->inj = m->rho_max = RIEMDP_PI;
    m->model = MODEL_SPHERE;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED |
               MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM | MANIFOLD_ARITHMETIC | MANIFOLD_KNG;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    return m->ambient;
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        double s = dot(n, at(x, i), at(x, i));
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        if (fabs(s - 1) > 2 * RIEMDP_TOL)
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double s = dot(m->ambient, at(v, i), at(v, i)), t = dot(m->ambient, at(p, i), at(v, i));
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        if (fabs(t) > RIEMDP_TOL * (1 + sqrt(s)))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

void sphere_rescale(size_t n, double *x)
{
    double s = 1 / norm2(n, x);
    for (size_t j = 0; j < n; j++)
        x[j] *= s;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        double big = 0, *o = out + i * n;
        for (size_t j = 0; j < n; j++) {
            o[j] = at(x, i)[j];
            if (!(fabs(o[j]) < INFINITY))
                return STATUS_NOT_FINITE;
            if (fabs(o[j]) > big)
                big = fabs(o[j]);
        }
        if (big == 0)
            return STATUS_OFF_MANIFOLD;
        for (size_t j = 0; j < n; j++)
            o[j] /= big;
        sphere_rescale(n, o);
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
        double t = dot(n, x, u) / dot(n, x, x);
        if (!(fabs(t) < INFINITY))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = u[j] - t * x[j];
    }
    return STATUS_OK;
}

static int strided(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate,
                   const struct strided *in, size_t n, double *work)
{
    (void)work;
    return m->ambient == 3 ? sphere_space_run(op, out, record, coordinate, in, 1, n) : STATUS_UNSUPPORTED;
}

/* ---- any number of coordinates ------------------------------------------------------------------------------------- */

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    if (n == 3)
        return sphere_space_points(STRIDED_EXP, out, p, v, p, begin, end);
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double *o = out + i * n, t = norm2(n, u), c = cos(t), s = sinc(t);
        for (size_t j = 0; j < n; j++)
            o[j] = c * x[j] + s * u[j];
        sphere_rescale(n, o);
    }
    return STATUS_OK;
}

/* 2 atan(|y - x|/|y + x|): right for near and for nearly opposite points */
static inline double angle(size_t n, const double *x, const double *y)
{
    double a = 0, b = 0;
    for (size_t j = 0; j < n; j++) {
        a += square(y[j] - x[j]);
        b += square(y[j] + x[j]);
    }
    return 2 * atan(sqrt(a / b));
}

/* The tangential part of y - x (what rounding left of |x| = |y| goes with the normal part), scaled to the angle */
static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    if (n == 3)
        return sphere_space_points(STRIDED_LOG, out, p, q, p, begin, end);
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i);
        double *restrict o = work, s = 0, xx = 0, t = 0;
        for (size_t j = 0; j < n; j++) {
            o[j] = y[j] - x[j];
            s += o[j] * x[j];
            xx += x[j] * x[j];
        }
        s /= xx;
        for (size_t j = 0; j < n; j++) {
            o[j] -= s * x[j];
            t += o[j] * o[j];
        }
        t = sqrt(t);
        double d = atan2(t, 1 + s); /* x'y = 1 + s */
        if (RIEMDP_PI - d < 1e-8)
            return STATUS_CUT_LOCUS;
        s = t > 0 ? d / t : 0;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s * o[j];
    }
    return STATUS_OK;
}

RIEMDP_HOT static void apart_many(size_t n, size_t count, const double *restrict p, struct points x, struct sphere_apart *to)
{
    for (size_t i = 0; i < count; i++) {
        const double *restrict y = at(x, i);
        double chord = 0, anti = 0, along = 0;
        for (size_t j = 0; j < n; j++) {
            double a = y[j] - p[j], b = y[j] + p[j];
            chord += a * a;
            anti += b * b;
            along += a * p[j];
        }
        to->chord[i] = chord;
        to->anti[i] = anti;
        to->along[i] = along;
    }
}

/* Angles, and these over the lengths of the tangential parts. Returns the number of records at the cut locus. */
RIEMDP_SIMD static size_t factors(size_t count, struct sphere_apart *from, double pp, double *restrict angle,
                                  double *restrict factor)
{
    double root[SPHERE_CHUNK];
    long far = 0;
    for (size_t i = 0; i < count; i++) {
        double tangential = from->chord[i] - from->along[i] * from->along[i] / pp;
        factor[i] = tangential > 0 ? tangential : 0;
        root[i] = from->chord[i];
        angle[i] = from->anti[i];
    }
    simd_sqrt(count, factor);
    simd_sqrt(count, root);
    simd_sqrt(count, angle);
    for (size_t i = 0; i < count; i++) {
        double d = 2 * trig_angle(root[i], angle[i]);
        far += RIEMDP_PI - d < 1e-8;
        angle[i] = d;
        factor[i] = factor[i] > 0 ? d / factor[i] : 0;
    }
    return (size_t)far;
}

/* The tangential part of y - p is y minus a multiple of p: sums of y with the factor d/|tangential part|, p taken off once. */
RIEMDP_HOT static int log_sum(manifold_t m, double *restrict sum, double *sum_sq, const double *restrict p,
                              struct points x, const double *w, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    double along = 0, pp = dot(n, p, p), angle[SPHERE_CHUNK], factor[SPHERE_CHUNK];
    struct sphere_apart from;
    for (size_t first = begin; first < end; first += SPHERE_CHUNK) {
        size_t count = end - first < SPHERE_CHUNK ? end - first : SPHERE_CHUNK;
        struct points y = {at(x, first), x.stride};
        if (n == 3)
            sphere_space_apart(count, p, y, &from);
        else
            apart_many(n, count, p, y, &from);
        if (factors(count, &from, pp, angle, factor))
            return STATUS_CUT_LOCUS;
        for (size_t i = 0; i < count; i++) {
            const double *restrict yi = at(y, i);
            double wi = w ? w[first + i] : 1, f = wi * factor[i];
            *sum_sq += wi * angle[i] * angle[i];
            along += f * (1 + from.along[i] / pp);
            for (size_t j = 0; j < n; j++)
                sum[j] += f * yi[j];
        }
    }
    for (size_t j = 0; j < n; j++)
        sum[j] -= along * p[j];
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    if (m->ambient == 3)
        return sphere_space_points(STRIDED_DIST, out, p, q, p, begin, end);
    for (size_t i = begin; i < end; i++)
        out[i] = angle(m->ambient, at(p, i), at(q, i));
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    if (n == 3)
        return sphere_space_points(STRIDED_TRANSPORT, out, p, q, v, begin, end);
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i), *u = at(v, i);
        double s = 0; /* 1 + x'y = |x + y|^2 / 2 */
        for (size_t j = 0; j < n; j++)
            s += square(x[j] + y[j]);
        if (s < 1e-16)
            return STATUS_CUT_LOCUS;
        s = 2 * dot(n, y, u) / s;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = u[j] - s * (x[j] + y[j]);
    }
    return STATUS_OK;
}

/* H = I - h h'/(1 + |w_1|), h = w + sign(w_1) e_1, takes w to -sign(w_1) e_1; the frame is H e_2, ..., H e_{d+1} */
static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient, d = m->dim;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        double sign = w[0] < 0 ? -1 : 1, t = (dot(n, w, u) + sign * u[0]) / (1 + fabs(w[0]));
        for (size_t j = 0; j < d; j++)
            out[i * d + j] = u[j + 1] - t * w[j + 1];
    }
    return STATUS_OK;
}

RIEMDP_SIMD static void off_pole(size_t d, double *o, const double *w, const double *z)
{
    double sign = w[0] < 0 ? -1 : 1, t = simd_dot(d, w + 1, z) / (1 + fabs(w[0]));
    for (size_t j = d; j > 0; j--)
        o[j] = z[j - 1] - t * w[j];
    o[0] = -t * (w[0] + sign);
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        off_pole(m->dim, out + i * m->ambient, at(p, i), at(a, i));
    return STATUS_OK;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        double t = norm2(m->ambient, at(v, i));
        out[i] = m->dim == 1 ? 0 : (double)(m->dim - 1) * (t < 1 ? log_sinc(t) : log(fabs(sin(t) / t)));
    }
    return STATUS_OK;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    (void)p, (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(v, i), *e = at(u, i);
        double vv = dot(n, w, w), s = *at(x, i), t = s * sqrt(vv), c = cos(t), b = s * sinc(t);
        double along = vv > 0 ? dot(n, w, e) / vv : 0;
        manifold_constant_jacobi(n, along, w, e, c, s, b, out_p + i * n, out_v + i * n);
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = j == 0;
}

/* the same reflection, followed by the sign that takes the base to e_1 itself; it is its own inverse up to that sign */
static void reflect(size_t n, double *out, const double *w, const double *x, int back)
{
    double sign = w[0] < 0 ? -1 : 1, first = back ? -sign * x[0] : x[0], t = w[0] * first + sign * first;
    for (size_t j = 1; j < n; j++)
        t += w[j] * x[j];
    t /= 1 + fabs(w[0]);
    double o0 = first - t * (w[0] + sign);
    for (size_t j = 1; j < n; j++)
        out[j] = x[j] - t * w[j];
    out[0] = back ? o0 : -sign * o0;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        reflect(m->ambient, out + i * m->ambient, base, at(x, i), 0);
    return STATUS_OK;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        reflect(m->ambient, out + i * m->ambient, base, at(x, i), 1);
    return STATUS_OK;
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double d = (double)m->dim;
    *log_area = m->dim == 1 ? 0 : (d - 1) * log(sin(rho));
    *slope = m->dim == 1 ? 0 : (d - 1) / tan(rho);
}

const struct manifold_ops manifold_sphere = {
    .name = "sphere",
    .family = "sphere",
    .published = PUBLISHED_DIRECTION,
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = manifold_ambient_inner,
    .coords = coords,
    .from_coords = from_coords,
    .dist = dist,
    .transport = transport,
    .log_density = log_density,
    .jacobi = jacobi,
    .log_sum = log_sum,
    .strided = strided,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
    .certified = &certified_sphere,
};
