/* Records elsewhere: R functions that give their sums, and means made from these. */
#include <string.h>

#include "ffi.h"
#include "mean.h"

int ffi_tally(SEXP x, struct tally *out)
{
    if (TYPEOF(x) != VECSXP || !Rf_inherits(x, "riemdp_tally"))
        return 0;
    double n = ffi_number(ffi_list_get(x, "n"), "n");
    if (!(n >= 1 && n <= 0x1p53) || n != floor(n))
        ffi_abort_text("argument", "`n` must be a number of records.");
    *out = (struct tally){(size_t)n, x};
    return 1;
}

int ffi_tally_ask(struct call *c, const struct tally *t, const char *name, SEXP request, double *out, size_t length)
{
    SEXP fun = ffi_list_get(t->list, name);
    if (!Rf_isFunction(fun))
        ffi_abort_text("unsupported", "this isn't available for records in chunks.");
    SEXP expr = PROTECT(Rf_lang2(fun, request));
    SEXP value = PROTECT(ffi_eval(c, expr, R_GlobalEnv));
    int status = STATUS_NO_CONVERGENCE;
    if (TYPEOF(value) == INTSXP && XLENGTH(value) == 1 && INTEGER(value)[0] > STATUS_OK &&
        INTEGER(value)[0] < STATUS_COUNT)
        status = INTEGER(value)[0];
    if (TYPEOF(value) == REALSXP && (size_t)XLENGTH(value) == length && all_finite(length, REAL(value))) {
        status = STATUS_OK;
        memcpy(out, REAL(value), length * sizeof *out);
    }
    UNPROTECT(2);
    return status;
}

int ffi_tally_call(struct call *c, const struct tally *t, const char *name, const double *in, size_t count, double *out,
                   size_t length)
{
    SEXP x = PROTECT(ffi_vector(in, count));
    int status = ffi_tally_ask(c, t, name, x, out, length);
    UNPROTECT(1);
    return status;
}

struct tally_energy {
    struct call *c;
    struct tally tally;
    double total;
    int median;
    double *sums; /* ambient + 1 */
};

static int tally_eval(const struct objective *f, const double *p, double *grad, double *value)
{
    const struct tally_energy *e = f->data;
    size_t n = e->c->m.ambient;
    if (!all_finite(n, p))
        return STATUS_NOT_FINITE;
    int status = ffi_tally_call(e->c, &e->tally, "logs", p, n, e->sums, n + 1);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < n; j++)
        grad[j] = -e->sums[j] / e->total;
    *value = e->sums[n] / e->total * (e->median ? 1 : 0.5);
    return STATUS_OK;
}

static struct tally_energy *make_energy(struct call *c, const struct tally *t)
{
    struct tally_energy *e = (struct tally_energy *)R_alloc(1, sizeof *e);
    *e = (struct tally_energy){c, *t, (double)t->n, 0, ffi_doubles(c->m.ambient + 1)};
    return e;
}

struct objective ffi_tally_energy(struct call *c, const struct tally *t)
{
    return (struct objective){tally_eval, make_energy(c, t)};
}

/* the function `nearest` gives a record and its weight */
static int tally_nearest(const struct mean_records *r, const double *p, double *record, double *share, double *work)
{
    const struct tally_energy *e = r->energy.data;
    size_t n = e->c->m.ambient;
    if (ffi_tally_call(e->c, &e->tally, "nearest", p, n, work, n + 1) != STATUS_OK)
        return 0;
    memcpy(record, work, n * sizeof *record);
    *share = work[n] / e->total;
    return *share > 0;
}

static struct points looked_get(const struct source *source, size_t begin, size_t end)
{
    const struct points *x = source->data;
    (void)end;
    return (struct points){at(*x, begin), x->stride};
}

struct mean_args {
    SEXP tally, start, looked;
    double total, tol;
    int max_iter, memory, median;
};

static void check_points(manifold_t m, struct points looked, size_t count, double *work)
{
    for (size_t i = 0; i < count; i++)
        if (m->ops->check_point(m, looked, i, i + 1, work) != STATUS_OK)
            ffi_abort_text("argument", "`looked` must be points.");
}

