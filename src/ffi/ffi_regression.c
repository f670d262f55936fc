/* Geodesic regression for R. */
#include "ffi.h"
#include "regression.h"

#include <float.h>
#include <string.h>

struct regression_args {
    SEXP p, v, x, y, weights, model;
    int total; /* what has no loss is left out */
};

/* what the calls share: the model, all records packed, predictors by records */
struct regression_call {
    struct regression r;
    struct regression_data d;
    struct arg y;
    double *work; /* of the manifold */
};

static const char *const loss_name[] = {
    [REGRESSION_SQUARED] = "squared", [REGRESSION_HUBER] = "huber", [REGRESSION_LAD] = "lad"};

/* list(loss, cutoff, smoothing, clip): residuals beyond the cutoff count linearly; gradients are clipped to a length */
static struct regression model_of(manifold_t m, size_t q, SEXP model)
{
    return (struct regression){.m = m,
                               .q = q,
                               .loss = (enum regression_loss)ffi_choice(ffi_field(model, "loss"), "loss", loss_name, 4),
                               .cutoff = ffi_range(ffi_field(model, "cutoff"), "cutoff", DBL_MIN, INFINITY),
                               .smoothing = ffi_range(ffi_field(model, "smoothing"), "smoothing", 0, DBL_MAX),
                               .clip = ffi_range(ffi_field(model, "clip"), "clip", DBL_MIN, INFINITY)};
}

/* predictors of n records, record by record; *q: how many a record has */
static double *read_predictors(struct call *c, SEXP x, size_t n, size_t *q, int forgiving)
{
    SEXP dim = Rf_getAttrib(x, R_DimSymbol);
    size_t length = TYPEOF(x) == REALSXP ? (size_t)XLENGTH(x) : 1;
    *q = length / n;
    if (TYPEOF(x) != REALSXP || length % n != 0 || *q > 10000 ||
        (dim != R_NilValue && (TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || (size_t)INTEGER(dim)[0] != n)))
        ffi_abort_text("shape", "`x` must be numeric with one number, or one row of a matrix, for each record.");
    double *rows = ffi_doubles(n * *q);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < *q; j++) {
            rows[i * *q + j] = REAL(x)[i + j * n];
            if (!forgiving && !(fabs(rows[i * *q + j]) < INFINITY))
                ffi_abort(c, STATUS_NOT_FINITE, "x", (double)i);
        }
    return rows;
}

/* responses, packed */
static double *read_responses(struct call *c, struct arg *a, int forgiving, double *work)
{
    manifold_t m = &c->m;
    size_t block = ffi_block(c), ambient = m->ambient, n = a->n;
    double *y = ffi_doubles(n * ambient);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points b = ffi_block_points(c, a, begin, end, forgiving, work);
        if (!forgiving)
            ffi_check_block(c, a, b, NULL, b, begin, end, work);
        for (size_t i = begin; i < end; i++)
            memcpy(y + i * ambient, at(b, i - begin), ambient * sizeof *y);
        host_tick(m->host, (double)end, (double)n);
    }
    return y;
}

static const double *read_weights(SEXP weights, size_t n)
{
    if (weights == R_NilValue)
        return NULL;
    double total = 0;
    if (TYPEOF(weights) != REALSXP || (size_t)XLENGTH(weights) != n)
        ffi_abort_text("argument", "`weights` must be numeric with one number for each record.");
    for (size_t i = 0; i < n; i++) {
        if (!(REAL(weights)[i] >= 0 && REAL(weights)[i] < INFINITY))
            ffi_abort_text("argument", "`weights` must be finite and not negative.");
        total += REAL(weights)[i];
    }
    if (!(total > 0 && total < INFINITY))
        ffi_abort_text("argument", "`weights` must not all be zero.");
    return REAL(weights);
}

