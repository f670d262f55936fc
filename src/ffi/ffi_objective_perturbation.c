#include <float.h>
#include <string.h>

#include "ffi.h"
#include "objective_perturbation.h"

static int is_doubles(SEXP x, R_xlen_t least)
{
    return TYPEOF(x) == REALSXP && XLENGTH(x) >= least;
}

static double number_in(SEXP x, const char *label, double least, double most, const char *text)
{
    double value = ffi_number(x, label);
    if (!(value >= least && value <= most))
        ffi_abort_text("argument", text);
    return value;
}

SEXP riemdp_shared_loss(SEXP k, SEXP e1, SEXP q, SEXP t, SEXP averaged, SEXP step, SEXP knots)
{
    double budget = number_in(k, "k", 0, 1e6, "`k` must be between 0 and 1e6.");
    double share = number_in(e1, "e1", 0, 1e6, "`e1` must be between 0 and 1e6.");
    double responses = number_in(q, "q", 1, 1e6, "`q` must be between 1 and 1e6.");
    double leverage = number_in(t, "t", 1e-300, 1e300, "`t` must be positive and finite.");
    double width = number_in(step, "step", 1e-6, 1e3, "`step` must be between 1e-6 and 1000.");
    size_t n = (size_t)number_in(knots, "knots", 1, 1e6, "`knots` must be between 1 and 1e6.");
    SEXP g = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n + 1));
    int status = shared_loss(budget, share, responses, leverage, ffi_flag(averaged, "averaged"), width, n, REAL(g));
    UNPROTECT(1);
    return status == STATUS_OK ? g : R_NilValue;
}

/* x: p x n, or q x p x n, with an attribute where records have shares; y: q x n; ridge, centre, noise: q x p; loss: list(tau, step, g), and of a table of residuals themselves first and added; solver: list(eta, steps, reach). Or x is a tally
 * whose function `sums` gives those of perturbed_record(), of c(whether the triangle is wanted, coefficients, what they lack to sums of two
 * doubles). */
struct fit_args {
    SEXP x, y, ridge, centre, noise, loss, solver, draw;
};

struct elsewhere {
    struct call *c;
    struct tally tally;
    double *in, *out;
};

static void ask_sums(const struct perturbed *o, const double *b, double *gradient, double *hessian)
{
    const struct elsewhere *e = o->data;
    size_t m = o->p * o->q, count = m + (hessian ? m * (m + 1) / 2 : 0);
    e->in[0] = hessian != NULL;
    memcpy(e->in + 1, b, 2 * m * sizeof *b);
    if (ffi_tally_call(e->c, &e->tally, "sums", e->in, 2 * m + 1, e->out, count) != STATUS_OK)
        ffi_abort_text("chunk", "the sums over chunks are of the wrong shape.");
    memcpy(gradient, e->out, m * sizeof *gradient);
    const double *next = e->out + m;
    for (size_t k = 0; k < m && hessian; k++)
        for (size_t l = k; l < m; l++)
            hessian[k * m + l] = *next++;
}

/* an attribute of the features: what each record counts, with an attribute of its own, the number of units */
static void read_shares(struct perturbed *o, SEXP x)
{
    SEXP share = Rf_getAttrib(x, Rf_install("share"));
    o->total = (double)o->n;
    if (share == R_NilValue)
        return;
    if (!is_doubles(share, 1) || (size_t)XLENGTH(share) != o->n)
        ffi_abort_text("shape", "there must be a share for each record.");
    o->share = REAL(share);
    o->total = number_in(Rf_getAttrib(share, Rf_install("units")), "units", 1, 1e9, "`units` must be their number.");
    double sum = 0;
    for (size_t i = 0; i < o->n; i++) {
        sum += o->share[i];
        if (!(o->share[i] >= 0 && o->share[i] <= 1))
            ffi_abort_text("argument", "shares must be numbers from 0 to 1.");
    }
    if (!(sum <= o->total * (1 + 1e-9)))
        ffi_abort_text("argument", "shares must add up to the number of units at most.");
}

