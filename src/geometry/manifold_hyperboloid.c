/* Hyperbolic space H^d of curvature -1 as the upper sheet of <x, x> = -1 in R^{1,d}, <x, y> = -x_1 y_1 + sum x_j y_j.
 * Space coordinates alone say where a point is, and the space part of a tangent vector which one it is. */
#include "manifold_certified.h"
#include "manifold_hyperbolic.h"

/* ---- space coordinates ---------------------------------------------------------------------------------------------------- */

/* the part of x normal to a; products and differences in one rounding, and once more for what the first pass left along a */
static void normal_part(size_t d, const double *a, double aa, const double *x, double *c)
{
    if (d == 1) {
        c[0] = 0;
        return;
    }
    double t = dot(d, a, x) / aa;
    for (size_t j = 0; j < d; j++)
        c[j] = fma(-t, a[j], x[j]);
    t = dot(d, a, c) / aa;
    for (size_t j = 0; j < d; j++)
        c[j] = fma(-t, a[j], c[j]);
}

/* 2 |x| sin^2(angle/2), for x with projection xa on a unit vector and normal part of square cc */
static double versine(double length, double xa, double cc)
{
    if (xa <= 0)
        return length - xa;
    return cc > 0 ? cc / (length + xa) : 0;
}

/* sinh of the difference of the distances of x and a from the apex: |x|^2 - |a|^2 from x - a, then by |x| a_0 + |a| x_0 */
static double radial_sinh(size_t d, const double *a, double aa, const double *x, double xx)
{
    double difference = 0;
    for (size_t j = 0; j < d; j++)
        difference += (x[j] - a[j]) * (x[j] + a[j]);
    return difference / (sqrt(aa) * sqrt(1 + xx) + sqrt(xx) * sqrt(1 + aa));
}

static const double TINY = 1e-280; /* squares below: within rounding of the apex, and no direction */

/* With the angle at the apex between a and x: normal to a what x has there, along it
 * cosh(a) |x| cos - sinh(a) x_0 = sinh(|x| - |a|) - 2 a_0 |x| sin^2(angle/2). */
void hyperbolic_boost(size_t d, double sign, const double *a, const double *x, double *y)
{
    double aa = dot(d, a, a), xx = dot(d, x, x);
    if (!(aa > TINY)) {
        for (size_t j = 0; j < d; j++)
            y[j] = x[j] - sign * sqrt(1 + xx) * a[j];
        return;
    }
    double length = sqrt(aa), along = sign * dot(d, a, x) / length;
    normal_part(d, a, aa, x, y);
    double r = radial_sinh(d, a, aa, x, xx) - sqrt(1 + aa) * versine(sqrt(xx), along, dot(d, y, y));
    r *= sign / length;
    for (size_t j = 0; j < d; j++)
        y[j] += r * a[j];
}

/* normal part as it is, radial part over a_0 */
void hyperbolic_coords(size_t d, const double *a, const double *u, double *z)
{
    double aa = dot(d, a, a);
    if (!(aa > TINY)) {
        for (size_t j = 0; j < d; j++)
            z[j] = u[j];
        return;
    }
    double r = dot(d, a, u) / (aa * sqrt(1 + aa));
    normal_part(d, a, aa, u, z);
    for (size_t j = 0; j < d; j++)
        z[j] += r * a[j];
}

double hyperbolic_from_coords(size_t d, const double *a, const double *z, double *u)
{
    double time = dot(d, a, z), s = time / (1 + sqrt(1 + dot(d, a, a)));
    for (size_t j = 0; j < d; j++)
        u[j] = z[j] + s * a[j];
    return time;
}

/* Frames at a and b are those of the apex carried along rays, so that the parallel vector is turned in the plane of a and b by the
 * area of the triangle, backwards as curvature is negative: tan(area/2) = |a||b| sin/((1 + a_0)(1 + b_0) - |a||b| cos), whose
 * denominator is 1 + a_0 + b_0 + cosh(|b| - |a|) + 2 |a||b| sin^2(angle/2). */
