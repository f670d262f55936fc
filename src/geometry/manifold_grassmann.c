/* Grassmann manifold of p-dimensional subspaces of R^n, metric tr(U'V) of horizontal vectors. A point is stored as any
 * orthonormal basis W of its subspace, an n x p matrix: two bases of one subspace are the same point. Tangent vectors
 * at W are the n x p matrices U with W'U = 0.
 *
 * exp, log and parallel transport (Edelman, Arias and Smith 1998, doi:10.1137/S0895479895290954; Bendokat, Zimmermann
 * and Absil 2024, doi:10.1007/s10444-023-10090-8) hold even functions of the singular values of U, so the eigenvectors
 * of U'U suffice. Checks and projection are those of the Stiefel manifold. */
#include "linalg.h"
#include "manifold.h"
#include "simd.h"
#include "tall.h"

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static int init(struct manifold *m)
{
    int n = m->param[0], p = m->param[1], r = p < n - p ? p : n - p;
    if (p < 1 || p >= n || (double)n * p > 1e7)
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)n;
    m->cols = (size_t)p;
    m->ambient = m->rows * m->cols;
    m->dim = m->cols * (m->rows - m->cols);
    /* Wong 1968, doi:10.1073/pnas.60.1.75; r = 1 is real projective space */
    m->k_min = r == 1 && m->dim > 1 ? 1 : 0;
    m->k_max = m->dim == 1 ? 0 : r == 1 ? 1 : 2;
    m->inj = RIEMDP_PI / 2;
    m->rho_max = RIEMDP_PI / 2 * sqrt(r);
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_SYMMETRIC | (r == 1 ? MANIFOLD_TWO_POINT : 0);
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    size_t n = m->rows, p = m->cols, own = most(la_qr_work(n, p), la_svd_work(n, p));
    own = 8 * n * p + 12 * p * p + 4 * p + most(most(own, la_symeig_work(p)), 4 * p * p + 4 * p);
    return most(own, manifold_stiefel_euclidean.work(m));
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    return manifold_stiefel_euclidean.check_point(m, x, begin, end, work);
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        if (!all_finite(n * k, u))
            return STATUS_NOT_FINITE;
        tall_cross(n, k, w, u, work);
        if (!(norm2(k * k, work) <= RIEMDP_TOL * (1 + norm2(n * k, u))))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    return manifold_stiefel_euclidean.project(m, out, x, begin, end, work);
}

/* out = scale v + w a by rows, a being p x p; out may be v or w; p doubles of work */
static void add_product(size_t n, size_t p, double *out, double scale, const double *v, const double *w,
                        const double *a, double *work)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            work[j] = w[i + j * n];
        for (size_t j = 0; j < p; j++)
            out[i + j * n] = scale * v[i + j * n] + dot(p, work, a + j * p);
    }
}

/* out = v - w w'v; out may be v but not w; p * p doubles of work */
static void to_horizontal(size_t n, size_t p, double *out, const double *w, const double *v, double *work)
{
    tall_cross(n, p, w, v, work);
    for (size_t j = 0; j < p * p; j++)
        work[j] = -work[j];
    tall_add(n, p, v, w, work, out);
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        double *o = out + i * m->ambient, *made = work + m->cols * m->cols;
        to_horizontal(m->rows, m->cols, made, at(p, i), at(v, i), work);
        for (size_t j = 0; j < m->ambient; j++)
            o[j] = made[j];
    }
    return STATUS_OK;
}

/* u'u = V diag(s^2) V': V and s, ascending */
static int spectrum(size_t n, size_t p, const double *u, double *v, double *s, int vectors, double *work)
{
    tall_gram(n, p, u, v);
    int status = la_symeig(p, v, s, vectors, work);
    for (size_t j = 0; j < p; j++)
        s[j] = sqrt(s[j] > 0 ? s[j] : 0);
    return status;
}

