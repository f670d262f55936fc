/* A small ball that holds most of n points of R^d, by the exponential mechanism over places and sizes at once, or none. The balls are
 * those around lattice points, of radii in halvings of the public one; the score of one is how many points it holds, between two bounds
 * that make the law easy to draw from: it may differ from A, the average over the axes of how many points lie in the ball's shadow there,
 * by slack / rate at most; it does by that much around points outside the public ball. Proposals have weights exp(rate A), a product over
 * the axes. Each is kept with probability exp(rate (score - A)), which is exp(-slack) or more whatever the points. No ball has a weight
 * that points have no part in. inst/proofs/mean-sensitivity.md, section 12. */
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

/* returns the log of the sum of exp(rate count / d) over all lattice points */
static double axis_weigh(const struct place *in, struct place_axis *a)
{
    double rate = in->rate / (double)in->d;
    a->top = a->empty > 0 ? 0 : -INFINITY;
    for (size_t i = 0; i < a->count; i++)
        a->top = fmax(a->top, rate * a->held[i]);
    a->total = 0;
    for (size_t i = 0; i < a->count; i++)
        a->mass[i] = a->total += exp(rate * a->held[i] - a->top);
    a->total += (double)a->empty * exp(-a->top);
    return a->top + log(a->total);
}

/* lattice points of a level that may hold something in their shadow */
static size_t room_of(const struct place *in, size_t level)
{
    size_t all = lattice_of(in, level) + 1, near = 2 * CELLS * in->n;
    return all < near ? all : near;
}

/* a lattice point with probability proportional to its weight; *held is how many points its shadow holds */
static double axis_draw(const struct place_axis *a, struct rng *rng, double *held)
{
    double u = rng_uniform(rng) * a->total;
    size_t low = 0, high = a->count;
    if (a->empty == 0 || (a->count > 0 && u <= a->mass[a->count - 1])) {
        while (high - low > 1) { /* it is low or after it, and before high */
            size_t half = low + (high - low) / 2;
            if (u > a->mass[half - 1])
                low = half;
            else
                high = half;
        }
        *held = a->held[low];
        return a->at[low];
    }
    *held = 0;
    size_t r = rng_below(rng, a->empty); /* the r-th that isn't listed */
    while (low < high) {
        size_t half = low + (high - low) / 2;
        if ((size_t)a->at[half] > r + half)
            high = half;
        else
            low = half + 1;
    }
    return (double)(r + low);
}

/* whether the ball around p holds at least `least` points */
static int holds(const struct place *in, const double *p, double radius, double least)
{
    /* with room for the rounding of records that were moved to the edge of the public ball */
    double missing = 0, may = (double)in->n - least, most = radius * radius * (1 + 1e-9);
    for (size_t i = 0; i < in->n; i++) {
        const double *v = in->coords + i * in->d;
        double s = 0;
        for (size_t j = 0; j < in->d; j++)
            s += (v[j] - p[j]) * (v[j] - p[j]);
        if (!(s <= most) && ++missing > may)
            return 0;
    }
    return missing <= may;
}

/* ---- radii ---------------------------------------------------------------------------------------------------------- */

size_t place_work(const struct place *in)
{
    size_t rooms = 0;
    for (size_t l = 0; l < in->levels; l++)
        rooms += room_of(in, l);
    return in->n * in->d + in->levels + 1 + 3 * in->d * rooms;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* the tables of all levels; mass: that of no ball, and running sums with the levels' weights, exp(bonus) a level times the sum over its
 * lattice */
static void tables_make(const struct place *in, struct place_axis *axis, double *mass, double *work)
{
    double *sorted = work, *room = work + in->n * in->d, top = in->nothing;
    for (size_t j = 0; j < in->d; j++) {
        for (size_t i = 0; i < in->n; i++)
            sorted[j * in->n + i] = in->coords[i * in->d + j];
        qsort(sorted + j * in->n, in->n, sizeof *sorted, ascending);
    }
    for (size_t l = 0; l < in->levels; l++) {
        size_t most = room_of(in, l);
        mass[l + 1] = in->bonus * (double)l;
        for (size_t j = 0; j < in->d; j++, room += 3 * most) {
            struct place_axis *a = axis + l * in->d + j;
            a->at = room;
            a->held = room + most;
            a->mass = room + 2 * most;
            axis_count(in, sorted + j * in->n, l, a);
            mass[l + 1] += axis_weigh(in, a);
        }
        top = fmax(top, mass[l + 1]);
        host_tick(in->host, 0, 0);
    }
    mass[0] = exp(in->nothing - top);
    for (size_t l = 1; l <= in->levels; l++)
        mass[l] = mass[l - 1] + exp(mass[l] - top);
}

/* one proposal; whether it is kept */
static int trial(const struct place *in, const struct place_axis *axis, size_t level, struct rng *rng, double *p)
{
    double sum = 0, far = 0, radius = radius_of(in, level), step = radius / CELLS;
    for (size_t j = 0; j < in->d; j++) {
        double held;
        p[j] = axis_draw(axis + level * in->d + j, rng, &held) * step - in->radius;
        sum += held;
        far += p[j] * p[j];
    }
    /* log u <= rate (score - average), where the score is the count moved into [average - slack / rate, average] */
    double fall = log(rng_uniform(rng));
    if (fall <= -in->slack)
        return 1;
    return far <= in->radius * in->radius && holds(in, p, radius, sum / (double)in->d + fall / in->rate);
}

int place_draw(const struct place *in, struct rng *rng, struct place_axis *axis, double *p, double *radius,
               double *work)
{
    double *mass = work;
    tables_make(in, axis, mass, work + in->levels + 1);
    for (size_t k = 0; k < PLACE_TRIALS; k++) {
        double u = rng_uniform(rng) * mass[in->levels];
        size_t level = 0;
        while (level < in->levels && u > mass[level])
            level++;
        *radius = level > 0 ? radius_of(in, level - 1) : 0;
        if (level == 0 || trial(in, axis, level - 1, rng, p))
            return STATUS_OK;
        if (k % 64 == 63)
            host_tick(in->host, 0, 0);
    }
    return STATUS_TRIALS;
}
