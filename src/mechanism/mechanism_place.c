/* A small ball that holds most of n points of R^d, by the exponential mechanism over places and sizes at once, or none. The balls are
 * those around lattice points, of radii in halvings of the public one; the score of one is how many points it holds, between two bounds
 * that make the law easy to draw from: it may differ from A, the average over the axes of how many points lie in the ball's shadow there,
 * by slack / rate at most; it does by that much around points outside the public ball. Proposals have weights exp(rate A), a product over
 * the axes. Each is kept with probability exp(rate (score - A)), which is exp(-slack) or more whatever the points. No ball has a weight
 * that points have no part in. What doubles make of it: each point's coordinates, cells and distances by itself, so that counts are
 * counts; public weights, whole numbers times powers of two, of which each is at most exp(rate/d) times the one before; and proposals,
 * whose own probabilities are known exactly and divided out. Integer arithmetic draws the rest. inst/proofs/mean-sensitivity.md, section 12. */
#include "mechanism.h"
#include <stdlib.h>

enum { CELLS = 2 }; /* of a lattice to a radius */

static double radius_of(const struct place *in, size_t level)
{
    return in->radius * exp2(-0.5 * (double)(in->first + level));
}

static size_t lattice_of(const struct place *in, size_t level)
{
    return (size_t)ceil(2 * CELLS * in->radius / radius_of(in, level));
}

/* the lattice has points 0 to `last`, and a cell after each but the last */
static int cell_of(double v, double radius, double step, size_t last)
{
    double c = floor((v + radius) / step), most = (double)last - 1;
    return (int)(c < most ? (c > 0 ? c : 0) : most);
}

/* walks along sorted values: lattice point k has those of the cells k - CELLS to k + CELLS - 1 */
static void axis_count(const struct place *in, const double *sorted, size_t level, struct place_axis *a)
{
    size_t last = lattice_of(in, level), lo = 0, hi = 0;
    double step = radius_of(in, level) / CELLS;
    a->count = 0;
    for (int k = 0; k <= (int)last && lo < in->n; k++) {
        while (lo < in->n && cell_of(sorted[lo], in->radius, step, last) < k - CELLS)
            lo++;
        hi = hi < lo ? lo : hi;
        while (hi < in->n && cell_of(sorted[hi], in->radius, step, last) < k + CELLS)
            hi++;
        if (hi > lo) {
            a->at[a->count] = k;
            a->held[a->count++] = (double)(hi - lo);
        } else if (lo < in->n) {
            k = cell_of(sorted[lo], in->radius, step, last) - CELLS; /* the loop adds one */
        }
    }
    a->empty = last + 1 - a->count;
}

/* ---- weights ---------------------------------------------------------------------------------------------------------- */

enum { MANTISSA = 53, SHORT = 32, PAD = 16 };

/* exp(x), about */
static struct dyadic dyadic_exp(double x)
{
    double bits = x / 0.6931471805599453, whole = floor(bits);
    struct dyadic out = {(uint64_t)ldexp(exp2(bits - whole), SHORT - 1), (int64_t)whole - (SHORT - 1)};
    return out;
}

/* at least y 2^e, for y > 0 that has been made by less than 2^32 roundings */
static struct dyadic dyadic_above(double y, int64_t e)
{
    int more;
    double m = frexp(y * (1 + 0x1p-20), &more);
    return (struct dyadic){(uint64_t)ceil(ldexp(m, SHORT)), e + more - SHORT};
}

/* Weights of counts 0, 1, ..., n: W(0) = 1, and W(h + 1) is `growth` times W(h), rounded. The law of what is drawn has these weights
 * exactly. */
static void weights_make(const struct place *in, double *mantissa, double *exponent)
{
    double m = 0.5, e = 1;
    for (size_t h = 0; h <= in->n; h++) {
        int more;
        mantissa[h] = ldexp(m, MANTISSA);
        exponent[h] = e - MANTISSA;
        m = frexp(m * in->growth, &more);
        e += more;
    }
}

