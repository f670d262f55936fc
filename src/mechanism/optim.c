#include "optim.h"

size_t optim_work(const struct optim *o)
{
    size_t n = o->m->ambient, gradient = optim_gradient_work(o);
    size_t ball = 2 * n + manifold_work(o->m);
    return 4 * n + (gradient > ball ? gradient : ball);
}

/* exp of the step, back onto the manifold where rounding has led off it, and into the public ball */
static int advance(struct optim *o, double *p, const double *v, double lr, double *work)
{
    manifold_t m = o->m;
    size_t n = m->ambient;
    double *u = work, *q = u + n, *rest = q + n;
    for (size_t j = 0; j < n; j++)
        u[j] = -lr * v[j];
    int status = m->ops->exp(m, q, one(p), one(u), 0, 1, rest);
    if (status != STATUS_OK || !all_finite(n, q))
        return STATUS_DOMAIN_EXCEEDED;
    if (m->ops->check_point(m, one(q), 0, 1, rest) != STATUS_OK &&
        (m->ops->project(m, q, one(q), 0, 1, rest) != STATUS_OK || !all_finite(n, q) ||
         m->ops->check_point(m, one(q), 0, 1, rest) != STATUS_OK))
        return STATUS_DOMAIN_EXCEEDED;
    if (o->centre)
        manifold_to_ball(m, p, o->centre, o->radius, one(q), 0, 1, rest);
    else
        for (size_t j = 0; j < n; j++)
            p[j] = q[j];
    return STATUS_OK;
}

static void note(struct optim *o, size_t step, double lr, const double *p, const double *v, double *work)
{
    double sq = 0;
    if (o->trace_used >= o->trace_room || step % o->trace_every)
        return;
    double *row = o->trace + o->trace_used++;
    o->m->ops->inner(o->m, &sq, one(p), one(v), one(v), 0, 1, work);
    row[0] = (double)(o->done + 1);
    row[o->trace_room] = lr;
    row[2 * o->trace_room] = sqrt(sq > 0 ? sq : 0);
}

size_t optim_state_size(manifold_t m)
{
    return OPTIM_STATE_HEAD + 5 * m->ambient;
}

void optim_begin(const struct optim *o, double *state, const double *start)
{
    size_t n = o->m->ambient;
    for (size_t j = 0; j < optim_state_size(o->m); j++)
        state[j] = 0;
    for (size_t j = 0; j < n; j++)
        state[OPTIM_STATE_HEAD + j] = start[j];
}

/* the mean of the first t + 1 iterates from that of t; where it can't be had it stays */
static void average(manifold_t m, double *mean, const double *p, size_t t, double *v, double *u, double *work)
{
    size_t n = m->ambient;
    if (t == 0) {
        for (size_t j = 0; j < n; j++)
            mean[j] = p[j];
        return;
    }
    if (m->ops->log(m, v, one(mean), one(p), 0, 1, work) != STATUS_OK || !all_finite(n, v))
        return;
    for (size_t j = 0; j < n; j++)
        v[j] /= (double)(t + 1);
    if (m->ops->exp(m, u, one(mean), one(v), 0, 1, work) == STATUS_OK && all_finite(n, u))
        for (size_t j = 0; j < n; j++)
            mean[j] = u[j];
}

/* the parts of a state */
struct iterates {
    double *p, *mean, *chosen, *snapshot, *released; /* released: gradient at the snapshot */
};

static struct iterates iterates_of(double *state, size_t n)
{
    struct iterates it = {.p = state + OPTIM_STATE_HEAD};
    it.mean = it.p + n;
    it.chosen = it.mean + n;
    it.snapshot = it.chosen + n;
    it.released = it.snapshot + n;
    return it;
}

static void copy_point(size_t n, double *to, const double *from)
{
    for (size_t j = 0; j < n; j++)
        to[j] = from[j];
}

static void begin_run(struct optim *o, double *state, const struct iterates *it)
{
    size_t n = o->m->ambient;
    optim_start(o);
    state[OPTIM_STATE_PICK] = o->output == OPTIM_RANDOM ? (double)rng_below(o->rng, o->steps) : (double)o->steps;
    copy_point(n, it->mean, it->p);
    copy_point(n, it->chosen, it->p);
}

/* the noisy gradient of step t, after a new snapshot where an epoch begins */
static int noisy_gradient(struct optim *o, const struct iterates *it, size_t t, double *v, double *work)
{
    if (!o->inner)
        return optim_gradient(o, v, it->p, t, work);
    if (t % o->inner == 0) {
        copy_point(o->m->ambient, it->snapshot, it->p);
        int status = optim_snapshot(o, it->released, it->p, work);
        if (status != STATUS_OK)
            return status;
    }
    return optim_reduced_gradient(o, v, it->p, it->snapshot, it->released, t, work);
}

static void end_run(const struct optim *o, double *state, const struct iterates *it)
{
    if (o->output == OPTIM_RANDOM)
        copy_point(o->m->ambient, it->p, it->chosen);
    else if (o->output == OPTIM_AVERAGE)
        copy_point(o->m->ambient, it->p, it->mean);
    state[OPTIM_STATE_RUN]++;
}

int optim_run(struct optim *o, double *state, double until, double *work)
{
    manifold_t m = o->m;
    size_t n = m->ambient;
    struct iterates it = iterates_of(state, n);
    double *v = work, *u = v + n, *rest = u + n;
    optim_start(o);
    o->done = state[OPTIM_STATE_RUN] * (double)o->steps + state[OPTIM_STATE_STEP];
    host_tick(m->host, o->done, o->total); /* whether the first batch is empty isn't said */
    while (o->done < until) {
        size_t t = (size_t)state[OPTIM_STATE_STEP];
        double lr = o->lr[o->lr_count == 1 ? 0 : t];
        if (t == 0)
            begin_run(o, state, &it);
        if (t == (size_t)state[OPTIM_STATE_PICK]) /* option II: uniformly among the iterates before each step */
            copy_point(n, it.chosen, it.p);
        if (noisy_gradient(o, &it, t, v, rest) != STATUS_OK)
            return STATUS_DOMAIN_EXCEEDED; /* noise can't be had at a point that has left the manifold */
        note(o, t, lr, it.p, v, rest);
        int status = advance(o, it.p, v, lr, rest);
        if (status != STATUS_OK)
            return status;
        if (o->output == OPTIM_AVERAGE)
            average(m, it.mean, it.p, t, v, u, rest);
        o->done++;
        if (++t == o->steps) {
            end_run(o, state, &it);
            t = 0;
        }
        state[OPTIM_STATE_STEP] = (double)t;
        host_tick(m->host, o->done, o->total);
    }
    return STATUS_OK;
}
