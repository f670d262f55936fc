#include "mechanism_lattice.h"

#include "linalg.h"

#include <string.h>

#ifdef __FAST_MATH__
#error "the bounds of rounding errors need IEEE arithmetic: compile without -ffast-math"
#endif

enum lattice_model lattice_model(manifold_t m)
{
    const char *name = m->ops->name;
    if (m->flags & MANIFOLD_CALLS_R)
        return LATTICE_NONE;
    if (m->k_min == 0 && m->k_max == 0)
        return LATTICE_FLAT;
    if (strcmp(name, "sphere") == 0)
        return LATTICE_SPHERE;
    if (strcmp(name, "hyperboloid") == 0 || strcmp(name, "ball") == 0)
        return LATTICE_HYPERBOLIC;
    if (strcmp(name, "kendall") == 0)
        return LATTICE_PLANAR;
    if (strcmp(name, "spd_affine") == 0)
        return LATTICE_SPD;
    if (strcmp(name, "grassmann") == 0)
        return LATTICE_GRASSMANN;
    return LATTICE_NONE;
}

size_t lattice_point_size(const struct lattice_mean *c)
{
    switch (c->model) {
    case LATTICE_SPHERE:
    case LATTICE_HYPERBOLIC:
        return c->dim + 1;
    case LATTICE_PLANAR:
        return c->dim + 2;
    case LATTICE_SPD:
        return c->rows * c->rows;
    case LATTICE_GRASSMANN:
        return c->rows * c->cols;
    default:
        return c->dim;
    }
}

static size_t isometry_size(const struct lattice_mean *c)
{
    return 2 * (c->dim + 4) + 2 * lattice_point_size(c) + 2 * c->cols * c->cols;
}

size_t lattice_mean_work(const struct lattice_mean *c)
{
    /* isometry, two points, two coordinate vectors, and scratch of the matrix functions */
    return isometry_size(c) + 2 * lattice_point_size(c) + 2 * c->dim + 6 * c->rows * c->rows;
}

void lattice_clip(const struct lattice_mean *c, double *a)
{
    double most = c->radius * (1 - 4 * RIEMDP_EPS * ((double)c->dim + 8)), s = norm2(c->dim, a);
    double scale = s > most ? most / s : 1;
    for (size_t j = 0; j < c->dim; j++) /* towards zero: lengths don't grow */
        a[j] = s < INFINITY ? ldexp(trunc(ldexp(a[j] * scale, c->bits)), -c->bits) : 0;
}

/* ---- constant curvature and CP^n: one rotation or boost in the plane of the centre and the target -------------------- */

/* the target's coordinates a, and cos|a|, sin|a|/|a|, (1 - cos|a|)/|a|^2 (or cosh, sinh) */
static void make_turn(const struct lattice_mean *c, const double *a, double *turn)
{
    double s = norm2(c->dim, a);
    int hyperbolic = c->model == LATTICE_HYPERBOLIC;
    turn[0] = hyperbolic ? cosh(s) : cos(s);
    turn[1] = hyperbolic ? sinhc(s) : sinc(s);
    turn[2] = 0.5 * square(hyperbolic ? sinhc(0.5 * s) : sinc(0.5 * s));
    for (size_t j = 0; j < c->dim; j++)
        turn[3 + j] = a[j];
}

/* Carries the target to the centre, or back with sign -1:
 * y_0' = cos y_0 + sign S <a, y>, y' = y - (C <a, y> + sign S y_0) a; with the hyperbolic sign where that is the space. */
static void turn_real(const struct lattice_mean *c, const double *turn, int back, const double *y, double *out)
{
    double sign = back ? -1 : 1, b = dot(c->dim, turn + 3, y + 1), first = y[0], along;
    if (c->model == LATTICE_HYPERBOLIC) {
        out[0] = turn[0] * first - sign * turn[1] * b;
        along = turn[2] * b - sign * turn[1] * first;
    } else {
        out[0] = turn[0] * first + sign * turn[1] * b;
        along = -(turn[2] * b + sign * turn[1] * first);
    }
    for (size_t j = 0; j < c->dim; j++)
        out[j + 1] = y[j + 1] + along * turn[3 + j];
}

