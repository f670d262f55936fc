/* SPD matrices with the Bures-Wasserstein metric 1/2 tr(L_P[U] V), P L + L P = U: the distance of centred Gaussians in
 * optimal transport (Bhatia, Jain and Lim 2019, doi:10.1016/j.exmath.2018.01.002). Curvature >= 0 and unbounded towards
 * singular matrices; not complete. With P = A A', U = S P + P S lifts to S A in the flat space of square matrices. */
#include "manifold_spd.h"

static int init(struct manifold *m)
{
    int status = spd_init(m);
    m->k_min = 0;
    m->k_max = m->rows > 1 ? INFINITY : 0;
    m->inj = 0; /* depends on the point: the square root of the smallest eigenvalue */
    m->rho_max = INFINITY;
    m->model = MODEL_BURES;
    m->flags = MANIFOLD_EMBEDDED | MANIFOLD_ONE_MEAN;
    return status;
}

static size_t work_size(manifold_t m)
{
    size_t n = m->ambient, k = m->rows, eig = la_symeig_work(k), polar = la_polar_work(k);
    return spd_groups_work(m) + 24 * n + 4 * k + (eig > polar ? eig : polar);
}

/* S = L_P[U] in the eigenbasis of P */
static void lyapunov(size_t k, const double *v, const double *w, const double *u, double *s, double *rest)
{
    la_to_basis(k, v, u, s, rest);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            s[i + j * k] /= w[i] + w[j];
}

/* (I + S) diag(w) (I + S) in the eigenbasis, back in the given one; fails where I + S isn't positive definite.
 * rest: 2 k^2 */
