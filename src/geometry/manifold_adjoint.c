/* Derivatives of the exponential map, turned around: what gradients of geodesic regression are made of (Fletcher 2013,
 * doi:10.1007/s11263-012-0591-y). */
#include "manifold.h"

/* One geodesic in pieces no longer than this share of the injectivity radius: transport takes the shortest way between points. */
#define PIECE 0.6

enum { OFFSETS = 4 };
static const double offset[OFFSETS] = {2, 1, -1, -2}, weight[OFFSETS] = {-1, 8, -8, 1};
static const double spacing = 1e-3; /* fourth-order differences: errors of 1e-12 by truncation and by rounding */

static double reach(manifold_t m)
{
    return m->inj > 0 && m->inj < INFINITY ? PIECE * m->inj : INFINITY;
}

int manifold_transport_back(manifold_t m, double *out, const double *p, const double *v, const double *y,
                            const double *u, double *work)
{
    enum { MOST = 10000 };
    size_t n = m->ambient;
    double *a = work, *t = a + n, *rest = t + n, sq = 0, far = reach(m);
    int status = far < INFINITY ? m->ops->inner(m, &sq, one(p), one(v), one(v), 0, 1, rest) : STATUS_OK;
    double pieces = status == STATUS_OK && far < INFINITY ? ceil(sqrt(sq > 0 ? sq : 0) / far) : 1;
    if (status != STATUS_OK)
        return status;
    if (!(pieces <= MOST))
        return STATUS_OUT_OF_RANGE;
    if (pieces <= 1)
        return manifold_transport(m, out, one(y), one(p), one(u), 0, 1, rest);
    for (size_t j = 0; j < n; j++) {
        a[j] = y[j];
        out[j] = u[j];
    }
    for (double k = pieces - 1; k >= 0 && status == STATUS_OK; k--) {
        for (size_t j = 0; j < n; j++)
            t[j] = v[j] * k / pieces;
        if (k > 0)
            status = m->ops->exp(m, t, one(p), one(t), 0, 1, rest);
        if (status == STATUS_OK)
            status = manifold_transport(m, out, one(a), one(k > 0 ? t : p), one(out), 0, 1, rest);
        for (size_t j = 0; j < n; j++)
            a[j] = t[j];
    }
    return status;
}

int manifold_transport_near(manifold_t m, double *out, const double *p, const double *q, const double *v, double *work)
{
    size_t n = m->ambient;
    int own = m->ops->transport && !(m->flags & MANIFOLD_CALLS_R), same = 1;
    if (own)
        return m->ops->transport(m, out, one(p), one(q), one(v), 0, 1, work);
    for (size_t j = 0; j < n; j++)
        same = same && p[j] == q[j];
    if (same) {
        for (size_t j = 0; j < n; j++)
            out[j] = v[j];
        return STATUS_OK;
    }
    double *to = work;
    int status = manifold_pole_ladder(m, to, p, q, v, 1, work + n);
    for (size_t j = 0; j < n && status == STATUS_OK; j++)
        out[j] = to[j];
    return status;
}

size_t manifold_exp_adjoint_work(manifold_t m, size_t q, size_t count)
{
    size_t n = m->ambient, d = m->dim;
    if (m->ops->exp_adjoint)
        return manifold_work(m);
    if (m->ops->jacobi)
        return count * (n + 1) + 2 * n + manifold_work(m); /* vectors and lengths; a way back in pieces */
    return d * n + (q + 3) * n + 2 * count * (n + d + 1) + n + manifold_work(m);
}

