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

/* of a direction: lengths along the axis (times the complex number of that phase) and across it */
struct slant {
    double along, across, phase;
};

/* The cell of the angle's law that u falls into (all are gone through, wherever it is); *arc: the share of the phases there
 * that may stay in the ball. */
static int complex_cell(const struct kng *k, double rho, double u, double *arc)
{
    double r = k->radius, t = k->tilt, total = kng_log_cap_at(k, t, r, rho), sum = 0;
    struct rim rim = kng_make_rim(t, r, rho);
    double left = kng_arc(&rim, 1e-300);
    int inside = rho <= r - t, cell = k->cells - 1, found = 0;
    for (int i = 0; i < k->cells; i++) {
        double right = kng_arc(&rim, (i + 1.0) / k->cells), top = inside ? 1 : fmax(left, right);
        left = right;
        sum += top > 0 ? exp(k->angle_mass[i] + log(top) - total) : 0;
        if (!found && u <= sum) {
            found = 1;
            cell = i;
            *arc = top;
        }
    }
    if (!found)
        *arc = inside ? 1 : left;
    return cell;
}

static struct slant complex_slant(const struct kng *k, struct rng *rng, double rho, double u, double w)
{
    double arc = 1;
    int j = complex_cell(k, rho, u, &arc);
    double v = rng_uniform(rng), c = 0.5 * (double)k->m->dim;
    double rest = (k->angle_top[j] + log1p(v * expm1(k->angle_top[j + 1] - k->angle_top[j]))) / (c - 1);
    return (struct slant){sqrt(-expm1(rest)), exp(0.5 * rest), RIEMDP_PI * arc * (2 * w - 1)};
}

/* an angle up to `theta` by the staircase above its law; *log_ratio: the log of the law's density over the staircase's */
static double stair_angle(const struct kng *k, double theta, double u, double w, double *log_ratio)
{
    double d = (double)k->m->dim, target = kng_log_stair(k, theta) + log(u), width = RIEMDP_PI / k->cells;
    int low = 0, size = k->cells;
    while (size > 1) { /* last cell that starts below the target */
        int half = size / 2;
        low += k->angle_mass[low + half] < target ? half : 0;
        size -= half;
    }
    double from = low * width, to = fmin(from + width, theta);
    theta = from + (to - from) * w;
    double s = sin(theta);
    *log_ratio = (s > 0 ? (d - 2) * log(s) : -INFINITY) - k->angle_top[low] -
                 (0.5 * log(RIEMDP_PI) + lgamma(0.5 * (d - 1)) - lgamma(0.5 * d));
    return theta;
}

static struct slant real_slant(const struct kng *k, double rho, double u, double w, double *log_ratio)
{
    double theta = kng_cap_angle(k->curvature, k->tilt, k->radius, rho);
    if (k->m->dim == 1)
        theta = theta < RIEMDP_PI || u < 0.5 ? 0 : RIEMDP_PI;
    else if (k->m->dim == 2)
        theta *= u;
    else
        theta = stair_angle(k, theta, u, w, log_ratio);
    return (struct slant){cos(theta), sin(theta), 0};
}

/* A direction of the law whose mass log_cap tells: among those that may keep a point at rho in the ball. Returns the
 * log of the uniform law's density over the proposal's times that mass. */
static double draw_direction(struct kng *k, struct rng *rng, double rho, double *out)
{
    size_t d = k->m->dim;
    double *other = k->coords + d, log_ratio = 0, u = rng_uniform(rng), w = rng_uniform(rng);
    if (!k->constant && rho <= k->radius - k->tilt) {
        rng_direction(rng, d, out);
        return 0;
    }
    normal_direction(k, rng, other);
    struct slant s = k->space == KNG_COMPLEX ? complex_slant(k, rng, rho, u, w) : real_slant(k, rho, u, w, &log_ratio);
    double re = s.along * cos(s.phase), im = s.along * sin(s.phase);
    for (size_t j = 0; j < d; j++) {
        out[j] = re * k->axis[j] + s.across * other[j];
        if (s.phase != 0)
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

/* a trial: its bin, the log of the number that decides, the radius of what is proposed, the log of the acceptance so far */
struct trial {
    const struct kng_bins *bins;
    size_t bin;
    double log_u, rho, log_accept;
};

static struct trial begin_trial(struct kng *k, struct rng *rng)
{
    const struct kng_bins *b = k->kind == KNG_ANISOTROPIC ? &k->other : &k->bins;
    struct trial t = {.bins = b, .log_u = log(rng_uniform(rng))};
    t.bin = find(b->mass, b->count, rng_uniform(rng));
    t.rho = b->edge[t.bin] + (b->edge[t.bin + 1] - b->edge[t.bin]) * rng_uniform(rng);
    k->trials++;
    host_tick(k->m->host, 0, 0);
    return t;
}

/* whether it is refused already; a number that is none isn't */
static int is_lost(const struct kng *k, const struct trial *t)
{
    return !k->constant && t->log_u > t->log_accept;
}

/* coordinates to k->coords; the bin's radius is one in the metric of A. 0 where the ball can't hold them */
static int propose_anisotropic(struct kng *k, struct rng *rng, struct trial *t)
{
    size_t d = k->m->dim;
    double *a = k->coords, *w = a + d, radial = t->rho;
    rng_direction(rng, d, w);
    for (size_t p = 0; p < d; p++)
        a[p] = 0;
    for (size_t j = 0; j < d; j++)
        for (size_t p = 0; p < d; p++)
            a[p] += k->matrix[p + j * d] * (radial * w[j] / k->root[j]);
    t->rho = norm2(d, a);
    if (!(t->rho <= k->reach && t->rho > 0))
        return 0;
    t->log_accept = ((double)d - 1) * log(radial / t->rho) + kng_log_area(k, t->rho) - t->bins->log_area[t->bin];
    return 1;
}

static int propose_isotropic(struct kng *k, struct rng *rng, struct trial *t)
{
    size_t d = k->m->dim;
    double *a = k->coords;
    t->log_accept =
        kng_log_area(k, t->rho) - t->bins->log_area[t->bin] + kng_log_cap(k, t->rho) - t->bins->log_cap[t->bin];
    if (is_lost(k, t))
        return 0;
    t->log_accept += draw_direction(k, rng, t->rho, a);
    for (size_t j = 0; j < d; j++)
        a[j] *= t->rho;
    return 1;
}

int kng_trial(struct kng *k, struct rng *rng, double *y, double *scratch)
{
    struct trial t = begin_trial(k, rng);
    int proposed = k->kind == KNG_ANISOTROPIC ? propose_anisotropic(k, rng, &t) : propose_isotropic(k, rng, &t);
    if (!proposed || is_lost(k, &t))
        return 0;
    int inside = place(k, k->coords, y, scratch);
    if (!inside && !k->constant)
        return 0;
    t.log_accept += kng_log_area_true(k, k->coords, t.rho, scratch);
    if (!k->constant && !(t.log_u <= t.log_accept))
        return 0;
    double f = k->law == KNG_GRADIENT ? kng_gradient_norm(k, y, scratch) : t.rho, level = t.bins->level[t.bin];
    if (f < level * (1 - 1e-12) - 1e-13)
        k->clamped++;
    t.log_accept -= fmax(f - level, 0) / k->sigma;
    return inside && t.log_u <= t.log_accept;
}

int kng_draw(struct kng *k, double trials, struct rng *rng, double *y, double *scratch)
{
    int found = 0;
    for (double t = 0; t < trials && !found; t++)
        found = kng_trial(k, rng, y, scratch);
    return found;
}
