/* Positive definite matrices, affine-invariant metric. Stored matrices are what their lower triangles say. Factors, eigenvectors and
 * eigenvalues are found in twofold numbers without any proof and then taken as exact: what they are wrong by is proven by residuals,
 * which are products of exact matrices (inst/proofs/certified-digits.md, section 3). Matrices are by columns. */
#include "manifold_certified.h"

static size_t work_size(manifold_t m)
{
    return 6 * m->ambient + m->rows;
}

static double lower(size_t k, const double *x, size_t i, size_t j)
{
    return i < j ? x[j + i * k] : x[i + j * k];
}

static double frobenius(size_t n, const tf *a)
{
    return tf_most(tf_norm(n, a));
}

/* Cholesky factor, about; whether there is one */
static int factor(size_t k, const double *x, tf *l)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf s = i < j ? tf_of(0) : tf_of(x[i + j * k]);
            for (size_t r = 0; r < j && i >= j; r++)
                s = tf_centre(tf_subtract(s, tf_multiply(l[i + r * k], l[j + r * k])));
            if (i == j && !(s.hi > 0))
                return 0;
            l[i + j * k] = tf_centre(i == j ? tf_root(s) : i > j ? tf_divide(s, l[j + j * k]) : s);
        }
    return 1;
}

/* X V X' to s; t: k^2 */
static void carry(size_t k, const tf *x, const double *v, tf *s, tf *t)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            t[i + j * k] = tf_of(0);
            for (size_t r = 0; r <= i; r++)
                t[i + j * k] = tf_add(t[i + j * k], tf_multiply(x[i + r * k], tf_of(lower(k, v, r, j))));
        }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            s[i + j * k] = tf_of(0);
            for (size_t r = 0; r <= j; r++)
                s[i + j * k] = tf_add(s[i + j * k], tf_multiply(t[i + r * k], x[j + r * k]));
        }
}

/* X, exact and about the inverse of P's factor, for which X P X' = I + R; above |R|, which is also above |C| of the frame (I + C) X
 * that takes P to I. s, t: k^2. */
static double frame(size_t k, const double *p, tf *x, tf *s, tf *t)
{
    if (!factor(k, p, s))
        return INFINITY;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf a = tf_of(i == j);
            for (size_t r = j; r < i; r++)
                a = tf_centre(tf_subtract(a, tf_multiply(s[i + r * k], x[r + j * k])));
            x[i + j * k] = i < j ? tf_of(0) : tf_centre(tf_divide(a, s[i + i * k]));
        }
    carry(k, x, p, s, t);
    for (size_t j = 0; j < k; j++)
        s[j + j * k] = tf_subtract(s[j + j * k], tf_of(1));
    double off = frobenius(k * k, s);
    return off < 0.3 ? off : INFINITY;
}

static void turn(size_t k, tf cosine, tf sine, tf *x, tf *z)
{
    for (size_t e = 0; e < k; e++) {
        tf t = tf_subtract(tf_multiply(cosine, x[e]), tf_multiply(sine, z[e]));
        z[e] = tf_centre(tf_add(tf_multiply(sine, x[e]), tf_multiply(cosine, z[e])));
        x[e] = tf_centre(t);
    }
}

/* Rotates rows (k numbers in a row) of x until they are orthogonal (Hestenes 1958), and those of u, the identity at first, with them. */
static void rotate(size_t k, tf *x, tf *u)
{
    for (size_t j = 0; j < k * k; j++) {
        x[j] = tf_centre(x[j]);
        u[j] = tf_of(j % (k + 1) == 0);
    }
    for (int sweep = 0, turned = 1; sweep < 40 && turned; sweep++) {
        turned = 0;
        for (size_t i = 0; i + 1 < k; i++)
            for (size_t j = i + 1; j < k; j++) {
                tf *y = x + i * k, *z = x + j * k, a = tf_dot(k, y, y), d = tf_dot(k, z, z), g = tf_dot(k, y, z), one = tf_of(1);
                if (fabs(g.hi) <= 0x1p-102 * sqrt(a.hi) * sqrt(d.hi))
                    continue;
                turned = 1;
                tf h = tf_divide(tf_subtract(d, a), tf_multiply(tf_of(2), g));
                tf t = tf_divide(one, tf_add(h.hi < 0 ? tf_negative(h) : h, tf_root(tf_add(one, tf_multiply(h, h)))));
                tf cosine = tf_divide(one, tf_root(tf_add(one, tf_multiply(t, t))));
                tf sine = tf_multiply(cosine, h.hi < 0 ? tf_negative(t) : t);
                turn(k, cosine, sine, y, z);
                turn(k, cosine, sine, u + i * k, u + j * k);
            }
    }
}

