/* The papers' baselines for R. As in ffi_mechanism.c what depends on records stays in the call, except for chains that are asked
 * for by the study function, whose name says that they are not private. */
#include <string.h>

#include "baseline.h"
#include "ffi_steps.h"
#include "mean.h"

static double positive(SEXP x)
{
    double v = ffi_number(x, "sigma");
    if (!(v > 0 && v < INFINITY))
        ffi_abort_text("argument", "scales, steps and radii must be positive and finite.");
    return v;
}

static size_t count_of(SEXP x, double least, double most, const char *text)
{
    double v = ffi_number(x, "count");
    if (!(v >= least && v <= most) || v != floor(v))
        ffi_abort_text("argument", text);
    return (size_t)v;
}

/* the public ball and the solver's tolerance */
struct ball {
    SEXP x, centre;
    double radius, k_min, k_max, tol;
    int proven; /* the mean has a bound of its rounding errors, as its numbers say */
    struct steps_numbers number;
};

static struct ball read_ball(SEXP x, SEXP centre, SEXP radius, SEXP bounds, SEXP tol)
{
    if (TYPEOF(bounds) != REALSXP || XLENGTH(bounds) != 2 || isnan(REAL(bounds)[0]) || isnan(REAL(bounds)[1]))
        ffi_abort_text("argument", "`bounds` must be two numbers, the least and the largest curvature.");
    struct ball b = {.x = x,
                     .centre = centre,
                     .radius = positive(radius),
                     .k_min = REAL(bounds)[0],
                     .k_max = REAL(bounds)[1],
                     .tol = positive(tol)};
    if (!(b.tol >= 1e-14))
        ffi_abort_text("argument", "`tol` must be at least 1e-14: rounding allows no less.");
    return b;
}

/* Records in the ball, as given apart from that; no `ball` where they are elsewhere. Nothing here may fail for what a record holds. */
struct sample {
    struct ffi_sample from;
    struct points m0;
    double *ball, *work;
};

static struct sample ball_sample(struct call *c, const struct ball *in, int own_orientation)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient, block = ffi_block(c);
    struct sample s = {.work = ffi_doubles(manifold_work(m))};
    s.from = ffi_sample(c, in->x, in->centre, s.work);
    s.m0 = one(s.from.centre);
    if (s.from.elsewhere)
        return s;
    size_t n = s.from.n;
    s.ball = ffi_doubles(n * dim);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &s.from.x, begin, end, 1, s.work);
        manifold_to_ball(m, s.ball + begin * dim, s.m0.x, in->radius, y, 0, end - begin, s.work);
        for (size_t i = begin; i < end && own_orientation; i++)
            landmarks_rotate(m->rows, s.ball + i * dim, at(y, i - begin));
        host_tick(m->host, 0, 0);
    }
    return s;
}

