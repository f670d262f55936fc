#include "regression_start.h"
#include "linalg.h"

/* ---- records ------------------------------------------------------------------------------------------------------- */

size_t regression_block_work(const struct regression *r, size_t count)
{
    size_t n = r->m->ambient;
    return count * (3 * n + 1) + n + manifold_exp_adjoint_work(r->m, r->q, count);
}

/* loss at distance d, and the weight that turns the residual into its gradient */
static void loss_at(const struct regression *r, double d, double *value, double *weight)
{
    double s;
    switch (r->loss) {
    case REGRESSION_HUBER:
        *value = d <= r->cutoff ? 0.5 * d * d : r->cutoff * (d - 0.5 * r->cutoff);
        *weight = d <= r->cutoff ? 1 : r->cutoff / d;
        break;
    case REGRESSION_LAD:
        s = hypot(d, r->smoothing);
        *value = s > 0 ? d * (d / (s + r->smoothing)) : 0;
        *weight = s > 0 ? 1 / s : 0;
        break;
    default:
        *value = 0.5 * d * d;
        *weight = 1;
    }
    if (*weight * d > r->clip)
        *weight = r->clip / d;
}

/* All records at once; any failure fails all. Total residuals trust no response. */
static int block_whole(const struct regression *r, const double *p, const double *v, struct points x, struct points y,
                       size_t count, struct regression_records out, double *work)
{
    manifold_t m = r->m;
    size_t n = m->ambient;
    double *w = work, *end = w + count * n, *e = end + count * n, *sq = e + count * n, *rest = sq + count;
    struct points ws = {w, n}, ends = {end, n}, es = {e, n};
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < n; c++)
            w[i * n + c] = 0;
        for (size_t j = 0; j < r->q; j++) {
            double t = at(x, i)[j];
            for (size_t c = 0; c < n; c++)
                w[i * n + c] += t * v[j * n + c];
        }
    }
    int status = r->total ? m->ops->check_point(m, y, 0, count, rest) : STATUS_OK;
    if (status == STATUS_OK)
        status = m->ops->exp(m, end, one(p), ws, 0, count, rest);
    if (status == STATUS_OK)
        status = m->ops->log(m, e, ends, y, 0, count, rest);
    if (status == STATUS_OK)
        status = m->ops->inner(m, sq, ends, es, es, 0, count, rest);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        double d = sqrt(sq[i] > 0 ? sq[i] : 0), value, weight;
        if (!(d < INFINITY))
            return STATUS_NOT_FINITE;
        if (r->total && m->inj > 0 && d > m->inj - 1e-6)
            return STATUS_CUT_LOCUS;
        loss_at(r, d, &value, &weight);
        if (out.value)
            out.value[i] = value;
        if (out.size)
            out.size[i] = d;
        for (size_t c = 0; c < n; c++)
            e[i * n + c] *= -weight;
    }
    if (!out.grad_p)
        return STATUS_OK;
    return manifold_exp_adjoint(m, out.grad_p, out.grad_w, p, v, r->q, x, ws, ends, es, count, rest);
}

int regression_block(const struct regression *r, const double *p, const double *v, struct points x, struct points y,
                     size_t count, struct regression_records out, double *work)
{
    size_t n = r->m->ambient;
    int status = block_whole(r, p, v, x, y, count, out, work);
    if (!r->total || (status == STATUS_OK &&
                      (!out.grad_p || (all_finite(count * n, out.grad_p) && all_finite(count * n, out.grad_w)))))
        return status;
    /* one by one: what has no residual counts nothing */
    for (size_t i = 0; i < count; i++) {
        struct regression_records own = {out.value ? out.value + i : NULL, out.size ? out.size + i : NULL,
                                         out.grad_p ? out.grad_p + i * n : NULL,
                                         out.grad_p ? out.grad_w + i * n : NULL};
        struct points xi = {at(x, i), r->q}, yi = {at(y, i), n};
        status = all_finite(n, at(y, i)) && all_finite(r->q, at(x, i)) ? block_whole(r, p, v, xi, yi, 1, own, work)
                                                                       : STATUS_NOT_FINITE;
        if (status == STATUS_OK && (!own.grad_p || (all_finite(n, own.grad_p) && all_finite(n, own.grad_w))))
            continue;
        if (own.value)
            *own.value = 0;
        if (own.size)
            *own.size = NAN;
        for (size_t c = 0; c < n && own.grad_p; c++)
            own.grad_p[c] = own.grad_w[c] = 0;
    }
    return STATUS_OK;
}

