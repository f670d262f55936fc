/* Where fits of geodesic regressions start. */
#include "regression_start.h"
#include "linalg.h"

/* weighted moments of (1, x) over the total weight, and their inverse */
int regression_make_moments(const struct regression_data *d, size_t q, double *moments, double *inverse, double *work)
{
    size_t k = q + 1;
    double total = 0;
    for (size_t j = 0; j < k * k; j++)
        moments[j] = 0;
    for (size_t j = 0; j < k * k && d->elsewhere; j++)
        moments[j] = d->elsewhere->moments[j];
    if (d->elsewhere)
        total = 1;
    for (size_t i = 0; i < d->n && !d->elsewhere; i++) {
        const double *x = at(d->x, i);
        double w = d->w ? d->w[i] : 1;
        total += w;
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                moments[a + b * k] += w * (a ? x[a - 1] : 1) * (b ? x[b - 1] : 1);
    }
    double *copy = work, *rest = copy + k * k;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double g = moments[a + b * k] / total;
            moments[a + b * k] = copy[a + b * k] = a != b && fabs(g) < 1e-14 ? 0 : g;
            inverse[a + b * k] = a == b;
        }
    return la_solve(k, k, copy, inverse, rest);
}

/* Normal equations of logarithms at `base` on (1, x): g, k x k, and b, k x ambient. Records that have no logarithm are left
 * out. */
static void normal_equations(const struct regression *r, const struct regression_data *d, const double *base, double *g,
                             double *b, double *u, double *work)
{
    manifold_t m = r->m;
    size_t n = m->ambient, k = r->q + 1;
    for (size_t j = 0; j < k * k; j++)
        g[j] = 0;
    for (size_t j = 0; j < k * n; j++)
        b[j] = 0;
    for (size_t i = 0; i < d->n; i++) {
        const double *x = at(d->x, i);
        double w = d->w ? d->w[i] : 1;
        if (w == 0 || m->ops->log(m, u, one(base), one(at(d->y, i)), 0, 1, work) != STATUS_OK || !all_finite(n, u))
            continue;
        for (size_t a = 0; a < k; a++) {
            double xa = w * (a ? x[a - 1] : 1);
            for (size_t c = 0; c < k; c++)
                g[a + c * k] += xa * (c ? x[c - 1] : 1);
            for (size_t c = 0; c < n; c++)
                b[a + c * k] += xa * u[c];
        }
        if (m->flags & MANIFOLD_CALLS_R)
            host_tick(m->host, 0, 0);
    }
}

/* least squares in the tangent space at `base`, carried to the foot that they give */
static int tangent_start(const struct regression *r, const struct regression_data *d, const double *base, double *state,
                         double *work)
{
    manifold_t m = r->m;
    size_t n = m->ambient, k = r->q + 1;
    double *g = work, *b = g + k * k, *u = b + k * n, *pivot = u + n, *rest = pivot + k;
    normal_equations(r, d, base, g, b, u, rest);
    int status = la_solve(k, n, g, b, pivot);
    if (status != STATUS_OK || !all_finite(k * n, b))
        return STATUS_LINALG;
    for (size_t c = 0; c < n; c++)
        u[c] = b[c * k];
    status = m->ops->exp(m, state, one(base), one(u), 0, 1, rest);
    for (size_t a = 1; a < k && status == STATUS_OK; a++) {
        for (size_t c = 0; c < n; c++)
            u[c] = b[a + c * k];
        status = manifold_transport(m, state + a * n, one(base), one(state), one(u), 0, 1, rest);
    }
    return status;
}

/* the geodesic through records i and j (one predictor) */
static int pair_start(const struct regression *r, const struct regression_data *d, size_t i, size_t j, double *state,
                      double *work)
{
    manifold_t m = r->m;
    size_t n = m->ambient;
    double gap = *at(d->x, j) - *at(d->x, i), back = -*at(d->x, i), *u = work, *rest = u + n;
    if (!(fabs(gap) > 0))
        return STATUS_LINALG;
    int status = m->ops->log(m, u, one(at(d->y, i)), one(at(d->y, j)), 0, 1, rest);
    for (size_t c = 0; c < n; c++) {
        u[c] /= gap;
        state[n + c] = u[c];
        u[c] *= back;
    }
    if (status == STATUS_OK)
        status = m->ops->exp(m, state, one(at(d->y, i)), one(u), 0, 1, rest);
    if (status == STATUS_OK)
        status = manifold_transport(m, state + n, one(at(d->y, i)), one(state), one(state + n), 0, 1, rest);
    return status;
}

/* Index of the record whose rank in the first predictor is about `share` of n: by counting, since sorting would need room. */
static size_t by_rank(const struct regression_data *d, double share)
{
    double low = INFINITY, high = -INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < d->n; i++) {
        double x = *at(d->x, i);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    double goal = low + share * (high - low), gap = INFINITY;
    for (size_t i = 0; i < d->n; i++)
        if (fabs(*at(d->x, i) - goal) < gap) {
            gap = fabs(*at(d->x, i) - goal);
            best = i;
        }
    return best;
}