static int push(size_t k, const double *v, const double *w, double *s, double *out, double *rest)
{
    double *t = rest, *b = t + k * k;
    for (size_t j = 0; j < k; j++)
        s[j + j * k] += 1;
    if (la_chol(k, s, t) != STATUS_OK)
        return STATUS_DOMAIN_EXCEEDED;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            s[i + j * k] *= sqrt(w[j]);
    la_mul_square('N', 'N', k, v, s, b);
    la_mul_square('N', 'T', k, b, b, out);
    la_symmetrize(k, out);
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points u, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *w = s + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        lyapunov(k, v, w, at(u, i), s, rest);
        status = push(k, v, w, s, out + i * n, rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* eigenvalues, in any order, from which roots and quotients keep their digits */
static int well_conditioned(size_t k, const double *w)
{
    double low = w[0], high = w[0];
    for (size_t j = 1; j < k; j++) {
        low = w[j] < low ? w[j] : low;
        high = w[j] > high ? w[j] : high;
    }
    return low > 1e-5 * high;
}

/* spectra of base points and roots of their eigenvalues, made once where the base is one for all */
static int base_spectrum(const struct spd_groups *c, size_t k, struct points p, size_t i, size_t begin, size_t end)
{
    if (!fresh(p, i, begin))
        return STATUS_OK;
    int status = spd_group_spectrum(c, k, p, i, end, c->base, c->scale);
    for (size_t j = 0; j < k && status == STATUS_OK; j++)
        for (size_t a = 0; a < WIDE; a++)
            c->root[j][a] = sqrt(c->scale[j][a]);
    return status;
}

/* W^2 + W^1/2 E W^1/2 for E = Y - P in the eigenbasis of P, in c->s; gamma2: squared lengths of bures_map()'s
 * first steps */
static void pose_group(const struct spd_groups *c, size_t k, size_t count, const double *const *p,
                       const double *const *y, double *gamma2)
{
    wide_load_difference(k, y, p, c->v);
    wide_mirror(k, c->v);
    c->kernels->mul(k, count, c->v, c->base, c->t, c->rest);
    c->kernels->mul_transposed(k, count, c->base, c->t, c->s, c->rest);
    wide_mirror(k, c->s);
    for (size_t j = 0; j < k; j++) {
        wide column = {0};
        for (size_t r = 0; r < k; r++) {
            wide e = c->s[r + j * k], first = e / (c->scale[r] + c->scale[j]);
            column += c->scale[r] * first * first;
            c->s[r + j * k] = e * c->root[r] * c->root[j];
        }
        c->s[j + j * k] += c->scale[j] * c->scale[j];
        column /= c->scale[j];
        for (size_t a = 0; a < count; a++)
            gamma2[a] = column[a] > gamma2[a] ? column[a] : gamma2[a];
    }
}

/* X = W^-1/2 S^1/2 W^-1/2 - I in c->v, of S in c->s; its eigenvalues in c->f */
static int solve_group(const struct spd_groups *c, size_t k, size_t count)
{
    int status = c->kernels->symeig(k, count, c->s, c->f, 1, c->rest);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < k; j++)
        for (size_t a = 0; a < count; a++)
            c->t[j][a] = sqrt(c->f[j][a]);
    c->kernels->spectral(k, count, c->s, c->t, c->v, c->rest);
    for (size_t j = 0; j < k; j++) {
        for (size_t r = j; r < k; r++)
            c->v[r + j * k] /= c->root[r] * c->root[j];
        c->v[j + j * k] -= 1;
    }
    wide_mirror(k, c->v);
    return STATUS_OK;
}

/* whether both spectra of number `which`, in c->f and c->scale, let its square root keep its digits */
static int root_serves(const struct spd_groups *c, size_t k, size_t which, double *work)
{
    wide_take(k, which, c->f, work);
    if (!well_conditioned(k, work))
        return 0;
    wide_take(k, which, c->scale, work);
    return well_conditioned(k, work);
}

/* bures_map() of a group by a square root, W^1/2 (I + X) W^1/2 = (W^2 + W^1/2 E W^1/2)^1/2; matrices that are too near
 * or too ill-conditioned for it go one by one */
static int transport_group(const struct spd_groups *c, size_t k, struct points p, struct points q, size_t i, size_t end)
{
    const double *base[WIDE], *y[WIDE];
    size_t count = spd_group(q, i, end, y), n = k * k, near = 0;
    double gamma2[WIDE] = {0}, *v = c->scalar, *x = v + n, *w = x + n, *rest = w + k;
    spd_group(p, i, end, base);
    pose_group(c, k, count, base, y, gamma2);
    for (size_t a = 0; a < count; a++)
        near += bures_is_near(k, gamma2[a]) != 0;
    int together = near < count && solve_group(c, k, count) == STATUS_OK;
    for (size_t a = 0; a < count; a++) {
        if (together && !bures_is_near(k, gamma2[a]) && root_serves(c, k, a, w))
            continue;
        wide_take(n, a, c->base, v);
        wide_take(k, a, c->scale, w);
        int status = bures_map(k, base[a], y[a], v, w, x, rest);
        if (status != STATUS_OK)
            return status;
        wide_put(n, a, x, c->v);
    }
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_spectrum(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = transport_group(&c, k, p, q, i, end);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            for (size_t r = 0; r < k; r++)
                c.v[r + j * k] *= c.scale[r] + c.scale[j];
        c.kernels->mul(k, count, c.base, c.v, c.t, c.rest);
        c.kernels->symmetric_product(k, count, c.t, c.base, c.s, c.rest);
        spd_store(k, out, i, count, c.s);
    }
    return STATUS_OK;
}

/* d^2 = tr(X W X) of every matrix of a group */
static void square_norms(const struct spd_groups *c, size_t k, wide *squares)
{
    *squares = (wide){0};
    for (size_t j = 0; j < k; j++) {
        wide t = {0};
        for (size_t r = 0; r < k; r++)
            t += c->v[r + j * k] * c->v[r + j * k];
        *squares += c->scale[j] * t;
    }
}

/* sums of X in the eigenbasis of p, where log = X W + W X */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points q, const double *weight,
                   size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    struct spd_groups c = spd_make_groups(m, work);
    double *total = c.scalar, *v = total + n, *w = v + n, *x = w + k;
    c.scalar = x + n;
    if (begin >= end)
        return STATUS_OK;
    int status = base_spectrum(&c, k, one(p), begin, begin, end);
    for (size_t j = 0; j < n; j++)
        total[j] = 0;
    for (size_t i = begin; i < end && status == STATUS_OK; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        status = transport_group(&c, k, one(p), q, i, end);
        if (status != STATUS_OK)
            return status;
        wide squares;
        square_norms(&c, k, &squares);
        for (size_t a = 0; a < count; a++) {
            double wi = weight ? weight[i + a] : 1;
            *sum_sq += wi * squares[a];
            for (size_t j = 0; j < n; j++)
                total[j] += wi * c.v[j][a];
        }
    }
    if (status != STATUS_OK)
        return status;
    wide_take(n, 0, c.base, v);
    wide_take(k, 0, c.scale, w);
    for (size_t j = 0; j < k; j++)
        for (size_t r = 0; r < k; r++)
            total[r + j * k] *= w[r] + w[j];
    la_from_basis(k, v, total, x, c.scalar);
    for (size_t j = 0; j < n; j++)
        sum[j] += x[j];
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_spectrum(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = transport_group(&c, k, p, q, i, end);
        if (status != STATUS_OK)
            return status;
        wide squares;
        square_norms(&c, k, &squares);
        for (size_t a = 0; a < count; a++)
            out[i + a] = sqrt(squares[a]);
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points a, struct points b, size_t begin, size_t end,
                 double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *t = s + n, *w = t + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        lyapunov(k, v, w, at(a, i), s, rest);
        la_to_basis(k, v, at(b, i), t, rest);
        out[i] = 0.5 * dot(n, s, t);
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points u, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *w = s + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        la_to_basis(k, v, at(u, i), s, rest);
        for (size_t c = 0; c < k; c++)
            for (size_t r = 0; r < k; r++)
                s[r + c * k] /= sqrt(2 * (w[r] + w[c]));
        sym_to_coords(k, s, out + i * m->dim);
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *w = s + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        sym_from_coords(k, at(a, i), s);
        for (size_t c = 0; c < k; c++)
            for (size_t r = 0; r < k; r++)
                s[r + c * k] *= sqrt(2 * (w[r] + w[c]));
        la_from_basis(k, v, s, out + i * n, rest);
    }
    return STATUS_OK;
}

