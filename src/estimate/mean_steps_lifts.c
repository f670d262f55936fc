/* Models of the mean's steps whose points are frames or factors: subspaces, Bures-Wasserstein, Stiefel. inst/proofs/mean-solver.md. */
#include "mean_steps_lifts.h"

#include "linalg.h"

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
void subspace_exp(const struct mean_steps *c, const double *b, double *y, double *work)
{
    size_t p = c->cols, l = c->rows - p, n = p * p;
    double *x = work, *f = x + n, *t = f + n;
    gram(l, p, b, x);
    matrix_series(SERIES_COS, SUBSPACE_TERMS, p, x, y, t);
    matrix_series(SERIES_SINC, SUBSPACE_TERMS, p, x, f, t);
    la_mul('N', 'N', l, p, p, b, l, f, p, y + n, l);
}

/* cos, sinc and versine of the target's coordinates, and those */
void make_subspace_turn(const struct mean_steps *c, const double *b, double *turn, double *work)
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
void turn_subspace(const struct mean_steps *c, const double *turn, int back, const double *y, double *out,
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
void subspace_log(const struct mean_steps *c, const double *y, double *a, double *work)
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

/* ---- Bures-Wasserstein: a point P = A A' is known by a factor, and distances are those of factors; the centre's is diag(root) ---- */

/* A = diag(root) + Z, Z the horizontal matrix with coordinates a */
void bures_factor(const struct mean_steps *c, const double *a, double *y)
{
    size_t k = c->rows;
    const double *root = c->root;
    for (size_t j = 0; j < k; j++) {
        y[j + j * k] = root[j] + *a++;
        for (size_t i = j + 1; i < k; i++) {
            double part = *a++ / sqrt(square(root[i]) + square(root[j]));
            y[i + j * k] = part * root[j];
            y[j + i * k] = part * root[i];
        }
    }
}

/* the coordinates of the horizontal part of Z at the centre */
void bures_coords(const struct mean_steps *c, const double *z, double *a)
{
    size_t k = c->rows;
    const double *root = c->root;
    for (size_t j = 0; j < k; j++) {
        *a++ = z[j + j * k];
        for (size_t i = j + 1; i < k; i++)
            *a++ = (root[j] * z[i + j * k] + root[i] * z[j + i * k]) / sqrt(square(root[i]) + square(root[j]));
    }
}

/* The logarithm of Y Y' at B B', lifted to B: Y U' - B, U the orthogonal polar factor of B'Y, by steps X (3 - X'X)/2 whose number is
 * public. b: NULL for the centre's factor. */
void bures_log(const struct mean_steps *c, const double *b, const double *y, double *out, double *work)
{
    size_t k = c->rows, n = k * k;
    double *x = work, *g = x + n, *t = g + n;
    if (b)
        la_mul_square('T', 'N', k, b, y, x);
    for (size_t j = 0; j < n; j++)
        x[j] = c->scale * (b ? x[j] : c->root[j % k] * y[j]);
    for (int i = 0; i < c->terms; i++) {
        la_mul_square('T', 'N', k, x, x, g);
        for (size_t j = 0; j < n; j++)
            g[j] = (j % (k + 1) == 0 ? 1.5 : 0) - 0.5 * g[j];
        la_mul_square('N', 'N', k, x, g, t);
        for (size_t j = 0; j < n; j++)
            x[j] = t[j];
    }
    la_mul_square('N', 'T', k, y, x, out);
    for (size_t j = 0; j < n; j++)
        out[j] -= b ? b[j] : j % (k + 1) == 0 ? c->root[j % k] : 0;
}

/* ---- Stiefel manifolds: exp(X_a) I exp(-A), of the canonical metric without the right factor ------------------------------------------ */

static int euclidean(const struct mean_steps *c)
{
    return c->model == STEPS_STIEFEL_EUCLIDEAN;
}

/* entries of A in units of its coordinates: of length sqrt 2 in the Euclidean metric, where X has 2A */
static double unit_of(const struct mean_steps *c)
{
    return euclidean(c) ? 1 / RIEMDP_SQRT2 : 1;
}

/* scale times the skew matrix X = [cA -B'; B 0] of coordinates: A below the diagonal by columns, then B by columns */
static void frame_skew(const struct mean_steps *c, double scale, const double *a, double *x)
{
    size_t n = c->rows, p = c->cols;
    double first = scale * (euclidean(c) ? RIEMDP_SQRT2 : 1);
    for (size_t j = 0; j < n * n; j++)
        x[j] = 0;
    for (int part = 0; part < 2; part++)
        for (size_t k = 0; k < p; k++)
            for (size_t j = part ? p : k + 1; j < (part ? n : p); j++) {
                double t = (part ? scale : first) * *a++;
                x[j + k * n] = t;
                x[k + j * n] = -t;
            }
}

/* exp(2^s x): Taylor polynomial of degree 14, squared s times; t: n^2 */
static void series_exp(size_t n, int squarings, const double *x, double *out, double *t)
{
    enum { DEGREE = 14 };
    size_t m = n * n;
    for (size_t j = 0; j < m; j++)
        out[j] = x[j] / DEGREE + (j % (n + 1) == 0);
    for (int i = DEGREE - 1; i > 0; i--) {
        la_mul_square('N', 'N', n, x, out, t);
        for (size_t j = 0; j < m; j++)
            out[j] = t[j] / i + (j % (n + 1) == 0);
    }
    for (int i = 0; i < squarings; i++) {
        la_mul_square('N', 'N', n, out, out, t);
        for (size_t j = 0; j < m; j++)
            out[j] = t[j];
    }
}

/* the left factor exp(scale X) and, of the Euclidean metric, the right one exp(-scale A). work: 2 n^2 */
static void frame_exp(const struct mean_steps *c, double scale, const double *a, double *left, double *right, double *work)
{
    size_t n = c->rows, p = c->cols;
    double *x = work;
    int squarings = 0;
    while (ldexp((euclidean(c) ? 4.45 : 3.15) * c->radius, -squarings) > 0.5)
        squarings++;
    frame_skew(c, ldexp(scale, -squarings), a, x);
    series_exp(n, squarings, x, left, x + n * n);
    if (!euclidean(c))
        return;
    double small = -ldexp(scale, -squarings) * unit_of(c);
    for (size_t k = 0; k < p; k++) {
        x[k + k * p] = 0;
        for (size_t j = k + 1; j < p; j++) {
            x[j + k * p] = small * *a++;
            x[k + j * p] = -x[j + k * p];
        }
    }
    series_exp(p, squarings, x, right, x + n * n);
}

/* left y right, or with their transposes. t: n p */
static void two_sided(const struct mean_steps *c, char turned, const double *left, const double *right, const double *y,
                      double *out, double *t)
{
    size_t n = c->rows, p = c->cols;
    la_mul(turned, 'N', n, p, n, left, n, y, n, euclidean(c) ? t : out, n);
    if (euclidean(c))
        la_mul('N', turned, n, p, p, t, n, right, p, out, n);
}

void frame_embed(const struct mean_steps *c, const double *a, double *y, double *work)
{
    size_t n = c->rows, p = c->cols, np = n * p;
    double *left = work, *right = left + n * n, *rest = right + p * p;
    frame_exp(c, 1, a, left, right, rest);
    if (euclidean(c))
        la_mul('N', 'N', n, p, p, left, n, right, p, y, n);
    for (size_t j = 0; j < np && !euclidean(c); j++)
        y[j] = left[j];
    for (size_t j = 0; j < c->dim; j++)
        y[np + j] = a[j];
}

void frame_isometry(const struct mean_steps *c, const double *a, double *isometry, double *work)
{
    size_t m = c->rows * c->rows, pp = c->cols * c->cols;
    frame_exp(c, -1, a, isometry, isometry + m, work);
    for (size_t j = 0; j < c->dim; j++)
        isometry[m + pp + j] = a[j];
}

/* the tangent part at the centre, in place */
static void frame_tangent(size_t n, size_t p, double *q)
{
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j <= k; j++) {
            double t = 0.5 * (q[k + j * n] - q[j + k * n]);
            q[k + j * n] = t;
            q[j + k * n] = -t;
        }
}

