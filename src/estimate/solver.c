/* Riemannian L-BFGS (Huang, Gallivan and Absil 2015, doi:10.1137/140955483) with backtracking. Pairs move along by parallel
 * transport where that is closed form, by tangent projection elsewhere: near the solution steps vanish and both agree. */
#include "solver.h"

enum { BACKTRACKS = 40, PATIENCE = 4, PATIENCE_ADAPTIVE = 60 };

size_t solver_work(manifold_t m, int memory)
{
    size_t pairs = 2 * (size_t)memory;
    return (pairs + 6) * m->ambient + pairs + manifold_work(m);
}

static int inner(manifold_t m, const double *p, const double *u, const double *v, double *out, double *work)
{
    return m->ops->inner(m, out, one(p), one(u), one(v), 0, 1, work);
}

static int move(manifold_t m, const double *p, const double *q, double *v, size_t count, double *work)
{
    struct points many = {v, m->ambient};
    if ((m->flags & MANIFOLD_SYMMETRIC) && m->ops->transport &&
        m->ops->transport(m, v, one(p), one(q), many, 0, count, work) == STATUS_OK)
        return STATUS_OK;
    return m->ops->project_tangent(m, v, one(q), many, 0, count, work);
}

/* Where a run stands: what is known at p, and of the step that is tried from there. */
struct descent {
    manifold_t m;
    const struct objective *f;
    struct solver *s;
    double *p, *g;       /* the point and its gradient */
    double *q, *g_new;   /* those that are tried, */
    double *d, *step;    /* along the direction d by t d */
    double *pairs;       /* s_1, y_1, s_2, y_2, ... oldest first; or the last direction and gradient, both moved to p */
    double *rho, *alpha; /* of the pairs: 1/<s, y>, and room for as many numbers */
    double *y, *rest;    /* room */
    size_t memory, kept; /* pairs */
    double value, gg, slope;  /* at p: the value, the gradient's square, the slope along d */
    double value_new, gg_new; /* at q */
    double t, slack, best;    /* length of the step in d; rounding of values; least gg so far */
    int stalled;
};

static struct descent descent_in(manifold_t m, const struct objective *f, double *p, struct solver *s, double *work)
{
    size_t n = m->ambient, memory = (size_t)s->memory;
    struct descent c = {.m = m, .f = f, .s = s, .p = p, .pairs = work, .memory = memory};
    c.rho = c.pairs + 2 * memory * n;
    c.alpha = c.rho + memory;
    c.g = c.alpha + memory;
    c.g_new = c.g + n;
    c.d = c.g_new + n;
    c.q = c.d + n;
    c.step = c.q + n;
    c.y = c.step + n;
    c.rest = c.y + n;
    return c;
}

static int begin(struct descent *c)
{
    struct solver *s = c->s;
    s->iterations = s->evaluations = s->converged = 0;
    int status = c->f->eval(c->f, c->p, c->g, &c->value);
    if (status == STATUS_OK)
        status = inner(c->m, c->p, c->g, c->g, &c->gg, c->rest);
    if (status != STATUS_OK)
        return status;
    s->evaluations = 1;
    c->best = c->gg;
    return STATUS_OK;
}

static int has_ended(struct descent *c)
{
    struct solver *s = c->s;
    s->gradient_norm = sqrt(c->gg > 0 ? c->gg : 0);
    s->value = c->value;
    double spread = s->relative ? sqrt(2 * fabs(c->value)) : 1;
    s->converged = s->gradient_norm <= s->tol * spread || (spread <= 100 * s->floor && s->gradient_norm <= s->floor);
    return s->converged || s->iterations >= s->max_iter || c->stalled >= (s->adaptive ? PATIENCE_ADAPTIVE : PATIENCE);
}

/* ---- directions ---- */

