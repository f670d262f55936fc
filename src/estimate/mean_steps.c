#include "mean_steps.h"

#include "mean_steps_definite.h"
#include "mean_steps_lifts.h"
#include "mean_steps_product.h"
#include "simd.h"

#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#error "the bounds of rounding errors need IEEE arithmetic: compile without -ffast-math, on 32-bit x86 with -msse2 -mfpmath=sse"
#endif

enum { TRIES = 12 }; /* steps from a start that isn't the mean yet */

enum manifold_model steps_model(manifold_t m)
{
    if (m->flags & MANIFOLD_CALLS_R)
        return MODEL_NONE;
    return m->k_min == 0 && m->k_max == 0 ? MODEL_FLAT : m->model;
}

size_t steps_point_size(const struct mean_steps *c)
{
    switch (c->model) {
    case MODEL_SPHERE:
    case MODEL_HYPERBOLIC:
    case MODEL_PLANAR:
        return c->dim + 2;
    case MODEL_SPD:
    case MODEL_HERMITIAN:
    case MODEL_BURES:
        return c->rows * c->rows;
    case MODEL_SUBSPACES:
        return c->rows * c->cols;
    case MODEL_PRODUCT:
        return product_size(c);
    default:
        return c->dim;
    }
}

static int frames(const struct mean_steps *c)
{
    return c->model == MODEL_FRAMES || c->model == MODEL_FRAMES_EUCLIDEAN;
}

static size_t isometry_size(const struct mean_steps *c)
{
    if (frames(c))
        return c->dim + 3 * c->cols * c->cols;
    if (c->model == MODEL_PRODUCT)
        return c->dim;
    return 2 * (c->dim + 5) + 2 * steps_point_size(c) + 2 * c->cols * c->cols;
}

size_t steps_work(const struct mean_steps *c)
{
    /* isometry, two points, a vector and those of a group, and scratch of the matrix functions */
    size_t scratch = c->model == MODEL_PRODUCT ? product_room(c) + STEPS_GROUP * c->dim
                     : frames(c)               ? 15 * c->cols * c->cols + 3 * c->rows * c->cols
                     : definite(c)             ? definite_room(c)
                                               : 6 * c->rows * c->rows;
    return isometry_size(c) + 2 * steps_point_size(c) + (STEPS_GROUP + 1) * c->span + scratch;
}

double steps_edge(const struct mean_steps *c)
{
    return c->radius * (1 - 4 * RIEMDP_EPS * ((double)c->dim + 8));
}

void steps_clip(const struct mean_steps *c, double *a)
{
    double most = steps_edge(c), s = norm2(c->dim, a);
    double scale = s > most ? most / s : 1;
    for (size_t j = 0; j < c->dim; j++) /* towards zero: lengths don't grow */
        a[j] = s < INFINITY ? ldexp(trunc(ldexp(a[j] * scale, c->bits)), -c->bits) : 0;
}

/* ---- constant curvature: the triangle of the centre, the target and the point, two of whose sides and whose angle are known from
 * coordinates to their last digits. Carrying points by matrices would lose a factor exp(5 radius) on hyperbolic space, and small
 * triangles on a sphere. ---------------------------------------------------------------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__)
#define UNFUSED __attribute__((optimize("fp-contract=off")))
#else
#define UNFUSED
#endif

/* a + b and a b with their rounding errors (Knuth; Dekker 1971, doi:10.1007/BF01397083) */
UNFUSED static double sum_of(double a, double b, double *error)
{
    double s = a + b, t = s - a;
    *error = (a - (s - t)) + (b - t);
    return s;
}

UNFUSED static double product_of(double a, double b, double *error)
{
    double x = a * b;
#ifdef FP_FAST_FMA
    *error = fma(a, b, -x);
#else
    double s = 134217729 * a, t = 134217729 * b, ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
    *error = ((ah * bh - x) + ah * bl + al * bh) + al * bl;
#endif
    return x;
}

/* x'y as if in twice the precision, as two doubles (Ogita, Rump and Oishi 2005, doi:10.1137/030601818) */
UNFUSED static double dot_of(size_t n, const double *x, const double *y, double *rest)
{
    double s = 0, low = 0, error, slip;
    for (size_t j = 0; j < n; j++) {
        double p = product_of(x[j], y[j], &error);
        s = sum_of(s, p, &slip);
        low += error + slip;
    }
    return sum_of(s, low, rest);
}

