/* Generic defaults behind the manifold table: each works on any geometry that has exp, log, inner and projections. */
#include "manifold.h"
#include "linalg.h"

enum { LOG_SUM_BATCH = 32 };

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* front part of the workspace, for the generics; the operations get what follows */
static size_t generic_work(manifold_t m)
{
    size_t frame = m->ops->coords ? 0 : (m->dim + 2) * m->ambient + m->dim;
    size_t batch = m->ops->log_sum ? 0 : LOG_SUM_BATCH * (m->ambient + 1);
    return larger(8 * m->ambient + 2 * m->dim + 8, batch) + frame;
}

size_t manifold_work(manifold_t m)
{
    return generic_work(m) + m->ops->work(m);
}

size_t manifold_block(manifold_t m)
{
    /* some 32 KB; long vectors in rows, which are cheap to work on, 64 records: whole cache lines of each column; matrices, which
     * are worked on four at once, 16 of them */
    size_t doubles = m->ambient > m->dim ? m->ambient : m->dim, block = 4096 / (doubles ? doubles : 1) / 4 * 4;
    size_t least = doubles > 16384 ? 1 : m->rows ? 16 : 64;
    return block < least ? least : block > 512 ? 512 : block;
}

int manifold_exp(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    int status = m->ops->exp(m, out, p, v, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK && m->ops->at_edge; i++)
        if (m->ops->at_edge(m, out + i * m->ambient))
            status = STATUS_OUT_OF_REACH;
    return status;
}

/* exp, total: a vector beyond the domain of exp (incomplete manifolds) is halved until it is inside. At a public p that is a
 * function of the noisy vector alone, so post-processing. Where p is the mean (complete manifolds) it must not happen: what doubles
 * don't hold is moved to their edge by `exp_held`, and curved spaces have no noise that wide (check_gaussian_reach()). The last
 * resort must not be p. */
void manifold_exp_total(manifold_t m, double *out, const double *p, double *v, const double *otherwise, double *work)
{
    int (*map)(manifold_t, double *, struct points, struct points, size_t, size_t, double *) =
        m->ops->exp_held ? m->ops->exp_held : m->ops->exp;
    for (int k = 0; k < 200; k++) {
        if (map(m, out, (struct points){p, 0}, (struct points){v, 0}, 0, 1, work) == STATUS_OK &&
            all_finite(m->ambient, out))
            return;
        for (size_t j = 0; j < m->ambient; j++)
            v[j] *= 0.5;
    }
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = otherwise[j];
}

int manifold_dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    if (m->ops->dist)
        return m->ops->dist(m, out, p, q, begin, end, work);
    double *v = work, *rest = work + m->ambient;
    for (size_t i = begin; i < end; i++) {
        int status = m->ops->log(m, v, one(at(p, i)), one(at(q, i)), 0, 1, rest);
        if (status == STATUS_OK)
            status = m->ops->inner(m, out + i, one(at(p, i)), one(v), one(v), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        out[i] = sqrt(out[i] > 0 ? out[i] : 0);
    }
    return STATUS_OK;
}

static int runge_kutta(manifold_t m, parallel_field f, double d, size_t steps, const double *x, const double *w, double *u,
                       double *work)
{
    size_t n = m->ambient;
    double *rate = work, *sum = rate + n, *mid = sum + n, h = d / (double)steps;
    static const double at_[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    for (size_t i = 0; i < steps; i++) {
        for (size_t j = 0; j < n; j++)
            rate[j] = sum[j] = 0;
        for (size_t l = 0; l < 4; l++) {
            for (size_t j = 0; j < n; j++)
                mid[j] = u[j] + at_[l] * h * rate[j];
            int status = f(m, ((double)i + at_[l]) * h, x, w, mid, rate, mid + n);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < n; j++)
                sum[j] += weight[l] * rate[j];
        }
        for (size_t j = 0; j < n; j++)
            u[j] += h / 6 * sum[j];
    }
    return STATUS_OK;
}

