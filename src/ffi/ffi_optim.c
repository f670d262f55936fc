/* Optimisation for R: plain, and private. Private runs are quiet: what fails for a record is that record's gradient 0. */
#include "ffi.h"
#include "optim.h"
#include "solver.h"
#include "tangent_noise.h"

#include <float.h>
#include <string.h>

struct problem_args {
    SEXP data, fun, start;
    double threshold, n;
    int kind;
};

/* what a user's own gradient is called with */
struct callback {
    struct call *c;
    SEXP fun;
    size_t ambient;
};

/* fun(p, which) of R/problem.R catches what callbacks do and gives (ambient + 1) x count numbers: gradients above losses */
static void call_user(void *context, double *grads, double *losses, const double *p, const size_t *which, size_t count)
{
    const struct callback *u = context;
    SEXP point = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)u->ambient));
    SEXP index = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count));
    memcpy(REAL(point), p, u->ambient * sizeof *p);
    for (size_t i = 0; i < count; i++)
        REAL(index)[i] = (double)which[i] + 1;
    SEXP expr = PROTECT(Rf_lang3(u->fun, point, index));
    SEXP out = PROTECT(ffi_eval(u->c, expr, R_GlobalEnv));
    int ok = TYPEOF(out) == REALSXP && (size_t)XLENGTH(out) == (u->ambient + 1) * count;
    for (size_t i = 0; i < count; i++) {
        const double *column = ok ? REAL(out) + i * (u->ambient + 1) : NULL;
        for (size_t j = 0; j < u->ambient; j++)
            grads[i * u->ambient + j] = ok ? column[j] : NAN;
        if (losses)
            losses[i] = ok ? column[u->ambient] : NAN;
    }
    UNPROTECT(4);
}

static const struct problem_ops *const kinds[] = {NULL, &problem_frechet, &problem_huber, &problem_pca, NULL};

/* records elsewhere: a list says what is wanted */
struct asked {
    struct call *c;
    struct tally tally;
};

static int ask_sum(void *context, double *out, const struct problem_step *s, const size_t *which, size_t count)
{
    const struct asked *a = context;
    size_t n = a->c->m.ambient;
    static const char *const names[] = {"p", "snapshot", "clip", "apart", "which"};
    enum { FIELDS = sizeof names / sizeof *names };
    SEXP request = PROTECT(Rf_allocVector(VECSXP, FIELDS)), labels = PROTECT(Rf_allocVector(STRSXP, FIELDS));
    for (int i = 0; i < FIELDS; i++)
        SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
    Rf_setAttrib(request, R_NamesSymbol, labels);
    SET_VECTOR_ELT(request, 0, ffi_vector(s->p, n));
    if (s->snapshot)
        SET_VECTOR_ELT(request, 1, ffi_vector(s->snapshot, n));
    SET_VECTOR_ELT(request, 2, Rf_ScalarReal(s->clip));
    SET_VECTOR_ELT(request, 3, Rf_ScalarLogical(s->apart));
    if (which) { /* else all records */
        SEXP index = Rf_allocVector(REALSXP, (R_xlen_t)count);
        SET_VECTOR_ELT(request, 4, index);
        for (size_t i = 0; i < count; i++)
            REAL(index)[i] = (double)which[i] + 1;
    }
    int status = ffi_tally_ask(a->c, &a->tally, "gradients", request, out, n);
    UNPROTECT(2);
    return status;
}

static void read_callback(struct call *c, struct problem *q, const struct problem_args *in)
{
    enum { MOST = 1 << 16 };
    if (!Rf_isFunction(in->fun))
        ffi_abort_text("argument", "`gradient` must be a function.");
    struct callback *u = (struct callback *)R_alloc(1, sizeof *u);
    *u = (struct callback){c, in->fun, c->m.ambient};
    q->call = call_user;
    q->context = u;
    q->n = (size_t)in->n;
    q->block = MOST / c->m.ambient + 1 < q->n ? MOST / c->m.ambient + 1 : q->n;
}