static void read_records(struct perturbed *o, SEXP x, SEXP y)
{
    SEXP of_y = Rf_getAttrib(y, R_DimSymbol);
    if (!is_doubles(x, 1) || !is_doubles(y, 1))
        ffi_abort_text("argument", "`x` and `y` must be numeric.");
    if (TYPEOF(of_y) != INTSXP || XLENGTH(of_y) != 2)
        ffi_abort_text("shape", "`y` must be a matrix with a row for each response.");
    o->n = (size_t)INTEGER(of_y)[1];
    o->x = REAL(x);
    o->y = REAL(y);
    R_xlen_t common = (R_xlen_t)(o->p * o->n);
    o->own = XLENGTH(x) != common;
    if (o->n < 1 || (size_t)INTEGER(of_y)[0] != o->q || (o->own && XLENGTH(x) != common * (R_xlen_t)o->q))
        ffi_abort_text("shape", "`x`, `y` and the coefficients must fit each other.");
    if (!all_finite((size_t)XLENGTH(x), o->x) || !all_finite((size_t)XLENGTH(y), o->y))
        ffi_abort_text("argument", "Numbers must be finite.");
    read_shares(o, x);
}

/* q x p */
static void read_shape(struct perturbed *o, SEXP x)
{
    SEXP dim = Rf_getAttrib(x, R_DimSymbol);
    if (!is_doubles(x, 1) || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2)
        ffi_abort_text("shape", "Coefficients and `ridge` must be matrices with a row for each response.");
    o->q = (size_t)INTEGER(dim)[0];
    o->p = (size_t)INTEGER(dim)[1];
    if (o->p * o->q > 1000)
        ffi_abort_text("argument", "There may be at most 1000 coefficients.");
}

/* a table of residuals themselves; `reach` of its solver bounds features times its slopes */
static void read_table(struct perturbed *o, SEXP loss)
{
    o->loss.table = 1;
    o->loss.first = number_in(ffi_list_get(loss, "first"), "first", -1e9, 1e9, "`first` must be between -1e9 and 1e9.");
    o->loss.added = ffi_flag(ffi_list_get(loss, "added"), "added");
    if (o->q != 1 || o->own)
        ffi_abort_text("argument", "A loss of residuals themselves is for one response and common features.");
    for (size_t i = 0; i < o->loss.knots; i++)
        if (!(o->loss.g[i + 1] >= o->loss.g[i] && fabs(o->loss.g[i]) < 1e100 && fabs(o->loss.g[i + 1]) < 1e100))
            ffi_abort_text("argument", "The loss's `g` must not fall.");
}

static void read_loss(struct perturbed *o, SEXP loss)
{
    if (TYPEOF(loss) != VECSXP)
        ffi_abort_text("argument", "`loss` must be a list.");
    SEXP g = ffi_list_get(loss, "g");
    if (!is_doubles(g, 2) || !all_finite((size_t)XLENGTH(g), REAL(g)))
        ffi_abort_text("argument", "The loss's `g` must be finite numbers.");
    o->loss.tau = number_in(ffi_list_get(loss, "tau"), "tau", 1e-100, 1e100, "`tau` must be positive.");
    o->loss.step = number_in(ffi_list_get(loss, "step"), "step", 1e-6, 1e3, "`step` must be between 1e-6 and 1000.");
    o->loss.g = REAL(g);
    o->loss.knots = (size_t)XLENGTH(g) - 1;
    if (ffi_list_get(loss, "first") != R_NilValue) {
        read_table(o, loss);
        return;
    }
    for (size_t i = 0; i < o->loss.knots; i++)
        if (!(o->loss.g[0] == 0 && o->loss.g[i + 1] >= o->loss.g[i] &&
              o->loss.g[i + 1] - o->loss.g[i] <= o->loss.step * (1 + 1e-9)))
            ffi_abort_text("argument", "The loss's `g` must start at 0 and rise with slopes from 0 to 1.");
}

