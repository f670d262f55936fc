/* What curvature says of the mechanism's law before any record is seen: how far the energy's slope may lag behind its
 * quadratic model, areas of geodesic spheres, and the share of directions that stay in the ball. */
#include "mechanism_kng.h"

/* ---- functions of curvature -------------------------------------------------------------------------------------- */

/* s cot s in curvature k: eigenvalue of the Hessian of half the squared distance across the geodesic */
double kng_cot_factor(double k, double d)
{
    double s = sqrt(fabs(k)) * d;
    if (k == 0 || s < 1e-4)
        return 1 - k * d * d / 3;
    return k > 0 ? s / tan(s) : s / tanh(s);
}

/* derivative of (1 - s cot s)/sin^2 s with respect to 1 - cos s, rounded up: increasing on (0, pi) */
static double bend(double s)
{
    if (s < 0.1)
        return (4.0 / 15 + s * s * (6.0 / 35 + 0.12 * s * s)) * (1 + 1e-9);
    double sine = sin(s), c = cos(s);
    return (s * (1 + 2 * c * c) - 3 * sine * c) / (square(sine) * square(sine) * sine) * (1 + 1e-9);
}

/* the same for (s coth s - 1)/sinh^2 s and cosh s - 1, without its sign: decreasing */
static double bend_hyperbolic(double s)
{
    if (s < 0.1)
        return 4.0 / 15 * (1 + 1e-9);
    double sine = sinh(s), c = cosh(s);
    if (!(sine < 1e50))
        return 0;
    return (s * (1 + 2 * c * c) - 3 * sine * c) / (square(sine) * square(sine) * sine) * (1 + 1e-9);
}

/* max over from <= p <= to of (1 - p^2)(a + b p), where 0 <= from <= to <= 1 and a, b >= 0 */
static double cubic_top(double a, double b, double from, double to)
{
    double p = b > 0 ? b / (a + sqrt(a * a + 3 * b * b)) : 0;
    p = fmin(fmax(p, from), to);
    return (1 - p * p) * (a + b * p);
}

/* bend as a function of v = 1 - cos s: convex, so that chords lie above it */
static double bend_chord(const struct kng *k, double v)
{
    double t = fmin(v / k->bend_top, 1) * CHORDS;
    size_t j = t < CHORDS ? (size_t)t : CHORDS - 1;
    return k->bends[j] + (t - (double)j) * (k->bends[j + 1] - k->bends[j]);
}

/* |third derivative| of half the squared distance D from a point along a unit geodesic, in symmetric spaces of
 * curvature between 0 and k (proofs/kng.md, Theorem 4): increases with D */
static double third_derivative(double curvature, double distance)
{
    enum { TERMS = 40, PARTS = 64 };
    double s = sqrt(curvature) * distance, big = s * s, mu = 1 - kng_cot_factor(1, s), turn = 0, top = 0;
    double first = s * sin(s) * sin(s) * sin(s) * bend(s);
    for (int j = 1; j <= TERMS; j++) {
        double c = square(j * RIEMDP_PI), nu = big / (c - big);
        turn += nu * (2 + 4 * nu + 8 * mu + 4 * nu * mu) / c;
    }
    turn = big * (turn + mu / 3 + 1e-5 * big);
    for (int i = 0; i < PARTS; i++) {
        double low = (double)i / PARTS, high = (i + 1.0) / PARTS;
        top = fmax(top, square(high) * (sqrt(1 - square(low)) * first + high * turn));
    }
    return top / distance * (1 + 1e-9);
}

void kng_make_bends(struct kng *k)
{
    if (!(k->curvature > 0))
        return;
    if (k->space == KNG_GENERAL) {
        for (size_t j = 0; j <= CHORDS; j++)
            k->bends[j] = third_derivative(k->curvature, 2 * k->radius * (double)(j + 1) / CHORDS);
        k->bends[CHORDS] = k->bends[CHORDS - 1]; /* distances end at twice the radius */
        return;
    }
    k->bend_top = 2 * square(sin(sqrt(k->curvature) * k->radius));
    for (size_t j = 0; j <= CHORDS; j++)
        k->bends[j] = bend(2 * asin(sqrt(0.5 * k->bend_top * (double)j / CHORDS)));
}

