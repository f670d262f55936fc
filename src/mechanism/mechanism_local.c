/* Laws around a point x of a sphere that depend on <x, y> alone, exactly: von Mises-Fisher by rejection (Ulrich 1984,
 * doi:10.2307/2347441; Wood 1994, doi:10.1080/03610919408813161), and a cap (PrivUnit, Bhowmick et al. 2018,
 * doi:10.48550/arXiv.1812.00984).
 * Proof: inst/proofs/local.md. */
#include "mechanism.h"

int whole_sphere(manifold_t m)
{
    return m->model == MODEL_SPHERE && m->ops->radial && m->rho_max > 3;
}

static void area(const void *data, double rho, double *value, double *slope)
{
    const struct cap *cap = data;
    cap->m->ops->radial(cap->m, rho, value, slope);
}

int cap_make(struct cap *cap, manifold_t m, double p, double angle)
{
    if (!whole_sphere(m) || !(p > 0 && p < 1) || !(angle > 0 && angle < m->rho_max))
        return STATUS_UNSUPPORTED;
    cap->m = m;
    cap->p = p;
    cap->part[0] = (struct logconcave){area, cap, 0, angle};
    cap->part[1] = (struct logconcave){area, cap, angle, m->rho_max};
    int status = hull_make(&cap->hull[0], &cap->part[0], angle);
    return status == STATUS_OK ? hull_make(&cap->hull[1], &cap->part[1], angle) : status;
}

static void in_direction(size_t d, double rho, struct rng *rng, double *coords)
{
    rng_direction(rng, d, coords);
    for (size_t j = 0; j < d; j++)
        coords[j] *= rho;
}

void cap_draw(const struct cap *cap, struct rng *rng, double *coords)
{
    int outside = rng_uniform(rng) >= cap->p;
    in_direction(cap->m->dim, hull_draw(&cap->hull[outside], rng), rng, coords);
}

/* t = 1 - <x, y>: differences from 1 are kept as such, so that large kappa loses no digits */
void vmf_draw(size_t d, double kappa, struct rng *rng, double *coords)
{
    double k = (double)d, b = k / (2 * kappa + sqrt(4 * kappa * kappa + k * k)), t0 = 2 * b / (1 + b);
    for (int round = 0; round < RNG_ROUNDS; round++) {
        double g = rng_gamma(rng, 0.5 * k), h = rng_gamma(rng, 0.5 * k), z = g / (g + h);
        double t = 2 * b * z / (1 - z + b * z);
        if (log(rng_uniform(rng)) <= kappa * (t0 - t) + k * log((t0 + t - t0 * t) / (t0 * (2 - t0)))) {
            in_direction(d, 2 * asin(fmin(1, sqrt(0.5 * t))), rng, coords);
            return;
        }
    }
    rng_stuck(rng);
}