int regression_coords(const struct regression *r, const double *p, struct points x, const double *grad_p,
                      const double *grad_w, size_t count, double *out, double *work)
{
    manifold_t m = r->m;
    size_t d = m->dim, row = (1 + r->q) * d;
    for (size_t i = 0; i < count; i++) {
        double *o = out + i * row;
        int status = manifold_coords(m, o, one(p), one(grad_p + i * m->ambient), 0, 1, work);
        if (status == STATUS_OK && r->q > 0)
            status = manifold_coords(m, o + d, one(p), one(grad_w + i * m->ambient), 0, 1, work);
        if (status != STATUS_OK)
            return status;
        for (size_t j = r->q; j-- > 0;)
            for (size_t c = 0; c < d; c++)
                o[(1 + j) * d + c] = at(x, i)[j] * o[d + c];
    }
    return STATUS_OK;
}

/* ---- energy -------------------------------------------------------------------------------------------------------- */

size_t regression_energy_work(const struct regression *r)
{
    return REGRESSION_BLOCK * (2 * r->m->ambient + 1) + regression_block_work(r, REGRESSION_BLOCK);
}

int regression_energy(const struct regression *r, const struct regression_data *d, const double *p, const double *v,
                      double *value, double *grad_p, double *grad_v, double *work)
{
    size_t n = r->m->ambient;
    if (d->elsewhere)
        return d->elsewhere->energy(d->elsewhere, r, p, v, value, grad_p, grad_v);
    struct regression_records out = {work, NULL, work + REGRESSION_BLOCK, work + REGRESSION_BLOCK * (1 + n)};
    double *rest = out.grad_w + REGRESSION_BLOCK * n, total = 0;
    *value = 0;
    for (size_t c = 0; c < n; c++)
        grad_p[c] = 0;
    for (size_t c = 0; c < r->q * n; c++)
        grad_v[c] = 0;
    for (size_t begin = 0; begin < d->n; begin += REGRESSION_BLOCK) {
        size_t count = d->n - begin < REGRESSION_BLOCK ? d->n - begin : REGRESSION_BLOCK;
        struct points x = {at(d->x, begin), r->q}, y = {at(d->y, begin), n};
        int status = regression_block(r, p, v, x, y, count, out, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++) {
            double wi = d->w ? d->w[begin + i] : 1;
            total += wi;
            *value += wi * out.value[i];
            for (size_t c = 0; c < n; c++)
                grad_p[c] += wi * out.grad_p[i * n + c];
            for (size_t j = 0; j < r->q; j++) {
                double t = wi * at(x, i)[j];
                for (size_t c = 0; c < n; c++)
                    grad_v[j * n + c] += t * out.grad_w[i * n + c];
            }
        }
        host_tick(r->m->host, 0, 0);
    }
    *value /= total;
    for (size_t c = 0; c < n; c++)
        grad_p[c] /= total;
    for (size_t c = 0; c < r->q * n; c++)
        grad_v[c] /= total;
    return all_finite(n, grad_p) && all_finite(r->q * n, grad_v) && *value < INFINITY ? STATUS_OK
                                                                                      : STATUS_NO_CONVERGENCE;
}

/* ---- feet and velocities as points of one manifold ------------------------------------------------------------------ */

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

/* ---- the fit ------------------------------------------------------------------------------------------------------- */

enum {
    EXPLORE_RECORDS = 256,
    EXPLORE_STEPS = 12,
    FULL_STARTS = 3,
    STARTS_MOST = 32,
    STARTS_USUAL = 16,
    STARTS_SLOW = 6
};

size_t regression_run_work(const struct regression *r, const struct regression_data *d, int memory)
{
    size_t n = r->m->ambient, k = r->q + 1;
    struct bundle u = {r->m, k, NULL, NULL};
    struct manifold b = bundle_manifold(&u);
    size_t sample = d->n < EXPLORE_RECORDS ? d->n : EXPLORE_RECORDS;
    return regression_energy_work(r) + 3 * k * k + k + (4 + FULL_STARTS) * k * n + n + sample * (n + r->q + 1) +
           solver_work(&b, memory) + solver_floor_work(&b) + (k + 4) * (n + k) + 4 * n + manifold_work(r->m);
}

struct runner {
    struct manifold bundle;
    struct pass pass;
    struct objective f;
    struct solver s;
    double *work;
};

