/* Stiefel manifold of n x p matrices with orthonormal columns, in the Euclidean metric tr(U'V) and in the canonical
 * metric tr(U'(I - WW'/2)V).
 *
 * One path for both: a tangent vector is U = W A + Q R with A = W'U skew, Q an n x r complement, r = min(p, n - p), and
 * with c = 2 (Euclidean) or 1 (canonical)
 *     exp_W(U) = [W Q] exp(X) [I; 0] exp((1 - c) A),  X = [c A, -R'; R, 0],  |U|^2 = c/2 |A|^2 + |R|^2
 * (Edelman, Arias and Smith 1998, doi:10.1137/S0895479895290954; Zimmermann and Hueper 2022, doi:10.1137/21M1425426).
 * H, the Householder factor of W, takes W to [I; 0] and tangent vectors to [A; B]; a second one takes B to R. Points
 * are kept as increments over W, so that near ones keep their digits. */
#include "linalg.h"
#include "manifold.h"

/* log: steps a level, steps kept, halvings of the way; log_density: the largest determinant it makes */
enum { LOG_STEPS = 200, LOG_DEPTH = 30, LOG_LEVELS = 8, DENSITY_MOST = 1500 };

/* Views into the workspace. Reduced tangent vectors and increments are q x p matrices: A over R. */
struct frame {
    size_t n, p, r, q, size; /* q = p + r; size: degrees of freedom of a reduced tangent vector */
    double c;
    double *h, *tau, *sign;           /* factor of the base; H diag(sign, 1) begins with W */
    double *z;                        /* n x p: coordinates in that frame */
    double *b, *btau, *low;           /* (n - p) x p: the lower part, its factor where n - p > p; scratch */
    double *t;                        /* reduced tangent vector */
    double *x, *e, *f;                /* X, exp(X) - I (q x q), exp((1 - c) A) - I (p x p) */
    double *goal, *now, *res, *u, *v; /* q x p each */
    double *kept;                     /* goals of the levels above */
    double *here, *next, *step;       /* vectors of the iteration */
    double *rest;
};

static double metric(manifold_t m)
{
    return m->ops == &manifold_stiefel_canonical ? 1 : 2;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* lays the views out; returns the number of doubles; with work == NULL only counts */
static size_t lay_out(manifold_t m, struct frame *f, double *work)
{
    size_t n = (size_t)m->param[0], p = (size_t)m->param[1], r = p < n - p ? p : n - p, q = p + r;
    f->n = n;
    f->p = p;
    f->r = r;
    f->q = q;
    f->size = p * (p - 1) / 2 + r * p;
    f->c = metric(m);
    size_t used = 0;
#define TAKE(view, count) (f->view = work ? work + used : NULL, used += (count))
    TAKE(h, n * p);
    TAKE(tau, p);
    TAKE(sign, p);
    TAKE(z, n * p);
    TAKE(b, (n - p) * p);
    TAKE(btau, p);
    TAKE(low, (n - p) * p);
    TAKE(t, q * p);
    TAKE(x, 2 * p * q);
    TAKE(e, q * q);
    TAKE(f, p * p);
    TAKE(goal, q * p);
    TAKE(now, q * p);
    TAKE(res, q * p);
    TAKE(u, q * p);
    TAKE(v, q * p);
    TAKE(here, f->size);
    TAKE(next, f->size);
    if (r > 0) { /* O(n) has a closed form */
        TAKE(kept, LOG_LEVELS * q * p);
        TAKE(step, (LOG_DEPTH + 1) * f->size);
    }
    size_t rest = most(la_qr_work(n, p), la_expm1_work(q));
    rest = most(rest, n * p + p + p * p + la_svd_work(n, p));
    rest = most(rest, 2 * q * p + p + p * p + la_svd_work(q, p));
    rest = most(rest, la_log1p_orthogonal_work(p));
    if (f->size <= DENSITY_MOST)
        rest = most(rest, f->size * f->size + f->size + 3 * q * q + 2 * p * p + la_expm1_work(q));
    TAKE(rest, rest);
#undef TAKE
    return used;
}

static size_t work_size(manifold_t m)
{
    struct frame f;
    return lay_out(m, &f, NULL);
}

static int init_data(struct manifold *m, double c)
{
    int n = m->param[0], p = m->param[1];
    /* O(1) is two points */
    if (p < 1 || p > n || n < 2 || (double)n * p > 1e7)
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)n;
    m->cols = (size_t)p;
    m->ambient = m->rows * m->cols;
    m->dim = m->ambient - m->cols * (m->cols + 1) / 2;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_EMBEDDED;
    if (p == 1) {
        m->k_min = m->k_max = n == 2 ? 0 : 1;
        m->inj = m->rho_max = RIEMDP_PI;
        m->flags |= MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC;
        return STATUS_OK;
    }
    /* Euclidean: Zimmermann and Stoye, arXiv 2403.01879 (curvature), 2405.02268 (injectivity radius); canonical:
     * Rentmeesters 2013, thesis, UCLouvain; Stoye et al. 2025, arXiv 2511.01563 (a lower bound) */
    m->k_min = c == 2 ? -0.5 : 0;
    m->k_max = c == 2 ? 1 : 1.25;
    m->inj = c == 2 ? RIEMDP_PI : 2 * RIEMDP_PI / sqrt(5);
    if (m->dim == 1)
        m->k_min = m->k_max = 0;
    /* Upper bound of the diameter: some rotation of span[W, Y], of dimension k <= min(2p, n), takes W to Y; its
     * logarithm has floor(k/2) angles <= pi and canonical length <= pi sqrt(floor(k/2)); Euclidean lengths are at most
     * sqrt 2 times as long. O(n) has two components. */
    double planes = 2 * p <= n ? p : n / 2;
    m->rho_max = p == n ? INFINITY : RIEMDP_PI * sqrt(planes * c);
    return STATUS_OK;
}