/* the k-th start: tangent least squares at the mean, the constant, tangent spaces of records, lines through pairs */
int regression_make_start(const struct regression *r, const struct regression_data *d, const double *mean, int k,
                          double *state, double *work)
{
    static const double shares[] = {0.5, 0, 1, 0.25, 0.75};
    static const double pairs[][2] = {{0, 1}, {0, 0.5}, {0.5, 1}, {0.25, 0.75}, {0, 0.25}, {0.75, 1}};
    enum { SHARES = 5, PAIRS = 6 };
    size_t n = r->m->ambient;
    if (k == 0)
        return tangent_start(r, d, mean, state, work);
    if (k == 1) {
        for (size_t c = 0; c < (r->q + 1) * n; c++)
            state[c] = c < n ? mean[c] : 0;
        return STATUS_OK;
    }
    if (r->q == 1) {
        if ((k - 2) % 2 == 0 && (k - 2) / 2 < PAIRS) {
            const double *two = pairs[(k - 2) / 2];
            return pair_start(r, d, by_rank(d, two[0]), by_rank(d, two[1]), state, work);
        }
        if ((k - 3) / 2 < SHARES)
            return tangent_start(r, d, at(d->y, by_rank(d, shares[(k - 3) / 2])), state, work);
    }
    return tangent_start(r, d, at(d->y, (size_t)(k * 7919) % d->n), state, work);
}

/* the sum of weights, and the first record that has one */
static double total_weight(const struct regression_data *d, size_t *first)
{
    double total = 0;
    *first = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (total == 0)
            *first = i;
        total += d->w ? d->w[i] : 1;
    }
    return total;
}

/* a step along the mean logarithm, and the square of its length; a status where there is none. room: ambient each */
static int mean_step(manifold_t m, const struct regression_data *d, double total, double *mean, double *gg, double *sum,
                     double *next, double *work)
{
    size_t n = m->ambient;
    double sq = 0;
    for (size_t c = 0; c < n; c++)
        sum[c] = 0;
    int status = manifold_log_sum(m, sum, &sq, mean, d->y, d->w, 0, d->n, work);
    for (size_t c = 0; c < n; c++)
        sum[c] /= total;
    if (status == STATUS_OK)
        status = m->ops->inner(m, gg, one(mean), one(sum), one(sum), 0, 1, work);
    if (status == STATUS_OK)
        status = m->ops->exp(m, next, one(mean), one(sum), 0, 1, work);
    host_tick(m->host, 0, 0);
    if (status != STATUS_OK || !all_finite(n, next))
        return STATUS_NO_CONVERGENCE;
    for (size_t c = 0; c < n; c++)
        mean[c] = next[c];
    return STATUS_OK;
}

/* the mean of the responses by a few steps, or a record */
void regression_find_mean(const struct regression *r, const struct regression_data *d, double *mean, double *work)
{
    enum { STEPS = 20 };
    manifold_t m = r->m;
    size_t n = m->ambient, first;
    double *sum = work, *next = sum + 2 * n, *rest = next + n, total = total_weight(d, &first), gg;
    for (size_t c = 0; c < 2 * n; c++)
        sum[c] = 0;
    int status = manifold_start_add(m, sum, d->y, d->w, 0, d->n, rest);
    if (status == STATUS_OK)
        status = manifold_start_end(m, mean, sum, total, rest);
    if (status != STATUS_OK)
        for (size_t c = 0; c < n; c++)
            mean[c] = at(d->y, first)[c];
    for (int step = 0; step < STEPS; step++)
        if (mean_step(m, d, total, mean, &gg, sum, next, rest) != STATUS_OK || gg < 1e-10)
            return;
}

/* all records in so small a ball around the mean that tangent least squares starts in the right valley */
int regression_is_tight(manifold_t m, const struct regression_data *d, const double *mean, double *work)
{
    double k_max, inj, sq, farthest = 0, *u = work, *rest = u + m->ambient;
    if (m->inj == INFINITY && m->k_max <= 0)
        return 1;
    for (size_t i = 0; i < d->n; i++) {
        if (m->ops->log(m, u, one(mean), one(at(d->y, i)), 0, 1, rest) != STATUS_OK ||
            m->ops->inner(m, &sq, one(mean), one(u), one(u), 0, 1, rest) != STATUS_OK || !(sq < INFINITY))
            return 0;
        farthest = sq > farthest ? sq : farthest;
    }
    farthest = sqrt(farthest);
    manifold_ball_bounds(m, mean, farthest, &k_max, &inj, rest);
    double bound = k_max > 0 ? RIEMDP_PI / sqrt(k_max) : INFINITY;
    return 4 * farthest < (inj < bound ? inj : bound);
}