/* exp_W(U) = W V cos(s) V' + U V sinc(s) V', as an increment over W and with one Newton step to the polar factor */
static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, kk = k * k;
    double *vec = work, *a = vec + kk, *b = a + kk, *s = b + kk, *f = s + k, *t = f + k, *rest = t + n * k;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        double *o = out + i * n * k;
        int status = spectrum(n, k, u, vec, s, 1, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < k; j++)
            f[j] = -2 * square(sin(0.5 * s[j]));
        la_spectral(k, vec, f, a, rest);
        for (size_t j = 0; j < k; j++)
            f[j] = sinc(s[j]);
        la_spectral(k, vec, f, b, rest);
        la_mul('N', 'N', n, k, k, u, n, b, k, t, n);
        add_product(n, k, t, 1, t, w, a, f);
        for (size_t j = 0; j < n * k; j++)
            o[j] = w[j] + t[j];
        la_mul('T', 'N', k, k, n, o, n, o, n, a, k);
        if (!all_finite(kk, a))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < kk; j++)
            a[j] *= -0.5;
        for (size_t j = 0; j < k; j++)
            a[j * (k + 1)] += 0.5;
        add_product(n, k, o, 1, o, o, a, f);
    }
    return STATUS_OK;
}

/* adds -a b to the unevaluated sum *high + *low: the product with its rounding error (Dekker 1971,
 * doi:10.1007/BF01397083), then the sum with its own */
static inline void subtract_product(double a, double b, double *high, double *low)
{
    double x = a * b, error;
#ifdef FP_FAST_FMA
    error = fma(a, b, -x);
#else
    double c = 134217729 * a, ah = c - (c - a), al = a - ah, d = 134217729 * b, bh = d - (d - b), bl = b - bh;
    error = ((ah * bh - x) + ah * bl + al * bh) + al * bl;
#endif
    double sum = *high - x, t = sum - *high;
    *low += (*high - (sum - t)) - (x + t) - error;
    *high = sum;
}

/* m = w'y and the horizontal part k = y - w m of y. Where that is small, y - w m is summed in twice the precision and
 * the error of m itself removed by a second projection: subspaces 1e-9 apart keep their digits in any bases. */
static int gap(size_t n, size_t p, const double *w, const double *y, double *m, double *k, double *work)
{
    if (!all_finite(n * p, y))
        return STATUS_NOT_FINITE;
    tall_cross(n, p, w, y, m);
    for (size_t j = 0; j < p * p; j++)
        work[j] = -m[j];
    tall_add(n, p, y, w, work, k);
    if (norm2(n * p, k) > 0.01)
        return STATUS_OK;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < n; i++) {
            double high = y[i + j * n], low = 0;
            for (size_t h = 0; h < p; h++)
                subtract_product(w[i + h * n], m[h + j * p], &high, &low);
            k[i + j * n] = high + low;
        }
    to_horizontal(n, p, k, w, k, work);
    return STATUS_OK;
}

/* Gauss and Legendre's rule with 16 and 32 points for t/(sin(t) cos(t)) = integral of 1/(1 - x (1 - u^2)) over 0 <= u <= 1,
 * x = sin(t)^2: 1 - u^2 and weights of its positive half. Relative errors are below 1e-15 up to x = .36 and .75. */
static const double rule_16[2 * 8] = {
    0.021085789837648906, 0.10777802578620214,  0.2506826214525967,  0.4293641798378278,
    0.6182289466028844,   0.79022063138449,     0.9206994401885134,  0.9909726229743528,
    0.027152459411754096, 0.062253523938647894, 0.09515851168249279, 0.12462897125553388,
    0.14959598881657674,  0.16915651939500254,  0.18260341504492358, 0.1894506104550685,
};
static const double rule_32[2 * 16] = {
    0.0054647898490581505, 0.028569948309451382, 0.06923379019370692,  0.12595062917469732, 0.19660838572620853,
    0.2785746567422398,    0.36879549794436883,  0.46390934499698033,  0.5603723000909735,  0.6545901886909173,
    0.7430524823244975,    0.822463102103085,    0.889863230819307,    0.9427415582664145,  0.979127852316419,
    0.9976663694358017,    0.007018610009470096, 0.01627439473090567,  0.02539206530926206, 0.03427386291302143,
    0.04283589802222668,   0.050998059262376175, 0.058684093478535544, 0.06582222277636185, 0.0723457941088485,
    0.07819389578707031,   0.08331192422694675,  0.08765209300440381,  0.09117387869576389, 0.09384439908080457,
    0.09563872007927486,   0.0965400885147278,
};

