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

/* ---- Stiefel manifolds: exp(X_a) I exp(-A), of the canonical metric without the right factor. A frame is its first p rows, then the
 * others, as two matrices. Exponentials act on frames by their series: X^j V stays in the span of V, the first p axes and B's columns. ---- */

static int euclidean(const struct mean_steps *c)
{
    return c->model == MODEL_FRAMES_EUCLIDEAN;
}

/* the first k with y^(k+1)/(k+1)! <= 2^-bits */
static int series_degree(double y, int bits)
{
    int k = 1;
    for (double term = 0.5 * y * y; term > ldexp(1, -bits); term *= y / (k + 1))
        k++;
    return k;
}

static struct frame_series series_within(double y)
{
    struct frame_series s = {.parts = y > 1.6 ? (int)ceil(y / 1.6) : 1};
    s.degree = series_degree(y / s.parts, 58);
    return s;
}

void frame_series(struct mean_steps *c)
{
    double r = c->radius < 8 ? c->radius : 8; /* bounds are for less */
    c->near = series_within((euclidean(c) ? 1.46 : 1.04) * r);
    c->far = series_within((euclidean(c) ? 3.15 : 2.23) * r);
    c->carry = series_degree(4.74 * r, 40);
}

/* of X = [cA -B'; B 0], whose coordinates are A below the diagonal by columns, then B by columns: cA and -B'B, side by side; returns B.
 * Euclidean metric: coordinates of A have the factor sqrt 2, and c = 2. */
static const double *frame_generator(const struct mean_steps *c, const double *a, double *x)
{
    size_t p = c->cols, l = c->rows - p, pp = p * p;
    for (size_t k = 0; k < p; k++) {
        x[k + k * p] = 0;
        for (size_t j = k + 1; j < p; j++) {
            double t = (euclidean(c) ? RIEMDP_SQRT2 : 1) * *a++;
            x[j + k * p] = t;
            x[k + j * p] = -t;
        }
    }
    la_mul('T', 'N', p, p, l, a, l, a, l, x + pp, p);
    for (size_t j = pp; j < 2 * pp; j++)
        x[j] = -x[j];
    return a;
}

/* c (p x p) = a b with inner dimension k; where there are few columns a call would take longer */
static void few_mul(size_t p, size_t k, const double *a, const double *b, double *c)
{
    if (p > 8) {
        la_mul('N', 'N', p, p, k, a, p, b, k, c, p);
        return;
    }
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            double s = 0;
            for (size_t g = 0; g < k; g++)
                s += a[i + g * p] * b[g + j * k];
            c[i + j * p] = s;
        }
}

/* exp(h X) v in place by Horner's rule for V + X V + ...: iterates are (u, v_2 + B t). l = 0: exp(h cA) v. work: 4 p^2 + l p */
static void turn_frame(size_t p, size_t l, struct frame_series s, double h, const double *x, const double *b, double *v, double *work)
{
    size_t pp = p * p, rows = l > 0 ? 2 * p : p;
    double *w = work, *ut = w + pp, *sum = ut + 2 * pp, *add = sum + pp;
    for (int part = 0; part < s.parts; part++) {
        la_mul('T', 'N', p, p, l, b, l, v + pp, l, w, p);
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < rows; j++)
                ut[j + k * rows] = j < p ? v[j + k * p] : 0;
        for (int i = s.degree; i > 0; i--) {
            double f = h / s.parts / i;
            few_mul(p, rows, x, ut, sum);
            for (size_t k = 0; k < p; k++) {
                double *u = ut + k * rows;
                for (size_t j = p; j < rows; j++)
                    u[j] = f * u[j - p];
                for (size_t j = 0; j < p; j++)
                    u[j] = v[j + k * p] + f * (sum[j + k * p] - w[j + k * p]);
            }
        }
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < p; j++)
                v[j + k * p] = ut[j + k * rows];
        la_mul('N', 'N', l, p, p, b, l, ut + p, rows, add, l);
        for (size_t j = 0; j < l * p; j++)
            v[pp + j] += add[j];
    }
}

