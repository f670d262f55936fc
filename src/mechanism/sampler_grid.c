/* Trials. A part of a mixture proposes z - base: in each coordinate a bin of a table that looks like a normal law, and a place in the bin,
 * so the probability of a proposal is a fraction. Parts are as wide as the law needs them, from its middle to the ball's width. A point
 * that several parts may propose is theirs by shares, fractions that add up to 1. It is kept with probability weight times share over that
 * of the proposal, times a constant that makes it 1 at most. Shares, parts and that constant come from doubles and from the weights' bound;
 * the law of what is kept doesn't depend on them. */
#include "sampler_grid.h"

#include <math.h>

#include "simd.h"

enum { PER_SD = 32, TABLE_BITS = 20, SHARE_BITS = 50, NUMBER_BITS = 40, FIRST_BITS = 30, SIZE_BITS = 6, ROUNDS = 40 };

/* more than rounding in this file can do to a log */
static const double SLACK = 1e-6, LITTLE = 1e-40, LOG_2 = 0.6931471805599453;

size_t grid_work(void)
{
    return (size_t)GRID_PARTS * GRID_RADII + 4 * GRID_RADII;
}

/* log of at least how likely a part proposes a point u away, over that of the middle of all its coordinates' tables, times
 * (2^TABLE_BITS/size)^d: the middle of a bin is at most 1/64 from the coordinate, in standard deviations; -Inf where the table may end */
static double log_part(const struct grid *g, size_t c, double u)
{
    double d = (double)g->d, x = u / ((double)g->size[c] * PER_SD * g->step);
    return x < GRID_BINS / PER_SD ? g->log_size[c] - 0.5 * (x * x + sqrt(d) * x / PER_SD + d / (4 * PER_SD * PER_SD)) : -INFINITY;
}

/* log of the sum over parts of number times that; *peak: of the largest. share[c] is filled with what each has of the sum. */
static double log_proposal(const struct grid *g, double u, double *share)
{
    double peak = -INFINITY, sum = 0;
    for (size_t c = 0; c < g->parts; c++) {
        share[c] = g->log_number[c] + log_part(g, c, u);
        peak = fmax(peak, share[c]);
    }
    for (size_t c = 0; c < g->parts; c++)
        sum += share[c] = share[c] > peak - 60 ? exp(share[c] - peak) : 0;
    for (size_t c = 0; c < g->parts; c++)
        share[c] /= sum > 0 ? sum : 1;
    return peak + log(sum);
}

static void make_table(struct grid *g)
{
    uint64_t sum = 0;
    for (size_t b = 0; b < GRID_BINS; b++) {
        double x = ((double)b + 0.5) / PER_SD;
        g->table[b] = (uint64_t)ldexp(exp(-0.5 * x * x), TABLE_BITS) + 1;
        g->sums[b] = sum += g->table[b];
    }
}

static double fitted(const struct grid *g, double u)
{
    return g->fit ? g->fit(g->fit_data, u) : g->most(g->data, u);
}

/* Edges of shells, each about as much wider than the one before, and a bound of the mass in them over the sum of all, whose log is returned. */
static double make_shells(const struct grid *g, double low, double *edge, double *mass)
{
    double far = g->reach, d = (double)g->d, peak = -INFINITY, sum = 0;
    for (size_t j = 0; j <= GRID_RADII; j++)
        edge[j] = j > 0 ? far * exp(-log(far / low) * (double)(GRID_RADII - j) / (GRID_RADII - 1)) : 0;
    for (size_t j = 0; j < GRID_RADII; j++) {
        mass[j] = fitted(g, edge[j]) + d * log(edge[j + 1]);
        peak = fmax(peak, mass[j]);
    }
    for (size_t j = 0; j < GRID_RADII; j++)
        sum += mass[j] = exp(mass[j] - peak);
    for (size_t j = 0; j < GRID_RADII; j++)
        mass[j] /= sum;
    return peak + log(sum);
}

/* s or a little more, a number of SIZE_BITS bits times a power of two: so powers of it stay short */
static uint64_t short_size(double s, int *twos)
{
    int bits;
    frexp(s, &bits);
    *twos = bits > SIZE_BITS ? bits - SIZE_BITS : 0;
    return (uint64_t)ceil(ldexp(s, -*twos));
}

/* widths of the parts, from a fraction of the radius within which next to nothing lies to one that fills the ball; in many dimensions a
 * part's points lie in a thin shell */
