#include "accountant_allocation.h"

#include <stdlib.h>

static struct allocation_place place_of(double distance, double fine)
{
    double up = log1p(exp(-distance)), whole = floor(up / fine);
    double share = expm1(up - whole * fine) / expm1(fine);
    return (struct allocation_place){(int64_t)whole, fmin(fmax(share, 0), 1)};
}

/* Both numbers of one law: pairs by their distance, so that each distance is placed once. */
RIEMDP_HOT static void spread_self(const struct allocation_law *a, double step, int64_t refine, int64_t first,
                                   double *out, struct host *host)
{
    const double *restrict mass = a->mass;
    for (size_t d = 0; d < a->n; d++) {
        struct allocation_place p = place_of((double)d * step, step / (double)refine);
        double times = d ? 2 : 1, low = times * (1 - p.share), high = times * p.share;
        double *restrict to = out + (p.below + (a->first + (int64_t)d) * refine - first);
        size_t n = a->n - d, r = (size_t)refine;
        if (d % 256 == 0)
            host_tick(host, (double)d, (double)a->n);
        for (size_t i = 0; i < n; i++)
            to[i * r] += low * (mass[i] * mass[i + d]);
        for (size_t i = 0; i < n; i++)
            to[i * r + 1] += high * (mass[i] * mass[i + d]);
    }
}

static void spread_two(const struct allocation_law *a, const struct allocation_law *b, const struct allocation_place *places,
                       int64_t refine, int64_t first, double *out, struct host *host)
{
    for (size_t j = 0; j < b->n; j++) {
        int64_t at = b->coarse * (b->first + (int64_t)j);
        if (j % 64 == 0)
            host_tick(host, (double)j, (double)b->n);
        for (size_t i = 0; i < a->n; i++) {
            int64_t other = a->first + (int64_t)i, d = llabs(other - at), larger = other > at ? other : at;
            double mass = a->mass[i] * b->mass[j];
            double *to = out + (larger * refine + places[d].below - first);
            to[0] += mass * (1 - places[d].share);
            to[1] += mass * places[d].share;
        }
    }
}

static int64_t last_of(const struct allocation_law *a)
{
    return a->coarse * (a->first + (int64_t)a->n - 1);
}

/* the point below the sum of two points */
static int64_t sum_of(int64_t x, int64_t y, double step, int64_t refine)
{
    return (x > y ? x : y) * refine + place_of((double)llabs(x - y) * step, step / (double)refine).below;
}

size_t allocation_reach(const struct allocation_law *a, const struct allocation_law *b)
{
    int64_t up = llabs(last_of(b) - a->first), down = llabs(last_of(a) - b->coarse * b->first);
    return (size_t)(up > down ? up : down) + 1;
}

int allocation_spread(const struct allocation_law *a, const struct allocation_law *b, double step, int64_t refine, int64_t first,
                      size_t bins, struct allocation_place *places, double *out, struct host *host)
{
    const struct allocation_law *second = b ? b : a;
    double fine = step / (double)refine;
    int64_t from = sum_of(a->first, second->coarse * second->first, step, refine);
    int64_t to = sum_of(last_of(a), last_of(second), step, refine) + 1;
    if (from - 1 < first || to >= first + (int64_t)bins)
        return 1;
    for (size_t k = 0; k < bins; k++)
        out[k] = 0;
    if (!b) {
        spread_self(a, step, refine, first, out, host);
        return 0;
    }
    size_t reach = allocation_reach(a, b);
    for (size_t d = 0; d < reach; d++)
        places[d] = place_of((double)d * step, fine);
    spread_two(a, b, places, refine, first, out, host);
    return 0;
}

void allocation_merge(size_t n, const double *mass, const double *value, size_t m, const double *second_mass,
                      const double *second, size_t bins, const double *edges, double *out, struct host *host)
{
    double *sums = out + bins;
    size_t start = 0;
    for (size_t k = 0; k < 2 * bins; k++)
        out[k] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = second ? m : i + 1;
        const double *v = second ? second : value, *w = second ? second_mass : mass;
        if (i % 64 == 0)
            host_tick(host, (double)i, (double)n);
        while (start + 1 < bins && value[i] + v[0] >= edges[start + 1])
            start++;
        for (size_t j = 0, k = start; j < count; j++) {
            double sum = value[i] + v[j], both = mass[i] * w[j] * (second || i == j ? 1 : 2);
            while (k + 1 < bins && sum >= edges[k + 1])
                k++;
            out[k] += both;
            sums[k] += both * sum;
        }
    }
}