static void read_records(struct call *c, const struct regression_args *in, struct regression_call *out, int forgiving)
{
    manifold_t m = &c->m;
    size_t q;
    out->y = ffi_arg(c, in->y, "y", KIND_POINT); /* shapes first: a tampered manifold may ask for any room */
    out->work = ffi_doubles(manifold_work(m));
    if (out->y.n == 0)
        ffi_abort_text("shape", "`y` must hold at least one record.");
    const double *x = read_predictors(c, in->x, out->y.n, &q, forgiving);
    const double *y = read_responses(c, &out->y, forgiving, out->work);
    const double *w = read_weights(in->weights, out->y.n);
    out->d = (struct regression_data){out->y.n, {x, q}, {y, m->ambient}, w, NULL};
}

/* foot and velocities, checked; returns the argument of the velocities, whose shape results copy */
static struct arg read_state(struct call *c, const struct regression_args *in, size_t q, double *state,
                             struct arg *foot, double *work)
{
    manifold_t m = &c->m;
    size_t ambient = m->ambient;
    struct arg p = ffi_arg(c, in->p, "p", KIND_POINT), v = ffi_arg(c, in->v, "v", KIND_TANGENT);
    if (p.n != 1)
        ffi_abort_text("shape", "`p` must be one point.");
    if (v.n != q)
        ffi_abort_text("shape", "`v` must hold one tangent vector for each predictor.");
    struct points b = ffi_block_points(c, &p, 0, 1, 0, work);
    ffi_check_block(c, &p, b, NULL, b, 0, 1, work);
    memcpy(state, b.x, ambient * sizeof *state);
    size_t block = ffi_block(c);
    for (size_t begin = 0; begin < q; begin += block) {
        size_t end = begin + block < q ? begin + block : q;
        b = ffi_block_points(c, &v, begin, end, 0, work);
        ffi_check_block(c, &v, b, &p, one(state), begin, end, work);
        for (size_t i = begin; i < end; i++)
            memcpy(state + (1 + i) * ambient, at(b, i - begin), ambient * sizeof *state);
    }
    *foot = p;
    return v;
}

static SEXP named(struct call *c, int count, const char **names)
{
    SEXP list = ffi_keep(c, Rf_allocVector(VECSXP, count)), nm = ffi_keep(c, Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; i++)
        SET_STRING_ELT(nm, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, nm);
    return list;
}

/* q vectors as rows */
static SEXP as_rows(struct call *c, const double *v, size_t q, size_t ambient)
{
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)q, (int)ambient));
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < ambient; j++)
            REAL(out)[i + j * q] = v[i * ambient + j];
    return out;
}

/* list(value =, p =, v =): weighted mean of the losses and its gradient, as rows of stored numbers */
static SEXP gradient_body(struct call *c, void *data)
{
    const struct regression_args *in = data;
    manifold_t m = &c->m;
    double value;
    struct regression_call k;
    struct arg foot;
    read_records(c, in, &k, 0);
    size_t q = k.d.x.stride, n = m->ambient;
    k.r = model_of(m, q, in->model);
    double *state = ffi_doubles((1 + q) * n), *grad = ffi_doubles((1 + q) * n);
    read_state(c, in, q, state, &foot, k.work);
    int status = regression_energy(&k.r, &k.d, state, state + n, &value, grad, grad + n,
                                   ffi_doubles(regression_energy_work(&k.r)));
    if (status != STATUS_OK)
        ffi_abort(c, status, "y", -1);
    static const char *names[] = {"value", "p", "v"};
    SEXP out = named(c, 3, names);
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal(value));
    SET_VECTOR_ELT(out, 1, as_rows(c, grad, 1, n));
    SET_VECTOR_ELT(out, 2, as_rows(c, grad + n, q, n));
    return out;
}

SEXP riemdp_regression_gradient(SEXP m, SEXP p, SEXP v, SEXP x, SEXP y, SEXP weights, SEXP model)
{
    struct regression_args args = {p, v, x, y, weights, model, 0};
    return ffi_run(gradient_body, &args, m, 0);
}

