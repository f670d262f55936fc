/* The K-norm gradient mechanism for geometric medians: sums of unit vectors, lower bounds of their length by the distance from a point near
 * the median, that point, and draws from a lattice in normal coordinates at the ball's centre. Proofs, with the same letters:
 * inst/proofs/median.md. */
#include <stdlib.h>
#include <string.h>

#include "linalg.h"
#include "mean.h"
#include "mechanism.h"

enum { RINGS = 400, NEAR = 8, MEDIAN_BLOCK = 256 };

/* a record whose distance from the base is at most `ring` counts as near at radius rho where ring <= rho * NEARER[j] */
static const double NEARER[NEAR] = {1, 0.8, 0.62, 0.45, 0.3, 0.16, 0.06, 0};

/* ---- the exponent ------------------------------------------------------------------------------------------------ */

static size_t rings_work(size_t d)
{
    return RINGS * (2 + d + d * (d + 1) / 2) + RINGS + 1 + d * d + 2 * d + la_symeig_work(d);
}

size_t median_work(const struct median *k)
{
    return k->steps->span + (k->law ? 0 : rings_work(k->steps->span)) + grid_work() + k->n;
}

/* v/sqrt(|v|^2 + smooth^2), in place; 0 where that is no vector. Returns the root. */
static double bounded(size_t d, double smooth, double *v)
{
    double root = hypot(norm2(d, v), smooth);
    int known = all_finite(d, v) && root > 0 && root < INFINITY;
    for (size_t j = 0; j < d; j++)
        v[j] = known ? v[j] / root : 0;
    return known ? root : 0;
}

/* record i seen from the point with coordinates a, where the steps stand: of each what it has alone */
static double bounded_log(const struct median *k, const double *a, size_t i, double *v)
{
    steps_log(k->steps, a, k->y + i * steps_point_size(k->steps), v, k->steps_room);
    return bounded(k->steps->span, k->smooth, v);
}

