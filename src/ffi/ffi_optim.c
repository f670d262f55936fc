/* Optimisation for R: plain, and private. Private runs are quiet: what fails for a record is that record's gradient 0. */
#include "ffi.h"
#include "optim.h"
#include "solver.h"
#include "tangent_noise.h"

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

/* records elsewhere: one vector says what is wanted, as R/chunk-optimize.R takes it apart */
struct asked {
    struct call *c;
    struct tally tally;
};

static int ask_sum(void *context, double *out, const struct problem_step *s, const size_t *which, size_t count)
{
    const struct asked *a = context;
    size_t n = a->c->m.ambient, head = 4, some = which ? count : 0;
    const void *top = vmaxget();
    double *in = ffi_doubles(head + 2 * n + some);
    in[0] = s->clip;
    in[1] = s->apart;
    in[2] = s->snapshot != NULL;
    in[3] = which == NULL;
    memcpy(in + head, s->p, n * sizeof *in);
    memcpy(in + head + n, s->snapshot ? s->snapshot : s->p, n * sizeof *in);
    for (size_t i = 0; i < some; i++)
        in[head + 2 * n + i] = (double)which[i] + 1;
    int status = ffi_tally_call(a->c, &a->tally, "gradients", in, head + 2 * n + some, out, n);
    vmaxset(top);
    return status;
}

