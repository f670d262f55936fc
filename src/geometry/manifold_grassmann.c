/* Grassmann manifold of p-dimensional subspaces of R^n, metric tr(U'V) of horizontal vectors. A point is stored as any
 * orthonormal basis W of its subspace, an n x p matrix: two bases of one subspace are the same point. Tangent vectors
 * at W are the n x p matrices U with W'U = 0.
 *
 * exp, log and parallel transport (Edelman, Arias and Smith 1998, doi:10.1137/S0895479895290954; Bendokat, Zimmermann
 * and Absil 2024, doi:10.1007/s10444-023-10090-8) hold even functions of the singular values of U, so the eigenvectors
 * of U'U suffice. Checks and projection are those of the Stiefel manifold. */
#include "manifold_grassmann.h"
#include "linalg.h"
#include "simd.h"
#include "tall.h"

static int init(struct manifold *m)
{
    int n = m->param[0], p = m->param[1], r = p < n - p ? p : n - p;
    if (p < 1 || p >= n || (double)n * p > 1e7)
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)n;
    m->cols = (size_t)p;
    m->ambient = m->rows * m->cols;
    m->dim = m->cols * (m->rows - m->cols);
    /* Wong 1968, doi:10.1073/pnas.60.1.75; r = 1 is real projective space */
    m->k_min = r == 1 && m->dim > 1 ? 1 : 0;
    m->k_max = m->dim == 1 ? 0 : r == 1 ? 1 : 2;
    m->inj = RIEMDP_PI / 2;
    m->rho_max = RIEMDP_PI / 2 * sqrt(r);
    m->mean_curvature = m->dim == 1 ? 0 : (n - 2) / ((double)m->dim - 1);
    /* lines and hyperplanes: a ball in which no two points are pi/2 apart is a sphere's */
    m->model = r == 1 ? MODEL_SPHERE : MODEL_SUBSPACES;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_SYMMETRIC | (r == 1 ? MANIFOLD_TWO_POINT : 0) | MANIFOLD_ORTHONORMAL |
               MANIFOLD_REFERENCE | MANIFOLD_UNIFORM | MANIFOLD_FORMS | MANIFOLD_KNG;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    size_t n = m->rows, p = m->cols, own = grassmann_most(la_qr_work(n, p), la_svd_work(n, p));
    own = 8 * n * p + 12 * p * p + 4 * p + grassmann_most(grassmann_most(own, la_symeig_work(p)), 4 * p * p + 4 * p);
    return grassmann_most(own, manifold_stiefel_euclidean.work(m));
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    return manifold_stiefel_euclidean.check_point(m, x, begin, end, work);
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        if (!all_finite(n * k, u))
            return STATUS_NOT_FINITE;
        tall_cross(n, k, w, u, work);
        if (!(norm2(k * k, work) <= RIEMDP_TOL * (1 + norm2(n * k, u))))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    return manifold_stiefel_euclidean.project(m, out, x, begin, end, work);
}

/* out = scale v + w a by rows, a being p x p; out may be v or w; p doubles of work */
static void add_product(size_t n, size_t p, double *out, double scale, const double *v, const double *w,
                        const double *a, double *work)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            work[j] = w[i + j * n];
        for (size_t j = 0; j < p; j++)
            out[i + j * n] = scale * v[i + j * n] + dot(p, work, a + j * p);
    }
}

/* out = v - w w'v; out may be v but not w; p * p doubles of work */
void grassmann_to_horizontal(size_t n, size_t p, double *out, const double *w, const double *v, double *work)
{
    tall_cross(n, p, w, v, work);
    for (size_t j = 0; j < p * p; j++)
        work[j] = -work[j];
    tall_add(n, p, v, w, work, out);
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        double *o = out + i * m->ambient, *made = work + m->cols * m->cols;
        grassmann_to_horizontal(m->rows, m->cols, made, at(p, i), at(v, i), work);
        for (size_t j = 0; j < m->ambient; j++)
            o[j] = made[j];
    }
    return STATUS_OK;
}

/* u'u = V diag(s^2) V': V and s, ascending */
int grassmann_spectrum(size_t n, size_t p, const double *u, double *v, double *s, int vectors, double *work)
{
    tall_gram(n, p, u, v);
    int status = la_symeig(p, v, s, vectors, work);
    for (size_t j = 0; j < p; j++)
        s[j] = sqrt(s[j] > 0 ? s[j] : 0);
    return status;
}