/* Frechet mean in the ball, found at the reference point where there is one, as for the private mean */
static void ball_mean(struct call *c, const struct ball *in, struct sample *s, double *p)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    double *y = NULL, *o = ffi_doubles(dim), gradient;
    int carried = manifold_reference(m, s->m0.x, o);
    if (s->ball) {
        y = ffi_doubles(s->from.n * dim);
        memcpy(y, s->ball, s->from.n * dim * sizeof *y);
    }
    for (size_t i = 0; y && i < s->from.n && carried; i++) {
        double *yi = y + i * dim;
        if (m->ops->to_origin(m, yi, s->m0.x, one(yi), 0, 1, s->work) != STATUS_OK || !all_finite(dim, yi))
            m->ops->origin(m, yi);
        manifold_to_ball(m, yi, o, in->radius, one(yi), 0, 1, s->work);
        host_tick(m->host, 0, 0);
    }
    if (in->proven) {
        struct steps steps = ffi_steps_make(c, &in->number, s->from.n);
        double *a = ffi_doubles(m->dim);
        steps.fast = 1;
        steps.ball = y;
        ffi_steps_mean(&steps, &s->from.x, y ? NULL : &s->from.tally, s->m0.x, o, a, s->work);
        ffi_steps_point(&steps, o, a, p, ffi_doubles(dim), s->work);
    } else if (!y) {
        struct objective f = ffi_tally_energy(c, &s->from.tally);
        mean_in_ball_of(m, &f, o, in->radius, in->k_min, in->k_max, in->tol, p, &gradient,
                        ffi_doubles(mean_solver_work(m, 5)));
    } else {
        struct arg inside = {.label = "x",
                             .kind = KIND_TANGENT,
                             .layout = LAYOUT_RECORDS,
                             .data = y,
                             .n = s->from.n,
                             .length = dim,
                             .many = 1};
        struct source source = ffi_source(c, &inside, 1, s->work);
        mean_in_ball(m, &source, o, in->radius, in->k_min, in->k_max, in->tol, p, &gradient,
                     ffi_doubles(mean_work(m, &source, 5)));
    }
    if (carried && (m->ops->from_origin(m, p, s->m0.x, one(p), 0, 1, s->work) != STATUS_OK || !all_finite(dim, p)))
        memcpy(p, s->m0.x, dim * sizeof *p);
}

static void arithmetic_mean(manifold_t m, const double *y, size_t n, double *p)
{
    for (size_t j = 0; j < m->ambient; j++)
        p[j] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m->ambient; j++)
            p[j] += (y[i * m->ambient + j] - p[j]) / (double)(i + 1);
}

/* the same of records elsewhere: `name` sums them. The centre where that fails, which depends on who sums, not on records. */
static void mean_elsewhere(struct call *c, const struct sample *s, const char *name, double *p)
{
    size_t n = c->m.ambient;
    if (ffi_tally_call(c, &s->from.tally, name, s->m0.x, n, p, n) != STATUS_OK)
        memcpy(p, s->m0.x, n * sizeof *p);
    else
        for (size_t j = 0; j < n; j++)
            p[j] /= (double)s->from.n;
}

static enum ambient_norm read_norm(SEXP norm)
{
    static const char *const names[] = {
        [AMBIENT_ENTRIES] = "entries", [AMBIENT_FROBENIUS] = "frobenius", [AMBIENT_VECH] = "vech"};
    return (enum ambient_norm)ffi_choice(norm, "norm", names, 4);
}

static void check_norm(struct call *c, enum ambient_norm norm)
{
    size_t k = c->m.rows;
    if (norm != AMBIENT_ENTRIES && !(k > 0 && c->m.cols == k))
        ffi_abort_text("argument", "the norms 2 and 3 are for square matrices.");
}

struct euclidean_args {
    struct ball ball;
    enum ambient_norm norm;
    double sigma;
    int arithmetic, into_ball;
};

static SEXP euclidean_body(struct call *c, struct rng *rng, void *data)
{
    const struct euclidean_args *in = data;
    manifold_t m = &c->m;
    check_norm(c, in->norm);
    struct sample s = ball_sample(c, &in->ball, 0);
    double *p = ffi_doubles(m->ambient), *work = ffi_doubles(m->ambient + manifold_work(m));
    if (in->arithmetic && !s.ball)
        mean_elsewhere(c, &s, "points", p);
    else if (in->arithmetic)
        arithmetic_mean(m, s.ball, s.from.n, p);
    else
        ball_mean(c, &in->ball, &s, p);
    ambient_noise(m, in->norm, in->sigma, rng, p, ffi_doubles(m->ambient));
    ambient_finish(m, p, s.m0.x, in->into_ball ? in->ball.radius : 0, work);
    return ffi_single(c, s.ball ? &s.from.x : NULL, p);
}

