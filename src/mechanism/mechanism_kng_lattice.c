/* The K-norm gradient mechanism and the truncated Laplace law on the lattice of medians, on every space that has public steps: no area, no cut
 * locus and no invariance is asked for, only a bound of curvature from above. Proofs: inst/proofs/kng.md, section 9. */
#include "mean.h"
#include "mechanism_kng.h"

enum { DEPTHS = 64 }; /* parts of the records' distances from the base */

double kng_length_at(const struct median *k, const double *a)
{
    struct steps_records r = {.n = k->n, .y = k->y};
    return steps_gradient(k->steps, &r, a, k->v, k->total, k->m->host, k->steps_room);
}

/* how many records are at most so far from the base as each of DEPTHS equal parts of the ball's diameter says */
static void count_depths(const struct median *k, const double *a, double *count)
{
    for (size_t j = 0; j < DEPTHS; j++)
        count[j] = 0;
    steps_stand(k->steps, a, k->steps_room);
    for (size_t i = 0; i < k->n; i++) {
        steps_log(k->steps, a, k->y + i * steps_point_size(k->steps), k->v, k->steps_room);
        double part = ceil((norm2(k->steps->span, k->v) + k->off) / (2 * k->radius) * DEPTHS);
        count[part >= 1 && part < DEPTHS ? (size_t)part - 1 : DEPTHS - 1]++;
        if (i % 64 == 0)
            host_tick(k->m->host, 0, 0);
    }
}

/* At least the mean second derivative of half the squared distances on a step that ends at distance rho from the base */
static double least_bend(const struct median *k, const double *count, double rho)
{
    double sum = 0;
    for (size_t j = 0; j < DEPTHS; j++) {
        double far = fmin(2 * k->radius * (double)(j + 1) / DEPTHS + rho, 2 * k->radius);
        sum += count[j] > 0 ? count[j] * fmax(0, kng_cot_factor(k->curvature, far)) : 0;
    }
    return sum / (double)k->n;
}

/* Lower bounds of F at distance rho from the base: the gradient's part along the geodesic from there has at least the integral of what the
 * distances bend. They are concave in rho, so chords will do. */
void kng_look_around(struct median *k, const double *a)
{
    double count[DEPTHS], least = 0;
    int bent = k->law == KNG_GRADIENT && k->curvature > 0;
    if (bent)
        count_depths(k, a, count);
    for (size_t c = 0; c < MEDIAN_CELLS; c++) {
        double width = k->reach / MEDIAN_CELLS, to = width * (double)(c + 1);
        k->edge[c] = width * (double)c;
        k->edge[c + 1] = to;
        k->lean[c] = (bent ? least_bend(k, count, to) : 1) * (1 - 1e-9);
        k->low[c] = k->reached[c] = least;
        least += k->lean[c] * width;
    }
    k->less = 2 * k->off + kng_length_at(k, a);
}

struct public_law {
    double slope, less;
};

static double log_public(const void *data, double u)
{
    const struct public_law *l = data;
    return -fmax(0, l->slope * u - l->less);
}

double kng_proposed(size_t d, double radius, double slope, double less, double *work)
{
    struct public_law law = {slope, less};
    double step = median_step(radius);
    int64_t base[GRID_DIM] = {(int64_t)nearbyint(radius / step)};
    struct grid g = {.d = d, .radius = radius, .step = step, .base = base, .most = log_public, .data = &law};
    grid_make(&g, work);
    return grid_log_proposed(&g) + (double)d * log(step);
}