/* rows of a matrix */
static void read_rows(struct call *c, struct problem *q, SEXP data)
{
    manifold_t m = &c->m;
    SEXP dim = Rf_getAttrib(data, R_DimSymbol);
    size_t length = m->cols ? m->rows : m->ambient;
    if (!(m->flags & MANIFOLD_ORTHONORMAL))
        ffi_abort(c, STATUS_UNSUPPORTED, "M", -1);
    if (TYPEOF(data) != REALSXP || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || (size_t)INTEGER(dim)[1] != length ||
        INTEGER(dim)[0] < 1)
        ffi_abort_text("shape", "`data` must be a numeric matrix whose rows are records, with a column for each "
                                "coordinate of the manifold's surrounding space.");
    size_t n = (size_t)INTEGER(dim)[0];
    double *x = ffi_doubles(n * length);
    for (size_t j = 0; j < length; j++)
        for (size_t i = 0; i < n; i++)
            x[i * length + j] = REAL(data)[i + j * n];
    q->x = x;
    q->n = n;
    q->length = length;
}

static void read_points(struct call *c, struct problem *q, SEXP data, double *work)
{
    manifold_t m = &c->m;
    struct arg x = ffi_arg(c, data, "data", KIND_POINT);
    size_t n = x.n, block = ffi_block(c), len = m->ambient;
    if (n == 0)
        ffi_abort_text("shape", "`data` must hold at least one record.");
    double *to = ffi_doubles(n * len);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &x, begin, end, 1, work);
        int good = m->ops->check_point(m, y, 0, end - begin, work) == STATUS_OK;
        for (size_t i = 0; i < end - begin; i++) {
            double *o = to + (begin + i) * len;
            memcpy(o, at(y, i), len * sizeof *o);
            if (!good && m->ops->check_point(m, one(o), 0, 1, work) != STATUS_OK)
                o[0] = NAN;
        }
        host_tick(m->host, 0, 0);
    }
    q->x = to;
    q->n = n;
    q->length = len;
}

/* all records packed; what is no record of this problem holds a NaN */
static void read_problem(struct call *c, struct problem *q, const struct problem_args *in, double *work)
{
    enum { BLOCK = 32 };
    manifold_t m = &c->m;
    struct tally tally;
    if (ffi_tally(in->data, &tally)) {
        struct asked *a = (struct asked *)R_alloc(1, sizeof *a);
        *a = (struct asked){c, tally};
        *q = (struct problem){.m = m, .n = tally.n, .block = 1, .sum = ask_sum, .context = a};
        return;
    }
    *q = (struct problem){.m = m, .threshold = in->threshold, .ops = kinds[in->kind], .block = BLOCK};
    if (in->kind == PROBLEM_CALLBACK)
        read_callback(c, q, in);
    else if (in->kind == PROBLEM_PCA)
        read_rows(c, q, in->data);
    else
        read_points(c, q, in->data, work);
}

static void read_point(struct call *c, double *p, SEXP value, const char *label, double *work)
{
    struct arg a = ffi_arg(c, value, label, KIND_POINT);
    if (a.n != 1)
        ffi_abort_text("shape", "`start` and `center` must be one point each.");
    struct points x = ffi_block_points(c, &a, 0, 1, 0, work);
    ffi_check_block(c, &a, x, NULL, x, 0, 1, work);
    memcpy(p, x.x, c->m.ambient * sizeof *p);
}

static struct problem_args read_problem_args(SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP start)
{
    static const char *const names[] = {[PROBLEM_FRECHET] = "frechet",
                                        [PROBLEM_HUBER] = "huber",
                                        [PROBLEM_PCA] = "pca",
                                        [PROBLEM_CALLBACK] = "callback"};
    struct problem_args a = {data, fun, start, ffi_number(threshold, "threshold"), ffi_number(n, "n"), 0};
    if (!(a.threshold > 0) || !(a.n >= 1 && a.n <= 1e9) || a.n != floor(a.n))
        ffi_abort_text("argument", "`threshold` must be positive and `n` a count from 1 to 1e9.");
    a.kind = ffi_choice(kind, "kind", names, PROBLEM_CALLBACK + 1);
    return a;
}

/* ---- plain -------------------------------------------------------------------------------------------------------- */