static int init_euclidean(struct manifold *m)
{
    return init_data(m, 2);
}

static int init_canonical(struct manifold *m)
{
    return init_data(m, 1);
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, p = m->cols;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(x, i);
        if (!all_finite(n * p, w))
            return STATUS_NOT_FINITE;
        la_mul('T', 'N', p, p, n, w, n, w, n, work, p);
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < p; j++)
                if (!(fabs(work[j + k * p] - (j == k)) <= 2 * RIEMDP_TOL))
                    return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        if (!all_finite(n * k, u))
            return STATUS_NOT_FINITE;
        la_mul('T', 'N', k, k, n, w, n, u, n, work, k);
        la_symmetrize(k, work);
        if (!(norm2(k * k, work) <= RIEMDP_TOL * (1 + norm2(n * k, u))))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

/* one Newton step towards the polar factor, Y (3 I - Y'Y) / 2; p * p + p doubles of work */
static void polish(size_t n, size_t p, double *y, double *work)
{
    double *g = work, *row = work + p * p;
    la_mul('T', 'N', p, p, n, y, n, y, n, g, p);
    for (size_t j = 0; j < p * p; j++)
        g[j] *= -0.5;
    for (size_t j = 0; j < p; j++)
        g[j * (p + 1)] += 0.5;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            row[j] = y[i + j * n];
        for (size_t j = 0; j < p; j++)
            y[i + j * n] += dot(p, row, g + j * p);
    }
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, p = m->cols, np = n * p;
    double *a = work, *s = a + np, *vt = s + p, *u = vt + p * p, *rest = u + np;
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i);
        double big = 0;
        if (!all_finite(np, y))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < np; j++)
            if (fabs(y[j]) > big)
                big = fabs(y[j]);
        if (big == 0)
            return STATUS_OFF_MANIFOLD;
        for (size_t j = 0; j < np; j++)
            a[j] = y[j] / big;
        int status = la_svd(n, p, a, u, s, vt, rest);
        if (status != STATUS_OK)
            return status;
        if (!(s[p - 1] > (double)n * RIEMDP_EPS * s[0]))
            return STATUS_OFF_MANIFOLD;
        la_mul('N', 'N', n, p, p, u, n, vt, p, out + i * np, n);
        polish(n, p, out + i * np, vt);
    }
    return STATUS_OK;
}

/* out = v - w sym(w'v); out may be v */
static int to_tangent(size_t n, size_t p, double *out, const double *w, const double *v, double *work)
{
    la_mul('T', 'N', p, p, n, w, n, v, n, work, p);
    la_symmetrize(p, work);
    if (!all_finite(p * p, work))
        return STATUS_NOT_FINITE;
    double *row = work + p * p;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            row[j] = w[i + j * n];
        for (size_t j = 0; j < p; j++)
            out[i + j * n] = v[i + j * n] - dot(p, row, work + j * p);
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = to_tangent(m->rows, m->cols, out + i * m->ambient, at(p, i), at(v, i), work);
    return status;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    size_t n = m->rows, k = m->cols, np = n * k;
    double *a = work, *b = work + k * k;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *x = at(u, i), *y = at(v, i);
        double s = dot(np, x, y);
        if (metric(m) == 1) {
            la_mul('T', 'N', k, k, n, w, n, x, n, a, k);
            la_mul('T', 'N', k, k, n, w, n, y, n, b, k);
            s -= 0.5 * dot(k * k, a, b);
        }
        out[i] = s;
    }
    return STATUS_OK;
}

