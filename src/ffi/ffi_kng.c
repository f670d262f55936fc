/* The K-norm gradient mechanism and the truncated Laplace law for R. What depends on records stays in this call; entries whose
 * name says nonprivate are for tests and tools. */
#include <string.h>

#include "chunk.h"
#include "ffi_steps.h"
#include "mechanism.h"

/* gradient: what the mean's and the rounding errors take off lower bounds of |grad U|. constant: all trials are made in full, and
 * all steps of the mean; else the first success ends them. narrow, wide: the range that public bins are made for. */
struct kng_args {
    SEXP x, centre, y;
    double radius, sigma, narrow, wide, gradient, trials, draws;
    struct steps_numbers number;
    int law, envelope, constant;
};

static double read_range(SEXP x, const char *label, double least, double most, int whole)
{
    double v = ffi_number(x, label);
    if (!(v >= least && v <= most) || (whole && v != floor(v)))
        ffi_abort_text("argument", "a radius, scale, tolerance, count or choice is out of its range.");
    return v;
}

/* bounds: the numbers of the mean by public steps, and `gradient` */
static void read_bounds(struct kng_args *in, SEXP bounds)
{
    ffi_steps_read(bounds, &in->number);
    in->gradient = ffi_range(ffi_field(bounds, "gradient"), "gradient", 0, 1);
    if (in->number.radius != in->radius || !in->number.carried || in->number.tangent)
        ffi_abort_text("argument", "`bounds` must be about the Frechet mean in the ball of this radius, carried.");
}

static void read_args(struct kng_args *in, SEXP radius, SEXP law, SEXP sigma)
{
    static const char *const names[] = {[KNG_GRADIENT] = "kng", [KNG_DISTANCE] = "laplace_truncated"};
    in->radius = read_range(radius, "radius", 1e-12, 1e6, 0);
    in->law = ffi_choice(law, "law", names, 3);
    double least = fmax(1e-12, 1e-12 * in->radius);
    R_xlen_t n = TYPEOF(sigma) == REALSXP ? XLENGTH(sigma) : 0;
    in->sigma = n >= 1 && n <= 3 ? REAL(sigma)[0] : NAN;
    in->narrow = n == 3 ? REAL(sigma)[1] : in->sigma;
    in->wide = n == 2 || n == 3 ? REAL(sigma)[n - 1] : in->sigma;
    if (!(in->sigma >= least && in->narrow >= least && in->wide >= in->narrow))
        ffi_abort_text("argument", "`sigma` must be a scale, not too small, or with a range.");
}

/* The sampler of one data set. From here on nothing may fail: what has no log at the centre counts as the centre. */
struct prepared {
    struct kng k, last; /* `last`: with public bins, for when no trial of k succeeds; made when it is needed */
    struct steps steps;
    const double *m0; /* the public centre as given; the sampler works with the ball carried to the reference point */
    double *scratch, *uniform;
    int carried, has_last;
};

/* ---- records elsewhere ---------------------------------------------------------------------------------------------- */

struct asked {
    struct call *c;
    struct tally tally;
    const struct kng *k;
    double *in, *out;
};

static int ask_look(const struct kng_elsewhere *e, const double *base, double *sums, double *far)
{
    const struct asked *a = e->data;
    size_t width = kng_width(a->k);
    int status = ffi_tally_call(a->c, &a->tally, "look", base, a->c->m.ambient, a->out, width + 1);
    *far = a->out[0];
    memcpy(sums, a->out + 1, width * sizeof *sums);
    return status == STATUS_OK && *far >= 0 && sums[1] <= (double)a->k->n ? STATUS_OK : STATUS_NO_CONVERGENCE;
}

static int ask_count(const struct kng_elsewhere *e, const double *base, double far, double *count, size_t cells)
{
    const struct asked *a = e->data;
    size_t n = a->c->m.ambient;
    memcpy(a->in, base, n * sizeof *base);
    a->in[n] = far;
    return ffi_tally_call(a->c, &a->tally, "cells", a->in, n + 1, count, cells);
}