/* out = sum of weight (I - node S)^-1 for symmetric S: four nodes at a time, inverted by sweeping every pivot (Goodnight 1979,
 * doi:10.1080/00031305.1979.10482685), which leaves minus the inverse. `work` 4 p (p + 1) doubles */
RIEMDP_INLINE void sum_inverses_p(const size_t p, const double *s, const double *node, const double *weight,
                                  size_t nodes, double *out, simd_four *a, simd_four *row)
{
    for (size_t j = 0; j < p * p; j++)
        out[j] = 0;
    for (size_t g = 0; g < nodes; g += 4) {
        simd_four c = SIMD_LOAD(node + g), w = SIMD_LOAD(weight + g);
        for (size_t j = 0; j < p; j++)
            for (size_t i = j; i < p; i++)
                a[i + j * p] = (i == j) - c * s[i + j * p];
        for (size_t k = 0; k < p; k++) {
            simd_four d = 1 / a[k + k * p];
            for (size_t i = 0; i < p; i++)
                row[i] = i < k ? a[k + i * p] : a[i + k * p];
            for (size_t j = 0; j < p; j++) {
                if (j == k)
                    continue;
                simd_four t = d * row[j];
                for (size_t i = j; i < p; i++)
                    a[i + j * p] -= t * row[i];
                if (j < k)
                    a[k + j * p] = t;
            }
            for (size_t i = k + 1; i < p; i++)
                a[i + k * p] = d * row[i];
            a[k + k * p] = -d;
        }
        for (size_t j = 0; j < p; j++)
            for (size_t i = j; i < p; i++) {
                simd_four t = w * a[i + j * p];
                out[i + j * p] -= (t[0] + t[2]) + (t[1] + t[3]);
            }
    }
}

/* D = F C' and the trace of D'S D, F being the sum of inverses */
RIEMDP_INLINE double stretch_p(const size_t p, const double *s, const double *c, const double *rule, size_t nodes,
                               double *d, double *f, simd_four *a, simd_four *row)
{
    double trace = 0;
    sum_inverses_p(p, s, rule, rule + nodes, nodes, f, a, row);
    for (size_t j = 1; j < p; j++)
        for (size_t i = 0; i < j; i++)
            f[i + j * p] = f[j + i * p];
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            double t = 0;
            for (size_t h = 0; h < p; h++)
                t += f[h + i * p] * c[j + h * p];
            d[i + j * p] = t;
        }
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            double t = 0;
            for (size_t h = 0; h < p; h++)
                t += s[h + i * p] * d[h + j * p];
            trace += t * d[i + j * p];
        }
    return trace;
}

/* small sizes unrolled */
RIEMDP_SIMD static double stretch_all(size_t p, const double *s, const double *c, const double *rule, size_t nodes,
                                      double *d, double *f, double *work)
{
    simd_four a[25], row[5];
    switch (p) {
    case 2:
        return stretch_p(2, s, c, rule, nodes, d, f, a, row);
    case 3:
        return stretch_p(3, s, c, rule, nodes, d, f, a, row);
    case 4:
        return stretch_p(4, s, c, rule, nodes, d, f, a, row);
    case 5:
        return stretch_p(5, s, c, rule, nodes, d, f, a, row);
    default:
        return stretch_p(p, s, c, rule, nodes, d, f, (simd_four *)work, (simd_four *)work + p * p);
    }
}

/* t/(sin(t) cos(t)) at the cosine c of an angle t in [0, pi/2); a smooth function of c */
static double stretch(double c)
{
    double x = c < 1 ? 1 - c : 0;
    return (x < 1e-8 ? 1 + x / 3 : 2 * asin(sqrt(0.5 * x)) / sqrt(x * (2 - x))) / c;
}

