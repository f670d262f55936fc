/* Kendall's planar shapes of k landmarks: centred unit vectors of C^k modulo phase, the complex projective space CP^n with
 * n = k - 2 and curvatures between 1 and 4 (Kendall 1984, doi:10.1112/blms/16.2.81). A record is k complex numbers in pairs;
 * raw landmarks are centred and scaled on entry. Tangents are horizontal: sum v = 0 and x* v = 0. */
#include "manifold.h"
#include "linalg.h"
#include "simd.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 3)
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)m->param[0];
    m->ambient = 2 * m->rows;
    m->dim = 2 * m->rows - 4;
    m->k_min = m->rows == 3 ? 4 : 1; /* CP^1 is a sphere of radius 1/2 */
    m->k_max = 4;
    m->inj = m->rho_max = RIEMDP_PI / 2;
    m->mean_curvature = ((double)m->dim + 2) / ((double)m->dim - 1);
    m->model = MODEL_PLANAR;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_SCALED_ENTRY |
               MANIFOLD_UNIFORM | MANIFOLD_FORMS | MANIFOLD_KNG;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    return 3 * m->ambient;
}

/* sum of k complex numbers over k */
RIEMDP_SIMD static void mean_of(size_t k, const double *x, double *re, double *im)
{
    simd_four s[2] = {{0}, {0}};
    size_t j = 0;
    for (; j + 8 <= 2 * k; j += 8) {
        s[0] += SIMD_LOAD(x + j);
        s[1] += SIMD_LOAD(x + j + 4);
    }
    s[0] += s[1];
    double a = s[0][0] + s[0][2], b = s[0][1] + s[0][3];
    for (; j < 2 * k; j += 2) {
        a += x[j];
        b += x[j + 1];
    }
    *re = a / (double)k;
    *im = b / (double)k;
}

RIEMDP_SIMD static double dot_of(size_t n, const double *x, const double *y)
{
    return simd_dot(n, x, y);
}

/* x*y */
RIEMDP_SIMD static void hermitian(size_t k, const double *x, const double *y, double *re, double *im)
{
    simd_four s[2] = {{0}, {0}}, t[2] = {{0}, {0}};
    size_t j = 0;
    for (; j + 8 <= 2 * k; j += 8)
        for (size_t h = 0; h < 2; h++) {
            simd_four u = SIMD_LOAD(x + j + 4 * h), v = SIMD_LOAD(y + j + 4 * h);
            s[h] += u * v;
            t[h] += u * (simd_four){v[1], v[0], v[3], v[2]};
        }
    t[0] += t[1];
    double a = 0, b = 0;
    for (; j < 2 * k; j += 2) {
        a += x[j] * y[j] + x[j + 1] * y[j + 1];
        b += x[j] * y[j + 1] - x[j + 1] * y[j];
    }
    *re = simd_total(s) + a;
    *im = ((t[0][0] - t[0][1]) + (t[0][2] - t[0][3])) + b;
}

/* o = u - c x with complex c; o may be u */
RIEMDP_SIMD static void subtract(size_t k, double *o, const double *u, const double *x, double re, double im)
{
    for (size_t j = 0; j < k; j++) {
        double a = x[2 * j], b = x[2 * j + 1];
        o[2 * j] = u[2 * j] - (re * a - im * b);
        o[2 * j + 1] = u[2 * j + 1] - (re * b + im * a);
    }
}