static void make_parts(struct grid *g, double low)
{
    double narrow = fmax(1, floor(0.5 * low / (PER_SD * g->step * sqrt((double)g->d))));
    double fills = fmin(1.5, 1 + 2 / (double)g->d); /* what a wider part has lies outside the ball, in many dimensions */
    double wide = fmax(1, fills * g->reach / (PER_SD * g->step * sqrt((double)g->d)));
    double rate = fmax(fmin(1.3, exp(1 / sqrt((double)g->d))), exp(log(wide / narrow) / (GRID_PARTS - 2)));
    g->parts = 0;
    for (double s = narrow; g->parts < GRID_PARTS; s = fmax(s * rate, s + 1)) {
        int twos;
        g->factor[g->parts] = short_size(s, &twos);
        g->twos[g->parts] = (size_t)twos;
        s = (double)(g->size[g->parts] = g->factor[g->parts] << twos);
        g->log_size[g->parts++] = -(double)g->d * log(s);
        if (s >= wide)
            break;
    }
}

/* y += f x */
RIEMDP_SIMD static void add_times(size_t n, double f, const double *restrict x, double *restrict y)
{
    for (size_t j = 0; j < n; j++)
        y[j] += f * x[j];
}

/* x -> 1/x, y = (mass/x)^4/x */
RIEMDP_SIMD static void over_mixture(size_t n, double *restrict x, const double *restrict mass, double *restrict y)
{
    for (size_t j = 0; j < n; j++) {
        double q = mass[j] / x[j];
        x[j] = 1 / x[j];
        y[j] = (q * q) * (q * q) * x[j];
    }
}

/* each part's number by the fourth root of the mean of (mass/mixture)^4 over its shells */
RIEMDP_SIMD static void raise_numbers(size_t parts, const double *held, const double *ratio, const double *worse, double *number)
{
    for (size_t c = 0; c < parts; c++) {
        double all = simd_dot(GRID_RADII, held + c * GRID_RADII, ratio), more = simd_dot(GRID_RADII, held + c * GRID_RADII, worse);
        number[c] = fmax(LITTLE, number[c] * (all > 0 ? sqrt(sqrt(more / all)) : 0));
    }
}

/* Numbers with which the mixture is nowhere much too small: what a part is responsible for is raised by its shells' mass over that of the
 * mixture, most by the worst of them. None is 0, so all of the ball is proposed. */
static void make_numbers(struct grid *g, const double *edge, const double *mass, double *held, double *number)
{
    size_t parts = g->parts;
    double d = (double)g->d, ratio[GRID_RADII], worse[GRID_RADII], sum = 0, top = 0.5 * d * (log(d) - 1); /* of a normal law's lengths */
    for (size_t j = 0; j < GRID_RADII; j++)
        worse[j] = d * log(edge[j + 1] / (g->step * PER_SD)) - top;
    for (size_t c = 0; c < parts; c++) {
        for (size_t j = 0; j < GRID_RADII; j++)
            held[c * GRID_RADII + j] = exp(log_part(g, c, edge[j + 1]) + worse[j]);
        number[c] = 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t j = 0; j < GRID_RADII; j++)
            ratio[j] = LITTLE;
        for (size_t c = 0; c < parts; c++)
            add_times(GRID_RADII, number[c], held + c * GRID_RADII, ratio);
        over_mixture(GRID_RADII, ratio, mass, worse);
        raise_numbers(parts, held, ratio, worse, number);
    }
    for (size_t c = 0; c < parts; c++)
        sum += number[c];
    g->total = 0;
    for (size_t c = 0; c < parts; c++) {
        g->total += g->number[c] = (uint64_t)ldexp(number[c] / sum, NUMBER_BITS) + 1;
        g->log_number[c] = log((double)g->number[c]);
    }
}

void grid_make(struct grid *g, double *work)
{
    double *edge = work, *mass = edge + GRID_RADII + 1, *number = mass + GRID_RADII, *held = number + GRID_PARTS;
    double low = g->step, far = 0;
    for (size_t j = 0; j < g->d; j++)
        far += square((double)g->base[j] * g->step);
    g->reach = g->fit ? g->fit_reach : (g->radius + sqrt(far)) * (1 + 1e-9);
    make_table(g);
    /* What lies within `low` is next to nothing even if weights were all the largest: a peak that holds little is a peak, and where no part is
     * as narrow the constant would be that of the peak, for which all others fail. */
    double little = make_shells(g, low, edge, mass) - fitted(g, 0) + log(1e-10);
    for (size_t j = 0; j < GRID_RADII && (double)g->d * log(edge[j + 1]) < little; j++)
        low = fmax(g->step, edge[j]);
    make_shells(g, 0.25 * low, edge, mass);
    make_parts(g, low);
    make_numbers(g, edge, mass, held, number);
    g->above = -INFINITY;
    for (size_t j = 0; j < GRID_RADII; j++)
        g->above = fmax(g->above, g->most(g->data, edge[j]) - log_proposal(g, edge[j + 1], g->share));
    g->above += SLACK;
    double bits = g->above / LOG_2, whole = floor(bits);
    g->most_of = (struct dyadic){(uint64_t)ldexp(exp2(bits - whole) * (1 + SLACK), 30) + 1, (int64_t)whole - 30};
}