double median_sum(const struct median *k, const double *a)
{
    size_t d = k->steps->span;
    double *v = k->v;
    for (size_t j = 0; j < d; j++)
        k->total[j] = 0;
    steps_stand(k->steps, a, k->steps_room);
    for (size_t i = 0; i < k->n; i++) {
        bounded_log(k, a, i, v);
        /* towards 0, and shorter by more than what rounding may have added: no longer than 1 */
        for (size_t j = 0; j < d; j++)
            k->total[j] += (int64_t)(ldexp(1 - 0x1p-40, MEDIAN_BITS) * v[j]);
        if (i % 64 == 0)
            host_tick(k->m->host, 0, 0);
    }
    for (size_t j = 0; j < d; j++)
        v[j] = ldexp((double)k->total[j], -MEDIAN_BITS);
    return norm2(d, v);
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

/* seen from the base, whose coordinates are `a`; distances with what they may be off by */
static void fill_rings(struct median *k, const double *a, struct rings *r)
{
    size_t d = k->steps->span;
    double *v = k->v, *room = k->room;
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
    steps_stand(k->steps, a, k->steps_room);
    for (size_t i = 0; i < k->n; i++) {
        double far = bounded_log(k, a, i, v);
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
    for (size_t i = 0; i < k->n; i++) {
        double far = bounded_log(k, a, i, v);
        far += far > 0 && k->smooth > 0 ? k->off : 0;
        double c = far > low ? 1 + ceil(log(far / low) / step) : far > 0;
        size_t j = c < RINGS - 1 ? (size_t)c : RINGS - 1;
        while (j + 1 < RINGS && far > r->far[j])
            j++;
        add_to_ring(r, j, v);
        if (i % 64 == 0)
            host_tick(k->m->host, 0, 0);
    }
    r->far[RINGS - 1] = top * 1.0001 + k->off;
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

/* coordinates of the record nearest to a in their place, where that is a median: no sum of the others is longer than there are of it */
static void settle(const struct median *k, double *a)
{
    size_t best = 0, d = k->m->dim, same = 0;
    double least = INFINITY;
    for (size_t i = 0; i < k->n; i++) {
        double far = 0;
        for (size_t j = 0; j < d; j++)
            far += square(k->coords[i * d + j] - a[j]);
        if (far < least) {
            least = far;
            best = i;
        }
    }
    const double *x = k->coords + best * d;
    for (size_t i = 0; i < k->n; i++)
        same += !memcmp(k->coords + i * d, x, d * sizeof *x);
    /* whatever rounding makes of the vectors of those that are the same; where distances are smoothed by more than records are apart the sum
     * is shorter elsewhere */
    if (least < INFINITY) {
        double there = median_sum(k, x);
        if (there <= 2 * (double)same && there <= median_sum(k, a))
            memcpy(a, x, d * sizeof *x);
    }
}

static void look(struct median *k, const double *a)
{
    struct rings r = {.d = k->steps->span,
                      .n = k->n,
                      .line = k->m->dim == 1 && k->smooth == 0,
                      .bent = k->m->dim > 1 && k->curvature > 0 ? sqrt(k->curvature) : 0};
    double reached = 0;
    fill_rings(k, a, &r);
    for (size_t j = 0; j <= MEDIAN_CELLS; j++)
        k->edge[j] = j > 0 ? k->reach * exp(-k->span * (double)(MEDIAN_CELLS - j) / (MEDIAN_CELLS - 1)) : 0;
    reached = fmax(0, level_of(&r, r.count > 0 && r.far[0] == 0, 0)); /* records at the base */
    for (size_t c = 0; c < MEDIAN_CELLS; c++) {
        double low, high;
        k->reached[c] = reached;
        best_chord(&r, k->edge[c], k->edge[c + 1], &low, &high, &reached);
        k->low[c] = low;
        k->lean[c] = (high - low) / (k->edge[c + 1] - k->edge[c]);
        host_tick(k->m->host, 0, 0);
    }
}

/* at most the length of the sum at distance rho or more from the base: chords below concave functions, and what was reached before */
static double level(const struct median *k, double rho)
{
    size_t low = 0, high = MEDIAN_CELLS - 1;
    while (low < high) { /* the last cell that starts at or below rho */
        size_t mid = (low + high + 1) / 2;
        if (k->edge[mid] <= rho)
            low = mid;
        else
            high = mid - 1;
    }
    double v = fmax(k->reached[low], k->low[low] + k->lean[low] * (fmin(rho, k->edge[low + 1]) - k->edge[low]));
    return fmax(0, v - k->less);
}

static const double LOG_2 = 0.69314718055994530942;

/* ---- the law ------------------------------------------------------------------------------------------------------- */

double in_shells(double length, double shell, double first)
{
    return shell > 0 ? fmax(0, ceil((length - first) / shell)) * shell : length;
}

/* at least how far apart two points are whose coordinates at the centre are u apart, one of them the base: the exponential map of a ball
 * brings points together most at its edge */
static double apart(const struct median *k, double u)
{
    double edge = fmin(k->radius, k->middle + u) * sqrt(fmax(0, k->curvature));
    return u * (edge > 0 ? sin(edge) / edge : 1) * (1 - 1e-9);
}

double volume_share(double curved, double steep, double radius, double rho)
{
    return curved > 0 ? -curved * (log_sinhc(steep * radius) - log_sinhc(steep * fmin(radius, rho))) : 0;
}

/* It doesn't rise with u: where volume enters, that at the end of a shell, and of where lengths may be 0, stands for all of it */
static double log_most(const void *data, double u)
{
    const struct median *k = data;
    double length = in_shells(level(k, apart(k, u)), k->shell, k->first);
    double to = k->shell > 0 ? (k->first + length + k->less) * (1 + 1e-8) : fmax(u, k->less * (1 + 1e-8));
    return volume_share(k->curved, k->steep, k->radius, k->middle + to) - length / k->scale;
}

static double length_at(const struct median *k, const double *a)
{
    return k->law ? kng_length_at(k, a) : median_sum(k, a);
}

/* log of how much more volume there may be in the ball than there is at coordinates a; 0 where weights don't have it */
static double less_volume(const struct median *k, const double *a)
{
    if (!(k->curved > 0))
        return 0;
    double rho = norm2(k->m->dim, a);
    return fmax(0, manifold_volume_lost(k->m, a, rho, k->volume_room) - volume_share(k->curved, k->steep, k->radius, rho));
}

/* exp(-F/scale), to 52 bits */
static struct dyadic weight_at(void *data, const double *a)
{
    struct median *k = data;
    double bits = k->scale < INFINITY ? in_shells(length_at(k, a), k->shell, k->first) * k->rate : 0, whole;
    bits += less_volume(k, a) / LOG_2;
    whole = ceil(bits);
    return (struct dyadic){(uint64_t)ldexp(exp((whole - bits) * LOG_2), 52), -(int64_t)whole - 52};
}

/* Where the mixture that is made for these records' bounds would be kept more rarely than what is public of the worst of them, the one that is
 * made for those takes its place: so a trial succeeds as often as the plan says, whatever the records. */
static void propose_publicly(struct median *k, double *work)
{
    struct grid other = k->grid;
    double unit = (double)k->m->dim * log(other.step);
    if (grid_log_proposed(&k->grid) + unit <= k->public->proposed)
        return;
    kng_fit_public(&other, k->public);
    grid_make(&other, work);
    if (grid_log_proposed(&other) < grid_log_proposed(&k->grid))
        k->grid = other;
}

void median_make(struct median *k, double *a, double *work)
{
    size_t d = k->m->dim;
    double step = median_step(k->radius), n = (double)k->n, *grid = work;
    k->v = grid + grid_work();
    k->far = k->v + k->steps->span;
    k->room = k->far + k->n;
    k->rate = 1 / (k->scale * LOG_2);
    /* of what vectors are off by in the sum and in its bounds, what they are cut to, and eigenvalues (median.md, section 3) */
    k->less = n * (1e-9 * sqrt((double)k->steps->span) + 1e-11 + (k->smooth > 0 ? 6 * k->off / k->smooth : 0));
    if (!k->law)
        settle(k, a);
    for (size_t j = 0; j < d; j++) {
        k->at[j] = (int64_t)nearbyint(a[j] / step);
        a[j] = (double)k->at[j] * step;
    }
    k->middle = norm2(d, a) * (1 + 1e-9);
    k->reach = 2 * k->radius;
    if (k->law)
        kng_look_around(k, a);
    else
        look(k, a);
    k->grid = (struct grid){.d = d,
                            .radius = steps_edge(k->steps),
                            .step = step,
                            .base = k->at,
                            .most = log_most,
                            .weight = weight_at,
                            .data = k};
    grid_make(&k->grid, grid);
    if (k->public)
        propose_publicly(k, grid);
}

double median_step(double radius)
{
    int bits;
    frexp(radius, &bits);
    return ldexp(1, bits - MEDIAN_DEPTH);
}

void median_draw(struct median *k, struct rng *rng, double *a)
{
    struct bits bits;
    bits_start(&bits, rng);
    grid_draw(&k->grid, &bits, a);
    bits_wipe(&bits);
}

void median_bound(struct median *k, const double *a, double *out)
{
    double u = 0;
    for (size_t j = 0; j < k->m->dim; j++)
        u += square(a[j] - (double)k->at[j] * k->grid.step);
    out[2] = sqrt(u);
    double vectors = k->law ? 1 : (double)k->n;
    out[1] = in_shells(level(k, apart(k, out[2])), k->shell, k->first) / vectors;
    out[0] = norm2(k->m->dim, a) <= k->grid.radius ? in_shells(length_at(k, a), k->shell, k->first) / vectors : NAN;
    out[3] = less_volume(k, a);
    out[4] = log_most(k, out[2]);
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
        .n = n, .block = MEDIAN_BLOCK, .lanes = 1, .get = listed_get, .read = listed_read, .data = l};
}

size_t median_find_work(manifold_t m, size_t n)
{
    struct listed l = {m, NULL};
    struct source s = listed_source(&l, n);
    return mean_work(m, &s, 6) + m->ambient + n + manifold_work(m);
}

double median_middle(const double *x, size_t n, double smooth, double tol, double *work)
{
    memcpy(work, x, n * sizeof *x);
    qsort(work, n, sizeof *work, ascending);
    double low = work[0], high = work[n - 1], a = work[(n - 1) / 2];
    for (int k = 0; k < 100 && smooth > 0; k++) { /* where the sum of the bounded vectors is 0: it falls */
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (x[i] - a) / hypot(x[i] - a, smooth);
        if (fabs(sum) <= tol * (double)n)
            break;
        *(sum > 0 ? &low : &high) = a;
        a = low + 0.5 * (high - low);
    }
    return a;
}

void median_find(manifold_t m, const double *x, size_t n, double smooth, double tol, const double *centre, double radius, double *p,
                 double *work)
{
    struct listed l = {m, x};
    struct source s = listed_source(&l, n);
    /* the mean, the median from there, and from that what the law has most of: where distances are smoothed */
    struct mean_fit fits[] = {{.tol = 1e-3, .max_iter = 30},
                              {.tol = 1e-8, .max_iter = 200, .median = 1},
                              {.tol = fmin(1e-8, tol), .max_iter = 100, .median = 1, .smooth = smooth}};
    double *kept = work, *scratch = kept + m->ambient, *rest = scratch + manifold_work(m);
    memcpy(p, centre, m->ambient * sizeof *p);
    for (int k = 0; k < (smooth > 0 ? 3 : 2); k++) {
        memcpy(kept, p, m->ambient * sizeof *p);
        fits[k].memory = 6;
        if (mean_run(m, &s, NULL, p, &fits[k], rest) != STATUS_OK || !all_finite(m->ambient, p))
            memcpy(p, kept, m->ambient * sizeof *p);
        manifold_to_ball(m, p, centre, radius, one(p), 0, 1, scratch);
    }
}
