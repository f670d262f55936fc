/* Leading eigenvector (sphere) and leading subspace (Grassmann, Stiefel): loss -|W'z|^2 of a record z, gradient
 * -2 (I - W W') z z'W, which is at most |z|^2 long. W'zz'W is symmetric, so the gradient is the same in both metrics of
 * Stiefel manifolds. */
#include "problem.h"

static size_t work_size(manifold_t m, size_t block)
{
    (void)block;
    return (m->cols ? m->cols : 1) + manifold_work(m);
}

static int gradient(const struct problem *q, double *grads, double *losses, const double *p, struct points x,
                    size_t count, double *work)
{
    manifold_t m = q->m;
    size_t n = q->length, k = m->cols ? m->cols : 1;
    double *s = work;
    for (size_t i = 0; i < count; i++) {
        const double *z = at(x, i);
        double *g = grads + i * m->ambient, total = 0;
        for (size_t c = 0; c < k; c++) {
            s[c] = dot(n, p + c * n, z);
            total += s[c] * s[c];
        }
        if (losses)
            losses[i] = -total;
        for (size_t c = 0; c < k; c++)
            for (size_t j = 0; j < n; j++)
                g[j + c * n] = -2 * z[j] * s[c];
        for (size_t c = 0; c < k; c++)
            for (size_t b = 0; b < k; b++) {
                double t = 2 * s[b] * s[c];
                for (size_t j = 0; j < n; j++)
                    g[j + c * n] += t * p[j + b * n];
            }
    }
    return STATUS_OK;
}

const struct problem_ops problem_pca = {"pca", work_size, gradient};