/* the same with complex numbers in pairs, <a, y> = sum conj(a_j) y_j */
static void turn_planar(const struct lattice_mean *c, const double *turn, int back, const double *y, double *out)
{
    const double *a = turn + 3;
    double sign = back ? -1 : 1, re, im, y0 = y[0], y1 = y[1];
    la_cdot(c->dim / 2, a, y + 2, &re, &im);
    out[0] = turn[0] * y0 + sign * turn[1] * re;
    out[1] = turn[0] * y1 + sign * turn[1] * im;
    re = -(turn[2] * re + sign * turn[1] * y0);
    im = -(turn[2] * im + sign * turn[1] * y1);
    for (size_t j = 0; j < c->dim; j += 2) {
        out[j + 2] = y[j + 2] + (re * a[j] - im * a[j + 1]);
        out[j + 3] = y[j + 3] + (re * a[j + 1] + im * a[j]);
    }
}

/* normal coordinates of y at the centre; they don't change when y is scaled, nor with its phase */
static void log_turned(const struct lattice_mean *c, const double *y, double *a)
{
    size_t d = c->dim;
    if (c->model == LATTICE_PLANAR) {
        double s = norm2(d, y + 2), r = norm2(2, y), f = s > 0 && r > 0 ? atan2(s, r) / s : 0;
        double re = r > 0 ? y[0] / r : 0, im = r > 0 ? -y[1] / r : 0;
        for (size_t j = 0; j < d; j += 2) {
            double u = y[j + 2], v = y[j + 3];
            a[j] = f * (re * u - im * v);
            a[j + 1] = f * (re * v + im * u);
        }
        return;
    }
    double s = norm2(d, y + 1), f = s > 0 ? (c->model == LATTICE_HYPERBOLIC ? asinh(s) : atan2(s, y[0])) / s : 0;
    for (size_t j = 0; j < d; j++)
        a[j] = f * y[j + 1];
}

/* ---- positive definite matrices: power series only, whose errors have a bound ----------------------------------------- */

static void matrix_of(size_t k, const double *a, double *s)
{
    for (size_t j = 0; j < k; j++) {
        s[j + j * k] = *a++;
        for (size_t i = j + 1; i < k; i++)
            s[i + j * k] = s[j + i * k] = *a++ / RIEMDP_SQRT2;
    }
}

static void coords_of(size_t k, const double *s, double *a)
{
    for (size_t j = 0; j < k; j++) {
        *a++ = s[j + j * k];
        for (size_t i = j + 1; i < k; i++)
            *a++ = RIEMDP_SQRT2 * s[i + j * k];
    }
}

/* exp(scale A) for symmetric A with |scale A| <= 2 radius: Taylor polynomial of degree 14 at 2^-s of it, squared s times */
static void matrix_exp(const struct lattice_mean *c, double scale, const double *a, double *out, double *work)
{
    enum { DEGREE = 14 };
    size_t k = c->rows, n = k * k;
    double *x = work, *t = x + n;
    int squarings = 0;
    while (ldexp(2 * c->radius, -squarings) > 0.5)
        squarings++;
    matrix_of(k, a, x);
    for (size_t j = 0; j < n; j++) {
        x[j] = ldexp(scale * x[j], -squarings);
        out[j] = x[j] / DEGREE + (j % (k + 1) == 0);
    }
    for (int i = DEGREE - 1; i > 0; i--) {
        la_mul_square('N', 'N', k, x, out, t);
        for (size_t j = 0; j < n; j++)
            out[j] = t[j] / i + (j % (k + 1) == 0);
    }
    la_symmetrize(k, out);
    for (int i = 0; i < squarings; i++) {
        la_mul_square('N', 'N', k, out, out, t);
        la_symmetrize(k, t);
        for (size_t j = 0; j < n; j++)
            out[j] = t[j];
    }
}