static int factor(struct frame *f, const double *w)
{
    size_t n = f->n, p = f->p;
    if (!all_finite(n * p, w))
        return STATUS_NOT_FINITE;
    for (size_t j = 0; j < n * p; j++)
        f->h[j] = w[j];
    int status = la_qr(n, p, f->h, f->tau, f->rest);
    for (size_t j = 0; j < p; j++)
        f->sign[j] = f->h[j + j * n] < 0 ? -1 : 1;
    return status;
}

/* z = (H diag(sign, 1))' v: the first p rows are W'v */
static int to_frame(struct frame *f, const double *v, double *z)
{
    size_t n = f->n, p = f->p;
    if (z != v)
        for (size_t j = 0; j < n * p; j++)
            z[j] = v[j];
    int status = la_qr_apply('T', n, p, p, f->h, f->tau, z, f->rest);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            z[i + j * n] *= f->sign[i];
    return status;
}

static int from_frame(struct frame *f, double *z)
{
    size_t n = f->n, p = f->p;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            z[i + j * n] *= f->sign[i];
    return la_qr_apply('N', n, p, p, f->h, f->tau, z, f->rest);
}

/* makes the factor of the lower part of z where it has more than p rows, and leaves z's reduction in `to` */
static int reduce(struct frame *f, const double *z, double *to)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            to[i + j * q] = z[i + j * n];
        for (size_t i = 0; i < l; i++)
            f->b[i + j * l] = z[p + i + j * n];
    }
    int status = l > p ? la_qr(l, p, f->b, f->btau, f->rest) : STATUS_OK;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < f->r; i++)
            to[p + i + j * q] = l > p && i > j ? 0 : f->b[i + j * l];
    return status;
}

/* z = the vector of the frame whose reduction is `from` */
static int expand(struct frame *f, const double *from, double *z)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    if (l <= p) {
        for (size_t j = 0; j < n * p; j++)
            z[j] = from[j];
        return STATUS_OK;
    }
    /* z as scratch first: the lower part has to be contiguous */
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < l; i++)
            z[i + j * l] = i < p ? from[p + i + j * q] : 0;
    int status = la_qr_apply('N', l, p, p, f->b, f->btau, z, f->rest);
    for (size_t j = p; j-- > 0;) {
        for (size_t i = l; i-- > 0;)
            z[p + i + j * n] = z[i + j * l];
        for (size_t i = 0; i < p; i++)
            z[i + j * n] = from[i + j * q];
    }
    return status;
}

/* X of a reduced tangent vector */
static void lift(struct frame *f, const double *t, double *x)
{
    size_t p = f->p, q = f->q;
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < q; i++) {
            if (j < p)
                x[i + j * q] = (i < p ? f->c : 1) * t[i + j * q];
            else
                x[i + j * q] = i < p ? -t[j + i * q] : 0;
        }
}

/* exp(X) - I and exp((1 - c) A) - I for the reduced tangent vector t */
static int geodesic(struct frame *f)
{
    size_t p = f->p, q = f->q;
    lift(f, f->t, f->x);
    int status = la_expm1(q, f->x, f->e, f->rest);
    if (f->c == 1 || status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            f->u[i + j * p] = (1 - f->c) * f->t[i + j * q];
    return la_expm1(p, f->u, f->f, f->rest);
}

/* v = y exp((1 - c) A) for a k x p matrix y (leading dimension k), in place; `work` k * p doubles */
static void turn(struct frame *f, size_t k, double *y, double *work)
{
    if (f->c == 1)
        return;
    la_mul('N', 'N', k, f->p, f->p, y, k, f->f, f->p, work, k);
    for (size_t j = 0; j < k * f->p; j++)
        y[j] += work[j];
}

/* increment of the geodesic over [I; 0] */
static void advance(struct frame *f, double *to)
{
    size_t p = f->p, q = f->q;
    for (size_t j = 0; j < q * p; j++)
        to[j] = f->e[j];
    turn(f, q, to, f->u);
    if (f->c != 1)
        for (size_t j = 0; j < p; j++)
            for (size_t i = 0; i < p; i++)
                to[i + j * q] += f->f[i + j * p];
}

static void skew_top(size_t q, size_t p, double *t)
{
    for (size_t j = 0; j < p; j++) {
        t[j + j * q] = 0;
        for (size_t i = 0; i < j; i++) {
            double a = 0.5 * (t[i + j * q] - t[j + i * q]);
            t[i + j * q] = a;
            t[j + i * q] = -a;
        }
    }
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    size_t np = m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        const double *w = at(p, i);
        double *o = out + i * np;
        if (!all_finite(np, at(v, i)))
            return STATUS_NOT_FINITE;
        if (fresh(p, i, begin))
            status = factor(&f, w);
        if (status == STATUS_OK)
            status = to_frame(&f, at(v, i), f.z);
        if (status == STATUS_OK)
            status = reduce(&f, f.z, f.t);
        skew_top(f.q, f.p, f.t);
        if (status == STATUS_OK)
            status = geodesic(&f);
        if (status != STATUS_OK)
            return status;
        advance(&f, f.now);
        status = expand(&f, f.now, f.z);
        if (status == STATUS_OK)
            status = from_frame(&f, f.z);
        for (size_t j = 0; j < np; j++)
            o[j] = w[j] + f.z[j];
        polish(f.n, f.p, o, f.rest);
    }
    return status;
}