/* all records packed; what is no record of this problem holds a NaN */
static void read_problem(struct call *c, struct problem *q, const struct problem_args *in, double *work)
{
    enum { BLOCK = 32, MOST = 1 << 16 };
    manifold_t m = &c->m;
    struct tally tally;
    memset(q, 0, sizeof *q);
    if (ffi_tally(in->data, &tally)) {
        struct asked *a = (struct asked *)R_alloc(1, sizeof *a);
        *a = (struct asked){c, tally};
        *q = (struct problem){.m = m, .n = tally.n, .block = 1, .sum = ask_sum, .context = a};
        return;
    }
    q->m = m;
    q->threshold = in->threshold;
    q->ops = kinds[in->kind];
    q->block = BLOCK;
    if (in->kind == PROBLEM_CALLBACK) {
        if (!Rf_isFunction(in->fun))
            ffi_abort_text("argument", "`gradient` must be a function.");
        struct callback *u = (struct callback *)R_alloc(1, sizeof *u);
        *u = (struct callback){c, in->fun, m->ambient};
        q->call = call_user;
        q->context = u;
        q->n = (size_t)in->n;
        q->block = MOST / m->ambient + 1 < q->n ? MOST / m->ambient + 1 : q->n;
    } else if (in->kind == PROBLEM_PCA) {
        SEXP dim = Rf_getAttrib(in->data, R_DimSymbol);
        size_t length = m->cols ? m->rows : m->ambient;
        int known = strcmp(m->ops->name, "sphere") == 0 || strcmp(m->ops->name, "grassmann") == 0 ||
                    strncmp(m->ops->name, "stiefel", 7) == 0;
        if (!known)
            ffi_abort(c, STATUS_UNSUPPORTED, "M", -1);
        if (TYPEOF(in->data) != REALSXP || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 ||
            (size_t)INTEGER(dim)[1] != length || INTEGER(dim)[0] < 1)
            ffi_abort_text("shape", "`data` must be a numeric matrix whose rows are records, with a column for each "
                                    "coordinate of the manifold's surrounding space.");
        size_t n = (size_t)INTEGER(dim)[0];
        double *x = ffi_doubles(n * length);
        for (size_t j = 0; j < length; j++)
            for (size_t i = 0; i < n; i++)
                x[i * length + j] = REAL(in->data)[i + j * n];
        q->x = x;
        q->n = n;
        q->length = length;
    } else {
        struct arg x = ffi_arg(c, in->data, "data", KIND_POINT);
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
    struct problem_args a = {data, fun, start, ffi_number(threshold, "threshold"), ffi_number(n, "n"), 0};
    double k = ffi_number(kind, "kind");
    if (!(k >= PROBLEM_FRECHET && k <= PROBLEM_CALLBACK) || k != floor(k))
        ffi_abort_text("argument", "`kind` must be the number of a problem.");
    if (!(a.threshold > 0) || !(a.n >= 1 && a.n <= 1e9) || a.n != floor(a.n))
        ffi_abort_text("argument", "`threshold` must be positive and `n` a count from 1 to 1e9.");
    a.kind = (int)k;
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
    SEXP snapshot, which;
    double clip;
    int apart, losses;
};

static const double *stored_point(struct call *c, SEXP x)
{
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != c->m.ambient || !all_finite(c->m.ambient, REAL(x)))
        ffi_abort_text("argument", "`p` and `snapshot` must be the stored numbers of a point.");
    return REAL(x);
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
    size_t *which = NULL, *block = (size_t *)R_alloc(q.block, sizeof *block), count = q.n;
    if (in->which != R_NilValue) {
        if (TYPEOF(in->which) != REALSXP)
            ffi_abort_text("argument", "`which` must be numbers of records.");
        count = (size_t)XLENGTH(in->which);
        which = (size_t *)R_alloc(count + 1, sizeof *which);
        for (size_t i = 0; i < count; i++) {
            double k = REAL(in->which)[i];
            if (!(k >= 1 && k <= (double)q.n) || k != floor(k))
                ffi_abort_text("argument", "`which` must be numbers of records.");
            which[i] = (size_t)k - 1;
        }
    }
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
            memcpy(row, g + i * n, n * sizeof *row);
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

/* Exact sums over a chunk's records `which` (NULL: all) of what a step adds up. numbers: clip (Inf: none), whether a snapshot's gradients
 * are clipped apart, whether losses are wanted (then a record without a gradient ends it, with its status). */
SEXP riemdp_chunk_gradients(SEXP m, SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP p, SEXP snapshot,
                            SEXP numbers, SEXP which)
{
    if (TYPEOF(numbers) != REALSXP || XLENGTH(numbers) != 3 || !(REAL(numbers)[0] > 0) || isnan(REAL(numbers)[1]) ||
        isnan(REAL(numbers)[2]))
        ffi_abort_text("argument", "`numbers` must be three numbers, the first of them positive.");
    const double *x = REAL(numbers);
    struct chunk_args args = {
        read_problem_args(data, kind, threshold, fun, n, p), snapshot, which, x[0], x[1] != 0, x[2] != 0};
    return ffi_run(chunk_body, &args, m, !args.losses);
}

/* ---- private ------------------------------------------------------------------------------------------------------ */

enum {
    NUMBER_SAMPLING,
    NUMBER_OUTPUT,
    NUMBER_STEPS,
    NUMBER_BATCH,
    NUMBER_RATE,
    NUMBER_DIVISOR,
    NUMBER_CLIP,
    NUMBER_SD,
    NUMBER_INNER,
    NUMBER_SNAPSHOT_CLIP,
    NUMBER_SNAPSHOT_SD,
    NUMBER_PAPER,
    NUMBER_RESTARTS,
    NUMBER_RADIUS,
    NUMBER_UNTIL,
    NUMBERS
};

struct private_args {
    struct problem_args problem;
    SEXP centre, lr, state;
    const double *number;
};

/* a state of earlier steps, which may come from a file that somebody changed */
static void read_state(struct call *c, const struct optim *o, double *state, SEXP given, double restarts, double *work)
{
    manifold_t m = &c->m;
    size_t n = m->ambient, size = optim_state_size(m);
    int ok = TYPEOF(given) == REALSXP && (size_t)XLENGTH(given) == size && all_finite(size, REAL(given));
    if (ok) {
        memcpy(state, REAL(given), size * sizeof *state);
        double run = state[OPTIM_STATE_RUN], step = state[OPTIM_STATE_STEP], pick = state[OPTIM_STATE_PICK];
        ok = run >= 0 && run < restarts && run == floor(run) && step >= 0 && step < (double)o->steps &&
             step == floor(step) && pick >= 0 && pick <= (double)o->steps && pick == floor(pick);
    }
    const double *p = state + OPTIM_STATE_HEAD;
    /* iterate, average and chosen one are points once a step is done; snapshot and gradient where there are any */
    size_t points = ok && state[OPTIM_STATE_STEP] == 0 ? 1 : o->inner ? 4 : 3;
    ok = ok && m->ops->check_point(m, (struct points){p, n}, 0, points, work) == STATUS_OK;
    if (ok && points == 4)
        ok = m->ops->check_tangent(m, one(p + 3 * n), one(p + 4 * n), 0, 1, work) == STATUS_OK;
    if (!ok)
        ffi_abort_text("argument", "the state of a checkpoint is damaged, or belongs to another run.");
}

static SEXP private_body(struct call *c, struct rng *rng, void *data)
{
    enum { ROOM = 1000 };
    const struct private_args *in = data;
    const double *number = in->number;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *p = ffi_doubles(m->ambient), *centre = NULL;
    struct problem q;
    read_problem(c, &q, &in->problem, work);
    read_point(c, p, in->problem.start, "start", work);
    if (in->centre != R_NilValue) {
        centre = ffi_doubles(m->ambient);
        read_point(c, centre, in->centre, "center", work);
    }
    struct optim o = {.m = m,
                      .problem = &q,
                      .rng = rng,
                      .sampling = (int)number[NUMBER_SAMPLING],
                      .output = (int)number[NUMBER_OUTPUT],
                      .steps = (size_t)number[NUMBER_STEPS],
                      .batch = (size_t)number[NUMBER_BATCH],
                      .rate = number[NUMBER_RATE],
                      .divisor = number[NUMBER_DIVISOR],
                      .clip = number[NUMBER_CLIP],
                      .sd = number[NUMBER_SD],
                      .inner = (size_t)number[NUMBER_INNER],
                      .snapshot_clip = number[NUMBER_SNAPSHOT_CLIP],
                      .snapshot_sd = number[NUMBER_SNAPSHOT_SD],
                      .paper = number[NUMBER_PAPER] != 0,
                      .lr = REAL(in->lr),
                      .lr_count = (size_t)XLENGTH(in->lr),
                      .centre = centre,
                      .radius = number[NUMBER_RADIUS]};
    size_t restarts = (size_t)number[NUMBER_RESTARTS];
    if (o.sampling != OPTIM_FULL && o.sampling != OPTIM_POISSON && o.batch > q.n)
        ffi_abort_text("argument", "`batch` must not exceed the number of records.");
    if (o.lr_count != 1 && o.lr_count != o.steps)
        ffi_abort_text("argument", "`lr` must be one number or one for each step.");
    SEXP state = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)optim_state_size(m)));
    if (in->state == R_NilValue)
        optim_begin(&o, REAL(state), p);
    else
        read_state(c, &o, REAL(state), in->state, (double)restarts, work);
    /* all records elsewhere need no numbers */
    o.which = q.sum && o.sampling == OPTIM_FULL ? NULL : (size_t *)R_alloc(q.n, sizeof(size_t));
    o.total = (double)o.steps * (double)restarts;
    o.trace_every = (size_t)ceil(o.total / ROOM);
    o.trace_room = (size_t)restarts * (o.steps / o.trace_every + 1);
    SEXP trace = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)o.trace_room, 3));
    o.trace = REAL(trace);
    for (size_t j = 0; j < 3 * o.trace_room; j++)
        o.trace[j] = NA_REAL;
    if (optim_run(&o, REAL(state), fmin(number[NUMBER_UNTIL], o.total), ffi_doubles(optim_work(&o))) != STATUS_OK)
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

