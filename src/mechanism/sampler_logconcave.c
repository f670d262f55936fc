/* Devroye 1986 (doi:10.1007/978-1-4613-8643-8, ch. VII) and Gilks and Wild 1992 (doi:10.2307/2347565), with tangents at fixed
 * depths below the mode instead of adaptation: the hull depends on the public law alone. */
#include "sampler_logconcave.h"

static double depth_at(const struct logconcave *f, double x, double peak)
{
    double value, slope;
    f->eval(f->data, x, &value, &slope);
    return peak - value;
}

/* the point between `near` (shallow) and `far` (deep) where the density is `depth` below the peak */
static double find_depth(const struct logconcave *f, double near, double far, double peak, double depth)
{
    for (int k = 0; k < 60; k++) {
        double mid = 0.5 * (near + far);
        if (depth_at(f, mid, peak) < depth)
            near = mid;
        else
            far = mid;
    }
    return 0.5 * (near + far);
}

static double log_segment(double value, double slope, double at, double from, double to)
{
    /* log of the integral of exp(value + slope (x - at)) over [from, to] */
    double a = value + slope * (from - at), width = to - from;
    if (width <= 0)
        return -INFINITY;
    if (fabs(slope * width) < 1e-9)
        return a + log(width);
    if (slope > 0) /* exp(a) expm1(slope width)/slope, from the far end where it is largest */
        return a + slope * width + log(-expm1(-slope * width) / slope);
    return a + log(expm1(slope * width) / slope);
}

enum { DEPTHS = 4, DOUBLINGS = 200 };
static const double depths[DEPTHS] = {0.15, 0.7, 2, 5};

/* *hi: the upper end, or a point beyond the mode where there is none */
static int find_upper(const struct logconcave *f, double scale, double *hi)
{
    double value, slope;
    *hi = f->upper;
    if (*hi < INFINITY)
        return STATUS_OK;
    *hi = f->lower + scale;
    for (int k = 0;; k++) {
        f->eval(f->data, *hi, &value, &slope);
        if (slope < 0)
            return STATUS_OK;
        if (k > DOUBLINGS || isnan(slope))
            return STATUS_NO_CONVERGENCE;
        *hi = f->lower + 2 * (*hi - f->lower);
    }
}

static double find_mode(const struct logconcave *f, double lo, double hi)
{
    double value, slope;
    for (int k = 0; k < 100; k++) {
        double mode = 0.5 * (lo + hi);
        f->eval(f->data, mode, &value, &slope);
        if (slope > 0)
            lo = mode;
        else
            hi = mode;
    }
    return 0.5 * (lo + hi);
}

/* from beyond the mode to a point deep in the tail */
static int reach_tail(const struct logconcave *f, double peak, double *hi)
{
    for (int k = 0; depth_at(f, *hi, peak) < depths[DEPTHS - 1]; k++) {
        if (k > DOUBLINGS)
            return STATUS_NO_CONVERGENCE;
        *hi = f->lower + 2 * (*hi - f->lower);
    }
    return STATUS_OK;
}

/* tangents at the mode and, on both sides, at the depths that are there */
static void place_tangents(struct hull *h, double mode, double hi)
{
    const struct logconcave *f = h->f;
    double lo = f->lower, peak = h->peak;
    int n = 0;
    for (int k = DEPTHS - 1; k >= 0; k--) {
        double x = find_depth(f, mode, lo, peak, depths[k]);
        if (x > lo && x < mode && depth_at(f, x, peak) > 0.5 * depths[k])
            h->at[n++] = x;
    }
    h->at[n++] = mode;
    for (int k = 0; k < DEPTHS; k++) {
        double x = find_depth(f, mode, hi, peak, depths[k]);
        if (x < hi && x > h->at[n - 1])
            h->at[n++] = x;
    }
    h->count = n;
    for (int i = 0; i < n; i++) {
        f->eval(f->data, h->at[i], &h->value[i], &h->slope[i]);
        h->value[i] -= peak;
    }
}

/* tangents cross between their points */
static void cross_tangents(struct hull *h)
{
    h->from[0] = h->f->lower;
    h->from[h->count] = h->f->upper;
    for (int i = 1; i < h->count; i++) {
        double bend = h->slope[i - 1] - h->slope[i], x = 0.5 * (h->at[i - 1] + h->at[i]);
        if (bend > 1e-12 * (fabs(h->slope[i - 1]) + fabs(h->slope[i])))
            x = (h->value[i] - h->value[i - 1] + h->slope[i - 1] * h->at[i - 1] - h->slope[i] * h->at[i]) / bend;
        h->from[i] = x < h->at[i - 1] ? h->at[i - 1] : x > h->at[i] ? h->at[i] : x;
    }
}

static int weigh_segments(struct hull *h)
{
    int n = h->count;
    double biggest = -INFINITY, total = 0;
    for (int i = 0; i < n; i++) {
        h->mass[i] = h->from[i + 1] < INFINITY
                         ? log_segment(h->value[i], h->slope[i], h->at[i], h->from[i], h->from[i + 1])
                         : h->value[i] + h->slope[i] * (h->from[i] - h->at[i]) - log(-h->slope[i]);
        if (h->mass[i] > biggest)
            biggest = h->mass[i];
    }
    for (int i = 0; i < n; i++) {
        total += exp(h->mass[i] - biggest);
        h->mass[i] = total;
    }
    for (int i = 0; i < n; i++)
        h->mass[i] /= total;
    return total > 0 && total < INFINITY ? STATUS_OK : STATUS_NO_CONVERGENCE;
}

int hull_make(struct hull *h, const struct logconcave *f, double scale)
{
    double hi, slope;
    h->f = f;
    if (find_upper(f, scale, &hi) != STATUS_OK)
        return STATUS_NO_CONVERGENCE;
    double mode = find_mode(f, f->lower, hi);
    f->eval(f->data, mode, &h->peak, &slope);
    if (!(fabs(h->peak) < INFINITY))
        return STATUS_NO_CONVERGENCE;
    if (!(f->upper < INFINITY) && reach_tail(f, h->peak, &hi) != STATUS_OK)
        return STATUS_NO_CONVERGENCE;
    place_tangents(h, mode, hi);
    cross_tangents(h);
    if (!(f->upper < INFINITY) && !(h->slope[h->count - 1] < 0))
        return STATUS_NO_CONVERGENCE;
    return weigh_segments(h);
}

double hull_draw(const struct hull *h, struct rng *rng)
{
    for (int trial = 0; trial < RNG_ROUNDS; trial++) {
        double u = rng_uniform(rng), v = rng_uniform(rng), x, value, slope;
        int i = 0;
        while (i < h->count - 1 && u > h->mass[i])
            i++;
        double from = h->from[i], to = h->from[i + 1], s = h->slope[i];
        if (!(to < INFINITY))
            x = from + log(v) / s;
        else if (fabs(s * (to - from)) < 1e-9)
            x = from + v * (to - from);
        else if (s > 0)
            x = to + log(v + (1 - v) * exp(-s * (to - from))) / s;
        else
            x = from + log1p(v * expm1(s * (to - from))) / s;
        if (!(x > h->f->lower && x < h->f->upper))
            continue;
        h->f->eval(h->f->data, x, &value, &slope);
        if (log(rng_uniform(rng)) <= value - h->peak - h->value[i] - s * (x - h->at[i]))
            return x;
    }
    rng_stuck(rng);
    return h->at[0];
}