/* o = c u; o may be u */
RIEMDP_SIMD static void rotate(size_t k, double *o, const double *u, double re, double im)
{
    for (size_t j = 0; j < k; j++) {
        double a = u[2 * j], b = u[2 * j + 1];
        o[2 * j] = re * a - im * b;
        o[2 * j + 1] = re * b + im * a;
    }
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double re, im, s = dot_of(m->ambient, at(x, i), at(x, i));
        mean_of(m->rows, at(x, i), &re, &im);
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        if (fabs(s - 1) > 2 * RIEMDP_TOL || hypot(re, im) > RIEMDP_TOL)
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double re, im, a, b, s = norm2(m->ambient, at(v, i));
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        mean_of(m->rows, at(v, i), &re, &im);
        la_cdot(m->rows, at(p, i), at(v, i), &a, &b);
        if (hypot(re, im) > RIEMDP_TOL * (1 + s) || hypot(a, b) > RIEMDP_TOL * (1 + s))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

/* Centred and scaled to size one; what already is so to the last digits stays as it is. */
RIEMDP_SIMD static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    size_t k = m->rows, n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *u = at(x, i);
        double *o = out + i * n, re, im, big = 0;
        mean_of(k, u, &re, &im);
        double s = dot_of(n, u, u);
        if (fabs(s - 1) < 4e-15 && hypot(re, im) < 1e-15) {
            for (size_t j = 0; j < n; j++)
                o[j] = u[j];
            continue;
        }
        if (!(s < INFINITY) && !all_finite(n, u))
            return STATUS_NOT_FINITE;
        for (size_t h = 0; h < n; h++)
            big = fabs(u[h]) > big ? fabs(u[h]) : big;
        if (big == 0)
            return STATUS_ZERO_SIZE;
        for (size_t h = 0; h < n; h++)
            o[h] = u[h] / big;
        /* twice: the first mean carries the rounding of a large shift */
        for (int pass = 0; pass < 2; pass++) {
            mean_of(k, o, &re, &im);
            for (size_t h = 0; h < n; h += 2) {
                o[h] -= re;
                o[h + 1] -= im;
            }
        }
        s = sqrt(dot_of(n, o, o));
        if (!(s > 1e-12)) /* relative to the largest coordinate: nothing but rounding is left */
            return STATUS_ZERO_SIZE;
        for (size_t h = 0; h < n; h++)
            o[h] /= s;
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    size_t k = m->rows;
    for (size_t i = begin; i < end; i++) {
        double re, im;
        const double *u = at(v, i);
        mean_of(k, u, &re, &im);
        if (!(fabs(re) + fabs(im) < INFINITY))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < k; j++) {
            work[2 * j] = u[2 * j] - re;
            work[2 * j + 1] = u[2 * j + 1] - im;
        }
        la_cdot(k, at(p, i), work, &re, &im);
        subtract(k, out + i * m->ambient, work, at(p, i), re, im);
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double *o = out + i * m->ambient, t = norm2(m->ambient, u), c = cos(t), s = sinc(t);
        for (size_t j = 0; j < m->ambient; j++)
            o[j] = c * x[j] + s * u[j];
        t = 1 / norm2(m->ambient, o);
        for (size_t j = 0; j < m->ambient; j++)
            o[j] *= t;
    }
    return STATUS_OK;
}

/* y - a u - b v with the rounding errors of products and sums (Ogita, Rump and Oishi 2005, doi:10.1137/030601818) */
static double residual(double y, double a, double u, double b, double v)
{
    double p = a * u, q = b * v, ep = fma(a, u, -p), eq = fma(b, v, -q);
    double s = y - p, t = s - y, es = (y - (s - t)) - (p + t);
    double r = s - q, w = r - s, er = (s - (r - w)) - (q + w);
    return r + (es + er - ep - eq);
}

/* h = y - x (x* y) / (x* x), the part of y that is horizontal at x, up to phase; |s| = |x* y|. Near coincidence the
 * subtraction is done in twice the precision: what is left is as small as the distance. Returns the distance. */
static double horizontal(size_t k, double *h, const double *x, const double *y, double *re, double *im)
{
    double a, b, xx = dot_of(2 * k, x, x);
    hermitian(k, x, y, &a, &b);
    *re = a;
    *im = b;
    a /= xx;
    b /= xx;
    subtract(k, h, y, x, a, b);
    double s = sqrt(dot_of(2 * k, h, h)), modulus = hypot(*re, *im);
    if (s < 1e-3 * modulus) {
        for (size_t j = 0; j < k; j++) {
            double u = x[2 * j], v = x[2 * j + 1];
            h[2 * j] = residual(y[2 * j], a, u, -b, v);
            h[2 * j + 1] = residual(y[2 * j + 1], a, v, b, u);
        }
        double c, d;
        mean_of(k, h, &c, &d); /* rounding of the centring */
        for (size_t j = 0; j < k; j++) {
            h[2 * j] -= c;
            h[2 * j + 1] -= d;
        }
        la_cdot(k, x, h, &c, &d);
        subtract(k, h, h, x, c / xx, d / xx);
        s = sqrt(dot_of(2 * k, h, h));
    }
    return atan2(s * sqrt(xx), modulus);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    for (size_t i = begin; i < end; i++) {
        double re, im, d = horizontal(k, work, at(p, i), at(q, i), &re, &im), s = sqrt(dot_of(2 * k, work, work)),
                       r = hypot(re, im);
        if (RIEMDP_PI / 2 - d < 1e-8)
            return STATUS_CUT_LOCUS;
        s = s > 0 ? d / (s * r) : 0;
        rotate(k, out + i * m->ambient, work, s * re, -s * im);
    }
    return STATUS_OK;
}

