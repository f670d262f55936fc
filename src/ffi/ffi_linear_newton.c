/* Sums over records from which a line is fitted by Newton's steps. */
#include "ffi.h"
#include "linear_newton.h"

struct newton_args {
    SEXP x, y, share, stage;
};

/* a matrix, its rows and columns; the latter held against *columns where that isn't 0 */
static const double *read_matrix(SEXP x, size_t *rows, size_t *columns, const char *text)
{
    SEXP dim = Rf_getAttrib(x, R_DimSymbol);
    if (TYPEOF(x) != REALSXP || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || INTEGER(dim)[0] < 1 ||
        (*columns > 0 && (size_t)INTEGER(dim)[1] != *columns))
        ffi_abort_text("shape", text);
    *rows = (size_t)INTEGER(dim)[0];
    *columns = (size_t)INTEGER(dim)[1];
    return REAL(x);
}

static const double *read_numbers(SEXP x, size_t n, const char *text)
{
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != n)
        ffi_abort_text("shape", text);
    return REAL(x);
}

static void read_stage(struct linear_newton *o, SEXP stage)
{
    static const char *const names[] = {"spread", "moments", "step", "level"};
    const char *text = "the stage's parts must fit the records.";
    if (TYPEOF(stage) != VECSXP)
        ffi_abort_text("argument", "`stage` must be a list.");
    o->stage = (enum newton_stage)ffi_choice(ffi_field(stage, "name"), "name", names, 4);
    const double *weights = read_numbers(ffi_field(stage, "weights"), 3, text);
    o->there = weights[0];
    o->square = weights[1];
    o->safe = weights[2];
    if (o->stage == NEWTON_SPREAD)
        return;
    size_t d = o->p - 1;
    o->center = read_numbers(ffi_field(stage, "center"), d, text);
    o->spread = read_numbers(ffi_field(stage, "spread"), d, text);
    SEXP turn = ffi_list_get(stage, "turn");
    if (turn != R_NilValue)
        o->turn = read_numbers(turn, d * d, text);
    o->length = ffi_range(ffi_field(stage, "length"), "length", 1e-100, 1e100);
    if (o->stage == NEWTON_MOMENTS) {
        o->reach = ffi_range(ffi_field(stage, "reach"), "reach", 1e-100, 1e100);
        o->diagonal = ffi_flag(ffi_field(stage, "diagonal"), "diagonal");
        return;
    }
    o->b = read_numbers(ffi_field(stage, "b"), o->p * o->q, text);
    o->tau = ffi_range(ffi_field(stage, "tau"), "tau", 1e-100, 1e100);
}

static SEXP newton_body(struct call *c, void *data)
{
    const struct newton_args *in = data;
    struct linear_newton o = {0};
    o.x = read_matrix(in->x, &o.p, &o.n, "`x` must be a numeric matrix with a row for each feature.");
    o.y = read_matrix(in->y, &o.q, &o.n, "`y` must be a numeric matrix with a row for each response.");
    if (o.p * o.q > 1000 || o.p > 1000)
        ffi_abort_text("argument", "There may be at most 1000 coefficients.");
    read_stage(&o, in->stage);
    size_t width = linear_newton_width(&o);
    if (width < 1 || (o.stage == NEWTON_SPREAD && o.p < 2))
        ffi_abort_text("shape", "this stage needs predictors.");
    const char *text = "there must be a share for each record.";
    const double *share = in->share == R_NilValue ? NULL : read_numbers(in->share, o.n, text);
    double *row = ffi_doubles(width), *work = ffi_doubles(2 * o.p + o.q);
    struct exact *sums = ffi_exact(width, 1);
    for (size_t i = 0; i < o.n; i++) {
        linear_newton_record(&o, i, row, work);
        for (size_t j = 0; share && j < width; j++)
            row[j] *= share[i];
        if (all_finite(width, row)) /* else nothing: the whole record, not some of its numbers */
            exact_add(sums, row);
        if (i % 4096 == 4095)
            host_tick(&c->host.base, 0, 0);
    }
    exact_carry(sums);
    return ffi_exact_list(c, sums);
}

SEXP riemdp_newton_sums(SEXP x, SEXP y, SEXP share, SEXP stage)
{
    struct newton_args args = {x, y, share, stage};
    return ffi_run(newton_body, &args, NULL, 1);
}