/* exp(-h A), of the Euclidean metric */
static void frame_right(size_t p, struct frame_series s, double h, const double *x, double *right, double *work)
{
    for (size_t j = 0; j < p * p; j++)
        right[j] = j % (p + 1) == 0;
    turn_frame(p, 0, s, -0.5 * h, x, NULL, right, work);
}

/* v right, or right's transpose, in place. work: n p */
static void times_right(const struct mean_steps *c, char turned, const double *right, double *v, double *work)
{
    size_t p = c->cols, l = c->rows - p, pp = p * p;
    la_mul('N', turned, p, p, p, v, p, right, p, work, p);
    la_mul('N', turned, l, p, p, v + pp, l, right, p, work + pp, l);
    for (size_t j = 0; j < c->rows * p; j++)
        v[j] = work[j];
}

/* coordinates, the generator, and the right factor of the way there */
void frame_isometry(const struct mean_steps *c, const double *a, double *isometry, double *work)
{
    size_t p = c->cols;
    double *x = isometry + c->dim;
    for (size_t j = 0; j < c->dim; j++)
        isometry[j] = a[j];
    frame_generator(c, a, x);
    if (euclidean(c))
        frame_right(p, c->near, -1, x, x + 2 * p * p, work);
}

/* the skew part of a p x p matrix, in place */
static void skew_part(size_t p, double *q)
{
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j <= k; j++) {
            double t = 0.5 * (q[k + j * p] - q[j + k * p]);
            q[k + j * p] = t;
            q[j + k * p] = -t;
        }
}

/* q, tangent at exp(z) in the frame that is carried, goes back along the geodesic by parallel transport: exp of v -> (X v - v A)'s
 * tangent part, a series whose terms are (v_1, B r + q_2 s). work: 9 p^2 + n p */
static void frame_transport(const struct mean_steps *c, const double *x, const double *b, double *q, double *work)
{
    size_t p = c->cols, l = c->rows - p, pp = p * p;
    double *w = work, *v = w + pp, *r = v + pp, *s = r + pp, *sum_r = s + pp, *sum_s = sum_r + pp, *t = sum_s + pp, *e = t + pp, *add = e + pp;
    la_mul('T', 'N', p, p, l, b, l, q + pp, l, w, p);
    for (size_t j = 0; j < pp; j++) {
        v[j] = q[j];
        r[j] = sum_r[j] = 0;
        s[j] = sum_s[j] = j % (p + 1) == 0;
    }
    for (int i = 1; i <= c->carry; i++) {
        few_mul(p, p, x, v, e); /* 2 A v_1; v_1 A is half its transpose */
        for (size_t j = 0; j < pp; j++)
            e[j] *= 1.5;
        few_mul(p, p, x + pp, r, t);
        for (size_t j = 0; j < pp; j++)
            e[j] += t[j];
        few_mul(p, p, w, s, t);
        for (size_t j = 0; j < pp; j++)
            e[j] -= t[j];
        skew_part(p, e);
        few_mul(p, p, r, x, t);
        for (size_t j = 0; j < pp; j++)
            sum_r[j] += r[j] = (v[j] - 0.5 * t[j]) / i;
        few_mul(p, p, s, x, t);
        for (size_t j = 0; j < pp; j++) {
            sum_s[j] += s[j] = -0.5 * t[j] / i;
            q[j] += v[j] = e[j] / i;
        }
    }
    la_mul('N', 'N', l, p, p, q + pp, l, sum_s, p, add, l);
    for (size_t j = 0; j < l * p; j++)
        q[pp + j] = add[j];
    la_mul('N', 'N', l, p, p, b, l, sum_r, p, add, l);
    for (size_t j = 0; j < l * p; j++)
        q[pp + j] += add[j];
}

