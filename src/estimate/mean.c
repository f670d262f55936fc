#include "lanes.h"
#include "mean.h"

#include <string.h>

enum { LOOKED_AT = 16 }; /* records that speak for all, evenly spaced */

/* what the objective of a mean or median needs beyond the point */
struct pass {
    manifold_t m;
    const struct source *x;
    const double *w;
    double total, smooth;
    int median, forgiving;
    struct lanes *lanes;
    double *carry; /* ambient */
    double *slot;  /* sums of the blocks of one round, ambient + 1 each */
    double *lane;  /* one after the other: a logarithm, workspace */
    size_t lane_size;
};

/* blocks in one round at most, where there are several lanes: a megabyte's sums, or a few a lane */
static size_t slots_of(manifold_t m, const struct source *x)
{
    enum { BLOCKS_A_LANE = 16, MOST = 1 << 17 };
    size_t few = BLOCKS_A_LANE * (size_t)x->lanes, many = MOST / (m->ambient + 1);
    return x->lanes > 1 ? (few > many ? few : many) : 1;
}

/* adds y to the compensated sum (s, c), Neumaier 1974, doi:10.1002/zamm.19740540106 */
static void add(size_t n, double *s, double *c, const double *y)
{
    for (size_t j = 0; j < n; j++) {
        double t = s[j] + y[j];
        c[j] += fabs(s[j]) >= fabs(y[j]) ? (s[j] - t) + y[j] : (y[j] - t) + s[j];
        s[j] = t;
    }
}

/* one record at a time: what has no log counts as being at p (forgiving), and unit vectors for the median */
static int slow_block(const struct pass *c, const double *p, struct points x, const double *w, size_t count,
                      double *sums, double *log, double *work)
{
    manifold_t m = c->m;
    for (size_t i = 0; i < count; i++) {
        double sq, wi = w ? w[i] : 1; /* of the median: the distance, not its square */
        int status = m->ops->log(m, log, one(p), one(at(x, i)), 0, 1, work);
        if (status == STATUS_OK &&
            c->median) /* lengths of logarithms lose their digits far out in a hyperbolic space */
            status = manifold_dist(m, &sq, one(p), one(at(x, i)), 0, 1, work);
        else if (status == STATUS_OK)
            status = m->ops->inner(m, &sq, one(p), one(log), one(log), 0, 1, work);
        if (c->forgiving && (status != STATUS_OK || !all_finite(m->ambient, log) || !(sq < INFINITY)))
            continue;
        if (status != STATUS_OK)
            return status;
        if (c->smooth > 0)
            sq = hypot(sq, c->smooth);
        sums[m->ambient] += wi * sq;
        if (c->median)
            wi = sq > 0 && !same(m->ambient, p, at(x, i)) ? wi / sq : 0;
        for (size_t j = 0; j < m->ambient; j++)
            sums[j] += wi * log[j];
    }
    return STATUS_OK;
}

/* sums of one block on one lane */
static int pass_block(const struct pass *c, const double *p, size_t slot, int lane, size_t begin, size_t end)
{
    manifold_t m = c->m;
    size_t n = m->ambient;
    double *sums = c->slot + slot * (n + 1), *log = c->lane + (size_t)lane * c->lane_size, *work = log + n;
    const double *w = c->w ? c->w + begin : NULL;
    struct points x;
    for (size_t j = 0; j <= n; j++)
        sums[j] = 0;
    int status = c->x->read(c->x, lane, begin, end, work, &x);
    if (status != STATUS_OK)
        return status;
    if (!c->median)
        status = manifold_log_sum(m, sums, sums + n, p, x, w, 0, end - begin, work);
    if (c->median || (c->forgiving && (status != STATUS_OK || !all_finite(n + 1, sums)))) {
        for (size_t j = 0; j <= n; j++)
            sums[j] = 0;
        status = slow_block(c, p, x, w, end - begin, sums, log, work);
    }
    return status;
}

/* the blocks of a round from record `start` */
struct round {
    const struct pass *c;
    const double *p;
    size_t start, stop;
};

static int round_block(const void *data, size_t k, int lane)
{
    const struct round *r = data;
    size_t block = r->c->x->block, begin = r->start + k * block, end = begin + block < r->stop ? begin + block : r->stop;
    return pass_block(r->c, r->p, k, lane, begin, end);
}

