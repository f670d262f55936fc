/* Arguments that are points, vectors or numbers, in whatever shape R holds them, and results in the same shape. */
#include "ffi.h"
#include "simd.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ----------------------------------------------------------------------------------------------------- */

static void abort_shape(struct call *c, const char *label, enum kind kind)
{
    char text[512], shape[256];
    const struct manifold *m = &c->m;
    if (kind == KIND_SCALAR)
        snprintf(shape, sizeof shape, "a numeric vector with one number for each record");
    else if (kind == KIND_COORDS)
        snprintf(shape, sizeof shape, "a numeric vector of length %zu or a matrix with %zu columns", m->dim, m->dim);
    else if (m->rows && !m->cols)
        snprintf(shape, sizeof shape,
                 "a complex vector of length %zu, a complex %zu x n matrix, a %zu x 2 matrix or a %zu x 2 x n array",
                 m->rows, m->rows, m->rows, m->rows);
    else if (m->rows)
        snprintf(shape, sizeof shape, "a %s %zu x %zu matrix or a %zu x %zu x n array", manifold_complex(m) ? "complex" : "numeric",
                 m->rows, m->cols, m->rows, m->cols);
    else
        snprintf(shape, sizeof shape, "a numeric vector of length %zu or a matrix with %zu columns", m->ambient,
                 m->ambient);
    snprintf(text, sizeof text, "`%s` must be %s%s.", label, shape,
             kind == KIND_POINT     ? " (or mf_points of this manifold; as_mf_points() makes them of other forms)"
             : kind == KIND_TANGENT ? " (or mf_points of this manifold)"
                                    : "");
    ffi_abort_text("shape", text);
}

/* integers of 64 bits, as package bit64 and databases hand them over: their bits stand where doubles would */
static SEXP whole_numbers(struct call *c, SEXP x)
{
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, XLENGTH(x)));
    for (R_xlen_t i = 0; i < XLENGTH(x); i++) {
        int64_t k;
        memcpy(&k, REAL(x) + i, sizeof k);
        REAL(out)[i] = k == INT64_MIN ? NA_REAL : (double)k;
    }
    Rf_setAttrib(out, R_DimSymbol, Rf_getAttrib(x, R_DimSymbol));
    return out;
}

/* whole numbers and a column of NA, which is logical, are numbers as well */
static int are_numbers(SEXP x, int of_complex)
{
    int type = TYPEOF(x);
    return type == REALSXP || type == LGLSXP || (type == INTSXP && !Rf_inherits(x, "factor")) || (type == CPLXSXP && of_complex);
}

static SEXP as_plain(struct call *c, SEXP x, const char *label, enum kind kind)
{
    if (TYPEOF(x) == VECSXP && Rf_inherits(x, "data.frame")) {
        SEXP ns = PROTECT(ffi_namespace());
        SEXP expr = PROTECT(Rf_lang2(Rf_install("data_frame_matrix"), x));
        x = ffi_keep(c, Rf_eval(expr, ns));
        UNPROTECT(2);
        if (Rf_inherits(x, "riemdp_points") && (kind == KIND_POINT || kind == KIND_TANGENT))
            return x;
    }
    int of_complex = manifold_complex(&c->m) && (kind == KIND_POINT || kind == KIND_TANGENT);
    if (!are_numbers(x, of_complex))
        abort_shape(c, label, kind);
    if (TYPEOF(x) == REALSXP && Rf_inherits(x, "integer64"))
        x = whole_numbers(c, x);
    /* real matrices are complex ones */
    SEXPTYPE to = TYPEOF(x) == CPLXSXP || (of_complex && c->m.cols) ? CPLXSXP : REALSXP;
    return TYPEOF(x) == (int)to ? x : ffi_keep(c, Rf_coerceVector(x, to));
}

/* The number of the product's first part that isn't among those of `other`, SIZE_MAX where one differs */
static int same_set(const struct manifold *m, SEXP other);
static size_t same_parts(const struct product *p, size_t i, SEXP other, int depth)
{
    SEXP parts = ffi_list_get(other, "parts");
    if (i >= p->count || depth > DEEPEST_PRODUCT + 1)
        return SIZE_MAX;
    if (TYPEOF(parts) != VECSXP)
        return same_set(&p->part[i].m, other) ? i + 1 : SIZE_MAX;
    for (R_xlen_t k = 0; k < XLENGTH(parts) && i != SIZE_MAX; k++)
        i = same_parts(p, i, VECTOR_ELT(parts, k), depth + 1);
    return i;
}