/* exp_W(U) = W V cos(s) V' + U V sinc(s) V', as an increment over W and with one Newton step to the polar factor */
static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, kk = k * k;
    double *vec = work, *a = vec + kk, *b = a + kk, *s = b + kk, *f = s + k, *t = f + k, *rest = t + n * k;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        double *o = out + i * n * k;
        int status = grassmann_spectrum(n, k, u, vec, s, 1, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            f[j] = -2 * square(sin(0.5 * s[j]));
        la_spectral(k, vec, f, a, rest);
        for (size_t j = 0; j < k; j++)
            f[j] = sinc(s[j]);
        la_spectral(k, vec, f, b, rest);
        la_mul('N', 'N', n, k, k, u, n, b, k, t, n);
        add_product(n, k, t, 1, t, w, a, f);
        for (size_t j = 0; j < n * k; j++)
            o[j] = w[j] + t[j];
        la_mul('T', 'N', k, k, n, o, n, o, n, a, k);
        if (!all_finite(kk, a))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < kk; j++)
            a[j] *= -0.5;
        for (size_t j = 0; j < k; j++)
            a[j * (k + 1)] += 0.5;
        add_product(n, k, o, 1, o, o, a, f);
    }
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = grassmann_log_one(m->rows, m->cols, out + i * m->ambient, at(p, i), at(q, i), work);
    return status;
}

RIEMDP_SIMD static double dot_of(size_t n, const double *x)
{
    return simd_dot(n, x, x);
}

/* Sums of logarithms k D with D = (k'k's function t/(sin(t) cos(t))) m', by the rule above where no angle is large, and one by
 * one where one is or where all are so small that k takes more care. */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, kk = k * k, nk = n * k;
    double *c = work, *d = c + kk, *k_of = d + kk, *rest = k_of + nk;
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i);
        double wi = w ? w[i] : 1, sq;
        tall_cross(n, k, p, y, c);
        for (size_t j = 0; j < kk; j++)
            d[j] = -c[j];
        tall_add(n, k, y, p, d, k_of);
        if (!(dot_of(nk, k_of) > 1e-4 && grassmann_stretch_near(n, k, c, k_of, d, &sq, rest))) {
            int status = grassmann_log_one(n, k, k_of, p, y, rest);
            if (status != STATUS_OK)
                return status;
            *sum_sq += wi * dot_of(nk, k_of);
            for (size_t j = 0; j < nk; j++)
                sum[j] += wi * k_of[j];
            continue;
        }
        *sum_sq += wi * sq;
        for (size_t j = 0; j < kk; j++)
            d[j] *= wi;
        tall_add(n, k, sum, k_of, d, sum);
    }
    return STATUS_OK;
}

/* Start of a mean: the mean projector applied to the first record, a step of the power method. acc: the sum, that record */
static int start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                     double *work)
{
    size_t n = m->rows, k = m->cols, nk = n * k;
    double *first = acc + nk;
    for (size_t i = begin; i < end; i++) {
        double wi = w ? w[i] : 1;
        if (wi == 0)
            continue;
        if (dot(nk, first, first) == 0)
            for (size_t j = 0; j < nk; j++)
                first[j] = at(x, i)[j];
        tall_cross(n, k, at(x, i), first, work);
        for (size_t j = 0; j < k * k; j++)
            work[j] *= wi;
        tall_add(n, k, acc, at(x, i), work, acc);
    }
    return STATUS_OK;
}

static int start_end(manifold_t m, double *out, double *acc, double total, double *work)
{
    (void)total;
    return project(m, out, (struct points){acc, 0}, 0, 1, work);
}

/* Norm of the principal angles: from the sines alone where no angle is large, else by atan2 of sines (ascending) and
 * cosines (descending), either of which keeps its digits where the other has none. */
static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, l = m->cols, ll = l * l;
    double *a = work, *b = a + ll, *s = b + ll, *c = s + l, *k = c + l, *rest = k + n * l;
    for (size_t i = begin; i < end; i++) {
        int status = grassmann_gap(n, l, at(p, i), at(q, i), a, k, rest);
        if (status == STATUS_OK)
            status = grassmann_spectrum(n, l, k, b, s, 0, rest);
        if (status != STATUS_OK)
            return status;
        if (s[l - 1] < 0.9) {
            for (size_t j = 0; j < l; j++)
                s[j] = asin(s[j]);
        } else {
            status = la_svd(l, l, a, NULL, c, NULL, rest);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < l; j++)
                s[j] = atan2(s[j], c[j]);
        }
        out[i] = norm2(l, s);
    }
    return STATUS_OK;
}