/* x'y, (ix)'y and y'y in one pass over y */
RIEMDP_SIMD static void products(size_t n, const double *x, const double *ix, const double *y, double *re, double *im,
                                 double *yy)
{
    simd_four s[2] = {{0}, {0}}, t[2] = {{0}, {0}}, u[2] = {{0}, {0}};
    size_t j = 0;
    double a = 0, b = 0, c = 0;
    for (; j + 8 <= n; j += 8)
        for (size_t h = 0; h < 2; h++) {
            simd_four z = SIMD_LOAD(y + j + 4 * h);
            s[h] += SIMD_LOAD(x + j + 4 * h) * z;
            t[h] += SIMD_LOAD(ix + j + 4 * h) * z;
            u[h] += z * z;
        }
    for (; j < n; j++) {
        a += x[j] * y[j];
        b += ix[j] * y[j];
        c += y[j] * y[j];
    }
    *re = simd_total(s) + a;
    *im = simd_total(t) + b;
    *yy = simd_total(u) + c;
}

/* adds the real multiples c y and s y */
RIEMDP_SIMD static void add_multiples(size_t n, double *restrict a, double *restrict b, const double *restrict y,
                                      double c, double s)
{
    for (size_t j = 0; j < n; j++) {
        a[j] += c * y[j];
        b[j] += s * y[j];
    }
}

/* Near the mean the horizontal part of a single record may be small, but sums of records don't need its last digits: plain
 * arithmetic, the base taken off once. Complex multiples c + is are summed as two real ones. */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double along_re = 0, along_im = 0, pp = dot_of(n, p, p), *ip = work + n, *turned = ip + n;
    for (size_t j = 0; j < n; j += 2) {
        ip[j] = -p[j + 1];
        ip[j + 1] = p[j];
        turned[j] = turned[j + 1] = 0;
    }
    for (size_t i = begin; i < end; i++) {
        const double *y = at(x, i);
        double re, im, yy, wi = w ? w[i] : 1, c, s, d, f;
        products(n, p, ip, y, &re, &im, &yy);
        double r = sqrt(re * re + im * im), rest = yy - r * r / pp;
        if (rest < 1e-6 * yy) { /* too close for the difference of squares */
            double a, b;
            d = horizontal(k, work, p, y, &a, &b);
            s = sqrt(dot_of(n, work, work));
        } else {
            s = sqrt(rest);
            d = atan2(s * sqrt(pp), r);
        }
        if (RIEMDP_PI / 2 - d < 1e-8)
            return STATUS_CUT_LOCUS;
        f = s > 0 ? wi * d / (s * r) : 0;
        c = f * re;
        s = -f * im;
        *sum_sq += wi * d * d;
        along_re += c * re - s * im;
        along_im += c * im + s * re;
        add_multiples(n, sum, turned, y, c, s);
    }
    for (size_t j = 0; j < n; j += 2) {
        sum[j] -= turned[j + 1];
        sum[j + 1] += turned[j];
    }
    subtract(k, sum, sum, p, along_re / pp, along_im / pp);
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    double re, im;
    for (size_t i = begin; i < end; i++)
        out[i] = horizontal(m->rows, work, at(p, i), at(q, i), &re, &im);
    return STATUS_OK;
}

/* With y' = y aligned to x, u' = u - (y'* u)/(1 + |x* y|) (x + y') with the complex product (the component along iv turns
 * as well, unlike on the sphere), then the phase that takes y' back to y. */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t k = m->rows;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double re, im, a, b, r, *o = out + i * m->ambient;
        la_cdot(k, x, at(q, i), &re, &im);
        r = hypot(re, im);
        if (r < 1e-8)
            return STATUS_CUT_LOCUS;
        re /= r;
        im /= r;
        rotate(k, work, at(q, i), re, -im);
        la_cdot(k, work, u, &a, &b);
        a /= 1 + r;
        b /= 1 + r;
        for (size_t j = 0; j < 2 * k; j++)
            work[j] += x[j];
        subtract(k, o, u, work, a, b);
        rotate(k, o, o, re, im);
    }
    return STATUS_OK;
}

/* The frame: the real reflection that takes (1, ..., 1)/sqrt k to the last axis (centred vectors then have k - 1
 * coordinates), followed by the complex reflection that takes the base to the first axis. */
static void drop_mean(size_t k, double *o, const double *x)
{
    double c = 1 / sqrt((double)k), a = x[2 * k - 2] * c / (1 + c), b = x[2 * k - 1] * c / (1 + c);
    for (size_t j = 0; j + 1 < k; j++) {
        o[2 * j] = x[2 * j] - a;
        o[2 * j + 1] = x[2 * j + 1] - b;
    }
}

static void restore_mean(size_t k, double *o, const double *z)
{
    double c = 1 / sqrt((double)k), a = 0, b = 0;
    for (size_t j = 0; j + 1 < k; j++) {
        a += z[2 * j];
        b += z[2 * j + 1];
    }
    o[2 * k - 2] = -c * a;
    o[2 * k - 1] = -c * b;
    a *= c * c / (1 + c);
    b *= c * c / (1 + c);
    for (size_t j = 0; j + 1 < k; j++) {
        o[2 * j] = z[2 * j] - a;
        o[2 * j + 1] = z[2 * j + 1] - b;
    }
}