/* Parallel transport in the moving frame [W Q] exp(sX), exp(s(1 - c)A): the coordinates (a, b) obey the linear equation
 *     a' = -(c - 1/2) [A, a] + skew(R'b),  b' = c/2 (b A - R a),
 * from the normal projection (Euclidean) and the Christoffel function of Edelman, Arias and Smith (canonical). */
static void transport_rate(struct frame *f, const double *y, double *to)
{
    size_t p = f->p, q = f->q, r = f->r;
    double k = f->c - 0.5, h = 0.5 * f->c, *ab = f->x, *rb = ab + p * p, *ra = rb + p * p, *ba = ra + r * p;
    la_mul('N', 'N', p, p, p, f->t, q, y, q, ab, p);
    la_mul('T', 'N', p, p, r, f->t + p, q, y + p, q, rb, p);
    la_mul('N', 'N', r, p, p, f->t + p, q, y, q, ra, r);
    la_mul('N', 'N', r, p, p, y + p, q, f->t, q, ba, r);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            to[i + j * q] = 0.5 * (rb[i + j * p] - rb[j + i * p]) - k * (ab[i + j * p] - ab[j + i * p]);
        for (size_t i = 0; i < r; i++)
            to[p + i + j * q] = h * (ba[i + j * r] - ra[i + j * r]);
    }
}

/* y = exp(s rate) y by Taylor's series in steps of norm <= 2; uses x, u, v */
static void transport_flow(struct frame *f, double s, double tol, double *y)
{
    size_t qp = f->q * f->p;
    double norm = 2 * fabs(s) * norm2(qp, f->t), size = norm2(qp, y);
    if (!(norm < 1e6) || size == 0)
        return;
    double steps = ceil(norm / 2);
    for (double done = 0; done < steps; done++) {
        for (size_t j = 0; j < qp; j++)
            f->u[j] = y[j];
        for (int k = 1; k < 60; k++) {
            double scale = s / steps / k;
            transport_rate(f, f->u, f->v);
            for (size_t j = 0; j < qp; j++) {
                f->u[j] = scale * f->v[j];
                y[j] += f->u[j];
            }
            if (norm2(qp, f->u) <= tol * size)
                break;
        }
    }
}

/* A reduced tangent vector as a vector of its `size` coordinates, in which the metric is the dot product. */
static void pack(struct frame *f, const double *t, double *to)
{
    double s = sqrt(f->c);
    for (size_t j = 0; j < f->p; j++) {
        for (size_t i = j + 1; i < f->p; i++)
            *to++ = s * t[i + j * f->q];
        for (size_t i = f->p; i < f->q; i++)
            *to++ = t[i + j * f->q];
    }
}

static void unpack(struct frame *f, const double *from, double *t)
{
    double s = 1 / sqrt(f->c);
    for (size_t j = 0; j < f->p; j++) {
        t[j + j * f->q] = 0;
        for (size_t i = j + 1; i < f->p; i++) {
            t[i + j * f->q] = s * *from++;
            t[j + i * f->q] = -t[i + j * f->q];
        }
        for (size_t i = f->p; i < f->q; i++)
            t[i + j * f->q] = *from++;
    }
}

/* What the tangent vector `here` misses of the goal: the tangential part of the difference at the end of its geodesic,
 * carried back to the base. */
