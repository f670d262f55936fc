/* Unit sphere S^d in R^{d+1}, curvature 1. Distances by atan2 of chords, logs by a difference that keeps its digits near
 * coincidence; frames by the Householder reflection that takes the base point to the nearer pole. */
#include "manifold_certified.h"
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

static void rescale(size_t n, double *x)
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
        rescale(n, o);
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

enum { CHUNK = 128 };

/* ---- three coordinates ---------------------------------------------------------------------------------------------
 * The ordinary sphere: loops over columns of records, where they are stored so, or over small blocks turned into columns. */

struct columns {
    const double *x[3];
};

RIEMDP_SIMD static size_t count_off(size_t n, struct columns p)
{
    const double *a = p.x[0], *b = p.x[1], *c = p.x[2];
    long off = 0;
    for (size_t i = 0; i < n; i++)
        off += !(fabs(a[i] * a[i] + b[i] * b[i] + c[i] * c[i] - 1) <= 2 * RIEMDP_TOL);
    return (size_t)off;
}

RIEMDP_SIMD static size_t count_not_tangent(size_t n, struct columns p, struct columns v)
{
    const double *a = p.x[0], *b = p.x[1], *c = p.x[2], *d = v.x[0], *e = v.x[1], *f = v.x[2];
    double size[CHUNK];
    long off = 0;
    for (size_t i = 0; i < n; i++)
        size[i] = d[i] * d[i] + e[i] * e[i] + f[i] * f[i];
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++)
        off += !(fabs(a[i] * d[i] + b[i] * e[i] + c[i] * f[i]) <= RIEMDP_TOL * (1 + size[i])) | !(size[i] < INFINITY);
    return (size_t)off;
}

/* the number of vectors too long for the fast sine: theirs are made one by one */
RIEMDP_SIMD static size_t exp_three(size_t n, struct columns p, struct columns v, double *restrict o0,
                                    double *restrict o1, double *restrict o2)
{
    const double *a = p.x[0], *b = p.x[1], *c = p.x[2], *d = v.x[0], *e = v.x[1], *f = v.x[2];
    double size[CHUNK];
    long far = 0;
    for (size_t i = 0; i < n; i++)
        size[i] = d[i] * d[i] + e[i] * e[i] + f[i] * f[i];
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++) {
        double t = size[i], s, k;
        trig_sincos(t, &s, &k);
        far += !(t <= TRIG_MOST);
        s = t > 0 ? s / t : 1;
        double x = k * a[i] + s * d[i], y = k * b[i] + s * e[i], z = k * c[i] + s * f[i];
        o0[i] = x;
        o1[i] = y;
        o2[i] = z;
        size[i] = x * x + y * y + z * z;
    }
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++) {
        double r = 1 / size[i];
        o0[i] *= r;
        o1[i] *= r;
        o2[i] *= r;
    }
    return (size_t)far;
}

static void exp_far(size_t n, struct columns p, struct columns v, double *const o[3])
{
    for (size_t i = 0; i < n; i++) {
        const double u[3] = {v.x[0][i], v.x[1][i], v.x[2][i]};
        double t = norm2(3, u), c = cos(t), s = sin(t) / t, x[3];
        if (t <= TRIG_MOST)
            continue;
        for (size_t j = 0; j < 3; j++)
            x[j] = c * p.x[j][i] + s * u[j];
        rescale(3, x);
        for (size_t j = 0; j < 3; j++)
            o[j][i] = x[j];
    }
}

/* The tangential part of y - x (what rounding left of |x| = |y| goes with the normal part), scaled to the angle. Returns the
 * number of records at the cut locus. */
