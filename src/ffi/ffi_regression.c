/* Geodesic regression for R. */
#include "ffi.h"
#include "regression.h"

#include <string.h>

struct regression_args {
    SEXP p, v, x, y, weights;
    const double *numbers;
};

/* what the calls share: the model, all records packed, predictors by records */
struct regression_call {
    struct regression r;
    struct regression_data d;
    struct arg y;
    double *work; /* of the manifold */
};

static const double *numbers_of(SEXP x, R_xlen_t count)
{
    if (TYPEOF(x) != REALSXP || XLENGTH(x) != count)
        ffi_abort_text("argument", "numbers must be doubles, as many as the entry takes.");
    for (R_xlen_t i = 0; i < count; i++)
        if (isnan(REAL(x)[i]))
            ffi_abort_text("argument", "numbers must not be missing.");
    return REAL(x);
}

/* loss, cutoff, smoothing, clip */
static struct regression model_of(manifold_t m, size_t q, const double *a)
{
    struct regression r = {.m = m, .q = q, .cutoff = a[1], .smoothing = a[2], .clip = a[3]};
    if (!(a[0] == REGRESSION_SQUARED || a[0] == REGRESSION_HUBER || a[0] == REGRESSION_LAD) || !(a[1] > 0) ||
        !(a[2] >= 0 && a[2] < INFINITY) || !(a[3] > 0))
        ffi_abort_text("argument", "the loss must be 1, 2 or 3, its cutoff and clip positive and its smoothing not "
                                   "negative.");
    r.loss = (enum regression_loss)(int)a[0];
    return r;
}

static void read_records(struct call *c, const struct regression_args *in, struct regression_call *out, int forgiving)
{
    manifold_t m = &c->m;
    size_t block = ffi_block(c), ambient = m->ambient;
    out->y = ffi_arg(c, in->y, "y", KIND_POINT); /* shapes first: a tampered manifold may ask for any room */
    double *work = out->work = ffi_doubles(manifold_work(m));
    size_t n = out->y.n;
    if (n == 0)
        ffi_abort_text("shape", "`y` must hold at least one record.");
    SEXP dim = Rf_getAttrib(in->x, R_DimSymbol);
    size_t length = TYPEOF(in->x) == REALSXP ? (size_t)XLENGTH(in->x) : 1, q = length / n;
    if (TYPEOF(in->x) != REALSXP || length % n != 0 || q > 10000 ||
        (dim != R_NilValue && (TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || (size_t)INTEGER(dim)[0] != n)))
        ffi_abort_text("shape", "`x` must be numeric with one number, or one row of a matrix, for each record.");
    double *rows = ffi_doubles(n * q), *y = ffi_doubles(n * ambient);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < q; j++) {
            rows[i * q + j] = REAL(in->x)[i + j * n];
            if (!forgiving && !(fabs(rows[i * q + j]) < INFINITY))
                ffi_abort(c, STATUS_NOT_FINITE, "x", (double)i);
        }
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points b = ffi_block_points(c, &out->y, begin, end, forgiving, work);
        if (!forgiving)
            ffi_check_block(c, &out->y, b, NULL, b, begin, end, work);
        for (size_t i = begin; i < end; i++)
            memcpy(y + i * ambient, at(b, i - begin), ambient * sizeof *y);
        host_tick(m->host, (double)end, (double)n);
    }
    out->d = (struct regression_data){n, {rows, q}, {y, ambient}, NULL, NULL};
    if (in->weights != R_NilValue) {
        double total = 0;
        if (TYPEOF(in->weights) != REALSXP || (size_t)XLENGTH(in->weights) != n)
            ffi_abort_text("argument", "`weights` must be numeric with one number for each record.");
        for (size_t i = 0; i < n; i++) {
            if (!(REAL(in->weights)[i] >= 0 && REAL(in->weights)[i] < INFINITY))
                ffi_abort_text("argument", "`weights` must be finite and not negative.");
            total += REAL(in->weights)[i];
        }
        if (!(total > 0 && total < INFINITY))
            ffi_abort_text("argument", "`weights` must not all be zero.");
        out->d.w = REAL(in->weights);
    }
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
    k.r = model_of(m, q, in->numbers);
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