static int shoot(struct frame *f, double *to)
{
    size_t p = f->p, q = f->q;
    unpack(f, f->here, f->t);
    int status = geodesic(f);
    if (status != STATUS_OK)
        return status;
    advance(f, f->now);
    for (size_t j = 0; j < q * p; j++)
        f->now[j] = f->goal[j] - f->now[j];
    la_mul('T', 'N', q, p, q, f->e, q, f->now, q, f->res, q);
    for (size_t j = 0; j < q * p; j++)
        f->res[j] += f->now[j];
    if (f->c != 1) {
        la_mul('N', 'T', q, p, p, f->res, q, f->f, p, f->u, q);
        for (size_t j = 0; j < q * p; j++)
            f->res[j] += f->u[j];
    }
    skew_top(q, p, f->res);
    transport_flow(f, -1, 1e-2, f->res);
    pack(f, f->res, to);
    return STATUS_OK;
}

/* Broyden's method in Kelley's form (1995, doi:10.1137/1.9781611970944, 7.3) on shoot(), whose derivative is near -I */
static int iterate(struct frame *f, double tol)
{
    size_t size = f->size, k = 0;
    double before = 0, limit = 4 * RIEMDP_PI * sqrt(f->c * (double)f->p); /* no minimal geodesic is so long */
    pack(f, f->t, f->here);
    int status = shoot(f, f->step);
    for (int count = 0; count < LOG_STEPS && status == STATUS_OK; count++) {
        double *s = f->step + k * size, sq = dot(size, s, s), length = sqrt(sq), norm;
        for (size_t j = 0; j < size; j++)
            f->here[j] += s[j];
        norm = norm2(size, f->here);
        if (!(norm < limit))
            return STATUS_CUT_LOCUS;
        /* what is left after this step, at the rate seen; or no progress any more but for rounding */
        double left = length * fmin(1, fmax(0.01, length / before));
        if (left <= tol * norm || (length <= 1e-13 * norm && length > 0.5 * before)) {
            unpack(f, f->here, f->t);
            /* at the end: a difference that is normal to the manifold stops the iteration, too */
            return tol > 1e-6 || norm2(f->q * f->p, f->now) < 0.1 ? STATUS_OK : STATUS_CUT_LOCUS;
        }
        before = length;
        status = shoot(f, f->next);
        if (k == LOG_DEPTH) {
            k = 0;
            for (size_t j = 0; j < size; j++)
                f->step[j] = f->next[j];
            continue;
        }
        for (size_t i = 0; i < k; i++) {
            double *si = f->step + i * size, *sn = si + size, a = dot(size, si, f->next) / dot(size, si, si);
            for (size_t j = 0; j < size; j++)
                f->next[j] += a * sn[j];
        }
        double scale = 1 - dot(size, s, f->next) / sq;
        scale = fabs(scale) > 0.1 ? 1 / scale : 1;
        k++;
        for (size_t j = 0; j < size; j++)
            f->step[k * size + j] = scale * f->next[j];
    }
    return status == STATUS_OK ? STATUS_CUT_LOCUS : status;
}

/* keeps the goal and replaces it by the midpoint of the chord, brought back to the manifold */
static int halve(struct frame *f, double *keep)
{
    size_t p = f->p, q = f->q;
    double *a = f->rest, *left = a + q * p, *s = left + q * p, *vt = s + p, *more = vt + p * p;
    for (size_t j = 0; j < q * p; j++)
        a[j] = keep[j] = f->goal[j];
    for (size_t j = 0; j < p; j++)
        a[j * (q + 1)] += 2;
    int status = la_svd(q, p, a, left, s, vt, more);
    if (status == STATUS_OK && s[p - 1] < 1e-6) /* Wx = -Yx for some x */
        status = STATUS_CUT_LOCUS;
    if (status != STATUS_OK)
        return status;
    la_mul('N', 'N', q, p, p, left, q, vt, p, f->goal, q);
    for (size_t j = 0; j < p; j++)
        f->goal[j * (q + 1)] -= 1;
    return STATUS_OK;
}

/* Reduced logarithm of the goal. Far goals are approached by way of the midpoint, the midpoint's midpoint, ...: twice
 * the logarithm of the midpoint is a start from which the iteration found every point inside the injectivity radius
 * that was tried. A result within that radius is the logarithm; a longer one need not be the shortest geodesic. */