/* transport back to p, then the factors of the symmetric space */
static int by_jacobi(manifold_t m, double *out_p, double *out_w, const double *p, const double *v, size_t q,
                     struct points x, struct points w, struct points y, struct points e, size_t count, double *work)
{
    size_t n = m->ambient;
    double *u = work, *t = u + count * n, *rest = t + count, far = reach(m), longest = 0;
    static const double whole = 1;
    int status = STATUS_OK;
    if (far < INFINITY) {
        status = m->ops->inner(m, t, one(p), w, w, 0, count, rest);
        for (size_t i = 0; i < count && status == STATUS_OK; i++)
            longest = t[i] > longest ? t[i] : longest;
    }
    if (status == STATUS_OK && sqrt(longest) <= far)
        status = manifold_transport(m, u, y, one(p), e, 0, count, rest);
    else
        for (size_t i = 0; i < count && status == STATUS_OK; i++)
            status = manifold_transport_back(m, u + i * n, p, at(w, i), at(y, i), at(e, i), rest);
    struct points back = {u, n};
    if (status != STATUS_OK)
        return status;
    if (q != 1)
        return m->ops->jacobi(m, out_p, out_w, one(p), w, one(&whole), back, 0, count, rest);
    /* one velocity for all, whose factor is made once; its factor holds x as well */
    status = m->ops->jacobi(m, out_p, out_w, one(p), one(v), x, back, 0, count, rest);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        double s = *at(x, i);
        for (size_t j = 0; j < n; j++)
            out_w[i * n + j] = fabs(s) > 1e-290 ? out_w[i * n + j] / s : u[i * n + j];
    }
    return status;
}

/* Records y_i = exp_p(w_i), w_i = sum_j x_ij v_j, their covectors e, and what differences are made of. */
struct differences {
    manifold_t m;
    const double *p, *v;
    size_t q, count;
    struct points x, w, y, e;
    double *frame, *foot; /* at p; where the foot has moved */
    double *vt;           /* velocities there, q of them */
    double *wt, *end;     /* a moved record's velocity, later its difference from y, and its end */
    double *slope;        /* <e, derivative> in each direction: of the foot for all records, then of w */
    double *product, *rest;
};

/* the foot moves by t u, the velocities with it */
static int move_foot(const struct differences *s, const double *u, double t)
{
    size_t n = s->m->ambient;
    for (size_t i = 0; i < n; i++)
        s->vt[i] = t * u[i];
    int status = s->m->ops->exp(s->m, s->foot, one(s->p), one(s->vt), 0, 1, s->rest);
    for (size_t r = 0; r < s->q && status == STATUS_OK; r++)
        status = manifold_transport_near(s->m, s->vt + r * n, s->p, s->foot, s->v + r * n, s->rest);
    for (size_t i = 0; i < s->count; i++)
        for (size_t c = 0; c < n; c++) {
            double sum = 0;
            for (size_t r = 0; r < s->q; r++)
                sum += at(s->x, i)[r] * s->vt[r * n + c];
            s->wt[i * n + c] = sum;
        }
    return status;
}

/* the velocities move by t u */
static void move_velocities(const struct differences *s, const double *u, double t)
{
    size_t n = s->m->ambient;
    for (size_t i = 0; i < n; i++)
        s->foot[i] = s->p[i];
    for (size_t i = 0; i < s->count; i++)
        for (size_t c = 0; c < n; c++)
            s->wt[i * n + c] = at(s->w, i)[c] + t * u[c];
}

/* adds the difference of weight `of` along direction j of the foot, or j - dim of the velocities */
static int add_difference(const struct differences *s, size_t j, double t, double of)
{
    manifold_t m = s->m;
    size_t n = m->ambient, d = m->dim;
    struct points moved = {s->wt, n}, ends = {s->end, n};
    const double *u = s->frame + (j % d) * n;
    int status = STATUS_OK;
    if (j < d)
        status = move_foot(s, u, t);
    else
        move_velocities(s, u, t);
    if (status == STATUS_OK)
        status = m->ops->exp(m, s->end, one(s->foot), moved, 0, s->count, s->rest);
    if (status == STATUS_OK)
        status = m->ops->log(m, s->wt, s->y, ends, 0, s->count, s->rest);
    if (status == STATUS_OK)
        status = m->ops->inner(m, s->product, s->y, moved, s->e, 0, s->count, s->rest);
    for (size_t i = 0; i < s->count && status == STATUS_OK; i++)
        s->slope[((j >= d) * s->count + i) * d + j % d] += of * s->product[i] / (12 * spacing);
    return status;
}

