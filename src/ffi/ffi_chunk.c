/* Records in chunks for R: what one chunk adds to sums over all of them, and the exact totals. */
#include <string.h>

#include "baseline.h"
#include "chunk.h"
#include "ffi.h"
#include "mean.h"

/* ---- exact sums as R objects: list(low, digits), digits a matrix of whole numbers, sums by places from `low` on -------------- */

struct exact *ffi_exact(size_t n, size_t lanes)
{
    struct exact *e = (struct exact *)R_alloc(lanes, sizeof *e);
    for (size_t i = 0; i < lanes; i++) {
        e[i] = (struct exact){.n = n, .digit = (int64_t *)R_alloc(n * EXACT_DIGITS + 1, sizeof(int64_t))};
        exact_clear(e + i);
    }
    return e;
}

SEXP ffi_exact_list(struct call *c, const struct exact *e)
{
    static const char *const names[] = {"low", "digits"};
    size_t low, high;
    exact_range(e, &low, &high);
    SEXP out = ffi_named_list(c, 2, names), digits = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)e->n, (int)(high - low)));
    for (size_t i = low; i < high; i++)
        for (size_t j = 0; j < e->n; j++)
            REAL(digits)[j + (i - low) * e->n] = (double)e->digit[j * EXACT_DIGITS + i];
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal((double)low));
    SET_VECTOR_ELT(out, 1, digits);
    return out;
}

/* adds what another call gave; `total` is made for the first */
static struct exact *add_part(struct exact *total, SEXP part)
{
    SEXP low = ffi_list_get(part, "low"), digits = ffi_list_get(part, "digits");
    SEXP dim = Rf_getAttrib(digits, R_DimSymbol);
    int matrix = TYPEOF(digits) == REALSXP && TYPEOF(dim) == INTSXP && XLENGTH(dim) == 2;
    if (TYPEOF(low) != REALSXP || XLENGTH(low) != 1 || !(REAL(low)[0] >= 0 && REAL(low)[0] <= EXACT_DIGITS) ||
        !matrix || INTEGER(dim)[0] < 1 || INTEGER(dim)[1] > EXACT_DIGITS ||
        (total && (size_t)INTEGER(dim)[0] != total->n))
        ffi_abort_text("argument", "`parts` must be sums of one length.");
    if (!total)
        total = ffi_exact((size_t)INTEGER(dim)[0], 1);
    for (R_xlen_t k = 0; k < XLENGTH(digits); k++)
        exact_add_digit(total, (size_t)k % total->n, (size_t)REAL(low)[0] + (size_t)k / total->n, REAL(digits)[k]);
    exact_carry(total);
    return total;
}

/* the sums over parts, or the status of a part that is one */
static SEXP total_body(struct call *c, void *data)
{
    SEXP parts = *(SEXP *)data;
    struct exact *total = NULL;
    if (TYPEOF(parts) != VECSXP || XLENGTH(parts) < 1)
        ffi_abort_text("argument", "`parts` must be a list of sums.");
    for (R_xlen_t i = 0; i < XLENGTH(parts); i++) {
        SEXP part = VECTOR_ELT(parts, i);
        if (TYPEOF(part) == INTSXP && XLENGTH(part) == 1)
            return part;
        total = add_part(total, part);
    }
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)total->n));
    for (size_t j = 0; j < total->n; j++)
        REAL(out)[j] = exact_value(total, j);
    return out;
}

SEXP riemdp_exact_total(SEXP parts)
{
    return ffi_run(total_body, &parts, NULL, 0);
}

/* ---- arguments ------------------------------------------------------------------------------------------------------- */

/* a point or vector as the kernels store it; NULL for R's */
static const double *stored(SEXP x, size_t n, const char *text)
{
    if (x == R_NilValue)
        return NULL;
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != n)
        ffi_abort_text("argument", text);
    return REAL(x);
}

static const double *stored_point(struct call *c, SEXP x)
{
    const double *p = stored(x, c->m.ambient, "`p` must be the stored numbers of one point.");
    if (!p || !all_finite(c->m.ambient, p))
        ffi_abort_text("argument", "`p` must be finite.");
    return p;
}

const double *ffi_weights(SEXP weights, size_t n)
{
    const double *w = stored(weights, n, "`weights` must be numeric with one number for each record.");
    for (size_t i = 0; i < n && w; i++)
        if (!(w[i] >= 0 && w[i] < INFINITY))
            ffi_abort_text("argument", "`weights` must be finite and not negative.");
    return w;
}