/* d = -H g by the two-loop recursion over the pairs kept */
static int quasi_newton(struct descent *c)
{
    manifold_t m = c->m;
    size_t n = m->ambient;
    const double *g = c->g, *pairs = c->pairs, *rho = c->rho;
    double *d = c->d, *alpha = c->alpha;
    for (size_t j = 0; j < n; j++)
        d[j] = -g[j];
    for (size_t k = c->kept; k-- > 0;) {
        const double *sk = pairs + 2 * k * n, *yk = sk + n;
        if (inner(m, c->p, sk, d, &alpha[k], c->rest) != STATUS_OK)
            return STATUS_NO_CONVERGENCE;
        alpha[k] *= rho[k];
        for (size_t j = 0; j < n; j++)
            d[j] -= alpha[k] * yk[j];
    }
    if (c->kept > 0) {
        const double *sk = pairs + 2 * (c->kept - 1) * n, *yk = sk + n;
        double yy;
        if (inner(m, c->p, yk, yk, &yy, c->rest) == STATUS_OK && yy > 0)
            for (size_t j = 0; j < n; j++)
                d[j] /= rho[c->kept - 1] * yy;
    } else {
        for (size_t j = 0; j < n; j++)
            d[j] *= c->s->scale;
    }
    for (size_t k = 0; k < c->kept; k++) {
        const double *sk = pairs + 2 * k * n, *yk = sk + n;
        double b;
        if (inner(m, c->p, yk, d, &b, c->rest) != STATUS_OK)
            return STATUS_NO_CONVERGENCE;
        for (size_t j = 0; j < n; j++)
            d[j] += (alpha[k] - rho[k] * b) * sk[j];
    }
    return STATUS_OK;
}

static int conjugate(struct descent *c)
{
    manifold_t m = c->m;
    size_t n = m->ambient;
    const double *g = c->g, *last = c->pairs, *before = c->pairs + n;
    double top, bottom, *y = c->y, *d = c->d;
    for (size_t j = 0; j < n; j++)
        y[j] = g[j] - before[j];
    if (inner(m, c->p, g, y, &top, c->rest) != STATUS_OK ||
        inner(m, c->p, before, before, &bottom, c->rest) != STATUS_OK)
        return STATUS_NO_CONVERGENCE;
    double beta = bottom > 0 && top > 0 ? top / bottom : 0;
    for (size_t j = 0; j < n; j++)
        d[j] = c->s->scale * (beta * last[j] - g[j]);
    return STATUS_OK;
}

/* a direction of descent and its slope */
static int find_direction(struct descent *c)
{
    size_t n = c->m->ambient;
    int status = c->s->conjugate && c->kept > 0 ? conjugate(c) : quasi_newton(c);
    if (status != STATUS_OK || inner(c->m, c->p, c->g, c->d, &c->slope, c->rest) != STATUS_OK)
        return STATUS_NO_CONVERGENCE;
    if (!(c->slope < 0)) {
        c->kept = 0;
        for (size_t j = 0; j < n; j++)
            c->d[j] = -c->s->scale * c->g[j];
        c->slope = -c->s->scale * c->gg;
    }
    return STATUS_OK;
}

/* ---- how far ---- */

static int try_step(struct descent *c)
{
    manifold_t m = c->m;
    size_t n = m->ambient;
    double t = c->t, *step = c->step;
    const double *d = c->d;
    for (size_t j = 0; j < n; j++)
        step[j] = t * d[j];
    int status = m->ops->exp(m, c->q, one(c->p), one(step), 0, 1, c->rest);
    if (status == STATUS_OK) {
        status = c->f->eval(c->f, c->q, c->g_new, &c->value_new);
        c->s->evaluations++;
    }
    return status == STATUS_OK ? inner(m, c->q, c->g_new, c->g_new, &c->gg_new, c->rest) : status;
}

/* the slope along the step at its end; a status where it can't be had */
static int slope_at_end(struct descent *c, double *end)
{
    size_t n = c->m->ambient;
    for (size_t j = 0; j < n; j++)
        c->y[j] = c->step[j];
    int status = move(c->m, c->p, c->q, c->y, 1, c->rest);
    return status == STATUS_OK ? inner(c->m, c->q, c->g_new, c->y, end, c->rest) : status;
}

