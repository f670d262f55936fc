/* Exponentials and logarithms of symmetric matrices by power series alone, whose errors have a bound (inst/proofs/mean-solver.md). Lanes never
 * mix: each matrix gives the same bits whatever stands beside it. */
#include "mean_steps_definite.h"

#include "linalg_wide.h"
#include "manifold_spd.h"

int definite(const struct mean_steps *c)
{
    return c->model == MODEL_SPD || c->model == MODEL_HERMITIAN;
}

/* a Hermitian matrix as the real one of size k in which a number a + ib has the rows (a, -b), (b, a) */
static void complex_matrix_of(size_t k, const double *a, double *s)
{
    for (size_t j = 0; j < k; j += 2)
        for (size_t i = j; i < k; i += 2) {
            double re = i == j ? a[0] : a[0] / RIEMDP_SQRT2, im = i == j ? 0 : a[1] / RIEMDP_SQRT2;
            s[i + j * k] = s[i + 1 + (j + 1) * k] = s[j + i * k] = s[j + 1 + (i + 1) * k] = re;
            s[i + 1 + j * k] = s[j + (i + 1) * k] = im;
            s[i + (j + 1) * k] = s[j + 1 + i * k] = -im;
            a += i == j ? 1 : 2;
        }
}

static void complex_coords_of(size_t k, const double *s, double *a)
{
    for (size_t j = 0; j < k; j += 2)
        for (size_t i = j; i < k; i += 2) {
            const double *e = s + i + j * k;
            *a++ = (i == j ? 0.5 : RIEMDP_SQRT2 / 2) * (e[0] + e[k + 1]);
            if (i > j)
                *a++ = RIEMDP_SQRT2 / 2 * (e[1] - e[k]);
        }
}

/* k x k matrices of a group, one for the caller, one matrix alone, and the kernels' room */
struct group {
    const struct wide_kernels *of;
    size_t k, n; /* rows, entries */
    wide *x, *y, *z, *two, *before, *now, *sum, *h, *rest;
    double *one;
};

enum { GROUP_MATRICES = 9 }; /* the last one's room is the one alone */

size_t definite_room(const struct mean_steps *c)
{
    return WIDE * (GROUP_MATRICES * c->rows * c->rows + wide_work(c->rows) + 1);
}

static struct group make_group(const struct mean_steps *c, double *work)
{
    struct group g = {.of = wide_kernels(c->rows), .k = c->rows, .n = c->rows * c->rows, .x = wide_align(work)};
    g.y = g.x + g.n;
    g.z = g.y + g.n;
    g.two = g.z + g.n;
    g.before = g.two + g.n;
    g.now = g.before + g.n;
    g.sum = g.now + g.n;
    g.h = g.sum + g.n;
    g.one = (double *)(g.h + g.n);
    g.rest = g.h + 2 * g.n;
    return g;
}

static void symmetrize(size_t k, wide *a)
{
    for (size_t j = 1; j < k; j++)
        for (size_t i = 0; i < j; i++)
            a[i + j * k] = a[j + i * k] = 0.5 * (a[i + j * k] + a[j + i * k]);
}

static void mul(const struct group *g, const wide *a, const wide *b, wide *out)
{
    g->of->mul(g->k, WIDE, a, b, out, g->rest);
}

/* WIDE matrices, the last of `count` repeated */
static void load_group(const struct group *g, size_t count, const double *y, size_t apart, wide *out)
{
    for (size_t l = 0; l < WIDE; l++)
        wide_put(g->n, l, y + (l < count ? l : count - 1) * apart, out);
}

/* of coordinates */
static void load_coords(const struct mean_steps *c, const struct group *g, size_t count, const double *a, size_t apart, wide *out)
{
    for (size_t l = 0; l < WIDE; l++) {
        if (l < count)
            (c->model == MODEL_HERMITIAN ? complex_matrix_of : sym_from_coords)(g->k, a + l * apart, g->one);
        wide_put(g->n, l, g->one, out);
    }
}

/* exp(scale A) in g->y for symmetric A in g->x with |scale A| <= 2 radius, of Hermitian ones sqrt(2) times that as a real matrix: Taylor
 * polynomial of degree 14 at 2^-s of it, squared s times */
static void group_exp(const struct mean_steps *c, double scale, const struct group *g)
{
    enum { DEGREE = 14 };
    wide *x = g->x, *y = g->y, *t = g->z;
    int squarings = 0;
    while (ldexp((c->model == MODEL_HERMITIAN ? 2 * RIEMDP_SQRT2 : 2) * c->radius, -squarings) > 0.5)
        squarings++;
    double small = ldexp(1, -squarings);
    for (size_t j = 0; j < g->n; j++) {
        x[j] = scale * x[j] * small;
        y[j] = x[j] / DEGREE + (j % (g->k + 1) == 0);
    }
    for (int i = DEGREE - 1; i > 0; i--) {
        mul(g, x, y, t);
        for (size_t j = 0; j < g->n; j++)
            y[j] = t[j] / i + (j % (g->k + 1) == 0);
    }
    symmetrize(g->k, y);
    for (int i = 0; i < squarings; i++) {
        mul(g, y, y, t);
        symmetrize(g->k, t);
        for (size_t j = 0; j < g->n; j++)
            y[j] = t[j];
    }
}

void definite_embed(const struct mean_steps *c, size_t n, const double *a, size_t a_apart, double *y, size_t y_apart, double *work)
{
    struct group g = make_group(c, work);
    for (size_t i = 0; i < n; i += WIDE) {
        size_t count = n - i < WIDE ? n - i : WIDE;
        load_coords(c, &g, count, a + i * a_apart, a_apart, g.x);
        group_exp(c, 1, &g);
        for (size_t l = 0; l < count; l++)
            wide_take(g.n, l, g.y, y + (i + l) * y_apart);
    }
}