static struct kng_elsewhere *elsewhere_of(struct call *c, const struct tally *t, const struct kng *k)
{
    struct kng_elsewhere *e = (struct kng_elsewhere *)R_alloc(1, sizeof *e);
    struct asked *a = (struct asked *)R_alloc(1, sizeof *a);
    size_t d = c->m.dim;
    *a = (struct asked){c, *t, k, ffi_doubles(c->m.ambient + 1), ffi_doubles(d <= 1000 ? d * (d + 1) + 3 : 3)};
    *e = (struct kng_elsewhere){ask_look, ask_count, a};
    return e;
}

static const double *stored_numbers(struct call *c, SEXP x)
{
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != c->m.ambient || !all_finite(c->m.ambient, REAL(x)))
        ffi_abort_text("argument", "`centre` and `base` must be the stored numbers of points.");
    return REAL(x);
}

struct chunk_args {
    SEXP x, centre, base;
    double radius, n, far;
};

/* what is added up over a chunk: `far` < 0: rows of sums and the largest distance, else counts of distances up to it */
struct chunk_sums {
    struct kng k;
    double far, *row, *count;
    size_t cells;
    struct exact *sums;
    double largest;
};

static int chunk_add(struct chunk_sums *s, const double *y, double *work)
{
    double size;
    int counts = s->far >= 0, status = kng_row(&s->k, y, counts ? NULL : s->row, &size, work);
    if (status != STATUS_OK)
        return status;
    if (counts) {
        s->count[kng_cell(size, s->far, s->cells)]++;
    } else {
        s->largest = fmax(s->largest, size);
        exact_add(s->sums, s->row);
    }
    return STATUS_OK;
}

static SEXP chunk_body(struct call *c, void *data)
{
    const struct chunk_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient, block = ffi_block(c);
    struct arg x = ffi_arg(c, in->x, "x", KIND_POINT);
    const double *centre = stored_numbers(c, in->centre), *base = stored_numbers(c, in->base);
    if (x.n == 0 || (double)x.n > in->n)
        ffi_abort_text("shape", "`x` must hold at least one record, and no more than `n`.");
    if (!kng_supported(m, in->radius))
        ffi_abort_text("unsupported", "this law isn't available on this manifold, or not at this radius.");
    double *work = ffi_doubles(manifold_work(m)), *y = ffi_doubles(block * dim), *origin = ffi_doubles(dim);
    struct ball_view view = {m, centre, origin, in->radius, manifold_reference(m, centre, origin)};
    struct chunk_sums s = {
        .k = {.m = m, .n = (size_t)in->n, .base = base, .radius = in->radius, .sigma = 1, .law = KNG_GRADIENT},
        .far = in->far};
    kng_view(&s.k, ffi_doubles(kng_work(m, 0)));
    size_t width = kng_width(&s.k);
    s.cells = kng_cells(&s.k);
    s.sums = ffi_exact(width, 1);
    s.row = ffi_doubles(width);
    SEXP count = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)s.cells));
    s.count = REAL(count);
    for (size_t j = 0; j < s.cells; j++)
        s.count[j] = 0;
    for (size_t begin = 0; begin < x.n; begin += block) {
        size_t end = begin + block < x.n ? begin + block : x.n;
        struct points given = ffi_block_points(c, &x, begin, end, 1, work);
        ball_view(&view, y, given, end - begin, work);
        for (size_t i = 0; i < end - begin; i++)
            if (chunk_add(&s, y + i * dim, work) != STATUS_OK)
                return ffi_keep(c, Rf_ScalarInteger(STATUS_NO_CONVERGENCE));
        host_tick(m->host, 0, 0);
    }
    if (in->far >= 0)
        return count;
    exact_carry(s.sums);
    SEXP list = ffi_exact_list(c, s.sums);
    Rf_setAttrib(list, Rf_install("far"), Rf_ScalarReal(s.largest));
    return list;
}

/* What the sampler's envelope has to know of a chunk's records, seen from `base` (of the carried ball): far < 0: exact sums, and the largest
 * distance as an attribute; else how many lie in each part of the distances up to `far`. n: records in all. */