/* Parallel transport: the horizontal lift S(t) A(t) of the field keeps D_t of it vertical, which gives
 * S' = K W^-1 - S Y with Y = X (I + t X)^-1, W(t) = (I + t X) W (I + t X) and K skew from K W^-1 + W^-1 K = S Y - Y S.
 * In the eigenbasis of X (values x), where M = W(0). rest: 4 k^2 + k + eig work */
static int transport_slope(size_t k, const double *mat, const double *x, double t, const double *s, double *ds,
                           double *rest)
{
    size_t n = k * k;
    double *q = rest, *c = q + n, *tmp = c + n, *w = tmp + n, *more = w + k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            double yi = x[i] / (1 + t * x[i]), yj = x[j] / (1 + t * x[j]);
            q[i + j * k] = (1 + t * x[i]) * mat[i + j * k] * (1 + t * x[j]);
            c[i + j * k] = s[i + j * k] * (yj - yi);
        }
    int status = la_symeig(k, q, w, 1, more);
    if (status != STATUS_OK)
        return status;
    la_mul_square('N', 'N', k, c, q, tmp);
    la_mul_square('T', 'N', k, q, tmp, c);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            c[i + j * k] *= w[i] / (w[i] + w[j]);
    la_mul_square('N', 'N', k, q, c, tmp);
    la_mul_square('N', 'T', k, tmp, q, ds);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            ds[i + j * k] -= s[i + j * k] * (x[j] / (1 + t * x[j]));
    la_symmetrize(k, ds);
    return STATUS_OK;
}