SEXP riemdp_euclidean_mean(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP bounds, SEXP target, SEXP norm, SEXP sigma,
                           SEXP into_ball, SEXP tol, SEXP numbers, SEXP simulate)
{
    static const char *const targets[] = {"frechet", "arithmetic"};
    struct euclidean_args args = {read_ball(x, centre, radius, bounds, tol), read_norm(norm), positive(sigma),
                                  ffi_choice(target, "target", targets, 2), ffi_number(into_ball, "into_ball") != 0};
    args.ball.proven = numbers != R_NilValue;
    if (args.ball.proven)
        ffi_steps_read(numbers, &args.ball.number);
    return ffi_with_rng(euclidean_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* n draws of the same around a public point `at`; `project` 0 leaves them in the space around the manifold, as a matrix whose
 * columns are draws */
struct ambient_args {
    SEXP at, centre;
    size_t n;
    enum ambient_norm norm;
    double sigma, radius;
    int project;
};

static SEXP ambient_body(struct call *c, struct rng *rng, void *data)
{
    const struct ambient_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    check_norm(c, in->norm);
    struct arg from = ffi_arg(c, in->at, "at", KIND_POINT), centre = ffi_arg(c, in->centre, "center", KIND_POINT);
    if (from.n != 1 || centre.n != 1)
        ffi_abort_text("shape", "`at` and `center` must be one point.");
    double *check = ffi_doubles(manifold_work(m)), *work = ffi_doubles(dim + manifold_work(m));
    double *x = ffi_doubles(dim), *z = ffi_doubles(dim);
    struct points p = ffi_block_points(c, &from, 0, 1, 0, check), m0 = ffi_block_points(c, &centre, 0, 1, 0, check);
    ffi_check_block(c, &from, p, NULL, p, 0, 1, check);
    ffi_check_block(c, &centre, m0, NULL, m0, 0, 1, check);
    struct result r = {.x = R_NilValue};
    SEXP raw = R_NilValue;
    if (in->project)
        r = ffi_result(c, KIND_POINT, NULL, in->n, 1);
    else
        raw = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)dim, (int)in->n));
    for (size_t i = 0; i < in->n; i++) {
        memcpy(x, p.x, dim * sizeof *x);
        ambient_noise(m, in->norm, in->sigma, rng, x, z);
        if (in->project) {
            ambient_finish(m, x, m0.x, in->radius, work);
            memcpy(ffi_result_block(&r, 0, i), x, dim * sizeof *x);
            ffi_result_done(&r, 0, i, i + 1);
        } else {
            memcpy(REAL(raw) + i * dim, x, dim * sizeof *x);
        }
        host_tick(m->host, (double)i, (double)in->n);
    }
    return in->project ? r.x : raw;
}

