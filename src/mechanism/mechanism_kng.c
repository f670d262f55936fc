/* Draws of the K-norm gradient mechanism, on a ball, exactly: a bin of the envelope, a direction that may stay in the
 * ball, and the test that makes of both the law. */
#include "mechanism_kng.h"

/* first j with u <= cumulative[j], in a number of steps that depends on `count` alone */
static size_t find(const double *cumulative, size_t count, double u)
{
    size_t low = 0, size = count;
    while (size > 1) {
        size_t half = size / 2;
        low += cumulative[low + half - 1] < u ? half : 0;
        size -= half;
    }
    return low;
}

/* uniform direction normal to the axis (normal to its complex line), in coords[dim], ...; zero in dimension one */
static void normal_direction(const struct kng *k, struct rng *rng, double *out)
{
    size_t d = k->m->dim;
    double s = 0;
    int complex_line = k->space == KNG_COMPLEX;
    if (d == (complex_line ? 2 : 1)) {
        for (size_t j = 0; j < d; j++)
            out[j] = 0;
        return;
    }
    for (int round = 0; round < 64 && !(s > 0); round++) { /* once, but for what rounding takes */
        for (size_t j = 0; j < d; j++)
            out[j] = rng_normal(rng);
        double t = dot(d, k->axis, out), i = 0;
        for (size_t j = 0; j < d && complex_line; j += 2)
            i += k->axis[j] * out[j + 1] - k->axis[j + 1] * out[j];
        for (size_t j = 0; j < d; j++) {
            out[j] -= t * k->axis[j];
            if (complex_line)
                out[j] -= i * (j % 2 ? k->axis[j - 1] : -k->axis[j + 1]);
        }
        s = norm2(d, out);
    }
    for (size_t j = 0; j < d; j++)
        out[j] = s > 0 ? out[j] / s : 0;
}

/* A direction of the law whose mass log_cap tells: among those that may keep a point at rho in the ball. Returns the
 * log of the uniform law's density over the proposal's times that mass. */
static double draw_direction(struct kng *k, struct rng *rng, double rho, double *out)
{
    size_t d = k->m->dim;
    double *other = k->coords + d, along, across, phase = 0, log_ratio = 0, u = rng_uniform(rng), w = rng_uniform(rng);
    if (!k->constant && rho <= k->radius - k->tilt) {
        rng_direction(rng, d, out);
        return 0;
    }
    normal_direction(k, rng, other);
    if (k->space == KNG_COMPLEX) {
        double r = k->radius, t = k->tilt, total = kng_log_cap_at(k, t, r, rho), sum = 0;
        struct rim rim = kng_make_rim(t, r, rho);
        double left = kng_arc(&rim, 1e-300);
        double arc_of = 1;
        int inside = rho <= r - t, j = k->cells - 1, found = 0;
        for (int i = 0; i < k->cells; i++) {
            double right = kng_arc(&rim, (i + 1.0) / k->cells), top = inside ? 1 : fmax(left, right);
            left = right;
            sum += top > 0 ? exp(k->angle_mass[i] + log(top) - total) : 0;
            if (!found && u <= sum) {
                found = 1;
                j = i;
                arc_of = top;
            }
        }
        if (!found)
            arc_of = inside ? 1 : left;
        double v = rng_uniform(rng), c = 0.5 * (double)d;
        double rest = (k->angle_top[j] + log1p(v * expm1(k->angle_top[j + 1] - k->angle_top[j]))) / (c - 1);
        along = sqrt(-expm1(rest));
        across = exp(0.5 * rest);
        phase = RIEMDP_PI * arc_of * (2 * w - 1);
    } else {
        double theta = kng_cap_angle(k->curvature, k->tilt, k->radius, rho);
        if (d == 1) {
            theta = theta < RIEMDP_PI || u < 0.5 ? 0 : RIEMDP_PI;
        } else if (d == 2) {
            theta *= u;
        } else {
            double target = kng_log_stair(k, theta) + log(u), width = RIEMDP_PI / k->cells;
            int low = 0, size = k->cells;
            while (size > 1) { /* last cell that starts below the target */
                int half = size / 2;
                low += k->angle_mass[low + half] < target ? half : 0;
                size -= half;
            }
            double from = low * width, to = fmin(from + width, theta);
            theta = from + (to - from) * w;
            double s = sin(theta);
            log_ratio = (s > 0 ? ((double)d - 2) * log(s) : -INFINITY) - k->angle_top[low] -
                        (0.5 * log(RIEMDP_PI) + lgamma(0.5 * ((double)d - 1)) - lgamma(0.5 * (double)d));
        }
        along = cos(theta);
        across = sin(theta);
    }
    double re = along * cos(phase), im = along * sin(phase);
    for (size_t j = 0; j < d; j++) {
        out[j] = re * k->axis[j] + across * other[j];
        if (phase != 0)
            out[j] += im * (j % 2 ? k->axis[j - 1] : -k->axis[j + 1]);
    }
    return log_ratio;
}