struct plain_objective {
    struct problem *q;
    size_t *which;
    double *work;
};

static int plain_eval(const struct objective *f, const double *p, double *grad, double *value)
{
    const struct plain_objective *o = f->data;
    const struct problem *q = o->q;
    if (q->sum) {
        const struct asked *a = q->context;
        size_t dim = q->m->ambient;
        int status = all_finite(dim, p) ? ffi_tally_call(a->c, &a->tally, "objective", p, dim, o->work, dim + 1)
                                        : STATUS_NOT_FINITE;
        for (size_t j = 0; j < dim && status == STATUS_OK; j++)
            grad[j] = o->work[j] / (double)q->n;
        *value = o->work[dim] / (double)q->n;
        return status;
    }
    size_t n = q->m->ambient, block = q->block;
    double *g = o->work, *losses = g + block * n, *rest = losses + block, sum = 0;
    for (size_t j = 0; j < n; j++)
        grad[j] = 0;
    for (size_t begin = 0; begin < q->n; begin += block) {
        size_t count = q->n - begin < block ? q->n - begin : block;
        int status = problem_gradients(q, g, losses, p, o->which + begin, count, rest);
        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++) {
            sum += losses[i];
            for (size_t j = 0; j < n; j++)
                grad[j] += g[i * n + j];
        }
        host_tick(q->m->host, 0, 0);
    }
    for (size_t j = 0; j < n; j++)
        grad[j] /= (double)q->n;
    *value = sum / (double)q->n;
    return STATUS_OK;
}

/* numbers of all records; none where they are elsewhere */
static size_t *all_records(const struct problem *q)
{
    size_t *which = q->sum ? NULL : (size_t *)R_alloc(q->n, sizeof(size_t));
    for (size_t i = 0; i < q->n && which; i++)
        which[i] = i;
    return which;
}

static SEXP single_point(struct call *c, const double *p)
{
    struct arg like = {.label = "start", .kind = KIND_POINT, .layout = LAYOUT_RECORDS};
    return ffi_single(c, &like, p);
}

struct plain_args {
    struct problem_args problem;
    double tol, max_iter, memory;
    int conjugate;
};

static SEXP plain_body(struct call *c, void *data)
{
    const struct plain_args *in = data;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *p = ffi_doubles(m->ambient);
    struct problem q;
    read_problem(c, &q, &in->problem, work);
    read_point(c, p, in->problem.start, "start", work);
    struct plain_objective o = {&q, all_records(&q), ffi_doubles(q.block * (m->ambient + 1) + problem_work(&q))};
    struct objective f = {plain_eval, &o};
    struct solver s = {.tol = in->tol,
                       .max_iter = (int)in->max_iter,
                       .memory = (int)in->memory,
                       .conjugate = in->conjugate,
                       .adaptive = in->memory == 0 || in->conjugate,
                       .scale = 1};
    double *g = ffi_doubles(m->ambient), value;
    int status = plain_eval(&f, p, g, &value);
    if (status != STATUS_OK)
        ffi_abort(c, status, q.ops ? "data" : "gradient", -1);
    status = solver_run(m, &f, p, &s, ffi_doubles(solver_work(m, s.memory)));
    if (status != STATUS_OK)
        ffi_abort(c, STATUS_NO_CONVERGENCE, "minimum", -1);
    static const char *const names[] = {"value", "loss", "gradient_norm", "iterations", "evaluations", "converged"};
    SEXP list = ffi_named_list(c, 6, names);
    SET_VECTOR_ELT(list, 0, single_point(c, p));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(s.value));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(s.gradient_norm));
    SET_VECTOR_ELT(list, 3, Rf_ScalarInteger(s.iterations));
    SET_VECTOR_ELT(list, 4, Rf_ScalarInteger(s.evaluations));
    SET_VECTOR_ELT(list, 5, Rf_ScalarLogical(s.converged));
    return list;
}

