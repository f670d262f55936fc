/* How volume grows around a point of a product: the density of exp is the product of the parts', and no larger than a bound that
 * depends on the length alone. Proof: inst/proofs/products.md, section 5. */
#include "manifold.h"

double manifold_ricci(manifold_t m, double *curved)
{
    double d = (double)m->dim, k = (double)m->rows;
    double each = m->model == MODEL_SPD ? 1 : m->model == MODEL_HERMITIAN ? 2 : 0; /* dimensions that a pair of eigenvalues has */
    *curved = each > 0 ? 0.5 * each * k * (k - 1) : d - 1;
    return !(each > 0) ? m->mean_curvature * (d - 1) : m->rows > 1 ? -each * k / 4 : 0;
}

void manifold_sinhc_area(double d, double curved, double c, double rho, double *log_area, double *slope)
{
    double t = c * rho;
    *log_area = (d - 1) * log(rho) + curved * log_sinhc(t);
    *slope = (d - 1) / rho + curved * (t > 1e-3 ? c / tanh(t) - 1 / rho : c * t / 3);
}

const struct product *manifold_parts(manifold_t m)
{
    return m->model == MODEL_PRODUCT ? m->context : NULL;
}

double part_log_density(const struct part *q, const double *a, double *work)
{
    double *own = work, *rest = work + q->m.dim, area, slope;
    for (size_t j = 0; j < q->m.dim; j++)
        own[j] = a[q->coord + j] / q->root;
    double rho = norm2(q->m.dim, own);
    if (!(rho < q->m.rho_max))
        return -INFINITY;
    if (!(rho > 0))
        return 0;
    q->m.ops->radial(&q->m, rho, &area, &slope);
    return area - ((double)q->m.dim - 1) * log(rho) + (q->m.ops->radial_accept ? q->m.ops->radial_accept(&q->m, own, rho, rest) : 0);
}

void product_area(struct product *p)
{
    p->curved = p->bend = 0;
    for (size_t i = 0; i < p->count; i++) {
        double curved, ricci = manifold_ricci(&p->part[i].m, &curved);
        p->bend = fmax(p->bend, -ricci / p->part[i].weight);
        p->curved += ricci < 0 ? curved : 0;
    }
}

static double sinhc_rate(const struct product *p)
{
    return p->curved > 0 ? sqrt(p->bend / p->curved) : 0;
}

void product_radial(manifold_t m, double rho, double *log_area, double *slope)
{
    const struct product *p = manifold_parts(m);
    manifold_sinhc_area((double)m->dim, p->curved, sinhc_rate(p), rho, log_area, slope);
}

void manifold_volume_bound(manifold_t m, double *curved, double *rate)
{
    const struct product *p = manifold_parts(m);
    if (p) {
        *curved = p->curved;
        *rate = sinhc_rate(p);
        return;
    }
    double ricci = manifold_ricci(m, curved);
    *rate = ricci < 0 ? sqrt(-ricci / *curved) : 0;
}

double manifold_volume_lost(manifold_t m, const double *a, double rho, double *work)
{
    double log_share = m->ops->radial_accept && rho > 0 ? m->ops->radial_accept(m, a, rho, work) : 0;
    return fmin(1e4, fmax(0, -log_share));
}

double product_radial_accept(manifold_t m, const double *a, double rho, double *work)
{
    const struct product *p = manifold_parts(m);
    double sum = p->curved > 0 ? -p->curved * log_sinhc(sinhc_rate(p) * rho) : 0;
    for (size_t i = 0; i < p->count; i++)
        sum += part_log_density(p->part + i, a, work);
    return sum;
}