/* Whether a step whose change of value is rounding may be taken, by the slope at its end (Hager and Zhang 2005,
 * doi:10.1137/030601880, approximate Wolfe conditions); else t becomes the length at which that slope would have vanished. */
static int by_slope(struct descent *c)
{
    double end, start = c->t * c->slope;
    if (slope_at_end(c, &end) != STATUS_OK)
        end = -2 * start;
    if (end >= 0.9 * start && end <= -0.8 * start)
        return 1;
    double factor = end > start ? start / (start - end) : 4;
    c->t *= factor < 0.1 ? 0.1 : factor > 4 ? 4 : factor;
    return 0;
}

static int descends(const struct descent *c)
{
    return c->value_new <= c->value + 1e-4 * c->t * c->slope + c->slack ||
           (c->value_new <= c->value + 1e-9 * fabs(c->value) && c->gg_new < 0.8 * c->gg);
}

/* the length to try after one that was refused */
static double shorter(const struct descent *c, int status)
{
    double t = c->t, next = 0.5 * t;
    if (status == STATUS_OK && c->value_new < INFINITY) {
        next = -0.5 * c->slope * t * t / (c->value_new - c->value - c->slope * t); /* parabola through what is known */
        next = next > 0.1 * t ? (next < 0.5 * t ? next : 0.5 * t) : 0.1 * t;
    }
    return next;
}

/* Backtracking on the value; close to the solution, where its rounding hides any descent, the gradient decides. */
static int find_step(struct descent *c)
{
    c->slack = 1e-14 * (fabs(c->value) + 1e-300);
    c->gg_new = 0;
    c->t = 1;
    for (int k = 0; k < BACKTRACKS; k++) {
        int status = try_step(c);
        if (status == STATUS_OK && c->s->adaptive && fabs(c->value_new - c->value) <= 1e-11 * fabs(c->value)) {
            if (by_slope(c))
                return 1;
        } else if (status == STATUS_OK && descends(c)) {
            return 1;
        } else {
            c->t = shorter(c, status);
        }
    }
    return 0;
}

/* ---- what a step that was taken leaves for the next ones ---- */

/* the next step tried is where the slope along this one would have vanished */
static void adapt_scale(struct descent *c)
{
    double end, factor = 2;
    if (slope_at_end(c, &end) == STATUS_OK && end > c->t * c->slope)
        factor = c->t * c->slope / (c->t * c->slope - end);
    c->s->scale *= c->t * (factor < 0.1 ? 0.1 : factor > 10 ? 10 : factor);
}

/* `scale`: by which the direction was multiplied */
static void keep_direction(struct descent *c, double scale)
{
    size_t n = c->m->ambient;
    double *last = c->pairs, *before = c->pairs + n;
    for (size_t j = 0; j < n; j++) {
        last[j] = c->step[j] / (c->t * scale);
        before[j] = c->g[j];
    }
    c->kept = move(c->m, c->p, c->q, c->pairs, 2, c->rest) == STATUS_OK;
}

static void forget_oldest(struct descent *c)
{
    size_t n = c->m->ambient;
    for (size_t j = 0; j < 2 * (c->memory - 1) * n; j++)
        c->pairs[j] = c->pairs[j + 2 * n];
    for (size_t k = 0; k + 1 < c->memory; k++)
        c->rho[k] = c->rho[k + 1];
    c->kept--;
}