static struct arg records(struct call *c, SEXP x)
{
    struct arg a = ffi_arg(c, x, "x", KIND_POINT);
    if (a.n == 0)
        ffi_abort_text("shape", "`x` must hold at least one record.");
    return a;
}

/* list(low, digits), or the status in which the pass ended */
static SEXP run_pass(struct call *c, const struct chunk_pass *pass)
{
    struct exact *sums = ffi_exact(pass->width, (size_t)pass->x->lanes);
    int status = chunk_run(pass, sums, ffi_doubles(chunk_work(pass)));
    return status == STATUS_OK ? ffi_exact_list(c, sums) : ffi_keep(c, Rf_ScalarInteger(status));
}

/* ---- plain means ----------------------------------------------------------------------------------------------------- */

struct logs_args {
    SEXP x, weights, p;
    int median;
};

static SEXP logs_body(struct call *c, void *data)
{
    const struct logs_args *in = data;
    struct arg x = records(c, in->x);
    struct source source = ffi_source(c, &x, 0, ffi_doubles(manifold_work(&c->m)));
    struct chunk_logs logs = {stored_point(c, in->p), ffi_weights(in->weights, x.n), in->median};
    struct chunk_pass pass = chunk_logs_pass(&c->m, &source, &logs, 0);
    return run_pass(c, &pass);
}

/* sums of w log_p x and w d^2 over a chunk (median: of unit vectors and distances) */
SEXP riemdp_chunk_logs(SEXP m, SEXP x, SEXP weights, SEXP p, SEXP median)
{
    struct logs_args args = {x, weights, p, ffi_number(median, "median") != 0};
    return ffi_run(logs_body, &args, m, 0);
}

struct start_args {
    SEXP x, weights, reference;
};

static SEXP start_body(struct call *c, void *data)
{
    const struct start_args *in = data;
    manifold_t m = &c->m;
    struct arg x = records(c, in->x);
    size_t n = x.n, block = ffi_block(c);
    double *check = ffi_doubles(manifold_work(m));
    ffi_pack_all(c, &x, check);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &x, begin, end, 0, check);
        ffi_check_block(c, &x, y, NULL, y, begin, end, check);
        host_tick(m->host, 0, 0);
    }
    struct source source = ffi_source(c, &x, 0, check);
    const double *reference = stored(in->reference, m->ambient, "`reference` must be one point's numbers.");
    if (!reference)
        return ffi_keep(c, Rf_ScalarInteger(STATUS_UNSUPPORTED));
    double *seed = ffi_doubles(2 * m->ambient);
    for (size_t j = 0; j < m->ambient; j++) {
        seed[j] = 0;
        seed[m->ambient + j] = m->flags & MANIFOLD_REFERENCE ? reference[j] : 0;
    }
    struct chunk_start start = {seed, ffi_weights(in->weights, n)};
    struct chunk_pass pass = chunk_start_pass(m, &source, &start);
    return run_pass(c, &pass);
}

/* checks a chunk's records, aloud; sums for the start of a mean, or a status where there are none. reference: the first record
 * of all chunks, as stored; NULL: no start is asked for */
SEXP riemdp_chunk_start(SEXP m, SEXP x, SEXP weights, SEXP reference)
{
    struct start_args args = {x, weights, reference};
    return ffi_run(start_body, &args, m, 0);
}

struct pick_args {
    SEXP x, which;
};

static SEXP pick_body(struct call *c, void *data)
{
    const struct pick_args *in = data;
    manifold_t m = &c->m;
    struct arg x = records(c, in->x);
    double *work = ffi_doubles(manifold_work(m));
    if (TYPEOF(in->which) != REALSXP)
        ffi_abort_text("argument", "`which` must be numbers of records.");
    R_xlen_t count = XLENGTH(in->which);
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)m->ambient, (int)count));
    for (R_xlen_t k = 0; k < count; k++) {
        double i = REAL(in->which)[k];
        if (!(i >= 1 && i <= (double)x.n) || i != floor(i))
            ffi_abort_text("argument", "`which` must be numbers of records.");
        struct points y = ffi_block_points(c, &x, (size_t)i - 1, (size_t)i, 0, work);
        memcpy(REAL(out) + (size_t)k * m->ambient, y.x, m->ambient * sizeof(double));
    }
    return out;
}