/* the function above of k'k times m', and |log|^2, where no angle is large; 0 where one is */
static int stretch_near(size_t n, size_t p, const double *m, const double *k, double *d, double *sq, double *work)
{
    double *s = work, *f = s + p * p, *rest = f + p * p;
    tall_gram(n, p, k, s);
    double most = norm2(p * p, s);
    if (!(most < 0.75))
        return 0;
    *sq = most < 0.36 ? stretch_all(p, s, m, rule_16, 8, d, f, rest) : stretch_all(p, s, m, rule_32, 16, d, f, rest);
    return 1;
}

/* With m = P cos(t) Z': log = k Z t/sin(t) P' = k (Z stretch(cos t) Z') m'. Small cosines need the singular value
 * decomposition of m, others get by with the eigenvectors of m'm. */
static int log_one(size_t n, size_t p, double *out, const double *w, const double *y, double *work)
{
    size_t pp = p * p;
    double *m = work, *a = m + pp, *b = a + pp, *c = b + pp, *d = c + p, *k = d + pp, *rest = k + n * p;
    double sq;
    int status = gap(n, p, w, y, m, k, rest);
    if (status == STATUS_OK && stretch_near(n, p, m, k, d, &sq, rest)) {
        la_mul('N', 'N', n, p, p, k, n, d, p, out, n);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = spectrum(p, p, m, a, c, 1, rest);
    if (status != STATUS_OK)
        return status;
    if (c[0] > 0.3) {
        for (size_t j = 0; j < p; j++)
            c[j] = stretch(c[j]);
        la_spectral(p, a, c, b, rest);
        la_mul('N', 'T', p, p, p, b, p, m, p, d, p);
    } else {
        status = la_svd(p, p, m, a, c, b, rest);
        if (status != STATUS_OK)
            return status;
        if (c[p - 1] < 1e-10)
            return STATUS_CUT_LOCUS;
        for (size_t j = 0; j < p; j++) {
            double t = stretch(c[j]) * c[j];
            for (size_t i = 0; i < p; i++)
                b[j + i * p] *= t;
        }
        la_mul('T', 'T', p, p, p, b, p, a, p, d, p);
    }
    la_mul('N', 'N', n, p, p, k, n, d, p, out, n);
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = log_one(m->rows, m->cols, out + i * m->ambient, at(p, i), at(q, i), work);
    return status;
}

RIEMDP_SIMD static double dot_of(size_t n, const double *x)
{
    return simd_dot(n, x, x);
}

/* Sums of logarithms k D with D = (k'k's function t/(sin(t) cos(t))) m', by the rule above where no angle is large, and one by
 * one where one is or where all are so small that k takes more care. */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, kk = k * k, nk = n * k;
    double *c = work, *d = c + kk, *k_of = d + kk, *rest = k_of + nk;
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i);
        double wi = w ? w[i] : 1, sq;
        tall_cross(n, k, p, y, c);
        for (size_t j = 0; j < kk; j++)
            d[j] = -c[j];
        tall_add(n, k, y, p, d, k_of);
        if (!(dot_of(nk, k_of) > 1e-4 && stretch_near(n, k, c, k_of, d, &sq, rest))) {
            int status = log_one(n, k, k_of, p, y, rest);
            if (status != STATUS_OK)
                return status;
            *sum_sq += wi * dot_of(nk, k_of);
            for (size_t j = 0; j < nk; j++)
                sum[j] += wi * k_of[j];
            continue;
        }
        *sum_sq += wi * sq;
        for (size_t j = 0; j < kk; j++)
            d[j] *= wi;
        tall_add(n, k, sum, k_of, d, sum);
    }
    return STATUS_OK;
}

/* Start of a mean: the mean projector applied to the first record, a step of the power method. acc: the sum, that record */
static int start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                     double *work)
{
    size_t n = m->rows, k = m->cols, nk = n * k;
    double *first = acc + nk;
    for (size_t i = begin; i < end; i++) {
        double wi = w ? w[i] : 1;
        if (wi == 0)
            continue;
        if (dot(nk, first, first) == 0)
            for (size_t j = 0; j < nk; j++)
                first[j] = at(x, i)[j];
        tall_cross(n, k, at(x, i), first, work);
        for (size_t j = 0; j < k * k; j++)
            work[j] *= wi;
        tall_add(n, k, acc, at(x, i), work, acc);
    }
    return STATUS_OK;
}

