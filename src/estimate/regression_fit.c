/* The fit of geodesic regressions. */
#include "regression_start.h"

/* ---- feet and velocities as points of one manifold ------------------------------------------------------------- */

/* A state is (p, v_1, ..., v_q), a step (dp, dv_1, ...) at p: exp moves the foot and carries v + dv there in parallel, to the
 * order that steps need. The inner product is that of the energy's Hessian in flat space, moments of (1, x) in place of numbers, so
 * that plain gradient steps are well scaled. */
struct bundle {
    manifold_t m;
    size_t parts;    /* 1 + q */
    double *moments; /* parts x parts */
    double *inverse;
};

static const struct bundle *bundle_of(manifold_t b)
{
    return b->context;
}

static size_t bundle_work(manifold_t b)
{
    const struct bundle *u = bundle_of(b);
    return 2 * u->m->ambient + manifold_work(u->m);
}

static int bundle_inner(manifold_t b, double *out, struct points p, struct points s, struct points t, size_t begin,
                        size_t end, double *work)
{
    const struct bundle *u = bundle_of(b);
    size_t n = u->m->ambient, k = u->parts;
    for (size_t i = begin; i < end; i++) {
        out[i] = 0;
        for (size_t a = 0; a < k; a++)
            for (size_t c = 0; c < k; c++) {
                double one_part, g = u->moments[a + c * k];
                if (g == 0)
                    continue;
                int status = u->m->ops->inner(u->m, &one_part, one(at(p, i)), one(at(s, i) + a * n),
                                              one(at(t, i) + c * n), 0, 1, work);
                if (status != STATUS_OK)
                    return status;
                out[i] += g * one_part;
            }
    }
    return STATUS_OK;
}

static int bundle_exp(manifold_t b, double *out, struct points p, struct points s, size_t begin, size_t end,
                      double *work)
{
    const struct bundle *u = bundle_of(b);
    size_t n = u->m->ambient;
    double *foot = work, *v = foot + n, *rest = v + n;
    for (size_t i = begin; i < end; i++) {
        const double *state = at(p, i), *step = at(s, i);
        double *o = out + i * b->ambient;
        int status = u->m->ops->exp(u->m, foot, one(state), one(step), 0, 1, rest);
        for (size_t a = 1; a < u->parts && status == STATUS_OK; a++) {
            for (size_t c = 0; c < n; c++)
                v[c] = state[a * n + c] + step[a * n + c];
            status = manifold_transport_near(u->m, v, state, foot, v, rest);
            /* rounding must not pile up normal parts over many steps */
            if (status == STATUS_OK)
                status = u->m->ops->project_tangent(u->m, v, one(foot), one(v), 0, 1, rest);
            for (size_t c = 0; c < n; c++)
                o[a * n + c] = v[c];
        }
        if (status != STATUS_OK)
            return status;
        for (size_t c = 0; c < n; c++)
            o[c] = foot[c];
    }
    return STATUS_OK;
}

static int bundle_transport(manifold_t b, double *out, struct points p, struct points q, struct points s, size_t begin,
                            size_t end, double *work)
{
    const struct bundle *u = bundle_of(b);
    size_t n = u->m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        struct points many = {at(s, i), n};
        status = manifold_transport(u->m, out + i * b->ambient, one(at(p, i)), one(at(q, i)), many, 0, u->parts, work);
    }
    return status;
}

static int bundle_project(manifold_t b, double *out, struct points p, struct points s, size_t begin, size_t end,
                          double *work)
{
    const struct bundle *u = bundle_of(b);
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        struct points many = {at(s, i), u->m->ambient};
        status = u->m->ops->project_tangent(u->m, out + i * b->ambient, one(at(p, i)), many, 0, u->parts, work);
    }
    return status;
}

static const struct manifold_ops bundle_ops = {
    .name = "bundle",
    .work = bundle_work,
    .exp = bundle_exp,
    .inner = bundle_inner,
    .transport = bundle_transport,
    .project_tangent = bundle_project,
};

static struct manifold bundle_manifold(struct bundle *u)
{
    struct manifold b = {.ops = &bundle_ops, .host = u->m->host, .ambient = u->parts * u->m->ambient, .dim = 1};
    b.flags = u->m->flags & (MANIFOLD_SYMMETRIC | MANIFOLD_CALLS_R);
    if (u->m->flags & MANIFOLD_CALLS_R)
        b.flags = MANIFOLD_CALLS_R; /* transport by ladders would cost more than it saves */
    b.context = u;
    return b;
}