/* Bound of what the quadratic model's radial derivative exceeds the true one by, at radius rho, for records at
 * distances between lo and hi (proofs/kng.md, Theorem 3). It increases with rho. */
double kng_excess(const struct kng *k, double rho, double lo, double hi)
{
    double q = sqrt(fabs(k->curvature)), s = q * rho, a = q * lo, b = q * hi;
    if (k->curvature < 0) {
        double sine = sinh(b), across = cosh(b) * (s < 1e-2 ? s * s * s / 6 * (1 + s * s) : sinh(s) - s);
        return bend_hyperbolic(a) * sine * sine * cubic_top(across, 2 * sine * square(sinh(0.5 * s)), 0, 1) / q;
    }
    /* halves of the way, cells of |p| */
    int halves = k->m->dim < 10 ? 1 : 2, cells = k->m->dim < 10 ? 4 : 8;
    double sine = sin(b), one = cos(a), most = k->space == KNG_COMPLEX ? 0.5 * (1 + one) : one, start = 1 - cos(b);
    double across[2], along[2], rise[2], lean[2], top = 0, first = bend_chord(k, start);
    for (int h = 0; h < halves; h++) {
        double to = h + 1 < halves ? 0.5 * s : s, from = h > 0 ? 0.5 * s : 0;
        across[h] = to < 1e-2 ? (to * to * to - from * from * from * (1 - from * from / 20)) / 6
                              : (to - sin(to)) - (from - sin(from));
        rise[h] = 2 * square(sin(0.5 * to));
        along[h] = sine * (rise[h] - (h > 0 ? rise[0] : 0));
        lean[h] = sine * sin(to);
    }
    for (int c = 0; c < cells; c++) {
        double from = (double)c / cells, to = (c + 1.0) / cells, x = 0, y = 0, steepest = 0;
        for (int h = 0; h < halves; h++) {
            double w = 0.5 * (first + bend_chord(k, start + most * rise[h] + to * lean[h]));
            steepest = fmax(steepest, w);
            x += w * across[h];
            y += w * along[h];
        }
        if (k->space == KNG_COMPLEX && cos(b) < steepest * sine * sine)
            top = fmax(top, cubic_top(most * x, y, from, to));
        else
            top = fmax(top, cubic_top(one * x, y, from, to));
    }
    return top * sine * sine / q;
}

/* The same from a bound of the third derivative, in parts of the way; distances up to `hi` */
double kng_excess_general(const struct kng *k, double rho, double hi)
{
    enum { PARTS = 4 };
    double sum = 0;
    for (int i = 0; i < PARTS; i++) {
        double from = rho * i / PARTS, to = rho * (i + 1) / PARTS;
        double cell = fmin((hi + to) / (2 * k->radius) * CHORDS, CHORDS);
        sum += k->bends[(size_t)cell] * 0.5 * (square(rho - from) - square(rho - to));
    }
    return sum;
}

/* ---- area of geodesic spheres and directions that stay in the ball ----------------------------------------------- */

/* log of a bound of rho^(d-1) J; exact but on SPD and Grassmann. Increases with rho as far as the reach. */
double kng_log_area(const struct kng *k, double rho)
{
    double value = 0, slope;
    if (k->m->dim > 1)
        k->m->ops->radial(k->m, rho, &value, &slope);
    return value;
}

/* log of a lower bound of the same, for public acceptance bounds */
double kng_log_area_low(const struct kng *k, double rho)
{
    double d = (double)k->m->dim;
    if (k->space != KNG_GENERAL)
        return kng_log_area(k, rho);
    return (d - 1) * (log(rho) + (k->curvature > 0 ? log_sinc(sqrt(k->curvature) * rho) : 0));
}

