/* Orthonormal coordinates carried to the base point, which has the law of any isometric transport from the reference
 * point (Utpala, Han, Jawanpuria and Mishra 2023, https://openreview.net/forum?id=paguBNtqiO): an isometry of tangent spaces keeps
 * N(0, sd^2). On positive definite matrices U = L Z L' needs only the Cholesky factor, since Z and Q Z Q' have one law. Where the
 * metric is the surrounding space's, the projection of an ambient normal has that law as well, and needs no frame. */
#include "tangent_noise.h"
#include "mechanism.h"

static int by_projection(manifold_t m)
{
    return m->ops->inner == manifold_ambient_inner && m->cols > 0 && m->ambient < 2 * m->dim;
}

size_t tangent_noise_work(manifold_t m, size_t block)
{
    return block * m->dim + 2 * m->ambient + m->dim + manifold_work(m);
}

int tangent_noise(manifold_t m, double *out, struct points p, enum tangent_law law, double sd, struct rng *rng,
                  size_t begin, size_t end, double *work)
{
    size_t n = m->ambient, d = m->dim;
    double *a = work, *rest = a + (end - begin) * d;
    if (law == TANGENT_GAUSSIAN && by_projection(m)) {
        struct points v = {out, n};
        rng_normals(rng, (end - begin) * n, sd, out + begin * n);
        return m->ops->project_tangent(m, out, p, v, begin, end, work);
    }
    if (law == TANGENT_GAUSSIAN)
        rng_normals(rng, (end - begin) * d, sd, a);
    else
        for (size_t i = 0; i < end - begin; i++)
            knorm_draw(d, sd, rng, a + i * d);
    struct points slice = {at(p, begin), p.stride}, coords = {a, d};
    return manifold_from_coords(m, out + begin * n, slice, coords, 0, end - begin, rest);
}

int tangent_frame(manifold_t m, double *frame, const double *p, enum tangent_method method, double *work)
{
    if (method == TANGENT_GRAM_SCHMIDT)
        return manifold_gram_schmidt(m, p, frame, work);
    double *a = work, *rest = work + m->dim;
    for (size_t j = 0; j < m->dim; j++) {
        for (size_t k = 0; k < m->dim; k++)
            a[k] = k == j;
        int status = manifold_from_coords(m, frame + j * m->ambient, one(p), one(a), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        host_tick(m->host, 0, 0);
    }
    return STATUS_OK;
}

int tangent_noise_frame(manifold_t m, double *out, const double *frame, double sd, struct rng *rng, double *work)
{
    size_t n = m->ambient;
    rng_normals(rng, m->dim, sd, work);
    for (size_t j = 0; j < n; j++)
        out[j] = 0;
    for (size_t k = 0; k < m->dim; k++)
        for (size_t j = 0; j < n; j++)
            out[j] += work[k] * frame[k * n + j];
    return STATUS_OK;
}

/* a projected ambient normal and its length in the metric */
static int proposal(manifold_t m, double *v, double *length, const double *p, struct rng *rng, double *work)
{
    rng_normals(rng, m->ambient, 1, v);
    int status = m->ops->project_tangent(m, v, one(p), one(v), 0, 1, work);
    if (status == STATUS_OK)
        status = m->ops->inner(m, length, one(p), one(v), one(v), 0, 1, work);
    *length = sqrt(*length > 0 ? *length : 0);
    return status;
}

int tangent_chain_step(manifold_t m, double *step, const double *p, double sd, struct rng *rng, double *work)
{
    enum { PILOT = 64 };
    double *v = work, *rest = v + m->ambient, sum = 0, length;
    for (int i = 0; i < PILOT; i++) {
        int status = proposal(m, v, &length, p, rng, rest);
        if (status != STATUS_OK)
            return status;
        sum += length * length;
    }
    *step = sum > 0 ? 2.38 * sd / sqrt(sum / PILOT) : 0;
    return STATUS_OK;
}

int tangent_noise_chain(manifold_t m, double *out, const double *p, double sd, double step, size_t steps,
                        struct rng *rng, double *work)
{
    size_t n = m->ambient;
    double *v = work, *rest = v + n, length, now = 0;
    for (size_t j = 0; j < n; j++)
        out[j] = 0;
    for (size_t t = 0; t < steps; t++) {
        double next;
        int status = proposal(m, v, &length, p, rng, rest);
        for (size_t j = 0; j < n; j++)
            v[j] = out[j] + step * v[j];
        if (status == STATUS_OK)
            status = m->ops->inner(m, &next, one(p), one(v), one(v), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        if (log(rng_uniform(rng)) < (now - next) / (2 * sd * sd)) {
            for (size_t j = 0; j < n; j++)
                out[j] = v[j];
            now = next;
        }
        host_tick(m->host, 0, 0);
    }
    return STATUS_OK;
}
