#include "objective_perturbation.h"

#include <string.h>

#include "linalg.h"

void radial_psi(const struct radial_loss *loss, double r, double *psi, double *slope)
{
    double z = r / (loss->tau * loss->step);
    if (!(z < (double)loss->knots)) {
        *psi = loss->tau * loss->g[loss->knots];
        *slope = 0;
        return;
    }
    size_t i = (size_t)z;
    double rise = loss->g[i + 1] - loss->g[i];
    *psi = loss->tau * (loss->g[i] + rise * (z - (double)i));
    *slope = rise / loss->step;
}

void table_psi(const struct radial_loss *loss, double e, double y, double *psi, double *slope)
{
    double z = (e - loss->first) / loss->step, rise = 0, value;
    if (!(z > 0)) {
        value = loss->g[0];
    } else if (z < (double)loss->knots) {
        size_t i = (size_t)z;
        rise = loss->g[i + 1] - loss->g[i];
        value = loss->g[i] + rise * (z - (double)i);
    } else {
        value = loss->g[loss->knots];
    }
    value += y;
    *psi = fmax(-loss->tau, fmin(loss->tau, value));
    *slope = fabs(value) < loss->tau ? rise / loss->step : 0;
}

/* what a curvature of v takes of the budget, and its inverse: determinants of averages are bounded by their trace */
static double curvature_cost(double v, int averaged)
{
    return averaged ? v : log1p(v);
}

static double affordable_curvature(double left, int averaged)
{
    return averaged ? left : expm1(left);
}

int shared_loss(double k, double e1, double q, double t, int averaged, double step, size_t knots, double *g)
{
    if (!(q * curvature_cost(t, averaged) <= k))
        return STATUS_OUT_OF_RANGE;
    double before = 1;
    g[0] = 0;
    for (size_t i = 0; i < knots; i++) {
        double a = i ? g[i] / (step * (double)i) : 1;
        double ahead = fmin(1, g[i] + before * step);
        double slope =
            affordable_curvature(k - e1 * ahead / 2 - (q - 1) * curvature_cost(t * a, averaged), averaged) / t;
        slope = fmax(0, fmin(fmin(slope, a), fmin(1, (1 - g[i]) / step)));
        g[i + 1] = g[i] + slope * step;
        before = slope;
    }
    /* on each interval the worst of the three terms apart, beyond the last knot as well */
    for (size_t i = 0; i <= knots; i++) {
        double a = i ? g[i] / (step * (double)i) : 1;
        double slope = i < knots ? (g[i + 1] - g[i]) / step : 0, u = i < knots ? g[i + 1] : g[i];
        double all = (q - 1) * curvature_cost(t * a, averaged) + curvature_cost(t * slope, averaged);
        if (!(e1 * u / 2 + all <= k - 1e-12) || !(slope >= 0 && slope <= 1 + 1e-12) || !(u <= 1 + 1e-12))
            return STATUS_OUT_OF_RANGE;
    }
    return STATUS_OK;
}

/* s + c += v (Neumaier) */
static void add(double *s, double *c, double v)
{
    double t = *s + v;
    *c += fabs(*s) >= fabs(v) ? (*s - t) + v : (v - t) + *s;
    *s = t;
}

static double feature(const struct perturbed *o, size_t i, size_t k, size_t j)
{
    return o->own ? o->x[(i * o->p + k) * o->q + j] : o->x[i * o->p + k];
}

/* a + b, and what its rounding left (Knuth) */
static inline double two_sum(double a, double b, double *left)
{
    double s = a + b, t = s - a;
    *left = (a - (s - t)) + (b - t);
    return s;
}

/* a length whose squares doubles may not hold */
static double length_of(size_t q, const double *e)
{
    double r = 0;
    for (size_t j = 0; j < q; j++)
        r += e[j] * e[j];
    if (q == 1)
        return fabs(e[0]);
    if (r > 1e-280 && r < 1e280)
        return sqrt(r);
    r = 0;
    for (size_t j = 0; j < q; j++)
        r = hypot(r, e[j]);
    return r;
}

/* residual e of record i, as if rounded once; psi, and what the Hessian has across e and along it: across I + radial e e'; both by its
 * share */
