/* The logarithm of a Grassmann manifold: principal angles without loss of digits, whether they are small or not. */
#include "manifold_grassmann.h"
#include "linalg.h"
#include "simd.h"
#include "tall.h"

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
int grassmann_gap(size_t n, size_t p, const double *w, const double *y, double *m, double *k, double *work)
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
    grassmann_to_horizontal(n, p, k, w, k, work);
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
int grassmann_stretch_near(size_t n, size_t p, const double *m, const double *k, double *d, double *sq, double *work)
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
int grassmann_log_one(size_t n, size_t p, double *out, const double *w, const double *y, double *work)
{
    size_t pp = p * p;
    double *m = work, *a = m + pp, *b = a + pp, *c = b + pp, *d = c + p, *k = d + pp, *rest = k + n * p;
    double sq;
    int status = grassmann_gap(n, p, w, y, m, k, rest);
    if (status == STATUS_OK && grassmann_stretch_near(n, p, m, k, d, &sq, rest)) {
        la_mul('N', 'N', n, p, p, k, n, d, p, out, n);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = grassmann_spectrum(p, p, m, a, c, 1, rest);
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