/* Mean: value sum w d^2 / 2W and gradient -sum w log / W; median: sum w d / W. Blocks are summed in their order, so the
 * result doesn't depend on the number of lanes. */
static int pass_eval(const struct objective *f, const double *p, double *grad, double *value)
{
    enum { ALONE = 1 };
    const struct pass *c = f->data;
    manifold_t m = c->m;
    size_t n = m->ambient, block = c->x->block, slots = slots_of(m, c->x);
    double sum = 0, sum_carry = 0;
    for (size_t j = 0; j < n; j++)
        grad[j] = c->carry[j] = 0;
    for (size_t start = 0; start < c->x->n;) {
        size_t left = (c->x->n - start + block - 1) / block, blocks = lanes_round(c->lanes, left, ALONE, slots);
        size_t stop = blocks < left ? start + blocks * block : c->x->n;
        struct round r = {c, p, start, stop};
        int bad = lanes_run(c->lanes, blocks, round_block, &r, NULL);
        if (bad != STATUS_OK)
            return bad;
        for (size_t k = 0; k < blocks; k++) {
            const double *sums = c->slot + k * (n + 1);
            add(n, grad, c->carry, sums);
            add(1, &sum, &sum_carry, sums + n);
        }
        host_tick(m->host, 0, 0);
        start = stop;
    }
    for (size_t j = 0; j < n; j++)
        grad[j] = -(grad[j] + c->carry[j]) / c->total;
    *value = (sum + sum_carry) / c->total * (c->median ? 1 : 0.5);
    return all_finite(n, grad) ? STATUS_OK : STATUS_NO_CONVERGENCE;
}

/* workspace of the passes themselves: what follows is the solver's */
static size_t pass_work(manifold_t m, const struct source *x)
{
    return m->ambient + slots_of(m, x) * (m->ambient + 1) + (size_t)x->lanes * (m->ambient + manifold_work(m));
}

size_t mean_solver_work(manifold_t m, int memory)
{
    return 5 * m->ambient + solver_work(m, memory);
}

size_t mean_work(manifold_t m, const struct source *x, int memory)
{
    return pass_work(m, x) + mean_solver_work(m, memory);
}

static struct pass make_pass(manifold_t m, const struct source *x, const double *w, int median, int forgiving,
                             struct lanes *lanes, double *work)
{
    struct pass c = {m, x, w, 0, 0, median, forgiving, lanes, work, work + m->ambient, NULL,
                     m->ambient + manifold_work(m)};
    c.lane = c.slot + slots_of(m, x) * (m->ambient + 1);
    if (w)
        for (size_t i = 0; i < x->n; i++)
            c.total += w[i];
    else
        c.total = (double)x->n;
    return c;
}

static int nearest_in_source(const struct mean_records *r, const double *p, double *record, double *share, double *work)
{
    const struct pass *c = r->energy.data;
    manifold_t m = c->m;
    double best = INFINITY, d;
    *share = 0;
    for (int copies = 0; copies < 2; copies++) /* first the nearest record, then the weight of all that are the same point */
        for (size_t begin = 0; begin < c->x->n; begin += c->x->block) {
            size_t end = begin + c->x->block < c->x->n ? begin + c->x->block : c->x->n;
            struct points x = c->x->get(c->x, begin, end);
            for (size_t i = 0; i < end - begin; i++) {
                double w = c->w ? c->w[begin + i] : 1;
                if (copies && same(m->ambient, record, at(x, i)))
                    *share += w / c->total;
                if (copies || w == 0 || manifold_dist(m, &d, one(p), one(at(x, i)), 0, 1, work) != STATUS_OK || !(d < best))
                    continue;
                best = d;
                memcpy(record, at(x, i), m->ambient * sizeof *record);
            }
        }
    return best < INFINITY;
}

/* The median may sit on a record: there the gradient of the others must not exceed the record's weight (Vardi and Zhang 2000,
 * doi:10.1073/pnas.97.4.1423). Moves p to the best such record if there is one. */
static int median_at_record(manifold_t m, const struct mean_records *r, double *p, double *gradient_norm, double *work)
{
    size_t n = m->ambient;
    double *nearest = work, *g = nearest + n, *rest = g + n, value, sq, share;
    if (!r->nearest(r, p, nearest, &share, rest))
        return 0;
    if (r->energy.eval(&r->energy, nearest, g, &value) != STATUS_OK ||
        m->ops->inner(m, &sq, one(nearest), one(g), one(g), 0, 1, rest) != 0)
        return 0;
    if (sqrt(sq) > share * (1 + 1e-12))
        return 0;
    for (size_t j = 0; j < n; j++)
        p[j] = nearest[j];
    *gradient_norm = 0;
    return 1;
}