static int solve(struct frame *f)
{
    size_t p = f->p, q = f->q;
    int status = STATUS_OK, levels = 0;
    if (f->r == 0) {
        for (size_t j = 0; j < p * p; j++)
            f->now[j] = f->goal[j];
        return la_log1p_orthogonal(p, f->now, f->t, f->rest);
    }
    if (p == 1) {
        f->t[0] = 0;
        f->t[1] = atan2(f->goal[1], 1 + f->goal[0]);
        return RIEMDP_PI - fabs(f->t[1]) < 1e-8 ? STATUS_CUT_LOCUS : STATUS_OK;
    }
    while (levels < LOG_LEVELS && norm2(q * p, f->goal) > 1 && status == STATUS_OK)
        status = halve(f, f->kept + levels++ * q * p);
    for (size_t j = 0; j < q * p; j++)
        f->t[j] = f->goal[j];
    skew_top(q, p, f->t);
    while (status == STATUS_OK) {
        status = iterate(f, levels ? 1e-2 : 4e-16);
        if (levels == 0)
            break;
        levels--;
        for (size_t j = 0; j < q * p; j++) {
            f->goal[j] = f->kept[levels * q * p + j];
            f->t[j] *= 2;
        }
    }
    return status;
}

/* frame of p and reduced logarithm of q */
static int reach(struct frame *f, const double *w, const double *y, int make)
{
    int status = make ? factor(f, w) : STATUS_OK;
    if (!all_finite(f->n * f->p, y))
        return STATUS_NOT_FINITE;
    for (size_t j = 0; j < f->n * f->p; j++)
        f->z[j] = y[j] - w[j];
    if (status == STATUS_OK)
        status = to_frame(f, f->z, f->z);
    if (status == STATUS_OK)
        status = reduce(f, f->z, f->goal);
    return status == STATUS_OK ? solve(f) : status;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    for (size_t i = begin; i < end; i++) {
        int status = reach(&f, at(p, i), at(q, i), fresh(p, i, begin));
        if (status == STATUS_OK)
            status = expand(&f, f.t, out + i * m->ambient);
        if (status == STATUS_OK)
            status = from_frame(&f, out + i * m->ambient);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    for (size_t i = begin; i < end; i++) {
        int status = reach(&f, at(p, i), at(q, i), fresh(p, i, begin));
        if (status != STATUS_OK)
            return status;
        pack(&f, f.t, f.here);
        out[i] = norm2(f.size, f.here);
    }
    return STATUS_OK;
}

/* From the frame of the base to A over the first r rows of the lower part in the basis of its factor, which is left in
 * `low`; and back. */
static int split(struct frame *f, const double *z, double *to)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            to[i + j * q] = z[i + j * n];
        for (size_t i = 0; i < l; i++)
            f->low[i + j * l] = z[p + i + j * n];
    }
    int status = l > p ? la_qr_apply('T', l, p, p, f->b, f->btau, f->low, f->rest) : STATUS_OK;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < f->r; i++)
            to[p + i + j * q] = f->low[i + j * l];
    return status;
}

static int join(struct frame *f, const double *from, double *z)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < f->r; i++)
            f->low[i + j * l] = from[p + i + j * q];
    int status = l > p ? la_qr_apply('N', l, p, p, f->b, f->btau, f->low, f->rest) : STATUS_OK;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            z[i + j * n] = from[i + j * q];
        for (size_t i = 0; i < l; i++)
            z[p + i + j * n] = f->low[i + j * l];
    }
    return status;
}

