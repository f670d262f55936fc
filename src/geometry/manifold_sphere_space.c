/* The ordinary sphere, many records at once: loops over columns of records, where they are stored so, or over small blocks turned into
 * columns. */
#include "manifold_sphere.h"
#include "trig.h"

enum { CHUNK = SPHERE_CHUNK };

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
        sphere_rescale(3, x);
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

/* all outputs of a chunk are written after its inputs are read, unless both are columns */
int sphere_space_run(enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
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

int sphere_space_points(enum strided_operation op, double *out, struct points a, struct points b, struct points c,
                        size_t begin, size_t end)
{
    const struct strided in[3] = {
        {at(a, begin), a.stride, 1}, {at(b, begin), b.stride, 1}, {at(c, begin), c.stride, 1}};
    return sphere_space_run(op, out + begin * (op == STRIDED_DIST ? 1 : 3), 3, 1, in, 0, end - begin);
}

RIEMDP_SIMD void sphere_space_apart(size_t count, const double *p, struct points x, struct sphere_apart *to)
{
    const double a = p[0], b = p[1], c = p[2], *restrict y = x.x;
    size_t stride = x.stride;
    for (size_t i = 0; i < count; i++) {
        double d = y[i * stride], e = y[i * stride + 1], f = y[i * stride + 2];
        double u = d - a, v = e - b, w = f - c, k = d + a, l = e + b, o = f + c;
        to->chord[i] = u * u + v * v + w * w;
        to->anti[i] = k * k + l * l + o * o;
        to->along[i] = u * a + v * b + w * c;
    }
}