/* a manifold, of a product of one part that part */
static SEXP only_part(SEXP manifold)
{
    SEXP parts = ffi_list_get(manifold, "parts");
    return TYPEOF(parts) == VECSXP && XLENGTH(parts) == 1 ? VECTOR_ELT(parts, 0) : manifold;
}

/* whether points stored for manifold `other` are points of m: the same set in the same storage, whatever the metric */
static int same_set(const struct manifold *m, SEXP other)
{
    const struct product *own = manifold_parts(m);
    if (own && own->count == 1)
        return same_set(&own->part[0].m, other);
    other = only_part(other);
    if (own)
        return TYPEOF(ffi_list_get(other, "parts")) == VECSXP && same_parts(own, 0, other, 0) == own->count;
    SEXP name = ffi_list_get(other, "name"), param = ffi_list_get(other, "param");
    if (TYPEOF(name) != STRSXP || XLENGTH(name) != 1 || TYPEOF(param) != INTSXP)
        return 0;
    const char *a = m->ops->name, *b = CHAR(STRING_ELT(name, 0));
    size_t family = strcspn(a, "_"); /* spd_affine, spd_bures, ... */
    if (strncmp(a, b, family) != 0 || (b[family] != '\0' && b[family] != '_'))
        return 0;
    for (R_xlen_t i = 0; i < XLENGTH(param) && i < 2; i++)
        if (INTEGER(param)[i] != m->param[i])
            return 0;
    return 1;
}

/* mf_points, or a plain character vector of the texts of points of M (what is left where R drops a class). Private callers take
 * no texts: whether a string is one depends on the records, and a class doesn't. */
static struct arg points_arg(struct call *c, SEXP x, const char *label, enum kind kind)
{
    int classed = Rf_inherits(x, "riemdp_points"), tangent = kind == KIND_TANGENT;
    SEXP manifold = classed ? Rf_getAttrib(x, Rf_install("manifold")) : R_NilValue;
    if (TYPEOF(x) != STRSXP || XLENGTH(x) > INT_MAX ||
        (classed ? !same_set(&c->m, manifold) || (int)Rf_inherits(x, "riemdp_tangents") != tangent : c->quiet))
        abort_shape(c, label, kind);
    struct arg a = {.label = label, .kind = kind, .layout = LAYOUT_ROWS, .x = x, .length = c->m.ambient};
    a.n = (size_t)XLENGTH(x);
    a.many = classed || a.n != 1;
    if (!a.many)
        a.layout = LAYOUT_RECORDS;
    a.data =
        REAL(ffi_keep(c, ffi_points_rows(x, a.length, classed ? ffi_stamp(manifold) : c->stamp, tangent, &a.foreign)));
    if (!classed && a.foreign)
        abort_shape(c, label, kind);
    a.lane_size = (a.many ? ffi_block(c) : 1) * a.length;
    a.buffer = ffi_doubles((a.many ? (size_t)c->threads : 1) * a.lane_size);
    return a;
}

/* dimensions as R holds them; none: nd = 0 */
struct shape {
    int nd, d[3];
    size_t length;
};

static struct shape shape_of(SEXP x)
{
    SEXP dims = Rf_getAttrib(x, R_DimSymbol);
    struct shape s = {dims == R_NilValue ? 0 : (int)XLENGTH(dims), {0, 0, 0}, (size_t)XLENGTH(x)};
    for (int i = 0; i < s.nd && i < 3; i++)
        s.d[i] = INTEGER(dims)[i];
    return s;
}

static int is_matrix(const struct shape *s, int nd, size_t rows, size_t cols)
{
    return s->nd == nd && (size_t)s->d[0] == rows && (size_t)s->d[1] == cols;
}

static int single(struct arg *a)
{
    a->n = 1;
    a->many = 0;
    return 1;
}

static int count(struct arg *a, size_t n)
{
    a->n = n;
    return 1;
}

/* numbers, one a record */
static int scalars(struct arg *a, const struct shape *s)
{
    a->many = s->length != 1;
    return count(a, s->length);
}