static void read_fit(struct call *c, struct perturbed *o, const struct fit_args *in, double *eta, size_t *newton)
{
    read_shape(o, in->ridge);
    size_t m = o->p * o->q;
    struct tally tally;
    if (ffi_tally(in->x, &tally)) {
        struct elsewhere *e = (struct elsewhere *)R_alloc(1, sizeof *e);
        *e = (struct elsewhere){c, tally, ffi_doubles(2 * m + 1), ffi_doubles(m + m * (m + 1) / 2)};
        o->n = tally.n;
        o->total = (double)o->n;
        o->sums = ask_sums;
        o->data = e;
    } else {
        read_records(o, in->x, in->y);
    }
    if (!is_doubles(in->centre, 1) || (size_t)XLENGTH(in->centre) != m)
        ffi_abort_text("shape", "`ridge` and `centre` must fit each other.");
    o->ridge = REAL(in->ridge);
    o->centre = REAL(in->centre);
    if (!all_finite(m, o->ridge) || !all_finite(m, o->centre))
        ffi_abort_text("argument", "Numbers must be finite.");
    for (size_t i = 0; i < m; i++)
        if (!(o->ridge[i] > 0))
            ffi_abort_text("argument", "`ridge` must be positive.");
    read_loss(o, in->loss);
    *eta = ffi_range(ffi_field(in->solver, "eta"), "eta", DBL_MIN, DBL_MAX);
    *newton = (size_t)ffi_range(ffi_field(in->solver, "steps"), "steps", 0, 1e4);
    o->reach = ffi_range(ffi_field(in->solver, "reach"), "reach", DBL_MIN, DBL_MAX);
}

static SEXP coefficients(struct call *c, const struct perturbed *o)
{
    return ffi_keep(c, Rf_allocMatrix(REALSXP, (int)o->q, (int)o->p));
}

/* the centre as the solver's coefficients */
static double *start_at_centre(const struct perturbed *o)
{
    size_t m = o->p * o->q;
    double *b = ffi_doubles(2 * m);
    memcpy(b, o->centre, m * sizeof *b);
    memset(b + m, 0, m * sizeof *b);
    return b;
}

/* The minimiser for a noise vector that is given: list(coefficients, gradient at them, TRUE where eta was reached, what the coefficients
 * lack to sums of two doubles) */
static SEXP fit_body(struct call *c, void *data)
{
    const struct fit_args *in = data;
    struct perturbed o = {.host = &c->host.base};
    double eta;
    size_t newton;
    read_fit(c, &o, in, &eta, &newton);
    size_t m = o.p * o.q;
    if (!is_doubles(in->noise, 1) || (size_t)XLENGTH(in->noise) != m || !all_finite(m, REAL(in->noise)))
        ffi_abort_text("shape", "`noise` must be finite, of the shape of `ridge`.");
    o.noise = REAL(in->noise);
    double *work = ffi_doubles(perturbed_work(&o)), *at = start_at_centre(&o);
    SEXP b = coefficients(c, &o), gradient = coefficients(c, &o), low = coefficients(c, &o);
    int status = perturbed_minimise(&o, eta, newton, at, work);
    perturbed_gradient(&o, at, REAL(gradient), NULL, work);
    memcpy(REAL(b), at, m * sizeof *at);
    memcpy(REAL(low), at + m, m * sizeof *at);
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, 4));
    SET_VECTOR_ELT(out, 0, b);
    SET_VECTOR_ELT(out, 1, gradient);
    SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(status == STATUS_OK));
    SET_VECTOR_ELT(out, 3, low);
    return out;
}

SEXP riemdp_perturbed_fit_nonprivate(SEXP x, SEXP y, SEXP ridge, SEXP centre, SEXP noise, SEXP loss, SEXP solver)
{
    struct fit_args args = {x, y, ridge, centre, noise, loss, solver, R_NilValue};
    return ffi_run(fit_body, &args, NULL, 1);
}

/* a law by its norm's name, or by the classes of the coefficient rows, and room for a draw */
struct noise_law {
    enum perturbation_norm norm;
    const double *group;
    double *room;
};