SEXP riemdp_optimize(SEXP m, SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP start, SEXP tol,
                     SEXP max_iter, SEXP memory, SEXP conjugate)
{
    struct plain_args args = {read_problem_args(data, kind, threshold, fun, n, start), ffi_number(tol, "tol"),
                              ffi_number(max_iter, "max_iter"), ffi_number(memory, "memory"),
                              ffi_number(conjugate, "conjugate") != 0};
    if (!(args.tol > 0) || !(args.max_iter >= 0 && args.max_iter <= 1e9) ||
        !(args.memory >= args.conjugate && args.memory <= 100) || args.memory != floor(args.memory))
        ffi_abort_text("argument", "`tol` must be positive, `max_iter` a count to 1e9 and `memory` one to 100.");
    return ffi_run(plain_body, &args, m, 0);
}

/* ---- mean loss and gradient at a point, not private ---------------------------------------------------------------- */

static SEXP value_body(struct call *c, void *data)
{
    const struct problem_args *in = data;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *p = ffi_doubles(m->ambient), *g = ffi_doubles(m->ambient), value;
    struct problem q;
    read_problem(c, &q, in, work);
    read_point(c, p, in->start, "p", work);
    struct plain_objective o = {&q, all_records(&q), ffi_doubles(q.block * (m->ambient + 1) + problem_work(&q))};
    struct objective f = {plain_eval, &o};
    int status = plain_eval(&f, p, g, &value);
    if (status != STATUS_OK)
        ffi_abort(c, status, q.ops ? "data" : "gradient", -1);
    static const char *const names[] = {"loss", "gradient"};
    SEXP list = ffi_named_list(c, 2, names);
    SET_VECTOR_ELT(list, 0, Rf_ScalarReal(value));
    struct result r = ffi_result(c, KIND_TANGENT, NULL, 1, 0);
    memcpy(r.data, g, m->ambient * sizeof *g);
    SET_VECTOR_ELT(list, 1, r.x);
    return list;
}

SEXP riemdp_objective_nonprivate(SEXP m, SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP p)
{
    struct problem_args args = read_problem_args(data, kind, threshold, fun, n, p);
    return ffi_run(value_body, &args, m, 0);
}

/* ---- one chunk of records ------------------------------------------------------------------------------------------- */

struct chunk_args {
    struct problem_args problem;
    SEXP snapshot, which, share;
    double clip;
    int apart, losses;
};

static const double *stored_point(struct call *c, SEXP x)
{
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != c->m.ambient || !all_finite(c->m.ambient, REAL(x)))
        ffi_abort_text("argument", "`p` and `snapshot` must be the stored numbers of a point.");
    return REAL(x);
}

/* numbers of records from 1, and how many; NULL for NULL, which stands for all */
static const size_t *read_which(SEXP x, size_t n, size_t *count)
{
    if (x == R_NilValue)
        return NULL;
    if (TYPEOF(x) != REALSXP)
        ffi_abort_text("argument", "`which` must be numbers of records.");
    *count = (size_t)XLENGTH(x);
    size_t *which = (size_t *)R_alloc(*count + 1, sizeof *which);
    for (size_t i = 0; i < *count; i++) {
        double k = REAL(x)[i];
        if (!(k >= 1 && k <= (double)n) || k != floor(k))
            ffi_abort_text("argument", "`which` must be numbers of records.");
        which[i] = (size_t)k - 1;
    }
    return which;
}

