/* Rotations of space in loops that vector units run: the formulas of manifold_rotations.c, a column for each of the nine entries, choices
 * instead of branches. Records are turned into columns chunk by chunk. */
#include "manifold_rotations.h"
#include "trig.h"

enum { CHUNK = 64 };

/* entry j + 3 k of record i is x[j + 3 * k][i] */
struct chunk {
    double x[9][CHUNK];
};

/* unit quaternions, coordinates (half the rotation vector) with their lengths in w */
struct turns {
    double w[CHUNK], x[CHUNK], y[CHUNK], z[CHUNK];
};

static void read_chunk(struct strided a, size_t begin, size_t n, struct chunk *to)
{
    simd_move(n, 9, a.x + begin * a.record, a.record, a.coordinate, to->x[0], 1, CHUNK);
}

/* out = p'u */
RIEMDP_SIMD static void pull(size_t n, struct chunk *restrict out, const struct chunk *restrict p, const struct chunk *restrict u)
{
    for (size_t k = 0; k < 9; k += 3)
        for (size_t j = 0; j < 9; j += 3)
            for (size_t i = 0; i < n; i++)
                out->x[j / 3 + k][i] = p->x[j][i] * u->x[k][i] + p->x[j + 1][i] * u->x[k + 1][i] + p->x[j + 2][i] * u->x[k + 2][i];
}

/* out = p a */
RIEMDP_SIMD static void push(size_t n, struct chunk *restrict out, const struct chunk *restrict p, const struct chunk *restrict a)
{
    for (size_t k = 0; k < 9; k += 3)
        for (size_t j = 0; j < 3; j++)
            for (size_t i = 0; i < n; i++)
                out->x[j + k][i] = p->x[j][i] * a->x[k][i] + p->x[j + 3][i] * a->x[k + 1][i] + p->x[j + 6][i] * a->x[k + 2][i];
}

/* out = q - p */
RIEMDP_SIMD static void subtract(size_t n, struct chunk *restrict out, const struct chunk *restrict q, const struct chunk *restrict p)
{
    for (size_t j = 0; j < 9; j++)
        for (size_t i = 0; i < n; i++)
            out->x[j][i] = q->x[j][i] - p->x[j][i];
}

/* ---- checks -------------------------------------------------------------------------------------------------------- */

RIEMDP_SIMD static size_t count_off(size_t n, const struct chunk *p)
{
    const double most = 2 * RIEMDP_TOL;
    long off = 0;
    for (size_t i = 0; i < n; i++) {
        double a = p->x[0][i], b = p->x[1][i], c = p->x[2][i], d = p->x[3][i], e = p->x[4][i], f = p->x[5][i], g = p->x[6][i],
               h = p->x[7][i], k = p->x[8][i];
        int good = (fabs(a * a + b * b + c * c - 1) <= most) & (fabs(d * d + e * e + f * f - 1) <= most) &
                   (fabs(g * g + h * h + k * k - 1) <= most) & (fabs(a * d + b * e + c * f) <= most) &
                   (fabs(a * g + b * h + c * k) <= most) & (fabs(d * g + e * h + f * k) <= most) &
                   (a * (e * k - f * h) - d * (b * k - c * h) + g * (b * f - c * e) > 0);
        off += !good;
    }
    return (size_t)off;
}

/* a: p'v */
RIEMDP_SIMD static size_t count_not_tangent(size_t n, const struct chunk *a, const struct chunk *v)
{
    double size[CHUNK], apart[CHUNK];
    long off = 0;
    for (size_t i = 0; i < n; i++) {
        double s = 0, x = a->x[1][i] + a->x[3][i], y = a->x[2][i] + a->x[6][i], z = a->x[5][i] + a->x[7][i];
        for (size_t j = 0; j < 9; j++)
            s += v->x[j][i] * v->x[j][i];
        size[i] = s;
        apart[i] = a->x[0][i] * a->x[0][i] + a->x[4][i] * a->x[4][i] + a->x[8][i] * a->x[8][i] + 0.5 * (x * x + y * y + z * z);
    }
    simd_sqrt(n, size);
    simd_sqrt(n, apart);
    for (size_t i = 0; i < n; i++)
        off += !(apart[i] <= 8 * RIEMDP_TOL * (1 + size[i])) | !(size[i] < INFINITY);
    return (size_t)off;
}