static int start_end(manifold_t m, double *out, double *acc, double total, double *work)
{
    (void)total;
    return project(m, out, (struct points){acc, 0}, 0, 1, work);
}

/* Norm of the principal angles: from the sines alone where no angle is large, else by atan2 of sines (ascending) and
 * cosines (descending), either of which keeps its digits where the other has none. */
static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, l = m->cols, ll = l * l;
    double *a = work, *b = a + ll, *s = b + ll, *c = s + l, *k = c + l, *rest = k + n * l;
    for (size_t i = begin; i < end; i++) {
        int status = gap(n, l, at(p, i), at(q, i), a, k, rest);
        if (status == STATUS_OK)
            status = spectrum(n, l, k, b, s, 0, rest);
        if (status != STATUS_OK)
            return status;
        if (s[l - 1] < 0.9) {
            for (size_t j = 0; j < l; j++)
                s[j] = asin(s[j]);
        } else {
            status = la_svd(l, l, a, NULL, c, NULL, rest);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < l; j++)
                s[j] = atan2(s[j], c[j]);
        }
        out[i] = norm2(l, s);
    }
    return STATUS_OK;
}

/* Along U, a vector D becomes D - W sinc(s) U'D - U (1 - cos s)/s^2 U'D (functions of U'U as above) over the basis that
 * the geodesic brings along; `turn` takes that basis to the stored one. */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, nk = n * k, kk = k * k;
    double *u = work, *a = u + nk, *b = a + kk, *turn = b + kk, *t = turn + kk, *f = t + kk, *d = f + kk + 2 * k;
    double *rest = d + nk;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *y = at(q, i);
        if (fresh(p, i, begin) || fresh(q, i, begin)) {
            double *vec = d, *s = f, *g = f + k;
            int status = log_one(n, k, u, w, y, a);
            if (status == STATUS_OK)
                status = spectrum(n, k, u, vec, s, 1, rest);
            if (status != STATUS_OK)
                return status;
            /* turn = cos(s) W'Y + sinc(s) U'Y */
            for (size_t j = 0; j < k; j++)
                g[j] = cos(s[j]);
            la_spectral(k, vec, g, b, rest);
            tall_cross(n, k, w, y, t);
            la_mul_square('N', 'N', k, b, t, turn);
            for (size_t j = 0; j < k; j++)
                g[j] = sinc(s[j]);
            la_spectral(k, vec, g, a, rest);
            tall_cross(n, k, u, y, t);
            la_mul_square('N', 'N', k, a, t, b);
            for (size_t j = 0; j < kk; j++) {
                turn[j] += b[j];
                a[j] = -a[j];
            }
            for (size_t j = 0; j < k; j++)
                g[j] = -0.5 * square(sinc(0.5 * s[j]));
            la_spectral(k, vec, g, b, rest);
        }
        const double *e = at(v, i);
        tall_cross(n, k, u, e, t);
        la_mul_square('N', 'N', k, a, t, f);
        tall_add(n, k, e, w, f, d);
        la_mul_square('N', 'N', k, b, t, f);
        tall_add(n, k, d, u, f, d);
        add_product(n, k, d, 0, d, d, turn, rest);
        to_horizontal(n, k, d, y, d, rest);
        for (size_t j = 0; j < nk; j++)
            out[i * nk + j] = d[j];
    }
    return STATUS_OK;
}

/* The Householder factor H of W takes U to [0; B]: B, by columns, are the coordinates. */
static int factor(manifold_t m, double *h, const double *w, double *work)
{
    double *tau = h + m->ambient;
    for (size_t j = 0; j < m->ambient; j++)
        h[j] = w[j];
    return la_qr(m->rows, m->cols, h, tau, work);
}

static int to_coords(manifold_t m, double *out, const double *h, const double *u, double *z, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k;
    for (size_t j = 0; j < n * k; j++)
        z[j] = u[j];
    int status = la_qr_apply('T', n, k, k, h, h + n * k, z, work);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < l; i++)
            out[i + j * l] = z[k + i + j * n];
    return status;
}