static SEXP chunk_body(struct call *c, void *data)
{
    const struct chunk_args *in = data;
    manifold_t m = &c->m;
    size_t n = m->ambient, width = n + (in->losses ? 1 : 0);
    double *check = ffi_doubles(manifold_work(m));
    struct problem q;
    struct problem_step s = {stored_point(c, in->problem.start), NULL, in->clip, in->apart};
    if (in->snapshot != R_NilValue)
        s.snapshot = stored_point(c, in->snapshot);
    read_problem(c, &q, &in->problem, check);
    if (q.sum)
        ffi_abort_text("argument", "`data` must be the records of one chunk.");
    size_t *block = (size_t *)R_alloc(q.block, sizeof *block), count = q.n;
    const size_t *which = read_which(in->which, q.n, &count);
    const double *share = ffi_weights(in->share, count);
    struct optim o = {.m = m, .problem = &q};
    double *work = ffi_doubles(optim_gradient_work(&o)), *g = work, *h = g + q.block * n, *rest = h + q.block * n;
    double *losses = in->losses ? ffi_doubles(q.block) : NULL, *row = ffi_doubles(width);
    struct exact *sums = ffi_exact(width, 1);
    for (size_t begin = 0; begin < count; begin += q.block) {
        size_t some = count - begin < q.block ? count - begin : q.block;
        for (size_t i = 0; i < some; i++)
            block[i] = which ? which[begin + i] : begin + i;
        int status = optim_rows(&q, &s, g, h, losses, block, some, rest);
        if (in->losses && status != STATUS_OK) /* plain: may speak */
            return ffi_keep(c, Rf_ScalarInteger(status));
        for (size_t i = 0; i < some; i++) {
            for (size_t j = 0; j < n; j++)
                row[j] = (share ? share[begin + i] : 1) * g[i * n + j];
            if (losses)
                row[n] = losses[i];
            if (all_finite(width, row))
                exact_add(sums, row);
        }
        host_tick(m->host, 0, 0);
    }
    exact_carry(sums);
    return ffi_exact_list(c, sums);
}

/* Exact sums over a chunk's records `which` (NULL: all) of what a step adds up, times `share` (NULL: 1). step: list(clip (Inf: none),
 * apart: whether a snapshot's gradients are clipped apart, losses: whether they are wanted (then a record without a gradient ends it)) */
SEXP riemdp_chunk_gradients(SEXP m, SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP p, SEXP snapshot,
                            SEXP step, SEXP which, SEXP share)
{
    struct chunk_args args = {read_problem_args(data, kind, threshold, fun, n, p), snapshot, which, share,
                              ffi_range(ffi_field(step, "clip"), "clip", OPTIM_CLIP_LEAST, INFINITY),
                              ffi_flag(ffi_field(step, "apart"), "apart"), ffi_flag(ffi_field(step, "losses"), "losses")};
    return ffi_run(chunk_body, &args, m, !args.losses);
}

/* ---- private ------------------------------------------------------------------------------------------------------ */

struct private_args {
    struct problem_args problem;
    SEXP centre, state, units;
    struct optim o; /* its settings, no records and no room */
    double restarts, until;
};

static size_t count_field(SEXP list, const char *name, double least, double most)
{
    return (size_t)ffi_count(ffi_field(list, name), name, least, most);
}

static double range_field(SEXP list, const char *name, double least)
{
    return ffi_range(ffi_field(list, name), name, least, DBL_MAX);
}

/* whole numbers from `least` to `most` */
static size_t *read_indices(SEXP x, double least, double most)
{
    R_xlen_t n = TYPEOF(x) == INTSXP ? XLENGTH(x) : 0;
    size_t *out = (size_t *)R_alloc((size_t)n + 1, sizeof *out);
    if (n == 0)
        ffi_abort_text("argument", "`units` must hold whole numbers.");
    for (R_xlen_t i = 0; i < n; i++) {
        int k = INTEGER(x)[i];
        if (k == NA_INTEGER || k < least || k > most)
            ffi_abort_text("argument", "`units` must hold numbers of records.");
        out[i] = (size_t)k;
    }
    return out;
}

/* units: NULL, or list(rows: numbers of records from 1, unit by unit, first: where each unit's begin, from 0, and where the last one's
 * end) */
static void read_units(struct problem *q, SEXP units)
{
    if (units == R_NilValue)
        return;
    SEXP rows = ffi_field(units, "rows"), first = ffi_field(units, "first");
    size_t *of = read_indices(rows, 1, (double)q->n), *begin = read_indices(first, 0, (double)XLENGTH(rows));
    size_t count = (size_t)XLENGTH(first) - 1;
    int ok = !q->sum && count >= 1 && begin[0] == 0 && begin[count] == (size_t)XLENGTH(rows);
    for (size_t u = 0; u < count && ok; u++)
        ok = begin[u] <= begin[u + 1];
    if (!ok)
        ffi_abort_text("argument", "`units` must divide the records in memory.");
    for (R_xlen_t i = 0; i < XLENGTH(rows); i++)
        of[i]--;
    q->rows = of;
    q->first = begin;
    q->some = (size_t *)R_alloc(q->block, sizeof *q->some);
    q->share = ffi_doubles(q->block);
    q->n = count;
}