/* The part of the lower rows outside the span of R obeys b' = c/2 b A in the moving frame: at the end it has turned by
 * exp((1 - c/2) A), which is the identity in the Euclidean metric. */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    size_t n = f.n, k = f.p, l = n - k, qk = f.q * k;
    for (size_t i = begin; i < end; i++) {
        int status = STATUS_OK;
        if (fresh(p, i, begin) || fresh(q, i, begin)) {
            status = reach(&f, at(p, i), at(q, i), fresh(p, i, begin));
            if (status == STATUS_OK)
                status = geodesic(&f);
            if (f.c == 1 && l > k && status == STATUS_OK) {
                for (size_t j = 0; j < k; j++)
                    for (size_t h = 0; h < k; h++)
                        f.u[h + j * k] = 0.5 * f.t[h + j * f.q];
                status = la_expm1(k, f.u, f.f, f.rest);
            }
        }
        if (status == STATUS_OK)
            status = to_frame(&f, at(v, i), f.z);
        if (status == STATUS_OK)
            status = split(&f, f.z, f.res);
        if (status != STATUS_OK)
            return status;
        skew_top(f.q, k, f.res);
        transport_flow(&f, 1, 1e-17, f.res);
        la_mul('N', 'N', f.q, k, f.q, f.e, f.q, f.res, f.q, f.now, f.q);
        for (size_t j = 0; j < qk; j++)
            f.now[j] += f.res[j];
        turn(&f, f.q, f.now, f.u);
        if (f.c == 1 && l > k) {
            la_mul('N', 'N', l, k, k, f.low, l, f.f, k, f.z, l);
            for (size_t j = 0; j < l * k; j++)
                f.low[j] += f.z[j];
        }
        status = join(&f, f.now, f.z);
        if (status == STATUS_OK)
            status = from_frame(&f, f.z);
        if (status == STATUS_OK)
            status = to_tangent(n, k, out + i * m->ambient, at(q, i), f.z, f.rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* sqrt(c) times the entries of A below the diagonal by columns, then B by columns */
static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    double s = sqrt(f.c);
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? factor(&f, at(p, i)) : STATUS_OK;
        if (status == STATUS_OK)
            status = to_frame(&f, at(v, i), f.z);
        if (status != STATUS_OK)
            return status;
        double *o = out + i * m->dim;
        for (size_t k = 0; k < f.p; k++)
            for (size_t j = k + 1; j < f.p; j++)
                *o++ = 0.5 * s * (f.z[j + k * f.n] - f.z[k + j * f.n]);
        for (size_t k = 0; k < f.p; k++)
            for (size_t j = f.p; j < f.n; j++)
                *o++ = f.z[j + k * f.n];
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    double s = 1 / sqrt(f.c);
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? factor(&f, at(p, i)) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        const double *from = at(a, i);
        for (size_t k = 0; k < f.p; k++) {
            f.z[k + k * f.n] = 0;
            for (size_t j = k + 1; j < f.p; j++) {
                double t = s * *from++;
                f.z[j + k * f.n] = t;
                f.z[k + j * f.n] = -t;
            }
        }
        for (size_t k = 0; k < f.p; k++)
            for (size_t j = f.p; j < f.n; j++)
                f.z[j + k * f.n] = *from++;
        status = from_frame(&f, f.z);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = f.z[j];
    }
    return STATUS_OK;
}

/* d = integral of exp(-sX) d exp(sX) over 0 <= s <= 1, for skew n x n matrices: Taylor's series to s = 2^-levels, where
 * `e` is exp(2^-levels X) - I, then doubling; 3 n * n doubles of work */
static void drift(size_t n, const double *x, int levels, const double *e, double *d, double *work)
{
    size_t nn = n * n;
    double *term = work, *t = term + nn, *now = t + nn, h = ldexp(1, -levels);
    for (size_t j = 0; j < nn; j++) {
        d[j] *= h;
        term[j] = d[j];
        now[j] = e[j];
    }
    for (int k = 2; k < 20; k++) {
        double size = 0;
        la_mul_square('N', 'N', n, x, term, t);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) {
                double a = -h / k * (t[i + j * n] - t[j + i * n]);
                term[i + j * n] = a;
                d[i + j * n] += a;
                size += fabs(a);
            }
        if (size < 1e-18 * h)
            break;
    }
    for (int k = 0; k < levels; k++) {
        /* d + exp(-hX) d exp(hX) */
        la_mul_square('N', 'N', n, d, now, t);
        for (size_t j = 0; j < nn; j++)
            t[j] += d[j];
        la_mul_square('T', 'N', n, now, t, term);
        for (size_t j = 0; j < nn; j++)
            d[j] += t[j] + term[j];
        la_mul_square('N', 'N', n, now, now, t);
        for (size_t j = 0; j < nn; j++)
            now[j] = 2 * now[j] + t[j];
    }
}

/* phi(X) = integral of exp(sX) over 0 <= s <= 1, in the same way */
static void phi(size_t n, const double *x, int levels, const double *e, double *d, double *work)
{
    size_t nn = n * n;
    double *term = work, *t = term + nn, *now = t + nn, h = ldexp(1, -levels);
    for (size_t j = 0; j < nn; j++) {
        d[j] = term[j] = 0;
        now[j] = e[j];
    }
    for (size_t j = 0; j < n; j++)
        d[j * (n + 1)] = term[j * (n + 1)] = h;
    for (int k = 2; k < 20; k++) {
        la_mul_square('N', 'N', n, x, term, t);
        for (size_t j = 0; j < nn; j++) {
            term[j] = h / k * t[j];
            d[j] += term[j];
        }
    }
    for (int k = 0; k < levels; k++) {
        la_mul_square('N', 'N', n, d, now, t);
        for (size_t j = 0; j < nn; j++)
            d[j] = 2 * d[j] + t[j];
        la_mul_square('N', 'N', n, now, now, t);
        for (size_t j = 0; j < nn; j++)
            now[j] = 2 * now[j] + t[j];
    }
}