/* A side s from the centre: s, sin s (sinh s), cos s (cosh s); its coordinates, and the square of their length as two doubles. Where
 * the side has no length, another one stands in, s is below zero and third_side() has its work as ever: records that are all at the
 * centre, or that cancel, would show by their time. */
static void make_side(const struct mean_steps *c, const double *a, double *side)
{
    int hyperbolic = c->model == MODEL_HYPERBOLIC;
    double s = norm2(c->dim, a);
    for (size_t j = 0; j < c->dim; j++)
        side[5 + j] = s > 0 ? a[j] : j == 0 ? 0.5 : 0;
    side[0] = s > 0 ? s : -0.5;
    s = fabs(side[0]);
    side[1] = hyperbolic ? sinh(s) : sin(s);
    side[2] = hyperbolic ? cosh(s) : cos(s);
    side[3] = dot_of(c->dim, side + 5, side + 5, side + 4);
}

/* <a, x>, and the part of x across the side a in twice the precision: where angles are as small as exp(-s) they keep their
 * digits */
UNFUSED static double part_across(size_t d, const double *side, const double *x, double *across)
{
    const double *a = side + 5;
    double rest, error, slip, inner = dot_of(d, a, x, &rest), q = inner / side[3], p = product_of(q, side[3], &error);
    double low = (((inner - p) - error) + rest - q * side[4]) / side[3];
    for (size_t j = 0; j < d; j++) {
        p = product_of(q, a[j], &error);
        double w = sum_of(x[j], -p, &slip);
        across[j] = w + ((slip - error) - low * a[j]);
    }
    return inner;
}

/* l/sin l of a side with sin^2(l/2) = half. What has no length takes as long: the choices are made by place in memory, which a compiler
 * doesn't turn into ways around the work. */
UNFUSED static double side_over_sine(int hyperbolic, double half)
{
    int some = half > 0;
    double given[2] = {0.25, half}, over[2] = {1, 1}, h = given[some], root = sqrt(h);
    if (hyperbolic)
        over[1] = asinh(root) / (root * sqrt(1 + h));
    else
        over[1] = asin(root < 1 ? root : 1) / (root * sqrt(h < 1 ? 1 - h : 0));
    return over[some];
}

/* Coordinates of y after the isometry that takes the side's end to the centre, or back: with sides s, t, the angle between them and
 * V = 1 - cos of it, the third side l has sin^2(l/2) = sin^2((t - s)/2) + sin s sin t V/2; along the side y is at sin(t - s) -
 * sin t cos s V, across it at sin t times the angle's sine, both times l/sin l. Hyperbolic space: sinh, cosh. `across`: dim doubles. */
UNFUSED static void third_side(const struct mean_steps *c, const double *side, int back, const double *y,
                               double *across, double *out)
{
    size_t d = c->dim;
    int hyperbolic = c->model == MODEL_HYPERBOLIC;
    const double *a = side + 5, *x = y + 2, *from[2] = {across, x};
    double s = fabs(side[0]), t = y[0], sine_t = y[1];
    double inner = part_across(d, side, x, across);
    double sine = t > 0 ? norm2(d, across) / t : 0, cosine = t > 0 ? inner / (s * t) : 1;
    if (back)
        cosine = -cosine;
    double versine = cosine >= 0 ? sine * sine / (1 + cosine) : 1 - cosine, z = t - s;
    double first = hyperbolic ? sinh(0.5 * z) : sin(0.5 * z), half = first * first + 0.5 * side[1] * sine_t * versine;
    double f = side_over_sine(hyperbolic, half), g = t > 0 ? f * sine_t / t : f;
    double along = f * ((hyperbolic ? sinh(z) : sin(z)) - sine_t * side[2] * versine) / s;
    if (back)
        along = -along;
    for (size_t j = 0; j < d; j++)
        across[j] = along * a[j] + g * across[j];
    for (size_t j = 0; j < d; j++)
        out[j] = from[side[0] < 0][j];
}

/* ---- the mean --------------------------------------------------------------------------------------------------------- */