int manifold_integrate(manifold_t m, parallel_field rate, double d, double steps, const double *x, const double *w, double *u,
                       double *work)
{
    size_t n = m->ambient, count = (size_t)fmin(5000, steps);
    double *o = work, off = 0, size = norm2(n, u);
    for (size_t j = 0; j < n; j++)
        o[j] = u[j];
    int status = runge_kutta(m, rate, d, count, x, w, u, work + n);
    if (status == STATUS_OK)
        status = runge_kutta(m, rate, d, 2 * count, x, w, o, work + n);
    for (size_t j = 0; j < n && status == STATUS_OK; j++) {
        off = fmax(off, fabs(o[j] - u[j]) / 15);
        u[j] = o[j] + (o[j] - u[j]) / 15;
    }
    return status == STATUS_OK && !(off <= 1e-8 * size) ? STATUS_NO_CONVERGENCE : status;
}

/* Frame at p by Gram-Schmidt (twice) on the projected axes, in their order: a function of p alone. */
int manifold_gram_schmidt(manifold_t m, const double *p, double *frame, double *work)
{
    size_t n = m->ambient, found = 0;
    double *axis = work, *rest = work + n;
    for (size_t j = 0; j < n && found < m->dim; j++) {
        double *e = frame + found * n, before, after, t;
        host_tick(m->host, 0, 0);
        for (size_t i = 0; i < n; i++)
            axis[i] = i == j;
        int status = m->ops->project_tangent(m, e, one(p), one(axis), 0, 1, rest);
        if (status == STATUS_OK)
            status = m->ops->inner(m, &before, one(p), one(e), one(e), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < found; k++) {
                status = m->ops->inner(m, &t, one(p), one(frame + k * n), one(e), 0, 1, rest);
                if (status != STATUS_OK)
                    return status;
                for (size_t i = 0; i < n; i++)
                    e[i] -= t * frame[k * n + i];
            }
        status = m->ops->inner(m, &after, one(p), one(e), one(e), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        if (!(after > 1e-12 * before) || !(before > 0))
            continue;
        t = 1 / sqrt(after);
        for (size_t i = 0; i < n; i++)
            e[i] *= t;
        found++;
    }
    return found == m->dim ? STATUS_OK : STATUS_LINALG;
}

int manifold_coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    if (m->ops->coords)
        return m->ops->coords(m, out, p, v, begin, end, work);
    size_t n = m->ambient;
    double *frame = work, *row = frame + m->dim * n, *rest = row + m->dim;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? manifold_gram_schmidt(m, at(p, i), frame, rest) : STATUS_OK;
        for (size_t j = 0; j < m->dim && status == STATUS_OK; j++)
            status = m->ops->inner(m, row + j, one(at(p, i)), one(frame + j * n), one(at(v, i)), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = row[j];
    }
    return STATUS_OK;
}

int manifold_from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                         double *work)
{
    if (m->ops->from_coords)
        return m->ops->from_coords(m, out, p, a, begin, end, work);
    size_t n = m->ambient;
    double *frame = work, *row = frame + m->dim * n, *rest = row + n;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? manifold_gram_schmidt(m, at(p, i), frame, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        for (size_t r = 0; r < n; r++) {
            row[r] = 0;
            for (size_t j = 0; j < m->dim; j++)
                row[r] += frame[j * n + r] * at(a, i)[j];
        }
        for (size_t r = 0; r < n; r++)
            out[i * n + r] = row[r];
    }
    return STATUS_OK;
}