/* Derivative of exp in the moving frame, column by column: of exp(X) by the integral above, of exp((1 - c) A) likewise.
 * The n - p - r rows outside the span of R have one p x p block in common, from phi(X) = (exp(X) - I) X^-1. */
static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    size_t k = f.p, q = f.q, qq = q * q, size = f.size;
    double *jac = f.rest, *coord = jac + size * size, *x = coord + size, *e = x + qq, *g = e + qq, *d = g + k * k;
    double *a = d + qq, *more = a + k * k;
    if (size > DENSITY_MOST)
        return STATUS_UNSUPPORTED;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? factor(&f, at(p, i)) : STATUS_OK;
        if (status == STATUS_OK)
            status = to_frame(&f, at(v, i), f.z);
        if (status == STATUS_OK)
            status = reduce(&f, f.z, f.t);
        if (status != STATUS_OK)
            return status;
        skew_top(q, k, f.t);
        lift(&f, f.t, x);
        int levels = 0;
        double norm = 2 * norm2(qq, x);
        if (!(norm < INFINITY))
            return STATUS_NOT_FINITE;
        while (ldexp(norm, -levels) > 1)
            levels++;
        double h = ldexp(1, -levels);
        for (size_t j = 0; j < qq; j++)
            d[j] = h * x[j];
        status = la_expm1(q, d, e, more);
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++)
                a[l + j * k] = h * f.t[l + j * q];
        if (status == STATUS_OK)
            status = la_expm1(k, a, g, more);
        for (size_t col = 0; col < size && status == STATUS_OK; col++) {
            for (size_t j = 0; j < size; j++)
                coord[j] = j == col;
            unpack(&f, coord, f.u);
            lift(&f, f.u, d);
            drift(q, x, levels, e, d, more);
            for (size_t j = 0; j < k; j++)
                for (size_t l = 0; l < q; l++)
                    f.res[l + j * q] = d[l + j * q];
            if (f.c != 1) {
                /* (1 - c) A instead of X: for c = 2 the same integral, as both signs change */
                for (size_t j = 0; j < k; j++)
                    for (size_t l = 0; l < k; l++) {
                        a[l + j * k] = f.u[l + j * q];
                        f.v[l + j * k] = f.t[l + j * q];
                    }
                drift(k, f.v, levels, g, a, more);
                for (size_t j = 0; j < k; j++)
                    for (size_t l = 0; l < k; l++)
                        f.res[l + j * q] += (1 - f.c) * a[l + j * k];
            }
            pack(&f, f.res, jac + col * size);
        }
        if (status == STATUS_OK)
            status = la_log_abs_det(size, jac, out + i, coord);
        if (status == STATUS_OK && f.n > 2 * k) {
            double rows = (double)(f.n - 2 * k), one = 0;
            phi(q, x, levels, e, d, more);
            for (size_t j = 0; j < k; j++)
                for (size_t l = 0; l < k; l++)
                    a[l + j * k] = d[l + j * q];
            status = la_log_abs_det(k, a, &one, more);
            out[i] += rows * one;
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t k = 0; k < m->cols; k++)
        for (size_t j = 0; j < m->rows; j++)
            out[j + k * m->rows] = j == k;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    int status = factor(&f, base);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = to_frame(&f, at(x, i), out + i * m->ambient);
    return status;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    struct frame f;
    lay_out(m, &f, work);
    int status = factor(&f, base);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = at(x, i)[j];
        status = from_frame(&f, out + i * m->ambient);
    }
    return status;
}

#define STIEFEL_OPERATIONS                                                                                             \
    .work = work_size,                                                                                                 \
    .check_point = check_point,                                                                                        \
    .check_tangent = check_tangent,                                                                                    \
    .project = project,                                                                                                \
    .project_tangent = project_tangent,                                                                                \
    .exp = exp_map,                                                                                                    \
    .log = log_map,                                                                                                    \
    .inner = inner,                                                                                                    \
    .coords = coords,                                                                                                  \
    .from_coords = from_coords,                                                                                        \
    .dist = dist,                                                                                                      \
    .transport = transport,                                                                                            \
    .log_density = log_density,                                                                                        \
    .origin = origin,                                                                                                  \
    .to_origin = to_origin,                                                                                            \
    .from_origin = from_origin

const struct manifold_ops manifold_stiefel_euclidean = {
    .name = "stiefel_euclidean",
    .init = init_euclidean,
    STIEFEL_OPERATIONS,
};

const struct manifold_ops manifold_stiefel_canonical = {
    .name = "stiefel_canonical",
    .init = init_canonical,
    STIEFEL_OPERATIONS,
};