double kng_gradient_norm(const struct kng *k, const double *y, double *scratch)
{
    manifold_t m = k->m;
    double *a = k->coords;
    if (m->ops->log(m, k->v, one(k->centre), one(y), 0, 1, scratch) != STATUS_OK ||
        manifold_coords(m, a, one(k->centre), one(k->v), 0, 1, scratch) != STATUS_OK || !all_finite(m->dim, a))
        return INFINITY;
    steps_clip(k->steps, a);
    return steps_gradient(k->steps, k->records, a, a + m->dim, k->total, m->host, k->steps_room);
}

/* point at coordinates a; 0 where it isn't in the ball */
static int place(const struct kng *k, const double *a, double *y, double *scratch)
{
    manifold_t m = k->m;
    double far;
    return manifold_from_coords(m, k->v, one(k->base), one(a), 0, 1, scratch) == STATUS_OK &&
           m->ops->exp(m, y, one(k->base), one(k->v), 0, 1, scratch) == STATUS_OK && all_finite(m->ambient, y) &&
           manifold_dist(m, &far, one(k->centre), one(y), 0, 1, scratch) == STATUS_OK && far <= k->radius;
}

int kng_trial(struct kng *k, struct rng *rng, double *y, double *scratch)
{
    manifold_t m = k->m;
    size_t d = m->dim;
    int anisotropic = k->kind == KNG_ANISOTROPIC;
    const struct kng_bins *b = anisotropic ? &k->other : &k->bins;
    double log_u = log(rng_uniform(rng)), rho, log_accept, *a = k->coords;
    size_t i = find(b->mass, b->count, rng_uniform(rng));
    double radial = b->edge[i] + (b->edge[i + 1] - b->edge[i]) * rng_uniform(rng);
    k->trials++;
    host_tick(m->host, 0, 0);
    if (anisotropic) {
        double *w = k->coords + d;
        rng_direction(rng, d, w);
        for (size_t p = 0; p < d; p++)
            a[p] = 0;
        for (size_t j = 0; j < d; j++)
            for (size_t p = 0; p < d; p++)
                a[p] += k->matrix[p + j * d] * (radial * w[j] / k->root[j]);
        rho = norm2(d, a);
        if (!(rho <= k->reach && rho > 0))
            return 0;
        log_accept = ((double)d - 1) * log(radial / rho) + kng_log_area(k, rho) - b->log_area[i];
    } else {
        rho = radial;
        log_accept = kng_log_area(k, rho) - b->log_area[i] + kng_log_cap(k, rho) - b->log_cap[i];
        if (!k->constant && log_u > log_accept)
            return 0;
        log_accept += draw_direction(k, rng, rho, a);
        for (size_t j = 0; j < d; j++)
            a[j] *= rho;
    }
    if (!k->constant && log_u > log_accept)
        return 0;
    int inside = place(k, a, y, scratch);
    if (!inside && !k->constant)
        return 0;
    log_accept += kng_log_area_true(k, a, rho, scratch);
    if (!k->constant && !(log_u <= log_accept))
        return 0;
    double f = k->law == KNG_GRADIENT ? kng_gradient_norm(k, y, scratch) : rho;
    if (f < b->level[i] * (1 - 1e-12) - 1e-13)
        k->clamped++;
    log_accept -= fmax(f - b->level[i], 0) / k->sigma;
    return inside && log_u <= log_accept;
}

int kng_draw(struct kng *k, double trials, struct rng *rng, double *y, double *scratch)
{
    int found = 0;
    for (double t = 0; t < trials && !found; t++)
        found = kng_trial(k, rng, y, scratch);
    return found;
}