void definite_isometry(const struct mean_steps *c, const double *a, double *isometry, double *work)
{
    struct group g = make_group(c, work);
    for (int back = 0; back < 2; back++) {
        load_coords(c, &g, 1, a, 0, g.x);
        group_exp(c, back ? 0.5 : -0.5, &g);
        wide_take(g.n, 0, g.y, isometry + (size_t)back * g.n);
    }
}

/* ---- log X = 2 atanh(Z), Z = I - 2 (X + I)^-1, as 4 sum_j b^(2j+1)/(2j+1) T_(2j+1)(Z/tau), tau = 2b/(1 + b^2) ---------------------- */

/* what is left out after so many terms */
static double remainder_of(double base, int terms)
{
    double length = 2 * (double)terms + 1;
    return 4 * pow(base, length) / (length * (1 - square(base)));
}

/* Number i is for matrices Z whose spectral norm is no more than `range`. As precise as the first, which is for all of the ball. */
void definite_series(struct mean_steps *c)
{
    double half = 2 * atanh(c->base), slack = remainder_of(c->base, c->terms);
    for (int i = 0; i < SERIES; i++) {
        double b = i ? tanh(0.5 * half * exp2(-0.5 * i)) : c->base;
        int terms = i ? 1 : c->terms;
        while (terms < c->terms && !(remainder_of(b, terms) <= slack * (1 - 1e-6)))
            terms++;
        c->series[i] = (struct log_series){.base = b, .terms = terms, .range = 2 * b / (1 + b * b) * (1 - 1e-9)};
    }
}

/* The shortest series that is meant for each of the first `count` matrices in g->z, whose squares come to g->y: by the Frobenius norm of
 * the fourth power, whose fourth root is near the largest eigenvalue. */
static void choose_series(const struct mean_steps *c, const struct group *g, size_t count, int *which)
{
    wide squares = {0};
    mul(g, g->z, g->z, g->y);
    symmetrize(g->k, g->y);
    mul(g, g->y, g->y, g->two);
    for (size_t j = 0; j < g->n; j++)
        squares += g->two[j] * g->two[j];
    for (size_t l = 0; l < count; l++) {
        which[l] = 0;
        while (!c->even && g->k <= 2000 && which[l] + 1 < SERIES && squares[l] <= pow(c->series[which[l] + 1].range, 8))
            which[l]++;
        if (c->used)
            c->used[which[l]]++;
    }
}

/* the series at g->z, whose squares are in g->y, in g->sum */
static void sum_series(const struct group *g, const struct log_series *s)
{
    size_t n = g->n;
    double tau = 2 * s->base / (1 + square(s->base)), power = s->base, b2 = square(s->base);
    wide *two = g->two, *before = g->before, *now = g->now, *sum = g->sum, *t = g->x;
    double scale = 2 / square(tau);
    for (size_t j = 0; j < n; j++) {
        t[j] = g->z[j] / tau;
        two[j] = scale * g->y[j] - (j % (g->k + 1) == 0); /* T_2 */
        before[j] = now[j] = t[j];                        /* T_-1 and T_1 */
        sum[j] = 4 * power * t[j];
    }
    for (int i = 1; i < s->terms; i++) {
        power *= b2;
        double f = 4 * power / (2 * i + 1);
        mul(g, two, now, t);
        for (size_t j = 0; j < n; j++) {
            wide next = 2 * t[j] - before[j];
            before[j] = now[j];
            now[j] = next;
            sum[j] += f * next;
        }
    }
    symmetrize(g->k, sum);
}

/* coordinates of log X, X in g->x */
static void group_logs(const struct mean_steps *c, const struct group *g, size_t count, double *v, size_t apart)
{
    int which[WIDE];
    size_t k = g->k, n = g->n;
    for (size_t j = 0; j < n; j += k + 1)
        g->x[j] += 1;
    if (g->of->chol(k, WIDE, g->x, g->x, g->sum, g->rest) != STATUS_OK) { /* can't be: all eigenvalues are above 1 */
        for (size_t l = 0; l < count; l++)
            for (size_t j = 0; j < c->dim; j++)
                v[l * apart + j] = 0;
        return;
    }
    g->of->inverse(k, WIDE, g->x, g->sum, g->z, g->rest);
    wide_mirror(k, g->z);
    for (size_t j = 0; j < n; j++)
        g->z[j] = (j % (k + 1) == 0) - 2 * g->z[j];
    choose_series(c, g, count, which);
    for (int i = 0; i < SERIES; i++) {
        int made = 0;
        for (size_t l = 0; l < count; l++) {
            if (which[l] != i)
                continue;
            if (!made)
                sum_series(g, c->series + i);
            made = 1;
            wide_take(n, l, g->sum, g->one);
            (c->model == MODEL_HERMITIAN ? complex_coords_of : sym_to_coords)(k, g->one, v + l * apart);
        }
    }
}

void definite_logs(const struct mean_steps *c, const double *isometry, int back, size_t n, const double *y, size_t y_apart, double *v,
                   size_t v_apart, double *work)
{
    struct group g = make_group(c, work);
    load_group(&g, 1, isometry + (back ? g.n : 0), 0, g.h);
    for (size_t i = 0; i < n; i += WIDE) {
        size_t count = n - i < WIDE ? n - i : WIDE;
        load_group(&g, count, y + i * y_apart, y_apart, g.x);
        mul(&g, g.h, g.x, g.z);
        mul(&g, g.z, g.h, g.x);
        symmetrize(g.k, g.x);
        group_logs(c, &g, count, v + i * v_apart, v_apart);
    }
}
