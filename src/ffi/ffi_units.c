/* Units: for each the mean of its own records in the public ball, a function of these records alone, for R. */
#include "ffi_steps.h"

#include "linalg.h"

/* unit: for each record the number of its unit from 1, NA for none. Nothing fails for what a record holds. */
struct units_args {
    SEXP x, centre, unit;
    size_t count;
    struct steps_numbers number;
};

/* where each unit's records begin among all records of units, sorted by them; y: their points in the model space, in this order */
static size_t *sort_units(const struct units_args *in, const double *from, size_t size, size_t n, double *y)
{
    const int *unit = INTEGER(in->unit);
    size_t *begin = (size_t *)R_alloc(in->count + 1, sizeof *begin), *next = (size_t *)R_alloc(in->count, sizeof *next);
    for (size_t u = 0; u <= in->count; u++)
        begin[u] = 0;
    for (size_t i = 0; i < n; i++)
        if (unit[i] != NA_INTEGER)
            begin[unit[i]]++;
    for (size_t u = 0; u < in->count; u++) {
        next[u] = begin[u];
        begin[u + 1] += begin[u];
    }
    for (size_t i = 0; i < n; i++)
        if (unit[i] != NA_INTEGER) {
            double *to = y + next[unit[i] - 1]++ * size;
            for (size_t j = 0; j < size; j++)
                to[j] = from[i * size + j];
        }
    return begin;
}

/* records that another call moved to the ball: their coordinates, a column a record, as it gave them */
static size_t gathered(struct steps *s, SEXP x)
{
    size_t d = s->mean.dim, size = steps_point_size(&s->mean);
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) % d != 0 || !all_finite((size_t)XLENGTH(x), REAL(x)))
        ffi_abort_text("argument", "`x` must be coordinates, a column a record.");
    size_t n = (size_t)XLENGTH(x) / d;
    double *y = ffi_doubles(n * size + 1);
    for (size_t i = 0; i < n; i++)
        if (!(norm2(d, REAL(x) + i * d) <= s->mean.radius))
            ffi_abort_text("argument", "`x` must be coordinates of points in the ball.");
    steps_embed_all(&s->mean, n, REAL(x), d, y, size, s->work);
    s->records.y = y;
    return n;
}

static SEXP unit_coords_body(struct call *c, void *data)
{
    const struct units_args *in = data;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(m->ambient);
    struct ffi_sample x = {.n = (size_t)XLENGTH(in->unit)};
    if (in->centre != R_NilValue)
        x = ffi_sample(c, in->x, in->centre, work);
    if (x.elsewhere || (size_t)XLENGTH(in->unit) != x.n)
        ffi_abort_text("shape", "`unit` must name a unit for each record.");
    if ((double)in->count * (double)m->ambient > 1e9)
        ffi_abort_text("argument",
                       "There are too many units for the memory: drop levels of `unit` that have no record.");
    struct steps s = ffi_steps_make(c, &in->number, x.n);
    if (in->centre == R_NilValue) {
        if (gathered(&s, in->x) != x.n)
            ffi_abort_text("shape", "`unit` must name a unit for each record.");
    } else {
        ffi_steps_reference(&s, x.centre, o);
        ffi_steps_records(&s, &x.x, x.centre, o, NULL, work);
    }
    size_t size = steps_point_size(&s.mean), d = m->dim;
    double *y = ffi_doubles(x.n * size + 1);
    size_t *begin = sort_units(in, s.records.y, size, x.n, y);
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, (int)in->count));
    for (size_t u = 0; u < in->count; u++) {
        double *a = REAL(out) + u * d;
        for (size_t j = 0; j < d; j++)
            a[j] = 0;
        s.records.n = begin[u + 1] - begin[u];
        s.records.y = y + begin[u] * size;
        if (s.records.n)
            mean_steps_run(&s.mean, &s.records, NULL, a, s.sum, m->host, s.work);
        host_tick(m->host, 0, 0);
    }
    return out;
}

/* Coordinates of the units' means, a column a unit; 0, the centre's, where one has no record. centre: NULL where x holds what
 * riemdp_unit_rows() gave. */