static int keep_pair(struct descent *c)
{
    manifold_t m = c->m;
    size_t n = m->ambient;
    if (c->kept == c->memory)
        forget_oldest(c);
    double *sk = c->pairs + 2 * c->kept * n, *yk = sk + n, sy, ss;
    for (size_t j = 0; j < n; j++) {
        sk[j] = c->step[j];
        yk[j] = c->g[j];
    }
    if (move(m, c->p, c->q, c->pairs, 2 * (c->kept + 1), c->rest) != STATUS_OK)
        return STATUS_NO_CONVERGENCE;
    for (size_t j = 0; j < n; j++)
        yk[j] = c->g_new[j] - yk[j];
    if (inner(m, c->q, sk, yk, &sy, c->rest) == STATUS_OK && inner(m, c->q, sk, sk, &ss, c->rest) == STATUS_OK &&
        c->s->scale * sy > 1e-10 * ss && sy > 0) {
        c->rho[c->kept] = 1 / sy;
        c->kept++;
    }
    return STATUS_OK;
}

static int learn(struct descent *c)
{
    double scale = c->s->scale;
    if (c->s->adaptive)
        adapt_scale(c);
    if (c->s->conjugate)
        keep_direction(c, scale);
    else if (c->memory > 0)
        return keep_pair(c);
    return STATUS_OK;
}

static void arrive(struct descent *c)
{
    size_t n = c->m->ambient;
    /* conjugate steps may lengthen the gradient for a while */
    double progress = c->s->conjugate ? 0.9 * c->best : 0.25 * c->gg;
    c->stalled = c->value_new < c->value - c->slack || c->gg_new < progress ? 0 : c->stalled + 1;
    for (size_t j = 0; j < n; j++) {
        c->p[j] = c->q[j];
        c->g[j] = c->g_new[j];
    }
    c->gg = c->gg_new;
    c->best = c->gg < c->best ? c->gg : c->best;
    c->value = c->value_new;
}

int solver_run(manifold_t m, const struct objective *f, double *p, struct solver *s, double *work)
{
    struct descent c = descent_in(m, f, p, s, work);
    int status = begin(&c);
    while (status == STATUS_OK && !has_ended(&c)) {
        status = find_direction(&c);
        if (status != STATUS_OK)
            break;
        if (!find_step(&c)) {
            if (c.kept == 0)
                break; /* the gradient is all that is left, and rounding hides its descent */
            c.kept = 0;
            c.stalled++;
            continue;
        }
        s->iterations++;
        status = learn(&c);
        if (status == STATUS_OK)
            arrive(&c);
    }
    return status;
}

size_t solver_floor_work(manifold_t m)
{
    return 3 * m->ambient + manifold_work(m);
}

/* Rounding floor of the gradient, seen rather than guessed: how much it changes when p moves by less than the tolerance. */
double solver_floor(manifold_t m, const struct objective *f, const double *p, double *work)
{
    size_t n = m->ambient;
    double *g = work, *h = g + n, *q = h + n, *rest = q + n, value, floor = 0, sq;
    if (f->eval(f, p, g, &value) != STATUS_OK)
        return 0;
    for (int k = 0; k < 3; k++) {
        for (size_t j = 0; j < n; j++)
            h[j] = (j + (size_t)k) % 3 == 0 ? p[j] : (j + (size_t)k) % 3 == 1 ? -0.5 * p[j] : 0.25 * p[j];
        if (m->ops->project_tangent(m, h, one(p), one(h), 0, 1, rest) != STATUS_OK ||
            m->ops->inner(m, &sq, one(p), one(h), one(h), 0, 1, rest) != STATUS_OK || !(sq > 0))
            continue;
        for (size_t j = 0; j < n; j++)
            h[j] *= 1e-11 / sqrt(sq);
        if (m->ops->exp(m, q, one(p), one(h), 0, 1, rest) != STATUS_OK || f->eval(f, q, h, &value) != STATUS_OK)
            continue;
        for (size_t j = 0; j < n; j++)
            h[j] -= g[j];
        if (m->ops->project_tangent(m, h, one(p), one(h), 0, 1, rest) == STATUS_OK &&
            m->ops->inner(m, &sq, one(p), one(h), one(h), 0, 1, rest) == STATUS_OK && sqrt(sq) > floor)
            floor = sqrt(sq);
    }
    return 4 * floor;
}
