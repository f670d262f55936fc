/* Volume density of exp on the Stiefel manifold. */
#include "manifold_stiefel.h"

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
int stiefel_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                        double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    size_t k = f.p, q = f.q, qq = q * q, size = f.size;
    double *jac = f.rest, *coord = jac + size * size, *x = coord + size, *e = x + qq, *g = e + qq, *d = g + k * k;
    double *a = d + qq, *more = a + k * k;
    if (size > DENSITY_MOST)
        return STATUS_UNSUPPORTED;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? stiefel_factor(&f, at(p, i)) : STATUS_OK;
        if (status == STATUS_OK)
            status = stiefel_to_frame(&f, at(v, i), f.z);
        if (status == STATUS_OK)
            status = stiefel_reduce(&f, f.z, f.t);
        if (status != STATUS_OK)
            return status;
        stiefel_skew_top(q, k, f.t);
        stiefel_lift(&f, f.t, x);
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
            host_tick(f.host, 0, 0);
            for (size_t j = 0; j < size; j++)
                coord[j] = j == col;
            stiefel_unpack(&f, coord, f.u);
            stiefel_lift(&f, f.u, d);
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
            stiefel_pack(&f, f.res, jac + col * size);
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