SEXP riemdp_chunk_kng(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP n, SEXP base, SEXP far)
{
    struct chunk_args args = {x,
                              centre,
                              base,
                              read_range(radius, "radius", 1e-12, 1e6, 0),
                              read_range(n, "n", 1, 0x1p53, 1),
                              read_range(far, "far", -1, 1e300, 0)};
    return ffi_run(chunk_body, &args, m, 1);
}

/* ---- the sampler of one data set ---------------------------------------------------------------------------------------- */

static void prepare(struct call *c, const struct kng_args *in, struct arg *x, struct prepared *out)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(dim), *p = ffi_doubles(dim);
    struct ffi_sample s = ffi_sample(c, in->x, in->centre, work);
    *x = s.x;
    if (!kng_supported(m, in->radius))
        ffi_abort_text("unsupported", "this law isn't available on this manifold, or not at this radius.");
    if (s.elsewhere && in->constant)
        ffi_abort_text("unsupported", "a fixed number of trials isn't available for records in chunks.");
    out->m0 = s.centre;
    out->carried = manifold_reference(m, s.centre, o);
    out->scratch = work;
    out->uniform = ffi_doubles(dim);
    double *ball = NULL, *a = ffi_doubles(m->dim), *v = ffi_doubles(dim);
    if (!s.elsewhere && !in->constant)
        ball = ffi_records_in_ball(c, x, s.centre, in->radius, out->carried, o, work);
    out->steps = ffi_steps_make(c, &in->number, s.n);
    out->steps.fast = s.elsewhere || ball;
    out->steps.ball = ball;
    ffi_steps_mean(&out->steps, x, s.elsewhere ? &s.tally : NULL, s.centre, o, a, work);
    ffi_steps_point(&out->steps, o, a, p, v, work);
    out->k = (struct kng){.m = m,
                          .x = ball,
                          .centre = o,
                          .base = p,
                          .n = s.n,
                          .radius = in->radius,
                          .sigma = in->sigma,
                          .narrow = in->narrow,
                          .wide = in->wide,
                          .law = in->law,
                          .envelope = in->envelope,
                          .steps = &out->steps.mean,
                          .records = &out->steps.records,
                          .total = out->steps.sum,
                          .steps_room = out->steps.work,
                          .gradient = in->gradient,
                          .constant = in->constant};
    out->has_last = 0;
    if (s.elsewhere)
        out->k.elsewhere = elsewhere_of(c, &s.tally, &out->k);
    kng_make(&out->k, ffi_doubles(kng_work(m, ball ? s.n : 0)), work);
}

/* a point that doesn't depend on the records: what a capped sampler returns if no trial succeeds */
static void public_draw(struct prepared *s, struct rng *rng, double *y)
{
    manifold_t m = s->k.m;
    double r = s->k.radius * pow(rng_uniform(rng), 1 / (double)m->dim), *a = s->k.coords;
    rng_direction(rng, m->dim, a);
    for (size_t j = 0; j < m->dim; j++)
        a[j] *= r;
    if (manifold_from_coords(m, s->k.v, one(s->k.centre), one(a), 0, 1, s->scratch) != STATUS_OK ||
        m->ops->exp(m, y, one(s->k.centre), one(s->k.v), 0, 1, s->scratch) != STATUS_OK || !all_finite(m->ambient, y))
        for (size_t j = 0; j < m->ambient; j++)
            y[j] = s->k.centre[j];
}

/* A draw, carried back to where the records are. constant: all trials, each in full, the first success counts. Else trials that stop at
 * a success; where none succeeds as many more with the public bins, whose successes have a proven probability; and in either mode at
 * last a point that doesn't depend on the records, which the plan has paid for. */