static int run_stage(struct runner *c, double *state, double tol, int max_iter, struct regression_fit *fit)
{
    c->s.tol = tol;
    c->s.max_iter = max_iter;
    c->s.scale = 1;
    int status = solver_run(&c->bundle, &c->f, state, &c->s, c->work);
    fit->iterations += c->s.iterations;
    fit->evaluations += c->s.evaluations;
    fit->value = c->s.value;
    fit->gradient_norm = c->s.gradient_norm;
    fit->converged = c->s.converged;
    return status;
}

/* LAD, smoothed at a tenth of the mean distance: near enough to the minimum to compare starts by it. The value is the loss's own. */
static int coarse_lad(struct runner *c, struct regression *r, double *state, double *scratch,
                      struct regression_fit *fit)
{
    double typical;
    r->smoothing = 0;
    int status = c->f.eval(&c->f, state, scratch, &typical);
    if (status != STATUS_OK)
        return status;
    r->smoothing = typical > 1e-6 ? 0.1 * typical : 1e-6;
    fit->smoothing = r->smoothing;
    status = run_stage(c, state, 0.01 * fit->tol + 1e-4, fit->max_iter, fit);
    r->smoothing = 0;
    return status == STATUS_OK ? c->f.eval(&c->f, state, scratch, &fit->value) : status;
}

/* From there: without smoothing, which ends it where the curve meets no record; else with a smoothing that shrinks step by step. */
static int fine_lad(struct runner *c, struct regression *r, double *state, double *best, struct regression_fit *fit)
{
    enum { TRIAL = 60 };
    size_t size = c->bundle.ambient;
    double start = fit->smoothing, least = 1e-9 * (1 + fit->value), tol = fit->tol;
    int most = fit->max_iter, status = STATUS_OK;
    for (size_t i = 0; i < size; i++)
        best[i] = state[i];
    r->smoothing = fit->smoothing = 0;
    if (run_stage(c, state, tol, most < TRIAL ? most : TRIAL, fit) == STATUS_OK && fit->converged)
        return STATUS_OK;
    for (size_t i = 0; i < size; i++)
        state[i] = best[i];
    for (r->smoothing = start; status == STATUS_OK; r->smoothing *= 0.1) {
        fit->smoothing = r->smoothing;
        status = run_stage(c, state, tol, most, fit);
        if (r->smoothing <= least)
            break;
    }
    return status;
}