static void embed_one(const struct mean_steps *c, const double *a, double *y, double *work)
{
    double s = norm2(c->dim, a);
    switch (c->model) {
    case MODEL_SPHERE:
    case MODEL_HYPERBOLIC: /* coordinates stay: see third_side() */
        y[0] = s;
        y[1] = c->model == MODEL_SPHERE ? sin(s) : sinh(s);
        for (size_t j = 0; j < c->dim; j++)
            y[j + 2] = a[j];
        return;
    case MODEL_PLANAR:
        y[0] = cos(s);
        y[1] = 0;
        for (size_t j = 0; j < c->dim; j++)
            y[j + 2] = sinc(s) * a[j];
        return;
    case MODEL_SUBSPACES:
        subspace_exp(c, a, y, work);
        return;
    case MODEL_BURES:
        bures_factor(c, a, y);
        return;
    default:
        for (size_t j = 0; j < c->dim; j++)
            y[j] = a[j];
    }
}

void steps_embed_all(const struct mean_steps *c, size_t n, const double *a, size_t a_apart, double *y, size_t y_apart, double *work)
{
    if (definite(c))
        definite_embed(c, n, a, a_apart, y, y_apart, work);
    else if (c->model == MODEL_PRODUCT)
        product_embed(c, n, a, a_apart, y, y_apart, work);
    else
        for (size_t i = 0; i < n; i++)
            embed_one(c, a + i * a_apart, y + i * y_apart, work);
}

void steps_embed(const struct mean_steps *c, const double *a, double *y, double *work)
{
    steps_embed_all(c, 1, a, 0, y, 0, work);
}

/* the isometry that carries exp(a) to the centre (with its inverse): for positive matrices exp(-A/2) and exp(A/2); Bures-Wasserstein, where
 * there is none: a factor of exp(a) */
static void make_isometry(const struct mean_steps *c, const double *a, double *isometry, double *work)
{
    if (definite(c)) {
        definite_isometry(c, a, isometry, work);
    } else if (c->model == MODEL_SUBSPACES) {
        make_subspace_turn(c, a, isometry, work);
    } else if (c->model == MODEL_BURES) {
        bures_factor(c, a, isometry);
    } else if (frames(c)) {
        frame_isometry(c, a, isometry, work);
    } else if (c->model == MODEL_PRODUCT) {
        product_stand(c, a, isometry, work);
    } else if (c->model == MODEL_PLANAR) {
        make_turn(c, a, isometry);
    } else {
        make_side(c, a, isometry);
    }
}

/* coordinates of a point that was carried to the centre, or from it; Bures-Wasserstein: its logarithm at exp(a), a matrix, or at the
 * centre */
static void carried_log(const struct mean_steps *c, const double *isometry, int back, const double *y, double *out,
                        double *a, double *work)
{
    if (definite(c)) {
        definite_logs(c, isometry, back, 1, y, 0, a, 0, work);
        return;
    }
    if (c->model == MODEL_SUBSPACES) {
        turn_subspace(c, isometry, back, y, out, work);
        subspace_log(c, out, a, work);
        return;
    }
    if (c->model == MODEL_BURES) {
        bures_log(c, back ? NULL : isometry, y, back ? out : a, work);
        if (back)
            bures_coords(c, out, a);
        return;
    }
    if (frames(c)) {
        frame_log(c, isometry, back, y, a, work);
        return;
    }
    if (c->model == MODEL_PLANAR) {
        turn_planar(c, isometry, back, y, out);
        log_turned(c, out, a);
        return;
    }
    third_side(c, isometry, back, y, out, a);
}

/* Adds a to the sums, in units of 2^-bits, towards zero, each number in two parts so that 2^31 of them have room; nothing in bounds
 * comes near `most`, which keeps sums from overflow. */
static void add_units(const struct mean_steps *c, const double *a, int64_t *sum)
{
    const int64_t unit = (int64_t)1 << 31;
    double most = 2.5 * c->radius;
    for (size_t j = 0; j < c->span; j++)
        if (fabs(a[j]) <= most) {
            int64_t x = (int64_t)ldexp(a[j], c->bits), low = x % unit;
            sum[j] += (x - low) / unit;
            sum[c->span + j] += low;
        }
}

struct room {
    double *isometry, *out, *from, *v, *logs, *rest;
};

static struct room make_room(const struct mean_steps *c, double *work)
{
    size_t size = steps_point_size(c);
    struct room r = {.isometry = work, .out = work + isometry_size(c)};
    r.from = r.out + size;
    r.v = r.from + size;
    r.logs = r.v + c->span;
    r.rest = r.logs + STEPS_GROUP * c->span;
    return r;
}