static void draw(struct prepared *s, const struct kng_args *in, struct rng *rng, double *y)
{
    manifold_t m = s->k.m;
    size_t dim = m->ambient;
    double *kept = s->uniform;
    if (in->constant) {
        int found = 0;
        public_draw(s, rng, kept);
        for (double t = 0; t < in->trials; t++) {
            int take = kng_trial(&s->k, rng, y, s->scratch) && !found;
            const double *from = take ? y : kept;
            found = found || take;
            for (size_t j = 0; j < dim; j++)
                kept[j] = from[j];
        }
    } else if (!kng_draw(&s->k, in->trials, rng, kept, s->scratch)) {
        if (!s->has_last) {
            s->last = s->k;
            s->last.constant = 1;
            s->last.x = NULL; /* its records aren't looked at */
            kng_make(&s->last, ffi_doubles(kng_work(m, 0)), s->scratch);
            s->has_last = 1;
        }
        if (!kng_draw(&s->last, in->trials, rng, kept, s->scratch))
            public_draw(s, rng, kept);
    }
    manifold_one_form(m, s->k.centre, kept, s->scratch);
    manifold_from_reference(m, s->carried, s->m0, kept, y, s->scratch);
}

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    struct prepared s;
    struct arg x;
    prepare(c, data, &x, &s);
    double *y = ffi_doubles(c->m.ambient);
    draw(&s, data, rng, y);
    return ffi_single(c, x.n ? &x : NULL, y);
}

/* sigma: the scale (Inf: the uniform law), and the range of scales that the bins of the last trials are made for */
SEXP riemdp_release_kng(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP law, SEXP sigma, SEXP bounds, SEXP trials,
                        SEXP constant, SEXP simulate)
{
    struct kng_args args = {.x = x, .centre = centre, .constant = ffi_number(constant, "constant") != 0};
    read_args(&args, radius, law, sigma);
    read_bounds(&args, bounds);
    args.trials = read_range(trials, "trials", 1, INFINITY, 0);
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

static SEXP named_list(struct call *c, const char *const *names, SEXP *values, int n)
{
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, n)), labels = ffi_keep(c, Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        SET_VECTOR_ELT(out, i, values[i]);
        SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
    }
    Rf_setAttrib(out, R_NamesSymbol, labels);
    return out;
}

static SEXP number(struct call *c, double v)
{
    return ffi_keep(c, Rf_ScalarReal(v));
}

/* Many draws for one data set, with counts of trials and of failed dominations, and what the envelope rests on. */
static SEXP draws_body(struct call *c, struct rng *rng, void *data)
{
    const struct kng_args *in = data;
    manifold_t m = &c->m;
    struct prepared s;
    struct arg x;
    prepare(c, in, &x, &s);
    size_t n = (size_t)in->draws, dim = m->ambient, block = ffi_block(c);
    double *mean = ffi_doubles(dim);
    struct result r = ffi_result(c, KIND_POINT, NULL, n, 1);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        double *out = ffi_result_block(&r, 0, begin);
        for (size_t i = 0; i < end - begin; i++) {
            draw(&s, in, rng, out + i * dim);
            host_tick(m->host, (double)(begin + i), (double)n);
        }
        ffi_result_done(&r, 0, begin, end);
    }
    for (size_t j = 0; j < dim; j++)
        mean[j] = s.k.base[j];
    if (s.carried)
        m->ops->from_origin(m, mean, s.m0, one(s.k.base), 0, 1, s.scratch);
    static const char *const names[] = {"draws",    "mean",     "trials", "clamped",
                                        "envelope", "gradient", "least",  "log_mass"};
    const struct kng_bins *b = s.k.kind == KNG_ANISOTROPIC ? &s.k.other : &s.k.bins;
    SEXP values[] = {r.x,
                     ffi_single(c, x.n ? &x : NULL, mean),
                     number(c, s.k.trials),
                     number(c, s.k.clamped),
                     number(c, s.k.kind),
                     number(c, s.k.gradient),
                     number(c, s.k.least),
                     number(c, b->log_total)};
    return named_list(c, names, values, 8);
}