int manifold_carry(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                   size_t end, double *work)
{
    double *a = work, *rest = work + m->dim;
    for (size_t i = begin; i < end; i++) {
        int status = manifold_coords(m, a, one(at(p, i)), one(at(v, i)), 0, 1, rest);
        if (status == STATUS_OK)
            status = manifold_from_coords(m, out + i * m->ambient, one(at(q, i)), one(a), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static int norm_at(manifold_t m, const double *p, const double *v, double *out, double *rest)
{
    int status = m->ops->inner(m, out, one(p), one(v), one(v), 0, 1, rest);
    *out = sqrt(*out > 0 ? *out : 0);
    return status;
}

/* a: foot of the rung, u: the vector there, geo: logarithm of q at p */
struct ladder {
    manifold_t m;
    const double *p, *q, *geo;
    double *a, *u, *b, *mid, *t, *s, *rest;
};

/* the point after `done` of `rungs` rungs */
static int geodesic_point(const struct ladder *l, double *out, double done, int rungs)
{
    for (size_t j = 0; j < l->m->ambient; j++)
        l->t[j] = l->geo[j] * done / rungs;
    return l->m->ops->exp(l->m, out, one(l->p), one(l->t), 0, 1, l->rest);
}

/* out = - log_from(to) */
static int log_back(const struct ladder *l, double *out, const double *from, const double *to)
{
    int status = l->m->ops->log(l->m, out, one(from), one(to), 0, 1, l->rest);
    for (size_t j = 0; j < l->m->ambient; j++)
        out[j] = -out[j];
    return status;
}

/* Rung number r carries u from a to b through the midpoint of the geodesic: reflect exp_a(u) there and read it off at b.
 * Exact on symmetric spaces; third order in the rung elsewhere (Guigui and Pennec 2022, doi:10.1007/s10208-021-09515-x). */
static int climb(struct ladder *l, int r, int rungs)
{
    manifold_t m = l->m;
    int status = geodesic_point(l, l->b, r, rungs);
    if (status == STATUS_OK)
        status = geodesic_point(l, l->mid, r - 0.5, rungs);
    for (size_t j = 0; j < m->ambient && r == rungs; j++)
        l->b[j] = l->q[j];
    if (status == STATUS_OK)
        status = m->ops->exp(m, l->t, one(l->a), one(l->u), 0, 1, l->rest);
    if (status == STATUS_OK)
        status = log_back(l, l->s, l->mid, l->t);
    if (status == STATUS_OK)
        status = m->ops->exp(m, l->t, one(l->mid), one(l->s), 0, 1, l->rest);
    if (status == STATUS_OK)
        status = log_back(l, l->u, l->b, l->t);
    for (size_t j = 0; j < m->ambient; j++)
        l->a[j] = l->b[j];
    return status;
}

int manifold_pole_ladder(manifold_t m, double *out, const double *p, const double *q, const double *v, int rungs,
                         double *work)
{
    size_t n = m->ambient;
    double *geo = work, *a = geo + n, *u = a + n, *b = u + n, *mid = b + n, *t = mid + n, *s = t + n, *rest = s + n;
    struct ladder l = {m, p, q, geo, a, u, b, mid, t, s, rest};
    double length, norm;
    int status = m->ops->log(m, geo, one(p), one(q), 0, 1, rest);
    if (status == STATUS_OK)
        status = norm_at(m, p, geo, &length, rest);
    if (status == STATUS_OK)
        status = norm_at(m, p, v, &norm, rest);
    if (status != STATUS_OK)
        return status;
    /* a vector as short as the rung keeps the order two; its length comes back at the end */
    double scale = norm > 0 ? 0.1 / (norm * rungs) : 0;
    for (size_t j = 0; j < n; j++) {
        a[j] = p[j];
        u[j] = scale * v[j];
    }
    for (int r = 1; r <= rungs && status == STATUS_OK; r++) {
        host_tick(m->host, 0, 0);
        status = climb(&l, r, rungs);
    }
    if (status == STATUS_OK)
        status = norm_at(m, q, u, &length, rest);
    for (size_t j = 0; j < n && status == STATUS_OK; j++)
        out[j] = length > 0 ? u[j] * norm / length : 0;
    return status;
}

int manifold_transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                       size_t end, double *work)
{
    if (m->ops->transport)
        return m->ops->transport(m, out, p, q, v, begin, end, work);
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * n;
        int status;
        if (m->flags & MANIFOLD_SYMMETRIC) {
            status = manifold_pole_ladder(m, o, at(p, i), at(q, i), at(v, i), 1, work);
        } else {
            /* the error is even in the rung: one Richardson step */
            double *coarse = work, *fine = work + n, *rest = fine + n;
            status = manifold_pole_ladder(m, coarse, at(p, i), at(q, i), at(v, i), 16, rest);
            if (status == STATUS_OK)
                status = manifold_pole_ladder(m, fine, at(p, i), at(q, i), at(v, i), 32, rest);
            for (size_t j = 0; j < n && status == STATUS_OK; j++)
                o[j] = (4 * fine[j] - coarse[j]) / 3;
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* column j of d exp_p at v in the frames of p and q: fourth-order central difference of coords_q(log_q(exp(...))) */
static int exp_derivative(manifold_t m, double *column, const double *p, const double *v, const double *q, size_t j,
                          double *work)
{
    static const double offset[4] = {2, 1, -1, -2}, weight[4] = {-1, 8, -8, 1};
    const double h = 1e-3;
    size_t n = m->ambient, d = m->dim;
    double *a = work, *c = a + d, *e = c + d, *u = e + n, *end = u + n, *rest = end + n;
    int status = STATUS_OK;
    for (size_t i = 0; i < d; i++) {
        a[i] = i == j;
        column[i] = 0;
    }
    status = manifold_from_coords(m, e, one(p), one(a), 0, 1, rest);
    for (int k = 0; k < 4 && status == STATUS_OK; k++) {
        double t = offset[k] * h;
        for (size_t i = 0; i < n; i++)
            u[i] = v[i] + t * e[i];
        status = m->ops->exp(m, end, one(p), one(u), 0, 1, rest);
        if (status == STATUS_OK)
            status = m->ops->log(m, u, one(q), one(end), 0, 1, rest);
        if (status == STATUS_OK)
            status = manifold_coords(m, c, one(q), one(u), 0, 1, rest);
        for (size_t i = 0; i < d && status == STATUS_OK; i++)
            column[i] += weight[k] * c[i] / (12 * h);
    }
    return status;
}

int manifold_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                         double *work)
{
    if (m->ops->log_density)
        return m->ops->log_density(m, out, p, v, begin, end, work);
    size_t d = m->dim, n = m->ambient;
    double *mat = work, *q = mat + d * d, *pivot = q + n, *rest = pivot + d;
    for (size_t i = begin; i < end; i++) {
        int status = m->ops->exp(m, q, one(at(p, i)), one(at(v, i)), 0, 1, rest);
        for (size_t j = 0; j < d && status == STATUS_OK; j++) {
            host_tick(m->host, 0, 0);
            status = exp_derivative(m, mat + j * d, at(p, i), at(v, i), q, j, rest);
        }
        if (status == STATUS_OK)
            status = la_log_abs_det(d, mat, out + i, pivot);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

int manifold_log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                     size_t begin, size_t end, double *work)
{
    if (m->ops->log_sum)
        return m->ops->log_sum(m, sum, sum_sq, p, x, w, begin, end, work);
    size_t n = m->ambient;
    double *v = work, *sq = v + LOG_SUM_BATCH * n, *rest = sq + LOG_SUM_BATCH;
    for (size_t b = begin; b < end; b += LOG_SUM_BATCH) {
        size_t count = end - b < LOG_SUM_BATCH ? end - b : LOG_SUM_BATCH;
        struct points slice = {at(x, b), x.stride}, logs = {v, n};
        int status = m->ops->log(m, v, one(p), slice, 0, count, rest);
        if (status == STATUS_OK)
            status = m->ops->inner(m, sq, one(p), logs, logs, 0, count, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++) {
            double wi = w ? w[b + i] : 1;
            for (size_t j = 0; j < n; j++)
                sum[j] += wi * v[i * n + j];
            *sum_sq += wi * sq[i];
        }
    }
    return STATUS_OK;
}

int manifold_ambient_inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin,
                           size_t end, double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = dot(m->ambient, at(u, i), at(v, i));
    return STATUS_OK;
}

void manifold_constant_jacobi(size_t n, double along, const double *v, const double *e, double c, double s, double b,
                              double *out_p, double *out_v)
{
    for (size_t j = 0; j < n; j++) {
        double a = along * v[j], r = e[j] - a;
        out_p[j] = a + c * r;
        out_v[j] = s * a + b * r;
    }
}

int manifold_start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                       double *work)
{
    if (m->ops->start_add)
        return m->ops->start_add(m, acc, x, w, begin, end, work);
    if (!(m->flags & MANIFOLD_EMBEDDED))
        return STATUS_UNSUPPORTED;
    for (size_t i = begin; i < end; i++) {
        double wi = w ? w[i] : 1;
        for (size_t j = 0; j < m->ambient; j++)
            acc[j] += wi * at(x, i)[j];
    }
    return STATUS_OK;
}

int manifold_start_end(manifold_t m, double *out, double *acc, double total, double *work)
{
    int status = STATUS_OK;
    if (m->ops->start_end) {
        status = m->ops->start_end(m, out, acc, total, work);
    } else {
        for (size_t j = 0; j < m->ambient; j++)
            acc[j] /= total;
        status = m->ops->project(m, out, one(acc), 0, 1, work);
        if (status == STATUS_OK && norm2(m->ambient, acc) < 1e-8 * norm2(m->ambient, out))
            status = STATUS_NO_CONVERGENCE; /* opposite records cancel: the direction is rounding */
    }
    return status == STATUS_OK ? m->ops->check_point(m, one(out), 0, 1, work) : status;
}

void manifold_ball_bounds(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work)
{
    *k_max = m->k_max;
    *inj = m->inj;
    if (m->ops->ball_bounds)
        m->ops->ball_bounds(m, centre, radius, k_max, inj, work);
}

int manifold_carries(manifold_t m)
{
    return m->ops->to_origin && m->ops->from_origin && m->ops->origin;
}

int manifold_reference(manifold_t m, const double *centre, double *o)
{
    if (manifold_carries(m)) {
        m->ops->origin(m, o);
        return 1;
    }
    for (size_t j = 0; j < m->ambient; j++)
        o[j] = centre[j];
    return 0;
}

void manifold_from_reference(manifold_t m, int carried, const double *centre, const double *x, double *out,
                             double *work)
{
    int back = carried && m->ops->from_origin(m, out, centre, one(x), 0, 1, work) == STATUS_OK;
    const double *from = carried ? centre : x;
    for (size_t j = 0; j < m->ambient && !back; j++)
        out[j] = from[j];
}

void manifold_one_form(manifold_t m, const double *o, double *y, double *work)
{
    double *v = work, *out = v + m->ambient, *rest = out + m->ambient;
    if (!(m->flags & MANIFOLD_FORMS))
        return;
    int status = m->ops->log(m, v, one(o), one(y), 0, 1, rest);
    if (status == STATUS_OK)
        status = m->ops->exp(m, out, one(o), one(v), 0, 1, rest);
    const double *from = status == STATUS_OK && all_finite(m->ambient, out) ? out : o;
    for (size_t j = 0; j < m->ambient; j++)
        y[j] = from[j];
}

void manifold_to_ball(manifold_t m, double *out, const double *centre, double radius, struct points x, size_t begin,
                      size_t end, double *work)
{
    size_t n = m->ambient;
    double *v = work, *o = v + n, *rest = o + n;
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i), *from = centre;
        double d = 0;
        if (m->ops->check_point(m, one(y), 0, 1, rest) == STATUS_OK &&
            m->ops->log(m, v, one(centre), one(y), 0, 1, rest) == STATUS_OK && all_finite(n, v) &&
            m->ops->inner(m, &d, one(centre), one(v), one(v), 0, 1, rest) == STATUS_OK && d >= 0 && d < INFINITY) {
            d = sqrt(d);
            from = y;
            if (d > radius) {
                for (size_t j = 0; j < n; j++)
                    v[j] *= radius / d;
                from = m->ops->exp(m, o, one(centre), one(v), 0, 1, rest) == STATUS_OK && all_finite(n, o) ? o : centre;
            }
        }
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = from[j];
    }
}