/* records by number, stored as the kernels do, one a column */
SEXP riemdp_chunk_records(SEXP m, SEXP x, SEXP which)
{
    struct pick_args args = {x, which};
    return ffi_run(pick_body, &args, m, 0);
}

static SEXP reach_body(struct call *c, void *data)
{
    const struct logs_args *in = data;
    manifold_t m = &c->m;
    struct arg x = records(c, in->x);
    size_t n = x.n, block = ffi_block(c);
    const double *p = stored_point(c, in->p), *w = ffi_weights(in->weights, n);
    double *work = ffi_doubles(manifold_work(m)), near = INFINITY, far = 0, where = 0, here = 0;
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &x, begin, end, 0, work);
        for (size_t i = 0; i < end - begin; i++) {
            double d;
            if (same(m->ambient, p, at(y, i)))
                here += w ? w[begin + i] : 1;
            if (manifold_dist(m, &d, one(p), one(at(y, i)), 0, 1, work) != STATUS_OK) {
                far = INFINITY;
                continue;
            }
            far = d > far ? d : far;
            if (d < near && !(w && w[begin + i] == 0)) {
                near = d;
                where = (double)(begin + i) + 1;
            }
        }
        host_tick(m->host, 0, 0);
    }
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, 4));
    REAL(out)[0] = near;
    REAL(out)[1] = where;
    REAL(out)[2] = far;
    REAL(out)[3] = here;
    return out;
}

/* c(distance of the nearest record that counts, its number, largest distance, weight of the records that are p) */
SEXP riemdp_chunk_reach(SEXP m, SEXP x, SEXP weights, SEXP p)
{
    struct logs_args args = {x, weights, p, 0};
    return ffi_run(reach_body, &args, m, 0);
}

/* ---- private: nothing fails for what a record holds -------------------------------------------------------------------- */

struct ball_source {
    const struct call *c;
    const struct arg *a;
    struct ball_view view;
    int own_orientation; /* landmarks turned as they came */
    int aligned;         /* landmarks turned to the centre */
    double *buffer;      /* a block of each lane */
};

static int ball_read(const struct source *source, int lane, size_t begin, size_t end, double *work, struct points *out)
{
    const struct ball_source *s = source->data;
    manifold_t m = s->view.m;
    struct points given;
    double *to = s->buffer + (size_t)lane * source->block * m->ambient;
    ffi_read_total(s->c, s->a, lane, begin, end, work, &given);
    ball_view(&s->view, to, given, end - begin, work);
    for (size_t i = 0; i < end - begin && (s->own_orientation || s->aligned); i++)
        landmarks_rotate(m->rows, to + i * m->ambient, s->aligned ? s->view.centre : at(given, i));
    *out = (struct points){to, m->ambient};
    return STATUS_OK;
}

struct ball_args {
    SEXP x, centre, p, numbers;
    double radius;
    int what;
    SEXP unit; /* NULL, or numbers of `units` units */
    R_xlen_t units;
};

enum ball_sum {
    BALL_LOGS = 1,
    BALL_COORDS = 2,
    BALL_POINTS = 3,
    BALL_ALIGNED = 4,
    BALL_AS_GIVEN = 5,
    BALL_CENTRE_COORDS = 6
};

static SEXP ball_body(struct call *c, void *data)
{
    const struct ball_args *in = data;
    manifold_t m = &c->m;
    struct arg x = records(c, in->x);
    double *origin = ffi_doubles(m->ambient), *m0 = ffi_doubles(m->ambient);
    struct coords_within within = {origin, in->radius};
    memcpy(m0, stored_point(c, in->centre), m->ambient * sizeof *m0);
    int carried = in->what <= BALL_COORDS && manifold_carries(m);
    int landmarks = in->what == BALL_ALIGNED || in->what == BALL_AS_GIVEN;
    if (landmarks && m->model != MODEL_PLANAR)
        ffi_abort(c, STATUS_UNSUPPORTED, "what", -1);
    memcpy(origin, m0, m->ambient * sizeof *origin);
    if (carried)
        m->ops->origin(m, origin);
    struct ball_source s = {c,
                            &x,
                            {m, m0, origin, in->radius, carried},
                            in->what == BALL_AS_GIVEN,
                            in->what == BALL_ALIGNED,
                            ffi_doubles((size_t)c->threads * ffi_block(c) * m->ambient)};
    struct source source = {.n = x.n, .block = ffi_block(c), .lanes = c->threads, .read = ball_read, .data = &s};
    struct chunk_logs logs = {NULL, NULL, 0};
    struct chunk_pass pass;
    switch (in->what) {
    case BALL_LOGS:
        logs.p = stored_point(c, in->p);
        pass = chunk_logs_pass(m, &source, &logs, 1);
        break;
    case BALL_COORDS:
        pass = chunk_coords_pass(m, &source, origin);
        break;
    case BALL_CENTRE_COORDS:
        pass = chunk_short_coords_pass(m, &source, &within);
        break;
    default:
        pass = chunk_points_pass(m, &source);
    }
    return run_pass(c, &pass);
}