static int counts(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

SEXP riemdp_release_optimum(SEXP m, SEXP data, SEXP kind, SEXP threshold, SEXP fun, SEXP n, SEXP start, SEXP centre,
                            SEXP numbers, SEXP lr, SEXP state, SEXP simulate)
{
    struct private_args args = {read_problem_args(data, kind, threshold, fun, n, start), centre, lr, state, NULL};
    if (TYPEOF(numbers) != REALSXP || XLENGTH(numbers) != NUMBERS || TYPEOF(lr) != REALSXP || XLENGTH(lr) < 1)
        ffi_abort_text("argument", "`numbers` and `lr` must be numeric, of the right lengths.");
    const double *x = args.number = REAL(numbers);
    int ok = counts(x[NUMBER_SAMPLING], OPTIM_FULL, OPTIM_DISJOINT) &&
             counts(x[NUMBER_OUTPUT], OPTIM_LAST, OPTIM_RANDOM) && counts(x[NUMBER_STEPS], 1, 1e8) &&
             counts(x[NUMBER_BATCH], 1, 1e9) && counts(x[NUMBER_INNER], 0, 1e8) && counts(x[NUMBER_RESTARTS], 1, 1e4) &&
             counts(x[NUMBER_UNTIL], 0, 1e12) && x[NUMBER_RATE] > 0 && x[NUMBER_RATE] <= 1;
    for (int i = NUMBER_DIVISOR; i < NUMBERS; i++)
        ok = ok && x[i] >= 0 && x[i] < INFINITY;
    ok = ok && x[NUMBER_DIVISOR] > 0 && x[NUMBER_CLIP] > 0 && x[NUMBER_SNAPSHOT_CLIP] > 0;
    ok = ok && (centre == R_NilValue || x[NUMBER_RADIUS] > 0);
    if (x[NUMBER_INNER] > 0)
        ok = ok && fmod(x[NUMBER_STEPS], x[NUMBER_INNER]) == 0 && x[NUMBER_SAMPLING] <= OPTIM_WITHOUT;
    for (R_xlen_t i = 0; i < XLENGTH(lr); i++)
        ok = ok && REAL(lr)[i] > 0 && REAL(lr)[i] < INFINITY;
    if (!ok)
        ffi_abort_text("argument", "a setting of the optimiser is out of its range.");
    return ffi_with_rng(private_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}