struct pass {
    const struct regression *r;
    const struct regression_data *d;
    const struct bundle *u;
    double *work;
};

static int pass_eval(const struct objective *f, const double *state, double *grad, double *value)
{
    const struct pass *c = f->data;
    size_t n = c->r->m->ambient, k = c->u->parts;
    int status = regression_energy(c->r, c->d, state, state + n, value, grad, grad + n, c->work);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < n; i++) { /* the gradient in the metric of the moments */
        double *t = c->work;
        for (size_t a = 0; a < k; a++) {
            t[a] = 0;
            for (size_t b = 0; b < k; b++)
                t[a] += c->u->inverse[a + b * k] * grad[b * n + i];
        }
        for (size_t a = 0; a < k; a++)
            grad[a * n + i] = t[a];
    }
    return STATUS_OK;
}

/* ---- the fit --------------------------------------------------------------------------------------------------- */

enum {
    EXPLORE_RECORDS = 256,
    EXPLORE_STEPS = 12,
    FULL_STARTS = 3,
    STARTS_MOST = 32,
    STARTS_USUAL = 16,
    STARTS_SLOW = 6
};

static size_t explored(const struct regression_data *d)
{
    return d->n < EXPLORE_RECORDS ? d->n : EXPLORE_RECORDS;
}

size_t regression_run_work(const struct regression *r, const struct regression_data *d, int memory)
{
    size_t n = r->m->ambient, k = r->q + 1;
    struct bundle u = {r->m, k, NULL, NULL};
    struct manifold b = bundle_manifold(&u);
    return regression_energy_work(r) + 3 * k * k + k + (4 + FULL_STARTS) * k * n + n + explored(d) * (n + r->q + 1) +
           solver_work(&b, memory) + solver_floor_work(&b) + (k + 4) * (n + k) + 4 * n + manifold_work(r->m);
}

struct runner {
    const struct regression *r; /* as asked for; `model` differs from it on the way */
    const struct regression_data *d;
    struct regression model;
    struct bundle bundle;
    struct manifold states;
    struct pass pass;
    struct objective f;
    struct solver s;
    struct regression_fit *fit;
    double *state, *best, *other;         /* states: the one that moves, the best end, room for one */
    double *kept, values[FULL_STARTS];    /* the best starts and their values, from the least on */
    int found;                            /* of them */
    double *mean, *sub_x, *sub_y, *sub_w; /* of the responses; a few records */
    double *work;
};

/* `c` must stay where it is: parts of it point to others */
static int set_up(struct runner *c, const struct regression *r, const struct regression_data *d,
                  struct regression_fit *fit, double *work)
{
    size_t n = r->m->ambient, k = r->q + 1, size = k * n, sample = explored(d);
    double *energy = work, *moments = energy + regression_energy_work(r), *inverse = moments + k * k;
    *c = (struct runner){.r = r, .d = d, .model = *r, .bundle = {r->m, k, moments, inverse}, .fit = fit};
    c->states = bundle_manifold(&c->bundle);
    c->pass = (struct pass){&c->model, d, &c->bundle, energy};
    c->f = (struct objective){pass_eval, &c->pass};
    c->s.memory = fit->memory;
    c->state = inverse + 2 * k * k + k;
    c->best = c->state + size;
    c->other = c->best + size;
    c->kept = c->other + size;
    c->mean = c->kept + FULL_STARTS * size;
    c->sub_x = c->mean + n;
    c->sub_y = c->sub_x + sample * r->q;
    c->sub_w = c->sub_y + sample * n;
    c->work = c->sub_w + sample;
    fit->iterations = fit->evaluations = fit->converged = fit->tried = 0;
    fit->gradient_floor = fit->smoothing = 0;
    return regression_make_moments(d, r->q, moments, inverse, c->work);
}

static void copy_state(const struct runner *c, double *to, const double *from)
{
    for (size_t i = 0; i < c->states.ambient; i++)
        to[i] = from[i];
}

static int run_stage(struct runner *c, double *state, double tol, int max_iter, struct regression_fit *fit)
{
    c->s.tol = tol;
    c->s.max_iter = max_iter;
    c->s.scale = 1;
    int status = solver_run(&c->states, &c->f, state, &c->s, c->work);
    fit->iterations += c->s.iterations;
    fit->evaluations += c->s.evaluations;
    fit->value = c->s.value;
    fit->gradient_norm = c->s.gradient_norm;
    fit->converged = c->s.converged;
    return status;
}