RIEMDP_SIMD static size_t log_three(size_t n, struct columns p, struct columns q, double *restrict o0,
                                    double *restrict o1, double *restrict o2)
{
    const double *a = p.x[0], *b = p.x[1], *c = p.x[2], *d = q.x[0], *e = q.x[1], *f = q.x[2];
    double size[CHUNK], along[CHUNK];
    long far = 0;
    for (size_t i = 0; i < n; i++) {
        double x = d[i] - a[i], y = e[i] - b[i], z = f[i] - c[i];
        double s = (x * a[i] + y * b[i] + z * c[i]) / (a[i] * a[i] + b[i] * b[i] + c[i] * c[i]);
        x -= s * a[i];
        y -= s * b[i];
        z -= s * c[i];
        size[i] = x * x + y * y + z * z;
        along[i] = 1 + s; /* x'y */
        o0[i] = x;
        o1[i] = y;
        o2[i] = z;
    }
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++) {
        double t = size[i], angle = trig_angle(t, along[i]), s = t > 0 ? angle / t : 0;
        far += RIEMDP_PI - angle < 1e-8;
        o0[i] *= s;
        o1[i] *= s;
        o2[i] *= s;
    }
    return (size_t)far;
}

RIEMDP_SIMD static void dist_three(size_t n, struct columns p, struct columns q, double *restrict out)
{
    const double *a = p.x[0], *b = p.x[1], *c = p.x[2], *d = q.x[0], *e = q.x[1], *f = q.x[2];
    double ratio[CHUNK];
    for (size_t i = 0; i < n; i++) {
        double x = d[i] - a[i], y = e[i] - b[i], z = f[i] - c[i], u = d[i] + a[i], v = e[i] + b[i], w = f[i] + c[i];
        ratio[i] = (x * x + y * y + z * z) / (u * u + v * v + w * w);
    }
    simd_sqrt(n, ratio);
    for (size_t i = 0; i < n; i++)
        out[i] = 2 * trig_angle(ratio[i], 1);
}

/* returns the number of opposite points */
RIEMDP_SIMD static size_t transport_three(size_t n, struct columns p, struct columns q, struct columns v,
                                          double *restrict o0, double *restrict o1, double *restrict o2)
{
    const double *a = p.x[0], *b = p.x[1], *c = p.x[2], *d = q.x[0], *e = q.x[1], *f = q.x[2];
    const double *g = v.x[0], *h = v.x[1], *k = v.x[2];
    long far = 0;
    for (size_t i = 0; i < n; i++) {
        double x = a[i] + d[i], y = b[i] + e[i], z = c[i] + f[i], s = x * x + y * y + z * z; /* 2 (1 + x'y) */
        far += s < 1e-16;
        s = 2 * (d[i] * g[i] + e[i] * h[i] + f[i] * k[i]) / s;
        o0[i] = g[i] - s * x;
        o1[i] = h[i] - s * y;
        o2[i] = k[i] - s * z;
    }
    return (size_t)far;
}

static struct columns read_columns(struct strided a, size_t begin, size_t n, double *buffer)
{
    struct columns to;
    const double *x = a.x + begin * a.record;
    if (a.record == 1) {
        for (size_t j = 0; j < 3; j++)
            to.x[j] = x + j * a.coordinate;
        return to;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < 3; j++)
            buffer[i + j * CHUNK] = x[i * a.record + j * a.coordinate];
    for (size_t j = 0; j < 3; j++)
        to.x[j] = buffer + j * CHUNK;
    return to;
}

/* whether a chunk's points and vectors are what they have to be */
static int checks_three(enum strided_operation op, size_t n, const struct columns *a)
{
    size_t bad = count_off(n, a[0]);
    bad += op == STRIDED_EXP ? count_not_tangent(n, a[0], a[1]) : count_off(n, a[1]);
    if (op == STRIDED_TRANSPORT)
        bad += count_not_tangent(n, a[0], a[2]);
    return bad == 0;
}

/* returns the number of records at the cut locus; o[0] alone for distances */
static size_t answer_three(enum strided_operation op, size_t n, const struct columns *a, double *const o[3])
{
    switch (op) {
    case STRIDED_EXP:
        if (exp_three(n, a[0], a[1], o[0], o[1], o[2]))
            exp_far(n, a[0], a[1], o);
        return 0;
    case STRIDED_LOG:
        return log_three(n, a[0], a[1], o[0], o[1], o[2]);
    case STRIDED_DIST:
        dist_three(n, a[0], a[1], o[0]);
        return 0;
    default:
        return transport_three(n, a[0], a[1], a[2], o[0], o[1], o[2]);
    }
}

