/* SPD matrices with the affine-invariant metric tr(P^-1 U P^-1 V): the symmetric space GL(k)/O(k), curvature in
 * [-1/2, 0] (Pennec, Fillard and Ayache 2006, doi:10.1007/s11263-005-3222-z). Everything happens in the Cholesky frame,
 * S = L^-1 U L^-T with P = L L', where the norm is Frobenius' and the base point the identity. */
#include "manifold_certified.h"
#include "manifold_spd.h"

static int init(struct manifold *m)
{
    int status = spd_init(m);
    m->k_min = m->rows > 1 ? -0.5 : 0;
    m->k_max = 0;
    double k = (double)m->rows;
    m->mean_curvature = m->rows > 1 ? -k / (4 * (double)m->dim) : 0;
    m->volume_growth = sqrt(k * (k * k - 1) / 3) / 2;
    m->inj = m->rho_max = INFINITY;
    m->model = MODEL_SPD;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | (m->rows > 1 ? 0 : MANIFOLD_TWO_POINT) |
               MANIFOLD_ONE_MEAN | MANIFOLD_KNG;
    return status;
}

static size_t work_size(manifold_t m)
{
    size_t n = m->ambient, k = m->rows;
    return spd_groups_work(m) + 9 * n + 2 * k + la_symeig_work(k);
}

/* Cholesky factors of base points, made once where the base is one for all */
static int base_factor(const struct spd_groups *c, size_t k, struct points p, size_t i, size_t begin, size_t end)
{
    const double *x[WIDE];
    if (!fresh(p, i, begin))
        return STATUS_OK;
    size_t count = spd_group(p, i, end, x);
    wide_load(k, x, c->base);
    return c->kernels->chol(k, count, c->base, c->base, c->scale, c->rest);
}

/* S = L^-1 U L^-T of tangent vectors */
static void whiten_group(const struct spd_groups *c, size_t k, struct points u, size_t i, size_t end, wide *s)
{
    const double *x[WIDE];
    size_t count = spd_group(u, i, end, x);
    wide_load(k, x, s);
    c->kernels->whiten(k, count, c->base, c->scale, s, s, c->rest);
}

/* exp(S/2) by the Taylor polynomial of degree 9 in four products (Paterson and Stockmeyer 1973, doi:10.1137/0202007), for lanes with
 * |S/2| <= 0.09, where the remainder is below 1e-17: a third of the cost of eigenvectors. S in c->v, L exp(S) L' to c->s. */
static const double short_step = 0.09;

static void exp_short(const struct spd_groups *c, size_t k, size_t count)
{
    size_t n = k * k;
    wide *h = c->v, *h2 = c->s, *h3 = c->t, *sum = c->g, *next = (wide *)c->scalar;
    for (size_t j = 0; j < n; j++)
        h[j] *= 0.5;
    wide_mirror(k, h);
    c->kernels->symmetric_product(k, count, h, h, h2, c->rest);
    wide_mirror(k, h2);
    c->kernels->symmetric_product(k, count, h2, h, h3, c->rest);
    wide_mirror(k, h3);
    for (size_t j = 0; j < n; j++)
        sum[j] = h3[j] * (1.0 / 362880) + h2[j] * (1.0 / 40320) + h[j] * (1.0 / 5040);
    for (size_t j = 0; j < k; j++)
        sum[j + j * k] += 1.0 / 720;
    c->kernels->symmetric_product(k, count, h3, sum, next, c->rest);
    for (size_t j = 0; j < n; j++)
        next[j] += h2[j] * (1.0 / 120) + h[j] * (1.0 / 24);
    for (size_t j = 0; j < k; j++)
        next[j + j * k] += 1.0 / 6;
    wide_mirror(k, next);
    c->kernels->symmetric_product(k, count, h3, next, sum, c->rest);
    for (size_t j = 0; j < n; j++)
        sum[j] += h2[j] * 0.5 + h[j];
    for (size_t j = 0; j < k; j++)
        sum[j + j * k] += 1;
    wide_mirror(k, sum);
    c->kernels->mul(k, count, c->base, sum, c->t, c->rest);
    c->kernels->symmetric_product(k, count, c->t, c->t, c->s, c->rest);
}

