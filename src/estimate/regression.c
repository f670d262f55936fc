#include "regression.h"

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

/* w_i = sum_j x_ij v_j */
static void speeds(const struct regression *r, const double *v, struct points x, size_t count, double *w)
{
    size_t n = r->m->ambient;
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < n; c++)
            w[i * n + c] = 0;
        for (size_t j = 0; j < r->q; j++) {
            double t = at(x, i)[j];
            for (size_t c = 0; c < n; c++)
                w[i * n + c] += t * v[j * n + c];
        }
    }
}

/* predictions, residuals e there and their squares; total residuals trust no response */
static int residuals(const struct regression *r, const double *p, struct points w, struct points y, size_t count,
                     double *end, double *e, double *sq, double *work)
{
    manifold_t m = r->m;
    struct points ends = {end, m->ambient}, es = {e, m->ambient};
    int status = r->total ? m->ops->check_point(m, y, 0, count, work) : STATUS_OK;
    if (status == STATUS_OK)
        status = m->ops->exp(m, end, one(p), w, 0, count, work);
    if (status == STATUS_OK)
        status = m->ops->log(m, e, ends, y, 0, count, work);
    if (status == STATUS_OK)
        status = m->ops->inner(m, sq, ends, es, es, 0, count, work);
    return status;
}

/* losses; residuals become minus what pulls at the predictions */
static int lose(const struct regression *r, size_t count, const double *sq, double *e, struct regression_records out)
{
    manifold_t m = r->m;
    size_t n = m->ambient;
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
    return STATUS_OK;
}

/* All records at once; any failure fails all. */
static int block_whole(const struct regression *r, const double *p, const double *v, struct points x, struct points y,
                       size_t count, struct regression_records out, double *work)
{
    manifold_t m = r->m;
    size_t n = m->ambient;
    double *w = work, *end = w + count * n, *e = end + count * n, *sq = e + count * n, *rest = sq + count;
    struct points ws = {w, n}, ends = {end, n}, es = {e, n};
    speeds(r, v, x, count, w);
    int status = residuals(r, p, ws, y, count, end, e, sq, rest);
    if (status == STATUS_OK)
        status = lose(r, count, sq, e, out);
    if (status != STATUS_OK || !out.grad_p)
        return status;
    return manifold_exp_adjoint(m, out.grad_p, out.grad_w, p, v, r->q, x, ws, ends, es, count, rest);
}

static int gradients_finite(size_t n, struct regression_records out)
{
    return !out.grad_p || (all_finite(n, out.grad_p) && all_finite(n, out.grad_w));
}

/* a record by itself: where it has no residual it counts nothing */
static void block_one(const struct regression *r, const double *p, const double *v, struct points x, struct points y,
                      struct regression_records out, double *work)
{
    size_t n = r->m->ambient;
    if (all_finite(n, y.x) && all_finite(r->q, x.x) && block_whole(r, p, v, x, y, 1, out, work) == STATUS_OK &&
        gradients_finite(n, out))
        return;
    if (out.value)
        *out.value = 0;
    if (out.size)
        *out.size = NAN;
    for (size_t c = 0; c < n && out.grad_p; c++)
        out.grad_p[c] = out.grad_w[c] = 0;
}

int regression_block(const struct regression *r, const double *p, const double *v, struct points x, struct points y,
                     size_t count, struct regression_records out, double *work)
{
    size_t n = r->m->ambient;
    int status = block_whole(r, p, v, x, y, count, out, work);
    if (!r->total || (status == STATUS_OK && gradients_finite(count * n, out)))
        return status;
    for (size_t i = 0; i < count; i++) {
        struct regression_records own = {out.value ? out.value + i : NULL, out.size ? out.size + i : NULL,
                                         out.grad_p ? out.grad_p + i * n : NULL,
                                         out.grad_p ? out.grad_w + i * n : NULL};
        struct points xi = {at(x, i), r->q}, yi = {at(y, i), n};
        block_one(r, p, v, xi, yi, own, work);
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

/* weighted sums over all records; returns through *total the sum of weights */
static int energy_sums(const struct regression *r, const struct regression_data *d, const double *p, const double *v,
                       double *value, double *grad_p, double *grad_v, double *total, double *work)
{
    size_t n = r->m->ambient;
    struct regression_records out = {work, NULL, work + REGRESSION_BLOCK, work + REGRESSION_BLOCK * (1 + n)};
    double *rest = out.grad_w + REGRESSION_BLOCK * n;
    for (size_t begin = 0; begin < d->n; begin += REGRESSION_BLOCK) {
        size_t count = d->n - begin < REGRESSION_BLOCK ? d->n - begin : REGRESSION_BLOCK;
        struct points x = {at(d->x, begin), r->q}, y = {at(d->y, begin), n};
        int status = regression_block(r, p, v, x, y, count, out, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++) {
            double wi = d->w ? d->w[begin + i] : 1;
            *total += wi;
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
    return STATUS_OK;
}

int regression_energy(const struct regression *r, const struct regression_data *d, const double *p, const double *v,
                      double *value, double *grad_p, double *grad_v, double *work)
{
    size_t n = r->m->ambient;
    double total = 0;
    if (d->elsewhere)
        return d->elsewhere->energy(d->elsewhere, r, p, v, value, grad_p, grad_v);
    *value = 0;
    for (size_t c = 0; c < n; c++)
        grad_p[c] = 0;
    for (size_t c = 0; c < r->q * n; c++)
        grad_v[c] = 0;
    int status = energy_sums(r, d, p, v, value, grad_p, grad_v, &total, work);
    if (status != STATUS_OK)
        return status;
    *value /= total;
    for (size_t c = 0; c < n; c++)
        grad_p[c] /= total;
    for (size_t c = 0; c < r->q * n; c++)
        grad_v[c] /= total;
    return all_finite(n, grad_p) && all_finite(r->q * n, grad_v) && *value < INFINITY ? STATUS_OK
                                                                                      : STATUS_NO_CONVERGENCE;
}