/* Each of these fills what the shape says, or returns 0: vectors of a->length numbers, in rows where there are many; */
static int read_vectors(struct arg *a, const struct shape *s)
{
    if (TYPEOF(a->x) == CPLXSXP)
        return 0;
    if (s->nd <= 1 && a->length == 1)
        return scalars(a, s);
    if (s->nd <= 1 && s->length == a->length)
        return single(a);
    if (s->nd != 2 || (size_t)s->d[1] != a->length)
        return 0;
    a->layout = a->length == 1 ? LAYOUT_RECORDS : LAYOUT_ROWS;
    return count(a, (size_t)s->d[0]);
}

/* matrices of a manifold; of one column, x[, , i] has dropped its dimensions; */
static int read_matrices(struct arg *a, const struct shape *s, size_t rows, size_t cols)
{
    if (is_matrix(s, 2, rows, cols))
        return single(a);
    if (is_matrix(s, 3, rows, cols))
        return count(a, (size_t)s->d[2]);
    if (s->nd <= 1 && rows * cols == 1)
        return scalars(a, s);
    if (cols == 1 && s->nd <= 1 && s->length == rows)
        return single(a);
    return cols == 1 && s->nd == 2 && (size_t)s->d[0] == rows ? count(a, (size_t)s->d[1]) : 0;
}

/* landmarks, as complex numbers or in two columns */
static int read_landmarks(struct arg *a, const struct shape *s, size_t rows)
{
    if (TYPEOF(a->x) == CPLXSXP) {
        if (s->nd <= 1 && s->length == rows)
            return single(a);
        return s->nd == 2 && (size_t)s->d[0] == rows ? count(a, (size_t)s->d[1]) : 0;
    }
    a->layout = LAYOUT_PLANAR;
    if (is_matrix(s, 2, rows, 2))
        return single(a);
    return is_matrix(s, 3, rows, 2) ? count(a, (size_t)s->d[2]) : 0;
}

static size_t numbers_of(const struct manifold *m, enum kind kind)
{
    return kind == KIND_SCALAR ? 1 : kind == KIND_COORDS ? m->dim : m->ambient;
}

static int of_points(enum kind kind)
{
    return kind == KIND_POINT || kind == KIND_TANGENT;
}

static int read_shape(struct arg *a, const struct manifold *m)
{
    struct shape s = shape_of(a->x);
    if (!of_points(a->kind) || !m->rows)
        return read_vectors(a, &s);
    return m->cols ? read_matrices(a, &s, m->rows, m->cols) : read_landmarks(a, &s, m->rows);
}

struct arg ffi_arg(struct call *c, SEXP x, const char *label, enum kind kind)
{
    if (TYPEOF(x) == VECSXP && Rf_inherits(x, "data.frame"))
        x = as_plain(c, x, label, kind);
    if ((Rf_inherits(x, "riemdp_points") || TYPEOF(x) == STRSXP) && of_points(kind))
        return points_arg(c, x, label, kind);
    struct arg a = {.label = label, .kind = kind, .layout = LAYOUT_RECORDS, .many = 1};
    a.x = as_plain(c, x, label, kind);
    a.length = numbers_of(&c->m, kind);
    if (!read_shape(&a, &c->m))
        abort_shape(c, label, kind);
    a.data = TYPEOF(a.x) == CPLXSXP ? (const double *)COMPLEX(a.x) : REAL(a.x);
    if (!a.many && of_points(kind) && a.layout == LAYOUT_ROWS)
        a.layout = LAYOUT_RECORDS;
    if (a.layout != LAYOUT_RECORDS || (kind == KIND_POINT && (c->m.flags & MANIFOLD_SCALED_ENTRY))) {
        a.lane_size = (a.many ? ffi_block(c) : 1) * a.length;
        a.buffer = ffi_doubles((a.many ? (size_t)c->threads : 1) * a.lane_size);
    }
    return a;
}

/* Number of records that the arguments have in common. One record in the shape of many (a matrix of one row, mf_points of
 * length one) is recycled beside more. */
size_t ffi_common_length(struct arg *args, size_t count)
{
    char text[256];
    const struct arg *most = NULL;
    for (size_t i = 0; i < count; i++)
        if (args[i].many && (!most || (most->n == 1 && args[i].n != 1)))
            most = args + i;
    if (!most)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (!args[i].many || args[i].n == most->n)
            continue;
        if (args[i].n != 1) {
            snprintf(text, sizeof text, "`%s` has %zu records and `%s` %zu: give as many, or one.", most->label,
                     most->n, args[i].label, args[i].n);
            ffi_abort_text("shape", text);
        }
        args[i].many = 0;
    }
    return most->n;
}