static void residual(const struct perturbed *o, size_t i, const double *b, double *e, double *psi, double *across,
                     double *radial)
{
    size_t p = o->p, q = o->q;
    const double *low = b + p * q;
    double r, size, slope;
    for (size_t j = 0; j < q; j++) {
        double s = o->loss.added ? 0 : o->y[i * q + j], rest = 0, left;
        for (size_t k = 0; k < p; k++) {
            double f = feature(o, i, k, j), product = f * b[k * q + j];
            rest -= fma(f, b[k * q + j], -product) + f * low[k * q + j];
            s = two_sum(s, -product, &left);
            rest += left;
        }
        e[j] = s + rest;
    }
    if (o->loss.table) {
        table_psi(&o->loss, e[0], o->loss.added ? o->y[i] : 0, &size, &slope);
        *across = slope * (o->share ? o->share[i] : 1);
        *psi = size * (o->share ? o->share[i] : 1);
        *radial = 0;
        return;
    }
    r = length_of(q, e);
    radial_psi(&o->loss, r, &size, &slope);
    *across = r > 0 ? size / r : slope;
    *radial = r > 0 ? (slope - *across) / r / r : 0;
    if (o->share) {
        *across *= o->share[i];
        *radial *= o->share[i];
    }
    for (size_t j = 0; j < q; j++)
        psi[j] = *across * e[j];
}

void perturbed_record(const struct perturbed *o, size_t i, const double *b, double *gradient, double *triangle,
                      double *work)
{
    size_t p = o->p, q = o->q;
    double *e = work, *psi = e + q, across, radial;
    residual(o, i, b, e, psi, &across, &radial);
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j < q; j++)
            gradient[k * q + j] = -feature(o, i, k, j) * psi[j];
    for (size_t k = 0; k < p && triangle; k++)
        for (size_t j = 0; j < q; j++)
            for (size_t l = k; l < p; l++)
                for (size_t h = l == k ? j : 0; h < q; h++)
                    *triangle++ =
                        feature(o, i, k, j) * (radial * e[j] * e[h] + (h == j ? across : 0)) * feature(o, i, l, h);
}

/* adds F' (across I + radial e e') F of record i to the lower triangle */
static void add_curvature(const struct perturbed *o, size_t i, const double *e, double across, double radial,
                          double *hessian)
{
    size_t p = o->p, q = o->q;
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j < q; j++) {
            double f = feature(o, i, k, j);
            if (f == 0)
                continue;
            double *column = hessian + (k * q + j) * p * q;
            for (size_t l = k; l < p; l++) {
                double *block = column + l * q;
                if (!o->own) {
                    double c = f * radial * e[j] * o->x[i * p + l];
                    for (size_t h = 0; h < q; h++)
                        block[h] += c * e[h];
                } else {
                    for (size_t h = 0; h < q; h++)
                        block[h] += f * radial * e[j] * e[h] * feature(o, i, l, h);
                }
                block[j] += f * across * feature(o, i, l, j);
            }
        }
}

/* work: residual, psi (q each), carry (p q) */
void perturbed_gradient(const struct perturbed *o, const double *b, double *gradient, double *hessian, double *work)
{
    size_t p = o->p, q = o->q, m = p * q;
    double *e = work, *psi = e + q, *carry = psi + q;
    memset(gradient, 0, m * sizeof *gradient);
    memset(carry, 0, m * sizeof *carry);
    if (hessian)
        memset(hessian, 0, m * m * sizeof *hessian);
    if (o->sums)
        o->sums(o, b, gradient, hessian);
    for (size_t i = 0; i < o->n && !o->sums; i++) {
        double across, radial;
        residual(o, i, b, e, psi, &across, &radial);
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < q; j++)
                add(gradient + k * q + j, carry + k * q + j, -feature(o, i, k, j) * psi[j]);
        if (hessian)
            add_curvature(o, i, e, across, radial, hessian);
        if (i % 4096 == 4095)
            host_tick(o->host, 0, 0);
    }
    host_tick(o->host, 0, 0); /* no counts: how often this is called depends on the records */
    for (size_t k = 0; k < m; k++) {
        add(gradient + k, carry + k, o->ridge[k] * (b[k] - o->centre[k] + b[m + k]));
        add(gradient + k, carry + k, o->noise[k]);
        gradient[k] += carry[k];
    }
}