/* list(value =, distance =, gradient =) of single records, gradients in coordinates */
static SEXP records_body(struct call *c, void *data)
{
    const struct regression_args *in = data;
    manifold_t m = &c->m;
    struct regression_call k;
    struct arg foot;
    read_records(c, in, &k, in->total);
    size_t q = k.d.x.stride, n = m->ambient, row = (1 + q) * m->dim, records = k.d.n;
    k.r = model_of(m, q, in->model);
    k.r.total = in->total;
    double *state = ffi_doubles((1 + q) * n);
    read_state(c, in, q, state, &foot, k.work);
    if ((double)records * (double)row > 1e9)
        ffi_abort_text("argument", "so many gradients don't fit into one matrix.");
    static const char *names[] = {"value", "distance", "gradient"};
    SEXP out = named(c, 3, names), value = Rf_allocVector(REALSXP, (R_xlen_t)records);
    SET_VECTOR_ELT(out, 0, value);
    SEXP size = Rf_allocVector(REALSXP, (R_xlen_t)records);
    SET_VECTOR_ELT(out, 1, size);
    SEXP gradient = Rf_allocMatrix(REALSXP, (int)records, (int)row);
    SET_VECTOR_ELT(out, 2, gradient);
    double *grad_p = ffi_doubles(REGRESSION_BLOCK * n), *grad_w = ffi_doubles(REGRESSION_BLOCK * n);
    double *rows = ffi_doubles(REGRESSION_BLOCK * row),
           *rest = ffi_doubles(regression_block_work(&k.r, REGRESSION_BLOCK));
    for (size_t begin = 0; begin < records; begin += REGRESSION_BLOCK) {
        size_t count = records - begin < REGRESSION_BLOCK ? records - begin : REGRESSION_BLOCK;
        struct regression_records one_block = {REAL(value) + begin, REAL(size) + begin, grad_p, grad_w};
        struct points x = {at(k.d.x, begin), q}, y = {at(k.d.y, begin), n};
        int status = regression_block(&k.r, state, state + n, x, y, count, one_block, rest);
        if (status == STATUS_OK)
            status = regression_coords(&k.r, state, x, grad_p, grad_w, count, rows, k.work);
        if (status != STATUS_OK)
            ffi_abort(c, status, "y", -1);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < row; j++)
                REAL(gradient)[begin + i + j * records] = rows[i * row + j];
        host_tick(m->host, (double)(begin + count), (double)records);
    }
    return out;
}

/* total: nothing is said of records, and what has no loss gets zeros */
SEXP riemdp_regression_records(SEXP m, SEXP p, SEXP v, SEXP x, SEXP y, SEXP model, SEXP total)
{
    struct regression_args args = {p, v, x, y, R_NilValue, model, ffi_flag(total, "total")};
    return ffi_run(records_body, &args, m, args.total);
}

/* ---- records in chunks ---------------------------------------------------------------------------------------------- */