/* the same by eigenvectors, of any length */
static int exp_long(const struct spd_groups *c, size_t k, size_t count)
{
    int status = c->kernels->symeig(k, count, c->v, c->f, 1, c->rest);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < k; j++) {
        for (size_t a = 0; a < count; a++) {
            if (!(fabs(c->f[j][a]) < 700))
                return STATUS_DOMAIN_EXCEEDED; /* exp would overflow */
            c->f[j][a] = exp(0.5 * c->f[j][a]);
        }
        for (size_t a = 0; a < k; a++)
            c->v[a + j * k] *= c->f[j];
    }
    c->kernels->mul(k, count, c->base, c->v, c->t, c->rest);
    c->kernels->symmetric_product(k, count, c->t, c->t, c->s, c->rest);
    return STATUS_OK;
}

/* Each record goes its own way, whatever its neighbours are: batches give the bits of single calls. */
static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE, few = 0;
        int status = base_factor(&c, k, p, i, begin, end);
        if (status != STATUS_OK)
            return status;
        whiten_group(&c, k, v, i, end, c.v);
        wide squares = {0};
        for (size_t j = 0; j < k; j++) {
            squares += c.v[j + j * k] * c.v[j + j * k];
            for (size_t a = j + 1; a < k; a++)
                squares += 2 * c.v[a + j * k] * c.v[a + j * k];
        }
        for (size_t a = 0; a < count; a++)
            few += squares[a] <= 4 * short_step * short_step;
        if (few < count) {
            status = exp_long(&c, k, count);
            if (status != STATUS_OK)
                return status;
            for (size_t a = 0; a < count; a++)
                if (!(squares[a] <= 4 * short_step * short_step))
                    spd_store_one(k, out, i + a, c.s, a);
            if (few > 0)
                whiten_group(&c, k, v, i, end, c.v);
        }
        if (few > 0) {
            exp_short(&c, k, count);
            for (size_t a = 0; a < count; a++)
                if (squares[a] <= 4 * short_step * short_step)
                    spd_store_one(k, out, i + a, c.s, a);
        }
    }
    return STATUS_OK;
}

/* Eigenvalues of L^-1 Y L^-T by one-sided Jacobi rotations of the rows of L^-1 L_Y (Hestenes 1958): small eigenvalues keep
 * their digits where the two points are far apart. v: eigenvectors, f: their logarithms. */
static int log_spectrum_far(size_t k, const double *l, const double *y, double *v, double *f, double *work)
{
    double *b = work, *c = b + k * k;
    int status = la_chol(k, y, b);
    if (status != STATUS_OK)
        return status;
    la_solve_lower('N', k, k, l, b);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            c[i + j * k] = b[j + i * k];
            v[i + j * k] = i == j;
        }
    for (int sweep = 0; sweep < 60; sweep++) {
        int rotated = 0; /* no tick: how many sweeps there are depends on the point, which may be a record */
        for (size_t i = 0; i + 1 < k; i++)
            for (size_t j = i + 1; j < k; j++) {
                double *x = c + i * k, *z = c + j * k, a = dot(k, x, x), d = dot(k, z, z), g = dot(k, x, z);
                if (fabs(g) <= RIEMDP_EPS * sqrt(a) * sqrt(d))
                    continue;
                rotated = 1;
                double h = (d - a) / (2 * g), t = (h < 0 ? -1 : 1) / (fabs(h) + hypot(1, h)), q = 1 / hypot(1, t),
                       r = q * t;
                for (size_t e = 0; e < k; e++) {
                    double xe = x[e], ve = v[e + i * k];
                    x[e] = q * xe - r * z[e];
                    z[e] = r * xe + q * z[e];
                    v[e + i * k] = q * ve - r * v[e + j * k];
                    v[e + j * k] = r * ve + q * v[e + j * k];
                }
            }
        if (!rotated)
            break;
    }
    for (size_t j = 0; j < k; j++) {
        f[j] = 2 * log(norm2(k, c + j * k));
        if (!(fabs(f[j]) < INFINITY))
            return STATUS_NOT_POSITIVE;
    }
    return STATUS_OK;
}

