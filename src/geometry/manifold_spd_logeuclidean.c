/* SPD matrices with the log-Euclidean metric <D log U, D log V>: flat, isometric to the symmetric matrices by the matrix
 * logarithm (Arsigny et al. 2007, doi:10.1137/050637996). Derivatives of log and exp are divided differences in the
 * eigenbasis (Daleckii and Krein). */
#include "manifold_certified.h"
#include "manifold_spd.h"
#include "simd.h"

static int init(struct manifold *m)
{
    int status = spd_init(m);
    m->k_min = m->k_max = 0;
    m->inj = m->rho_max = INFINITY;
    m->model = MODEL_FLAT;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | MANIFOLD_ONE_MEAN |
               MANIFOLD_KNG;
    return status;
}

static size_t work_size(manifold_t m)
{
    size_t k = m->rows, alone = 7 * m->ambient + 5 * k + la_symeig_work(k), ours = 3 * m->ambient + (WIDE + 1) * k;
    return spd_groups_work(m) + ours + alone;
}

/* log Q - log P from both spectra: the finite-difference form of Daleckii and Krein, V (F o V'(Q - P) Y) Y', which keeps
 * all digits of a small difference */
static void log_difference(size_t k, const double *p, const double *q, const double *v, const double *w,
                           const double *y, const double *z, double *out, double *rest)
{
    for (size_t j = 0; j < k * k; j++)
        out[j] = q[j] - p[j];
    la_mirror_lower(k, out);
    la_mul_square('N', 'N', k, out, y, rest);
    la_mul_square('T', 'N', k, v, rest, out);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            out[i + j * k] /= log_mean(w[i], z[j]);
    la_mul_square('N', 'N', k, v, out, rest);
    la_mul_square('N', 'T', k, rest, y, out);
    la_symmetrize(k, out);
}

/* artanh(t)/t for u = t^2 < .1 */
RIEMDP_INLINE double artanh_series(double u)
{
    double f = 1.0 / 31;
    f = f * u + 1.0 / 29;
    f = f * u + 1.0 / 27;
    f = f * u + 1.0 / 25;
    f = f * u + 1.0 / 23;
    f = f * u + 1.0 / 21;
    f = f * u + 1.0 / 19;
    f = f * u + 1.0 / 17;
    f = f * u + 1.0 / 15;
    f = f * u + 1.0 / 13;
    f = f * u + 1.0 / 11;
    f = f * u + 1.0 / 9;
    f = f * u + 1.0 / 7;
    f = f * u + 1.0 / 5;
    f = f * u + 1.0 / 3;
    f = f * u + 1.0 / 1;
    return f;
}

/* S of four matrices over logarithmic means of p's eigenvalues (rows) and q's (columns), which come with their logarithms:
 * 1/mean = 2 artanh(t)/((a + b) t) for t = (a - b)/(a + b), by a series for near ones, which keeps all digits. */
RIEMDP_SIMD static void over_log_means(size_t k, const double *restrict p, const double *restrict log_p,
                                       const double *restrict q, const double *restrict log_q, double *restrict s)
{
    const double near = 0.1;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            for (size_t a = 0; a < WIDE; a++) {
                double x = p[i * WIDE + a], y = q[j * WIDE + a], middle = 0.5 * x + 0.5 * y;
                double t = (0.5 * x - 0.5 * y) / middle, u = t * t, over = artanh_series(u) / middle;
                double far = (log_p[i * WIDE + a] - log_q[j * WIDE + a]) / (u < near ? 1 : x - y);
                s[(i + j * k) * WIDE + a] *= u < near ? over : far;
            }
}

/* spectra of base points and logarithms of their eigenvalues, made once where the base is one for all */
static int base_logs(const struct spd_groups *c, size_t k, struct points p, size_t i, size_t begin, size_t end)
{
    if (!fresh(p, i, begin))
        return STATUS_OK;
    size_t count = end - i < WIDE ? end - i : WIDE;
    int unsure = spd_group_spectrum(c, k, p, i, end, c->base, c->scale) != STATUS_OK;
    for (size_t j = 0; j < k; j++)
        for (size_t a = 0; a < WIDE; a++) {
            if (unsure || a >= count) /* each by itself: see far_apart() */
                c->scale[j][a] = j == 0 ? 1 : 1e5;
            c->root[j][a] = log(c->scale[j][a]);
        }
    return unsure && k == 1 ? STATUS_NOT_POSITIVE : STATUS_OK;
}

/* whether a matrix's eigenvalues lie so far apart that its small ones need the slower decomposition */
static int far_apart(size_t k, const wide *w, size_t which)
{
    double low = w[0][which], high = low;
    for (size_t j = 1; j < k; j++) {
        low = fmin(low, w[j][which]);
        high = fmax(high, w[j][which]);
    }
    return high > 1e4 * low;
}