/* U'U - I of the rows of u: the norm, which is also one of the root of U'U less I */
static double skewness(size_t k, const tf *u, tf *t)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            t[i + j * k] = tf_subtract(tf_dot(k, u + i * k, u + j * k), tf_of(i == j));
    return frobenius(k * k, t);
}

/* Above the distance of Y from the point that the frame takes to W exp(f) W', W the orthogonal polar factor of U, whose columns are the
 * rows of u. off: of frame(); skew: of U; t, g: k^2 */
static double residual(size_t k, const tf *x, double off, const tf *u, const tf *f, double skew, const double *y, tf *t, tf *g)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < k; i++) {
        tf scale = tf_exp(tf_multiply(tf_of(-0.5), f[i]));
        low = fmin(low, f[i].hi);
        high = fmax(high, f[i].hi);
        for (size_t j = 0; j < k; j++) /* row i of exp(-f/2) U'X */
            t[j + i * k] = tf_multiply(scale, tf_dot(k, u + i * k, x + j * k));
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            g[i + j * k] = tf_of(0);
            for (size_t r = 0; r < k; r++)
                g[i + j * k] = tf_add(g[i + j * k], tf_multiply(tf_of(lower(k, y, r, i)), t[r + j * k]));
        }
    tf sum = tf_of(0);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf e = tf_subtract(tf_dot(k, t + i * k, g + j * k), tf_of(i == j));
            sum = tf_add(sum, tf_multiply(e, e));
        }
    double spread = tf_most(tf_exp(tf_of(0.5 * (high - low) + 0x1p-20))), rest = tf_most(tf_root(sum));
    if (!(skew < 0.1))
        return INFINITY;
    spread = tf_up(spread * tf_up(off + (1 + off) * skew / (1 - skew)));
    rest = tf_up((1 + spread) * (1 + spread) * rest + 2 * spread + spread * spread);
    return rest < 0.5 ? tf_up(rest / (1 - rest)) : INFINITY;
}

/* U f U' to t; by how much it may be off from W f W' */
static double spectral(size_t k, const tf *u, const tf *f, double skew, tf *t)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf s = tf_of(0);
            for (size_t r = 0; r < k; r++)
                s = tf_add(s, tf_multiply(f[r], tf_multiply(u[i + r * k], u[j + r * k])));
            t[i + j * k] = s;
        }
    return tf_up(skew * (2 + skew) * frobenius(k, f));
}

/* About the logarithms f of the eigenvalues of X Q X' and its eigenvectors, the rows of u. Above the distance of Q from the point that
 * they stand for, as residual() says. s, t: k^2 */
static double spectrum(size_t k, const tf *x, double off, const double *q, tf *u, tf *f, double *skew, tf *s, tf *t)
{
    if (!factor(k, q, s))
        return INFINITY;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) { /* rows of X L_Q */
            t[j + i * k] = tf_of(0);
            for (size_t r = j; r <= i; r++)
                t[j + i * k] = tf_add(t[j + i * k], tf_multiply(x[i + r * k], s[r + j * k]));
        }
    rotate(k, t, u);
    for (size_t j = 0; j < k; j++)
        f[j] = tf_centre(tf_log(tf_dot(k, t + j * k, t + j * k)));
    *skew = skewness(k, u, t);
    return residual(k, x, off, u, f, *skew, q, s, t);
}

static double spd_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    size_t k = m->rows, n = m->ambient;
    tf *x = work, *u = x + n, *s = u + n, *t = s + n, *f = t + n;
    double off = frame(k, p, x, s, t), size = 0, skew, slack;
    if (!(off < INFINITY))
        return INFINITY;
    slack = spectrum(k, x, off, q, u, f, &skew, s, t);
    if (!(slack < INFINITY))
        return INFINITY;
    slack = tf_up(slack + spectral(k, u, f, skew, a));
    if (v) {
        carry(k, x, v, s, t);
        size = frobenius(n, s);
        for (size_t j = 0; j < n; j++)
            a[j] = tf_subtract(a[j], s[j]);
    }
    return tf_up(slack + (2 + off) * off * size);
}