/* reflection of C^n that takes y (unit) to -phase(y_1) e_1, applied to z in place; it is its own inverse */
static void reflect(size_t n, const double *y, double *z)
{
    double r = hypot(y[0], y[1]), c = r > 0 ? y[0] / r : 1, s = r > 0 ? y[1] / r : 0, a, b;
    la_cdot(n, y, z, &a, &b);
    a += c * z[0] + s * z[1];
    b += c * z[1] - s * z[0];
    a /= 1 + r;
    b /= 1 + r;
    subtract(n, z, z, y, a, b);
    z[0] -= a * c - b * s;
    z[1] -= a * s + b * c;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    double *z = work + m->ambient;
    for (size_t i = begin; i < end; i++) {
        if (fresh(p, i, begin))
            drop_mean(k, work, at(p, i));
        drop_mean(k, z, at(v, i));
        reflect(k - 1, work, z);
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = z[j + 2];
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    size_t k = m->rows;
    double *z = work + m->ambient;
    for (size_t i = begin; i < end; i++) {
        if (fresh(p, i, begin))
            drop_mean(k, work, at(p, i));
        z[0] = z[1] = 0;
        for (size_t j = 0; j < m->dim; j++)
            z[j + 2] = at(a, i)[j];
        reflect(k - 1, work, z);
        restore_mean(k, out + i * m->ambient, z);
    }
    return STATUS_OK;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    (void)p, (void)work;
    double n = (double)m->rows - 2;
    for (size_t i = begin; i < end; i++) {
        double t = norm2(m->ambient, at(v, i));
        out[i] = t < 1 ? (2 * n - 2) * log_sinc(t) + log_sinc(2 * t)
                       : (2 * n - 2) * log(fabs(sin(t) / t)) + log(fabs(sin(2 * t) / (2 * t)));
    }
    return STATUS_OK;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    (void)p, (void)work;
    size_t k = m->rows;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(v, i), *e = at(u, i);
        double vv = dot(m->ambient, w, w), s = *at(x, i), t = s * sqrt(vv), re = 0, im = 0;
        double c1 = cos(t), b1 = s * sinc(t), c2 = cos(2 * t), b2 = s * sinc(2 * t);
        la_cdot(k, w, e, &re, &im);
        re = vv > 0 ? re / vv : 0;
        im = vv > 0 ? im / vv : 0;
        for (size_t j = 0; j < k; j++) {
            double a0 = re * w[2 * j], a1 = re * w[2 * j + 1];  /* along v */
            double j0 = -im * w[2 * j + 1], j1 = im * w[2 * j]; /* along iv */
            double r0 = e[2 * j] - a0 - j0, r1 = e[2 * j + 1] - a1 - j1;
            double *op = out_p + i * m->ambient + 2 * j, *ov = out_v + i * m->ambient + 2 * j;
            op[0] = a0 + c2 * j0 + c1 * r0;
            op[1] = a1 + c2 * j1 + c1 * r1;
            ov[0] = s * a0 + b2 * j0 + b1 * r0;
            ov[1] = s * a1 + b2 * j1 + b1 * r1;
        }
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    size_t k = m->rows;
    double c = 1 / sqrt((double)k);
    for (size_t j = 0; j < k; j++) {
        out[2 * j] = (j == 0) - (j + 1 < k ? c * c / (1 + c) : c);
        out[2 * j + 1] = 0;
    }
}

static int carry(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end, double *work,
                 int back)
{
    size_t k = m->rows;
    double *z = work + m->ambient;
    drop_mean(k, work, base);
    double r = hypot(work[0], work[1]), c = r > 0 ? work[0] / r : 1, s = r > 0 ? work[1] / r : 0;
    for (size_t i = begin; i < end; i++) {
        drop_mean(k, z, at(x, i));
        reflect(k - 1, work, z);
        /* the reflection takes the base to -phase e_1, and e_1 to -conj(phase) base */
        rotate(k - 1, z, z, -c, back ? -s : s);
        restore_mean(k, out + i * m->ambient, z);
    }
    return STATUS_OK;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    return carry(m, out, base, x, begin, end, work, 0);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    return carry(m, out, base, x, begin, end, work, 1);
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double n = (double)m->rows - 2;
    *log_area = (2 * n - 1) * log(sin(rho)) + log(cos(rho));
    *slope = (2 * n - 1) / tan(rho) - tan(rho);
}

const struct manifold_ops manifold_kendall = {
    .name = "kendall",
    .family = "kendall",
    .published = PUBLISHED_LANDMARKS,
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
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
};