/* Dormand and Prince 1980 (doi:10.1016/0771-050X(80)90013-3): stages, their times, fifth order less fourth */
enum { STAGES = 7 };
static const struct {
    double a[STAGES][STAGES - 1], c[STAGES], e[STAGES];
} dormand_prince = {
    {{0},
     {1.0 / 5},
     {3.0 / 40, 9.0 / 40},
     {44.0 / 45, -56.0 / 15, 32.0 / 9},
     {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
     {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
     {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
    {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
    {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
};

/* One vector on its way: S in the eigenbasis x of X, whose values are f, and M = W(0) there; v, w: spectrum of the
 * foot. */
struct field {
    size_t k;
    double *v, *w, *x, *f, *s, *mat, *tmp, *rest;
};

/* y = S(t + h), and the slopes at the stages; rest: slope's */
static int try_step(const struct field *g, double t, double h, double *slope, double *y, double *rest)
{
    size_t n = g->k * g->k;
    for (int stage = 0; stage < STAGES; stage++) {
        for (size_t j = 0; j < n; j++) {
            y[j] = g->s[j];
            for (int b = 0; b < stage; b++)
                y[j] += h * dormand_prince.a[stage][b] * slope[(size_t)b * n + j];
        }
        int status = transport_slope(g->k, g->mat, g->f, t + dormand_prince.c[stage] * h, y, slope + (size_t)stage * n,
                                     rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static double step_error(size_t n, double h, const double *slope)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double d = 0;
        for (int b = 0; b < STAGES; b++)
            d += dormand_prince.e[b] * slope[(size_t)b * n + j];
        sum += square(h * d);
    }
    return sqrt(sum);
}

/* S from 0 to 1, step by the error estimate. rest: 9 k^2 + slope's */
static int transport_ode(manifold_t m, const struct field *g)
{
    size_t n = g->k * g->k;
    double *slope = g->rest, *y = slope + STAGES * n, *more = y + n, t = 0, h = 0.05, size = norm2(n, g->s);
    for (int steps = 0; t < 1 && size > 0; steps++) {
        host_tick(m->host, 0, 0);
        if (steps > 2000)
            return STATUS_NO_CONVERGENCE;
        if (t + h > 1)
            h = 1 - t;
        int status = try_step(g, t, h, slope, y, more);
        if (status != STATUS_OK)
            return status;
        double error = step_error(n, h, slope) / (1e-13 * size);
        if (!(error < INFINITY))
            return STATUS_NO_CONVERGENCE;
        if (error <= 1 || h < 1e-6) {
            t += h;
            for (size_t j = 0; j < n; j++)
                g->s[j] = y[j];
        }
        double grow = 0.9 * pow(error + 1e-10, -0.2);
        h *= grow > 4 ? 4 : grow < 0.2 ? 0.2 : grow;
    }
    return STATUS_OK;
}

/* S = L_P[u] into the basis of X; `squared`: the vector's squared norm */
static int enter_field(const struct field *g, const double *u, double *squared)
{
    size_t k = g->k;
    lyapunov(k, g->v, g->w, u, g->s, g->rest);
    *squared = 0;
    for (size_t c = 0; c < k; c++)
        *squared += g->w[c] * dot(k, g->s + c * k, g->s + c * k);
    int status = la_symeig(k, g->x, g->f, 1, g->rest);
    if (status != STATUS_OK)
        return status;
    la_to_basis(k, g->x, g->s, g->s, g->rest);
    for (size_t c = 0; c < k; c++) /* M = V' diag(w) V in the basis of X */
        for (size_t r = 0; r < k; r++)
            g->tmp[r + c * k] = r == c ? g->w[r] : 0;
    la_to_basis(k, g->x, g->tmp, g->mat, g->rest);
    return STATUS_OK;
}

/* U = S Q + Q S at the far end, where Q = (I + X) W (I + X), of the given squared norm */
static void leave_field(const struct field *g, double squared, double *out)
{
    size_t k = g->k;
    double after = 0, *mat = g->mat, *tmp = g->tmp;
    for (size_t c = 0; c < k; c++)
        for (size_t r = 0; r < k; r++)
            mat[r + c * k] *= (1 + g->f[r]) * (1 + g->f[c]);
    la_mul_square('N', 'N', k, g->s, mat, tmp);
    for (size_t c = 0; c < k; c++)
        after += dot(k, g->s + c * k, tmp + c * k);
    double scale = after > 0 ? sqrt(squared / after) : 0; /* what the integration left of the norm's drift */
    for (size_t c = 0; c < k; c++)
        for (size_t r = 0; r < k; r++)
            mat[r + c * k] = scale * (tmp[r + c * k] + tmp[c + r * k]);
    la_from_basis(k, g->x, mat, mat, g->rest);
    la_from_basis(k, g->v, mat, out, g->rest);
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points u, size_t begin,
                     size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *x = v + n, *s = x + n, *mat = s + n, *tmp = mat + n, *w = tmp + n, *f = w + k, *rest = f + k;
    struct field g = {k, v, w, x, f, s, mat, tmp, rest};
    for (size_t i = begin; i < end; i++) {
        double squared;
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status == STATUS_OK)
            status = bures_map(k, at(p, i), at(q, i), v, w, x, rest);
        if (status == STATUS_OK)
            status = enter_field(&g, at(u, i), &squared);
        if (status == STATUS_OK)
            status = transport_ode(m, &g);
        if (status != STATUS_OK)
            return status;
        leave_field(&g, squared, out + i * n);
    }
    return STATUS_OK;
}

/* With X = L_p[w]: exp is (I + X) p (I + X), and the connection is D_U V = dV(U) - (A p B + B p A), A = L_p[U], B = L_p[V] (its
 * geodesics are p + t w + t^2 X p X), so that w + A p X + X p A is what w becomes in parallel where p moves by A p + p A. The
 * adjoints with G = L_y[e]/2, the covector of e: d_w: 2 S, S = p (I + X) G + G (I + X) p; d_p: 2 (p H + H p - p T X - X T p),
 * H = (I + X) G (I + X), T = L_p[S]. All in the eigenbasis of p. */
static int exp_adjoint(manifold_t m, double *out_p, double *out_w, struct points p, struct points u, struct points y,
                       struct points e, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *x = v + n, *g = x + n, *s = g + n, *h = s + n, *t = h + n, *z = t + n;
    double *w = z + n, *wy = w + k, *rest = wy + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status == STATUS_OK)
            status = spd_spectrum(k, at(y, i), z, wy, rest);
        if (status != STATUS_OK)
            return status;
        lyapunov(k, z, wy, at(e, i), g, rest);
        la_from_basis(k, z, g, g, rest);
        la_to_basis(k, v, g, g, rest);
        for (size_t j = 0; j < n; j++)
            g[j] *= 0.5;
        lyapunov(k, v, w, at(u, i), x, rest);
        for (size_t j = 0; j < k; j++)
            x[j * (k + 1)] += 1;
        la_mul_square('N', 'N', k, x, g, z);
        la_mul_square('N', 'N', k, z, x, h);
        for (size_t j = 0; j < k; j++) {
            x[j * (k + 1)] -= 1;
            for (size_t r = 0; r < k; r++) {
                s[r + j * k] = w[r] * z[r + j * k] + z[j + r * k] * w[j];
                t[r + j * k] = s[r + j * k] / (w[r] + w[j]);
            }
        }
        la_mul_square('N', 'N', k, t, x, z);
        for (size_t j = 0; j < k; j++)
            for (size_t r = 0; r < k; r++) {
                t[r + j * k] = w[r] * (h[r + j * k] + h[j + r * k]) + w[j] * (h[r + j * k] + h[j + r * k]) -
                               2 * w[r] * z[r + j * k] - 2 * w[j] * z[j + r * k];
                s[r + j * k] *= 2;
            }
        la_from_basis(k, v, t, out_p + i * n, rest);
        la_from_basis(k, v, s, out_w + i * n, rest);
    }
    return STATUS_OK;
}

/* Curvature is at most 3/(l_1 + l_2) with the two smallest eigenvalues, the injectivity radius sqrt(l_1); over a ball the square roots
 * of eigenvalues move by at most its radius (inst/proofs/geometry.md, section 3). */
static void ball_bounds(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work)
{
    size_t k = m->rows;
    double *v = work, *w = v + m->ambient, *rest = w + k;
    *inj = 0;
    if (spd_spectrum(k, centre, v, w, rest) != STATUS_OK)
        return;
    double least = sqrt(w[0]) - radius; /* rounded outwards */
    *inj = least > 0 ? least * (1 - 1e-12) : 0;
    if (k > 1) {
        double two = sqrt(w[0] + w[1]) - radius;
        *k_max = two > 0 ? 3 / square(two) * (1 + 1e-12) : INFINITY;
    }
}

const struct manifold_ops manifold_spd_bures = {
    .name = "spd_bures",
    .family = "spd",
    .init = init,
    .work = work_size,
    .check_point = spd_check_point,
    .check_tangent = spd_check_tangent,
    .project = spd_project,
    .project_tangent = spd_project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = inner,
    .coords = coords,
    .from_coords = from_coords,
    .dist = dist,
    .transport = transport,
    .exp_adjoint = exp_adjoint,
    .log_sum = log_sum,
    .ball_bounds = ball_bounds,
    .origin = spd_origin,
};
