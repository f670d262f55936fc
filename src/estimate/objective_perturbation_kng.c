/* The K-norm gradient mechanism of the clipped gradient: inst/proofs/linear-regression.md, section 7. */
#include "objective_perturbation.h"

#include <stdlib.h>
#include <string.h>

#include "linalg.h"

enum { KNG_BINS = 512 };

/* max_k |g_k| over the rows of p x q numbers */
static double gauge_of(const struct perturbed *o, const double *g)
{
    double norm = 0;
    for (size_t k = 0; k < o->p; k++)
        norm = fmax(norm, norm2(o->q, g + k * o->q));
    return norm;
}

/* B with the ridge's part of the gradient, |ridge_k (B_k - C_k)|, of gauge r, its direction that of a uniform point of a gauge ball */
static void on_gauge(const struct perturbed *o, double r, struct rng *rng, double *b)
{
    size_t p = o->p, q = o->q;
    for (size_t k = 0; k < p; k++) {
        rng_direction(rng, q, b + k * q);
        double s = pow(rng_uniform(rng), 1 / (double)q);
        for (size_t j = 0; j < q; j++)
            b[k * q + j] *= s;
    }
    double norm = gauge_of(o, b);
    for (size_t k = 0; k < p * q; k++)
        b[k] = o->centre[k] + r * (b[k] / norm) / o->ridge[k];
}

static int in_ridge_ball(const struct perturbed *o, const double *b, double radius)
{
    double length = 0;
    for (size_t k = 0; k < o->p * o->q; k++)
        length += o->ridge[k] * square(b[k] - o->centre[k]);
    return length <= radius * radius;
}

/* ---- the envelope ------------------------------------------------------------------------------------------------ */

/* H = ridge + sum_i w_i F_i'F_i = G (x) I, w_i the records' shares, is the Hessian where no residual exceeds tau. In the coordinates
 * |v|^2 = <B - b, B - b>_H a record's prediction moves by at most f_i |v|, f_i^2 = x_i'G^-1 x_i, so up to |v| = (tau - |e_i|)/f_i its
 * curvature is whole. Along a ray the slope of J rises at least by 1 - sum of w_i f_i^2 over the records past that point, and never by
 * less than the ridge gives. */
struct envelope {
    const struct perturbed *o;
    const double *b; /* where it is highest, or nearly */
    double rate, radius, reach;
    double *l;    /* G's factor */
    double gauge; /* sum_k |delta_k| <= gauge for every direction delta of length 1 in H */
    double share; /* the ridge's share of H is at least 1 over it */
    double *far;  /* of each record: up to which |v| its curvature is whole, and w_i f_i^2; the nearest first */
    double *edge, *mass, total; /* bins of |v|, the right ends, and their masses */
    double *g, *v, *at, *x, *rest;
};

static int by_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t clipped_kng_work(const struct perturbed *o)
{
    return 2 * o->n + 2 * KNG_BINS + 2 * o->p * o->p + 4 * o->p * o->q + o->p + perturbed_work(o);
}

static struct envelope make_room(const struct perturbed *o, const double *b, double rate, double radius, double *work)
{
    size_t p = o->p, m = p * o->q;
    struct envelope c = {.o = o, .b = b, .rate = rate, .radius = radius, .far = work};
    c.edge = c.far + 2 * o->n;
    c.mass = c.edge + KNG_BINS;
    c.l = c.mass + KNG_BINS;
    c.g = c.l + 2 * p * p;
    c.v = c.g + m;
    c.at = c.v + m;
    c.x = c.at + 2 * m;
    c.rest = c.x + p;
    return c;
}

static double share_of(const struct perturbed *o, size_t i)
{
    return o->share ? o->share[i] : 1;
}