size_t perturbed_work(const struct perturbed *o)
{
    size_t m = o->p * o->q;
    return 2 * m * m + 14 * m + 2 * o->q;
}

/* to = b + s d, as sums of two doubles */
static void move(size_t m, const double *b, double s, const double *d, double *to)
{
    for (size_t k = 0; k < m; k++) {
        double left, high = two_sum(b[k], s * d[k], &left);
        left += b[m + k];
        to[k] = high + left;
        to[m + k] = left - (to[k] - high);
    }
}

/* One damped step from b with gradient g: the direction's first point where the directional derivative has risen to between -.9
 * times its start and 0; such a point exists since that derivative is continuous, does not fall, and ends above 0. b and g are
 * overwritten. */
static void damped_step(const struct perturbed *o, const double *d, double *b, double *g, double *trial, double *work)
{
    size_t m = o->p * o->q;
    double start = dot(m, g, d), low = 0, high = 0, alpha = 1;
    for (int i = 0; i < 100; i++) {
        move(m, b, alpha, d, trial);
        perturbed_gradient(o, trial, g, NULL, work);
        double slope = dot(m, g, d);
        if (slope <= 0 && slope >= 0.9 * start)
            break;
        if (slope > 0)
            high = alpha;
        else
            low = alpha;
        alpha = high > 0 ? 0.5 * (low + high) : 2 * alpha;
        if (high > 0 && alpha == low)
            break;
    }
    memcpy(b, trial, 2 * m * sizeof *b);
}

/* Nesterov's method for strong convexity mu and smoothness l, for the steps that it takes in exact numbers; should rounding keep it from
 * its end, steps of length 1/l from the better of where it began and where it got to: those stand errors of the gradient up to eta/4. */
static int gradual(const struct perturbed *o, double eta, double *b, double *g, double *work)
{
    size_t m = o->p * o->q;
    double *first = work, *before = first + 2 * m, *ahead = before + 2 * m, mu = INFINITY, l = 0;
    work = ahead + 2 * m;
    for (size_t k = 0; k < m; k++) {
        mu = fmin(mu, o->ridge[k]);
        l = fmax(l, o->ridge[k]);
    }
    l += o->total * o->reach;
    perturbed_gradient(o, b, g, NULL, work);
    double root = sqrt(mu / l), momentum = (1 - root) / (1 + root), begun = norm2(m, g), size = begun;
    double far = fmax(2, begun / eta), fast = ceil(2 * log(12 * l / mu * far) / root) + 2;
    /* not of the square, which may overflow: records beyond `reach` end as well */
    double steps = fast + ceil(5.4 * l / mu * (log(8 * l / mu * far) + log(far))) + 2;
    memcpy(first, b, 2 * m * sizeof *b);
    memcpy(before, b, 2 * m * sizeof *b);
    memcpy(ahead, b, 2 * m * sizeof *b);
    for (double k = 0; k < steps && size > REACHED * eta; k++) {
        if (k == fast) {
            momentum = 0;
            if (!(size < begun))
                memcpy(ahead, first, 2 * m * sizeof *b);
            perturbed_gradient(o, ahead, g, NULL, work);
        }
        move(m, ahead, -1 / l, g, b);
        for (size_t i = 0; i < m; i++)
            g[i] = b[i] - before[i] + (b[m + i] - before[m + i]);
        memcpy(before, b, 2 * m * sizeof *b);
        move(m, b, momentum, g, ahead);
        perturbed_gradient(o, ahead, g, NULL, work);
        size = norm2(m, g);
    }
    memcpy(b, ahead, 2 * m * sizeof *b);
    return size <= REACHED * eta ? STATUS_OK : STATUS_NO_CONVERGENCE;
}