/* 1 over the mean eigenvalue of the Hessian of the mean squared distance: its trace is d + 2 mean log|det d exp| to second
 * order in the spread (both are Ricci terms), seen at a few records evenly spaced. */
double mean_first_step(manifold_t m, const struct source *x, const double *p, double *work)
{
    double *v = work, *rest = v + m->ambient, sum = 0, one_density;
    size_t seen = 0, stride = x->n / LOOKED_AT + 1;
    if (!m->ops->log_density || m->dim < 2)
        return 1;
    for (size_t i = 0; i < x->n; i += stride) {
        struct points y = x->get(x, i, i + 1);
        if (m->ops->log(m, v, one(p), y, 0, 1, rest) == STATUS_OK &&
            m->ops->log_density(m, &one_density, one(p), one(v), 0, 1, rest) == STATUS_OK &&
            fabs(one_density) < INFINITY) {
            sum += one_density;
            seen++;
        }
    }
    double mean = seen ? 1 + 2 * sum / (double)seen / (double)m->dim : 1;
    return mean > 0.5 ? 1 / mean : 2;
}

/* Where logarithms are rounded hard (matrices of condition 1e12) the value's noise hides a descent long before the gradient's
 * does. There the fixed point of m -> exp(mean log), a contraction near the mean, is followed by the gradient alone; the
 * best point seen is kept. */
static void polish(manifold_t m, const struct objective *f, double *p, double scale, struct mean_fit *fit, double *work)
{
    enum { STEPS = 40, PATIENCE = 6 };
    size_t n = m->ambient;
    double *at_p = work, *q = at_p + n, *g = q + n, *rest = g + n, value, sq;
    if (f->eval(f, p, g, &value) != STATUS_OK)
        return;
    for (size_t j = 0; j < n; j++)
        at_p[j] = p[j];
    int room = fit->max_iter - fit->iterations, steps = room < STEPS ? room : STEPS;
    for (int k = 0, stalled = 0; k < steps && stalled < PATIENCE && !fit->converged; k++) {
        for (size_t j = 0; j < n; j++)
            g[j] *= -scale;
        if (m->ops->exp(m, q, one(at_p), one(g), 0, 1, rest) != STATUS_OK || f->eval(f, q, g, &value) != STATUS_OK ||
            m->ops->inner(m, &sq, one(q), one(g), one(g), 0, 1, rest) != STATUS_OK || !(sq >= 0))
            return;
        for (size_t j = 0; j < n; j++)
            at_p[j] = q[j];
        fit->iterations++;
        stalled++;
        if (sqrt(sq) < fit->gradient_norm) {
            stalled = sqrt(sq) < 0.5 * fit->gradient_norm ? 0 : stalled;
            for (size_t j = 0; j < n; j++)
                p[j] = q[j];
            fit->gradient_norm = sqrt(sq);
            fit->variance = 2 * value;
            fit->converged = fit->gradient_norm <= fit->tolerance;
        }
    }
}

/* one rounding error in each number of x, of signs that k chooses: where the manifold takes the result to be, as a tangent vector */
static int rounding_error(manifold_t m, double *v, const double *x, unsigned k, double *work)
{
    unsigned bits = 2654435761u * (k + 1);
    double *q = work, *rest = q + m->ambient;
    for (size_t j = 0; j < m->ambient; j++) {
        bits = 1664525u * bits + 1013904223u;
        q[j] = bits >> 31 ? x[j] + RIEMDP_EPS * x[j] : x[j] - RIEMDP_EPS * x[j];
    }
    if (m->ops->at_edge) /* coordinates that say more than a point needs: no move is what the others ignore of them */
        return m->ops->log(m, v, one(x), one(q), 0, 1, rest);
    for (size_t j = 0; j < m->ambient; j++)
        v[j] = q[j] - x[j];
    return m->ops->project_tangent(m, v, one(x), one(v), 0, 1, rest);
}