/* Logarithms f of the eigenvalues of L^-1 Y L^-T (and eigenvectors v), in no order: by log1p of the whitened difference Y - P,
 * which keeps the distance of near points. */
static int log_spectrum(manifold_t m, const struct spd_groups *c, struct points p, struct points q, size_t i,
                        size_t end, int vectors)
{
    size_t k = m->rows, n = m->ambient;
    const double *base[WIDE], *y[WIDE];
    size_t count = spd_group(q, i, end, y);
    spd_group(p, i, end, base);
    wide_load_difference(k, y, base, c->v);
    c->kernels->whiten(k, count, c->base, c->scale, c->v, c->v, c->rest);
    int status = c->kernels->symeig(k, count, c->v, c->f, vectors, c->rest);
    if (status != STATUS_OK)
        return status;
    for (size_t a = 0; a < count; a++) {
        double low = c->f[0][a], high = low;
        for (size_t j = 1; j < k; j++) {
            low = c->f[j][a] < low ? c->f[j][a] : low;
            high = c->f[j][a] > high ? c->f[j][a] : high;
        }
        if (!(low > -0.999) || 1 + high > 1e4 * (1 + low)) {
            double *l = c->scalar, *v = l + n, *f = v + n, *rest = f + k;
            wide_take(n, a, c->base, l);
            status = log_spectrum_far(k, l, y[a], v, f, rest);
            if (status != STATUS_OK)
                return status;
            wide_put(n, a, v, c->v);
            wide_put(k, a, f, c->f);
            continue;
        }
        for (size_t j = 0; j < k; j++)
            c->f[j][a] = log1p(c->f[j][a]);
    }
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_factor(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = log_spectrum(m, &c, p, q, i, end, 1);
        if (status != STATUS_OK)
            return status;
        c.kernels->spectral(k, count, c.v, c.f, c.s, c.rest);
        c.kernels->unwhiten(k, count, c.base, c.s, c.s, c.rest);
        spd_store(k, out, i, count, c.s);
    }
    return STATUS_OK;
}

/* adds the logarithms of a group and their squared norms, each times its weight, lane by lane */
static int add_logs(manifold_t m, const struct spd_groups *c, const double *p, struct points x, const double *w,
                    size_t i, size_t end, wide *total, wide *squares)
{
    size_t k = m->rows, count = end - i < WIDE ? end - i : WIDE;
    wide weight = {0}, sum = *squares;
    for (size_t a = 0; a < count; a++)
        weight[a] = w ? w[i + a] : 1;
    int status = log_spectrum(m, c, one(p), x, i, end, 1);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < k; j++) {
        wide f = c->f[j];
        c->f[j] = f * weight;
        sum += f * c->f[j];
    }
    *squares = sum;
    c->kernels->spectral(k, count, c->v, c->f, c->s, c->rest);
    for (size_t j = 0; j < k; j++)
        for (size_t a = j; a < k; a++)
            total[a + j * k] += c->s[a + j * k];
    return STATUS_OK;
}

/* the sum of the first `lanes` matrices, lower triangle, both triangles in the end */
static void add_lanes(size_t k, size_t lanes, const wide *total, double *sum)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            double t = 0;
            for (size_t a = 0; a < lanes; a++)
                t += total[i + j * k][a];
            sum[i + j * k] = t;
        }
    la_mirror_lower(k, sum);
}

/* Sums stay in the Cholesky frame: one way back for the whole range, and no second whitening for the norms. */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient, lanes = end - begin < WIDE ? end - begin : WIDE;
    struct spd_groups c = spd_make_groups(m, work);
    wide *total = c.g, squares = {0};
    if (begin >= end)
        return STATUS_OK;
    int status = base_factor(&c, k, one(p), begin, begin, end);
    for (size_t j = 0; j < n; j++)
        total[j] = (wide){0};
    for (size_t i = begin; i < end && status == STATUS_OK; i += WIDE)
        status = add_logs(m, &c, p, x, w, i, end, total, &squares);
    if (status != STATUS_OK)
        return status;
    double *l = c.scalar, *s = l + n, *rest = s + n;
    for (size_t a = 0; a < lanes; a++)
        *sum_sq += squares[a];
    add_lanes(k, lanes, total, s);
    wide_take(n, 0, c.base, l);
    la_unwhiten(k, l, s, s, rest);
    for (size_t j = 0; j < n; j++)
        sum[j] += s[j];
    return STATUS_OK;
}