static struct noise_law read_law(SEXP x, double p)
{
    static const char *const names[] = {
        [NORM_VERTEX] = "vertex", [NORM_MAX] = "max", [NORM_LENGTH] = "length", [NORM_SQUARE] = "normal"};
    if (TYPEOF(x) != REALSXP)
        return (struct noise_law){(enum perturbation_norm)ffi_choice(x, "norm", names, NORM_SQUARE + 1), NULL, NULL};
    if ((double)XLENGTH(x) != p)
        ffi_abort_text("argument", "`norm` must name a class for each row of coefficients.");
    for (R_xlen_t k = 0; k < XLENGTH(x); k++)
        if (!(REAL(x)[k] >= 1 && REAL(x)[k] <= p && REAL(x)[k] == floor(REAL(x)[k])))
            ffi_abort_text("argument", "Classes of `norm` must be whole numbers from 1 to the number of rows.");
    return (struct noise_law){NORM_MAX, REAL(x), ffi_doubles((size_t)p)};
}

static void draw_law(struct call *c, const struct noise_law *law, size_t p, size_t q, double rate, struct rng *rng,
                     double *b, double *work)
{
    int status = law->group ? simplex_draw(p, q, law->group, rate, rng, b, law->room)
                            : perturbation_draw(law->norm, p, q, rate, rng, b, work);
    if (status != STATUS_OK)
        ffi_abort(c, STATUS_OUT_OF_RANGE, "rate", -1);
}

/* draw: list(norm, rate, cover: rate of the noise that pays for the solver's error, output: whether b is added to the minimiser
 * (output perturbation) instead of tilting the objective) */
static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    const struct fit_args *in = data;
    struct perturbed o = {.host = &c->host.base};
    double eta;
    size_t newton;
    read_fit(c, &o, in, &eta, &newton);
    size_t m = o.p * o.q;
    struct noise_law law = read_law(ffi_field(in->draw, "norm"), (double)o.p);
    double rate = ffi_range(ffi_field(in->draw, "rate"), "rate", 0, INFINITY);
    double cover = ffi_range(ffi_field(in->draw, "cover"), "cover", 0, INFINITY);
    double *noise = ffi_doubles(m), *extra = ffi_doubles(m), *work = ffi_doubles(perturbed_work(&o));
    SEXP b = coefficients(c, &o);
    draw_law(c, &law, o.p, o.q, rate, rng, noise, work);
    draw_law(c, &(struct noise_law){NORM_LENGTH, NULL, NULL}, o.p, o.q, cover, rng, extra, work);
    if (ffi_flag(ffi_field(in->draw, "output"), "output")) {
        for (size_t k = 0; k < m; k++) { /* in the ridge's metric */
            extra[k] += noise[k] / sqrt(o.ridge[k]);
            noise[k] = 0;
        }
    }
    o.noise = noise;
    double *at = start_at_centre(&o);
    perturbed_minimise(&o, eta, newton, at, work); /* it gets to eta: see there */
    for (size_t k = 0; k < m; k++)
        REAL(b)[k] = at[k] + (at[m + k] + extra[k]);
    return b;
}

SEXP riemdp_release_perturbed(SEXP x, SEXP y, SEXP ridge, SEXP centre, SEXP loss, SEXP solver, SEXP draw, SEXP simulate)
{
    struct fit_args args = {x, y, ridge, centre, R_NilValue, loss, solver, draw};
    return ffi_with_rng(release_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 1);
}

/* ---- records in chunks ---------------------------------------------------------------------------------------------- */

struct chunk_args {
    SEXP x, y, b, loss;
    int hessian;
};

static SEXP chunk_body(struct call *c, void *data)
{
    const struct chunk_args *in = data;
    struct perturbed o = {.host = &c->host.base};
    read_shape(&o, in->b);
    if (o.p % 2 != 0)
        ffi_abort_text("shape", "Coefficients must come in two parts.");
    o.p /= 2;
    read_records(&o, in->x, in->y);
    read_loss(&o, in->loss);
    size_t m = o.p * o.q, width = m + (in->hessian ? m * (m + 1) / 2 : 0);
    double *row = ffi_doubles(width), *work = ffi_doubles(2 * o.q);
    struct exact *sums = ffi_exact(width, 1);
    for (size_t i = 0; i < o.n; i++) {
        perturbed_record(&o, i, REAL(in->b), row, in->hessian ? row + m : NULL, work);
        if (all_finite(width, row))
            exact_add(sums, row);
        if (i % 4096 == 4095)
            host_tick(o.host, 0, 0);
    }
    exact_carry(sums);
    return ffi_exact_list(c, sums);
}

