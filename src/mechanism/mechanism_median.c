/* The K-norm gradient mechanism for geometric medians where curvature is at most 0, and on spheres: sums of unit vectors, lower
 * bounds of their length by the distance from a point near the median, and that point. Proofs, with the same letters:
 * inst/proofs/median.md. */
#include <stdlib.h>
#include <string.h>

#include "linalg.h"
#include "mean.h"
#include "mechanism_kng.h"

enum { RINGS = 400, MOST_MEDIAN_DIM = 20, NEAR = 8 };

/* a record whose distance from the base is at most `ring` counts as near at radius rho where ring <= rho * NEARER[j] */
static const double NEARER[NEAR] = {1, 0.8, 0.62, 0.45, 0.3, 0.16, 0.06, 0};

int median_supported(manifold_t m, double radius, double smooth)
{
    return kng_supported(m, radius) && (m->k_max <= 0 || (m->k_min == m->k_max && smooth == 0)) &&
           m->dim <= MOST_MEDIAN_DIM;
}

/* ---- the exponent ------------------------------------------------------------------------------------------------ */

static size_t rings_work(size_t d)
{
    return RINGS * (2 + d + d * (d + 1) / 2) + RINGS + 1 + d * d + 2 * d + la_symeig_work(d);
}

size_t median_work(manifold_t m)
{
    return GRADIENT_BLOCK * (m->ambient + m->dim) + rings_work(m->dim);
}

/* log/sqrt(d^2 + smooth^2) of coordinates a of a logarithm, in place; 0 where that is no vector. Returns the root. */
static double bounded(size_t d, double smooth, double *a)
{
    double root = hypot(norm2(d, a), smooth);
    int known = all_finite(d, a) && root > 0 && root < INFINITY;
    for (size_t j = 0; j < d; j++)
        a[j] = known ? a[j] / root : 0;
    return known ? root : 0;
}

/* coordinates at y of the logarithms of records begin <= i < end: of each what it has alone, 0 where it has none */
static void log_coords(manifold_t m, const double *y, const double *x, size_t begin, size_t end, double *v, double *a,
                       double *scratch)
{
    struct points block = {x + begin * m->ambient, m->ambient};
    size_t n = end - begin;
    struct points logs = {v, m->ambient};
    if (m->ops->log(m, v, one(y), block, 0, n, scratch) == STATUS_OK &&
        manifold_coords(m, a, one(y), logs, 0, n, scratch) == STATUS_OK)
        return;
    for (size_t i = 0; i < n; i++)
        if (m->ops->log(m, v, one(y), one(at(block, i)), 0, 1, scratch) != STATUS_OK ||
            manifold_coords(m, a + i * m->dim, one(y), one(v), 0, 1, scratch) != STATUS_OK)
            for (size_t j = 0; j < m->dim; j++)
                a[i * m->dim + j] = 0;
}

double median_sum(manifold_t m, const double *x, size_t n, double smooth, const double *y, int64_t *total, double *room,
                  double *scratch)
{
    size_t d = m->dim;
    double *v = room, *a = v + GRADIENT_BLOCK * m->ambient, *s = a;
    for (size_t j = 0; j < d; j++)
        total[j] = 0;
    for (size_t begin = 0; begin < n; begin += GRADIENT_BLOCK) {
        size_t end = begin + GRADIENT_BLOCK < n ? begin + GRADIENT_BLOCK : n;
        log_coords(m, y, x, begin, end, v, a, scratch);
        for (size_t i = 0; i < end - begin; i++) {
            bounded(d, smooth, a + i * d);
            /* towards 0, and shorter by more than what rounding may have added: no longer than 1 */
            for (size_t j = 0; j < d; j++)
                total[j] += (int64_t)(ldexp(1 - 0x1p-40, MEDIAN_BITS) * a[i * d + j]);
        }
        host_tick(m->host, 0, 0);
    }
    for (size_t j = 0; j < d; j++)
        s[j] = ldexp((double)total[j], -MEDIAN_BITS);
    return norm2(d, s);
}

/* ---- lower bounds ------------------------------------------------------------------------------------------------- */

/* Records by their distance from the base: in each ring how many, the sums of w and of the upper triangle of w w', w =
 * log/sqrt(d^2 + smooth^2). */
struct rings {
    size_t d, count, n;
    int line;    /* dimension one, not smoothed */
    double bent; /* root of the curvature where that is above 0 */
    double far[RINGS];
    double *held, *sum, *square, *beyond, *matrix, *root, *tail, *work;
};

static double *take_part(double **room, size_t n)
{
    double *p = *room;
    *room += n;
    for (size_t j = 0; j < n; j++)
        p[j] = 0;
    return p;
}

