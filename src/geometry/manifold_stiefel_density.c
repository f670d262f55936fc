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

/* One velocity's exponentials and what the determinants are made of. */
struct density {
    struct stiefel_frame *f;
    int levels;
    double *x, *e, *g; /* X, exp(2^-levels X) - I, exp(2^-levels A) - I */
    double *jac;       /* size x size */
    double *coord;     /* size */
    double *d, *a;     /* scratch: q x q, p x p */
    double *more;
};

static struct density lay_out(struct stiefel_frame *f)
{
    size_t k = f->p, qq = f->q * f->q, size = f->size;
    struct density s = {.f = f, .jac = f->rest};
    s.coord = s.jac + size * size;
    s.x = s.coord + size;
    s.e = s.x + qq;
    s.g = s.e + qq;
    s.d = s.g + k * k;
    s.a = s.d + qq;
    s.more = s.a + k * k;
    return s;
}

static int make_exponentials(struct density *s)
{
    struct stiefel_frame *f = s->f;
    size_t k = f->p, q = f->q;
    stiefel_lift(f, f->t, s->x);
    double norm = 2 * norm2(q * q, s->x);
    if (!(norm < INFINITY))
        return STATUS_NOT_FINITE;
    s->levels = 0;
    while (ldexp(norm, -s->levels) > 1)
        s->levels++;
    double h = ldexp(1, -s->levels);
    for (size_t j = 0; j < q * q; j++)
        s->d[j] = h * s->x[j];
    int status = la_expm1(q, s->d, s->e, s->more);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++)
            s->a[l + j * k] = h * f->t[l + j * q];
    return status == STATUS_OK ? la_expm1(k, s->a, s->g, s->more) : status;
}

static void derivative_column(const struct density *s, size_t col)
{
    struct stiefel_frame *f = s->f;
    size_t k = f->p, q = f->q;
    for (size_t j = 0; j < f->size; j++)
        s->coord[j] = j == col;
    stiefel_unpack(f, s->coord, f->u);
    stiefel_lift(f, f->u, s->d);
    drift(q, s->x, s->levels, s->e, s->d, s->more);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < q; l++)
            f->res[l + j * q] = s->d[l + j * q];
    if (f->c != 1) {
        /* (1 - c) A instead of X: for c = 2 the same integral, as both signs change */
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++) {
                s->a[l + j * k] = f->u[l + j * q];
                f->v[l + j * k] = f->t[l + j * q];
            }
        drift(k, f->v, s->levels, s->g, s->a, s->more);
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++)
                f->res[l + j * q] += (1 - f->c) * s->a[l + j * k];
    }
    stiefel_pack(f, f->res, s->jac + col * f->size);
}

/* adds the determinant of rows outside the span of R, n - 2 p of them */
static int add_rows_outside(const struct density *s, double *out)
{
    struct stiefel_frame *f = s->f;
    size_t k = f->p, q = f->q;
    double rows = (double)(f->n - 2 * k), one = 0;
    phi(q, s->x, s->levels, s->e, s->d, s->more);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++)
            s->a[l + j * k] = s->d[l + j * q];
    int status = la_log_abs_det(k, s->a, &one, s->more);
    *out += rows * one;
    return status;
}

/* Derivative of exp in the moving frame, column by column: of exp(X) by the integral above, of exp((1 - c) A) likewise.
 * The n - p - r rows outside the span of R have one p x p block in common, from phi(X) = (exp(X) - I) X^-1. */
int stiefel_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                        double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    if (f.size > DENSITY_MOST)
        return STATUS_UNSUPPORTED;
    struct density s = lay_out(&f);
    for (size_t i = begin; i < end; i++) {
        int status = stiefel_velocity(&f, at(p, i), at(v, i), fresh(p, i, begin));
        if (status == STATUS_OK)
            status = make_exponentials(&s);
        for (size_t col = 0; col < f.size && status == STATUS_OK; col++) {
            host_tick(f.host, 0, 0);
            derivative_column(&s, col);
        }
        if (status == STATUS_OK)
            status = la_log_abs_det(f.size, s.jac, out + i, s.coord);
        if (status == STATUS_OK && f.n > 2 * f.p)
            status = add_rows_outside(&s, out + i);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}