void hyperbolic_turn(size_t d, const double *a, const double *b, double *z, double *normal)
{
    double aa = dot(d, a, a), bb = dot(d, b, b);
    if (!(aa > TINY) || !(bb > TINY))
        return;
    normal_part(d, a, aa, b, normal);
    double cc = dot(d, normal, normal), length = sqrt(aa), across = sqrt(cc);
    if (!(cc > TINY))
        return;
    double h = radial_sinh(d, a, aa, b, bb), w = versine(sqrt(bb), dot(d, a, b) / length, cc);
    double t = length * across / (1 + sqrt(1 + aa) + sqrt(1 + bb) + sqrt(1 + h * h) + length * w);
    double less = 2 * t * t / (1 + t * t), sine = 2 * t / (1 + t * t);
    double along_z = dot(d, a, z) / length, across_z = dot(d, normal, z) / across;
    double p = (sine * across_z - less * along_z) / length, q = -(sine * along_z + less * across_z) / across;
    for (size_t j = 0; j < d; j++)
        z[j] += p * a[j] + q * normal[j];
}

void hyperbolic_log(size_t d, double *y)
{
    double s = norm2(d, y), f = s < 1e-4 ? 1 - s * s / 6 : asinh(s) / s;
    for (size_t j = 0; j < d; j++)
        y[j] *= f;
}

void hyperbolic_exp(size_t d, double *z)
{
    double t = norm2(d, z), f = sinhc(t);
    if (t > 80) /* from anywhere beyond HYPERBOLIC_HOLD, in the same direction to all digits */
        f = sinh(80) / t;
    for (size_t j = 0; j < d; j++)
        z[j] *= f;
}

double hyperbolic_hold(size_t d, double *a)
{
    double aa = dot(d, a, a), time = sqrt(1 + aa);
    if (time > HYPERBOLIC_HOLD) {
        double s = HYPERBOLIC_HOLD / sqrt(aa);
        for (size_t j = 0; j < d; j++)
            a[j] *= s;
        time = HYPERBOLIC_HOLD;
    }
    return time;
}

/* ---- the table ------------------------------------------------------------------------------------------------------------- */

static int init(struct manifold *m)
{
    if (m->param[0] < 1)
        return STATUS_BAD_MANIFOLD;
    m->dim = (size_t)m->param[0];
    m->ambient = m->dim + 1;
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
    return 4 * m->ambient;
}

static double lorentz(size_t n, const double *x, const double *y)
{
    return dot(n - 1, x + 1, y + 1) - x[0] * y[0];
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
        if (p[0] > HYPERBOLIC_HOLD * (1 + 2 * RIEMDP_TOL))
            return STATUS_OUT_OF_REACH;
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
        double *o = out + i * n;
        if (!all_finite(n, at(x, i)))
            return STATUS_NOT_FINITE;
        for (size_t j = 1; j < n; j++)
            o[j] = at(x, i)[j];
        o[0] = hypot(1, norm2(n - 1, o + 1));
        if (!(o[0] <= HYPERBOLIC_HOLD))
            return STATUS_OUT_OF_REACH;
    }
    return STATUS_OK;
}

/* Far from the apex rounding of a tangent vector's own numbers leaves <x, u> that would move it far: that isn't its normal part. */
static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    (void)work;
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double t = lorentz(n, x, u), least = 0;
        if (!(fabs(t) < INFINITY))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < n; j++)
            least += fabs(x[j] * u[j]);
        if (fabs(t) <= 2 * RIEMDP_EPS * least)
            t = 0;
        double *o = out + i * n, x0 = hypot(1, norm2(n - 1, x + 1)), s = 0;
        for (size_t j = 1; j < n; j++) {
            double xj = x[j];
            o[j] = u[j] + t * xj;
            s += o[j] * xj;
        }
        o[0] = s / x0;
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient, d = m->dim;
    for (size_t i = begin; i < end; i++) {
        double *z = work, *y = z + n, *o = out + i * n;
        hyperbolic_coords(d, at(p, i) + 1, at(v, i) + 1, z);
        hyperbolic_exp(d, z);
        hyperbolic_boost(d, -1, at(p, i) + 1, z, y);
        o[0] = hyperbolic_hold(d, y);
        for (size_t j = 0; j < d; j++)
            o[j + 1] = y[j];
    }
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient, d = m->dim;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * n;
        hyperbolic_boost(d, 1, at(p, i) + 1, at(q, i) + 1, work);
        hyperbolic_log(d, work);
        double time = hyperbolic_from_coords(d, at(p, i) + 1, work, work);
        o[0] = time;
        for (size_t j = 0; j < d; j++)
            o[j + 1] = work[j];
    }
    return STATUS_OK;
}

