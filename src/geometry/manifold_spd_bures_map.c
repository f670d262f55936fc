/* The optimal transport T = I + X of P to Q in the Bures-Wasserstein metric, in the eigenbasis of P = diag(w): the one solution with
 * I + X > 0 of X W + W X + X W X = E = Q - P. Differences first, so that near points keep their digits.
 *
 * Its size is measured by gamma^2 = max_i sum_a w_a x_ai^2 / w_i, from the first step E_ij/(w_i + w_j): columns c_i of C = W^1/2 X
 * have |c_i| <= gamma sqrt(w_i), so that (XWX)_ij = c_i'c_j is at most gamma^2 sqrt(w_i w_j). Entries of X alone say nothing: where
 * w is graded, small ones move the solution far. */
#include "manifold_spd.h"

/* Pairs for which the fixed point below contracts: arguments of gamma at most g whose difference has delta go to a difference of at
 * most 2 g sqrt(k) delta, and a first step of 1/(16 sqrt k) keeps all iterates below g = 1/(14.9 sqrt k). */
int bures_is_near(size_t k, double gamma2)
{
    return gamma2 * 256 * (double)k <= 1;
}

/* Near pairs, from their first step x. Each step leaves less than a seventh of the error, and 7^-20 < 2^-53. t, more: k^2 */
static void fixed_point(size_t k, const double *w, const double *e, double *x, double *t, double *more)
{
    for (int step = 0; step < 20; step++) {
        double change = 0, size = 0;
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++)
                t[i + j * k] = x[i + j * k] * w[j];
        la_mul_square('N', 'N', k, t, x, more);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++) {
                double y = (e[i + j * k] - 0.5 * (more[i + j * k] + more[j + i * k])) / (w[i] + w[j]);
                change += w[j] * square(y - x[i + j * k]);
                size += w[j] * square(y);
                t[i + j * k] = y;
            }
        for (size_t j = 0; j < k * k; j++)
            x[j] = t[j];
        if (change <= 1e-32 * size)
            return;
    }
}

/* Far pairs, a start: T A = C polar(C'A) with P = A A', Q = C C'. rest: 2 k^2 + polar work */
static int polar_map(size_t k, const double *q, const double *v, const double *w, double *x, double *rest)
{
    double *c = rest, *t = c + k * k, *more = t + k * k;
    int status = la_chol(k, q, c);
    if (status != STATUS_OK)
        return status;
    la_mul_square('T', 'N', k, c, v, t); /* C'V sqrt(w) */
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            t[i + j * k] *= sqrt(w[j]);
    status = la_polar(k, t, x, more);
    if (status != STATUS_OK)
        return status;
    la_mul_square('N', 'N', k, c, x, t);
    la_mul_square('T', 'N', k, v, t, x);
    /* of each pair the entry that was divided by the larger eigenvalue keeps more digits */
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i <= j; i++)
            x[j + i * k] = x[i + j * k] /= sqrt(w[j]);
        x[j + j * k] -= 1;
    }
    return STATUS_OK;
}

/* Far pairs, a step of Newton's method: S H + H S = R with S = W^1/2 (I + X) W^1/2 and the residual R, scaled by W^1/2 as well.
 * From any S > 0 the next S^2 exceeds that of the solution by H^2, and all later ones decrease to it (Kleinman 1968,
 * doi:10.1109/TAC.1968.1098829). `step2`, `size2`: squared lengths of the step and of X. s, t: k^2; rest: k^2 + k + eig work */
static int newton_step(size_t k, const double *w, const double *e, double *x, double *step2, double *size2, double *s,
                       double *t, double *rest)
{
    double *f = rest, *more = rest + k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            t[i + j * k] = x[i + j * k] * w[j];
    la_mul_square('N', 'N', k, t, x, s);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i <= j; i++) {
            double xwx = 0.5 * (s[i + j * k] + s[j + i * k]), root = sqrt(w[i] * w[j]);
            t[i + j * k] = t[j + i * k] = (e[i + j * k] - x[i + j * k] * (w[i] + w[j]) - xwx) * root;
            s[i + j * k] = s[j + i * k] = ((i == j) + x[i + j * k]) * root;
        }
    int status = la_symeig(k, s, f, 1, more);
    if (status != STATUS_OK)
        return status;
    la_to_basis(k, s, t, t, more);
    double least = RIEMDP_EPS * f[k - 1]; /* what rounding left of the smallest eigenvalues */
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            t[i + j * k] /= (f[i] > least ? f[i] : least) + (f[j] > least ? f[j] : least);
    la_from_basis(k, s, t, t, more);
    *step2 = *size2 = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            double h = t[i + j * k] / sqrt(w[i] * w[j]);
            x[i + j * k] += h;
            *step2 += w[j] * square(h);
            *size2 += w[j] * square(x[i + j * k]);
        }
    return STATUS_OK;
}

/* X in the eigenbasis (v, w) of P. rest: 4 k^2 + k + polar work */
int bures_map(size_t k, const double *p, const double *q, const double *v, const double *w, double *x, double *rest)
{
    size_t n = k * k;
    double *e = rest, *t = e + n, *s = t + n, *more = s + n, gamma2 = 0;
    for (size_t j = 0; j < n; j++)
        e[j] = q[j] - p[j];
    la_mirror_lower(k, e);
    la_to_basis(k, v, e, e, t);
    for (size_t j = 0; j < k; j++) {
        double c = 0;
        for (size_t i = 0; i < k; i++) {
            x[i + j * k] = e[i + j * k] / (w[i] + w[j]);
            c += w[i] * square(x[i + j * k]);
        }
        gamma2 = c > gamma2 * w[j] ? c / w[j] : gamma2;
    }
    if (bures_is_near(k, gamma2)) {
        fixed_point(k, w, e, x, t, more);
        return STATUS_OK;
    }
    /* until rounding keeps steps from getting shorter; the start leaves few of them */
    int status = polar_map(k, q, v, w, x, t);
    double last = INFINITY, step2 = 0, size2 = 0;
    for (int step = 0; step < 60 && status == STATUS_OK; step++) {
        status = newton_step(k, w, e, x, &step2, &size2, s, t, more);
        if (step2 <= 1e-32 * size2 || !(step2 < 0.25 * last))
            break;
        last = step2;
    }
    return status != STATUS_OK || step2 <= 1e-12 * size2 ? status : STATUS_NO_CONVERGENCE;
}