/* settings: the steps of one run and their sampling, what is released, the noise, the public ball of the iterates (radius 0: none),
 * step sizes; how many runs, and how many steps in all are to be done at the end; units, where they aren't single records; at the price of
 * how many steps, where each record has a budget of its own */
static void read_settings(struct private_args *in, SEXP settings)
{
    static const char *const sampling[] = {[OPTIM_FULL] = "full",
                                           [OPTIM_WITHOUT] = "without-replacement",
                                           [OPTIM_POISSON] = "poisson",
                                           [OPTIM_DISJOINT] = "disjoint"};
    static const char *const output[] = {[OPTIM_LAST] = "last", [OPTIM_AVERAGE] = "average", [OPTIM_RANDOM] = "random"};
    SEXP lr = ffi_field(settings, "lr"), most = ffi_list_get(settings, "individual");
    in->units = ffi_list_get(settings, "units");
    in->o = (struct optim){.sampling = ffi_choice(ffi_field(settings, "sampling"), "sampling", sampling, 5),
                           .output = ffi_choice(ffi_field(settings, "output"), "output", output, 4),
                           .steps = count_field(settings, "steps", 1, 1e8),
                           .batch = count_field(settings, "batch", 1, 1e9),
                           .lots = count_field(settings, "lots", 0, 1e9),
                           .rate = ffi_range(ffi_field(settings, "rate"), "rate", DBL_MIN, 1),
                           .divisor = range_field(settings, "divisor", DBL_MIN),
                           .clip = range_field(settings, "clip", OPTIM_CLIP_LEAST),
                           .sd = range_field(settings, "sd", 0),
                           .most = most == R_NilValue ? 0 : ffi_count(most, "individual", 1, 1e12),
                           .inner = count_field(settings, "inner", 0, 1e8),
                           .snapshot_clip = range_field(settings, "snapshot_clip", OPTIM_CLIP_LEAST),
                           .snapshot_sd = range_field(settings, "snapshot_sd", 0),
                           .snapshot_divisor = range_field(settings, "snapshot_divisor", DBL_MIN),
                           .paper = ffi_flag(ffi_field(settings, "paper"), "paper"),
                           .radius = range_field(settings, "radius", in->centre == R_NilValue ? 0 : DBL_MIN)};
    in->restarts = (double)count_field(settings, "restarts", 1, 1e4);
    in->until = ffi_count(ffi_field(settings, "until"), "until", 0, 1e12);
    int ok = TYPEOF(lr) == REALSXP && (XLENGTH(lr) == 1 || (size_t)XLENGTH(lr) == in->o.steps);
    for (R_xlen_t i = 0; ok && i < XLENGTH(lr); i++)
        ok = REAL(lr)[i] > 0 && REAL(lr)[i] < INFINITY;
    if (!ok)
        ffi_abort_text("argument", "`lr` must be one number or one for each step, positive and finite.");
    in->o.lr = REAL(lr);
    in->o.lr_count = (size_t)XLENGTH(lr);
    if (in->o.inner > 0 && (in->o.steps % in->o.inner != 0 || in->o.sampling == OPTIM_DISJOINT))
        ffi_abort_text("argument", "`inner` must divide `steps`, and doesn't go with disjoint batches.");
    if ((double)in->o.lots * in->o.rate > 1 + 1e-9)
        ffi_abort_text("argument", "`lots` times `rate` must be 1 at most.");
}

static int is_step(double x, double most)
{
    return x >= 0 && x <= most && x == floor(x);
}