static void logs_there(const struct mean_steps *c, const struct room *r, size_t n, const double *y, size_t y_apart, double *v,
                       size_t v_apart)
{
    if (definite(c))
        definite_logs(c, r->isometry, 0, n, y, y_apart, v, v_apart, r->rest);
    else if (c->model == MODEL_PRODUCT)
        product_logs(c, r->isometry, n, y, y_apart, v, v_apart, r->rest);
    else
        for (size_t i = 0; i < n; i++)
            carried_log(c, r->isometry, 0, y + i * y_apart, r->out, v + i * v_apart, r->rest);
}

/* progress: `done` of `of` records before these; no count where `of` is 0, as then records decide how often this is called */
static void add_points(const struct mean_steps *c, size_t n, const double *y, int64_t *sum, struct host *host,
                       double done, double of, const struct room *r)
{
    size_t size = steps_point_size(c);
    for (size_t i = 0; i < n; i += STEPS_GROUP) {
        size_t count = n - i < STEPS_GROUP ? n - i : STEPS_GROUP;
        const double *v = y + i * size;
        if (c->model != MODEL_FLAT) {
            logs_there(c, r, count, v, size, r->logs, c->span);
            v = r->logs;
        }
        for (size_t l = 0; l < count; l++)
            add_units(c, v + l * c->span, sum);
        host_tick(host, of > 0 ? done + (double)i : 0, of);
    }
}

void steps_stand(const struct mean_steps *c, const double *a, double *work)
{
    struct room r = make_room(c, work);
    if (c->model != MODEL_FLAT)
        make_isometry(c, a, r.isometry, r.rest);
}

void steps_logs(const struct mean_steps *c, const double *a, size_t n, const double *y, size_t y_apart, double *v, size_t v_apart,
                double *work)
{
    struct room r = make_room(c, work);
    if (c->model != MODEL_FLAT) {
        logs_there(c, &r, n, y, y_apart, v, v_apart);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < c->span; j++)
            v[i * v_apart + j] = y[i * y_apart + j] - a[j];
}

void steps_log(const struct mean_steps *c, const double *a, const double *y, double *v, double *work)
{
    steps_logs(c, a, 1, y, 0, v, 0, work);
}

void steps_add(const struct mean_steps *c, size_t n, const double *y, const double *a, int64_t *sum, struct host *host,
               double *work)
{
    struct room r = make_room(c, work);
    steps_stand(c, a, work);
    add_points(c, n, y, sum, host, 0, 0, &r);
}

/* the mean logarithm at a, in coordinates there, to r->v; its isometry stays in r */
static void mean_log(const struct mean_steps *c, const struct steps_records *records, const double *a, int64_t *sum,
                     struct host *host, double step, double steps, const struct room *r)
{
    double n = (double)records->n;
    for (size_t j = 0; j < 2 * c->span; j++)
        sum[j] = 0;
    if (c->model != MODEL_FLAT)
        make_isometry(c, a, r->isometry, r->rest);
    if (records->y)
        add_points(c, records->n, records->y, sum, host, step * n, steps * n, r);
    else
        records->add(records, a, sum);
    for (size_t j = 0; j < c->span; j++) {
        r->v[j] = ldexp(ldexp((double)sum[j], 31) + (double)sum[c->span + j], -c->bits) / n;
        r->v[j] -= c->model == MODEL_FLAT ? a[j] : 0;
    }
}

double steps_gradient(const struct mean_steps *c, const struct steps_records *records, const double *a, double *g,
                      int64_t *sum, struct host *host, double *work)
{
    struct room r = make_room(c, work);
    mean_log(c, records, a, sum, host, 0, 0, &r);
    for (size_t j = 0; j < c->span; j++)
        g[j] = r.v[j];
    return norm2(c->span, g);
}

/* logarithms of a group of points, seen from where steps_stand() was */
static size_t group_logs(const struct mean_steps *c, const double *a, size_t i, size_t n, const double *y, double *v, struct host *host,
                         double *work)
{
    size_t size = steps_point_size(c), count = n - i < STEPS_GROUP ? n - i : STEPS_GROUP;
    steps_logs(c, a, count, y + i * size, size, v, c->span, work);
    host_tick(host, 0, 0);
    return count;
}