static double relative(const struct place *in, double held, double top)
{
    size_t h = (size_t)held;
    double e = in->exponent[h] - top;
    return e < -1000 ? 0 : ldexp(in->mantissa[h], (int)e);
}

/* Whole numbers in proportion to the weights, about, none 0, and their running sums; `above` is then at least `before` times how much a
 * weight can be of its number, times the padded sum. */
static void axis_weigh(const struct place *in, const struct dyadic *before, struct place_axis *a)
{
    double top = in->exponent[0], sum = 0;
    for (size_t i = 0; i < a->count; i++)
        top = fmax(top, in->exponent[(size_t)a->held[i]]);
    double one = relative(in, 0, top);
    for (size_t i = 0; i < a->count; i++)
        sum += relative(in, a->held[i], top);
    sum += (double)a->empty * one;
    a->total = 0;
    for (size_t i = 0; i < a->count; i++)
        a->mass[i] = a->total += floor(ldexp(relative(in, a->held[i], top) / sum, in->bits)) + 1;
    a->none = floor(ldexp(one / sum, in->bits)) + 1;
    a->total += (double)a->empty * a->none;
    a->shift = in->bits > PAD ? in->bits - PAD : 0;
    a->padded = ((uint64_t)a->total >> a->shift) + 1;
    a->above = dyadic_above((double)a->padded * sum * (double)before->m, (int64_t)top - in->bits + a->shift + before->e);
}

/* lattice points of a level that may hold something in their shadow */
static size_t room_of(const struct place *in, size_t level)
{
    size_t all = lattice_of(in, level) + 1, near = 2 * CELLS * in->n;
    return all < near ? all : near;
}

/* a lattice point by its number, or padding: 0; *held is how many points its shadow holds, *number what it was proposed with */
static int axis_draw(const struct place_axis *a, struct bits *bits, double *at, double *held, double *number)
{
    double u = (double)uniform_below(bits, a->padded << a->shift);
    size_t low = 0, high = a->count;
    if (!(u < a->total))
        return 0;
    if (a->count > 0 && u < a->mass[a->count - 1]) {
        while (high - low > 1) { /* it is low or after it, and before high */
            size_t half = low + (high - low) / 2;
            if (u >= a->mass[half - 1])
                low = half;
            else
                high = half;
        }
        *held = a->held[low];
        *at = a->at[low];
        *number = a->mass[low] - (low > 0 ? a->mass[low - 1] : 0);
        return 1;
    }
    *held = 0;
    *number = a->none;
    size_t r = (size_t)floor((u - (a->count > 0 ? a->mass[a->count - 1] : 0)) / a->none); /* the r-th that isn't listed */
    while (low < high) {
        size_t half = low + (high - low) / 2;
        if ((size_t)a->at[half] > r + half)
            high = half;
        else
            low = half + 1;
    }
    *at = (double)(r + low);
    return 1;
}

/* with the weight over what it was proposed with, over how much that can be */
static int axis_kept(const struct place *in, const struct place_axis *a, const struct dyadic *before, double held, double number,
                     struct bits *bits)
{
    struct big num, den;
    size_t h = (size_t)held;
    big_set(&num, (uint64_t)in->mantissa[h]);
    big_multiply_small(&num, before->m);
    big_multiply_small(&num, a->padded);
    big_set(&den, (uint64_t)number);
    big_multiply_small(&den, a->above.m);
    return bernoulli_dyadic(bits, &num, (int64_t)in->exponent[h] + before->e + a->shift - a->above.e, &den);
}

