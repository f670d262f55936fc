#include "problem.h"

size_t problem_work(const struct problem *q)
{
    manifold_t m = q->m;
    size_t own = q->ops ? q->ops->work(m, q->block) : 0;
    return q->block * q->length + own + manifold_work(m);
}

/* one record, alone */
static int single(const struct problem *q, double *grad, double *loss, const double *p, const double *x, double *work)
{
    int status = STATUS_NOT_FINITE;
    if (all_finite(q->length, x))
        status = q->ops->gradient(q, grad, loss, p, one(x), 1, work);
    if (status == STATUS_OK && !(all_finite(q->m->ambient, grad) && (!loss || all_finite(1, loss))))
        status = STATUS_NOT_FINITE;
    return status;
}

/* The same numbers whether records come alone or together, so a record's gradient is a function of that record and p. */
static int own(const struct problem *q, double *grads, double *losses, const double *p, const size_t *which,
               size_t count, double *work)
{
    size_t n = q->m->ambient, len = q->length;
    double *x = work, *rest = work + q->block * len;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < len; j++)
            x[i * len + j] = q->x[which[i] * len + j];
    if (all_finite(count * len, x) &&
        q->ops->gradient(q, grads, losses, p, (struct points){x, len}, count, rest) == STATUS_OK &&
        all_finite(count * n, grads) && (!losses || all_finite(count, losses)))
        return STATUS_OK;
    int first = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        int status = single(q, grads + i * n, losses ? losses + i : NULL, p, x + i * len, rest);
        if (status == STATUS_OK)
            continue;
        first = first == STATUS_OK ? status : first;
        if (losses)
            losses[i] = 0;
        for (size_t j = 0; j < n; j++)
            grads[i * n + j] = 0;
    }
    return first;
}

int problem_gradients(const struct problem *q, double *grads, double *losses, const double *p, const size_t *which,
                      size_t count, double *work)
{
    if (q->ops)
        return own(q, grads, losses, p, which, count, work);
    manifold_t m = q->m;
    size_t n = m->ambient;
    int first = STATUS_OK;
    q->call(q->context, grads, losses, p, which, count);
    for (size_t i = 0; i < count; i++) {
        double *g = grads + i * n;
        int ok = all_finite(n, g) && m->ops->project_tangent(m, g, one(p), one(g), 0, 1, work) == STATUS_OK &&
                 all_finite(n, g);
        if (losses && !all_finite(1, losses + i)) {
            losses[i] = 0;
            first = STATUS_BAD_CALLBACK;
        }
        if (ok)
            continue;
        first = STATUS_BAD_CALLBACK;
        for (size_t j = 0; j < n; j++)
            g[j] = 0;
    }
    return first;
}