/* log X = 2 atanh(Z), Z = I - 2 (X + I)^-1, as 4 sum_j b^(2j+1)/(2j+1) T_(2j+1)(Z/tau), tau = 2b/(1 + b^2) */
static void matrix_log(const struct lattice_mean *c, const double *x, double *a, double *work)
{
    size_t k = c->rows, n = k * k;
    double *z = work, *two = z + n, *before = two + n, *now = before + n, *sum = now + n, *t = sum + n;
    double tau = 2 * c->base / (1 + square(c->base)), power = c->base, b2 = square(c->base);
    for (size_t j = 0; j < n; j++)
        z[j] = x[j] + (j % (k + 1) == 0);
    if (la_chol(k, z, t) != STATUS_OK) { /* can't be: all eigenvalues are above 1 */
        for (size_t j = 0; j < c->dim; j++)
            a[j] = 0;
        return;
    }
    la_inverse_from_chol(k, t, z, two);
    for (size_t j = 0; j < n; j++)
        z[j] = ((j % (k + 1) == 0) - 2 * z[j]) / tau;
    la_mul_square('N', 'N', k, z, z, two);
    la_symmetrize(k, two);
    for (size_t j = 0; j < n; j++) {
        two[j] = 2 * two[j] - (j % (k + 1) == 0); /* T_2 */
        before[j] = now[j] = z[j];                /* T_-1 and T_1 */
        sum[j] = 4 * power * z[j];
    }
    for (int i = 1; i < c->terms; i++) {
        power *= b2;
        double f = 4 * power / (2 * i + 1);
        la_mul_square('N', 'N', k, two, now, t);
        for (size_t j = 0; j < n; j++) {
            double next = 2 * t[j] - before[j];
            before[j] = now[j];
            now[j] = next;
            sum[j] += f * next;
        }
    }
    la_symmetrize(k, sum);
    coords_of(k, sum, a);
}

/* H Y H */
static void congruence(size_t k, const double *h, const double *y, double *out, double *work)
{
    la_mul_square('N', 'N', k, h, y, work);
    la_mul_square('N', 'N', k, work, h, out);
    la_symmetrize(k, out);
}

/* ---- subspaces: p columns in R^n, the centre spanned by the first p axes; power series only ----------------------------- */

enum series { SERIES_COS, SERIES_SINC, SERIES_VERSINE, SERIES_LOG };

/* cos(sqrt x), sinc(sqrt x), (1 - cos(sqrt x))/x, or s/sin(s) with x = 1 - cos(s), at a symmetric matrix: Horner's rule */
static void matrix_series(enum series kind, int terms, size_t p, const double *x, double *out, double *work)
{
    size_t n = p * p;
    for (size_t j = 0; j < n; j++)
        out[j] = j % (p + 1) == 0;
    for (int i = terms; i > 0; i--) {
        double f = kind == SERIES_COS    ? -1.0 / (2 * i * (2 * i - 1))
                   : kind == SERIES_SINC ? -1.0 / (2 * i * (2 * i + 1))
                   : kind == SERIES_LOG  ? i / (2.0 * i + 1)
                                         : -1.0 / ((2 * i + 1) * (2 * i + 2));
        la_mul_square('N', 'N', p, x, out, work);
        for (size_t j = 0; j < n; j++)
            out[j] = f * work[j] + (j % (p + 1) == 0);
    }
    for (size_t j = 0; j < n && kind == SERIES_VERSINE; j++)
        out[j] *= 0.5;
}

enum { SUBSPACE_TERMS = 13 }; /* (pi/2)^28/28! < 2e-24 */

/* B'B */
static void gram(size_t l, size_t p, const double *b, double *out)
{
    la_mul('T', 'N', p, p, l, b, l, b, l, out, p);
    la_symmetrize(p, out);
}

/* the basis (cos(sqrt B'B), B sinc(sqrt B'B)), one block after the other */
static void subspace_exp(const struct lattice_mean *c, const double *b, double *y, double *work)
{
    size_t p = c->cols, l = c->rows - p, n = p * p;
    double *x = work, *f = x + n, *t = f + n;
    gram(l, p, b, x);
    matrix_series(SERIES_COS, SUBSPACE_TERMS, p, x, y, t);
    matrix_series(SERIES_SINC, SUBSPACE_TERMS, p, x, f, t);
    la_mul('N', 'N', l, p, p, b, l, f, p, y + n, l);
}