static int from_frame(manifold_t m, double *out, const double *h, const double *b, double *z, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++)
            z[i + j * n] = i < k ? 0 : b[i - k + j * l];
    int status = la_qr_apply('N', n, k, k, h, h + n * k, z, work);
    for (size_t j = 0; j < n * k; j++)
        out[j] = z[j];
    return status;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    double *h = work, *z = h + m->ambient + m->cols, *rest = z + m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        if (fresh(p, i, begin))
            status = factor(m, h, at(p, i), rest);
        if (status == STATUS_OK)
            status = to_coords(m, out + i * m->dim, h, at(v, i), z, rest);
    }
    return status;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    double *h = work, *z = h + m->ambient + m->cols, *rest = z + m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        if (fresh(p, i, begin))
            status = factor(m, h, at(p, i), rest);
        if (status == STATUS_OK)
            status = from_frame(m, out + i * m->ambient, h, at(a, i), z, rest);
    }
    return status;
}

/* log |sin(x)/x|; -Inf at multiples of pi */
static double log_abs_sinc(double x)
{
    x = fabs(x);
    return x < 1 ? log_sinc(x) : log(fabs(sin(x) / x));
}

/* Eigenvalues of the curvature operator are (s_i - s_j)^2, (s_i + s_j)^2 and |n - 2p| times s_j^2. */
static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k, r = k < l ? k : l;
    double *a = work, *s = a + k * k, *rest = s + k, more = (double)(k < l ? l - k : k - l);
    (void)p;
    for (size_t i = begin; i < end; i++) {
        int status = spectrum(n, k, at(v, i), a, s, 0, rest);
        if (status != STATUS_OK)
            return status;
        double sum = 0;
        for (size_t j = k - r; j < k; j++) { /* the others are zero */
            for (size_t h = k - r; h < j; h++)
                sum += log_abs_sinc(s[j] - s[h]) + log_abs_sinc(s[j] + s[h]);
            if (more > 0)
                sum += more * log_abs_sinc(s[j]);
        }
        out[i] = sum;
    }
    return STATUS_OK;
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

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols, l = n - k, r = k < l ? k : l, lk = l * k;
    double *h = work, *z = h + n * k + k, *left = z + n * k, *s = left + l * r, *rt = s + r, *e = rt + r * k;
    double *to = e + lk, *rest = to + lk;
    for (size_t i = begin; i < end; i++) {
        int status = STATUS_OK;
        if (fresh(p, i, begin))
            status = factor(m, h, at(p, i), rest);
        if (status == STATUS_OK && (fresh(p, i, begin) || fresh(v, i, begin))) {
            status = to_coords(m, e, h, at(v, i), z, rest);
            if (status == STATUS_OK)
                status = la_svd(l, k, e, left, s, rt, rest);
        }
        if (status == STATUS_OK)
            status = to_coords(m, e, h, at(u, i), z, rest);
        if (status != STATUS_OK)
            return status;
        double t = *at(x, i);
        curvature_apply(l, k, left, s, rt, COSINE, t, e, to, rest);
        status = from_frame(m, out_p + i * n * k, h, to, z, rest);
        curvature_apply(l, k, left, s, rt, SINE, t, e, to, rest);
        if (status == STATUS_OK)
            status = from_frame(m, out_v + i * n * k, h, to, z, rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* sqrt(R_v) cot(sqrt(R_v)) for the curvature operator R_v of v (the gradient's Jacobi equation on a symmetric space) */
static int add_hessian(manifold_t m, double *matrix, const double *coords, double *work)
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

static void origin(manifold_t m, double *out)
{
    manifold_stiefel_euclidean.origin(m, out);
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    return manifold_stiefel_euclidean.to_origin(m, out, base, x, begin, end, work);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    return manifold_stiefel_euclidean.from_origin(m, out, base, x, begin, end, work);
}

const struct manifold_ops manifold_grassmann = {
    .name = "grassmann",
    .parameters = 2,
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = manifold_ambient_inner,
    .coords = coords,
    .from_coords = from_coords,
    .dist = dist,
    .transport = transport,
    .log_density = log_density,
    .jacobi = jacobi,
    .log_sum = log_sum,
    .start_add = start_add,
    .start_end = start_end,
    .add_hessian = add_hessian,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
};