static SEXP chunk_body(struct call *c, void *data)
{
    const struct regression_args *in = data;
    manifold_t m = &c->m;
    struct regression_call k;
    read_records(c, in, &k, 0);
    size_t q = k.d.x.stride, n = m->ambient, width = 1 + (1 + q) * n;
    k.r = model_of(m, q, in->model);
    if (TYPEOF(in->p) != REALSXP || (size_t)XLENGTH(in->p) != (1 + q) * n || !all_finite((1 + q) * n, REAL(in->p)))
        ffi_abort_text("argument", "`state` must be the stored numbers of a point and of a vector for each predictor.");
    const double *state = REAL(in->p);
    double *value = ffi_doubles(REGRESSION_BLOCK), *grad_p = ffi_doubles(REGRESSION_BLOCK * n);
    double *grad_w = ffi_doubles(REGRESSION_BLOCK * n), *row = ffi_doubles(width);
    double *rest = ffi_doubles(regression_block_work(&k.r, REGRESSION_BLOCK));
    struct exact *sums = ffi_exact(width, 1);
    for (size_t begin = 0; begin < k.d.n; begin += REGRESSION_BLOCK) {
        size_t count = k.d.n - begin < REGRESSION_BLOCK ? k.d.n - begin : REGRESSION_BLOCK;
        struct points x = {at(k.d.x, begin), q}, y = {at(k.d.y, begin), n};
        int status = regression_block(&k.r, state, state + n, x, y, count,
                                      (struct regression_records){value, NULL, grad_p, grad_w}, rest);
        if (status != STATUS_OK)
            return ffi_keep(c, Rf_ScalarInteger(status));
        for (size_t i = 0; i < count; i++) {
            double w = k.d.w ? k.d.w[begin + i] : 1;
            row[0] = w * value[i];
            for (size_t j = 0; j < n; j++) {
                row[1 + j] = w * grad_p[i * n + j];
                for (size_t a = 0; a < q; a++)
                    row[1 + (1 + a) * n + j] = w * at(x, i)[a] * grad_w[i * n + j];
            }
            exact_add(sums, row);
        }
        host_tick(m->host, 0, 0);
    }
    exact_carry(sums);
    if (sums->bad)
        return ffi_keep(c, Rf_ScalarInteger(STATUS_NO_CONVERGENCE));
    return ffi_exact_list(c, sums);
}

/* Exact (weighted) sums over a chunk's records of the loss and of its gradients in p and in each v, or a status. state: stored numbers of p, v_1,
 * ... */
SEXP riemdp_chunk_regression(SEXP m, SEXP state, SEXP x, SEXP y, SEXP weights, SEXP model)
{
    struct regression_args args = {state, R_NilValue, x, y, weights, model, 0};
    return ffi_run(chunk_body, &args, m, 0);
}

struct asked {
    struct call *c;
    struct tally tally;
    size_t q;
    double total; /* of the weights */
    double *in, *out;
};

static int ask_energy(const struct regression_elsewhere *e, const struct regression *r, const double *p,
                      const double *v, double *value, double *grad_p, double *grad_v)
{
    const struct asked *a = e->data;
    size_t n = a->c->m.ambient, size = (1 + a->q) * n;
    memcpy(a->in, p, n * sizeof *p);
    memcpy(a->in + n, v, a->q * n * sizeof *v);
    if (!all_finite(size, a->in))
        return STATUS_NOT_FINITE;
    static const char *const names[] = {"state", "loss", "cutoff", "smoothing"};
    SEXP request = PROTECT(Rf_allocVector(VECSXP, 4)), labels = PROTECT(Rf_allocVector(STRSXP, 4));
    for (int i = 0; i < 4; i++)
        SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
    Rf_setAttrib(request, R_NamesSymbol, labels);
    SET_VECTOR_ELT(request, 0, ffi_vector(a->in, size));
    SET_VECTOR_ELT(request, 1, Rf_mkString(loss_name[r->loss]));
    SET_VECTOR_ELT(request, 2, Rf_ScalarReal(r->cutoff));
    SET_VECTOR_ELT(request, 3, Rf_ScalarReal(r->smoothing));
    int status = ffi_tally_ask(a->c, &a->tally, "energy", request, a->out, 1 + size);
    UNPROTECT(2);
    double total = a->total;
    *value = a->out[0] / total;
    for (size_t j = 0; j < size; j++)
        (j < n ? grad_p + j : grad_v + (j - n))[0] = a->out[1 + j] / total;
    return status;
}

struct fit_args {
    struct regression_args base;
    struct regression_fit fit;
    SEXP tally, moments; /* of records in chunks */
};