static double length(manifold_t m, const double *p, const double *v, double *work)
{
    double sq;
    return m->ops->inner(m, &sq, one(p), one(v), one(v), 0, 1, work) == STATUS_OK && sq >= 0 ? sqrt(sq) : INFINITY;
}

enum { ROUNDED = 3 }; /* draws of signs */

/* how far rounding errors move p, as far as can be seen */
static double point_moved(manifold_t m, const double *p, double *v, double *work)
{
    double moved = 0, d;
    for (unsigned k = 0; k < ROUNDED; k++)
        if (rounding_error(m, v, p, k, work) == STATUS_OK && (d = length(m, p, v, work)) > moved && d < INFINITY)
            moved = d;
    return moved;
}

/* how far rounding errors of y move its logarithm v at p; u, q: room */
static double log_moved(manifold_t m, const double *p, struct points y, const double *v, double *u, double *q,
                        double *work)
{
    double moved = 0, d;
    for (unsigned k = 0; k < ROUNDED; k++) {
        if (rounding_error(m, u, y.x, k + 1, work) != STATUS_OK ||
            m->ops->exp(m, q, y, one(u), 0, 1, work) != STATUS_OK ||
            m->ops->log(m, u, one(p), one(q), 0, 1, work) != STATUS_OK)
            continue;
        for (size_t j = 0; j < m->ambient; j++)
            u[j] -= v[j];
        if ((d = length(m, p, u, work)) > moved && d < INFINITY)
            moved = d;
    }
    return moved;
}

/* What rounding leaves of the gradient: how far one rounding error in each stored number moves p itself and the logarithms of a
 * few records; for a median these are set against the records' distances. An estimate, four times the largest one seen. */
static double rounding_floor(manifold_t m, const struct source *x, const double *p, int median, double *work)
{
    size_t n = m->ambient, seen = 0, stride = x->n / LOOKED_AT + 1;
    double *v = work, *u = v + n, *q = u + n, *rest = q + n, moved = point_moved(m, p, v, rest), sum = 0;
    for (size_t i = 0; i < x->n; i += stride) {
        struct points y = x->get(x, i, i + 1);
        if (m->ops->log(m, v, one(p), y, 0, 1, rest) != STATUS_OK)
            continue;
        double far = length(m, p, v, rest), most = log_moved(m, p, y, v, u, q, rest);
        sum += !median ? most : most + moved < far ? (most + moved) / far : 0; /* a median at a record is tested there */
        seen++;
    }
    double records = seen ? sum / (double)seen : 0;
    return 4 * (median ? records : records + moved);
}

/* A record opposite to the start has no direction there: a little aside every record has one. */
static int step_aside(manifold_t m, const struct objective *f, double *p, double *work)
{
    size_t n = m->ambient, d = m->dim;
    double *q = work, *v = q + n, *a = v + n, *rest = a + d, value;
    for (size_t k = 0; k < 32; k++) {
        double reach = (m->inj < 1 ? m->inj : 1) * 0.01 * (double)(k + 1);
        for (size_t j = 0; j < d; j++)
            a[j] = j == k % d ? reach : 0.3 * reach / (double)(d + j);
        if (manifold_from_coords(m, v, one(p), one(a), 0, 1, rest) == STATUS_OK &&
            m->ops->exp(m, q, one(p), one(v), 0, 1, rest) == STATUS_OK && f->eval(f, q, v, &value) == STATUS_OK) {
            for (size_t j = 0; j < n; j++)
                p[j] = q[j];
            return STATUS_OK;
        }
    }
    return STATUS_CUT_LOCUS;
}

/* The best of steps along the gradient from four times the mean distance down to rounding: descends, or p stays where it is. */
static int long_look(manifold_t m, const struct objective *f, double *p, double *value, double *work)
{
    enum { LENGTHS = 56 };
    size_t n = m->ambient;
    double *g = work, *q = g + n, *v = q + n, *best = v + n, *rest = best + n, found = *value, norm, now;
    if (f->eval(f, p, g, &now) != STATUS_OK || !((norm = length(m, p, g, rest)) > 0) || !(norm < INFINITY))
        return 0;
    double t = 4 * now / norm;
    for (int k = 0; k < LENGTHS; k++, t /= 2) {
        for (size_t j = 0; j < n; j++)
            v[j] = -t * g[j];
        if (m->ops->exp(m, q, one(p), one(v), 0, 1, rest) != STATUS_OK || f->eval(f, q, v, &now) != STATUS_OK || !(now < found))
            continue;
        found = now;
        for (size_t j = 0; j < n; j++)
            best[j] = q[j];
    }
    if (!(found < *value * (1 - 1e-15)))
        return 0;
    *value = found;
    for (size_t j = 0; j < n; j++)
        p[j] = best[j];
    return 1;
}

