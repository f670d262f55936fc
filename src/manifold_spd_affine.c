/* SPD matrices with the affine-invariant metric tr(P^-1 U P^-1 V): the symmetric space GL(k)/O(k), curvature in
 * [-1/2, 0] (Pennec, Fillard and Ayache 2006, doi:10.1007/s11263-005-3222-z). Everything happens in the Cholesky frame,
 * S = L^-1 U L^-T with P = L L', where the norm is Frobenius' and the base point the identity. */
#include "manifold_spd.h"

static int init(struct manifold *m)
{
    int status = spd_init(m);
    m->k_min = m->rows > 1 ? -0.5 : 0;
    m->k_max = 0;
    m->inj = m->rho_max = INFINITY;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | (m->rows > 1 ? 0 : MANIFOLD_TWO_POINT);
    return status;
}

static size_t work_size(manifold_t m)
{
    return 9 * m->ambient + 2 * m->rows + la_symeig_work(m->rows);
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *s = l + n, *t = s + n, *w = t + n, *rest = w + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        la_whiten(k, l, at(v, i), s, t);
        status = la_symeig(k, s, w, 1, rest);
        if (status != STATUS_OK)
            return status;
        if (!(w[k - 1] - w[0] < 700 && fabs(w[0]) < 700 && fabs(w[k - 1]) < 700))
            return STATUS_DOMAIN_EXCEEDED; /* exp would overflow */
        for (size_t j = 0; j < k; j++) {
            double root = exp(0.5 * w[j]);
            for (size_t a = 0; a < k; a++)
                s[a + j * k] *= root;
        }
        la_mul_square('N', 'N', k, l, s, t);
        la_gram(k, t, out + i * n);
    }
    return STATUS_OK;
}

/* Eigenvalues of L^-1 Y L^-T by one-sided Jacobi rotations of the rows of L^-1 L_Y (Hestenes 1958): small eigenvalues keep
 * their digits where the two points are far apart. v: eigenvectors, f: their logarithms. */
static int log_spectrum_far(manifold_t m, size_t k, const double *l, const double *y, double *v, double *f,
                            double *work)
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
        int rotated = 0;
        host_tick(m->host, 0, 0);
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

/* logarithms f of the eigenvalues of L^-1 Y L^-T (and eigenvectors v): by log1p of the whitened difference Y - P, which keeps
 * the distance of near points. work: 2 k^2 + la_symeig_work */
static int log_spectrum(manifold_t m, size_t k, const double *l, const double *p, const double *y, double *v, double *f,
                        int vectors, double *work)
{
    for (size_t j = 0; j < k * k; j++)
        v[j] = y[j] - p[j];
    la_whiten(k, l, v, v, work);
    int status = la_symeig(k, v, f, vectors, work);
    if (status != STATUS_OK)
        return status;
    if (!(f[0] > -0.999) || (1 + f[k - 1]) > 1e4 * (1 + f[0]))
        return log_spectrum_far(m, k, l, y, v, f, work);
    for (size_t j = 0; j < k; j++)
        f[j] = log1p(f[j]);
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *v = l + n, *s = v + n, *f = s + n, *rest = f + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status == STATUS_OK)
            status = log_spectrum(m, k, l, at(p, i), at(q, i), v, f, 1, rest);
        if (status != STATUS_OK)
            return status;
        la_spectral(k, v, f, s, rest);
        la_unwhiten(k, l, s, out + i * n, rest);
    }
    return STATUS_OK;
}

/* Sums stay in the Cholesky frame: one way back for the whole range, and no second whitening for the norms. */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *v = l + n, *total = v + n, *f = total + n, *rest = f + k;
    int status = la_chol(k, p, l);
    for (size_t j = 0; j < n; j++)
        total[j] = 0;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        double wi = w ? w[i] : 1;
        status = log_spectrum(m, k, l, p, at(x, i), v, f, 1, rest);
        if (status != STATUS_OK)
            return status;
        *sum_sq += wi * dot(k, f, f);
        for (size_t j = 0; j < k; j++)
            f[j] *= wi;
        la_add_spectral(k, v, f, total);
    }
    if (status != STATUS_OK)
        return status;
    la_mirror_lower(k, total);
    la_unwhiten(k, l, total, v, rest);
    for (size_t j = 0; j < n; j++)
        sum[j] += v[j];
    return STATUS_OK;
}

/* The geometric mean of the arithmetic and the harmonic mean: agrees with the Frechet mean to third order in the spread. */
static int start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                     double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *v = l + n, *rest = v + n;
    for (size_t i = begin; i < end; i++) {
        double wi = w ? w[i] : 1;
        int status = la_chol(k, at(x, i), l);
        if (status != STATUS_OK)
            return status;
        la_inverse_from_chol(k, l, v, rest);
        for (size_t j = 0; j < n; j++) {
            acc[j] += wi * at(x, i)[j];
            acc[n + j] += wi * v[j];
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
    size_t k = m->rows, n = m->ambient;
    double *l = work, *v = l + n, *f = v + n, *rest = f + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status == STATUS_OK)
            status = log_spectrum(m, k, l, at(p, i), at(q, i), v, f, 0, rest);
        if (status != STATUS_OK)
            return status;
        out[i] = norm2(k, f);
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *s = l + n, *t = s + n, *rest = t + n;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        const double *b = s;
        la_whiten(k, l, at(u, i), s, rest);
        if (at(u, i) != at(v, i)) {
            la_whiten(k, l, at(v, i), t, rest);
            b = t;
        }
        out[i] = dot(n, s, b);
    }
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points u, size_t begin,
                     size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *v = l + n, *g = v + n, *s = g + n, *f = s + n, *rest = f + k;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status == STATUS_OK)
            status = log_spectrum(m, k, l, at(p, i), at(q, i), v, f, 1, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            f[j] = exp(0.5 * f[j]);
        la_spectral(k, v, f, g, rest);
        la_whiten(k, l, at(u, i), s, rest);
        la_from_basis(k, g, s, s, rest); /* G S G' with G = (L^-1 Y L^-T)^(1/2) */
        la_unwhiten(k, l, s, out + i * n, rest);
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *s = l + n, *rest = s + n;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        la_whiten(k, l, at(v, i), s, rest);
        sym_to_coords(k, s, out + i * m->dim);
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *l = work, *s = l + n, *rest = s + n;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? la_chol(k, at(p, i), l) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        sym_from_coords(k, at(a, i), s);
        la_unwhiten(k, l, s, out + i * n, rest);
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
    double c = m->rows > 1 ? 1 / sqrt(2 * (k - 1)) : 0, t = c * rho;
    *log_area = (d - 1) * log(rho) + pairs * log_sinhc(t);
    *slope = (d - 1) / rho + pairs * (t > 1e-3 ? c / tanh(t) - 1 / rho : c * t / 3);
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
};