static SEXP fit_body(struct call *c, void *data)
{
    struct fit_args *in = data;
    manifold_t m = &c->m;
    struct regression_call k;
    struct arg foot;
    int given = in->base.p != R_NilValue;
    read_records(c, &in->base, &k, 0);
    size_t q = k.d.x.stride, n = m->ambient;
    k.r = model_of(m, q, in->base.model);
    double *state = ffi_doubles((1 + q) * n);
    if (given)
        read_state(c, &in->base, q, state, &foot, k.work);
    struct regression_fit *fit = &in->fit;
    struct asked asked = {.c = c, .q = q};
    struct regression_elsewhere elsewhere = {ask_energy, NULL, &asked};
    if (in->tally) {
        if (!ffi_tally(in->tally, &asked.tally) || TYPEOF(in->moments) != REALSXP ||
            (size_t)XLENGTH(in->moments) != (1 + q) * (1 + q) || !all_finite((1 + q) * (1 + q), REAL(in->moments)))
            ffi_abort_text("argument",
                           "`tally` must be sums over records elsewhere, `moments` those of 1 and the predictors.");
        asked.total = ffi_number(ffi_list_get(in->tally, "total"), "total");
        if (!(asked.total > 0 && asked.total < INFINITY))
            ffi_abort_text("argument", "`total` must be positive.");
        asked.in = ffi_doubles((1 + q) * n);
        asked.out = ffi_doubles(1 + (1 + q) * n);
        elsewhere.moments = REAL(in->moments);
        k.d.elsewhere = &elsewhere;
    }
    int status = regression_run(&k.r, &k.d, state, state + n, given, fit,
                                ffi_doubles(regression_run_work(&k.r, &k.d, fit->memory)));
    if (status == STATUS_LINALG)
        ffi_abort_text("design", "the predictors and a constant must be linearly independent.");
    if (status != STATUS_OK)
        ffi_abort(c, status == STATUS_NOT_FINITE || status == STATUS_LINALG ? STATUS_NO_CONVERGENCE : status, "y", -1);
    static const char *names[] = {"p",         "v",      "value",      "gradient_norm", "gradient_floor",
                                  "smoothing", "starts", "iterations", "evaluations",   "converged"};
    SEXP out = named(c, 10, names);
    SET_VECTOR_ELT(out, 0, as_rows(c, state, 1, n));
    SET_VECTOR_ELT(out, 1, as_rows(c, state + n, q, n));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(fit->value));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(fit->gradient_norm));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(fit->gradient_floor));
    SET_VECTOR_ELT(out, 5, Rf_ScalarReal(fit->smoothing));
    SET_VECTOR_ELT(out, 6, Rf_ScalarInteger(fit->tried));
    SET_VECTOR_ELT(out, 7, Rf_ScalarInteger(fit->iterations));
    SET_VECTOR_ELT(out, 8, Rf_ScalarInteger(fit->evaluations));
    SET_VECTOR_ELT(out, 9, Rf_ScalarLogical(fit->converged));
    return out;
}

/* control: list(tol, max_iter, memory, starts (0: as many as the data want)) */
static struct regression_fit fit_of(SEXP control)
{
    return (struct regression_fit){.tol = ffi_range(ffi_field(control, "tol"), "tol", 0, INFINITY),
                                   .max_iter = (int)ffi_range(ffi_field(control, "max_iter"), "max_iter", 0, 1e9),
                                   .memory = (int)ffi_range(ffi_field(control, "memory"), "memory", 0, 100),
                                   .starts = (int)ffi_range(ffi_field(control, "starts"), "starts", 0, 100)};
}

SEXP riemdp_regression(SEXP m, SEXP y, SEXP x, SEXP weights, SEXP p, SEXP v, SEXP model, SEXP control)
{
    struct fit_args args = {{p, v, x, y, weights, model, 0}, fit_of(control), NULL, NULL};
    return ffi_run(fit_body, &args, m, 0);
}

/* The same for records whose (weighted) sums the function `energy` of `tally` gives, `total` being the sum of weights; y, x: a few of them, for starts; moments: means of the
 * products of (1, x) over all. */
SEXP riemdp_regression_of(SEXP m, SEXP tally, SEXP y, SEXP x, SEXP moments, SEXP p, SEXP v, SEXP model, SEXP control)
{
    struct fit_args args = {{p, v, x, y, R_NilValue, model, 0}, fit_of(control), tally, moments};
    return ffi_run(fit_body, &args, m, 0);
}