/* ---- the fit: least absolute deviations ------------------------------------------------------------------------ */

/* LAD, smoothed at a tenth of the mean distance: near enough to the minimum to compare starts by it. The value is the
 * loss's own. */
static int coarse_lad(struct runner *c, double *state, struct regression_fit *fit)
{
    struct regression *r = &c->model;
    double typical;
    r->smoothing = 0;
    int status = c->f.eval(&c->f, state, c->other, &typical);
    if (status != STATUS_OK)
        return status;
    r->smoothing = typical > 1e-6 ? 0.1 * typical : 1e-6;
    fit->smoothing = r->smoothing;
    status = run_stage(c, state, 0.01 * fit->tol + 1e-4, fit->max_iter, fit);
    r->smoothing = 0;
    return status == STATUS_OK ? c->f.eval(&c->f, state, c->other, &fit->value) : status;
}

/* From there: without smoothing, which ends it where the curve meets no record; else with a smoothing that shrinks step
 * by step. */
static int fine_lad(struct runner *c, double *state, struct regression_fit *fit)
{
    enum { TRIAL = 60 };
    struct regression *r = &c->model;
    double start = fit->smoothing, least = 1e-9 * (1 + fit->value), tol = fit->tol;
    int most = fit->max_iter, status = STATUS_OK;
    copy_state(c, c->other, state);
    r->smoothing = fit->smoothing = 0;
    if (run_stage(c, state, tol, most < TRIAL ? most : TRIAL, fit) == STATUS_OK && fit->converged)
        return STATUS_OK;
    copy_state(c, state, c->other);
    for (r->smoothing = start; status == STATUS_OK; r->smoothing *= 0.1) {
        fit->smoothing = r->smoothing;
        status = run_stage(c, state, tol, most, fit);
        if (r->smoothing <= least)
            break;
    }
    return status;
}

/* ---- the fit: where it starts ---------------------------------------------------------------------------------- */

static int how_many_starts(const struct runner *c)
{
    manifold_t m = c->r->m;
    int many = c->fit->starts;
    if (many <= 0 && regression_is_tight(m, c->d, c->mean, c->work))
        many = 1;
    else if (many <= 0)
        many = m->flags & MANIFOLD_CALLS_R ? STARTS_SLOW : STARTS_USUAL;
    return many > STARTS_MOST ? STARTS_MOST : many;
}

/* evenly spaced records */
static struct regression_data take_few(struct runner *c)
{
    const struct regression_data *d = c->d;
    size_t n = c->r->m->ambient, q = c->r->q, sample = explored(d);
    for (size_t i = 0; i < sample; i++) {
        size_t from = i * (d->n / sample) + i * (d->n % sample) / sample;
        for (size_t j = 0; j < q; j++)
            c->sub_x[i * q + j] = at(d->x, from)[j];
        for (size_t j = 0; j < n; j++)
            c->sub_y[i * n + j] = at(d->y, from)[j];
        c->sub_w[i] = d->w ? d->w[from] : 1;
    }
    return (struct regression_data){sample, {c->sub_x, q}, {c->sub_y, n}, d->w ? c->sub_w : NULL, NULL};
}

/* a few steps on few records from c->state; a status where they fail */
static int probe(struct runner *c, const struct regression_data *few, double *value)
{
    struct regression_fit steps = {0};
    c->pass.d = few;
    int status = run_stage(c, c->state, c->fit->tol, EXPLORE_STEPS, &steps);
    c->fit->iterations += steps.iterations;
    c->fit->evaluations += steps.evaluations;
    *value = steps.value;
    return status;
}

/* the best few, told apart by their values */
static void keep_start(struct runner *c, double value)
{
    size_t size = c->states.ambient;
    double *values = c->values;
    int place = c->found;
    for (int j = 0; j < c->found; j++)
        if (fabs(values[j] - value) <= 1e-6 * (fabs(value) + 1e-12))
            return;
    while (place > 0 && values[place - 1] > value)
        place--;
    if (place >= FULL_STARTS)
        return;
    c->found = c->found < FULL_STARTS ? c->found + 1 : FULL_STARTS;
    for (int j = c->found - 1; j > place; j--) {
        values[j] = values[j - 1];
        copy_state(c, c->kept + (size_t)j * size, c->kept + (size_t)(j - 1) * size);
    }
    values[place] = value;
    copy_state(c, c->kept + (size_t)place * size, c->state);
}