/* z goes on by the tangent part of what the isometry to exp(z) leaves of y. work: 12 p^2 + 2 n p */
static void frame_follow(const struct mean_steps *c, const double *y, double *z, double *work)
{
    size_t p = c->cols, l = c->rows - p, pp = p * p;
    double *x = work, *right = x + 2 * pp, *q = right + pp, *rest = q + c->rows * p;
    const double *b = frame_generator(c, z, x);
    for (size_t j = 0; j < c->rows * p; j++)
        q[j] = y[j];
    turn_frame(p, l, c->far, -1, x, b, q, rest);
    if (euclidean(c)) {
        frame_right(p, c->far, -1, x, right, rest);
        times_right(c, 'N', right, q, rest);
    }
    skew_part(p, q);
    if (euclidean(c))
        frame_transport(c, x, b, q, rest);
    for (size_t k = 0; k < p; k++)
        for (size_t j = k + 1; j < p; j++)
            *z++ += euclidean(c) ? RIEMDP_SQRT2 * q[j + k * p] : q[j + k * p];
    for (size_t j = 0; j < l * p; j++)
        z[j] += q[pp + j];
}

/* Coordinates of the point with coordinates y after the isometry from exp(a) to the centre, or back: its own go along the carried
 * geodesic from the centre, where they are -a (or a), to its end, a public number of small steps, then as many there. work: 15 p^2 + 3 n p */
void frame_log(const struct mean_steps *c, const double *isometry, int back, const double *y, double *z, double *work)
{
    size_t p = c->cols, l = c->rows - p, pp = p * p;
    const double *a = isometry, *xa = a + c->dim, *ba = a + c->dim - l * p;
    double *x = work, *right = x + 2 * pp, *carried = right + pp, *rest = carried + c->rows * p;
    const double *b = frame_generator(c, y, x);
    for (size_t j = 0; j < c->dim; j++)
        z[j] = back ? a[j] : -a[j];
    for (int i = 1; i <= 2 * c->terms; i++) {
        if (i <= c->terms) {
            double way = (double)i / c->terms;
            for (size_t j = 0; j < c->rows * p; j++)
                carried[j] = j < pp && j % (p + 1) == 0;
            turn_frame(p, l, c->near, way, x, b, carried, rest);
            if (euclidean(c)) {
                frame_right(p, c->near, way, x, right, rest);
                times_right(c, 'N', right, carried, rest);
            }
            turn_frame(p, l, c->near, back ? 1 : -1, xa, ba, carried, rest);
            if (euclidean(c))
                times_right(c, back ? 'T' : 'N', xa + 2 * pp, carried, rest);
        }
        frame_follow(c, carried, z, rest);
    }
}

/* ---- CP^n: one rotation in the plane of the centre and the target ------------------------------------------------------- */

/* the target's coordinates a, and cos|a|, sin|a|/|a|, (1 - cos|a|)/|a|^2 */
void make_turn(const struct mean_steps *c, const double *a, double *turn)
{
    double s = norm2(c->dim, a);
    turn[0] = cos(s);
    turn[1] = sinc(s);
    turn[2] = 0.5 * square(sinc(0.5 * s));
    for (size_t j = 0; j < c->dim; j++)
        turn[3 + j] = a[j];
}

/* Carries the target to the centre, or back with sign -1: y_0' = cos y_0 + sign S <a, y>, y' = y - (C <a, y> + sign S y_0) a, with
 * complex numbers in pairs, <a, y> = sum conj(a_j) y_j */
void turn_planar(const struct mean_steps *c, const double *turn, int back, const double *y, double *out)
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
void log_turned(const struct mean_steps *c, const double *y, double *a)
{
    size_t d = c->dim;
    double s = norm2(d, y + 2), r = norm2(2, y);
    int some = s > 0 && r > 0;
    double given[2] = {0.5, s}, over[2] = {0, 0};
    over[1] = atan2(given[some], r) / given[some]; /* as long where there is no angle */
    double f = over[some], re = r > 0 ? y[0] / r : 0, im = r > 0 ? -y[1] / r : 0;
    for (size_t j = 0; j < d; j += 2) {
        double u = y[j + 2], v = y[j + 3];
        a[j] = f * (re * u - im * v);
        a[j + 1] = f * (re * v + im * u);
    }
}