size_t ffi_block(const struct call *c)
{
    return manifold_block(&c->m);
}

static void pack(const struct arg *a, size_t begin, size_t end, double *out)
{
    size_t len = a->length;
    if (a->layout == LAYOUT_ROWS) {
        simd_to_records(end - begin, len, a->data + begin, a->n, out);
    } else if (a->layout == LAYOUT_PLANAR) {
        size_t k = len / 2;
        for (size_t i = begin; i < end; i++)
            for (size_t j = 0; j < k; j++) {
                out[(i - begin) * len + 2 * j] = a->data[i * len + j];
                out[(i - begin) * len + 2 * j + 1] = a->data[i * len + k + j];
            }
    } else {
        memcpy(out, a->data + begin * len, (end - begin) * len * sizeof *out);
    }
}

int ffi_read_block(const struct call *c, const struct arg *a, int lane, size_t begin, size_t end, double *work,
                   struct points *out, size_t *bad)
{
    manifold_t m = &c->m;
    size_t stride = a->many ? a->length : 0;
    if (!a->many) {
        begin = 0;
        end = 1;
        lane = 0;
    }
    if (!a->buffer) {
        *out = (struct points){a->data + begin * a->length, stride};
        return STATUS_OK;
    }
    if (a->ready) {
        *out = (struct points){a->ready + begin * a->length, stride};
        return STATUS_OK;
    }
    double *buffer = a->buffer + (size_t)lane * a->lane_size;
    *out = (struct points){buffer, stride};
    pack(a, begin, end, buffer);
    if (a->kind == KIND_POINT && (m->flags & MANIFOLD_SCALED_ENTRY))
        for (size_t i = 0; i < end - begin; i++) {
            int status = m->ops->project(m, buffer, (struct points){buffer, a->length}, i, i + 1, work);
            if (status != STATUS_OK) {
                *bad = begin + i;
                return status;
            }
        }
    return STATUS_OK;
}

void ffi_pack_all(const struct call *c, struct arg *a, double *work)
{
    enum { MOST = 1 << 17 }; /* doubles: 1 MB */
    size_t block = ffi_block(c), bad;
    if (!a->buffer || !a->many || a->ready || a->n > MOST / a->length)
        return;
    double *all = ffi_doubles(a->n * a->length);
    for (size_t begin = 0; begin < a->n; begin += block) {
        size_t end = begin + block < a->n ? begin + block : a->n;
        struct points x;
        if (ffi_read_block(c, a, 0, begin, end, work, &x, &bad) != STATUS_OK)
            return; /* left to those who name bad records */
        memcpy(all + begin * a->length, x.x, (end - begin) * a->length * sizeof *all);
    }
    a->ready = all;
}

void ffi_read_total(const struct call *c, const struct arg *a, int lane, size_t begin, size_t end, double *work,
                    struct points *out)
{
    size_t bad = 0, count = a->many ? end - begin : 1;
    if (ffi_read_block(c, a, lane, begin, end, work, out, &bad) == STATUS_OK)
        return;
    /* record by record: what can't be brought to the manifold is NaN */
    manifold_t m = &c->m;
    double *buffer = a->buffer + (size_t)(a->many ? lane : 0) * a->lane_size;
    pack(a, a->many ? begin : 0, a->many ? end : 1, buffer);
    for (size_t i = 0; i < count; i++)
        if (m->ops->project(m, buffer, (struct points){buffer, a->length}, i, i + 1, work) != STATUS_OK)
            for (size_t j = 0; j < a->length; j++)
                buffer[i * a->length + j] = NAN;
}

struct points ffi_block_points(struct call *c, struct arg *a, size_t begin, size_t end, int forgiving, double *work)
{
    struct points out;
    size_t bad = 0;
    if (forgiving) {
        ffi_read_total(c, a, 0, begin, end, work, &out);
        return out;
    }
    int status = ffi_read_block(c, a, 0, begin, end, work, &out, &bad);
    if (status != STATUS_OK)
        ffi_abort(c, status, a->label, a->many ? (double)bad : -1);
    return out;
}