/* Along U, a vector D becomes D - W sinc(s) U'D - U (1 - cos s)/s^2 U'D (functions of U'U as above) over the basis that
 * the geodesic brings along; `turn` takes that basis to the stored one. */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, nk = n * k, kk = k * k;
    double *u = work, *a = u + nk, *b = a + kk, *turn = b + kk, *t = turn + kk, *f = t + kk, *d = f + kk + 2 * k;
    double *rest = d + nk;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *y = at(q, i);
        if (fresh(p, i, begin) || fresh(q, i, begin)) {
            double *vec = d, *s = f, *g = f + k;
            int status = grassmann_log_one(n, k, u, w, y, a);
            if (status == STATUS_OK)
                status = grassmann_spectrum(n, k, u, vec, s, 1, rest);
            if (status != STATUS_OK)
                return status;
            /* turn = cos(s) W'Y + sinc(s) U'Y */
            for (size_t j = 0; j < k; j++)
                g[j] = cos(s[j]);
            la_spectral(k, vec, g, b, rest);
            tall_cross(n, k, w, y, t);
            la_mul_square('N', 'N', k, b, t, turn);
            for (size_t j = 0; j < k; j++)
                g[j] = sinc(s[j]);
            la_spectral(k, vec, g, a, rest);
            tall_cross(n, k, u, y, t);
            la_mul_square('N', 'N', k, a, t, b);
            for (size_t j = 0; j < kk; j++) {
                turn[j] += b[j];
                a[j] = -a[j];
            }
            for (size_t j = 0; j < k; j++)
                g[j] = -0.5 * square(sinc(0.5 * s[j]));
            la_spectral(k, vec, g, b, rest);
        }
        const double *e = at(v, i);
        tall_cross(n, k, u, e, t);
        la_mul_square('N', 'N', k, a, t, f);
        tall_add(n, k, e, w, f, d);
        la_mul_square('N', 'N', k, b, t, f);
        tall_add(n, k, d, u, f, d);
        add_product(n, k, d, 0, d, d, turn, rest);
        grassmann_to_horizontal(n, k, d, y, d, rest);
        for (size_t j = 0; j < nk; j++)
            out[i * nk + j] = d[j];
    }
    return STATUS_OK;
}

/* The Householder factor H of W takes U to [0; B]: B, by columns, are the coordinates. */
int grassmann_factor(manifold_t m, double *h, const double *w, double *work)
{
    double *tau = h + m->ambient;
    for (size_t j = 0; j < m->ambient; j++)
        h[j] = w[j];
    return la_qr(m->rows, m->cols, h, tau, work);
}

int grassmann_to_coords(manifold_t m, double *out, const double *h, const double *u, double *z, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k;
    for (size_t j = 0; j < n * k; j++)
        z[j] = u[j];
    int status = la_qr_apply('T', n, k, k, h, h + n * k, z, work);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < l; i++)
            out[i + j * l] = z[k + i + j * n];
    return status;
}

int grassmann_from_frame(manifold_t m, double *out, const double *h, const double *b, double *z, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++)
            z[i + j * n] = i < k ? 0 : b[i - k + j * l];
    int status = la_qr_apply('N', n, k, k, h, h + n * k, z, work);
    for (size_t j = 0; j < n * k; j++)
        out[j] = z[j];
    return status;
}

int grassmann_coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                     double *work)
{
    double *h = work, *z = h + m->ambient + m->cols, *rest = z + m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        if (fresh(p, i, begin))
            status = grassmann_factor(m, h, at(p, i), rest);
        if (status == STATUS_OK)
            status = grassmann_to_coords(m, out + i * m->dim, h, at(v, i), z, rest);
    }
    return status;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    double *h = work, *z = h + m->ambient + m->cols, *rest = z + m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        if (fresh(p, i, begin))
            status = grassmann_factor(m, h, at(p, i), rest);
        if (status == STATUS_OK)
            status = grassmann_from_frame(m, out + i * m->ambient, h, at(a, i), z, rest);
    }
    return status;
}

static void origin(manifold_t m, double *out)
{
    manifold_stiefel_euclidean.origin(m, out);
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    return manifold_stiefel_euclidean.to_origin(m, out, base, x, begin, end, work);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    return manifold_stiefel_euclidean.from_origin(m, out, base, x, begin, end, work);
}

const struct manifold_ops manifold_grassmann = {
    .name = "grassmann",
    .family = "grassmann",
    .parameters = 2,
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = manifold_ambient_inner,
    .coords = grassmann_coords,
    .from_coords = from_coords,
    .dist = dist,
    .transport = transport,
    .log_density = grassmann_log_density,
    .jacobi = grassmann_jacobi,
    .log_sum = log_sum,
    .start_add = start_add,
    .start_end = start_end,
    .add_hessian = grassmann_add_hessian,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = grassmann_radial,
    .radial_accept = grassmann_radial_accept,
};