/* how many points the ball around p holds, or -1 if fewer than `least` */
static double holds(const struct place *in, const double *p, double radius, double least)
{
    /* with room for the rounding of records that were moved to the edge of the public ball */
    double missing = 0, may = (double)in->n - least, most = radius * radius * (1 + 1e-9);
    for (size_t i = 0; i < in->n; i++) {
        const double *v = in->coords + i * in->d;
        double s = 0;
        for (size_t j = 0; j < in->d; j++)
            s += (v[j] - p[j]) * (v[j] - p[j]);
        if (!(s <= most) && ++missing > may)
            return -1;
    }
    return (double)in->n - missing;
}

/* A proposal whose shadows hold `sum` points is kept with probability exp(-fall), fall = rate (sum/d - count) between 0 and slack: as
 * many trials with exp(-1) as fall has whole parts, and one with the rest. How many of those succeed is drawn first: so many points have
 * to lie in the ball, or it is not looked at to the end. */
static int score_kept(const struct place *in, const double *p, double radius, double sum, int outside, struct bits *bits)
{
    struct big num, den, least;
    double d = (double)in->d, rate = (double)in->rate.num / (double)in->rate.den;
    int most = (int)(in->slack / PLACE_PARTS), run = 0;
    while (run <= most && bernoulli_exp(bits, 1, 1))
        run++;
    /* with room for rounding: what lies below has fallen by more than min(run + 1, slack) */
    double deep = fmin(run + 1, (double)in->slack / PLACE_PARTS);
    double count = outside ? -1 : holds(in, p, radius, floor((sum - deep * d / rate) / d) - 1);
    big_set(&den, in->rate.den);
    big_multiply_small(&den, in->d);
    big_copy(&least, &den); /* slack over PLACE_PARTS, times den */
    big_multiply_small(&least, in->slack);
    if (count < 0) {
        if (run < most)
            return 0;
        big_copy(&num, &least);
    } else {
        double fall = fmax(0, sum - d * count);
        big_set(&num, (uint64_t)fall);
        big_multiply_small(&num, in->rate.num);
        big_multiply_small(&num, PLACE_PARTS);
        if (big_compare(&num, &least) > 0)
            big_copy(&num, &least);
    }
    big_multiply_small(&den, PLACE_PARTS);
    for (int whole = 0; big_compare(&num, &den) >= 0; whole++) {
        if (whole >= run)
            return 0;
        big_subtract(&num, &den);
    }
    return bernoulli_exp_big(bits, &num, &den);
}

/* ---- radii ---------------------------------------------------------------------------------------------------------- */