/* summed in the frame at p: what is stored is rounded relative to the sum, not to its terms */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    size_t n = m->ambient, d = m->dim;
    double *total = work, *z = total + n;
    for (size_t j = 0; j < d; j++)
        total[j] = 0;
    for (size_t i = begin; i < end; i++) {
        double wi = w ? w[i] : 1;
        hyperbolic_boost(d, 1, p + 1, at(x, i) + 1, z);
        hyperbolic_log(d, z);
        *sum_sq += wi * dot(d, z, z);
        for (size_t j = 0; j < d; j++)
            total[j] += wi * z[j];
    }
    sum[0] += hyperbolic_from_coords(d, p + 1, total, total);
    for (size_t j = 0; j < d; j++)
        sum[j + 1] += total[j];
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    size_t n = m->ambient, d = m->dim;
    double *a = work, *b = a + n;
    for (size_t i = begin; i < end; i++) {
        int same = at(u, i) == at(v, i);
        hyperbolic_coords(d, at(p, i) + 1, at(u, i) + 1, a);
        if (!same)
            hyperbolic_coords(d, at(p, i) + 1, at(v, i) + 1, b);
        out[i] = dot(d, a, same ? a : b);
    }
    return STATUS_OK;
}

/* from the point that is further out, so that either order gives the same */
static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t d = m->dim;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i) + 1, *y = at(q, i) + 1;
        int swap = dot(d, y, y) > dot(d, x, x);
        hyperbolic_boost(d, 1, swap ? y : x, swap ? x : y, work);
        out[i] = asinh(norm2(d, work));
    }
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t n = m->ambient, d = m->dim;
    double *z = work, *rest = z + n;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * n;
        hyperbolic_coords(d, at(p, i) + 1, at(v, i) + 1, z);
        hyperbolic_turn(d, at(p, i) + 1, at(q, i) + 1, z, rest);
        double time = hyperbolic_from_coords(d, at(q, i) + 1, z, z);
        o[0] = time;
        for (size_t j = 0; j < d; j++)
            o[j + 1] = z[j];
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++) {
        hyperbolic_coords(m->dim, at(p, i) + 1, at(v, i) + 1, work);
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = work[j];
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * m->ambient, time = hyperbolic_from_coords(m->dim, at(p, i) + 1, at(a, i), work);
        o[0] = time;
        for (size_t j = 0; j < m->dim; j++)
            o[j + 1] = work[j];
    }
    return STATUS_OK;
}

static double length(manifold_t m, const double *p, const double *v, double *work)
{
    hyperbolic_coords(m->dim, p + 1, v + 1, work);
    return norm2(m->dim, work);
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    for (size_t i = begin; i < end; i++)
        out[i] = ((double)m->dim - 1) * log_sinhc(length(m, at(p, i), at(v, i), work));
    return STATUS_OK;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient, d = m->dim;
    double *z = work, *y = z + n;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(v, i), *e = at(u, i);
        hyperbolic_coords(d, at(p, i) + 1, w + 1, z);
        hyperbolic_coords(d, at(p, i) + 1, e + 1, y);
        double vv = dot(d, z, z), s = *at(x, i), t = s * sqrt(vv), c = cosh(t), b = s * sinhc(t);
        double along = vv > 0 ? dot(d, z, y) / vv : 0;
        if (d == 1) {
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

static int carry(manifold_t m, double sign, double *out, const double *base, struct points x, size_t begin, size_t end,
                 double *work)
{
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * m->ambient;
        hyperbolic_boost(m->dim, sign, base + 1, at(x, i) + 1, work);
        o[0] = hyperbolic_hold(m->dim, work);
        for (size_t j = 0; j < m->dim; j++)
            o[j + 1] = work[j];
    }
    return STATUS_OK;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    return carry(m, 1, out, base, x, begin, end, work);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    return carry(m, -1, out, base, x, begin, end, work);
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double d = (double)m->dim;
    *log_area = (d - 1) * (log(rho) + log_sinhc(rho));
    *slope = (d - 1) / tanh(rho);
}

/* what exp couldn't hold and moved to its edge */
static int at_edge(manifold_t m, const double *x)
{
    (void)m;
    return x[0] >= HYPERBOLIC_HOLD * (1 - RIEMDP_TOL);
}

const struct manifold_ops manifold_hyperboloid = {
    .name = "hyperboloid",
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
    .log_sum = log_sum,
    .at_edge = at_edge,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
    .certified = &certified_hyperboloid,
};