/* Medians that aren't smoothed have kinks at the records, where secant steps may stall: then the best step along the gradient is taken, which
 * descends, and they start again. Lengths are in units of the mean distance to the start. */
static int median_minimise(manifold_t m, const struct mean_records *r, double *p, struct mean_fit *fit, double *work)
{
    const struct objective *f = &r->energy;
    struct solver s = {.tol = fit->tol, .memory = fit->memory};
    double *g = work, value;
    int left = fit->max_iter, status = f->eval(f, p, g, &value);
    if (status != STATUS_OK)
        return status;
    fit->iterations = 0;
    for (;;) {
        s.scale = value > 0 ? value : 1;
        s.max_iter = left;
        status = solver_run(m, f, p, &s, work);
        if (status != STATUS_OK)
            return status;
        fit->iterations += s.iterations;
        left -= s.iterations;
        fit->gradient_norm = s.gradient_norm;
        fit->variance = value = s.value;
        fit->converged = s.converged || (fit->smooth == 0 && median_at_record(m, r, p, &fit->gradient_norm, work));
        if (fit->converged || fit->smooth > 0 || left <= 0 || !long_look(m, f, p, &value, work))
            break;
        fit->iterations++;
        left--;
    }
    if (fit->converged && f->eval(f, p, g, &value) == STATUS_OK) /* the record may be another point than where the steps ended */
        fit->variance = value;
    return STATUS_OK;
}

static int mean_steps(manifold_t m, const struct mean_records *r, double *p, struct mean_fit *fit, double floor, double *work)
{
    const struct objective *f = &r->energy;
    struct solver s = {.tol = fit->tol, .relative = 1, .floor = floor, .max_iter = fit->max_iter, .memory = fit->memory,
                       .scale = r->scale};
    int status = solver_run(m, f, p, &s, work);
    if (status != STATUS_OK)
        return status;
    fit->iterations = s.iterations;
    fit->gradient_norm = s.gradient_norm;
    fit->converged = s.converged;
    fit->variance = 2 * s.value;
    fit->tolerance = fit->tol * sqrt(fit->variance > 0 ? fit->variance : 0);
    if (!fit->converged)
        polish(m, f, p, s.scale, fit, work);
    return STATUS_OK;
}

int mean_minimise(manifold_t m, const struct mean_records *r, double *p, struct mean_fit *fit, double *work)
{
    fit->tolerance = fit->tol;
    double floor = fit->median ? 0 : rounding_floor(m, r->looked, p, 0, work);
    for (int tries = 0;; tries++) {
        int status = fit->median ? median_minimise(m, r, p, fit, work) : mean_steps(m, r, p, fit, floor, work);
        if (status == STATUS_OK)
            break;
        if (status != STATUS_CUT_LOCUS || tries > 0 || step_aside(m, &r->energy, p, work) != STATUS_OK)
            return status;
    }
    fit->gradient_floor = rounding_floor(m, r->looked, p, fit->median, work);
    if (fit->gradient_norm <= fit->gradient_floor)
        fit->converged = 1;
    return STATUS_OK;
}

int mean_run(manifold_t m, const struct source *x, const double *w, double *p, struct mean_fit *fit, double *work)
{
    struct lanes lanes = {.most = x->lanes};
    struct pass c = make_pass(m, x, w, fit->median, 0, &lanes, work);
    c.smooth = fit->smooth;
    double *rest = work + pass_work(m, x);
    struct mean_records r = {{pass_eval, &c}, nearest_in_source, 1, x};
    if (!fit->median && fit->memory > 0)
        r.scale = mean_first_step(m, x, p, rest);
    return mean_minimise(m, &r, p, fit, rest);
}