/* ---- quaternions --------------------------------------------------------------------------------------------------- */

RIEMDP_INLINE void choose(int take, const double *from, double *to)
{
    to[0] = take ? from[0] : to[0];
    to[1] = take ? from[1] : to[1];
    to[2] = take ? from[2] : to[2];
    to[3] = take ? from[3] : to[3];
}

/* The quaternion of I + e, first entry not negative, by its largest entry (Shepperd 1978, doi:10.2514/3.55767b): each is known to
 * rounding, and the vector to relative rounding where e is small. */
RIEMDP_SIMD static void quaternions(size_t n, struct turns *restrict q, const struct chunk *restrict e)
{
    double size[CHUNK];
    for (size_t i = 0; i < n; i++) {
        double a = e->x[0][i], b = e->x[4][i], c = e->x[8][i];
        double t = 4 + a + b + c, t1 = a - b - c, t2 = b - a - c, t3 = c - b - a;
        double w1 = e->x[5][i] - e->x[7][i], w2 = e->x[6][i] - e->x[2][i], w3 = e->x[1][i] - e->x[3][i];
        double s1 = e->x[5][i] + e->x[7][i], s2 = e->x[6][i] + e->x[2][i], s3 = e->x[1][i] + e->x[3][i];
        double most = t, all[4] = {t, w1, w2, w3};
        choose(t1 > most, (const double[]){w1, t1, s3, s2}, all);
        most = t1 > most ? t1 : most;
        choose(t2 > most, (const double[]){w2, s3, t2, s1}, all);
        most = t2 > most ? t2 : most;
        choose(t3 > most, (const double[]){w3, s2, s1, t3}, all);
        q->w[i] = all[0], q->x[i] = all[1], q->y[i] = all[2], q->z[i] = all[3];
        size[i] = all[0] * all[0] + all[1] * all[1] + all[2] * all[2] + all[3] * all[3];
    }
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++) {
        double f = (q->w[i] < 0 ? -1 : 1) / size[i];
        q->w[i] *= f, q->x[i] *= f, q->y[i] *= f, q->z[i] *= f;
    }
}

/* those that lead from p to q */
static void between(size_t n, struct turns *h, const struct chunk *p, const struct chunk *q)
{
    struct chunk d, e;
    subtract(n, &d, q, p);
    pull(n, &e, p, &d);
    quaternions(n, h, &e);
}

/* Coordinates of the logarithm in place of a quaternion, the distance in w. Returns how many are at the cut locus. */
RIEMDP_SIMD static size_t logarithms(size_t n, struct turns *h)
{
    double size[CHUNK];
    long far = 0;
    for (size_t i = 0; i < n; i++)
        size[i] = h->x[i] * h->x[i] + h->y[i] * h->y[i] + h->z[i] * h->z[i];
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++) {
        double t = size[i], half = trig_angle(t, h->w[i]), s = t > 0 ? half / t : 0;
        far += !(h->w[i] > 4 * RIEMDP_EPS);
        h->w[i] = half;
        h->x[i] *= s, h->y[i] *= s, h->z[i] *= s;
    }
    return (size_t)far;
}

RIEMDP_SIMD static void skew(size_t n, struct chunk *restrict a, const struct turns *restrict c)
{
    for (size_t i = 0; i < n; i++) {
        double x = 2 * c->x[i], y = 2 * c->y[i], z = 2 * c->z[i];
        a->x[0][i] = a->x[4][i] = a->x[8][i] = 0;
        a->x[5][i] = x, a->x[7][i] = -x;
        a->x[6][i] = y, a->x[2][i] = -y;
        a->x[1][i] = z, a->x[3][i] = -z;
    }
}

RIEMDP_SIMD static void from_skew(size_t n, struct turns *restrict c, const struct chunk *restrict a)
{
    for (size_t i = 0; i < n; i++) {
        c->x[i] = 0.25 * (a->x[5][i] - a->x[7][i]);
        c->y[i] = 0.25 * (a->x[6][i] - a->x[2][i]);
        c->z[i] = 0.25 * (a->x[1][i] - a->x[3][i]);
    }
}

/* ---- operations ---------------------------------------------------------------------------------------------------- */

static size_t log_chunk(size_t n, struct chunk *out, const struct chunk *p, const struct chunk *q)
{
    struct turns h;
    struct chunk a;
    between(n, &h, p, q);
    size_t far = logarithms(n, &h);
    skew(n, &a, &h);
    push(n, out, p, &a);
    return far;
}