/* number `which` of a group of differences again, by itself; 4 k^2 + 2 k doubles and the work of an eigenproblem */
static int difference_alone(const struct spd_groups *c, size_t k, const double *p, const double *q, size_t which,
                            wide *squares, double *work)
{
    size_t n = k * k;
    double *v = work, *y = v + n, *s = y + n, *t = s + n, *w = t + n, *z = w + k, *rest = z + k;
    int status = spd_spectrum(k, p, v, w, rest);
    if (status == STATUS_OK)
        status = spd_spectrum(k, q, y, z, rest);
    if (status != STATUS_OK)
        return status;
    log_difference(k, p, q, v, w, y, z, s, t);
    wide_put(n, which, s, c->s);
    (*squares)[which] = dot(n, s, s);
    return STATUS_OK;
}

/* log Q - log P of a group, lower triangles in c->s, and squared lengths; `alone`: room for difference_alone() */
static int log_differences(const struct spd_groups *c, size_t k, struct points p, struct points q, size_t i, size_t end,
                           wide *squares, double *alone)
{
    const double *from[WIDE], *to[WIDE];
    size_t count = spd_group(q, i, end, to);
    spd_group(p, i, end, from);
    int unsure = spd_group_spectrum(c, k, q, i, end, c->v, c->f) != STATUS_OK, status = STATUS_OK;
    wide *logs = (wide *)c->scalar;
    for (size_t j = 0; j < k; j++)
        for (size_t a = 0; a < WIDE; a++) {
            if (unsure || a >= count)
                c->f[j][a] = 1;
            logs[j][a] = log(c->f[j][a]);
        }
    wide_load_difference(k, to, from, c->s);
    wide_mirror(k, c->s);
    c->kernels->mul(k, count, c->s, c->v, c->t, c->rest);
    c->kernels->mul_transposed(k, count, c->base, c->t, c->s, c->rest);
    over_log_means(k, (const double *)c->scale, (const double *)c->root, (const double *)c->f, (const double *)logs,
                   (double *)c->s);
    *squares = (wide){0};
    for (size_t j = 0; j < k * k; j++)
        *squares += c->s[j] * c->s[j];
    c->kernels->mul(k, count, c->base, c->s, c->t, c->rest);
    c->kernels->symmetric_product(k, count, c->t, c->v, c->s, c->rest);
    for (size_t a = 0; a < count && status == STATUS_OK; a++)
        if (unsure || far_apart(k, c->f, a) || far_apart(k, c->scale, a))
            status = difference_alone(c, k, from[a], to[a], a, squares, alone);
    return status;
}

/* the spectrum of number `which` of the base points */
static int base_alone(const struct spd_groups *c, size_t k, const double *p, size_t which, double *v, double *w, double *rest)
{
    if (far_apart(k, c->scale, which))
        return spd_spectrum(k, p, v, w, rest);
    wide_take(k * k, which, c->base, v);
    wide_take(k, which, c->scale, w);
    return STATUS_OK;
}

enum { EDGE = 700 }; /* logarithms of eigenvalues: exp would overflow */

/* hold: logarithms beyond the edge are moved to it */
static int exp_any(manifold_t m, double *out, struct points p, struct points u, size_t begin, size_t end, double *work,
                   int hold)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *t = s + n, *g = t + n, *w = g + n, *f = w + k, *rest = f + k;
    for (size_t i = begin; i < end; i++) {
        int status = STATUS_OK;
        if (fresh(p, i, begin)) {
            status = spd_spectrum(k, at(p, i), v, w, rest);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < k; j++)
                f[j] = log(w[j]);
            la_spectral(k, v, f, g, t);
        }
        spd_dlog(k, v, w, at(u, i), s, 0, t);
        for (size_t j = 0; j < n; j++)
            s[j] += g[j];
        status = la_symeig(k, s, f, 1, rest);
        if (status != STATUS_OK)
            return status;
        if (!hold && !(fabs(f[0]) < EDGE && fabs(f[k - 1]) < EDGE))
            return STATUS_DOMAIN_EXCEEDED;
        for (size_t j = 0; j < k; j++)
            f[j] = exp(fmin(fmax(f[j], -EDGE), EDGE));
        la_spectral(k, s, f, out + i * n, t);
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points u, size_t begin, size_t end, double *work)
{
    return exp_any(m, out, p, u, begin, end, work, 0);
}

