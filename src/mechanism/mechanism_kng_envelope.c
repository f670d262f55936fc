/* The mechanism's envelope: lower bounds of |grad U| by the radius, bins refined where they waste most, and how often
 * a trial succeeds at least. */
#include "mechanism_kng.h"
#include "linalg.h"

/* ---- lower bounds of |grad U| ------------------------------------------------------------------------------------ */

static size_t coarse_cell(const struct kng *k, double rho)
{
    size_t low = 0, high = COARSE - 1;
    while (low < high) { /* the last cell that starts at or below rho */
        size_t mid = (low + high + 1) / 2;
        if (k->coarse[mid] <= rho)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* At most |grad U| at distance rho from the mean, whatever the records (proofs/kng.md, section 4): their mean
 * squared distance is at most r^2 + rho^2 there, and the Hessian's bound is concave in squared distances. Increases. */
static double level_public(const struct kng *k, double rho)
{
    double r = k->radius, far = fmin(rho, 1.7320508 * r);
    if (!(k->curvature > 0))
        return k->slope * rho;
    double start = (r + 2 * k->gradient / k->slope) * (1 + 1e-12);
    double mean = far * (1 - (1 - k->slope) * (start * start + far * (k->gradient + far / 3)) / (4 * r * r));
    return fmax(mean + k->slope * (rho - far), k->slope * rho);
}

/* at most |grad U| for radii in [rho, end of the coarse cell] */
static double level_at(const struct kng *k, double rho, size_t cell)
{
    double low = level_public(k, rho), better;
    if (k->law == KNG_DISTANCE)
        return rho;
    if (k->kind != KNG_SLOPE && !k->constant) {
        better = k->least * rho - k->excess[cell];
        if (k->space == KNG_GENERAL)
            better = fmax(better, k->line[cell] + k->lean[cell] * (rho - k->coarse[cell]));
        low = fmax(low, better);
    }
    return low - k->gradient;
}

/* at most |grad U| for |Av| in [from, to] */
static double level_anisotropic(const struct kng *k, double from, double to)
{
    double e = k->excess[coarse_cell(k, fmin(to / k->shrink, k->reach))];
    return fmax(level_public(k, from / k->stretch), from - e) - k->gradient;
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* all bins are to be filled */
static void empty(struct kng_bins *b)
{
    for (size_t i = 0; i < b->count; i++)
        b->mass[i] = NAN;
}

/* bounds and log masses (in `mass`) of the bins whose edges are there and that have none */
static void fill(const struct kng *k, struct kng_bins *b, int anisotropic, int uncapped)
{
    double d = (double)k->m->dim;
    for (size_t i = 0; i < b->count; i++) {
        double from = b->edge[i], to = b->edge[i + 1];
        if (i % 256 == 0)
            host_tick(k->m->host, 0, 0);
        if (!isnan(b->mass[i]))
            continue;
        if (anisotropic) {
            double rho = k->curvature > 0 ? from / k->stretch : fmin(to / k->shrink, k->reach);
            b->log_area[i] = (d - 1) * log(to) + (rho > 0 ? kng_log_area(k, rho) - (d - 1) * log(rho) : 0);
            b->level[i] = level_anisotropic(k, from, to);
            b->log_cap[i] = 0;
        } else {
            b->log_area[i] = kng_log_area(k, to);
            b->level[i] = level_at(k, from, coarse_cell(k, 0.5 * (from + to)));
            b->log_cap[i] = uncapped ? 0 : kng_log_cap_top(k, from, to);
        }
        b->mass[i] = log(to - from) + b->log_area[i] + b->log_cap[i] - b->level[i] / k->sigma;
    }
}

/* Bins are halved where what a bin adds to the envelope's mass, about mass times range of its log, is large. */
static void refine(const struct kng *k, struct kng_bins *b, int anisotropic, int uncapped, double enough, size_t most)
{
    empty(b);
    for (int round = 0; round < 40; round++) {
        double peak = -INFINITY, total = 0;
        size_t extra = 0;
        fill(k, b, anisotropic, uncapped);
        for (size_t i = 0; i < b->count; i++)
            peak = fmax(peak, b->mass[i]);
        for (size_t i = 0; i < b->count; i++)
            total += exp(b->mass[i] - peak);
        for (size_t i = 0; i < b->count; i++) {
            double range = (b->edge[i + 1] - b->edge[i]) / k->sigma;
            range += i > 0 ? b->log_area[i] - b->log_area[i - 1] : 2;
            range += i + 1 < b->count && b->log_cap[i + 1] > -INFINITY ? b->log_cap[i] - b->log_cap[i + 1]
                     : b->log_cap[i] < 0                               ? 2
                                                                       : 0;
            int halve = b->count + extra < most && exp(b->mass[i] - peak) / total * fmin(range, 2) > enough &&
                        b->edge[i + 1] - b->edge[i] > 1e-14 * b->edge[i + 1];
            b->halve[i] = halve;
            extra += (size_t)halve;
        }
        if (extra == 0)
            break;
        for (size_t i = b->count, j = b->count + extra; i-- > 0;) {
            j--;
            b->edge[j + 1] = b->edge[i + 1];
            b->log_area[j] = b->log_area[i];
            b->level[j] = b->level[i];
            b->log_cap[j] = b->log_cap[i];
            b->mass[j] = b->mass[i];
            if (b->halve[i] > 0) {
                b->mass[j] = b->mass[j - 1] = NAN;
                b->edge[j] = 0.5 * (b->edge[i] + b->edge[i + 1]);
                j--;
            }
        }
        b->count += extra;
    }
    fill(k, b, anisotropic, uncapped);
}

/* log masses into cumulative shares */
static void accumulate(struct kng_bins *b)
{
    double peak = -INFINITY, total = 0;
    for (size_t i = 0; i < b->count; i++)
        peak = fmax(peak, b->mass[i]);
    for (size_t i = 0; i < b->count; i++) {
        total += exp(b->mass[i] - peak);
        b->mass[i] = total;
    }
    for (size_t i = 0; i < b->count; i++)
        b->mass[i] /= total;
    b->log_total = peak + log(total);
}

static void public_bins(struct kng *k, struct kng_bins *b)
{
    b->count = COARSE;
    for (size_t j = 0; j <= COARSE; j++)
        b->edge[j] = k->reach * (j < COARSE ? square((double)j / COARSE) * ((double)j / COARSE) : 1);
    size_t most = k->space == KNG_COMPLEX ? PUBLIC_BINS / 8 : PUBLIC_BINS;
    double sigma = k->sigma;
    k->sigma = k->narrow;
    refine(k, b, 0, 1, k->wide > k->narrow ? 1e-4 : 5e-6, most);
    if (k->wide > k->narrow) {
        k->sigma = k->wide;
        refine(k, b, 0, 1, 1e-4, 2 * most);
    }
    k->sigma = sigma;
}

/* A = sqrt(2cH - c^2), 0 < c < 2 least eigenvalue: |Av| <= v'Hv for |v| = 1 */
static int make_anisotropic(struct kng *k)
{
    size_t d = k->m->dim;
    double low = k->root[0] - 1e-11, c = fmin(k->trace, 1.5 * low);
    if (!(low > 0))
        return 0;
    k->log_det = 0;
    for (size_t j = 0; j < d; j++) {
        k->root[j] = sqrt(c * (2 * (k->root[j] - 1e-11) - c));
        k->log_det += log(k->root[j]);
    }
    k->shrink = k->root[0];
    k->stretch = k->root[d - 1];
    struct kng_bins *b = &k->other;
    b->count = COARSE;
    for (size_t j = 0; j <= COARSE; j++)
        b->edge[j] = k->coarse[j] * k->stretch;
    refine(k, b, 1, 1, 5e-6, MOST_BINS);
    accumulate(b);
    b->log_total -= k->log_det;
    return 1;
}

/* ---- room, and the whole envelope -------------------------------------------------------------------------------- */

int kng_supported(manifold_t m, double radius)
{
    double limit = 0.5 * m->inj;
    if (m->k_max > 0)
        limit = fmin(limit, RIEMDP_PI / (4 * sqrt(m->k_max)));
    if (m->k_min < 0)
        limit = fmin(limit, 12); /* further out doubles lose the digits of what exp and log cancel, as e^2r */
    return (m->flags & MANIFOLD_KNG) && radius > 0 && radius < limit;
}

static void read_space(struct kng *k)
{
    manifold_t m = k->m;
    k->curvature = m->k_max;
    k->space = m->k_min == m->k_max ? KNG_CONSTANT : m->model == MODEL_PLANAR ? KNG_COMPLEX : KNG_GENERAL;
    k->slope = k->curvature > 0 ? kng_cot_factor(k->curvature, 2 * k->radius) * (1 - 1e-12) : 1;
    k->gradient = k->gradient * (1 + 1e-9) + 1e-15;
}

static double *take(double **work, size_t n)
{
    double *p = *work;
    *work += n;
    return p;
}

static void take_bins(struct kng_bins *b, double **work)
{
    b->edge = take(work, MOST_BINS + 1);
    b->mass = take(work, MOST_BINS);
    b->level = take(work, MOST_BINS);
    b->log_area = take(work, MOST_BINS);
    b->log_cap = take(work, MOST_BINS);
    b->halve = take(work, MOST_BINS);
}

static size_t matrix_work(manifold_t m)
{
    size_t square = m->dim * m->dim, eig = la_symeig_work(m->dim);
    return m->dim <= MOST_DIM ? square + (square > eig ? square : eig) : 0;
}

static size_t sums_work(manifold_t m)
{
    return 2 + (m->dim <= MOST_DIM ? m->dim * (m->dim + 1) : 0);
}

size_t kng_work(manifold_t m, size_t n)
{
    return n + CHORDS + 1 + 12 * MOST_BINS + 2 + 4 * (COARSE + 1) + 3 * (MOST_ANGLES + 1) + 4 * m->dim +
           2 * m->ambient + matrix_work(m) + sums_work(m);
}

static void take_all(struct kng *k, double *work)
{
    manifold_t m = k->m;
    k->far = take(&work, k->x ? k->n : 0);
    k->bends = take(&work, CHORDS + 1);
    take_bins(&k->bins, &work);
    take_bins(&k->other, &work);
    k->coarse = take(&work, COARSE + 1);
    k->excess = take(&work, COARSE + 1);
    k->line = take(&work, COARSE + 1);
    k->lean = take(&work, COARSE + 1);
    k->angle_mass = take(&work, MOST_ANGLES + 1);
    k->angle_top = take(&work, MOST_ANGLES + 1);
    k->angle_low = take(&work, MOST_ANGLES + 1);
    k->axis = take(&work, m->dim);
    k->root = take(&work, m->dim);
    k->coords = take(&work, 2 * m->dim);
    k->v = take(&work, m->ambient);
    k->sum = take(&work, m->ambient);
    k->matrix = take(&work, matrix_work(m));
    k->sums = take(&work, sums_work(m));
}

/* the ball's centre as seen from the base */
static void make_axis(struct kng *k, double *scratch)
{
    manifold_t m = k->m;
    k->tilt = 0;
    if (m->ops->log(m, k->v, one(k->base), one(k->centre), 0, 1, scratch) == STATUS_OK &&
        manifold_coords(m, k->axis, one(k->base), one(k->v), 0, 1, scratch) == STATUS_OK && all_finite(m->dim, k->axis))
        k->tilt = norm2(m->dim, k->axis);
    for (size_t j = 0; j < m->dim; j++)
        k->axis[j] = k->tilt > 0 ? k->axis[j] / k->tilt : j == 0;
    if (k->tilt > k->radius)
        k->tilt = k->radius;
}

void kng_view(struct kng *k, double *work)
{
    take_all(k, work);
    read_space(k);
}

void kng_make(struct kng *k, double *work, double *scratch)
{
    manifold_t m = k->m;
    take_all(k, work);
    read_space(k);
    make_axis(k, scratch);
    kng_make_angles(k);
    kng_make_bends(k);
    k->trials = k->clamped = 0;
    k->shrink = k->stretch = 1;
    k->root[0] = 0;
    k->reach = (k->constant ? 2 * k->radius : k->radius + k->tilt) * (1 + 1e-12);
    k->kind = k->constant || k->envelope == KNG_SLOPE ? KNG_SLOPE : KNG_ISOTROPIC;
    kng_look_at_records(k, scratch);
    struct kng_bins *b = &k->bins;
    if (k->constant) {
        public_bins(k, b);
        empty(b);
        fill(k, b, 0, 0);
    } else {
        b->count = COARSE;
        for (size_t j = 0; j <= COARSE; j++)
            b->edge[j] = k->coarse[j];
        refine(k, b, 0, 0, 1e-4, MOST_BINS);
    }
    accumulate(b);
    /* The envelope with the smaller mass accepts more often; which one it is has no say in the output's law. Most
     * radii are about dim * sigma, so a nearly isotropic Hessian has nothing to give. */
    if (k->envelope == 0 && (double)m->dim * (k->trace - k->least) < 0.02)
        return;
    if (k->kind == KNG_ISOTROPIC && k->envelope != KNG_ISOTROPIC && k->law == KNG_GRADIENT && k->root[0] > 0 &&
        make_anisotropic(k) && (k->envelope == KNG_ANISOTROPIC || k->other.log_total < b->log_total))
        k->kind = KNG_ANISOTROPIC;
}

void kng_bounds(struct kng *k, const double *y, double *out, double *scratch)
{
    manifold_t m = k->m;
    double *a = k->coords, *w = a + m->dim, rho = 0;
    out[0] = kng_gradient_norm(k, y, scratch);
    for (int j = 1; j < 5; j++)
        out[j] = NAN;
    if (m->ops->log(m, k->v, one(k->base), one(y), 0, 1, scratch) != STATUS_OK ||
        manifold_coords(m, a, one(k->base), one(k->v), 0, 1, scratch) != STATUS_OK)
        return;
    out[1] = rho = norm2(m->dim, a);
    out[2] = k->slope * rho - k->gradient;
    if (rho > k->reach)
        return;
    out[3] = level_at(k, rho, coarse_cell(k, rho));
    if (k->shrink < 1 || k->stretch > 1) {
        for (size_t j = 0; j < m->dim; j++)
            w[j] = k->root[j] * dot(m->dim, k->matrix + j * m->dim, a);
        double size = norm2(m->dim, w);
        out[4] = level_anisotropic(k, size, size);
    }
}

/* ---- a public bound of the acceptance ---------------------------------------------------------------------------- */

/* Sums over the bins of one cell of the tilt: masses from above and from below at both ends of a range of inverse scales s, those from
 * below also times their exponents; all as logs */
struct mass {
    double top[2], low[2], steep[2];
};

static struct mass cell_mass(const struct kng *k, double tilt, double half, double share)
{
    const struct kng_bins *b = &k->bins;
    const double *top = b->mass, *down = b->halve, *low = k->other.mass, *steep = k->other.level;
    struct mass s;
    for (int e = 0; e < 2; e++)
        s.top[e] = s.low[e] = s.steep[e] = -INFINITY;
    for (size_t i = 0; i < b->count; i++) {
        double above = top[i] + kng_log_cap_at(k, tilt, k->radius + half, b->edge[i]);
        double below =
            low[i] > -INFINITY ? low[i] + kng_log_cap_low(k, tilt, k->radius - half, b->edge[i + 1]) : -INFINITY;
        for (int e = 0; e < (share < 1 ? 2 : 1); e++) {
            double by = e ? share : 1, part = below - by * steep[i];
            s.top[e] = kng_log_add(s.top[e], above - by * down[i]);
            if (!(below > -INFINITY))
                continue;
            s.low[e] = kng_log_add(s.low[e], part);
            if (share < 1)
                s.steep[e] = kng_log_add(s.steep[e], part + log(steep[i]));
        }
    }
    return s;
}

/* The least of low(s)/top(s) between the ends (0: the narrow scale): both are log-convex in s, so log low lies above its tangents and
 * log top below its chord. */
static double least_between(const struct mass *s, double share)
{
    double p[2], fall[2];
    for (int e = 0; e < 2; e++) {
        p[e] = s->low[e] - s->top[e];
        fall[e] = exp(s->steep[e] - s->low[e]) * (1 - share);
    }
    double at = (s->low[1] - s->low[0] - fall[0]) / (fall[1] - fall[0]), least = fmin(p[0], p[1]);
    if (!(at > 0 && at < 1)) /* tangents that meet at an end, or are one */
        at = at > 0.5 ? 1 : 0;
    double tangent = fmin(s->low[1] - fall[1] * at, s->low[0] + fall[0] * (1 - at));
    return fmin(least, tangent - s->top[1] + (s->top[1] - s->top[0]) * at);
}

double kng_least_acceptance(manifold_t m, double radius, double narrow, double wide, double gradient, int law,
                            double *work)
{
    struct kng law_of = {.m = m,
                         .radius = radius,
                         .sigma = narrow,
                         .narrow = narrow,
                         .wide = wide,
                         .gradient = gradient,
                         .law = law,
                         .constant = 1};
    struct kng *k = &law_of;
    take_all(k, work);
    read_space(k);
    kng_make_angles(k);
    k->kind = KNG_SLOPE;
    k->reach = 2 * radius * (1 + 1e-12);
    struct kng_bins *b = &k->bins;
    public_bins(k, b);
    double extra = law == KNG_DISTANCE ? 0 : k->gradient, k_min = law == KNG_DISTANCE ? 0 : fmin(m->k_min, 0);
    double least = 1, share = wide > narrow ? narrow / wide : 1;
    /* What the cells of the tilt share: log masses above and below without the cap, and the exponents. The shares
     * and halves of the bins have served. */
    double *top = b->mass, *down = b->halve, *low = k->other.mass, *steep = k->other.level;
    for (size_t i = 0; i < b->count; i++) {
        double lo = b->edge[i], hi = b->edge[i + 1], width = log(hi - lo);
        top[i] = width + b->log_area[i];
        down[i] = b->level[i] / narrow;
        low[i] = lo > 0 || m->dim == 1 ? width + (m->dim == 1 ? 0 : kng_log_area_low(k, lo)) : -INFINITY;
        steep[i] = (kng_cot_factor(k_min, fmin(radius + extra + hi, 2 * radius)) * hi + extra) / narrow;
    }
    /* cells of the tilt: within each, the ball is compared with balls of a slightly smaller and larger radius */
    for (double from = 0; from < radius;) {
        double half = fmin(0.01 * (radius - from + narrow), 0.01 * radius);
        double to = fmin(from + 2 * half, radius), tilt = 0.5 * (from + to);
        half = 0.5 * (to - from) * (1 + 1e-9);
        host_tick(m->host, 0, 0);
        struct mass s = cell_mass(k, tilt, half, share);
        least = fmin(least, exp(share < 1 ? least_between(&s, share) : s.low[0] - s.top[0]));
        from = to;
    }
    return least > 0 ? least * (1 - 1e-9) : 0;
}