SEXP riemdp_ambient_noise(SEXP m, SEXP at, SEXP centre, SEXP n, SEXP norm, SEXP sigma, SEXP radius, SEXP project,
                          SEXP simulate)
{
    double r = ffi_number(radius, "radius");
    if (!(r >= 0 && r < INFINITY))
        ffi_abort_text("argument", "`radius` must be 0 (anywhere) or positive and finite.");
    struct ambient_args args = {at,
                                centre,
                                count_of(n, 0, 1e7, "`n` must be a count from 0 to 1e7."),
                                read_norm(norm),
                                positive(sigma),
                                r,
                                ffi_number(project, "project") != 0};
    return ffi_with_rng(ambient_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* Laplace noise on each coordinate of landmarks. With `scale` of length 2k: public scales on the arithmetic mean. With length 0,
 * as published: on the Frechet mean, scale `factor` times the largest distance of a record in that coordinate. */
struct pointwise_args {
    struct ball ball;
    SEXP scale;
    double factor;
    int aligned;
};

static SEXP pointwise_body(struct call *c, struct rng *rng, void *data)
{
    const struct pointwise_args *in = data;
    manifold_t m = &c->m;
    size_t k = m->rows, n = m->ambient;
    if (m->model != MODEL_PLANAR)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    int own = XLENGTH(in->scale) == 0;
    if (!own && (size_t)XLENGTH(in->scale) != n)
        ffi_abort_text("argument", "`scale` must have one number for each coordinate of each landmark.");
    struct sample s = ball_sample(c, &in->ball, !in->aligned);
    double *p = ffi_doubles(n), *scale = ffi_doubles(n), *work = ffi_doubles(n + manifold_work(m));
    const double *template = s.m0.x;
    if (own && !s.ball)
        ffi_abort_text("unsupported", "scales read off the records aren't available for records in chunks.");
    if (own) {
        ball_mean(c, &in->ball, &s, p);
        landmarks_rotate(k, p, s.m0.x);
        template = p;
    }
    for (size_t i = 0; s.ball && i < s.from.n && in->aligned; i++)
        landmarks_rotate(k, s.ball + i * n, template);
    if (own) {
        landmarks_spread(k, p, (struct points){s.ball, n}, s.from.n, scale);
        for (size_t j = 0; j < n; j++)
            scale[j] *= in->factor;
    } else {
        if (s.ball)
            arithmetic_mean(m, s.ball, s.from.n, p);
        else
            mean_elsewhere(c, &s, in->aligned ? "aligned" : "as_given", p);
        memcpy(scale, REAL(in->scale), n * sizeof *scale);
    }
    landmarks_noise(k, scale, rng, p);
    ambient_finish(m, p, s.m0.x, 0, work);
    return ffi_single(c, s.ball ? &s.from.x : NULL, p);
}

SEXP riemdp_pointwise_mean(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP bounds, SEXP aligned, SEXP scale, SEXP factor,
                           SEXP tol, SEXP simulate)
{
    if (TYPEOF(scale) != REALSXP)
        ffi_abort_text("argument", "`scale` must be numeric.");
    for (R_xlen_t j = 0; j < XLENGTH(scale); j++)
        if (!(REAL(scale)[j] > 0 && REAL(scale)[j] < INFINITY))
            ffi_abort_text("argument", "`scale` must be positive and finite.");
    struct pointwise_args args = {read_ball(x, centre, radius, bounds, tol), scale, positive(factor),
                                  ffi_number(aligned, "aligned") != 0};
    return ffi_with_rng(pointwise_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* A Metropolis chain in the ball's records. start: NULL the centre, a logical value the mean, else a point. With keep = 0 only
 * the state after `burn_in` steps leaves the call; else list(states, log density, candidates, accepted). */
struct chain_args {
    struct ball ball;
    SEXP start;
    enum chain_target target;
    enum chain_proposal proposal;
    double sigma, step;
    size_t burn_in, keep, thin;
    int redraw, truncate;
};

/* the point given, or the mean, or the centre */
static void chain_state(struct call *c, const struct chain_args *in, const struct sample *s, const double *mean,
                        double *state)
{
    size_t size = c->m.ambient * sizeof *state;
    memcpy(state, TYPEOF(in->start) == LGLSXP ? mean : s->m0.x, size);
    if (TYPEOF(in->start) == LGLSXP || in->start == R_NilValue)
        return;
    struct arg start = ffi_arg(c, in->start, "start", KIND_POINT);
    if (start.n != 1)
        ffi_abort_text("shape", "`start` must be one point.");
    struct points p = ffi_block_points(c, &start, 0, 1, 0, s->work);
    ffi_check_block(c, &start, p, NULL, p, 0, 1, s->work);
    memcpy(state, p.x, size);
}

/* list(states, log density, candidates, accepted); progress from `done` to `total` */
static SEXP chain_states(struct call *c, const struct chain_args *in, struct chain *chain, double *state,
                         struct rng *rng, double done, double total, double *work)
{
    size_t dim = c->m.ambient;
    chain->accepted = chain->proposed = 0;
    struct result r = ffi_result(c, KIND_POINT, NULL, in->keep, 1);
    SEXP density = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)in->keep));
    for (size_t i = 0; i < in->keep; i++) {
        for (size_t t = 0; t < in->thin; t++) {
            chain_step(chain, state, rng, work);
            host_tick(c->m.host, done++, total);
        }
        memcpy(ffi_result_block(&r, 0, i), state, dim * sizeof *state);
        ffi_result_done(&r, 0, i, i + 1);
        REAL(density)[i] = chain->log_density;
    }
    SEXP list = ffi_keep(c, Rf_allocVector(VECSXP, 4));
    SET_VECTOR_ELT(list, 0, r.x);
    SET_VECTOR_ELT(list, 1, density);
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(chain->proposed));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal(chain->accepted));
    return list;
}