SEXP riemdp_regression_gradient(SEXP m, SEXP p, SEXP v, SEXP x, SEXP y, SEXP weights, SEXP numbers)
{
    struct regression_args args = {p, v, x, y, weights, numbers_of(numbers, 4)};
    return ffi_run(gradient_body, &args, m, 0);
}

/* list(value =, distance =, gradient =) of single records, gradients in coordinates; the fifth number: total */
static SEXP records_body(struct call *c, void *data)
{
    const struct regression_args *in = data;
    manifold_t m = &c->m;
    int total = in->numbers[4] != 0;
    struct regression_call k;
    struct arg foot;
    read_records(c, in, &k, total);
    size_t q = k.d.x.stride, n = m->ambient, row = (1 + q) * m->dim, records = k.d.n;
    k.r = model_of(m, q, in->numbers);
    k.r.total = total;
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

SEXP riemdp_regression_records(SEXP m, SEXP p, SEXP v, SEXP x, SEXP y, SEXP numbers)
{
    struct regression_args args = {p, v, x, y, R_NilValue, numbers_of(numbers, 5)};
    return ffi_run(records_body, &args, m, args.numbers[4] != 0);
}

/* ---- records in chunks ---------------------------------------------------------------------------------------------- */

static SEXP chunk_body(struct call *c, void *data)
{
    const struct regression_args *in = data;
    manifold_t m = &c->m;
    struct regression_call k;
    read_records(c, in, &k, 0);
    size_t q = k.d.x.stride, n = m->ambient, width = 1 + (1 + q) * n;
    k.r = model_of(m, q, in->numbers);
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
 * ...; numbers: loss, cutoff, smoothing, clip */
SEXP riemdp_chunk_regression(SEXP m, SEXP state, SEXP x, SEXP y, SEXP weights, SEXP numbers)
{
    struct regression_args args = {state, R_NilValue, x, y, weights, numbers_of(numbers, 4)};
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
    a->in[0] = r->loss;
    a->in[1] = r->cutoff;
    a->in[2] = r->smoothing;
    memcpy(a->in + 3, p, n * sizeof *p);
    memcpy(a->in + 3 + n, v, a->q * n * sizeof *v);
    if (!all_finite(size, a->in + 3))
        return STATUS_NOT_FINITE;
    int status = ffi_tally_call(a->c, &a->tally, "energy", a->in, 3 + size, a->out, 1 + size);
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
    k.r = model_of(m, q, in->base.numbers);
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
        asked.in = ffi_doubles(3 + (1 + q) * n);
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

/* numbers: loss, cutoff, smoothing, clip, tol, max_iter, memory, starts (0: as many as the data want) */
SEXP riemdp_regression(SEXP m, SEXP y, SEXP x, SEXP weights, SEXP p, SEXP v, SEXP numbers)
{
    const double *a = numbers_of(numbers, 8);
    if (!(a[4] >= 0) || !(a[5] >= 0 && a[5] <= 1e9) || !(a[6] >= 0 && a[6] <= 100) || !(a[7] >= 0 && a[7] <= 100))
        ffi_abort_text("argument", "`tol`, `max_iter`, `memory` and `starts` must be numbers in their ranges.");
    struct fit_args args = {{p, v, x, y, weights, a},
                            {.tol = a[4], .max_iter = (int)a[5], .memory = (int)a[6], .starts = (int)a[7]},
                            NULL,
                            NULL};
    return ffi_run(fit_body, &args, m, 0);
}

/* The same for records whose (weighted) sums the function `energy` of `tally` gives, `total` being the sum of weights; y, x: a few of them, for starts; moments: means of the
 * products of (1, x) over all. */
SEXP riemdp_regression_of(SEXP m, SEXP tally, SEXP y, SEXP x, SEXP moments, SEXP p, SEXP v, SEXP numbers)
{
    const double *a = numbers_of(numbers, 8);
    if (!(a[4] >= 0) || !(a[5] >= 0 && a[5] <= 1e9) || !(a[6] >= 0 && a[6] <= 100) || !(a[7] >= 0 && a[7] <= 100))
        ffi_abort_text("argument", "`tol`, `max_iter`, `memory` and `starts` must be numbers in their ranges.");
    struct fit_args args = {{p, v, x, y, R_NilValue, a},
                            {.tol = a[4], .max_iter = (int)a[5], .memory = (int)a[6], .starts = (int)a[7]},
                            tally,
                            moments};
    return ffi_run(fit_body, &args, m, 0);
}
