/* Densities, Jacobi fields and Hessians on a Grassmann manifold: all that comes of its curvature operator. */
#include "manifold_grassmann.h"
#include "linalg.h"

/* log |sin(x)/x|; -Inf at multiples of pi */
static double log_abs_sinc(double x)
{
    x = fabs(x);
    return x < 1 ? log_sinc(x) : log(fabs(sin(x) / x));
}

/* The log of the volume density at a tangent vector with these singular values, in ascending order; all but the last r are zero.
 * Eigenvalues of the curvature operator are (s_i - s_j)^2, (s_i + s_j)^2 and |n - 2p| times s_j^2. */
static double log_jacobian(size_t n, size_t k, const double *s)
{
    size_t l = n - k, r = k < l ? k : l;
    double sum = 0, more = (double)(k < l ? l - k : k - l);
    for (size_t j = k - r; j < k; j++) {
        for (size_t h = k - r; h < j; h++)
            sum += log_abs_sinc(s[j] - s[h]) + log_abs_sinc(s[j] + s[h]);
        if (more > 0)
            sum += more * log_abs_sinc(s[j]);
    }
    return sum;
}

int grassmann_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                          double *work)
{
    size_t n = m->rows, k = m->cols;
    double *a = work, *s = a + k * k, *rest = s + k;
    (void)p;
    for (size_t i = begin; i < end; i++) {
        int status = grassmann_spectrum(n, k, at(v, i), a, s, 0, rest);
        if (status != STATUS_OK)
            return status;
        out[i] = log_jacobian(n, k, s);
    }
    return STATUS_OK;
}

/* prod sinc(x_j) over N factors <= sinc(rho sqrt((n - 2)/N))^N, whose squared arguments sum to (n - 2) rho^2:
 * inst/proofs/laplace.md, Proposition 7 */
static double log_bound(manifold_t m, double rho, double *slope)
{
    size_t n = m->rows, k = m->cols, r = k < n - k ? k : n - k;
    double d = (double)m->dim, count = d - (double)r, c = count > 0 ? sqrt(((double)n - 2) / count) : 0, t = c * rho;
    *slope = count > 0 ? count * (t > 1e-3 ? c / tan(t) - 1 / rho : -c * t / 3) : 0;
    return count > 0 ? count * log_sinc(t) : 0;
}

void grassmann_radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double d = (double)m->dim;
    *log_area = log_bound(m, rho, slope) + (m->dim > 1 ? (d - 1) * log(rho) : 0);
    *slope += (d - 1) / rho;
}

/* beyond the largest singular value pi/2 points are met again on a shorter way */
double grassmann_radial_accept(manifold_t m, const double *a, double rho, double *work)
{
    size_t n = m->rows, k = m->cols;
    double *gram = work, *s = gram + k * k, slope;
    if (grassmann_spectrum(n - k, k, a, gram, s, 0, s + k) != STATUS_OK || !(s[k - 1] < RIEMDP_PI / 2))
        return -INFINITY;
    return log_jacobian(n, k, s) - log_bound(m, rho, &slope);
}

enum spectral { COSINE, SINE, COTANGENT };

/* f(t^2), see curvature_apply */
static double factor_of(enum spectral f, double t, double x)
{
    if (f == COTANGENT)
        return fabs(t) < 1e-4 ? 1 - t * t / 3 : t / tan(t);
    return f == SINE ? x * sinc(t * x) : cos(t * x);
}

/* to = f(curvature operator of B) e for B = L diag(s) R' (l x k), f(lambda) = cos(sqrt(lambda) x), x sinc(sqrt(lambda) x)
 * or sqrt(lambda) cot(sqrt(lambda)). Its eigenspaces are the symmetric and the antisymmetric part of L'eR and what lies outside L
 * or R. `work` 3 l * k doubles */