int ffi_check_range(manifold_t m, enum kind kind, struct points x, struct points p, size_t from, size_t to,
                    double *work)
{
    if (kind == KIND_POINT)
        return m->ops->check_point(m, x, from, to, work);
    if (kind == KIND_TANGENT)
        return m->ops->check_tangent(m, p, x, from, to, work);
    size_t len = kind == KIND_COORDS ? m->dim : 1;
    for (size_t i = from; i < to; i++)
        if (!all_finite(len, at(x, i)))
            return STATUS_NOT_FINITE;
    return STATUS_OK;
}

void ffi_check_block(struct call *c, struct arg *a, struct points x, struct arg *base, struct points p, size_t begin,
                     size_t end, double *work)
{
    manifold_t m = &c->m;
    int recycled = !a->many && !(a->kind == KIND_TANGENT && base && base->many);
    if (recycled && begin > 0)
        return;
    size_t count = recycled ? 1 : end - begin;
    if (ffi_check_range(m, a->kind, x, p, 0, count, work) == STATUS_OK)
        return;
    if (a->foreign)
        ffi_abort_text("shape", "points must be as mf_points() makes them, all on the manifold of their vector.");
    for (size_t i = 0; i < count; i++) {
        int status = ffi_check_range(m, a->kind, x, p, i, i + 1, work);
        if (status != STATUS_OK)
            ffi_abort(c, status, a->label, a->many ? (double)(begin + i) : -1);
    }
}

struct source_data {
    struct call *c;
    struct arg *a;
    int forgiving;
    double *work;
};

static struct points source_get(const struct source *source, size_t begin, size_t end)
{
    const struct source_data *s = source->data;
    return ffi_block_points(s->c, s->a, begin, end, s->forgiving, s->work);
}

static int source_read(const struct source *source, int lane, size_t begin, size_t end, double *work,
                       struct points *out)
{
    const struct source_data *s = source->data;
    size_t bad;
    return ffi_read_block(s->c, s->a, lane, begin, end, work, out, &bad);
}

struct source ffi_source(struct call *c, struct arg *a, int forgiving, double *work)
{
    ffi_pack_all(c, a, work);
    struct source_data *s = (struct source_data *)R_alloc(1, sizeof *s);
    *s = (struct source_data){c, a, forgiving, work};
    return (struct source){a->n, ffi_block(c), c->threads, source_get, source_read, s};
}

/* ---- results ------------------------------------------------------------------------------------------------------- */

static SEXP with_dim(SEXP x, int count, size_t d0, size_t d1, size_t d2)
{
    SEXP dim = PROTECT(Rf_allocVector(INTSXP, count));
    size_t d[3] = {d0, d1, d2};
    for (int i = 0; i < count; i++)
        INTEGER(dim)[i] = (int)d[i];
    Rf_setAttrib(x, R_DimSymbol, dim);
    UNPROTECT(1);
    return x;
}

static struct result points_result(struct call *c, struct result r, const struct arg *shape)
{
    SEXP rows = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)r.n, (int)r.length));
    r.x = ffi_keep(c, ffi_points_new(rows, Rf_getAttrib(shape->x, Rf_install("manifold")), r.kind == KIND_TANGENT,
                                     Rf_getAttrib(shape->x, R_NamesSymbol)));
    r.data = REAL(rows);
    r.layout = LAYOUT_ROWS;
    r.lane_size = ffi_block(c) * r.length;
    r.buffer = ffi_doubles((size_t)c->threads * r.lane_size);
    return r;
}

/* points like those of an argument: its dimensions and names */
static void shape_like(struct result *r, const struct arg *shape)
{
    if (shape->many && shape->layout == LAYOUT_ROWS)
        r->layout = LAYOUT_ROWS;
    else if (shape->layout == LAYOUT_PLANAR)
        r->layout = LAYOUT_PLANAR;
    Rf_setAttrib(r->x, R_DimSymbol, Rf_getAttrib(shape->x, R_DimSymbol));
    Rf_setAttrib(r->x, R_DimNamesSymbol, Rf_getAttrib(shape->x, R_DimNamesSymbol));
}