int regression_run(const struct regression *r, const struct regression_data *d, double *p, double *v, int given,
                   struct regression_fit *fit, double *work)
{
    manifold_t m = r->m;
    size_t n = m->ambient, k = r->q + 1, size = k * n;
    size_t sample = d->n < EXPLORE_RECORDS ? d->n : EXPLORE_RECORDS;
    double *energy = work, *moments = energy + regression_energy_work(r), *inverse = moments + k * k;
    double *state = inverse + 2 * k * k + k, *best = state + size, *other = best + size, *kept = other + size;
    double *mean = kept + FULL_STARTS * size, *sub_x = mean + n, *sub_y = sub_x + sample * r->q;
    double *sub_w = sub_y + sample * n, *rest = sub_w + sample;
    double values[FULL_STARTS];
    struct regression model = *r;
    struct bundle u = {m, k, moments, inverse};
    struct runner c = {
        bundle_manifold(&u), {&model, d, &u, energy}, {pass_eval, &c.pass}, {.memory = fit->memory}, rest};
    int status = regression_make_moments(d, r->q, moments, inverse, rest), found = 0, many = fit->starts;
    fit->iterations = fit->evaluations = fit->converged = fit->tried = 0;
    fit->gradient_floor = fit->smoothing = 0;
    if (status != STATUS_OK)
        return STATUS_LINALG;
    if (given) {
        for (size_t j = 0; j < size; j++)
            kept[j] = j < n ? p[j] : v[j - n];
        found = fit->tried = 1;
    } else {
        struct regression_data few = *d;
        few.elsewhere = NULL;
        regression_find_mean(r, d, mean, rest);
        if (many <= 0)
            many = regression_is_tight(m, d, mean, rest) ? 1 : m->flags & MANIFOLD_CALLS_R ? STARTS_SLOW : STARTS_USUAL;
        if (many > STARTS_MOST)
            many = STARTS_MOST;
        if (many > 1 && sample < d->n) {
            few = (struct regression_data){sample, {sub_x, r->q}, {sub_y, n}, d->w ? sub_w : NULL, NULL};
            for (size_t i = 0; i < sample; i++) {
                size_t from = i * (d->n / sample) + i * (d->n % sample) / sample;
                for (size_t j = 0; j < r->q; j++)
                    sub_x[i * r->q + j] = at(d->x, from)[j];
                for (size_t j = 0; j < n; j++)
                    sub_y[i * n + j] = at(d->y, from)[j];
                sub_w[i] = d->w ? d->w[from] : 1;
            }
        }
        if (model.loss == REGRESSION_LAD)
            model.loss = REGRESSION_SQUARED; /* explore and start with what is smooth */
        for (int t = 0; t < many; t++) {
            double value = INFINITY;
            host_tick(m->host, t, many);
            if (regression_make_start(r, t == 0 ? d : &few, mean, t, state, rest) != STATUS_OK || !all_finite(size, state))
                continue;
            if (many > 1) {
                c.pass.d = &few;
                c.s.max_iter = EXPLORE_STEPS;
                struct regression_fit probe = {0};
                if (run_stage(&c, state, fit->tol, EXPLORE_STEPS, &probe) != STATUS_OK)
                    continue;
                fit->iterations += probe.iterations;
                fit->evaluations += probe.evaluations;
                value = probe.value;
            } else {
                value = 0;
            }
            fit->tried++;
            /* the best few, told apart by their values */
            int place = found, same = 0;
            for (int j = 0; j < found; j++)
                same = same || fabs(values[j] - value) <= 1e-6 * (fabs(value) + 1e-12);
            if (same) {
                continue;
            }
            while (place > 0 && values[place - 1] > value)
                place--;
            if (place >= FULL_STARTS)
                continue;
            found = found < FULL_STARTS ? found + 1 : FULL_STARTS;
            for (int j = found - 1; j > place; j--) {
                values[j] = values[j - 1];
                for (size_t i = 0; i < size; i++)
                    kept[(size_t)j * size + i] = kept[(size_t)(j - 1) * size + i];
            }
            values[place] = value;
            for (size_t i = 0; i < size; i++)
                kept[(size_t)place * size + i] = state[i];
        }
        c.pass.d = d;
        model.loss = r->loss;
    }
    if (found == 0)
        return STATUS_CUT_LOCUS;
    struct regression_fit top = *fit;
    int done = 0;
    status = STATUS_CUT_LOCUS;
    for (int t = 0; t < found; t++) {
        struct regression_fit now = *fit;
        for (size_t j = 0; j < size; j++)
            state[j] = kept[(size_t)t * size + j];
        if (model.loss == REGRESSION_LAD && !given) {
            model.loss = REGRESSION_SQUARED;
            int squared = run_stage(&c, state, 1e-6, fit->max_iter, &now);
            model.loss = REGRESSION_LAD;
            if (squared != STATUS_OK)
                continue;
        }
        int one_status = model.loss == REGRESSION_LAD ? coarse_lad(&c, &model, state, other, &now)
                                                      : run_stage(&c, state, fit->tol, fit->max_iter, &now);
        fit->iterations = now.iterations;
        fit->evaluations = now.evaluations;
        if (one_status != STATUS_OK) {
            if (!done)
                status = one_status;
            continue;
        }
        int better = !done || now.value < top.value * (1 - 1e-9);
        if (done && !better && fabs(now.value - top.value) <= 1e-9 * top.value)
            better = now.converged && !top.converged;
        if (better) {
            top = now;
            for (size_t j = 0; j < size; j++)
                best[j] = state[j];
        }
        done = 1;
    }
    if (!done)
        return status;
    top.iterations = fit->iterations;
    top.evaluations = fit->evaluations;
    *fit = top;
    if (model.loss == REGRESSION_LAD) {
        status = fine_lad(&c, &model, best, other, fit);
        if (status != STATUS_OK)
            return status;
    }
    if (!fit->converged) {
        /* unit vectors of residuals as short as the smoothing are rounded to this */
        fit->gradient_floor =
            fit->smoothing > 0 ? 16 * RIEMDP_EPS / fit->smoothing : solver_floor(&c.bundle, &c.f, best, rest);
        fit->converged = fit->gradient_norm <= fit->gradient_floor;
    }
    for (size_t j = 0; j < size; j++)
        if (j < n)
            p[j] = best[j];
        else
            v[j - n] = best[j];
    return STATUS_OK;
}