static void dist_chunk(size_t n, double *out, const struct chunk *p, const struct chunk *q)
{
    struct turns h;
    between(n, &h, p, q);
    logarithms(n, &h);
    for (size_t i = 0; i < n; i++)
        out[i] = h.w[i];
}

/* I + a is the rotation of the coordinates c, whose lengths go to w; returns how many are too long for the fast sine */
RIEMDP_SIMD static size_t turn_by(size_t n, struct chunk *restrict a, struct turns *restrict c)
{
    double size[CHUNK];
    long far = 0;
    for (size_t i = 0; i < n; i++)
        size[i] = c->x[i] * c->x[i] + c->y[i] * c->y[i] + c->z[i] * c->z[i];
    simd_sqrt(n, size);
    for (size_t i = 0; i < n; i++) {
        double t = size[i], s, w;
        trig_sincos(t, &s, &w);
        far += !(t <= TRIG_MOST);
        c->w[i] = t;
        s = t > 0 ? s / t : 1;
        double x = s * c->x[i], y = s * c->y[i], z = s * c->z[i], vv = 2 * (x * x + y * y + z * z);
        a->x[0][i] = 2 * x * x - vv;
        a->x[4][i] = 2 * y * y - vv;
        a->x[8][i] = 2 * z * z - vv;
        a->x[5][i] = 2 * y * z + 2 * w * x, a->x[7][i] = 2 * y * z - 2 * w * x;
        a->x[6][i] = 2 * x * z + 2 * w * y, a->x[2][i] = 2 * x * z - 2 * w * y;
        a->x[1][i] = 2 * x * y + 2 * w * z, a->x[3][i] = 2 * x * y - 2 * w * z;
    }
    return (size_t)far;
}

/* p (I + e), and one Newton step to the polar factor */
RIEMDP_SIMD static void move(size_t n, struct chunk *restrict out, const struct chunk *restrict p, const struct chunk *restrict e)
{
    struct chunk y, g;
    push(n, &y, p, e);
    for (size_t j = 0; j < 9; j++)
        for (size_t i = 0; i < n; i++)
            y.x[j][i] += p->x[j][i];
    pull(n, &g, &y, &y);
    for (size_t j = 0; j < 9; j++)
        for (size_t i = 0; i < n; i++)
            g.x[j][i] = (j % 4 == 0 ? 1.5 : 0) - 0.5 * g.x[j][i];
    push(n, out, &y, &g);
}

/* a: p'v. Vectors that are too long for the fast sine are taken one by one. */
static size_t exp_chunk(size_t n, struct chunk *out, const struct chunk *p, const struct chunk *v, const struct chunk *a)
{
    struct turns c;
    struct chunk e;
    size_t bad = 0;
    from_skew(n, &c, a);
    size_t far = turn_by(n, &e, &c);
    move(n, out, p, &e);
    for (size_t i = 0; i < n && far; i++) {
        double x[9], u[9], o[9];
        if (c.w[i] <= TRIG_MOST)
            continue;
        for (size_t j = 0; j < 9; j++) {
            x[j] = p->x[j][i];
            u[j] = v->x[j][i];
        }
        bad += rotations_exp_one(3, o, x, u) != STATUS_OK;
        for (size_t j = 0; j < 9; j++)
            out->x[j][i] = o[j];
    }
    return bad;
}

/* a: p'v */
RIEMDP_SIMD static size_t turn_back(size_t n, struct turns *restrict x, const struct turns *restrict h)
{
    long far = 0;
    for (size_t i = 0; i < n; i++) {
        double w = h->w[i], a = h->x[i], b = h->y[i], c = h->z[i], d = x->x[i], e = x->y[i], g = x->z[i];
        double f = (a * d + b * e + c * g) / (1 + w);
        far += !(w > 4 * RIEMDP_EPS);
        x->x[i] = w * d - (b * g - c * e) + f * a;
        x->y[i] = w * e - (c * d - a * g) + f * b;
        x->z[i] = w * g - (a * e - b * d) + f * c;
    }
    return (size_t)far;
}