/* The geometric mean of the arithmetic and the harmonic mean: agrees with the Frechet mean to third order in the spread. */
static int start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                     double *work)
{
    size_t k = m->rows, n = m->ambient;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_factor(&c, k, x, i, begin, end);
        if (status != STATUS_OK)
            return status;
        c.kernels->inverse(k, count, c.base, c.scale, c.s, c.rest);
        for (size_t a = 0; a < count; a++) {
            double wi = w ? w[i + a] : 1;
            const double *xi = at(x, i + a);
            for (size_t j = 0; j < n; j++)
                acc[j] += wi * xi[j];
            for (size_t j = 0; j < k; j++)
                for (size_t e = j; e < k; e++)
                    acc[n + e + j * k] += wi * c.s[e + j * k][a];
        }
    }
    return STATUS_OK;
}

static int start_end(manifold_t m, double *out, double *acc, double total, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *h = work, *v = h + n, *rest = v + n, *tangent = acc + n;
    for (size_t j = 0; j < n; j++) {
        acc[j] /= total;
        acc[n + j] /= total;
    }
    la_mirror_lower(k, acc + n);
    int status = la_chol(k, acc + n, v);
    if (status != STATUS_OK)
        return status;
    la_inverse_from_chol(k, v, h, rest);
    struct points a = {acc, 0}, b = {h, 0};
    /* half-way on the geodesic from one to the other */
    status = log_map(m, tangent, a, b, 0, 1, rest);
    for (size_t j = 0; j < n; j++)
        tangent[j] *= 0.5;
    if (status == STATUS_OK)
        status = exp_map(m, out, a, (struct points){tangent, 0}, 0, 1, rest);
    return status;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_factor(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = log_spectrum(m, &c, p, q, i, end, 0);
        if (status != STATUS_OK)
            return status;
        wide squares = {0};
        for (size_t j = 0; j < k; j++)
            squares += c.f[j] * c.f[j];
        for (size_t a = 0; a < count; a++)
            out[i + a] = sqrt(squares[a]);
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    size_t k = m->rows;
    int same = u.x == v.x && u.stride == v.stride;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        int status = base_factor(&c, k, p, i, begin, end);
        if (status != STATUS_OK)
            return status;
        whiten_group(&c, k, u, i, end, c.s);
        if (!same)
            whiten_group(&c, k, v, i, end, c.t);
        const wide *s = c.s, *t = same ? c.s : c.t;
        wide sum = {0};
        for (size_t j = 0; j < k; j++) {
            sum += s[j + j * k] * t[j + j * k];
            for (size_t a = j + 1; a < k; a++)
                sum += 2 * s[a + j * k] * t[a + j * k];
        }
        for (size_t a = 0; a < WIDE && i + a < end; a++)
            out[i + a] = sum[a];
    }
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points u, size_t begin,
                     size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_factor(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = log_spectrum(m, &c, p, q, i, end, 1);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            for (size_t a = 0; a < count; a++)
                c.f[j][a] = exp(0.5 * c.f[j][a]);
        c.kernels->spectral(k, count, c.v, c.f, c.g, c.rest);
        whiten_group(&c, k, u, i, end, c.s);
        wide_mirror(k, c.g);
        wide_mirror(k, c.s);
        /* G S G with G = (L^-1 Y L^-T)^(1/2) */
        c.kernels->mul(k, count, c.g, c.s, c.t, c.rest);
        c.kernels->symmetric_product(k, count, c.t, c.g, c.s, c.rest);
        c.kernels->unwhiten(k, count, c.base, c.s, c.s, c.rest);
        spd_store(k, out, i, count, c.s);
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        int status = base_factor(&c, k, p, i, begin, end);
        if (status != STATUS_OK)
            return status;
        whiten_group(&c, k, v, i, end, c.s);
        for (size_t a = 0; a < count; a++) {
            wide_take(k * k, a, c.s, c.scalar);
            sym_to_coords(k, c.scalar, out + (i + a) * m->dim);
        }
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        const double *x[WIDE];
        int status = base_factor(&c, k, p, i, begin, end);
        if (status != STATUS_OK)
            return status;
        spd_group(a, i, end, x);
        for (size_t j = 0, e = 0; j < k; j++) {
            c.s[j + j * k] = (wide){x[0][e], x[1][e], x[2][e], x[3][e]};
            e++;
            for (size_t r = j + 1; r < k; r++, e++)
                c.s[r + j * k] = (wide){x[0][e], x[1][e], x[2][e], x[3][e]} / RIEMDP_SQRT2;
        }
        c.kernels->unwhiten(k, count, c.base, c.s, c.t, c.rest);
        spd_store(k, out, i, count, c.t);
    }
    return STATUS_OK;
}

