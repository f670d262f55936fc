/* SPD matrices with the log-Euclidean metric <D log U, D log V>: flat, isometric to the symmetric matrices by the matrix
 * logarithm (Arsigny et al. 2007, doi:10.1137/050637996). Derivatives of log and exp are divided differences in the
 * eigenbasis (Daleckii and Krein). */
#include "manifold_certified.h"
#include "manifold_spd.h"

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
    return 6 * m->ambient + 4 * m->rows + la_symeig_work(m->rows);
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
    double *v = work, *y = v + n, *s = y + n, *t = s + n, *w = t + n, *z = w + k, *rest = z + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status == STATUS_OK)
            status = spd_spectrum(k, at(q, i), y, z, rest);
        if (status != STATUS_OK)
            return status;
        log_difference(k, at(p, i), at(q, i), v, w, y, z, s, t);
        spd_dlog(k, v, w, s, out + i * n, 1, t);
    }
    return STATUS_OK;
}

static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *weight,
                   size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *y = v + n, *s = y + n, *t = s + n, *total = t + n, *w = total + n, *z = w + k, *rest = z + k;
    int status = spd_spectrum(k, p, v, w, rest);
    for (size_t j = 0; j < n; j++)
        total[j] = 0;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        double wi = weight ? weight[i] : 1;
        status = spd_spectrum(k, at(x, i), y, z, rest);
        if (status != STATUS_OK)
            return status;
        log_difference(k, p, at(x, i), v, w, y, z, s, t);
        *sum_sq += wi * dot(n, s, s);
        for (size_t j = 0; j < n; j++)
            total[j] += wi * s[j];
    }
    if (status != STATUS_OK)
        return status;
    spd_dlog(k, v, w, total, s, 1, t);
    for (size_t j = 0; j < n; j++)
        sum[j] += s[j];
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *y = v + n, *s = y + n, *t = s + n, *w = t + n, *z = w + k, *rest = z + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? spd_spectrum(k, at(p, i), v, w, rest) : STATUS_OK;
        if (status == STATUS_OK)
            status = spd_spectrum(k, at(q, i), y, z, rest);
        if (status != STATUS_OK)
            return status;
        log_difference(k, at(p, i), at(q, i), v, w, y, z, s, t);
        out[i] = norm2(n, s);
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
