/* The K-norm gradient mechanism (Reimherr and Awan 2019; on manifolds Soto, Bharath, Reimherr and Slavkovic 2022) for Frechet
 * means, on a ball, exactly. The proofs of what is used here, with the same letters, are in inst/proofs/kng.md. */
#include "linalg.h"
#include "mechanism.h"
#include "simd.h"

enum {
    COARSE = 96,    /* cells of the radius in which e is constant */
    DISTANCES = 32, /* cells of the records' distances from the mean */
    CHORDS = 128,
    MOST_BINS = 4096, /* of an envelope */
    PUBLIC_BINS = 2048,
    MOST_ANGLES = 1024,
    MOST_STRATA = 128,
    MOST_DIM = 256, /* above it the Hessian is bounded without its matrix */
    GRADIENT_BLOCK = 256,
    HESSIAN_WORK = 1000000000
};

/* ---- functions of curvature ---------------------------------------------------------------------------------------- */

/* s cot s in curvature k: eigenvalue of the Hessian of half the squared distance across the geodesic */
static double cot_factor(double k, double d)
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

/* |third derivative| of half the squared distance D from a point along a unit geodesic, in symmetric spaces of curvature between
 * 0 and k (proofs/kng.md, Theorem 4): increases with D */
static double third_derivative(double curvature, double distance)
{
    enum { TERMS = 40, PARTS = 64 };
    double s = sqrt(curvature) * distance, big = s * s, mu = 1 - cot_factor(1, s), turn = 0, top = 0;
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

static void make_bends(struct kng *k)
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

/* Bound of what the quadratic model's radial derivative exceeds the true one by, at radius rho, for records at distances
 * between lo and hi (proofs/kng.md, Theorem 3). It increases with rho. */
static double excess(const struct kng *k, double rho, double lo, double hi)
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
static double excess_general(const struct kng *k, double rho, double hi)
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

/* ---- area of geodesic spheres and directions that stay in the ball --------------------------------------------------- */

/* log of a bound of rho^(d-1) J; exact but on SPD and Grassmann. Increases with rho as far as the reach. */
static double log_area(const struct kng *k, double rho)
{
    manifold_t m = k->m;
    double value, slope, d = (double)m->dim;
    if (m->ops->radial && m->dim > 1) {
        m->ops->radial(m, rho, &value, &slope);
        return value;
    }
    value = m->dim > 1 ? (d - 1) * log(rho) : 0;
    if (k->space == KNG_CONSTANT && k->curvature > 0)
        value += (d - 1) * log_sinc(sqrt(k->curvature) * rho);
    if (k->space == KNG_GENERAL && k->curvature > 0) { /* Grassmann: proofs/laplace.md, Proposition 7 */
        double p = (double)(m->cols < m->rows - m->cols ? m->cols : m->rows - m->cols), n = (double)m->rows;
        double count = p * (n - p) - p;
        value += count * log_sinc(rho * sqrt((n - 2) / count));
    }
    return value;
}

/* log of a lower bound of the same, for public acceptance bounds */
static double log_area_low(const struct kng *k, double rho)
{
    double d = (double)k->m->dim;
    if (k->space != KNG_GENERAL)
        return log_area(k, rho);
    return (d - 1) * (log(rho) + (k->curvature > 0 ? log_sinc(sqrt(k->curvature) * rho) : 0));
}

/* log of true area over bound at coordinates a of length rho */
static double log_area_true(const struct kng *k, const double *a, double rho, double *scratch)
{
    manifold_t m = k->m;
    double value;
    if (m->ops->radial_accept)
        return m->ops->radial_accept(m, a, rho, scratch);
    if (k->space != KNG_GENERAL)
        return 0;
    if (m->ops->log_density(m, &value, one(k->base), one(k->v), 0, 1, scratch) != STATUS_OK)
        return -INFINITY;
    return value + ((double)m->dim - 1) * log(rho) - log_area(k, rho);
}

static double sine(double k, double s)
{
    return k > 0 ? sin(sqrt(k) * s) : k < 0 ? sinh(sqrt(-k) * s) : s;
}

/* Angle at the base between the ball's centre and a point at distance rho that has distance r from the centre, in the
 * model space of curvature k: half-angle form of the law of cosines. */
static double cap_angle(double k, double tilt, double r, double rho)
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

/* what the phases at one radius share */
struct rim {
    double a, b, gap, edge;
};

static struct rim make_rim(double tilt, double r, double rho)
{
    double a = cos(tilt) * cos(rho);
    return (struct rim){a, sin(tilt) * sin(rho), 2 * sin(0.5 * (r + tilt - rho)) * sin(0.5 * (r - tilt + rho)),
                        a + cos(r)};
}

/* phase up to which |cos t cos rho + sin t sin rho z| >= cos r holds for |z| = s, over pi */
static double arc(const struct rim *m, double s)
{
    double above = m->gap - m->b * (1 - s); /* a + bs - cos r */
    if (!(above > 0))
        return 0;
    double half = above * (m->edge + m->b * s) / (4 * m->a * m->b * s); /* sin^2 of half the phase */
    return half < 1 ? 2 / RIEMDP_PI * asin(sqrt(half)) : 1;
}

static double log_add(double a, double b)
{
    if (b > a) {
        double t = a;
        a = b;
        b = t;
    }
    return b == -INFINITY ? a : a + log1p(exp(b - a));
}

/* Law of a uniform direction's angle with the axis, as a staircase; on CP^n of |z|, z its complex component: exactly. */
static void make_angles(struct kng *k)
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
        k->angle_mass[j + 1] = log_add(k->angle_mass[j], k->angle_top[j] + log(width));
    }
}