static void curvature_apply(size_t l, size_t k, const double *left, const double *s, const double *rt, enum spectral f,
                            double x, const double *e, double *to, double *work)
{
    size_t r = l < k ? l : k;
    double *le = work, *mid = le + l * k, *out = mid + l * k;
    la_mul('T', 'N', r, k, l, left, l, e, l, le, r);
    la_mul('N', 'T', r, r, k, le, r, rt, r, mid, r);
    for (size_t j = 0; j < l * k; j++)
        out[j] = e[j];
    if (l > k) {
        /* (e - L L'e) R f(s) R' */
        la_mul('N', 'N', l, k, r, left, l, le, r, to, l);
        for (size_t j = 0; j < l * k; j++)
            out[j] -= to[j];
        la_mul('N', 'T', l, k, k, out, l, rt, k, to, l);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < l; i++)
                to[i + j * l] *= factor_of(f, s[j], x);
        la_mul('N', 'N', l, k, k, to, l, rt, k, out, l);
    } else {
        /* L f(s) (L'e - L'e R R') */
        la_mul('N', 'N', r, k, r, mid, r, rt, r, to, r);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < r; i++)
                to[i + j * r] = factor_of(f, s[i], x) * (le[i + j * r] - to[i + j * r]);
        la_mul('N', 'N', l, k, r, left, l, to, r, out, l);
    }
    for (size_t j = 0; j < r; j++) {
        mid[j + j * r] *= factor_of(f, 0, x);
        for (size_t i = 0; i < j; i++) {
            double even = 0.5 * factor_of(f, s[i] - s[j], x) * (mid[i + j * r] + mid[j + i * r]);
            double odd = 0.5 * factor_of(f, s[i] + s[j], x) * (mid[i + j * r] - mid[j + i * r]);
            mid[i + j * r] = even + odd;
            mid[j + i * r] = even - odd;
        }
    }
    la_mul('N', 'N', r, k, r, mid, r, rt, r, le, r);
    la_mul('N', 'N', l, k, r, left, l, le, r, to, l);
    for (size_t j = 0; j < l * k; j++)
        to[j] += out[j];
}

int grassmann_jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                     struct points u, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k, r = k < l ? k : l, lk = l * k;
    double *h = work, *z = h + n * k + k, *left = z + n * k, *s = left + l * r, *rt = s + r, *e = rt + r * k;
    double *to = e + lk, *rest = to + lk;
    for (size_t i = begin; i < end; i++) {
        int status = STATUS_OK;
        if (fresh(p, i, begin))
            status = grassmann_factor(m, h, at(p, i), rest);
        if (status == STATUS_OK && (fresh(p, i, begin) || fresh(v, i, begin))) {
            status = grassmann_to_coords(m, e, h, at(v, i), z, rest);
            if (status == STATUS_OK)
                status = la_svd(l, k, e, left, s, rt, rest);
        }
        if (status == STATUS_OK)
            status = grassmann_to_coords(m, e, h, at(u, i), z, rest);
        if (status != STATUS_OK)
            return status;
        double t = *at(x, i);
        curvature_apply(l, k, left, s, rt, COSINE, t, e, to, rest);
        status = grassmann_from_frame(m, out_p + i * n * k, h, to, z, rest);
        curvature_apply(l, k, left, s, rt, SINE, t, e, to, rest);
        if (status == STATUS_OK)
            status = grassmann_from_frame(m, out_v + i * n * k, h, to, z, rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* sqrt(R_v) cot(sqrt(R_v)) for the curvature operator R_v of v (the gradient's Jacobi equation on a symmetric space) */
int grassmann_add_hessian(manifold_t m, double *matrix, const double *coords, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k, r = k < l ? k : l, d = l * k;
    double *left = work, *s = left + l * r, *rt = s + r, *e = rt + r * k, *to = e + d, *rest = to + d;
    for (size_t j = 0; j < d; j++)
        e[j] = coords[j];
    int status = la_svd(l, k, e, left, s, rt, rest);
    for (size_t j = 0; j < d && status == STATUS_OK; j++) {
        for (size_t i = 0; i < d; i++)
            e[i] = i == j;
        curvature_apply(l, k, left, s, rt, COTANGENT, 1, e, to, rest);
        for (size_t i = j; i < d; i++)
            matrix[i + j * d] += to[i];
    }
    return status;
}
