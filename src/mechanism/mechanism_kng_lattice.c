/* The K-norm gradient mechanism and the truncated Laplace law on the lattice of medians, on every space that has public steps: no area, no cut
 * locus and no invariance is asked for, only a bound of curvature from above. Proofs: inst/proofs/kng.md, section 9. */
#include "mean.h"
#include "mechanism_kng.h"

double kng_length_at(const struct median *k, const double *a)
{
    struct steps_records mean = {.n = 1, .y = k->y};
    return steps_gradient(k->steps, k->law == KNG_DISTANCE ? &mean : k->records, a, k->v, k->total, k->m->host, k->steps_room);
}

/* At least the mean second derivative of half the squared distances on a step that ends at distance rho from the base: x cot x is concave in x^2,
 * so no less than its chord at the mean square. `far`: root of the mean squared distance from the base. */
static double least_bend(const struct median *k, double far, double rho)
{
    double share = fmin(1, square((far + k->off + rho) / (2 * k->radius)));
    return 1 - (1 - kng_cot_factor(k->curvature, 2 * k->radius)) * share;
}

/* Lower bounds of F at distance rho from the base: the gradient's part along the geodesic from there has at least the integral of what the
 * distances bend. They are concave in rho, so chords will do. */
void kng_look_around(struct median *k, const double *a)
{
    double far = 0, least = 0;
    int bent = k->law == KNG_GRADIENT && k->curvature > 0;
    if (bent)
        far = steps_far(k->steps, k->records, a, k->m->host, k->steps_room);
    for (size_t c = 0; c < MEDIAN_CELLS; c++) {
        double width = k->reach / MEDIAN_CELLS, to = width * (double)(c + 1);
        k->edge[c] = width * (double)c;
        k->edge[c + 1] = to;
        k->lean[c] = (bent ? least_bend(k, far, to) : 1) * (1 - 1e-9);
        k->low[c] = k->reached[c] = least;
        least += k->lean[c] * width;
    }
    k->less = 2 * k->off + kng_length_at(k, a);
}

/* The bounds of kng_look_around() at distance `to`, where records are as far from the base as they can be of a mean: on the root of the mean of
 * squares the radius, but for what sums and the base are rounded by. */
static double public_length(const struct public_law *l, double to)
{
    double width = 2 * l->radius / MEDIAN_CELLS, far = (1 + 1e-5) * l->radius + l->less, length = 0;
    for (size_t c = 0; c < MEDIAN_CELLS && to > 0; c++) {
        double share = fmin(1, square((far + width * (double)(c + 1)) / (2 * l->radius)));
        length += (1 - l->bend * share) * (1 - 1e-9) * (c + 1 < MEDIAN_CELLS ? fmin(to, width) : to);
        to -= width;
    }
    return length;
}

/* the largest that log_most() can be, for any records */
static double log_public(const void *data, double u)
{
    const struct public_law *l = data;
    double length = in_shells(fmax(0, public_length(l, u * l->contract * (1 - 1e-9)) - l->less), l->shell, l->first);
    double to = l->shell > 0 ? (l->first + length + l->less) * (1 + 1e-8) : fmax(u, l->less * (1 + 1e-8));
    return volume_share(l->curved, l->steep, l->radius, l->middle * (1 + 1e-9) + to) - l->slope * length;
}

void kng_fit_public(struct grid *g, const struct public_law *law)
{
    g->fit = log_public;
    g->fit_data = law;
    g->fit_reach = 2 * law->radius * (1 + 1e-9);
}

double kng_proposed(size_t d, double radius, const struct public_law *law, double *work)
{
    double step = median_step(radius);
    int64_t base[GRID_DIM] = {0};
    struct grid g = {.d = d, .radius = radius, .step = step, .base = base, .most = log_public, .data = (void *)law};
    kng_fit_public(&g, law);
    grid_make(&g, work);
    return grid_log_proposed(&g) + (double)d * log(step);
}