static void explore(struct runner *c)
{
    const struct regression *r = c->r;
    struct regression_data few = *c->d;
    few.elsewhere = NULL;
    regression_find_mean(r, c->d, c->mean, c->work);
    int many = how_many_starts(c);
    if (many > 1 && explored(c->d) < c->d->n)
        few = take_few(c);
    if (r->loss == REGRESSION_LAD)
        c->model.loss = REGRESSION_SQUARED; /* explore and start with what is smooth */
    for (int t = 0; t < many; t++) {
        double value = 0;
        host_tick(r->m->host, t, many);
        if (regression_make_start(r, t == 0 ? c->d : &few, c->mean, t, c->state, c->work) != STATUS_OK ||
            !all_finite(c->states.ambient, c->state))
            continue;
        if (many > 1 && probe(c, &few, &value) != STATUS_OK)
            continue;
        c->fit->tried++;
        keep_start(c, value);
    }
    c->pass.d = c->d;
    c->model.loss = r->loss;
}

/* ---- the fit: to the end --------------------------------------------------------------------------------------- */

/* least absolute deviations end nearer to their minimum from that of squares */
static int by_squares(struct runner *c, struct regression_fit *fit)
{
    c->model.loss = REGRESSION_SQUARED;
    int status = run_stage(c, c->state, 1e-6, fit->max_iter, fit);
    c->model.loss = REGRESSION_LAD;
    return status;
}

/* a lower value, or the same and converged */
static int is_better(const struct regression_fit *now, const struct regression_fit *top)
{
    if (now->value < top->value * (1 - 1e-9))
        return 1;
    return fabs(now->value - top->value) <= 1e-9 * top->value && now->converged && !top->converged;
}

/* from every start that was kept; the best end */
static int descend(struct runner *c, int given)
{
    struct regression_fit *fit = c->fit, top = *fit;
    int lad = c->model.loss == REGRESSION_LAD, done = 0, status = STATUS_CUT_LOCUS;
    for (int t = 0; t < c->found; t++) {
        struct regression_fit now = *fit;
        copy_state(c, c->state, c->kept + (size_t)t * c->states.ambient);
        int ended = lad && !given ? by_squares(c, &now) : STATUS_OK;
        if (ended == STATUS_OK)
            ended = lad ? coarse_lad(c, c->state, &now) : run_stage(c, c->state, fit->tol, fit->max_iter, &now);
        fit->iterations = now.iterations;
        fit->evaluations = now.evaluations;
        if (ended != STATUS_OK) {
            status = done ? status : ended;
            continue;
        }
        if (!done || is_better(&now, &top)) {
            top = now;
            copy_state(c, c->best, c->state);
        }
        done = 1;
    }
    if (!done)
        return status;
    top.iterations = fit->iterations;
    top.evaluations = fit->evaluations;
    *fit = top;
    return STATUS_OK;
}

/* a gradient at its floor is one of a minimum */
static void judge(struct runner *c)
{
    struct regression_fit *fit = c->fit;
    if (fit->converged)
        return;
    /* unit vectors of residuals as short as the smoothing are rounded to this */
    fit->gradient_floor =
        fit->smoothing > 0 ? 16 * RIEMDP_EPS / fit->smoothing : solver_floor(&c->states, &c->f, c->best, c->work);
    fit->converged = fit->gradient_norm <= fit->gradient_floor;
}

int regression_run(const struct regression *r, const struct regression_data *d, double *p, double *v, int given,
                   struct regression_fit *fit, double *work)
{
    size_t n = r->m->ambient;
    struct runner c;
    if (set_up(&c, r, d, fit, work) != STATUS_OK)
        return STATUS_LINALG;
    if (given) {
        for (size_t j = 0; j < c.states.ambient; j++)
            c.kept[j] = j < n ? p[j] : v[j - n];
        c.found = fit->tried = 1;
    } else {
        explore(&c);
    }
    int status = descend(&c, given);
    if (status == STATUS_OK && r->loss == REGRESSION_LAD)
        status = fine_lad(&c, c.best, fit);
    if (status != STATUS_OK)
        return status;
    judge(&c);
    for (size_t j = 0; j < c.states.ambient; j++)
        if (j < n)
            p[j] = c.best[j];
        else
            v[j - n] = c.best[j];
    return STATUS_OK;
}