/* planar: landmarks in two columns, a single k x 2 that is stretched to many */
static void shape_anew(struct result *r, const struct manifold *m, int many, int planar)
{
    int matrices = r->kind != KIND_SCALAR && r->kind != KIND_COORDS && m->rows;
    if (r->kind == KIND_SCALAR)
        return;
    if (planar) {
        r->layout = LAYOUT_PLANAR;
        with_dim(r->x, many ? 3 : 2, m->rows, 2, r->n);
    } else if (matrices && !m->cols) {
        if (many)
            with_dim(r->x, 2, m->rows, r->n, 0);
    } else if (matrices) {
        with_dim(r->x, many ? 3 : 2, m->rows, m->cols, r->n);
    } else if (many && r->length > 1) {
        with_dim(r->x, 2, r->n, r->length, 0);
        r->layout = LAYOUT_ROWS;
    }
}

/* whether a result can look like an argument: both are points or tangents, and it isn't text */
static int can_be_like(const struct arg *shape, enum kind kind)
{
    return shape && of_points(shape->kind) && of_points(kind) &&
           (Rf_inherits(shape->x, "riemdp_points") || TYPEOF(shape->x) != STRSXP);
}

struct result ffi_result(struct call *c, enum kind kind, const struct arg *shape, size_t n, int many)
{
    const struct manifold *m = &c->m;
    struct result r = {.kind = kind, .layout = LAYOUT_RECORDS, .n = n, .length = numbers_of(m, kind)};
    int like = can_be_like(shape, kind), landmarks = of_points(kind) && m->rows && !m->cols;
    int planar = landmarks && like && TYPEOF(shape->x) == REALSXP, complex_numbers = of_points(kind) && manifold_complex(m);
    size_t total = n * r.length;
    if (like && shape->many && Rf_inherits(shape->x, "riemdp_points"))
        return points_result(c, r, shape);
    if (complex_numbers && !planar) {
        r.x = ffi_keep(c, Rf_allocVector(CPLXSXP, (R_xlen_t)(total / 2)));
        r.data = (double *)COMPLEX(r.x);
    } else {
        r.x = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)total));
        r.data = REAL(r.x);
    }
    if (like && (shape->many || !many))
        shape_like(&r, shape);
    else
        shape_anew(&r, m, many, planar);
    if (r.layout != LAYOUT_RECORDS) {
        r.lane_size = (many ? ffi_block(c) : 1) * r.length;
        r.buffer = ffi_doubles((size_t)c->threads * r.lane_size);
    }
    return r;
}

double *ffi_result_block(struct result *r, int lane, size_t begin)
{
    return r->buffer ? r->buffer + (size_t)lane * r->lane_size : r->data + begin * r->length;
}

void ffi_result_done(struct result *r, int lane, size_t begin, size_t end)
{
    size_t len = r->length;
    if (!r->buffer)
        return;
    const double *from = r->buffer + (size_t)lane * r->lane_size;
    if (r->layout == LAYOUT_ROWS) {
        enum { COLUMNS = 8 }; /* a cache line of each record at a time */
        size_t j = 0, n = r->n;
        for (; j + COLUMNS <= len; j += COLUMNS)
            for (size_t i = begin; i < end; i++) {
                const double *x = from + (i - begin) * len + j;
                double *to = r->data + j * n + i;
                for (size_t c = 0; c < COLUMNS; c++)
                    to[c * n] = x[c];
            }
        for (; j < len; j++)
            for (size_t i = begin; i < end; i++)
                r->data[j * n + i] = from[(i - begin) * len + j];
    } else {
        size_t k = len / 2;
        for (size_t i = begin; i < end; i++)
            for (size_t j = 0; j < k; j++) {
                r->data[i * len + j] = from[(i - begin) * len + 2 * j];
                r->data[i * len + k + j] = from[(i - begin) * len + 2 * j + 1];
            }
    }
}

SEXP ffi_single(struct call *c, const struct arg *like, const double *p)
{
    const struct manifold *m = &c->m;
    if (like && like->layout == LAYOUT_PLANAR) {
        SEXP y = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)m->rows, 2));
        for (size_t j = 0; j < m->rows; j++) {
            REAL(y)[j] = p[2 * j];
            REAL(y)[m->rows + j] = p[2 * j + 1];
        }
        return y;
    }
    struct result r = ffi_result(c, KIND_POINT, NULL, 1, 0);
    memcpy(r.data, p, m->ambient * sizeof *p);
    return r.x;
}
