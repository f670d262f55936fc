/* Positive definite matrices, affine-invariant metric. Stored matrices are what their lower triangles say. With P = L L' everything
 * happens in the frame of L, where P is the identity: eigenvectors and eigenvalues are found in twofold numbers without any proof, and
 * how far L U exp(f) U' L' is from a matrix is then proven by its residual (inst/proofs/certified-digits.md, section 3). */
#include "manifold_certified.h"

static size_t work_size(manifold_t m)
{
    return 6 * m->ambient + m->rows;
}

/* Cholesky factor, rows x columns of twofolds by columns, zeros above; whether there is one */
static int factor(size_t k, const double *x, tf *l)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf s = i < j ? tf_of(0) : tf_of(x[i + j * k]);
            for (size_t r = 0; r < j && i >= j; r++)
                s = tf_subtract(s, tf_multiply(l[i + r * k], l[j + r * k]));
            if (i == j) {
                if (!(s.hi > 0) || !(tf_least(s) > 0))
                    return 0;
                s = tf_root(s);
            } else if (i > j) {
                s = tf_divide(s, l[j + j * k]);
            }
            l[i + j * k] = s;
        }
    return 1;
}

/* L^-1 b, and L'^-1 b, in place */
static void solve(size_t k, const tf *l, tf *b)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t r = 0; r < i; r++)
            b[i] = tf_subtract(b[i], tf_multiply(l[i + r * k], b[r]));
        b[i] = tf_divide(b[i], l[i + i * k]);
    }
}

static void solve_back(size_t k, const tf *l, tf *b)
{
    for (size_t i = k; i-- > 0;) {
        for (size_t r = i + 1; r < k; r++)
            b[i] = tf_subtract(b[i], tf_multiply(l[r + i * k], b[r]));
        b[i] = tf_divide(b[i], l[i + i * k]);
    }
}

static double lower(size_t k, const double *x, size_t i, size_t j)
{
    return i < j ? x[j + i * k] : x[i + j * k];
}

static void transpose(size_t k, tf *a)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < j; i++) {
            tf t = a[i + j * k];
            a[i + j * k] = a[j + i * k];
            a[j + i * k] = t;
        }
}

/* L^-1 V L'^-1 */
static void whiten(size_t k, const tf *l, const double *v, tf *s)
{
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++)
            s[i + j * k] = tf_of(lower(k, v, i, j));
        solve(k, l, s + j * k);
    }
    transpose(k, s);
    for (size_t j = 0; j < k; j++)
        solve(k, l, s + j * k);
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

static double frobenius(size_t n, const tf *a)
{
    return tf_most(tf_norm(n, a));
}

/* U'U - I of the rows of u: the norm, which is also one of the root of U'U less I */
static double skewness(size_t k, const tf *u, tf *t)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            t[i + j * k] = tf_subtract(tf_dot(k, u + i * k, u + j * k), tf_of(i == j));
    return frobenius(k * k, t);
}

/* Above the distance of Y from L W exp(f) W' L', W the orthogonal polar factor of U. The rows of u are columns of U, f is exact. t, g: k^2. */
static double residual(size_t k, const tf *l, const tf *u, const tf *f, double skew, const double *y, tf *t, tf *g)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < k; i++) {
        tf scale = tf_exp(tf_multiply(tf_of(-0.5), f[i]));
        low = fmin(low, f[i].hi);
        high = fmax(high, f[i].hi);
        for (size_t j = 0; j < k; j++)
            t[j + i * k] = u[j + i * k];
        solve_back(k, l, t + i * k);
        for (size_t j = 0; j < k; j++)
            t[j + i * k] = tf_multiply(scale, t[j + i * k]);
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf s = tf_of(0);
            for (size_t r = 0; r < k; r++)
                s = tf_add(s, tf_multiply(tf_of(lower(k, y, r, i)), t[r + j * k]));
            g[i + j * k] = s; /* Y m_j */
        }
    tf sum = tf_of(0);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            tf e = tf_subtract(tf_dot(k, t + i * k, g + j * k), tf_of(i == j));
            sum = tf_add(sum, tf_multiply(e, e));
        }
    double spread = tf_up(skew * tf_most(tf_exp(tf_of(0.5 * (high - low) + 0x1p-20)))), off = tf_most(tf_root(sum));
    if (!(spread < 0.1))
        return INFINITY;
    spread = tf_up(spread / (1 - spread));
    off = tf_up((1 + spread) * (1 + spread) * off + 2 * spread + spread * spread);
    return off < 0.5 ? tf_up(off / (1 - off)) : INFINITY;
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

static double spd_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    size_t k = m->rows, n = m->ambient;
    tf *l = work, *x = l + n, *u = x + n, *s = u + n, *t = s + n, *f = t + n;
    if (!factor(k, p, l) || !factor(k, q, x))
        return INFINITY;
    for (size_t j = 0; j < k; j++)
        solve(k, l, x + j * k);
    transpose(k, x);
    rotate(k, x, u);
    for (size_t j = 0; j < k; j++)
        f[j] = tf_centre(tf_log(tf_dot(k, x + j * k, x + j * k)));
    double skew = skewness(k, u, t), slack = residual(k, l, u, f, skew, q, s, t);
    slack = tf_up(slack + spectral(k, u, f, skew, a));
    if (v) {
        whiten(k, l, v, s);
        for (size_t j = 0; j < n; j++)
            a[j] = tf_subtract(a[j], s[j]);
    }
    return slack;
}

/* Eigenvectors of S are those of S + c I, a positive definite matrix, whose rows rotations make orthogonal. */
static double spd_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    size_t k = m->rows, n = m->ambient;
    tf *l = work, *x = l + n, *u = x + n, *s = u + n, *t = s + n, *g = t + n, *f = g + n;
    if (!factor(k, p, l))
        return INFINITY;
    whiten(k, l, v, s);
    double size = frobenius(n, s), shift = size + 1;
    for (size_t j = 0; j < n; j++)
        x[j] = tf_add(s[j], tf_of(j % (k + 1) == 0 ? shift : 0));
    rotate(k, x, u);
    for (size_t j = 0; j < k; j++)
        f[j] = tf_centre(tf_subtract(tf_norm(k, x + j * k), tf_of(shift)));
    double skew = skewness(k, u, t), off = residual(k, l, u, f, skew, y, t, g), slack = spectral(k, u, f, skew, t);
    for (size_t j = 0; j < n; j++)
        t[j] = tf_subtract(s[j], t[j]);
    /* exp stretches by at most sinh(r)/r, r = root(1/2) times the length, as curvature is at least -1/2 */
    double rate = tf_up(0.70711 * fmax(size, tf_up(frobenius(k, f) * (1 + skew)))) + 1e-3;
    tf sine, cosine;
    tf_sines(1, tf_of(rate), &sine, &cosine);
    double stretch = tf_most(tf_divide(sine, tf_of(rate)));
    return tf_up(off + tf_up(stretch * tf_up(frobenius(n, t) + slack)));
}

const struct certified certified_spd_affine = {work_size, spd_log, spd_exp, NULL};