/* log of true area over bound at coordinates a of length rho */
double kng_log_area_true(const struct kng *k, const double *a, double rho, double *scratch)
{
    manifold_t m = k->m;
    return m->ops->radial_accept ? m->ops->radial_accept(m, a, rho, scratch) : 0;
}

static double sine(double k, double s)
{
    return k > 0 ? sin(sqrt(k) * s) : k < 0 ? sinh(sqrt(-k) * s) : s;
}

/* Angle at the base between the ball's centre and a point at distance rho that has distance r from the centre, in the
 * model space of curvature k: half-angle form of the law of cosines. */
double kng_cap_angle(double k, double tilt, double r, double rho)
{
    if (rho <= r - tilt)
        return RIEMDP_PI;
    if (!(rho < r + tilt))
        return 0;
    double a = sine(k, 0.5 * (r + tilt - rho)) * sine(k, 0.5 * (r - tilt + rho)), b = sine(k, tilt) * sine(k, rho);
    if (k == 0)
        a = 0.25 * (r + tilt - rho) * (r - tilt + rho);
    return a < b ? 2 * asin(sqrt(a / b)) : RIEMDP_PI;
}

struct rim kng_make_rim(double tilt, double r, double rho)
{
    double a = cos(tilt) * cos(rho);
    return (struct rim){a, sin(tilt) * sin(rho), 2 * sin(0.5 * (r + tilt - rho)) * sin(0.5 * (r - tilt + rho)),
                        a + cos(r)};
}

/* phase up to which |cos t cos rho + sin t sin rho z| >= cos r holds for |z| = s, over pi */
double kng_arc(const struct rim *m, double s)
{
    double above = m->gap - m->b * (1 - s); /* a + bs - cos r */
    if (!(above > 0))
        return 0;
    double half = above * (m->edge + m->b * s) / (4 * m->a * m->b * s); /* sin^2 of half the phase */
    return half < 1 ? 2 / RIEMDP_PI * asin(sqrt(half)) : 1;
}

double kng_log_add(double a, double b)
{
    if (b > a) {
        double t = a;
        a = b;
        b = t;
    }
    return b == -INFINITY ? a : a + log1p(exp(b - a));
}

/* Law of a uniform direction's angle with the axis, as a staircase; on CP^n of |z|, z its complex component:
 * exactly. */
void kng_make_angles(struct kng *k)
{
    double d = (double)k->m->dim;
    if (k->space == KNG_COMPLEX) {
        double c = 0.5 * d; /* |z|^2 ~ Beta(1, c - 1) */
        k->cells = k->constant ? 32 : c < 8 ? 64 : MOST_STRATA;
        for (int j = 0; j <= k->cells; j++) {
            double s = (double)j / k->cells;
            k->angle_top[j] = j < k->cells ? (c - 1) * log1p(-s * s) : -INFINITY; /* log P(|z| > s) */
        }
        for (int j = 0; j < k->cells; j++)
            k->angle_mass[j] = k->angle_top[j] + log(-expm1(k->angle_top[j + 1] - k->angle_top[j]));
        return;
    }
    k->cells = d < 10 ? 256 : MOST_ANGLES;
    if (k->m->dim < 3)
        return;
    /* sin^(d-2) over its integral */
    double power = d - 2, width = RIEMDP_PI / k->cells;
    double norm = 0.5 * log(RIEMDP_PI) + lgamma(0.5 * (power + 1)) - lgamma(0.5 * power + 1);
    k->angle_mass[0] = -INFINITY;
    k->angle_low[0] = 0;
    for (int j = 0; j < k->cells; j++) {
        double from = sin(width * j), to = sin(fmin(width * (j + 1), RIEMDP_PI)), most = fmax(from, to);
        double least = fmin(from, to);
        if (2 * j < k->cells && 2 * (j + 1) > k->cells)
            most = 1;
        k->angle_top[j] = power * log(most) - norm;
        k->angle_low[j + 1] = k->angle_low[j] + (least > 0 ? width * exp(power * log(least) - norm) : 0);
        k->angle_mass[j + 1] = kng_log_add(k->angle_mass[j], k->angle_top[j] + log(width));
    }
}

