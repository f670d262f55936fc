/* Means: half the squared distance, gradient -log_p x; and Huber's loss of the distance, whose gradient is no longer than the
 * threshold. */
#include "problem.h"

static size_t work_size(manifold_t m, size_t block)
{
    return block + manifold_work(m);
}

static int logs(manifold_t m, double *grads, double *squares, const double *p, struct points x, size_t count,
                double *work)
{
    struct points v = {grads, m->ambient};
    int status = m->ops->log(m, grads, one(p), x, 0, count, work);
    return status == STATUS_OK ? m->ops->inner(m, squares, one(p), v, v, 0, count, work) : status;
}

static int frechet(const struct problem *q, double *grads, double *losses, const double *p, struct points x,
                   size_t count, double *work)
{
    int status =
        losses ? logs(q->m, grads, losses, p, x, count, work) : q->m->ops->log(q->m, grads, one(p), x, 0, count, work);
    for (size_t j = 0; j < count * q->m->ambient; j++)
        grads[j] = -grads[j];
    for (size_t i = 0; i < count && losses; i++)
        losses[i] *= 0.5;
    return status;
}

static int huber(const struct problem *q, double *grads, double *losses, const double *p, struct points x, size_t count,
                 double *work)
{
    size_t n = q->m->ambient;
    double *squares = losses ? losses : work;
    int status = logs(q->m, grads, squares, p, x, count, work + q->block);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        double d = sqrt(squares[i] > 0 ? squares[i] : 0), t = q->threshold, scale = d > t ? t / d : 1;
        squares[i] = d > t ? t * (d - 0.5 * t) : 0.5 * d * d;
        for (size_t j = 0; j < n; j++)
            grads[i * n + j] *= -scale;
    }
    return status;
}

const struct problem_ops problem_frechet = {"frechet", work_size, frechet};
const struct problem_ops problem_huber = {"huber", work_size, huber};