/* trials: 0 stands for a billion at most, else that many in full */
SEXP riemdp_kng_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP law, SEXP sigma, SEXP bounds, SEXP trials,
                           SEXP draws, SEXP envelope, SEXP simulate)
{
    struct kng_args args = {.x = x, .centre = centre};
    read_args(&args, radius, law, sigma);
    read_bounds(&args, bounds);
    args.trials = read_range(trials, "trials", 0, 1e8, 1);
    args.constant = args.trials > 0;
    if (!args.constant)
        args.trials = 1e9;
    args.draws = read_range(draws, "draws", 0, 1e8, 1);
    args.envelope = (int)read_range(envelope, "envelope", 0, KNG_SLOPE, 1);
    return ffi_with_rng(draws_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* Trials, whether accepted or not, for so many: share that succeeds (a plan's simulation on public records) */
static SEXP trials_body(struct call *c, struct rng *rng, void *data)
{
    const struct kng_args *in = data;
    struct prepared s;
    struct arg x;
    prepare(c, in, &x, &s);
    double accepted = 0, *y = ffi_doubles(c->m.ambient);
    for (double t = 0; t < in->draws; t++) {
        accepted += kng_trial(&s.k, rng, y, s.scratch);
        host_tick(c->m.host, t, in->draws);
    }
    return number(c, accepted / in->draws);
}

SEXP riemdp_kng_acceptance_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP law, SEXP sigma, SEXP bounds,
                                      SEXP capped, SEXP draws, SEXP simulate)
{
    struct kng_args args = {.x = x, .centre = centre, .constant = (int)read_range(capped, "capped", 0, 1, 1)};
    read_args(&args, radius, law, sigma);
    read_bounds(&args, bounds);
    args.draws = read_range(draws, "draws", 1, 1e8, 1);
    return ffi_with_rng(trials_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* Largest excess of each lower bound over |grad U|, relative to the radius, at `draws` random points of the ball; a bound holds
 * where it is at most rounding. */
static SEXP domination_body(struct call *c, struct rng *rng, void *data)
{
    const struct kng_args *in = data;
    struct prepared s;
    struct arg x;
    prepare(c, in, &x, &s);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, 4));
    double *y = ffi_doubles(c->m.ambient), f[5], *worst = REAL(out);
    for (int j = 0; j < 4; j++)
        worst[j] = -INFINITY;
    worst[3] = 0;
    for (double t = 0; t < in->draws; t++) {
        public_draw(&s, rng, y);
        kng_bounds(&s.k, y, f, s.scratch);
        for (int j = 2; j < 5; j++)
            if (f[j] - f[0] > worst[j - 2] * in->radius)
                worst[j - 2] = (f[j] - f[0]) / in->radius;
        worst[3] += f[1] > 0 && (f[2] > f[0] + 1e-12 || f[3] > f[0] + 1e-12 || f[4] > f[0] + 1e-12);
        host_tick(c->m.host, t, in->draws);
    }
    return out;
}

SEXP riemdp_kng_domination_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP sigma, SEXP bounds, SEXP draws,
                                      SEXP simulate)
{
    struct kng_args args = {.x = x, .centre = centre, .law = KNG_GRADIENT, .envelope = KNG_ANISOTROPIC};
    args.radius = read_range(radius, "radius", 1e-12, 1e6, 0);
    args.sigma = args.narrow = args.wide = read_range(sigma, "sigma", fmax(1e-12, 1e-12 * args.radius), 1e12, 0);
    read_bounds(&args, bounds);
    args.draws = read_range(draws, "draws", 1, 1e8, 1);
    return ffi_with_rng(domination_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* public lower bound of the acceptance with a capped number of trials */
static SEXP least_body(struct call *c, void *data)
{
    const struct kng_args *in = data;
    manifold_t m = &c->m;
    if (!kng_supported(m, in->radius))
        ffi_abort_text("unsupported", "this law isn't available on this manifold, or not at this radius.");
    return number(c, kng_least_acceptance(m, in->radius, in->narrow, in->wide, in->gradient, in->law,
                                          ffi_doubles(kng_work(m, 0))));
}

/* sigma: one scale, or two, for whatever lies between them */
SEXP riemdp_kng_least_acceptance(SEXP m, SEXP radius, SEXP law, SEXP sigma, SEXP gradient)
{
    struct kng_args args = {.gradient = read_range(gradient, "gradient", 0, 1, 0)};
    read_args(&args, radius, law, sigma);
    return ffi_run(least_body, &args, m, 0);
}