static int exp_held(manifold_t m, double *out, struct points p, struct points u, size_t begin, size_t end, double *work)
{
    return exp_any(m, out, p, u, begin, end, work, 1);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    struct spd_groups c = spd_make_groups(m, work);
    double *v = c.scalar + WIDE * k, *w = v + n, *difference = w + k, *rest = difference + n;
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        wide squares;
        int status = base_logs(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = log_differences(&c, k, p, q, i, end, &squares, rest);
        if (status != STATUS_OK)
            return status;
        wide_mirror(k, c.s);
        for (size_t a = 0; a < count; a++) {
            status = base_alone(&c, k, at(p, i + a), a, v, w, rest);
            if (status != STATUS_OK)
                return status;
            wide_take(n, a, c.s, difference);
            spd_dlog(k, v, w, difference, out + (i + a) * n, 1, rest);
        }
    }
    return STATUS_OK;
}

static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *weight,
                   size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    struct spd_groups c = spd_make_groups(m, work);
    double *total = c.scalar + WIDE * k, *v = total + n, *w = v + n, *rest = w + k;
    if (begin >= end)
        return STATUS_OK;
    int status = base_logs(&c, k, one(p), begin, begin, end);
    for (size_t j = 0; j < n; j++)
        total[j] = 0;
    for (size_t i = begin; i < end && status == STATUS_OK; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        wide squares;
        status = log_differences(&c, k, one(p), x, i, end, &squares, rest);
        for (size_t a = 0; a < count && status == STATUS_OK; a++) {
            double wi = weight ? weight[i + a] : 1;
            *sum_sq += wi * squares[a];
            for (size_t j = 0; j < k; j++)
                for (size_t r = j; r < k; r++)
                    total[r + j * k] += wi * c.s[r + j * k][a];
        }
    }
    if (status != STATUS_OK)
        return status;
    la_mirror_lower(k, total);
    status = base_alone(&c, k, p, 0, v, w, rest);
    if (status != STATUS_OK)
        return status;
    spd_dlog(k, v, w, total, total, 1, rest);
    for (size_t j = 0; j < n; j++)
        sum[j] += total[j];
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    struct spd_groups c = spd_make_groups(m, work);
    for (size_t i = begin; i < end; i += WIDE) {
        size_t count = end - i < WIDE ? end - i : WIDE;
        wide squares;
        int status = base_logs(&c, k, p, i, begin, end);
        if (status == STATUS_OK)
            status = log_differences(&c, k, p, q, i, end, &squares, c.scalar + WIDE * k);
        if (status != STATUS_OK)
            return status;
        for (size_t a = 0; a < count; a++)
            out[i + a] = sqrt(squares[a]);
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points a, struct points b, size_t begin, size_t end,
                 double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *t = s + n, *r = t + n, *w = r + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        spd_dlog(k, v, w, at(a, i), s, 0, r);
        spd_dlog(k, v, w, at(b, i), t, 0, r);
        out[i] = dot(n, s, t);
    }
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points u, size_t begin,
                     size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *y = v + n, *s = y + n, *t = s + n, *w = t + n, *z = w + k, *rest = z + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status == STATUS_OK && fresh(q, i, begin))
            status = spd_spectrum(k, at(q, i), y, z, rest);
        if (status != STATUS_OK)
            return status;
        spd_dlog(k, v, w, at(u, i), s, 0, t);
        spd_dlog(k, y, z, s, out + i * n, 1, t);
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points u, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *t = s + n, *w = t + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        spd_dlog(k, v, w, at(u, i), s, 0, t);
        sym_to_coords(k, s, out + i * m->dim);
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *t = s + n, *w = t + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        sym_from_coords(k, at(a, i), s);
        spd_dlog(k, v, w, s, out + i * n, 1, t);
    }
    return STATUS_OK;
}

/* the group law exp(log X -+ log base) */
static int shift(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end, double *work,
                 double sign)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *s = v + n, *t = s + n, *g = t + n, *w = g + n, *rest = w + k;
    int status = spd_spectrum(k, base, v, w, rest);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < k; j++)
        w[j] = log(w[j]);
    la_spectral(k, v, w, g, t);
    for (size_t i = begin; i < end; i++) {
        status = spd_spectrum(k, at(x, i), v, w, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            w[j] = log(w[j]);
        la_spectral(k, v, w, s, t);
        for (size_t j = 0; j < n; j++)
            s[j] += sign * g[j];
        status = la_symeig(k, s, w, 1, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            w[j] = exp(w[j]);
        la_spectral(k, s, w, out + i * n, t);
    }
    return STATUS_OK;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    return shift(m, out, base, x, begin, end, work, -1);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    return shift(m, out, base, x, begin, end, work, 1);
}

const struct manifold_ops manifold_spd_logeuclidean = {
    .name = "spd_logeuclidean",
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
    .log_density = manifold_flat_log_density,
    .jacobi = manifold_flat_jacobi,
    .log_sum = log_sum,
    .origin = spd_origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .exp_held = exp_held,
    .radial = manifold_flat_radial,
    .certified = &certified_spd_logeuclidean,
};