/* q, tangent at exp(z) in the frame that is carried, goes back along the geodesic by parallel transport: exp of v -> (X v - v A)'s
 * tangent part, a series. x: n^2, t: 2 n p */
static void frame_transport(const struct mean_steps *c, const double *z, double *q, double *x, double *t)
{
    enum { TERMS = 30 };
    size_t n = c->rows, p = c->cols, np = n * p;
    double *term = t, *next = t + np;
    frame_skew(c, 1, z, x);
    for (size_t j = 0; j < np; j++)
        term[j] = q[j];
    for (int i = 1; i <= TERMS; i++) {
        la_mul('N', 'N', n, p, n, x, n, term, n, next, n);
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++) /* A is half of X's first block */
                for (size_t j = 0; j < n; j++)
                    next[j + k * n] -= term[j + l * n] * 0.5 * x[l + k * n];
        frame_tangent(n, p, next);
        for (size_t j = 0; j < np; j++) {
            term[j] = next[j] / i;
            q[j] += term[j];
        }
    }
}

/* z goes on by the tangent part of what the isometry to exp(z) leaves of y. work: 3 n^2 + p^2 + 3 n p */
static void frame_follow(const struct mean_steps *c, const double *y, double *z, double *work)
{
    size_t n = c->rows, p = c->cols;
    double *left = work, *right = left + n * n, *q = right + p * p, *t = q + n * p, *rest = t + 2 * n * p;
    frame_exp(c, -1, z, left, right, rest);
    two_sided(c, 'N', left, right, y, q, t);
    frame_tangent(n, p, q);
    if (euclidean(c))
        frame_transport(c, z, q, left, t);
    for (size_t k = 0; k < p; k++)
        for (size_t j = k + 1; j < p; j++)
            *z++ += euclidean(c) ? RIEMDP_SQRT2 * q[j + k * n] : q[j + k * n];
    for (size_t k = 0; k < p; k++)
        for (size_t j = p; j < n; j++)
            *z++ += q[j + k * n];
}