double steps_squares(const struct mean_steps *c, size_t n, const double *y, const double *a, double bits, double most, struct host *host,
                     double *work)
{
    struct room r = make_room(c, work);
    double sum = 0;
    steps_stand(c, a, work);
    for (size_t i = 0; i < n; i += STEPS_GROUP) {
        size_t count = group_logs(c, a, i, n, y, r.logs, host, work);
        for (size_t l = 0; l < count; l++)
            sum += fmin(most, ceil(ldexp(square(norm2(c->span, r.logs + l * c->span) / (2 * c->radius)), (int)bits)));
    }
    return sum;
}

static void add_products(const struct mean_steps *c, const double *v, double bits, double reach, double *sum)
{
    double length = norm2(c->span, v) / (2 * c->radius), scale = fmin(1, reach / length) / (2 * c->radius);
    for (size_t j = 0, at = 0; j < c->span; j++)
        for (size_t k = j; k < c->span; k++)
            sum[at++] += rint(ldexp(scale * v[j] * scale * v[k] * (j == k ? 1 : sqrt(2)), (int)bits));
}

void steps_products(const struct mean_steps *c, size_t n, const double *y, const double *a, double bits, double reach, double *sum,
                    struct host *host, double *work)
{
    struct room r = make_room(c, work);
    steps_stand(c, a, work);
    for (size_t i = 0; i < n; i += STEPS_GROUP) {
        size_t count = group_logs(c, a, i, n, y, r.logs, host, work);
        for (size_t l = 0; l < count; l++)
            add_products(c, r.logs + l * c->span, bits, reach, sum);
    }
}

double steps_far(const struct mean_steps *c, const struct steps_records *records, const double *a, struct host *host, double *work)
{
    double sum = records->y ? steps_squares(c, records->n, records->y, a, 20, 0x1p20, host, work) : records->squares(records, a);
    return 2 * c->radius * sqrt(ldexp(sum / (double)records->n, -20)) * (1 + 1e-12);
}

void steps_end(const struct mean_steps *c, double *v, double *a, double *work)
{
    struct room r = make_room(c, work);
    if (c->model == MODEL_PRODUCT) {
        product_end(c, r.isometry, v, a, r.rest);
        return;
    }
    if (c->model == MODEL_FLAT) {
        for (size_t j = 0; j < c->span; j++)
            a[j] += v[j];
        return;
    }
    if (c->model == MODEL_BURES)
        for (size_t j = 0; j < c->span; j++)
            r.from[j] = r.isometry[j] + v[j];
    else
        steps_embed(c, v, r.from, r.rest);
    carried_log(c, r.isometry, 1, r.from, r.out, a, r.rest);
}

/* a goes along the mean logarithm in r->v */
static void go(const struct mean_steps *c, double *a, const struct room *r, double *work)
{
    for (size_t j = 0; j < c->span; j++)
        r->v[j] *= c->step;
    steps_end(c, r->v, a, work);
    steps_clip(c, a);
}

/* A start keeps the digits that the test below sees: the others differ between ways to the same mean, as over chunks and in memory. Towards
 * zero, so that it stays in the ball. */
static void round_start(const struct mean_steps *c, double *a)
{
    double bits = ceil(log2(8 * sqrt((double)c->dim) / c->accept));
    steps_clip(c, a);
    for (size_t j = 0; j < c->dim && bits < c->bits; j++)
        a[j] = ldexp(trunc(ldexp(a[j], (int)bits)), -(int)bits);
}

void mean_steps_run(const struct mean_steps *c, const struct steps_records *records, const double *start, double *a,
                    int64_t *sum, struct host *host, double *work)
{
    size_t d = c->dim;
    struct room r = make_room(c, work);
    for (size_t j = 0; j < d; j++)
        a[j] = 0;
    if (c->model == MODEL_FLAT) {
        mean_log(c, records, a, sum, host, 0, 1, &r);
        for (size_t j = 0; j < d; j++)
            a[j] = r.v[j];
        return;
    }
    for (size_t j = 0; j < d && start; j++)
        a[j] = start[j];
    if (start)
        round_start(c, a);
    for (int t = 0; start && t < TRIES; t++) {
        mean_log(c, records, a, sum, host, 0, 0, &r);
        if (norm2(c->span, r.v) <= c->accept)
            return;
        go(c, a, &r, work);
    }
    for (size_t j = 0; j < d; j++)
        a[j] = 0;
    for (int t = 0; t < c->steps; t++) {
        mean_log(c, records, a, sum, host, start ? 0 : t, start ? 0 : c->steps, &r);
        go(c, a, &r, work);
    }
}