/* All outputs of a chunk are written after its inputs are read, unless both are columns. */
static int run_three(enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
                     int check, size_t n)
{
    double buffer[3][3 * CHUNK], made[3 * CHUNK];
    struct columns a[3];
    int inputs = op == STRIDED_TRANSPORT ? 3 : 2;
    if (op == STRIDED_DIST) { /* one number a record */
        record = 1;
        coordinate = 0;
    }
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        size_t count = n - begin < CHUNK ? n - begin : CHUNK;
        for (int k = 0; k < inputs; k++)
            if (begin == 0 || in[k].record > 0)
                a[k] = read_columns(in[k], begin, count, buffer[k]);
        double *o[3];
        for (size_t j = 0; j < 3; j++)
            o[j] = record == 1 ? out + begin + j * coordinate : made + j * CHUNK;
        if (check && !checks_three(op, count, a))
            return STATUS_OFF_MANIFOLD;
        if (answer_three(op, count, a, o))
            return STATUS_CUT_LOCUS;
        for (size_t i = 0; i < count && record != 1; i++)
            for (size_t j = 0; j < 3; j++)
                out[(begin + i) * record + j * coordinate] = made[i + j * CHUNK];
    }
    return STATUS_OK;
}

static int strided(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate,
                   const struct strided *in, size_t n, double *work)
{
    (void)work;
    return m->ambient == 3 ? run_three(op, out, record, coordinate, in, 1, n) : STATUS_UNSUPPORTED;
}

static int three(enum strided_operation op, double *out, struct points a, struct points b, struct points c,
                 size_t begin, size_t end)
{
    const struct strided in[3] = {
        {at(a, begin), a.stride, 1}, {at(b, begin), b.stride, 1}, {at(c, begin), c.stride, 1}};
    return run_three(op, out + begin * (op == STRIDED_DIST ? 1 : 3), 3, 1, in, 0, end - begin);
}

/* ---- any number of coordinates ------------------------------------------------------------------------------------- */

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    if (n == 3)
        return three(STRIDED_EXP, out, p, v, p, begin, end);
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double *o = out + i * n, t = norm2(n, u), c = cos(t), s = sinc(t);
        for (size_t j = 0; j < n; j++)
            o[j] = c * x[j] + s * u[j];
        rescale(n, o);
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
        return three(STRIDED_LOG, out, p, q, p, begin, end);
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

/* The tangential part of y - p is y minus a multiple of p: sums of y with the factor d/|tangential part|, p taken off once. */
RIEMDP_HOT static int log_sum(manifold_t m, double *restrict sum, double *sum_sq, const double *restrict p,
                              struct points x, const double *w, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t n = m->ambient;
    double along = 0, pp = dot(n, p, p);
    for (size_t i = begin; i < end; i++) {
        const double *restrict y = at(x, i);
        double chord = 0, anti = 0, s = 0, wi = w ? w[i] : 1;
        for (size_t j = 0; j < n; j++) {
            double a = y[j] - p[j], b = y[j] + p[j];
            chord += a * a;
            anti += b * b;
            s += a * p[j];
        }
        double d = 2 * atan2(sqrt(chord), sqrt(anti));
        if (RIEMDP_PI - d < 1e-8)
            return STATUS_CUT_LOCUS;
        double tangential = chord - s * s / pp, f = tangential > 0 ? wi * d / sqrt(tangential) : 0;
        *sum_sq += wi * d * d;
        along += f * (1 + s / pp);
        for (size_t j = 0; j < n; j++)
            sum[j] += f * y[j];
    }
    for (size_t j = 0; j < n; j++)
        sum[j] -= along * p[j];
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    if (m->ambient == 3)
        return three(STRIDED_DIST, out, p, q, p, begin, end);
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
        return three(STRIDED_TRANSPORT, out, p, q, v, begin, end);
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