/* Exact sums over a chunk's records of what perturbed_record() gives; b: q x 2p, the coefficients and what they lack to sums of two
 * doubles */
SEXP riemdp_chunk_perturbed(SEXP x, SEXP y, SEXP b, SEXP loss, SEXP hessian)
{
    struct chunk_args args = {x, y, b, loss, ffi_number(hessian, "hessian") != 0};
    return ffi_run(chunk_body, &args, NULL, 1);
}

/* n draws, q x p x n, of the noise alone */
struct draw_args {
    double p, q, n, rate;
    SEXP norm;
};

static SEXP noise_body(struct call *c, struct rng *rng, void *data)
{
    const struct draw_args *in = data;
    size_t p = (size_t)in->p, q = (size_t)in->q;
    SEXP out = ffi_keep(c, Rf_alloc3DArray(REALSXP, (int)q, (int)p, (int)in->n));
    struct noise_law law = read_law(in->norm, in->p);
    double *work = ffi_doubles(q);
    for (size_t i = 0; i < (size_t)in->n; i++) {
        draw_law(c, &law, p, q, in->rate, rng, REAL(out) + i * p * q, work);
        host_tick(&c->host.base, (double)i, in->n);
    }
    return out;
}

SEXP riemdp_perturbation_noise(SEXP p, SEXP q, SEXP n, SEXP norm, SEXP rate, SEXP simulate)
{
    struct draw_args args = {number_in(p, "p", 1, 1000, "`p` must be between 1 and 1000."),
                             number_in(q, "q", 1, 1000, "`q` must be between 1 and 1000."),
                             number_in(n, "n", 0, 1e6, "`n` must be between 0 and 1e6."),
                             number_in(rate, "rate", 1e-300, 1e300, "`rate` must be positive."), norm};
    if (args.p * args.q * args.n > 1e8 || args.p != floor(args.p) || args.q != floor(args.q))
        ffi_abort_text("argument", "`p`, `q` and `n` must be whole, and at most 1e8 numbers drawn.");
    return ffi_with_rng(noise_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 0);
}

/* one draw for blocks of the given sizes */
struct block_args {
    SEXP sizes;
    double rate, total;
};

static SEXP block_body(struct call *c, struct rng *rng, void *data)
{
    const struct block_args *in = data;
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)in->total));
    if (block_draw((size_t)XLENGTH(in->sizes), REAL(in->sizes), in->rate, rng, REAL(out)) != STATUS_OK)
        ffi_abort(c, STATUS_OUT_OF_RANGE, "rate", -1);
    return out;
}

SEXP riemdp_block_noise(SEXP sizes, SEXP rate, SEXP simulate)
{
    if (!is_doubles(sizes, 1))
        ffi_abort_text("argument", "`sizes` must be numeric.");
    struct block_args args = {sizes, number_in(rate, "rate", 1e-300, 1e300, "`rate` must be positive."), 0};
    for (R_xlen_t k = 0; k < XLENGTH(sizes); k++) {
        double size = REAL(sizes)[k];
        if (!(size >= 1 && size <= 1e6) || size != floor(size))
            ffi_abort_text("argument", "`sizes` must be whole numbers from 1 to 1e6.");
        args.total += size;
    }
    if (args.total > 1e7)
        ffi_abort_text("argument", "`sizes` must add up to at most 1e7.");
    return ffi_with_rng(block_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 1);
}

/* Exponential mechanism over finitely many choices whose scores have sensitivity 1: the number (from 1) of the one drawn */
struct choice_args {
    SEXP score;
    double epsilon;
};

static SEXP choice_body(struct call *c, struct rng *rng, void *data)
{
    const struct choice_args *in = data;
    const double *score = REAL(in->score);
    R_xlen_t n = XLENGTH(in->score), pick = 0;
    double best = -INFINITY, total = 0;
    (void)c;
    for (R_xlen_t i = 0; i < n; i++)
        best = fmax(best, score[i]);
    for (R_xlen_t i = 0; i < n; i++)
        total += exp(in->epsilon * (score[i] - best) / 2);
    double u = rng_uniform(rng) * total;
    for (; pick < n - 1; pick++) {
        u -= exp(in->epsilon * (score[pick] - best) / 2);
        if (u < 0)
            break;
    }
    return Rf_ScalarReal((double)pick + 1);
}