static SEXP chain_body(struct call *c, struct rng *rng, void *data)
{
    const struct chain_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    struct sample s = ball_sample(c, &in->ball, 0);
    struct objective elsewhere;
    if (!s.ball)
        elsewhere = ffi_tally_energy(c, &s.from.tally);
    double *state = ffi_doubles(dim), *mean = ffi_doubles(dim), *work = ffi_doubles(chain_work(m));
    struct chain chain = {.m = m,
                          .target = in->target,
                          .proposal = in->proposal,
                          .redraw = in->redraw,
                          .records = {s.ball, dim},
                          .n = s.from.n,
                          .elsewhere = s.ball ? NULL : &elsewhere,
                          .base = manifold_carries(m) ? s.m0.x : NULL,
                          .mean = mean,
                          .centre = s.m0.x,
                          .radius = in->truncate ? in->ball.radius : 0,
                          .sigma = in->sigma,
                          .step = in->step};
    if (in->target == CHAIN_LAPLACE || TYPEOF(in->start) == LGLSXP)
        ball_mean(c, &in->ball, &s, mean);
    chain_state(c, in, &s, mean, state);
    if (chain_start(&chain, state, work) != STATUS_OK)
        ffi_abort(c, STATUS_UNSUPPORTED, "proposal", -1);
    double total = (double)in->burn_in + (double)in->keep * (double)in->thin, done = 0;
    for (size_t i = 0; i < in->burn_in; i++) {
        chain_step(&chain, state, rng, work);
        host_tick(m->host, done++, total);
    }
    if (in->keep == 0)
        return ffi_single(c, s.ball ? &s.from.x : NULL, state);
    return chain_states(c, in, &chain, state, rng, done, total, work);
}

/* counts: list(burn_in, keep, thin), steps before the first state, states, steps a state */
SEXP riemdp_chain(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP bounds, SEXP start, SEXP target, SEXP proposal,
                  SEXP redraw, SEXP sigma, SEXP step, SEXP counts, SEXP truncate, SEXP tol, SEXP simulate)
{
    static const char *const targets[] = {[CHAIN_KNG] = "kng", [CHAIN_LAPLACE] = "laplace"};
    static const char *const proposals[] = {[CHAIN_ISOTROPIC] = "isotropic", [CHAIN_PUBLISHED] = "published"};
    struct chain_args args = {.ball = read_ball(x, centre, radius, bounds, tol),
                              .start = start,
                              .target = (enum chain_target)ffi_choice(target, "target", targets, 3),
                              .proposal = (enum chain_proposal)ffi_choice(proposal, "proposal", proposals, 3),
                              .sigma = positive(sigma),
                              .step = positive(step),
                              .burn_in = (size_t)ffi_count(ffi_field(counts, "burn_in"), "burn_in", 0, 1e8),
                              .keep = (size_t)ffi_count(ffi_field(counts, "keep"), "keep", 0, 1e8),
                              .thin = (size_t)ffi_count(ffi_field(counts, "thin"), "thin", 1, 1e8),
                              .redraw = ffi_number(redraw, "redraw") != 0,
                              .truncate = ffi_number(truncate, "truncate") != 0};
    return ffi_with_rng(chain_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}