size_t place_work(const struct place *in)
{
    size_t rooms = 0;
    for (size_t l = 0; l < in->levels; l++)
        rooms += room_of(in, l);
    return (in->n > 2 ? in->n : 2) * in->d + 2 * (in->n + 1) + 3 * in->d * rooms;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const struct dyadic ONE = {UINT64_C(1) << (SHORT - 1), -(SHORT - 1)};

/* the tables of all levels */
static void tables_make(struct place *in, struct place_axis *axis, double *work)
{
    double *sorted = work, *room = work + (in->n > 2 ? in->n : 2) * in->d; /* two for trial() */
    in->mantissa = room;
    in->exponent = room + in->n + 1;
    weights_make(in, room, room + in->n + 1);
    room += 2 * (in->n + 1);
    for (size_t j = 0; j < in->d; j++) {
        for (size_t i = 0; i < in->n; i++)
            sorted[j * in->n + i] = in->coords[i * in->d + j];
        qsort(sorted + j * in->n, in->n, sizeof *sorted, ascending);
    }
    for (size_t l = 0; l < in->levels; l++) {
        size_t most = room_of(in, l);
        const struct dyadic *before = &ONE;
        for (size_t j = 0; j < in->d; j++, room += 3 * most) {
            struct place_axis *a = axis + l * in->d + j;
            a->at = room;
            a->held = room + most;
            a->mass = room + 2 * most;
            axis_count(in, sorted + j * in->n, l, a);
            axis_weigh(in, before, a);
            before = &a->above;
        }
        host_tick(in->host, 0, 0);
    }
}

/* ---- levels, the first of which is none ------------------------------------------------------------------------------- */

/* weight, exactly: given.m times sum.m times a power of two */
struct level {
    struct dyadic given, sum;
    uint64_t number;
};

static double level_size(const struct level *l, int64_t top)
{
    int64_t e = l->given.e + l->sum.e - top;
    return e < -1000 ? 0 : ldexp((double)l->given.m * (double)l->sum.m, (int)e);
}

/* returns the sum of their numbers; *above: at least how much a weight can be of its number */
static uint64_t levels_make(const struct place *in, const struct place_axis *axis, struct level *level, struct dyadic *above)
{
    int64_t top = INT64_MIN / 2;
    double sum = 0;
    uint64_t total = 0;
    for (size_t l = 0; l <= in->levels; l++) {
        level[l].given = dyadic_exp(l > 0 ? in->bonus * (double)(l - 1) : in->nothing);
        level[l].sum = l > 0 ? axis[l * in->d - 1].above : ONE;
        int64_t e = level[l].given.e + level[l].sum.e;
        top = e > top ? e : top;
    }
    for (size_t l = 0; l <= in->levels; l++)
        sum += level_size(level + l, top);
    for (size_t l = 0; l <= in->levels; l++)
        total += level[l].number = (uint64_t)ldexp(level_size(level + l, top) / sum, in->bits) + 1;
    *above = dyadic_above(sum, top - in->bits);
    return total;
}

static int level_kept(const struct level *l, const struct dyadic *above, struct bits *bits)
{
    struct big num, den;
    big_set(&num, l->given.m);
    big_multiply_small(&num, l->sum.m);
    big_set(&den, l->number);
    big_multiply_small(&den, above->m);
    return bernoulli_dyadic(bits, &num, l->given.e + l->sum.e - above->e, &den);
}

/* one proposal at a level; whether it is kept. work: 2 d numbers */
static int trial(const struct place *in, const struct place_axis *axis, size_t level, struct bits *bits, double *p, double *work)
{
    double sum = 0, far = 0, radius = radius_of(in, level), step = radius / CELLS, *held = work, *number = work + in->d;
    const struct dyadic *before = &ONE;
    axis += level * in->d;
    for (size_t j = 0; j < in->d; j++) {
        if (!axis_draw(axis + j, bits, p + j, held + j, number + j))
            return 0;
        p[j] = p[j] * step - in->radius;
        sum += held[j];
        far += p[j] * p[j];
    }
    if (!score_kept(in, p, radius, sum, far > in->radius * in->radius, bits))
        return 0;
    for (size_t j = 0; j < in->d; before = &axis[j++].above)
        if (!axis_kept(in, axis + j, before, held[j], number[j], bits))
            return 0;
    return 1;
}

int place_draw(struct place *in, struct rng *rng, struct place_axis *axis, double *p, double *radius, double *work)
{
    struct level level[PLACE_LEVELS + 1];
    struct dyadic above;
    struct bits bits;
    tables_make(in, axis, work);
    uint64_t total = levels_make(in, axis, level, &above);
    int status = STATUS_TRIALS;
    bits_start(&bits, rng);
    for (size_t k = 0; k < PLACE_TRIALS && status != STATUS_OK; k++) {
        uint64_t u = uniform_below(&bits, total);
        size_t l = 0;
        for (; u >= level[l].number; l++)
            u -= level[l].number;
        *radius = l > 0 ? radius_of(in, l - 1) : 0;
        /* `work` held the sorted coordinates, which nothing needs any more: the tables lie behind them */
        if (level_kept(level + l, &above, &bits) && (l == 0 || trial(in, axis, l - 1, &bits, p, work)))
            status = STATUS_OK;
        if (k % 64 == 63)
            host_tick(in->host, 0, 0);
    }
    bits_wipe(&bits);
    return status;
}