/* the point that is given, that of the sums, or else `first` */
static double *read_start(struct call *c, const struct mean_args *in, const double *first, double *work)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    double *p = ffi_doubles(dim), *sums = ffi_doubles(2 * dim);
    if ((size_t)XLENGTH(in->start) == dim) {
        memcpy(p, REAL(in->start), dim * sizeof *p);
        if (m->ops->check_point(m, one(p), 0, 1, work) != STATUS_OK)
            ffi_abort_text("argument", "`start` must be a point.");
        return p;
    }
    memcpy(sums, REAL(in->start), 2 * dim * sizeof *sums);
    if (manifold_start_end(m, p, sums, in->total, work) != STATUS_OK)
        memcpy(p, first, dim * sizeof *p);
    return p;
}

static SEXP mean_body(struct call *c, void *data)
{
    const struct mean_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    struct tally tally;
    if (!ffi_tally(in->tally, &tally))
        ffi_abort_text("argument", "`tally` must be sums over records elsewhere.");
    if (TYPEOF(in->start) != REALSXP || ((size_t)XLENGTH(in->start) != dim && (size_t)XLENGTH(in->start) != 2 * dim) ||
        TYPEOF(in->looked) != REALSXP || XLENGTH(in->looked) < 1 || (size_t)XLENGTH(in->looked) % dim != 0)
        ffi_abort_text("argument", "`start` must be a point or two sums, `looked` the numbers of records.");
    double *work = ffi_doubles(mean_solver_work(m, in->memory) + manifold_work(m));
    struct points looked = {REAL(in->looked), dim};
    size_t count = (size_t)XLENGTH(in->looked) / dim;
    check_points(m, looked, count, work);
    double *p = read_start(c, in, looked.x, work);
    struct tally_energy *energy = make_energy(c, &tally);
    energy->total = in->total;
    energy->median = in->median;
    struct mean_fit fit = {.tol = in->tol, .max_iter = in->max_iter, .memory = in->memory, .median = in->median};
    struct source few = {.n = count, .block = 1, .lanes = 1, .get = looked_get, .data = &looked};
    struct mean_records r = {{tally_eval, energy}, tally_nearest, 1, &few};
    if (!in->median && in->memory > 0)
        r.scale = mean_first_step(m, &few, p, work);
    int status = mean_minimise(m, &r, p, &fit, work);
    if (status != STATUS_OK)
        ffi_abort(c, status == STATUS_CUT_LOCUS ? STATUS_CUT_LOCUS : STATUS_NO_CONVERGENCE,
                  in->median ? "median" : "mean", -1);
    static const char *const names[] = {"mean",      "gradient_norm", "gradient_floor", "iterations",
                                        "converged", "variance",      "stored",         "tolerance"};
    SEXP list = ffi_named_list(c, 8, names), raw = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)dim));
    memcpy(REAL(raw), p, dim * sizeof *p);
    SET_VECTOR_ELT(list, 0, ffi_single(c, NULL, p));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(fit.gradient_norm));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(fit.gradient_floor));
    SET_VECTOR_ELT(list, 3, Rf_ScalarInteger(fit.iterations));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(fit.converged));
    SET_VECTOR_ELT(list, 5, Rf_ScalarReal(fit.variance));
    SET_VECTOR_ELT(list, 6, raw);
    SET_VECTOR_ELT(list, 7, Rf_ScalarReal(fit.tolerance));
    return list;
}

/* The mean or median of records whose sums the functions of `tally` give. start: a stored point, or the sums of
 * riemdp_chunk_start(); looked: a few stored records, the first of them the start where there is no better one. */
SEXP riemdp_mean_of(SEXP m, SEXP tally, SEXP start, SEXP looked, SEXP total, SEXP tol, SEXP max_iter, SEXP memory,
                    SEXP median)
{
    double iterations = ffi_number(max_iter, "max_iter"), pairs = ffi_number(memory, "memory");
    struct mean_args args = {tally,
                             start,
                             looked,
                             ffi_number(total, "total"),
                             ffi_number(tol, "tol"),
                             0,
                             0,
                             ffi_number(median, "median") != 0};
    if (!(iterations >= 0 && iterations <= 1e9) || !(pairs >= 0 && pairs <= 100) ||
        !(args.total > 0 && args.total < INFINITY))
        ffi_abort_text("argument",
                       "`max_iter` must be a count from 0 to 1e9, `memory` one from 0 to 100, `total` positive.");
    args.max_iter = (int)iterations;
    args.memory = (int)pairs;
    return ffi_run(mean_body, &args, m, 0);
}