/* cos, sinc and versine of the target's coordinates, and those */
static void make_subspace_turn(const struct lattice_mean *c, const double *b, double *turn, double *work)
{
    size_t p = c->cols, l = c->rows - p, n = p * p;
    double *x = work, *t = x + n;
    gram(l, p, b, x);
    for (int kind = SERIES_COS; kind <= SERIES_VERSINE; kind++)
        matrix_series((enum series)kind, SUBSPACE_TERMS, p, x, turn + (size_t)kind * n, t);
    for (size_t j = 0; j < l * p; j++)
        turn[3 * n + j] = b[j];
}

/* Carries the target A to the centre, or back with sign -1: Y_1' = C Y_1 + sign D W, Y_2' = Y_2 - A (sign D Y_1 + K W), W = A'Y_2 */
static void turn_subspace(const struct lattice_mean *c, const double *turn, int back, const double *y, double *out,
                          double *work)
{
    size_t p = c->cols, l = c->rows - p, n = p * p;
    const double *a = turn + 3 * n, *y2 = y + n;
    double sign = back ? -1 : 1, *w = work, *t = w + n, *s = t + n;
    la_mul('T', 'N', p, p, l, a, l, y2, l, w, p);
    la_mul_square('N', 'N', p, turn, y, out);
    la_mul_square('N', 'N', p, turn + n, w, t);
    for (size_t j = 0; j < n; j++)
        out[j] += sign * t[j];
    la_mul_square('N', 'N', p, turn + n, y, t);
    la_mul_square('N', 'N', p, turn + 2 * n, w, s);
    for (size_t j = 0; j < n; j++)
        t[j] = sign * t[j] + s[j];
    la_mul('N', 'N', l, p, p, a, l, t, p, out + n, l);
    for (size_t j = 0; j < l * p; j++)
        out[n + j] = y2[j] - out[n + j];
}

/* Y_2 Y_1' h(Y_1 Y_1') for an orthonormal basis, h(cos^2 t) = 2t/sin 2t */
static void subspace_log(const struct lattice_mean *c, const double *y, double *a, double *work)
{
    size_t p = c->cols, l = c->rows - p, n = p * p;
    double *x = work, *h = x + n, *t = h + n, *q = t + n;
    la_mul_square('N', 'T', p, y, y, x);
    la_symmetrize(p, x);
    for (size_t j = 0; j < n; j++)
        x[j] = 2 * ((j % (p + 1) == 0) - x[j]);
    matrix_series(SERIES_LOG, c->terms, p, x, h, t);
    la_mul('N', 'T', l, p, p, y + n, l, y, p, q, l);
    la_mul('N', 'N', l, p, p, q, l, h, p, a, l);
}

/* ---- the mean --------------------------------------------------------------------------------------------------------- */

void lattice_embed(const struct lattice_mean *c, const double *a, double *y, double *work)
{
    double s = norm2(c->dim, a), f;
    switch (c->model) {
    case LATTICE_SPHERE:
    case LATTICE_HYPERBOLIC:
        y[0] = c->model == LATTICE_HYPERBOLIC ? cosh(s) : cos(s);
        f = c->model == LATTICE_HYPERBOLIC ? sinhc(s) : sinc(s);
        for (size_t j = 0; j < c->dim; j++)
            y[j + 1] = f * a[j];
        return;
    case LATTICE_PLANAR:
        y[0] = cos(s);
        y[1] = 0;
        for (size_t j = 0; j < c->dim; j++)
            y[j + 2] = sinc(s) * a[j];
        return;
    case LATTICE_SPD:
        matrix_exp(c, 1, a, y, work);
        return;
    case LATTICE_GRASSMANN:
        subspace_exp(c, a, y, work);
        return;
    default:
        for (size_t j = 0; j < c->dim; j++)
            y[j] = a[j];
    }
}

/* the isometry that carries exp(a) to the centre (with its inverse): for matrices exp(-A/2) and exp(A/2) */
static void make_isometry(const struct lattice_mean *c, const double *a, double *isometry, double *work)
{
    if (c->model == LATTICE_SPD) {
        matrix_exp(c, -0.5, a, isometry, work);
        matrix_exp(c, 0.5, a, isometry + c->rows * c->rows, work);
    } else if (c->model == LATTICE_GRASSMANN) {
        make_subspace_turn(c, a, isometry, work);
    } else {
        make_turn(c, a, isometry);
    }
}