/* Eigenvectors of S are those of S + c I, a positive definite matrix, whose rows rotations make orthogonal. */
static double spd_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    size_t k = m->rows, n = m->ambient;
    tf *x = work, *rows = x + n, *u = rows + n, *s = u + n, *t = s + n, *g = t + n, *f = g + n;
    double off = frame(k, p, x, s, t);
    if (!(off < INFINITY))
        return INFINITY;
    carry(k, x, v, s, t);
    double size = frobenius(n, s), shift = size + 1;
    for (size_t j = 0; j < n; j++)
        rows[j] = tf_add(s[j], tf_of(j % (k + 1) == 0 ? shift : 0));
    rotate(k, rows, u);
    for (size_t j = 0; j < k; j++)
        f[j] = tf_centre(tf_subtract(tf_norm(k, rows + j * k), tf_of(shift)));
    double skew = skewness(k, u, t), rest = residual(k, x, off, u, f, skew, y, t, g), slack = spectral(k, u, f, skew, t);
    for (size_t j = 0; j < n; j++)
        t[j] = tf_subtract(s[j], t[j]);
    slack = tf_up(slack + (2 + off) * off * size + frobenius(n, t));
    /* exp stretches by at most sinh(r)/r, r = root(1/2) times the length, as curvature is at least -1/2 */
    double rate = tf_up(0.70711 * fmax(size * (1 + off) * (1 + off), frobenius(k, f))) + 1e-3;
    tf sine, cosine;
    tf_sines(1, tf_of(rate), &sine, &cosine);
    return tf_up(rest + slack * tf_most(tf_divide(sine, tf_of(rate))));
}

const struct certified certified_spd_affine = {work_size, spd_log, spd_exp, NULL};

/* ---- Log-Euclidean metric: |log Q - log P - D log_P V| is the error of all three maps ---------------------------------------------- */

/* U (F o U'VU) U' to s, F the derivative of log in the basis U of P, which is off by `off`; by how much it may be off. t: k^2 */
static double log_derivative(size_t k, const tf *u, const tf *f, double skew, double off, const double *v, tf *s, tf *t)
{
    double size = 0, steepest = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf a = tf_of(0);
            for (size_t r = 0; r < k; r++)
                a = tf_add(a, tf_multiply(tf_of(lower(k, v, i, r)), u[r + j * k]));
            t[i + j * k] = a;
            size = tf_up(size + fabs(v[i + j * k]) + fabs(v[j + i * k]));
        }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf middle = tf_multiply(tf_of(0.5), tf_add(f[i], f[j])), h = tf_multiply(tf_of(0.5), tf_subtract(f[i], f[j])), c;
            tf slope = tf_exp(tf_negative(middle)), sine = h;
            if (tf_most(h) < 1e-20) {
                slope = tf_multiply(slope, tf_widen(tf_of(1), square(tf_most(h)))); /* h/sinh h */
            } else {
                tf_sines(1, h, &sine, &c);
                slope = tf_multiply(slope, tf_divide(h, sine));
            }
            steepest = fmax(steepest, tf_most(slope));
            s[i + j * k] = tf_multiply(slope, tf_dot(k, u + i * k, t + j * k));
        }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            t[i + j * k] = tf_of(0);
            for (size_t r = 0; r < k; r++)
                t[i + j * k] = tf_add(t[i + j * k], tf_multiply(u[i + r * k], s[r + j * k]));
        }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            s[i + j * k] = tf_of(0);
            for (size_t r = 0; r < k; r++)
                s[i + j * k] = tf_add(s[i + j * k], tf_multiply(t[i + r * k], u[j + r * k]));
        }
    return off < 0.1 && skew < 0.1 ? tf_up(steepest * size * tf_up(5 * skew + 3 * off)) : INFINITY;
}

static double logeuclidean_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    size_t k = m->rows, n = m->ambient;
    tf *x = work, *u = x + n, *s = u + n, *t = s + n, *f = t + n;
    double skew;
    for (size_t j = 0; j < n; j++)
        x[j] = tf_of(j % (k + 1) == 0);
    double slack = spectrum(k, x, 0, q, u, f, &skew, s, t);
    if (!(slack < INFINITY))
        return INFINITY;
    slack = tf_up(slack + spectral(k, u, f, skew, a));
    double off = spectrum(k, x, 0, p, u, f, &skew, s, t);
    if (!(off < INFINITY))
        return INFINITY;
    slack = tf_up(slack + off + spectral(k, u, f, skew, s));
    for (size_t j = 0; j < n; j++)
        a[j] = tf_subtract(a[j], s[j]);
    if (!v || !(slack < INFINITY))
        return slack;
    slack = tf_up(slack + log_derivative(k, u, f, skew, off, v, s, t));
    for (size_t j = 0; j < n; j++)
        a[j] = tf_subtract(a[j], s[j]);
    return slack;
}

static double logeuclidean_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    double slack = logeuclidean_log(m, work, p, y, v, work + m->ambient);
    return tf_up(frobenius(m->ambient, work) + slack);
}

const struct certified certified_spd_logeuclidean = {work_size, logeuclidean_log, logeuclidean_exp, NULL};