static void add_to_ring(struct rings *r, size_t j, const double *w)
{
    double *sum = r->sum + j * r->d, *square = r->square + j * (r->d * (r->d + 1) / 2);
    r->held[j]++;
    for (size_t p = 0; p < r->d; p++) {
        sum[p] += w[p];
        for (size_t q = p; q < r->d; q++)
            *square++ += w[p] * w[q];
    }
}

/* rings without records are left out; beyond[j]: length of the sum of w from ring j on */
static void finish_rings(struct rings *r)
{
    size_t d = r->d, half = d * (d + 1) / 2, kept = 0;
    for (size_t j = 0; j < RINGS; j++) {
        if (!(r->held[j] > 0))
            continue;
        r->far[kept] = r->far[j];
        r->held[kept] = r->held[j];
        memmove(r->sum + kept * d, r->sum + j * d, d * sizeof *r->sum);
        memmove(r->square + kept * half, r->square + j * half, half * sizeof *r->square);
        kept++;
    }
    r->count = kept;
    double *tail = r->tail;
    for (size_t p = 0; p < d; p++)
        tail[p] = 0;
    r->beyond[kept] = 0;
    for (size_t j = kept; j-- > 0;) {
        for (size_t p = 0; p < d; p++)
            tail[p] += r->sum[j * d + p];
        r->beyond[j] = norm2(d, tail);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_rings(struct kng *k, struct rings *r, double *scratch)
{
    manifold_t m = k->m;
    size_t d = m->dim;
    double *v = k->room, *a = v + GRADIENT_BLOCK * m->ambient, *room = a + GRADIENT_BLOCK * d;
    double top = hypot(2 * k->radius, k->smooth) * (1 + 1e-9), low = fmin(1e-9 * k->reach, top), step;
    r->held = take_part(&room, RINGS);
    r->sum = take_part(&room, RINGS * d);
    r->square = take_part(&room, RINGS * (d * (d + 1) / 2));
    r->beyond = take_part(&room, RINGS + 1);
    r->matrix = take_part(&room, d * d);
    r->root = take_part(&room, d);
    r->tail = take_part(&room, d);
    r->work = room;
    size_t away = 0;
    for (size_t i = 0; i < k->n; i++) {
        log_coords(m, k->base, k->x, i, i + 1, v, a, scratch);
        double far = bounded(d, k->smooth, a);
        if (far > 0)
            k->far[away++] = far;
    }
    qsort(k->far, away, sizeof *k->far, ascending);
    if (away > 0)
        low = fmax(fmin(low, 1e-4 * k->far[away / 4]), 1e-280);
    k->span = fmin(fmax(16, log(k->reach / low)), 600);
    step = log(top / low) / (RINGS - 2);
    for (size_t j = 0; j < RINGS; j++)
        r->far[j] = j == 0 ? 0 : j + 1 < RINGS ? low * exp(step * (double)(j - 1)) * (1 + 1e-9) : INFINITY;
    for (size_t begin = 0; begin < k->n; begin += GRADIENT_BLOCK) {
        size_t end = begin + GRADIENT_BLOCK < k->n ? begin + GRADIENT_BLOCK : k->n;
        log_coords(m, k->base, k->x, begin, end, v, a, scratch);
        for (size_t i = 0; i < end - begin; i++) {
            if (!memcmp(k->x + (begin + i) * m->ambient, k->base, m->ambient * sizeof *k->base))
                for (size_t j = 0; j < d; j++)
                    a[i * d + j] = 0;
            double far = bounded(d, k->smooth, a + i * d), c = far > low ? 1 + ceil(log(far / low) / step) : far > 0;
            size_t j = c < RINGS - 1 ? (size_t)c : RINGS - 1;
            while (j + 1 < RINGS && far > r->far[j])
                j++;
            add_to_ring(r, j, a + i * d);
        }
        host_tick(m->host, 0, 0);
    }
    r->far[RINGS - 1] = top * 1.0001;
    finish_rings(r);
}

/* t = rho/far, on spheres of their tangents */
static double ratio(const struct rings *r, double rho, double far)
{
    if (!(r->bent > 0))
        return rho / far;
    return r->bent * far < 0.5 * RIEMDP_PI ? tan(r->bent * rho) / tan(r->bent * far) : 0;
}

/* at most the slope of the distance from a record that is no farther from the base than rho */
static double near_slope(const struct rings *r, double rho, double far)
{
    if (!(far > 0)) /* at the base: its distance has slope 1 */
        return 1;
    double t = ratio(r, rho, far), bend = r->bent > 0 && t > 1 ? square(tan(r->bent * rho) / t) : 0;
    return r->line ? 1 : t > 1 ? sqrt((1 - 1 / (t * t)) / (1 + bend)) : 0;
}

/* how much of 1 - p^2 a sphere's curvature takes from the slope at most */
static double curved_loss(const struct rings *r, double rho, double t)
{
    double most = t < 0.5 ? 1 / square(1 + t) : t < 1 ? 1 / (t * sqrt(27 * (1 - t * t))) : INFINITY;
    return r->bent > 0 ? 0.5 * square(tan(r->bent * rho)) * most * (1 + 1e-12) : 0;
}

/* (1 - (1 + t)^-2)/2, less that loss */
static double bend_share(const struct rings *r, double rho, double far)
{
    double t = ratio(r, rho, far);
    return fmax(0, 0.5 * t * (2 + t) / square(1 + t) - curved_loss(r, rho, t));
}

/* At most n f at radius rho, where the first `near` rings are no farther from the base than rho: these records by the slope of
 * their own distances, the others by the matrix of what these bend. Concave and increasing in rho, but on spheres. */
static double level_of(struct rings *r, size_t near, double rho)
{
    size_t d = r->d, half = d * (d + 1) / 2;
    double sum = -r->beyond[near], share;
    for (size_t j = 0; j < near; j++)
        sum += r->held[j] * near_slope(r, rho, r->far[j]);
    if (r->line || near == r->count)
        return sum;
    for (size_t p = 0; p < d * d; p++)
        r->matrix[p] = 0;
    for (size_t j = near; j < r->count; j++) {
        const double *s = r->square + j * half;
        share = bend_share(r, rho, r->far[j]);
        for (size_t p = 0; p < d; p++) {
            r->matrix[p + p * d] += share * r->held[j];
            for (size_t q = p; q < d; q++)
                r->matrix[q + p * d] -= share * *s++;
        }
    }
    if (la_symeig(d, r->matrix, r->root, 0, r->work) != STATUS_OK)
        return sum;
    return sum + fmax(0, r->root[0] - 1e-12 * (double)r->n);
}

/* Another bound of the same, by what is left of G to second order in the cosine p: better in many dimensions, not concave */
static double level_square(struct rings *r, size_t near, double rho)
{
    size_t d = r->d, half = d * (d + 1) / 2;
    double sum = 0, *tail = r->tail;
    for (size_t p = 0; p < d * d; p++)
        r->matrix[p] = 0;
    for (size_t p = 0; p < d; p++)
        tail[p] = 0;
    for (size_t j = 0; j < near; j++)
        sum += r->held[j] * near_slope(r, rho, r->far[j]);
    for (size_t j = near; j < r->count; j++) {
        const double *s = r->square + j * half;
        double t = ratio(r, rho, r->far[j]), root = sqrt(1 + t * t), lean = 1 / (root * root * root);
        double loss = curved_loss(r, rho, t), share = t / root + 1 - lean;
        int bends = loss < share; /* else by convexity alone: the slope is -p at least */
        sum += bends ? r->held[j] * (t / root - loss) : 0;
        lean = bends ? lean : 1;
        share = bends ? share - loss : 0;
        for (size_t p = 0; p < d; p++) {
            tail[p] += lean * r->sum[j * d + p];
            for (size_t q = p; q < d; q++)
                r->matrix[q + p * d] += share * *s++;
        }
    }
    if (near < r->count && la_symeig(d, r->matrix, r->root, 0, r->work) != STATUS_OK)
        return 0;
    return sum - norm2(d, tail) - (near < r->count ? r->root[d - 1] : 0) - 1e-12 * (double)r->n;
}

/* the best chord of a cell [from, to]: its values at both ends; *reached: the best bound at `to`, and so beyond */
static void best_chord(struct rings *r, double from, double to, double *low, double *high, double *reached)
{
    size_t before = RINGS + 1;
    *low = *high = -(double)r->n;
    for (int t = 0; t < NEAR; t++) {
        size_t near = 0;
        while (near < r->count && r->far[near] <= from * NEARER[t])
            near++;
        if (near == before)
            continue;
        before = near;
        double a = level_of(r, near, from), b = level_of(r, near, to);
        *reached = fmax(*reached, r->line ? b : fmax(b, level_square(r, near, to)));
        if (r->bent == 0 && a + b > *low + *high) {
            *low = a;
            *high = b;
        }
    }
}

/* the record nearest to p in its place, where that is a median: no sum of the others is longer than there are of it */
void median_settle(const struct kng *k, double *p, double *scratch)
{
    manifold_t m = k->m;
    size_t best = 0, size = m->ambient, same = 0;
    double far, least = INFINITY;
    for (size_t i = 0; i < k->n; i++)
        if (manifold_dist(m, &far, one(p), one(k->x + i * size), 0, 1, scratch) == STATUS_OK && far < least) {
            least = far;
            best = i;
        }
    const double *x = k->x + best * size;
    for (size_t i = 0; i < k->n; i++)
        same += !memcmp(k->x + i * size, x, size * sizeof *x);
    /* whatever rounding makes of the vectors of those that are the same */
    if (least < INFINITY && median_sum(m, k->x, k->n, k->smooth, x, k->total, k->room, scratch) <= 2 * (double)same)
        memcpy(p, x, size * sizeof *p);
}

void median_look(struct kng *k, double *scratch)
{
    struct rings r = {.d = k->m->dim,
                      .n = k->n,
                      .line = k->m->dim == 1 && k->smooth == 0,
                      .bent = k->m->dim > 1 && k->curvature > 0 ? sqrt(k->curvature) : 0};
    double n = (double)k->n, reached = 0;
    fill_rings(k, &r, scratch);
    k->parts = MOST_CELLS;
    for (size_t j = 0; j <= MOST_CELLS; j++)
        k->coarse[j] = j > 0 ? k->reach * exp(-k->span * (double)(MOST_CELLS - j) / (MOST_CELLS - 1)) : 0;
    reached = fmax(0, level_of(&r, r.count > 0 && r.far[0] == 0, 0)); /* records at the base */
    for (size_t c = 0; c < MOST_CELLS; c++) {
        double low, high;
        k->excess[c] = reached / n;
        best_chord(&r, k->coarse[c], k->coarse[c + 1], &low, &high, &reached);
        k->line[c] = low / n;
        k->lean[c] = (high - low) / n / (k->coarse[c + 1] - k->coarse[c]);
        host_tick(k->m->host, 0, 0);
    }
}

/* ---- a point near the median --------------------------------------------------------------------------------------- */

struct listed {
    manifold_t m;
    const double *x;
};

static struct points listed_get(const struct source *source, size_t begin, size_t end)
{
    const struct listed *l = source->data;
    (void)end;
    return (struct points){l->x + begin * l->m->ambient, l->m->ambient};
}

static int listed_read(const struct source *source, int lane, size_t begin, size_t end, double *work,
                       struct points *out)
{
    (void)lane;
    (void)work;
    *out = listed_get(source, begin, end);
    return STATUS_OK;
}

static struct source listed_source(const struct listed *l, size_t n)
{
    return (struct source){
        .n = n, .block = GRADIENT_BLOCK, .lanes = 1, .get = listed_get, .read = listed_read, .data = l};
}

size_t median_find_work(manifold_t m, size_t n)
{
    struct listed l = {m, NULL};
    struct source s = listed_source(&l, n);
    return mean_work(m, &s, 6) + 2 * n + 2 * m->ambient + m->dim + manifold_work(m);
}

/* on a line: a record in the middle */
static void middle_record(manifold_t m, const double *x, size_t n, const double *centre, double *p, double *work)
{
    double *at = work, *sorted = at + n, *v = sorted + n, *scratch = v + m->ambient;
    for (size_t i = 0; i < n; i++) {
        log_coords(m, centre, x, i, i + 1, v, at + i, scratch);
        sorted[i] = at[i] = fabs(at[i]) < INFINITY ? at[i] : 0;
    }
    qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 0; i < n; i++)
        if (at[i] == sorted[(n - 1) / 2])
            memcpy(p, x + i * m->ambient, m->ambient * sizeof *p);
}

void median_find(manifold_t m, const double *x, size_t n, const double *centre, double radius, double *p, double *work)
{
    struct listed l = {m, x};
    struct source s = listed_source(&l, n);
    struct mean_fit mean = {.tol = 1e-3, .max_iter = 30, .memory = 6},
                    fit = {.tol = 1e-8, .max_iter = 200, .median = 1};
    double *kept = work, *scratch = kept + m->ambient, *rest = scratch + manifold_work(m);
    memcpy(p, centre, m->ambient * sizeof *p);
    if (m->dim == 1) {
        middle_record(m, x, n, centre, p, work);
        return;
    }
    for (int median = 0; median < 2; median++) {
        memcpy(kept, p, m->ambient * sizeof *p);
        fit.memory = mean.memory;
        if (mean_run(m, &s, NULL, p, median ? &fit : &mean, rest) != STATUS_OK || !all_finite(m->ambient, p))
            memcpy(p, kept, m->ambient * sizeof *p);
        manifold_to_ball(m, p, centre, radius, one(p), 0, 1, scratch);
    }
}