/* log of the staircase's mass up to theta */
double kng_log_stair(const struct kng *k, double theta)
{
    if (!(theta > 0))
        return -INFINITY;
    if (k->m->dim == 1)
        return theta < RIEMDP_PI ? log(0.5) : 0;
    if (k->m->dim == 2)
        return log(theta / RIEMDP_PI);
    double width = RIEMDP_PI / k->cells;
    int j = (int)(theta / width);
    if (j >= k->cells)
        return k->angle_mass[k->cells];
    double part = theta - j * width;
    return part > 0 ? kng_log_add(k->angle_mass[j], k->angle_top[j] + log(part)) : k->angle_mass[j];
}

/* log of the probability that a uniform direction may keep a point at rho in the ball of radius r: a bound from
 * above, which never increases with rho */
double kng_log_cap_at(const struct kng *k, double tilt, double r, double rho)
{
    if (k->space != KNG_COMPLEX)
        return kng_log_stair(k, kng_cap_angle(k->curvature, tilt, r, rho));
    if (rho <= r - tilt)
        return 0;
    if (!(rho < r + tilt))
        return -INFINITY;
    struct rim rim = kng_make_rim(tilt, r, rho);
    double sum = 0, left = kng_arc(&rim, 1e-300), peak = -INFINITY;
    for (int j = 0; j < k->cells; j++) {
        double right = kng_arc(&rim, (j + 1.0) / k->cells), top = fmax(left, right);
        left = right;
        if (!(top > 0))
            continue;
        double value = k->angle_mass[j] + log(top);
        if (value > peak) {
            sum = sum * exp(peak - value) + 1;
            peak = value;
        } else {
            sum += exp(value - peak);
        }
    }
    return sum > 0 ? fmin(peak + log(sum), 0) : -INFINITY;
}

double kng_log_cap(const struct kng *k, double rho)
{
    if (!k->constant && rho <= k->radius - k->tilt)
        return 0;
    return kng_log_cap_at(k, k->tilt, k->radius, rho);
}

/* the largest value of log_cap on [from, to] */
double kng_log_cap_top(const struct kng *k, double from, double to)
{
    if (!k->constant && to <= k->radius - k->tilt)
        return 0;
    return kng_log_cap_at(k, k->tilt, k->radius, from);
}

/* log of a lower bound of the probability that a uniform direction keeps a point at rho in the ball of radius r */
double kng_log_cap_low(const struct kng *k, double tilt, double r, double rho)
{
    if (rho <= r - tilt)
        return 0;
    if (!(rho < r + tilt) || !(r > 0))
        return -INFINITY;
    if (k->space == KNG_COMPLEX) {
        double sum = 0, a = cos(tilt) * cos(rho), b = sin(tilt) * sin(rho), gap = a * a - square(cos(r));
        struct rim rim = kng_make_rim(tilt, r, rho);
        double lowest = gap > 0 && b > 0 ? sqrt(gap) / b : -1, left = kng_arc(&rim, 1e-300);
        for (int j = 0; j < k->cells; j++) {
            double s0 = (double)j / k->cells, s1 = (j + 1.0) / k->cells, right = kng_arc(&rim, s1);
            double low = fmin(left, right);
            if (lowest > s0 && lowest < s1)
                low = fmin(low, kng_arc(&rim, lowest));
            left = right;
            sum += exp(k->angle_mass[j]) * low;
        }
        return sum > 0 ? log(sum) : -INFINITY;
    }
    double theta = kng_cap_angle(k->space == KNG_GENERAL ? k->m->k_min : k->curvature, tilt, r, rho);
    if (k->m->dim < 3)
        return kng_log_stair(k, theta);
    int j = (int)(theta / RIEMDP_PI * k->cells * (1 - 1e-14));
    return k->angle_low[j] > 0 ? log(k->angle_low[j]) : -INFINITY;
}