/* coordinates of a point that was carried to the centre, or from it */
static void carried_log(const struct lattice_mean *c, const double *isometry, int back, const double *y, double *out,
                        double *a, double *work)
{
    if (c->model == LATTICE_SPD) {
        congruence(c->rows, isometry + (back ? c->rows * c->rows : 0), y, out, work);
        matrix_log(c, out, a, work);
        return;
    }
    if (c->model == LATTICE_GRASSMANN) {
        turn_subspace(c, isometry, back, y, out, work);
        subspace_log(c, out, a, work);
        return;
    }
    if (c->model == LATTICE_PLANAR)
        turn_planar(c, isometry, back, y, out);
    else
        turn_real(c, isometry, back, y, out);
    log_turned(c, out, a);
}

/* adds a to the sums, in units of 2^-bits, towards zero; nothing in bounds comes near `most`, which keeps sums from overflow */
static void add_units(const struct lattice_mean *c, const double *a, int64_t *sum)
{
    double most = 2.5 * c->radius;
    for (size_t j = 0; j < c->dim; j++)
        if (fabs(a[j]) <= most)
            sum[j] += (int64_t)ldexp(a[j], c->bits);
}

struct room {
    double *isometry, *out, *from, *v, *rest;
};

static struct room make_room(const struct lattice_mean *c, double *work)
{
    size_t size = lattice_point_size(c);
    struct room r = {.isometry = work, .out = work + isometry_size(c)};
    r.from = r.out + size;
    r.v = r.from + size;
    r.rest = r.v + 2 * c->dim;
    return r;
}

/* progress: `done` of `of` records before these */
static void add_points(const struct lattice_mean *c, size_t n, const double *y, int64_t *sum, struct host *host,
                       double done, double of, const struct room *r)
{
    size_t size = lattice_point_size(c);
    int flat = c->model == LATTICE_FLAT;
    for (size_t i = 0; i < n; i++) {
        if (!flat)
            carried_log(c, r->isometry, 0, y + i * size, r->out, r->v, r->rest);
        add_units(c, flat ? y + i * size : r->v, sum);
        if (i % 16 == 0)
            host_tick(host, done + (double)i, of);
    }
}

void lattice_add(const struct lattice_mean *c, size_t n, const double *y, const double *a, int64_t *sum,
                 struct host *host, double *work)
{
    struct room r = make_room(c, work);
    if (c->model != LATTICE_FLAT)
        make_isometry(c, a, r.isometry, r.rest);
    add_points(c, n, y, sum, host, 0, 0, &r);
}

static void run(const struct lattice_mean *c, size_t n, const double *y, const struct lattice_records *records,
                double *a, int64_t *sum, struct host *host, double *work)
{
    size_t d = c->dim;
    struct room r = make_room(c, work);
    int flat = c->model == LATTICE_FLAT;
    for (size_t j = 0; j < d; j++)
        a[j] = 0;
    for (int s = 0; s < (flat ? 1 : c->steps); s++) {
        for (size_t j = 0; j < d; j++)
            sum[j] = 0;
        if (!flat)
            make_isometry(c, a, r.isometry, r.rest);
        if (records)
            records->add(records, a, sum);
        else
            add_points(c, n, y, sum, host, (double)s * (double)n, (double)c->steps * (double)n, &r);
        for (size_t j = 0; j < d; j++)
            r.v[j] = ldexp((double)sum[j], -c->bits) / (double)n;
        if (flat) {
            for (size_t j = 0; j < d; j++)
                a[j] = r.v[j];
            return;
        }
        for (size_t j = 0; j < d; j++)
            r.v[j] *= c->step;
        lattice_embed(c, r.v, r.from, r.rest);
        carried_log(c, r.isometry, 1, r.from, r.out, a, r.rest);
        lattice_clip(c, a);
    }
}

void lattice_mean_run(const struct lattice_mean *c, size_t n, const double *y, double *a, int64_t *sum,
                      struct host *host, double *work)
{
    run(c, n, y, NULL, a, sum, host, work);
}

void lattice_mean_of(const struct lattice_mean *c, size_t n, const struct lattice_records *records, double *a,
                     int64_t *sum, struct host *host, double *work)
{
    run(c, n, NULL, records, a, sum, host, work);
}