int perturbed_minimise(const struct perturbed *o, double eta, size_t newton, double *b, double *work)
{
    size_t m = o->p * o->q;
    double *h = work, *l = h + m * m, *g = l + m * m, *d = g + m, *trial = d + m, *best = trial + 2 * m,
           *rest = best + 2 * m;
    double least = INFINITY;
    for (size_t step = 0;; step++) {
        perturbed_gradient(o, b, g, h, rest);
        double size = norm2(m, g);
        if (size <= REACHED * eta)
            return STATUS_OK;
        if (size < least) {
            least = size;
            memcpy(best, b, 2 * m * sizeof *b);
        }
        if (step == newton)
            break;
        for (size_t k = 0; k < m; k++) {
            h[k * m + k] += o->ridge[k];
            d[k] = -g[k];
        }
        if (la_chol(m, h, l) != STATUS_OK)
            break;
        la_solve_lower('N', m, 1, l, d);
        la_solve_lower('T', m, 1, l, d);
        move(m, b, 1, d, trial);
        perturbed_gradient(o, trial, h, NULL, rest);
        if (norm2(m, h) <= 0.5 * least)
            memcpy(b, trial, 2 * m * sizeof *b);
        else
            damped_step(o, d, b, g, trial, rest);
    }
    memcpy(b, best, 2 * m * sizeof *b);
    return gradual(o, eta, b, g, rest);
}

/* a Gamma radius of one more than the dimension times a uniform point of the unit ball, a product of balls */
int block_draw(size_t blocks, const double *size, double rate, struct rng *rng, double *b)
{
    double m = 0;
    for (size_t k = 0; k < blocks; k++)
        m += size[k];
    if (!(rate > 0))
        return STATUS_OUT_OF_RANGE;
    double r = rng_gamma(rng, m + 1) / rate;
    for (size_t k = 0; k < blocks; k++) {
        size_t q = (size_t)size[k];
        rng_direction(rng, q, b);
        double s = r * pow(rng_uniform(rng), 1 / size[k]);
        for (size_t j = 0; j < q; j++)
            b[j] *= s;
        b += q;
    }
    return STATUS_OK;
}

int perturbation_draw(enum perturbation_norm norm, size_t p, size_t q, double rate, struct rng *rng, double *b,
                      double *work)
{
    size_t m = p * q;
    if (!(rate > 0) || p < 1 || q < 1)
        return STATUS_OUT_OF_RANGE;
    if (norm == NORM_LENGTH) {
        rng_direction(rng, m, b);
        double r = rng_gamma(rng, (double)m) / rate;
        for (size_t k = 0; k < m; k++)
            b[k] *= r;
        return STATUS_OK;
    }
    if (norm == NORM_SQUARE) {
        rng_normals(rng, m, 1 / rate, b);
        return STATUS_OK;
    }
    if (norm == NORM_MAX) {
        double r = rng_gamma(rng, (double)m + 1) / rate;
        for (size_t k = 0; k < p; k++) {
            rng_direction(rng, q, b + k * q);
            double s = r * pow(rng_uniform(rng), 1 / (double)q);
            for (size_t j = 0; j < q; j++)
                b[k * q + j] *= s;
        }
        return STATUS_OK;
    }
    if (p > PERTURBATION_FEATURES)
        return STATUS_OUT_OF_RANGE;
    memset(b, 0, m * sizeof *b);
    for (size_t v = 0; v < (size_t)1 << (p - 1); v++) {
        rng_direction(rng, q, work);
        double r = rng_gamma(rng, (double)q) / rate;
        for (size_t k = 0; k < p; k++) {
            double s = k > 0 && (v >> (k - 1) & 1) ? -r : r;
            for (size_t j = 0; j < q; j++)
                b[k * q + j] += s * work[j];
        }
    }
    return STATUS_OK;
}

/* Rows of independent Gamma(q) lengths whose sum, with another exponential variable, divides them are uniform in {sum |b_k| <= 1}; a product
 * of such balls is stretched as for the largest of them */
int simplex_draw(size_t p, size_t q, const double *group, double rate, struct rng *rng, double *b, double *work)
{
    if (!(rate > 0) || p < 1 || q < 1)
        return STATUS_OUT_OF_RANGE;
    double r = rng_gamma(rng, (double)(p * q) + 1) / rate;
    for (size_t c = 0; c < p; c++)
        work[c] = rng_gamma(rng, 1);
    for (size_t k = 0; k < p; k++) {
        double length = rng_gamma(rng, (double)q);
        rng_direction(rng, q, b + k * q);
        for (size_t j = 0; j < q; j++)
            b[k * q + j] *= length;
        work[(size_t)group[k] - 1] += length;
    }
    for (size_t k = 0; k < p; k++) {
        double s = r / work[(size_t)group[k] - 1];
        for (size_t j = 0; j < q; j++)
            b[k * q + j] *= s;
    }
    return STATUS_OK;
}