SEXP riemdp_unit_coords(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP unit, SEXP count)
{
    struct units_args args = {.x = x, .centre = centre, .unit = unit};
    args.count = (size_t)ffi_count(count, "count", 1, 1e9);
    ffi_steps_read(numbers, &args.number);
    if (TYPEOF(unit) != INTSXP)
        ffi_abort_text("argument", "`unit` must hold whole numbers.");
    for (R_xlen_t i = 0; i < XLENGTH(unit); i++)
        if (INTEGER(unit)[i] != NA_INTEGER && (INTEGER(unit)[i] < 1 || (size_t)INTEGER(unit)[i] > args.count))
            ffi_abort_text("argument", "`unit` must hold numbers of units.");
    return ffi_run(unit_coords_body, &args, m, 1);
}

/* x: records, of which the points have the shape, or NULL; which: numbers of records; coords: coordinates */
struct unit_args {
    SEXP x, centre, which;
    struct steps_numbers number;
};

static SEXP unit_rows_body(struct call *c, void *data)
{
    const struct unit_args *in = data;
    manifold_t m = &c->m;
    size_t d = m->dim, count = (size_t)XLENGTH(in->which);
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(m->ambient), *v = ffi_doubles(m->ambient),
           *to = ffi_doubles(m->ambient);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    if (x.elsewhere)
        ffi_abort_text("shape", "`x` must be records.");
    struct steps s = ffi_steps_make(c, &in->number, x.n);
    ffi_steps_reference(&s, x.centre, o);
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, (int)count));
    for (size_t k = 0; k < count; k++) {
        double i = REAL(in->which)[k];
        if (!(i >= 1 && i <= (double)x.n) || i != floor(i))
            ffi_abort_text("argument", "`which` must be numbers of records.");
        struct points from = ffi_block_points(c, &x.x, (size_t)i - 1, (size_t)i, 1, work);
        ffi_steps_record(&s, x.centre, o, from.x, REAL(out) + k * d, to, v, work);
        if (k % 256 == 255)
            host_tick(m->host, 0, 0);
    }
    return out;
}

/* Coordinates of these records moved to the ball, a column a record */
SEXP riemdp_unit_rows(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP which)
{
    struct unit_args args = {.x = x, .centre = centre, .which = which};
    ffi_steps_read(numbers, &args.number);
    if (TYPEOF(which) != REALSXP)
        ffi_abort_text("argument", "`which` must be numbers of records.");
    return ffi_run(unit_rows_body, &args, m, 1);
}

static SEXP unit_points_body(struct call *c, void *data)
{
    const struct unit_args *in = data;
    manifold_t m = &c->m;
    size_t d = m->dim;
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(m->ambient), *p = ffi_doubles(m->ambient),
           *v = ffi_doubles(m->ambient), *m0 = ffi_doubles(m->ambient);
    struct arg centre = ffi_arg(c, in->centre, "center", KIND_POINT), like = {.label = "x"};
    if (TYPEOF(in->which) != REALSXP || (size_t)XLENGTH(in->which) % d != 0 ||
        !all_finite((size_t)XLENGTH(in->which), REAL(in->which)) || centre.n != 1)
        ffi_abort_text("argument", "`coords` must be coordinates, a column a point, and `center` one point.");
    struct points given = ffi_block_points(c, &centre, 0, 1, 0, work);
    ffi_check_block(c, &centre, given, NULL, given, 0, 1, work);
    for (size_t j = 0; j < m->ambient; j++)
        m0[j] = given.x[j];
    size_t count = (size_t)XLENGTH(in->which) / d;
    struct steps s = ffi_steps_make(c, &in->number, count);
    ffi_steps_reference(&s, m0, o);
    if (in->x != R_NilValue) { /* as many points as there are units, without names */
        like = ffi_arg(c, in->x, "x", KIND_POINT);
        like.many = 0;
    }
    struct result r = ffi_result(c, KIND_POINT, in->x == R_NilValue ? NULL : &like, count, 1);
    for (size_t u = 0; u < count; u++) {
        ffi_steps_point(&s, o, REAL(in->which) + u * d, p, v, work);
        manifold_from_reference(m, s.carried, m0, p, ffi_result_block(&r, 0, u), work);
        ffi_result_done(&r, 0, u, u + 1);
    }
    return r.x;
}

/* the points with these coordinates, in the shape of x where it isn't NULL */
SEXP riemdp_unit_points(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP coords)
{
    struct unit_args args = {.x = x, .centre = centre, .which = coords};
    ffi_steps_read(numbers, &args.number);
    return ffi_run(unit_points_body, &args, m, 1);
}