static double log_jacobian(size_t k, const double *w)
{
    double sum = 0;
    for (size_t j = 1; j < k; j++)
        for (size_t i = 0; i < j; i++)
            sum += log_sinhc(0.5 * (w[j] - w[i]));
    return sum;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *s = l + n, *w = s + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        la_whiten(k, l, at(v, i), s, rest);
        status = la_symeig(k, s, w, 0, rest);
        if (status != STATUS_OK)
            return status;
        out[i] = log_jacobian(k, w);
    }
    return STATUS_OK;
}

/* along v with eigenvalues d: factors cosh(x (d_i - d_j)/2) and x sinhc(x (d_i - d_j)/2) */
static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *e = l + n, *s = e + n, *a = s + n, *b = a + n, *w = b + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        double t = *at(x, i);
        la_whiten(k, l, at(v, i), e, rest);
        la_whiten(k, l, at(u, i), s, rest);
        status = la_symeig(k, e, w, 1, rest);
        if (status != STATUS_OK)
            return status;
        la_to_basis(k, e, s, s, rest);
        for (size_t c = 0; c < k; c++)
            for (size_t r = 0; r < k; r++) {
                double h = 0.5 * t * (w[r] - w[c]);
                a[r + c * k] = s[r + c * k] * cosh(h);
                b[r + c * k] = s[r + c * k] * t * sinhc(h);
            }
        la_from_basis(k, e, a, a, rest);
        la_from_basis(k, e, b, b, rest);
        la_unwhiten(k, l, a, out_p + i * n, rest);
        la_unwhiten(k, l, b, out_v + i * n, rest);
    }
    return STATUS_OK;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *rest = l + n;
    int status = la_chol(k, base, l);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        la_whiten(k, l, at(x, i), out + i * n, rest);
    return status;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *rest = l + n;
    int status = la_chol(k, base, l);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        la_mul_square('N', 'N', k, l, at(x, i), rest);
        la_mul_square('N', 'T', k, rest, l, out + i * n);
        la_symmetrize(k, out + i * n);
    }
    return status;
}

/* prod_{i<j} sinhc((v_i - v_j)/2) <= sinhc(rho/sqrt(2(k-1)))^(k(k-1)/2): inst/proofs/laplace.md */
static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double k = (double)m->rows, pairs = 0.5 * k * (k - 1), d = (double)m->dim;
    manifold_sinhc_area(d, pairs, m->rows > 1 ? 1 / sqrt(2 * (k - 1)) : 0, rho, log_area, slope);
}

static double radial_accept(manifold_t m, const double *a, double rho, double *work)
{
    size_t k = m->rows;
    double *s = work, *w = s + m->ambient, pairs = 0.5 * (double)(k * (k - 1));
    if (k == 1)
        return 0;
    sym_from_coords(k, a, s);
    if (la_symeig(k, s, w, 0, w + k) != STATUS_OK)
        return -INFINITY;
    return log_jacobian(k, w) - pairs * log_sinhc(rho / sqrt(2 * (double)(k - 1)));
}

const struct manifold_ops manifold_spd_affine = {
    .name = "spd_affine",
    .family = "spd",
    .published = PUBLISHED_ENTRIES,
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
    .log_density = log_density,
    .jacobi = jacobi,
    .log_sum = log_sum,
    .start_add = start_add,
    .start_end = start_end,
    .origin = spd_origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
    .radial_accept = radial_accept,
    .certified = &certified_spd_affine,
};