/* Sums over a chunk's records in the ball. what: "logs", logarithms at p (of the carried ball) and squared distances; "coords",
 * coordinates at the centre; "points"; "aligned", landmarks turned to the centre; "unturned", landmarks turned as given;
 * "centre_coords", as "coords", but where the ball is, not carried. */
SEXP riemdp_chunk_ball(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP p, SEXP what)
{
    static const char *const names[] = {
        [BALL_LOGS] = "logs",       [BALL_COORDS] = "coords",     [BALL_POINTS] = "points",
        [BALL_ALIGNED] = "aligned", [BALL_AS_GIVEN] = "unturned", [BALL_CENTRE_COORDS] = "centre_coords"};
    struct ball_args args = {.x = x, .centre = centre, .p = p, .numbers = R_NilValue, .unit = R_NilValue};
    args.radius = ffi_number(radius, "radius");
    if (!(args.radius > 0 && args.radius < INFINITY))
        ffi_abort_text("argument", "`radius` must be positive and finite.");
    args.what = ffi_choice(what, "what", names, BALL_CENTRE_COORDS + 1);
    return ffi_run(ball_body, &args, m, 1);
}

static SEXP counts_body(struct call *c, void *data)
{
    const struct ball_args *in = data;
    struct arg x = records(c, in->x);
    const double *p = stored_point(c, in->centre);
    const int *unit = in->unit == R_NilValue ? NULL : INTEGER(in->unit);
    if (unit && (size_t)XLENGTH(in->unit) != x.n)
        ffi_abort_text("shape", "`unit` must name a unit for each record.");
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, unit ? in->units : XLENGTH(in->numbers)));
    memset(REAL(out), 0, (size_t)XLENGTH(out) * sizeof(double));
    ffi_count_within(c, &x, p, REAL(in->numbers), (size_t)XLENGTH(in->numbers), unit, REAL(out));
    return out;
}

/* How many of a chunk's records lie within each radius of the centre; or of each of so many units, numbered from 1 or NA, how
 * many lie beyond the first radius */
SEXP riemdp_chunk_counts(SEXP m, SEXP x, SEXP centre, SEXP radii, SEXP unit, SEXP units)
{
    struct ball_args args = {.x = x, .centre = centre, .p = R_NilValue, .numbers = radii, .unit = unit};
    if (TYPEOF(radii) != REALSXP || XLENGTH(radii) < 1)
        ffi_abort_text("argument", "`radii` must be numbers.");
    if (unit != R_NilValue) {
        args.units = (R_xlen_t)ffi_number(units, "units");
        if (TYPEOF(unit) != INTSXP)
            ffi_abort_text("argument", "`unit` must be whole numbers.");
        for (R_xlen_t i = 0; i < XLENGTH(unit); i++)
            if (INTEGER(unit)[i] != NA_INTEGER && !(INTEGER(unit)[i] >= 1 && INTEGER(unit)[i] <= args.units))
                ffi_abort_text("argument", "`unit` must be numbers of units.");
    }
    return ffi_run(counts_body, &args, m, 1);
}

/* a point as the kernels store it */
static SEXP stored_body(struct call *c, void *data)
{
    manifold_t m = &c->m;
    struct arg p = ffi_arg(c, *(SEXP *)data, "p", KIND_POINT);
    double *work = ffi_doubles(manifold_work(m));
    if (p.n != 1)
        ffi_abort_text("shape", "`p` must be one point.");
    struct points y = ffi_block_points(c, &p, 0, 1, 0, work);
    ffi_check_block(c, &p, y, NULL, y, 0, 1, work);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)m->ambient));
    memcpy(REAL(out), y.x, m->ambient * sizeof(double));
    return out;
}

SEXP riemdp_stored(SEXP m, SEXP p)
{
    return ffi_run(stored_body, &p, m, 0);
}