/* z comes from part c with number[c]/total times, in each coordinate, table/(2 sum size), and is kept with a chance that is its weight over
 * that, but for this constant */
double grid_log_proposed(const struct grid *g)
{
    double axis = log(2 * (double)g->sums[GRID_BINS - 1]) - TABLE_BITS * LOG_2;
    return log((double)g->total) + log((double)g->most_of.m) + (double)g->most_of.e * LOG_2 + (double)g->d * axis;
}

/* ---- trials ---------------------------------------------------------------------------------------------------------- */

/* z - base in one coordinate, and the number of its bin */
static int64_t propose(const struct grid *g, size_t c, struct bits *bits, uint64_t *number)
{
    uint64_t u = uniform_below(bits, g->sums[GRID_BINS - 1]);
    size_t low = 0, high = GRID_BINS - 1;
    while (low < high) {
        size_t half = low + (high - low) / 2;
        if (u < g->sums[half])
            high = half;
        else
            low = half + 1;
    }
    *number = g->table[low];
    int64_t w = (int64_t)(low * g->size[c] + uniform_below(bits, g->size[c]));
    return bits_take(bits, 1) ? -w - 1 : w;
}

/* Part c's share of a point, in parts of *all, from what the shares are about; what is next to nothing is nothing. */
static uint64_t part_share(const struct grid *g, size_t c, uint64_t *all)
{
    uint64_t own = 0;
    *all = 0;
    for (size_t k = 0; k < g->parts; k++) {
        uint64_t s = g->share[k] > 0x1p-40 ? (uint64_t)ldexp(g->share[k], SHARE_BITS) : 0;
        *all += s;
        own = k == c ? s : own;
    }
    return own;
}

/* keeps with probability first/2^FIRST_BITS, which is at least how likely it all is: weights are asked for more rarely */
static int kept_first(double log_chance, struct bits *bits, uint64_t *first)
{
    *first = UINT64_C(1) << FIRST_BITS;
    if (log_chance >= 0)
        return 1;
    uint64_t least = (uint64_t)ldexp(exp(log_chance), FIRST_BITS) + 1;
    *first = least < *first ? least : *first;
    return uniform_below(bits, UINT64_C(1) << FIRST_BITS) < *first;
}

static int trial(struct grid *g, struct bits *bits, double *a)
{
    uint64_t u = uniform_below(bits, g->total), number[GRID_DIM], all, first;
    double far = 0, size = 0;
    size_t c = 0;
    g->trials++;
    for (; u >= g->number[c]; c++)
        u -= g->number[c];
    for (size_t j = 0; j < g->d; j++) {
        int64_t w = propose(g, c, bits, number + j);
        a[j] = (double)(g->base[j] + w) * g->step;
        far += (double)w * (double)w;
        size += a[j] * a[j];
    }
    if (!(size <= g->radius * g->radius))
        return 0;
    far = sqrt(far) * g->step;
    double q = log_proposal(g, far, g->share), most = g->most(g->data, far);
    uint64_t share = part_share(g, c, &all);
    if (share == 0 || !kept_first(most - q - g->above + 3 * SLACK, bits, &first))
        return 0;
    struct dyadic weight = g->weight(g->data, a);
    if (weight.m == 0)
        return 0;
    double chance = log((double)weight.m) + (double)weight.e * LOG_2 + log((double)share / (double)all) - g->log_number[c] -
                    g->log_size[c] - g->above;
    struct big num, den;
    big_set(&num, weight.m);
    big_multiply_small(&num, share);
    big_set(&den, all);
    big_multiply_small(&den, g->number[c]);
    big_multiply_small(&den, g->most_of.m);
    big_multiply_small(&den, first);
    for (size_t j = 0; j < g->d; j++) {
        big_multiply_small(&num, g->factor[c]);
        big_multiply_small(&den, number[j]);
        chance -= log(ldexp((double)number[j], -TABLE_BITS));
    }
    g->clamped += chance > log(ldexp((double)first, -FIRST_BITS));
    int64_t e = weight.e - g->most_of.e + (int64_t)(g->d * (TABLE_BITS + g->twos[c])) + FIRST_BITS;
    return bernoulli_dyadic(bits, &num, e, &den);
}

void grid_draw(struct grid *g, struct bits *bits, double *a)
{
    while (!trial(g, bits, a))
        host_tick(bits->rng->host, 0, 0);
}