/* d(p_j, m) <= q^j r and |grad| <= zeta q^j r, all steps inside the ball: inst/proofs/mean-solver.md */
void mean_ball_steps(double k_min, double k_max, double radius, double tol, double *step, double *count)
{
    double rho = radius * sqrt(k_max > 0 ? k_max : 0), far = radius * sqrt(k_min < 0 ? -k_min : 0);
    double zeta = far > 1e-4 ? far / tanh(far) : 1 + far * far / 3;
    double a = rho > 1e-4 ? rho / tan(rho) : 1 - rho * rho / 3,
           h = rho > 1e-4 ? 2 * rho / tan(2 * rho) : 1 - 4 * rho * rho / 3;
    h = 0.75 + 0.25 * h;
    double t = a / zeta, s = 2 / (zeta * (zeta + h));
    if (s < t)
        t = s;
    t *= 1 - 1e-12;
    double q = sqrt(square(1 - t * h) + (zeta - 1) * square(t * h)) * (1 + 1e-9) + 1e-9; /* rounded up */
    *step = t;
    *count = q < 1 ? ceil(log(zeta * radius / tol) / -log(q)) : INFINITY;
    if (!(*count >= 1))
        *count = 1;
}

static double in_ball_norm(manifold_t m, const double *p, const double *g, double *rest)
{
    double sq = INFINITY;
    if (m->ops->inner(m, &sq, one(p), one(g), one(g), 0, 1, rest) != STATUS_OK || !(sq >= 0))
        return INFINITY;
    return sqrt(sq);
}

void mean_fast_of(manifold_t m, const struct objective *f, const double *centre, double radius, double tol, double *p,
                  double *gradient_norm, double *work)
{
    enum { MEMORY = 5, FAST = 60 };
    size_t n = m->ambient;
    double *g = work, *rest = g + n, value;
    struct solver s = {.tol = 0.1 * tol, .max_iter = FAST, .memory = MEMORY, .scale = 1};
    for (size_t j = 0; j < n; j++)
        p[j] = centre[j];
    int status = solver_run(m, f, p, &s, rest);
    if (status != STATUS_OK || !all_finite(n, p))
        for (size_t j = 0; j < n; j++)
            p[j] = centre[j];
    manifold_to_ball(m, p, centre, radius, one(p), 0, 1, rest);
    if (gradient_norm)
        *gradient_norm = f->eval(f, p, g, &value) == STATUS_OK ? in_ball_norm(m, p, g, rest) : INFINITY;
}

void mean_fast(manifold_t m, const struct source *x, const double *centre, double radius, double tol, double *p, double *work)
{
    struct lanes lanes = {.most = x->lanes};
    struct pass c = make_pass(m, x, NULL, 0, 1, &lanes, work);
    struct objective f = {pass_eval, &c};
    mean_fast_of(m, &f, centre, radius, tol, p, NULL, work + pass_work(m, x));
}

void mean_in_ball(manifold_t m, const struct source *x, const double *centre, double radius, double k_min, double k_max,
                  double tol, double *p, double *gradient_norm, double *work)
{
    struct lanes lanes = {.most = x->lanes};
    struct pass c = make_pass(m, x, NULL, 0, 1, &lanes, work);
    struct objective f = {pass_eval, &c};
    mean_in_ball_of(m, &f, centre, radius, k_min, k_max, tol, p, gradient_norm, work + pass_work(m, x));
}

void mean_in_ball_of(manifold_t m, const struct objective *f, const double *centre, double radius, double k_min,
                     double k_max, double tol, double *p, double *gradient_norm, double *work)
{
    size_t n = m->ambient;
    double *g = work, *q = g + n, *rest = q + n, value, step, count;
    /* fast steps first; what they find counts only if its gradient is small */
    mean_fast_of(m, f, centre, radius, tol, p, gradient_norm, work);
    if (*gradient_norm <= tol)
        return;
    mean_ball_steps(k_min, k_max, radius, 0.5 * tol, &step, &count);
    for (size_t j = 0; j < n; j++)
        p[j] = centre[j];
    *gradient_norm = INFINITY;
    for (double t = 0; t <= count; t++) {
        if (f->eval(f, p, g, &value) != STATUS_OK)
            return;
        *gradient_norm = in_ball_norm(m, p, g, rest);
        if (*gradient_norm <= 0.5 * tol)
            return;
        for (size_t j = 0; j < n; j++)
            g[j] *= -step;
        if (m->ops->exp(m, q, one(p), one(g), 0, 1, rest) != STATUS_OK)
            return;
        manifold_to_ball(m, p, centre, radius, one(q), 0, 1, rest);
    }
}