static size_t transport_chunk(size_t n, struct chunk *out, const struct chunk *p, const struct chunk *q, const struct chunk *a)
{
    struct turns h, x;
    struct chunk b;
    between(n, &h, p, q);
    from_skew(n, &x, a);
    size_t far = turn_back(n, &x, &h);
    skew(n, &b, &x);
    push(n, out, q, &b);
    return far;
}

/* in[0] to in[2] of a chunk; `pulled`: p'v where there is a v */
static size_t answer(enum strided_operation op, size_t n, struct chunk *out, double *apart, const struct chunk *in, const struct chunk *pulled)
{
    switch (op) {
    case STRIDED_EXP:
        return exp_chunk(n, out, in, in + 1, pulled);
    case STRIDED_LOG:
        return log_chunk(n, out, in, in + 1);
    case STRIDED_DIST:
        dist_chunk(n, apart, in, in + 1);
        return 0;
    default:
        return transport_chunk(n, out, in, in + 1, pulled);
    }
}

/* `fresh`: whether in[0] and in[1] have been read anew */
static int checks(enum strided_operation op, size_t n, const struct chunk *in, const struct chunk *pulled, const int *fresh)
{
    if ((fresh[0] && count_off(n, in)) || (op != STRIDED_EXP && fresh[1] && count_off(n, in + 1)))
        return 0;
    return (op != STRIDED_EXP && op != STRIDED_TRANSPORT) || !count_not_tangent(n, pulled, in + (op == STRIDED_EXP ? 1 : 2));
}

int rotations_space_run(enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
                        int check, size_t n)
{
    struct chunk x[3], made, pulled;
    double apart[CHUNK];
    int fresh[3], inputs = op == STRIDED_TRANSPORT ? 3 : 2, vector = op == STRIDED_EXP ? 1 : op == STRIDED_TRANSPORT ? 2 : 0;
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        size_t count = n - begin < CHUNK ? n - begin : CHUNK;
        for (int k = 0; k < inputs; k++)
            if ((fresh[k] = begin == 0 || in[k].record > 0))
                read_chunk(in[k], begin, count, x + k);
        if (vector)
            pull(count, &pulled, x, x + vector);
        if (check && !checks(op, count, x, &pulled, fresh))
            return STATUS_OFF_MANIFOLD;
        if (answer(op, count, &made, apart, x, &pulled))
            return op == STRIDED_EXP ? STATUS_NOT_FINITE : STATUS_CUT_LOCUS;
        if (op == STRIDED_DIST)
            memcpy(out + begin, apart, count * sizeof *out);
        else
            simd_move(count, 9, made.x[0], 1, CHUNK, out + begin * record, record, coordinate);
    }
    return STATUS_OK;
}

int rotations_space_points(enum strided_operation op, double *out, const struct points *in, size_t begin, size_t end)
{
    struct strided from[3];
    for (int k = 0; k < (op == STRIDED_TRANSPORT ? 3 : 2); k++)
        from[k] = (struct strided){at(in[k], begin), in[k].stride, 1};
    return rotations_space_run(op, out + begin * (op == STRIDED_DIST ? 1 : 9), 9, 1, from, 0, end - begin);
}

int rotations_space_log_sum(double *total, double *sum_sq, const double *p, struct points x, const double *w, size_t begin, size_t end)
{
    struct chunk base, to;
    struct turns h;
    read_chunk((struct strided){p, 0, 1}, 0, CHUNK, &base);
    for (size_t b = begin; b < end; b += CHUNK) {
        size_t count = end - b < CHUNK ? end - b : CHUNK;
        read_chunk((struct strided){at(x, b), x.stride, 1}, 0, count, &to);
        between(count, &h, &base, &to);
        if (logarithms(count, &h))
            return STATUS_CUT_LOCUS;
        for (size_t i = 0; i < count; i++) {
            double wi = w ? w[b + i] : 1;
            *sum_sq += wi * h.w[i] * h.w[i];
            total[0] += wi * h.x[i];
            total[1] += wi * h.y[i];
            total[2] += wi * h.z[i];
        }
    }
    return STATUS_OK;
}

int rotations_space_check(struct points x, size_t begin, size_t end)
{
    struct chunk to;
    for (size_t b = begin; b < end; b += CHUNK) {
        size_t count = end - b < CHUNK ? end - b : CHUNK;
        read_chunk((struct strided){at(x, b), x.stride, 1}, 0, count, &to);
        if (count_off(count, &to))
            return 0;
    }
    return 1;
}