/* factor, gauge and share of H */
static int look_at_hessian(struct envelope *c)
{
    const struct perturbed *o = c->o;
    size_t n = o->n, p = o->p, q = o->q;
    double *l = c->l, *inverse = l + p * p, least = INFINITY, whole = 0;
    memset(l, 0, p * p * sizeof *l);
    for (size_t k = 0; k < p; k++) {
        l[k * p + k] = o->ridge[k * q];
        least = fmin(least, o->ridge[k * q]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p; k++)
            for (size_t h = k; h < p; h++)
                l[k * p + h] += share_of(o, i) * (o->x[i * p + k] * o->x[i * p + h]);
    if (la_chol(p, l, l) != STATUS_OK)
        return STATUS_LINALG;
    la_inverse_from_chol(p, l, inverse, c->rest);
    c->gauge = 0;
    for (size_t k = 0; k < p * p; k++)
        c->gauge += fabs(inverse[k]);
    c->gauge = sqrt(c->gauge) * (1 + 1e-12);
    for (size_t i = 0; i < n; i++)
        whole += share_of(o, i) * dot(p, o->x + i * p, o->x + i * p);
    c->share = 1 + whole / least; /* the largest generalised eigenvalue of the rest is at most the second term */
    return STATUS_OK;
}

static void look_at_records(struct envelope *c)
{
    const struct perturbed *o = c->o;
    size_t n = o->n, p = o->p, q = o->q;
    double *far = c->far, *x = c->x;
    for (size_t i = 0; i < n; i++) {
        double e = 0, f = 0;
        for (size_t j = 0; j < q; j++) {
            double r = o->y[i * q + j];
            for (size_t k = 0; k < p; k++)
                r -= o->x[i * p + k] * c->b[k * q + j];
            e = hypot(e, r);
        }
        memcpy(x, o->x + i * p, p * sizeof *x);
        la_solve_lower('N', p, 1, c->l, x);
        f = norm2(p, x);
        far[2 * i] = f > 0 ? fmax(0, (o->loss.tau - e) / f) * (1 - 1e-12) : INFINITY;
        far[2 * i + 1] = share_of(o, i) * (f * f * (1 + 1e-12));
    }
    qsort(far, n, 2 * sizeof *far, by_first);
}

/* the gradient's length at b in the norm dual to H's: along no ray does J fall faster */
static double slope_at_start(const struct envelope *c)
{
    const struct perturbed *o = c->o;
    size_t p = o->p, q = o->q;
    double start = 0, *x = c->x;
    perturbed_gradient(o, c->b, c->g, NULL, c->rest);
    for (size_t j = 0; j < q; j++) {
        for (size_t k = 0; k < p; k++)
            x[k] = c->g[k * q + j];
        la_solve_lower('N', p, 1, c->l, x);
        start += dot(p, x, x);
    }
    return sqrt(start) * (1 + 1e-9);
}

/* bins of the radius, finest near 0; the rise of the slope up to each one's left end */
static void make_bins(struct envelope *c)
{
    const struct perturbed *o = c->o;
    size_t n = o->n, m = o->p * o->q, next = 0;
    double start = slope_at_start(c), least = 1 / c->share * (1 - 1e-12), from = 0;
    for (size_t k = 0; k < m; k++)
        from += o->ridge[k] * square(c->b[k] - o->centre[k]);
    c->reach = (c->radius + sqrt(from)) * sqrt(c->share);
    double rise = 0, slope = 1, left = 0;
    c->total = 0;
    for (size_t i = 0; i < KNG_BINS; i++) {
        double right = i + 1 < KNG_BINS ? c->reach * pow(1e-9, 1 - (double)(i + 1) / KNG_BINS) : c->reach;
        c->edge[i] = right;
        double level = exp(-c->rate * fmax(0, rise - start) / c->gauge);
        c->mass[i] = level * (pow(right / c->reach, (double)m) - pow(left / c->reach, (double)m));
        c->total += c->mass[i];
        double s = left;
        while (next < n && c->far[2 * next] < right) {
            rise += fmax(slope, least) * fmax(0, c->far[2 * next] - s);
            s = fmax(s, c->far[2 * next]);
            slope -= c->far[2 * next + 1];
            next++;
        }
        rise += fmax(slope, least) * (right - s);
        left = right;
    }
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

/* a point of the envelope's law to c->at; true if it is kept */
static int radial_trial(const struct envelope *c, struct rng *rng)
{
    const struct perturbed *o = c->o;
    size_t p = o->p, q = o->q, m = p * q, bin = 0;
    double u = rng_uniform(rng) * c->total, *x = c->x;
    while (bin < KNG_BINS - 1 && (u -= c->mass[bin]) >= 0)
        bin++;
    double lo = bin ? pow(c->edge[bin - 1] / c->reach, (double)m) : 0, hi = pow(c->edge[bin] / c->reach, (double)m);
    double level = c->mass[bin] / (hi - lo);
    double rho = c->reach * pow(lo + (hi - lo) * rng_uniform(rng), 1 / (double)m);
    rng_direction(rng, m, c->v);
    for (size_t j = 0; j < q; j++) { /* delta = L^-T v, response by response */
        for (size_t k = 0; k < p; k++)
            x[k] = c->v[k * q + j];
        la_solve_lower('T', p, 1, c->l, x);
        for (size_t k = 0; k < p; k++)
            c->at[k * q + j] = c->b[k * q + j] + rho * x[k];
    }
    double toss = rng_uniform(rng);
    host_tick(o->host, 0, 0);
    if (!in_ridge_ball(o, c->at, c->radius))
        return 0;
    perturbed_gradient(o, c->at, c->g, NULL, c->rest);
    return log(toss) + log(level) <= -c->rate * gauge_of(o, c->g);
}

/* The records pull with a gauge of n tau at most, so exp(-rate (N - n tau)+), N the ridge's gauge, lies above the law: a trial from it, in
 * polar coordinates of the gauge, where beyond n tau the radius is a mixture of Gamma laws. True if kept. */
static int public_trial(const struct envelope *c, struct rng *rng)
{
    const struct perturbed *o = c->o;
    size_t m = o->p * o->q;
    double pull = o->total * o->loss.tau, s = c->rate * pull, mass[4] = {1}, total = 1, factor = 1, r;
    /* over s^m/m: the inside 1, and beyond it m choose(m - 1, i) i! s^-(i + 1) */
    for (size_t i = 0; i < m; i++) {
        factor *= (double)(m - i) / s;
        total += mass[i + 1] = factor;
    }
    double u = rng_uniform(rng) * total, toss = rng_uniform(rng);
    size_t i = 0;
    while (i < m && (u -= mass[i]) >= 0)
        i++;
    r = i == 0 ? s * pow(rng_uniform(rng), 1 / (double)m) : s + rng_gamma(rng, (double)i);
    on_gauge(o, r / c->rate, rng, c->at);
    if (!in_ridge_ball(o, c->at, c->radius))
        return 0;
    perturbed_gradient(o, c->at, c->g, NULL, c->rest);
    return log(toss) <= fmax(r - s, 0) - c->rate * gauge_of(o, c->g);
}

/* uniform on a small gauge ball inside the domain */
static void public_draw(const struct envelope *c, struct rng *rng)
{
    const struct perturbed *o = c->o;
    size_t m = o->p * o->q;
    double inverse_ridges = 0;
    for (size_t k = 0; k < o->p; k++)
        inverse_ridges += 1 / o->ridge[k * o->q];
    double most = fmin(1 / c->rate, c->radius / sqrt(inverse_ridges));
    on_gauge(o, most * pow(rng_uniform(rng), 1 / (double)m), rng, c->at);
}

int clipped_kng(const struct perturbed *o, double rate, double radius, const double *trials, struct rng *rng, double *b,
                double *work)
{
    size_t m = o->p * o->q;
    struct envelope c = make_room(o, b, rate, radius, work);
    if (look_at_hessian(&c) != STATUS_OK)
        return STATUS_LINALG;
    look_at_records(&c);
    make_bins(&c);
    memset(c.at + m, 0, m * sizeof *c.at); /* what is drawn is one double a coefficient */
    int found = 0;
    for (double trial = 0; trial < trials[0] && !found; trial++)
        found = radial_trial(&c, rng);
    for (double trial = 0; trial < trials[1] && !found; trial++) {
        host_tick(o->host, 0, 0);
        found = public_trial(&c, rng);
    }
    if (!found)
        public_draw(&c, rng);
    memcpy(b, c.at, m * sizeof *b);
    return STATUS_OK;
}