/* Coordinates of y's point after the isometry from exp(a) to the centre, or back: its own go along the carried geodesic from the centre,
 * where they are -a (or a), to y, a public number of small steps, then as many where it ends. */
void frame_log(const struct mean_steps *c, const double *isometry, int back, const double *y, double *z, double *work)
{
    size_t n = c->rows, p = c->cols, m = n * n, np = n * p, pp = p * p;
    const double *a = isometry + m + pp;
    double *left = work, *right = left + m, *way = right + pp, *next = way + np, *carried = next + np, *t = carried + np,
           *rest = t + np;
    for (size_t j = 0; j < c->dim; j++)
        z[j] = back ? a[j] : -a[j];
    frame_exp(c, 1.0 / c->terms, y + np, left, right, rest);
    for (size_t j = 0; j < np; j++)
        way[j] = j % (n + 1) == 0;
    for (int i = 1; i <= 2 * c->terms; i++) {
        if (i <= c->terms) {
            const double *at = y; /* the end itself, without the errors of the way */
            if (i < c->terms) {
                two_sided(c, 'N', left, right, way, next, t);
                for (size_t j = 0; j < np; j++)
                    way[j] = next[j];
                at = way;
            }
            two_sided(c, back ? 'T' : 'N', isometry, isometry + m, at, carried, t);
        }
        frame_follow(c, carried, z, rest);
    }
}