/* log of the staircase's mass up to theta */
static double log_stair(const struct kng *k, double theta)
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
    return part > 0 ? log_add(k->angle_mass[j], k->angle_top[j] + log(part)) : k->angle_mass[j];
}

/* log of the probability that a uniform direction may keep a point at rho in the ball of radius r: a bound from above, which
 * never increases with rho */
static double log_cap_at(const struct kng *k, double tilt, double r, double rho)
{
    if (k->space != KNG_COMPLEX)
        return log_stair(k, cap_angle(k->curvature, tilt, r, rho));
    if (rho <= r - tilt)
        return 0;
    if (!(rho < r + tilt))
        return -INFINITY;
    struct rim rim = make_rim(tilt, r, rho);
    double sum = 0, left = arc(&rim, 1e-300), peak = -INFINITY;
    for (int j = 0; j < k->cells; j++) {
        double right = arc(&rim, (j + 1.0) / k->cells), top = fmax(left, right);
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

static double log_cap(const struct kng *k, double rho)
{
    if (!k->constant && rho <= k->radius - k->tilt)
        return 0;
    return log_cap_at(k, k->tilt, k->radius, rho);
}

/* the largest value of log_cap on [from, to] */
static double log_cap_top(const struct kng *k, double from, double to)
{
    if (!k->constant && to <= k->radius - k->tilt)
        return 0;
    return log_cap_at(k, k->tilt, k->radius, from);
}

/* ---- lower bounds of |grad U| ------------------------------------------------------------------------------------------ */

static size_t coarse_cell(const struct kng *k, double rho)
{
    size_t low = 0, high = COARSE - 1;
    while (low < high) { /* the last cell that starts at or below rho */
        size_t mid = (low + high + 1) / 2;
        if (k->coarse[mid] <= rho)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* At most |grad U| at distance rho from the mean, whatever the records (proofs/kng.md, section 4): their mean squared distance is
 * at most r^2 + rho^2 there, and the Hessian's bound is concave in squared distances. Increases. */
static double level_public(const struct kng *k, double rho)
{
    double r = k->radius, far = fmin(rho, 1.7320508 * r);
    if (!(k->curvature > 0))
        return k->slope * rho;
    double start = (r + 2 * k->gradient / k->slope) * (1 + 1e-12);
    double mean = far * (1 - (1 - k->slope) * (start * start + far * (k->gradient + far / 3)) / (4 * r * r));
    return fmax(mean + k->slope * (rho - far), k->slope * rho);
}

/* at most |grad U| for radii in [rho, end of the coarse cell] */
static double level_at(const struct kng *k, double rho, size_t cell)
{
    double low = level_public(k, rho), better;
    if (k->law == KNG_DISTANCE)
        return rho;
    if (k->kind != KNG_SLOPE && !k->constant) {
        better = k->least * rho - k->excess[cell];
        if (k->space == KNG_GENERAL)
            better = fmax(better, k->line[cell] + k->lean[cell] * (rho - k->coarse[cell]));
        low = fmax(low, better);
    }
    return low - k->gradient;
}

/* at most |grad U| for |Av| in [from, to] */
static double level_anisotropic(const struct kng *k, double from, double to)
{
    double e = k->excess[coarse_cell(k, fmin(to / k->shrink, k->reach))];
    return fmax(level_public(k, from / k->stretch), from - e) - k->gradient;
}

/* adds f c c' to an upper triangle by rows */
RIEMDP_SIMD static void add_outer(size_t d, double f, const double *restrict c, double *restrict upper)
{
    for (size_t p = 0; p < d; p++) {
        double t = f * c[p], *row = upper + p * d;
        for (size_t q = p; q < d; q++)
            row[q] += t * c[q];
    }
}

static int looks(const struct kng *k)
{
    return !(k->curvature == 0 || k->constant || k->law == KNG_DISTANCE ||
             (k->space == KNG_GENERAL && k->curvature < 0));
}

static int has_matrix(const struct kng *k)
{
    manifold_t m = k->m;
    size_t d = m->dim;
    int with_matrix = k->curvature != 0 && d > 1 && d <= MOST_DIM;
    if (k->space == KNG_GENERAL) /* each record costs the Hessian's columns one by one */
        with_matrix =
            with_matrix && m->ops->add_hessian && (double)k->n * (double)(d * d) * (double)m->cols < HESSIAN_WORK;
    return with_matrix;
}

/* distance of a record from the mean, and its logarithm's coordinates where there is a matrix; 0 if it has none */
static int look_at(const struct kng *k, struct points x, int with_matrix, double *s, double *scratch)
{
    manifold_t m = k->m;
    int known;
    if (with_matrix) {
        known = m->ops->log(m, k->v, one(k->base), x, 0, 1, scratch) == STATUS_OK &&
                manifold_coords(m, k->coords, one(k->base), one(k->v), 0, 1, scratch) == STATUS_OK &&
                all_finite(m->dim, k->coords);
        *s = known ? norm2(m->dim, k->coords) : 0;
    } else {
        known = manifold_dist(m, s, one(k->base), x, 0, 1, scratch) == STATUS_OK && *s >= 0;
    }
    *s = known ? fmin(*s, 2 * k->radius) : 0;
    return known;
}

/* adds one record's Hessian; its trace's part and the bound of its least eigenvalue */
static int add_record(const struct kng *k, int known, double s, int with_matrix, double *matrix, double *turned,
                      double *trace, double *lowest, double *scratch)
{
    manifold_t m = k->m;
    double a = cot_factor(k->space == KNG_COMPLEX ? 1 : k->curvature, s);
    double a4 = k->space == KNG_COMPLEX ? cot_factor(4, s) : a;
    *trace += a;
    *lowest += k->curvature > 0 ? fmin(a, a4) : 1;
    if (with_matrix && k->space == KNG_GENERAL)
        return known && m->ops->add_hessian(m, matrix, k->coords, scratch) == STATUS_OK;
    if (with_matrix && s > 0) {
        double f = (1 - a) / (s * s), g = k->space == KNG_COMPLEX ? (a - a4) / (s * s) : 0;
        add_outer(m->dim, f, k->coords, matrix);
        if (g != 0)
            add_outer(m->dim, g, k->coords, turned);
    }
    return with_matrix;
}

size_t kng_cells(const struct kng *k)
{
    return k->m->dim < 10 ? DISTANCES / 2 : DISTANCES;
}

size_t kng_cell(double distance, double far, size_t cells)
{
    double c = far > 0 ? ceil(distance / far * (double)cells) - 1 : 0;
    return c < 0 ? 0 : c >= (double)cells ? cells - 1 : (size_t)c;
}

/* trace, lowest, the matrices' upper triangles by rows (the second only where it isn't 0) */
size_t kng_width(const struct kng *k)
{
    size_t d = k->m->dim, half = d * (d + 1) / 2;
    return 2 + (!has_matrix(k) ? 0 : k->space == KNG_COMPLEX ? 2 * half : half);
}

int kng_row(const struct kng *k, const double *x, double *out, double *distance, double *scratch)
{
    size_t d = k->m->dim;
    int with_matrix = has_matrix(k), known = look_at(k, one(x), with_matrix, distance, scratch);
    double *matrix = k->matrix, *turned = matrix + d * d;
    if (!out)
        return STATUS_OK;
    for (size_t j = 0; j < 2 * d * d && with_matrix; j++)
        matrix[j] = 0;
    out[0] = out[1] = 0;
    if (add_record(k, known, *distance, with_matrix, matrix, turned, out, out + 1, scratch) != with_matrix)
        return STATUS_NO_CONVERGENCE;
    out += 2;
    for (int part = 0; part < (!with_matrix ? 0 : k->space == KNG_COMPLEX ? 2 : 1); part++)
        for (size_t p = 0; p < d; p++)
            for (size_t q = p; q < d; q++)
                *out++ = matrix[(size_t)part * d * d + p * d + q];
    return STATUS_OK;
}

/* the same sums of records elsewhere; 0 where they can't be had */
static int look_elsewhere(struct kng *k, int with_matrix, double *sum, double *lowest, double *far, double *count,
                          size_t cells)
{
    size_t d = k->m->dim;
    double *sums = k->sums, *turned = k->matrix + d * d;
    if (k->elsewhere->look(k->elsewhere, k->base, sums, far) != STATUS_OK ||
        k->elsewhere->count(k->elsewhere, k->base, *far, count, cells) != STATUS_OK)
        return 0;
    *sum = sums[0];
    *lowest = sums[1];
    sums += 2;
    for (int part = 0; part < (!with_matrix ? 0 : k->space == KNG_COMPLEX ? 2 : 1); part++)
        for (size_t p = 0; p < d; p++)
            for (size_t q = p; q < d; q++)
                (part ? turned : k->matrix)[p * d + q] = *sums++;
    return 1;
}

/* distances of the records from the mean, by cells; the Hessian there where there is a matrix for it */
static void look_at_records(struct kng *k, double *scratch)
{
    manifold_t m = k->m;
    size_t d = m->dim, cells = kng_cells(k);
    double count[DISTANCES];
    int with_matrix = has_matrix(k);
    double top = 2 * k->radius, lowest = 0, sum = 0, far = 0;
    k->least = k->trace = 1;
    for (size_t j = 0; j < DISTANCES; j++)
        count[j] = 0;
    for (size_t j = 0; j <= COARSE; j++)
        k->coarse[j] = k->reach * (j < COARSE ? square((double)j / COARSE) * ((double)j / COARSE) : 1);
    for (size_t j = 0; j < COARSE; j++)
        k->excess[j] = k->line[j] = k->lean[j] = 0;
    if (!looks(k))
        return;
    double *turned = k->matrix + d * d; /* sums for i times the logarithms */
    for (size_t j = 0; j < 2 * d * d && with_matrix; j++)
        k->matrix[j] = 0;
    if (k->elsewhere) {
        if (!look_elsewhere(k, with_matrix, &sum, &lowest, &far, count, cells)) {
            k->kind = KNG_SLOPE; /* which needs to know nothing of the records */
            k->least = k->slope;
            return;
        }
    } else { /* two passes: the cells end at the largest distance */
        for (size_t i = 0; i < k->n; i++) {
            if (i % GRADIENT_BLOCK == 0)
                host_tick(m->host, 0, 0);
            int known = look_at(k, one(k->x + i * m->ambient), with_matrix, k->far + i, scratch);
            far = fmax(far, k->far[i]);
            with_matrix = add_record(k, known, k->far[i], with_matrix, k->matrix, turned, &sum, &lowest, scratch);
        }
        for (size_t i = 0; i < k->n; i++)
            count[kng_cell(k->far[i], far, cells)]++;
    }
    double n = (double)k->n;
    k->least = lowest / n;
    far *= 1 + 1e-12;
    for (size_t c = 0; c < COARSE; c++) {
        double e = 0, slope = 0, end = k->coarse[c + 1];
        for (size_t j = 0; j < cells; j++) {
            double lo = far * (double)j / (double)cells, hi = far * (double)(j + 1) / (double)cells;
            if (!(count[j] > 0))
                continue;
            if (k->space == KNG_GENERAL) {
                slope += count[j] * cot_factor(k->curvature, fmin(hi + end, top));
                e += count[j] * excess_general(k, end, hi);
            } else {
                e += count[j] * excess(k, end, lo, hi);
            }
        }
        k->excess[c] = e / n * (1 + 1e-9);
        k->lean[c] = slope / n;
        k->line[c + 1] = k->line[c] + k->lean[c] * (end - k->coarse[c]);
    }
    if (!with_matrix)
        return;
    k->trace = 0;
    for (size_t p = 0; p < d; p++) {
        for (size_t q = p; q < d; q++) { /* the upper part by rows is the lower one by columns */
            /* i c = (-c_1, c_0, -c_3, c_2, ...): its products are those of neighbours, with the sign of p + q */
            size_t a = p ^ 1, b = q ^ 1;
            double along = k->space != KNG_COMPLEX ? 0 : (p + q) % 2 ? -1 : 1;
            if (along != 0)
                k->matrix[p * d + q] -= along * (a < b ? turned[a * d + b] : turned[b * d + a]);
            double value = k->matrix[p * d + q] / n + (p == q && k->space != KNG_GENERAL ? sum / n : 0);
            k->matrix[p * d + q] = value;
        }
        k->trace += k->matrix[p * d + p] / (double)d;
    }
    if (la_symeig(d, k->matrix, k->root, 1, k->matrix + d * d) != STATUS_OK)
        k->root[0] = -1;
    if (k->root[0] - 1e-11 > k->least)
        k->least = k->root[0] - 1e-11;
    else if (!(k->root[0] > 0))
        k->root[0] = 0;
}

/* ---- bins ---------------------------------------------------------------------------------------------------------------- */

/* all bins are to be filled */
static void empty(struct kng_bins *b)
{
    for (size_t i = 0; i < b->count; i++)
        b->mass[i] = NAN;
}

/* bounds and log masses (in `mass`) of the bins whose edges are there and that have none */
static void fill(const struct kng *k, struct kng_bins *b, int anisotropic, int uncapped)
{
    double d = (double)k->m->dim;
    for (size_t i = 0; i < b->count; i++) {
        double from = b->edge[i], to = b->edge[i + 1];
        if (i % 256 == 0)
            host_tick(k->m->host, 0, 0);
        if (!isnan(b->mass[i]))
            continue;
        if (anisotropic) {
            double rho = k->curvature > 0 ? from / k->stretch : fmin(to / k->shrink, k->reach);
            b->log_area[i] = (d - 1) * log(to) + (rho > 0 ? log_area(k, rho) - (d - 1) * log(rho) : 0);
            b->level[i] = level_anisotropic(k, from, to);
            b->log_cap[i] = 0;
        } else {
            b->log_area[i] = log_area(k, to);
            b->level[i] = level_at(k, from, coarse_cell(k, 0.5 * (from + to)));
            b->log_cap[i] = uncapped ? 0 : log_cap_top(k, from, to);
        }
        b->mass[i] = log(to - from) + b->log_area[i] + b->log_cap[i] - b->level[i] / k->sigma;
    }
}

/* Bins are halved where what a bin adds to the envelope's mass, about mass times range of its log, is large. */
static void refine(const struct kng *k, struct kng_bins *b, int anisotropic, int uncapped, size_t most)
{
    double enough = uncapped ? 5e-6 : 1e-4;
    empty(b);
    for (int round = 0; round < 40; round++) {
        double peak = -INFINITY, total = 0;
        size_t extra = 0;
        fill(k, b, anisotropic, uncapped);
        for (size_t i = 0; i < b->count; i++)
            peak = fmax(peak, b->mass[i]);
        for (size_t i = 0; i < b->count; i++)
            total += exp(b->mass[i] - peak);
        for (size_t i = 0; i < b->count; i++) {
            double range = (b->edge[i + 1] - b->edge[i]) / k->sigma;
            range += i > 0 ? b->log_area[i] - b->log_area[i - 1] : 2;
            range += i + 1 < b->count && b->log_cap[i + 1] > -INFINITY ? b->log_cap[i] - b->log_cap[i + 1]
                     : b->log_cap[i] < 0                               ? 2
                                                                       : 0;
            int halve = b->count + extra < most && exp(b->mass[i] - peak) / total * fmin(range, 2) > enough &&
                        b->edge[i + 1] - b->edge[i] > 1e-14 * b->edge[i + 1];
            b->halve[i] = halve;
            extra += (size_t)halve;
        }
        if (extra == 0)
            break;
        for (size_t i = b->count, j = b->count + extra; i-- > 0;) {
            j--;
            b->edge[j + 1] = b->edge[i + 1];
            b->log_area[j] = b->log_area[i];
            b->level[j] = b->level[i];
            b->log_cap[j] = b->log_cap[i];
            b->mass[j] = b->mass[i];
            if (b->halve[i] > 0) {
                b->mass[j] = b->mass[j - 1] = NAN;
                b->edge[j] = 0.5 * (b->edge[i] + b->edge[i + 1]);
                j--;
            }
        }
        b->count += extra;
    }
    fill(k, b, anisotropic, uncapped);
}

/* log masses into cumulative shares */
static void accumulate(struct kng_bins *b)
{
    double peak = -INFINITY, total = 0;
    for (size_t i = 0; i < b->count; i++)
        peak = fmax(peak, b->mass[i]);
    for (size_t i = 0; i < b->count; i++) {
        total += exp(b->mass[i] - peak);
        b->mass[i] = total;
    }
    for (size_t i = 0; i < b->count; i++)
        b->mass[i] /= total;
    b->log_total = peak + log(total);
}

static void public_bins(struct kng *k, struct kng_bins *b)
{
    b->count = COARSE;
    for (size_t j = 0; j <= COARSE; j++)
        b->edge[j] = k->reach * (j < COARSE ? square((double)j / COARSE) * ((double)j / COARSE) : 1);
    refine(k, b, 0, 1, k->space == KNG_COMPLEX ? PUBLIC_BINS / 8 : PUBLIC_BINS);
}

/* A = sqrt(2cH - c^2), 0 < c < 2 least eigenvalue: |Av| <= v'Hv for |v| = 1 */
static int make_anisotropic(struct kng *k)
{
    size_t d = k->m->dim;
    double low = k->root[0] - 1e-11, c = fmin(k->trace, 1.5 * low);
    if (!(low > 0))
        return 0;
    k->log_det = 0;
    for (size_t j = 0; j < d; j++) {
        k->root[j] = sqrt(c * (2 * (k->root[j] - 1e-11) - c));
        k->log_det += log(k->root[j]);
    }
    k->shrink = k->root[0];
    k->stretch = k->root[d - 1];
    struct kng_bins *b = &k->other;
    b->count = COARSE;
    for (size_t j = 0; j <= COARSE; j++)
        b->edge[j] = k->coarse[j] * k->stretch;
    refine(k, b, 1, 1, MOST_BINS);
    accumulate(b);
    b->log_total -= k->log_det;
    return 1;
}

int kng_supported(manifold_t m, double radius)
{
    static const struct manifold_ops *const served[] = {
        &manifold_euclidean,        &manifold_sphere,     &manifold_hyperboloid, &manifold_ball,
        &manifold_spd_logeuclidean, &manifold_spd_affine, &manifold_kendall,     &manifold_grassmann};
    int found = 0;
    for (size_t j = 0; j < sizeof served / sizeof *served; j++)
        found = found || m->ops == served[j];
    double limit = 0.5 * m->inj;
    if (m->k_max > 0)
        limit = fmin(limit, RIEMDP_PI / (4 * sqrt(m->k_max)));
    if (m->k_min < 0)
        limit = fmin(limit, 12); /* further out doubles lose the digits of what exp and log cancel, as e^2r */
    return found && radius > 0 && radius < limit;
}

static void read_space(struct kng *k)
{
    manifold_t m = k->m;
    k->curvature = m->k_max;
    k->space = m->k_min == m->k_max ? KNG_CONSTANT : m->ops == &manifold_kendall ? KNG_COMPLEX : KNG_GENERAL;
    k->slope = k->curvature > 0 ? cot_factor(k->curvature, 2 * k->radius) * (1 - 1e-12) : 1;
    k->gradient = k->gradient * (1 + 1e-9) + 1e-15;
}

static double *take(double **work, size_t n)
{
    double *p = *work;
    *work += n;
    return p;
}

static void take_bins(struct kng_bins *b, double **work)
{
    b->edge = take(work, MOST_BINS + 1);
    b->mass = take(work, MOST_BINS);
    b->level = take(work, MOST_BINS);
    b->log_area = take(work, MOST_BINS);
    b->log_cap = take(work, MOST_BINS);
    b->halve = take(work, MOST_BINS);
}

static size_t matrix_work(manifold_t m)
{
    size_t square = m->dim * m->dim, eig = la_symeig_work(m->dim);
    return m->dim <= MOST_DIM ? square + (square > eig ? square : eig) : 0;
}

static size_t sums_work(manifold_t m)
{
    return 2 + (m->dim <= MOST_DIM ? m->dim * (m->dim + 1) : 0);
}

size_t kng_work(manifold_t m, size_t n)
{
    return n + CHORDS + 1 + 12 * MOST_BINS + 2 + 4 * (COARSE + 1) + 3 * (MOST_ANGLES + 1) + 4 * m->dim +
           2 * m->ambient + matrix_work(m) + sums_work(m);
}

static void take_all(struct kng *k, double *work)
{
    manifold_t m = k->m;
    k->far = take(&work, k->x ? k->n : 0);
    k->bends = take(&work, CHORDS + 1);
    take_bins(&k->bins, &work);
    take_bins(&k->other, &work);
    k->coarse = take(&work, COARSE + 1);
    k->excess = take(&work, COARSE + 1);
    k->line = take(&work, COARSE + 1);
    k->lean = take(&work, COARSE + 1);
    k->angle_mass = take(&work, MOST_ANGLES + 1);
    k->angle_top = take(&work, MOST_ANGLES + 1);
    k->angle_low = take(&work, MOST_ANGLES + 1);
    k->axis = take(&work, m->dim);
    k->root = take(&work, m->dim);
    k->coords = take(&work, 2 * m->dim);
    k->v = take(&work, m->ambient);
    k->sum = take(&work, m->ambient);
    k->matrix = take(&work, matrix_work(m));
    k->sums = take(&work, sums_work(m));
}

/* the ball's centre as seen from the base */
static void make_axis(struct kng *k, double *scratch)
{
    manifold_t m = k->m;
    k->tilt = 0;
    if (m->ops->log(m, k->v, one(k->base), one(k->centre), 0, 1, scratch) == STATUS_OK &&
        manifold_coords(m, k->axis, one(k->base), one(k->v), 0, 1, scratch) == STATUS_OK && all_finite(m->dim, k->axis))
        k->tilt = norm2(m->dim, k->axis);
    for (size_t j = 0; j < m->dim; j++)
        k->axis[j] = k->tilt > 0 ? k->axis[j] / k->tilt : j == 0;
    if (k->tilt > k->radius)
        k->tilt = k->radius;
}

void kng_view(struct kng *k, double *work)
{
    take_all(k, work);
    read_space(k);
}

void kng_make(struct kng *k, double *work, double *scratch)
{
    manifold_t m = k->m;
    take_all(k, work);
    read_space(k);
    make_axis(k, scratch);
    make_angles(k);
    make_bends(k);
    k->trials = k->clamped = 0;
    k->shrink = k->stretch = 1;
    k->root[0] = 0;
    k->reach = (k->constant ? 2 * k->radius : k->radius + k->tilt) * (1 + 1e-12);
    k->kind = k->constant || k->envelope == KNG_SLOPE ? KNG_SLOPE : KNG_ISOTROPIC;
    look_at_records(k, scratch);
    struct kng_bins *b = &k->bins;
    if (k->constant) {
        public_bins(k, b);
        empty(b);
        fill(k, b, 0, 0);
    } else {
        b->count = COARSE;
        for (size_t j = 0; j <= COARSE; j++)
            b->edge[j] = k->coarse[j];
        refine(k, b, 0, 0, MOST_BINS);
    }
    accumulate(b);
    /* The envelope with the smaller mass accepts more often; which one it is has no say in the output's law. Most radii are
     * about dim * sigma, so a nearly isotropic Hessian has nothing to give. */
    if (k->envelope == 0 && (double)m->dim * (k->trace - k->least) < 0.02)
        return;
    if (k->kind == KNG_ISOTROPIC && k->envelope != KNG_ISOTROPIC && k->law == KNG_GRADIENT && k->root[0] > 0 &&
        make_anisotropic(k) && (k->envelope == KNG_ANISOTROPIC || k->other.log_total < b->log_total))
        k->kind = KNG_ANISOTROPIC;
}

/* ---- draws ----------------------------------------------------------------------------------------------------------------- */

/* first j with u <= cumulative[j], in a number of steps that depends on `count` alone */
static size_t find(const double *cumulative, size_t count, double u)
{
    size_t low = 0, size = count;
    while (size > 1) {
        size_t half = size / 2;
        low += cumulative[low + half - 1] < u ? half : 0;
        size -= half;
    }
    return low;
}

/* uniform direction normal to the axis (normal to its complex line), in coords[dim], ...; zero in dimension one */
static void normal_direction(const struct kng *k, struct rng *rng, double *out)
{
    size_t d = k->m->dim;
    double s = 0;
    int complex_line = k->space == KNG_COMPLEX;
    if (d == (complex_line ? 2 : 1)) {
        for (size_t j = 0; j < d; j++)
            out[j] = 0;
        return;
    }
    for (int round = 0; round < 64 && !(s > 0); round++) { /* once, but for what rounding takes */
        for (size_t j = 0; j < d; j++)
            out[j] = rng_normal(rng);
        double t = dot(d, k->axis, out), i = 0;
        for (size_t j = 0; j < d && complex_line; j += 2)
            i += k->axis[j] * out[j + 1] - k->axis[j + 1] * out[j];
        for (size_t j = 0; j < d; j++) {
            out[j] -= t * k->axis[j];
            if (complex_line)
                out[j] -= i * (j % 2 ? k->axis[j - 1] : -k->axis[j + 1]);
        }
        s = norm2(d, out);
    }
    for (size_t j = 0; j < d; j++)
        out[j] = s > 0 ? out[j] / s : 0;
}

/* A direction of the law whose mass log_cap tells: among those that may keep a point at rho in the ball. Returns the log of
 * the uniform law's density over the proposal's times that mass. */
static double draw_direction(struct kng *k, struct rng *rng, double rho, double *out)
{
    size_t d = k->m->dim;
    double *other = k->coords + d, along, across, phase = 0, log_ratio = 0, u = rng_uniform(rng), w = rng_uniform(rng);
    if (!k->constant && rho <= k->radius - k->tilt) {
        rng_direction(rng, d, out);
        return 0;
    }
    normal_direction(k, rng, other);
    if (k->space == KNG_COMPLEX) {
        double r = k->radius, t = k->tilt, total = log_cap_at(k, t, r, rho), sum = 0;
        struct rim rim = make_rim(t, r, rho);
        double left = arc(&rim, 1e-300);
        double arc_of = 1;
        int inside = rho <= r - t, j = k->cells - 1, found = 0;
        for (int i = 0; i < k->cells; i++) {
            double right = arc(&rim, (i + 1.0) / k->cells), top = inside ? 1 : fmax(left, right);
            left = right;
            sum += top > 0 ? exp(k->angle_mass[i] + log(top) - total) : 0;
            if (!found && u <= sum) {
                found = 1;
                j = i;
                arc_of = top;
            }
        }
        if (!found)
            arc_of = inside ? 1 : left;
        double v = rng_uniform(rng), c = 0.5 * (double)d;
        double rest = (k->angle_top[j] + log1p(v * expm1(k->angle_top[j + 1] - k->angle_top[j]))) / (c - 1);
        along = sqrt(-expm1(rest));
        across = exp(0.5 * rest);
        phase = RIEMDP_PI * arc_of * (2 * w - 1);
    } else {
        double theta = cap_angle(k->curvature, k->tilt, k->radius, rho);
        if (d == 1) {
            theta = theta < RIEMDP_PI || u < 0.5 ? 0 : RIEMDP_PI;
        } else if (d == 2) {
            theta *= u;
        } else {
            double target = log_stair(k, theta) + log(u), width = RIEMDP_PI / k->cells;
            int low = 0, size = k->cells;
            while (size > 1) { /* last cell that starts below the target */
                int half = size / 2;
                low += k->angle_mass[low + half] < target ? half : 0;
                size -= half;
            }
            double from = low * width, to = fmin(from + width, theta);
            theta = from + (to - from) * w;
            double s = sin(theta);
            log_ratio = (s > 0 ? ((double)d - 2) * log(s) : -INFINITY) - k->angle_top[low] -
                        (0.5 * log(RIEMDP_PI) + lgamma(0.5 * ((double)d - 1)) - lgamma(0.5 * (double)d));
        }
        along = cos(theta);
        across = sin(theta);
    }
    double re = along * cos(phase), im = along * sin(phase);
    for (size_t j = 0; j < d; j++) {
        out[j] = re * k->axis[j] + across * other[j];
        if (phase != 0)
            out[j] += im * (j % 2 ? k->axis[j - 1] : -k->axis[j + 1]);
    }
    return log_ratio;
}

double kng_gradient_norm(const struct kng *k, const double *y, double *scratch)
{
    manifold_t m = k->m;
    double *a = k->coords;
    if (m->ops->log(m, k->v, one(k->centre), one(y), 0, 1, scratch) != STATUS_OK ||
        manifold_coords(m, a, one(k->centre), one(k->v), 0, 1, scratch) != STATUS_OK || !all_finite(m->dim, a))
        return INFINITY;
    steps_clip(k->steps, a);
    return steps_gradient(k->steps, k->records, a, a + m->dim, k->total, m->host, k->steps_room);
}

/* point at coordinates a; 0 where it isn't in the ball */
static int place(const struct kng *k, const double *a, double *y, double *scratch)
{
    manifold_t m = k->m;
    double far;
    return manifold_from_coords(m, k->v, one(k->base), one(a), 0, 1, scratch) == STATUS_OK &&
           m->ops->exp(m, y, one(k->base), one(k->v), 0, 1, scratch) == STATUS_OK && all_finite(m->ambient, y) &&
           manifold_dist(m, &far, one(k->centre), one(y), 0, 1, scratch) == STATUS_OK && far <= k->radius;
}

int kng_trial(struct kng *k, struct rng *rng, double *y, double *scratch)
{
    manifold_t m = k->m;
    size_t d = m->dim;
    int anisotropic = k->kind == KNG_ANISOTROPIC;
    const struct kng_bins *b = anisotropic ? &k->other : &k->bins;
    double log_u = log(rng_uniform(rng)), rho, log_accept, *a = k->coords;
    size_t i = find(b->mass, b->count, rng_uniform(rng));
    double radial = b->edge[i] + (b->edge[i + 1] - b->edge[i]) * rng_uniform(rng);
    k->trials++;
    host_tick(m->host, 0, 0);
    if (anisotropic) {
        double *w = k->coords + d;
        rng_direction(rng, d, w);
        for (size_t p = 0; p < d; p++)
            a[p] = 0;
        for (size_t j = 0; j < d; j++)
            for (size_t p = 0; p < d; p++)
                a[p] += k->matrix[p + j * d] * (radial * w[j] / k->root[j]);
        rho = norm2(d, a);
        if (!(rho <= k->reach && rho > 0))
            return 0;
        log_accept = ((double)d - 1) * log(radial / rho) + log_area(k, rho) - b->log_area[i];
    } else {
        rho = radial;
        log_accept = log_area(k, rho) - b->log_area[i] + log_cap(k, rho) - b->log_cap[i];
        if (!k->constant && log_u > log_accept)
            return 0;
        log_accept += draw_direction(k, rng, rho, a);
        for (size_t j = 0; j < d; j++)
            a[j] *= rho;
    }
    if (!k->constant && log_u > log_accept)
        return 0;
    int inside = place(k, a, y, scratch);
    if (!inside && !k->constant)
        return 0;
    log_accept += log_area_true(k, a, rho, scratch);
    if (!k->constant && !(log_u <= log_accept))
        return 0;
    double f = k->law == KNG_GRADIENT ? kng_gradient_norm(k, y, scratch) : rho;
    if (f < b->level[i] * (1 - 1e-12) - 1e-13)
        k->clamped++;
    log_accept -= fmax(f - b->level[i], 0) / k->sigma;
    return inside && log_u <= log_accept;
}

int kng_draw(struct kng *k, double trials, struct rng *rng, double *y, double *scratch)
{
    int found = 0;
    for (double t = 0; t < trials && !found; t++)
        found = kng_trial(k, rng, y, scratch);
    return found;
}

void kng_bounds(struct kng *k, const double *y, double *out, double *scratch)
{
    manifold_t m = k->m;
    double *a = k->coords, *w = a + m->dim, rho = 0;
    out[0] = kng_gradient_norm(k, y, scratch);
    for (int j = 1; j < 5; j++)
        out[j] = NAN;
    if (m->ops->log(m, k->v, one(k->base), one(y), 0, 1, scratch) != STATUS_OK ||
        manifold_coords(m, a, one(k->base), one(k->v), 0, 1, scratch) != STATUS_OK)
        return;
    out[1] = rho = norm2(m->dim, a);
    out[2] = k->slope * rho - k->gradient;
    if (rho > k->reach)
        return;
    out[3] = level_at(k, rho, coarse_cell(k, rho));
    if (k->shrink < 1 || k->stretch > 1) {
        for (size_t j = 0; j < m->dim; j++)
            w[j] = k->root[j] * dot(m->dim, k->matrix + j * m->dim, a);
        double size = norm2(m->dim, w);
        out[4] = level_anisotropic(k, size, size);
    }
}

/* ---- public bounds of the acceptance -------------------------------------------------------------------------------------- */

/* log of a lower bound of the probability that a uniform direction keeps a point at rho in the ball of radius r */
static double log_cap_low(const struct kng *k, double tilt, double r, double rho)
{
    if (rho <= r - tilt)
        return 0;
    if (!(rho < r + tilt) || !(r > 0))
        return -INFINITY;
    if (k->space == KNG_COMPLEX) {
        double sum = 0, a = cos(tilt) * cos(rho), b = sin(tilt) * sin(rho), gap = a * a - square(cos(r));
        struct rim rim = make_rim(tilt, r, rho);
        double lowest = gap > 0 && b > 0 ? sqrt(gap) / b : -1, left = arc(&rim, 1e-300);
        for (int j = 0; j < k->cells; j++) {
            double s0 = (double)j / k->cells, s1 = (j + 1.0) / k->cells, right = arc(&rim, s1);
            double low = fmin(left, right);
            if (lowest > s0 && lowest < s1)
                low = fmin(low, arc(&rim, lowest));
            left = right;
            sum += exp(k->angle_mass[j]) * low;
        }
        return sum > 0 ? log(sum) : -INFINITY;
    }
    double theta = cap_angle(k->space == KNG_GENERAL ? k->m->k_min : k->curvature, tilt, r, rho);
    if (k->m->dim < 3)
        return log_stair(k, theta);
    int j = (int)(theta / RIEMDP_PI * k->cells * (1 - 1e-14));
    return k->angle_low[j] > 0 ? log(k->angle_low[j]) : -INFINITY;
}

double kng_least_acceptance(manifold_t m, double radius, double sigma, double gradient, int law, double *work,
                            double *scratch)
{
    struct kng law_of = {.m = m, .radius = radius, .sigma = sigma, .gradient = gradient, .law = law, .constant = 1};
    struct kng *k = &law_of;
    (void)scratch;
    take_all(k, work);
    read_space(k);
    make_angles(k);
    k->kind = KNG_SLOPE;
    k->reach = 2 * radius * (1 + 1e-12);
    struct kng_bins *b = &k->bins;
    public_bins(k, b);
    double extra = law == KNG_DISTANCE ? 0 : k->gradient, k_min = law == KNG_DISTANCE ? 0 : fmin(m->k_min, 0), least = 1;
    /* What the cells of the tilt share: log masses above and below without the cap, and the exponents. The shares and halves of the
     * bins have served. */
    double *top = b->mass, *down = b->halve, *low = k->other.mass, *steep = k->other.level;
    for (size_t i = 0; i < b->count; i++) {
        double lo = b->edge[i], hi = b->edge[i + 1], width = log(hi - lo);
        top[i] = width + b->log_area[i];
        down[i] = b->level[i] / sigma;
        low[i] = lo > 0 || m->dim == 1 ? width + (m->dim == 1 ? 0 : log_area_low(k, lo)) : -INFINITY;
        steep[i] = (cot_factor(k_min, fmin(radius + extra + hi, 2 * radius)) * hi + extra) / sigma;
    }
    /* cells of the tilt: within each, the ball is compared with balls of a slightly smaller and larger radius */
    for (double from = 0; from < radius;) {
        double half = fmin(0.01 * (radius - from + sigma), 0.01 * radius), log_top = -INFINITY, log_low = -INFINITY;
        double to = fmin(from + 2 * half, radius), tilt = 0.5 * (from + to);
        half = 0.5 * (to - from) * (1 + 1e-9);
        host_tick(m->host, 0, 0);
        for (size_t i = 0; i < b->count; i++) {
            double lo = b->edge[i], hi = b->edge[i + 1];
            log_top = log_add(log_top, top[i] + log_cap_at(k, tilt, radius + half, lo) - down[i]);
            if (low[i] > -INFINITY)
                log_low = log_add(log_low, low[i] + log_cap_low(k, tilt, radius - half, hi) - steep[i]);
        }
        least = fmin(least, exp(log_low - log_top));
        from = to;
    }
    return least > 0 ? least * (1 - 1e-9) : 0;
}