SEXP riemdp_exponential_choice(SEXP score, SEXP epsilon, SEXP simulate)
{
    if (!is_doubles(score, 1) || !all_finite((size_t)XLENGTH(score), REAL(score)))
        ffi_abort_text("argument", "`score` must be finite numbers.");
    struct choice_args args = {score, number_in(epsilon, "epsilon", 0, 1e6, "`epsilon` must be from 0 to 1e6.")};
    return ffi_with_rng(choice_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 1);
}

/* what the law's envelope rests on: one ridge for all responses, Huber's loss */
static void check_for_kng(const struct perturbed *o)
{
    if (o->loss.table)
        ffi_abort_text("argument", "The loss must be Huber's.");
    for (size_t k = 0; k < o->p; k++)
        for (size_t j = 1; j < o->q; j++)
            if (o->ridge[k * o->q + j] != o->ridge[k * o->q])
                ffi_abort_text("argument", "`ridge` must be the same for all responses.");
    for (size_t k = 0; k <= o->loss.knots; k++)
        if (fabs(o->loss.g[k] - fmin(1, o->loss.step * (double)k)) > 1e-9)
            ffi_abort_text("argument", "The loss must be Huber's.");
}

/* coefficients, single doubles, shrunk towards the centre into the ball */
static void into_ball(const struct perturbed *o, double radius, double *at)
{
    size_t m = o->p * o->q;
    double length = 0;
    for (size_t k = 0; k < m; k++)
        length += o->ridge[k] * square(at[k] - o->centre[k]);
    double shrink = fmin(1, radius / fmax(sqrt(length), 1e-300));
    for (size_t k = 0; k < m; k++) {
        at[k] = o->centre[k] + shrink * (at[k] - o->centre[k]);
        at[m + k] = 0;
    }
}

static SEXP kng_body(struct call *c, struct rng *rng, void *data)
{
    const struct fit_args *in = data;
    struct perturbed o = {.host = &c->host.base};
    double eta;
    size_t newton;
    read_fit(c, &o, in, &eta, &newton);
    size_t m = o.p * o.q;
    if (o.sums || o.own || m > 3)
        ffi_abort_text("argument", "The gradient mechanism is for at most three coefficients of common features.");
    double rate = ffi_range(ffi_field(in->draw, "rate"), "rate", DBL_MIN, DBL_MAX);
    double radius = ffi_range(ffi_field(in->draw, "radius"), "radius", DBL_MIN, DBL_MAX);
    const double trials[] = {ffi_range(ffi_field(in->draw, "trials"), "trials", 0, INFINITY),
                             ffi_range(ffi_field(in->draw, "last"), "last", 0, INFINITY)};
    check_for_kng(&o);
    double *noise = ffi_doubles(m), *work = ffi_doubles(clipped_kng_work(&o)), *at = start_at_centre(&o);
    memset(noise, 0, m * sizeof *noise);
    o.noise = noise;
    SEXP b = coefficients(c, &o);
    perturbed_minimise(&o, eta, newton, at, work); /* where it gets to doesn't matter for the law */
    into_ball(&o, radius, at);
    /* ridge plus a positive matrix: factored unless the numbers overflow */
    if (clipped_kng(&o, rate, radius, trials, rng, at, work) != STATUS_OK)
        ffi_abort(c, STATUS_LINALG, "ridge", -1);
    memcpy(REAL(b), at, m * sizeof *at);
    return b;
}

/* draw: list(rate, radius, trials, last: how many at most, by the envelope of the records and by the public one) */
SEXP riemdp_release_clipped_kng(SEXP x, SEXP y, SEXP ridge, SEXP centre, SEXP loss, SEXP solver, SEXP draw,
                                SEXP simulate)
{
    struct fit_args args = {x, y, ridge, centre, R_NilValue, loss, solver, draw};
    return ffi_with_rng(kng_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 1);
}