/* a state of earlier steps, which may come from a file that somebody changed */
static void read_state(struct call *c, const struct optim *o, double *state, SEXP given, double restarts, double *work)
{
    manifold_t m = &c->m;
    size_t n = m->ambient, size = optim_state_size(m);
    int ok = TYPEOF(given) == REALSXP && (size_t)XLENGTH(given) == size && all_finite(size, REAL(given));
    if (ok) {
        memcpy(state, REAL(given), size * sizeof *state);
        double steps = (double)o->steps;
        ok = is_step(state[OPTIM_STATE_RUN], restarts - 1) && is_step(state[OPTIM_STATE_STEP], steps - 1) &&
             is_step(state[OPTIM_STATE_PICK], steps) &&
             (!o->lots || fmod(state[OPTIM_STATE_STEP], (double)o->lots) == 0); /* lots are nowhere kept */
    }
    const double *p = state + OPTIM_STATE_HEAD;
    /* iterate, average and chosen one are points once a step is done; snapshot and gradient where there are any */
    size_t points = ok && state[OPTIM_STATE_STEP] == 0 ? 1 : o->inner ? 4 : 3;
    ok = ok && m->ops->check_point(m, (struct points){p, n}, 0, points, work) == STATUS_OK;
    ok = ok && (points < 4 || m->ops->check_tangent(m, one(p + 3 * n), one(p + 4 * n), 0, 1, work) == STATUS_OK);
    if (!ok)
        ffi_abort_text("argument", "the state of a checkpoint is damaged, or belongs to another run.");
}

/* room for numbers of a batch's records, and for the trace, which is returned */
static SEXP make_room(struct call *c, struct optim *o, double restarts)
{
    enum { ROOM = 1000 };
    /* all records elsewhere need no numbers */
    int none = o->problem->sum && o->sampling == OPTIM_FULL;
    o->which = none ? NULL : (size_t *)R_alloc(o->problem->n, sizeof(size_t));
    o->total = (double)o->steps * restarts;
    o->trace_every = (size_t)ceil(o->total / ROOM);
    o->trace_room = (size_t)restarts * (o->steps / o->trace_every + 1);
    SEXP trace = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)o->trace_room, 3));
    o->trace = REAL(trace);
    for (size_t j = 0; j < 3 * o->trace_room; j++)
        o->trace[j] = NA_REAL;
    return trace;
}

static SEXP private_body(struct call *c, struct rng *rng, void *data)
{
    const struct private_args *in = data;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *p = ffi_doubles(m->ambient), *centre = NULL;
    struct problem q;
    read_problem(c, &q, &in->problem, work);
    read_units(&q, in->units);
    read_point(c, p, in->problem.start, "start", work);
    if (in->centre != R_NilValue)
        read_point(c, centre = ffi_doubles(m->ambient), in->centre, "center", work);
    struct optim o = in->o;
    o.m = m;
    o.problem = &q;
    o.rng = rng;
    o.centre = centre;
    if (o.sampling != OPTIM_FULL && o.sampling != OPTIM_POISSON && o.batch > q.n)
        ffi_abort_text("argument", "`batch` must not exceed the number of records.");
    if (o.most > 0 && (in->state != R_NilValue || !optim_budgets(&o, ffi_doubles(q.n))))
        ffi_abort_text("argument", "`individual` is for all records, in memory, in every step of one piece.");
    SEXP state = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)optim_state_size(m)));
    if (in->state == R_NilValue)
        optim_begin(&o, REAL(state), p);
    else
        read_state(c, &o, REAL(state), in->state, in->restarts, work);
    SEXP trace = make_room(c, &o, in->restarts);
    if (optim_run(&o, REAL(state), fmin(in->until, o.total), ffi_doubles(optim_work(&o))) != STATUS_OK)
        ffi_abort_text("diverged",
                       "the iterate, which is public, has left the manifold or the range of doubles: `lr` is too "
                       "large. The whole budget is spent.");
    static const char *const names[] = {"value", "trace", "state"};
    SEXP list = ffi_named_list(c, 3, names);
    SET_VECTOR_ELT(list, 0, single_point(c, REAL(state) + OPTIM_STATE_HEAD));
    SET_VECTOR_ELT(list, 1, trace);
    SET_VECTOR_ELT(list, 2, state);
    return list;
}

SEXP riemdp_release_optimum(SEXP m, SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP start, SEXP centre,
                            SEXP settings, SEXP state, SEXP simulate)
{
    struct private_args args = {
        .problem = read_problem_args(data, kind, threshold, fun, n, start), .centre = centre, .state = state};
    read_settings(&args, settings);
    return ffi_with_rng(private_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}