/* By differences in each direction of a frame at p, over all records at once: for manifolds whose operations are R functions a
 * few calls, however many records. */
static int by_differences(struct differences s, double *out_p, double *out_w, double *work)
{
    size_t n = s.m->ambient, d = s.m->dim, count = s.count;
    s.frame = work;
    s.foot = s.frame + d * n;
    s.vt = s.foot + n;
    s.wt = s.vt + s.q * n;
    s.end = s.wt + count * n;
    s.slope = s.end + count * n;
    s.product = s.slope + 2 * count * d;
    s.rest = s.product + count;
    int status = manifold_gram_schmidt(s.m, s.p, s.frame, s.rest);
    for (size_t i = 0; i < 2 * count * d; i++)
        s.slope[i] = 0;
    for (size_t j = 0; j < 2 * d && status == STATUS_OK; j++) {
        host_tick(s.m->host, 0, 0);
        for (int k = 0; k < OFFSETS && status == STATUS_OK; k++)
            status = add_difference(&s, j, offset[k] * spacing, weight[k]);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        for (size_t c = 0; c < n; c++) {
            double sum_p = 0, sum_w = 0;
            for (size_t j = 0; j < d; j++) {
                sum_p += s.slope[i * d + j] * s.frame[j * n + c];
                sum_w += s.slope[(count + i) * d + j] * s.frame[j * n + c];
            }
            out_p[i * n + c] = sum_p;
            out_w[i * n + c] = sum_w;
        }
    return status;
}

int manifold_exp_adjoint(manifold_t m, double *out_p, double *out_w, const double *p, const double *v, size_t q,
                         struct points x, struct points w, struct points y, struct points e, size_t count, double *work)
{
    if (m->ops->exp_adjoint)
        return m->ops->exp_adjoint(m, out_p, out_w, one(p), w, y, e, 0, count, work);
    if (m->ops->jacobi)
        return by_jacobi(m, out_p, out_w, p, v, q, x, w, y, e, count, work);
    struct differences s = {.m = m, .p = p, .v = v, .q = q, .count = count, .x = x, .w = w, .y = y, .e = e};
    return by_differences(s, out_p, out_w, work);
}

size_t manifold_numeric_work(manifold_t m)
{
    size_t density = m->ops->log_density ? 0 : (2 * m->dim + 8) * m->dim + 12 * m->ambient;
    size_t jacobi = m->ops->jacobi ? 0 : 3 * m->ambient + manifold_exp_adjoint_work(m, 1, 1);
    size_t plain = manifold_work(m) + density;
    return plain > jacobi ? plain : jacobi;
}

/* From the adjoints of exp at (p, x v), where no closed form is at hand. */
static int jacobi_by_adjoint(manifold_t m, double *out_p, double *out_v, struct points p, struct points v,
                             struct points x, struct points u, size_t begin, size_t end, double *work)
{
    static const double whole = 1;
    size_t n = m->ambient;
    double *w = work, *y = w + n, *e = y + n, *rest = e + n;
    for (size_t i = begin; i < end; i++) {
        const double *base = at(p, i);
        double s = *at(x, i), *ov = out_v + i * n;
        for (size_t j = 0; j < n; j++)
            w[j] = s * at(v, i)[j];
        int status = m->ops->exp(m, y, one(base), one(w), 0, 1, rest);
        if (status == STATUS_OK)
            status = manifold_transport(m, e, one(base), one(y), one(at(u, i)), 0, 1, rest);
        if (status == STATUS_OK)
            status =
                manifold_exp_adjoint(m, out_p + i * n, ov, base, w, 1, one(&whole), one(w), one(y), one(e), 1, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < n; j++)
            ov[j] *= s;
    }
    return STATUS_OK;
}

int manifold_jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                    struct points u, size_t begin, size_t end, double *work)
{
    if (m->ops->jacobi)
        return m->ops->jacobi(m, out_p, out_v, p, v, x, u, begin, end, work);
    return jacobi_by_adjoint(m, out_p, out_v, p, v, x, u, begin, end, work);
}
