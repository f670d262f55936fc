/* mf_points as R's C code sees them: a character vector in which the text of an element is the whole record, bit for bit. R makes
 * the texts only where somebody asks for them; until then the vector holds an n x ambient matrix (ALTREP), which is what kernels
 * read and write. R/points.R says why.
 *
 * A text: p (point) or t (tangent vector), 11 characters for the 64 bits of each number, 6 bits a character and the lowest first,
 * and 4 characters of a check that depends on numbers, kind and manifold, so that what code without knowledge of points made of a
 * text, or a text from another manifold, isn't taken for a point. A record with a missing number is NA. */
#include "ffi.h"

#include <R_ext/Altrep.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 11, CHECK = 4 }; /* characters */

static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

static int digit_value(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10
           : c >= 'a' && c <= 'z' ? c - 'a' + 36
           : c == '-'             ? 62
           : c == '_'             ? 63
                                  : -1;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 1099511628211u; /* FNV-1a, whose high bits are brought down */
    return h ^ h >> 32;
}

static uint64_t stamp_of(SEXP manifold, int depth)
{
    static const char *const parts[] = {"name", "label"};
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        SEXP s = ffi_list_get(manifold, parts[i]);
        const char *text = TYPEOF(s) == STRSXP && XLENGTH(s) == 1 ? CHAR(STRING_ELT(s, 0)) : "";
        for (; *text; text++)
            h = mix(h, (unsigned char)*text);
        h = mix(h, 256);
    }
    SEXP param = ffi_list_get(manifold, "param");
    R_xlen_t count = TYPEOF(param) == INTSXP || TYPEOF(param) == REALSXP ? XLENGTH(param) : 0;
    for (R_xlen_t i = 0; i < count; i++) {
        double v = TYPEOF(param) == INTSXP ? INTEGER(param)[i] : REAL(param)[i];
        h = mix(h, v >= 0 && v < 1e15 ? (uint64_t)v : 0);
    }
    SEXP factors = ffi_list_get(manifold, "parts"); /* of a product: its points are theirs */
    for (R_xlen_t i = 0; TYPEOF(factors) == VECSXP && depth <= DEEPEST_PRODUCT + 1 && i < XLENGTH(factors); i++)
        h = mix(h, stamp_of(VECTOR_ELT(factors, i), depth + 1));
    return h;
}

uint64_t ffi_stamp(SEXP manifold)
{
    return stamp_of(manifold, 0);
}

/* ---- texts ---------------------------------------------------------------------------------------------------------- */

static SEXP write_text(const double *x, size_t stride, size_t length, uint64_t stamp, int tangent, char *text)
{
    uint64_t check = mix(stamp, (uint64_t)tangent);
    char *at = text;
    *at++ = tangent ? 't' : 'p';
    for (size_t j = 0; j < length; j++) {
        double v = x[j * stride];
        if (ISNAN(v))
            return NA_STRING;
        v += 0.0; /* -0 is 0 */
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        check = mix(check, bits);
        for (int k = 0; k < NUMBER; k++, bits >>= 6)
            *at++ = digit[bits & 63];
    }
    for (int k = 0; k < CHECK; k++, check >>= 6)
        *at++ = digit[check & 63];
    return Rf_mkCharLenCE(text, (int)(at - text), CE_NATIVE);
}

/* 0 where text isn't that of a record, of this kind, of the manifold with this stamp */
static int read_text(SEXP element, double *x, size_t stride, size_t length, uint64_t stamp, int tangent)
{
    const char *text = CHAR(element);
    int wrong = element == NA_STRING || (size_t)LENGTH(element) != 1 + NUMBER * length + CHECK ||
                *text++ != (tangent ? 't' : 'p');
    uint64_t check = mix(stamp, (uint64_t)tangent);
    for (size_t j = 0; j < length && !wrong; j++) {
        uint64_t bits = 0;
        for (int k = 0; k < NUMBER; k++) {
            int v = digit_value((unsigned char)*text++);
            wrong |= v < 0;
            bits |= (uint64_t)(v & 63) << 6 * k;
        }
        check = mix(check, bits);
        memcpy(x + j * stride, &bits, sizeof bits);
    }
    for (int k = 0; k < CHECK && !wrong; k++, check >>= 6)
        wrong = *text++ != digit[check & 63];
    for (size_t j = 0; j < length && wrong; j++)
        x[j * stride] = NA_REAL;
    return !wrong || element == NA_STRING;
}

/* ---- the vector ------------------------------------------------------------------------------------------------------ */

/* data1: the matrix, NULL once somebody may have written to the texts. data2: list(texts or NULL, stamp and kind) */
static R_altrep_class_t points_class;

struct identity {
    uint64_t stamp;
    int tangent;
};

static SEXP rows_of(SEXP x)
{
    return R_altrep_data1(x);
}

static struct identity identity_of(SEXP x)
{
    struct identity id;
    memcpy(&id, RAW(VECTOR_ELT(R_altrep_data2(x), 1)), sizeof id);
    return id;
}

static SEXP text_at(SEXP x, R_xlen_t i, char *buffer)
{
    SEXP rows = rows_of(x);
    struct identity id = identity_of(x);
    size_t n = (size_t)Rf_nrows(rows);
    return write_text(REAL(rows) + i, n, (size_t)Rf_ncols(rows), id.stamp, id.tangent, buffer);
}

static char *text_room(SEXP x)
{
    return R_alloc(1 + NUMBER * (size_t)Rf_ncols(rows_of(x)) + CHECK, 1);
}

static SEXP all_texts(SEXP x)
{
    SEXP data = R_altrep_data2(x);
    if (VECTOR_ELT(data, 0) == R_NilValue) {
        const void *top = vmaxget();
        R_xlen_t n = Rf_nrows(rows_of(x));
        SEXP texts = PROTECT(Rf_allocVector(STRSXP, n));
        char *buffer = text_room(x);
        for (R_xlen_t i = 0; i < n; i++)
            SET_STRING_ELT(texts, i, text_at(x, i, buffer));
        SET_VECTOR_ELT(data, 0, texts);
        UNPROTECT(1);
        vmaxset(top);
    }
    return VECTOR_ELT(data, 0);
}

/* texts that somebody writes to are nobody else's, and from then on the truth */
static SEXP own_texts(SEXP x)
{
    SEXP texts = all_texts(x);
    if (MAYBE_SHARED(texts)) {
        texts = PROTECT(Rf_shallow_duplicate(texts));
        SET_VECTOR_ELT(R_altrep_data2(x), 0, texts);
        UNPROTECT(1);
    }
    R_set_altrep_data1(x, R_NilValue);
    return texts;
}

static R_xlen_t points_length(SEXP x)
{
    SEXP rows = rows_of(x);
    return rows == R_NilValue ? XLENGTH(VECTOR_ELT(R_altrep_data2(x), 0)) : Rf_nrows(rows);
}

static SEXP points_elt(SEXP x, R_xlen_t i)
{
    SEXP texts = VECTOR_ELT(R_altrep_data2(x), 0);
    if (texts != R_NilValue)
        return STRING_ELT(texts, i);
    const void *top = vmaxget();
    SEXP text = text_at(x, i, text_room(x));
    vmaxset(top);
    return text;
}

static void points_set_elt(SEXP x, R_xlen_t i, SEXP value)
{
    SET_STRING_ELT(own_texts(x), i, value);
}

static void *points_dataptr(SEXP x, Rboolean writeable)
{
    return (void *)STRING_PTR_RO(writeable ? own_texts(x) : all_texts(x));
}

static const void *points_dataptr_or_null(SEXP x)
{
    SEXP texts = VECTOR_ELT(R_altrep_data2(x), 0);
    return texts == R_NilValue ? NULL : STRING_PTR_RO(texts);
}

static SEXP points_duplicate(SEXP x, Rboolean deep)
{
    (void)deep;
    SEXP rows = rows_of(x);
    if (rows == R_NilValue)
        return NULL; /* as a plain vector */
    SEXP data = PROTECT(Rf_shallow_duplicate(R_altrep_data2(x)));
    SEXP out = R_new_altrep(points_class, rows, data);
    UNPROTECT(1);
    return out;
}

/* C code that wants numbers (var(), which.max(), the response of lm()) would get NA from a text, and a warning */
static SEXP points_coerce(SEXP x, int type)
{
    if (OBJECT(x) && (type == LGLSXP || type == INTSXP || type == REALSXP || type == CPLXSXP || type == RAWSXP))
        ffi_abort_text("unsupported", "points on a manifold are no numbers: as.matrix() gives the stored ones, mf_coords() coordinates.");
    return NULL;
}

void ffi_points_register(DllInfo *dll)
{
    points_class = R_make_altstring_class("points", "riemdp", dll);
    R_set_altrep_Length_method(points_class, points_length);
    R_set_altrep_Duplicate_method(points_class, points_duplicate);
    R_set_altrep_Coerce_method(points_class, points_coerce);
    R_set_altvec_Dataptr_method(points_class, points_dataptr);
    R_set_altvec_Dataptr_or_null_method(points_class, points_dataptr_or_null);
    R_set_altstring_Elt_method(points_class, points_elt);
    R_set_altstring_Set_elt_method(points_class, points_set_elt);
    /* none for serialisation: files hold the texts, and need no package to be read */
}

SEXP ffi_points_new(SEXP rows, SEXP manifold, int tangent, SEXP names)
{
    enum { MOST = 3 };
    static const char *const classes[MOST] = {"riemdp_tangents", "riemdp_points", "vctrs_vctr"};
    struct identity id = {0, 0};
    memset(&id, 0, sizeof id);
    id.stamp = ffi_stamp(manifold);
    id.tangent = tangent;
    SEXP data = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(data, 1, Rf_allocVector(RAWSXP, sizeof id));
    memcpy(RAW(VECTOR_ELT(data, 1)), &id, sizeof id);
    MARK_NOT_MUTABLE(rows);
    SEXP out = PROTECT(R_new_altrep(points_class, rows, data));
    int skipped = !tangent;
    SEXP class = PROTECT(Rf_allocVector(STRSXP, MOST - skipped));
    for (int i = skipped; i < MOST; i++)
        SET_STRING_ELT(class, i - skipped, Rf_mkChar(classes[i]));
    Rf_setAttrib(out, Rf_install("manifold"), manifold);
    if (TYPEOF(names) == STRSXP && XLENGTH(names) == XLENGTH(out))
        Rf_setAttrib(out, R_NamesSymbol, names);
    Rf_setAttrib(out, R_ClassSymbol, class);
    UNPROTECT(3);
    return out;
}

SEXP ffi_points_rows(SEXP x, size_t length, uint64_t stamp, int tangent, size_t *foreign)
{
    *foreign = 0;
    if (ALTREP(x) && R_altrep_inherits(x, points_class) && rows_of(x) != R_NilValue) {
        struct identity id = identity_of(x);
        if (id.stamp == stamp && id.tangent == tangent && (size_t)Rf_ncols(rows_of(x)) == length)
            return rows_of(x);
    }
    R_xlen_t n = XLENGTH(x);
    SEXP rows = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)length));
    for (R_xlen_t i = 0; i < n; i++)
        *foreign += !read_text(STRING_ELT(x, i), REAL(rows) + i, (size_t)n, length, stamp, tangent);
    UNPROTECT(1);
    return rows;
}

/* ---- for R ------------------------------------------------------------------------------------------------------------ */

static SEXP new_body(struct call *c, void *data)
{
    SEXP *in = data, rows = in[0], dim = Rf_getAttrib(rows, R_DimSymbol);
    if (TYPEOF(rows) != REALSXP || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || (size_t)INTEGER(dim)[1] != c->m.ambient)
        ffi_abort_text("shape", "points are stored as the rows of a matrix of numbers.");
    if (ATTRIB(rows) != R_NilValue && Rf_getAttrib(rows, R_DimNamesSymbol) != R_NilValue) {
        rows = ffi_keep(c, Rf_shallow_duplicate(rows));
        Rf_setAttrib(rows, R_DimNamesSymbol, R_NilValue);
    }
    return ffi_points_new(rows, in[1], Rf_asLogical(in[2]) == 1, in[3]);
}

SEXP riemdp_points(SEXP rows, SEXP m, SEXP tangent, SEXP names)
{
    SEXP in[] = {rows, m, tangent, names};
    return ffi_run(new_body, in, m, 0);
}

static SEXP rows_body(struct call *c, void *data)
{
    SEXP *in = data;
    size_t foreign;
    SEXP rows = ffi_keep(c, ffi_points_rows(in[0], c->m.ambient, c->stamp, Rf_asLogical(in[1]) == 1, &foreign));
    if (foreign > 0)
        ffi_abort_text("shape", "points must be as mf_points() makes them, all on the manifold of their vector.");
    return rows;
}

/* the n x ambient matrix behind points or their texts */
SEXP riemdp_points_rows(SEXP x, SEXP m, SEXP tangent)
{
    SEXP in[] = {x, tangent};
    if (TYPEOF(x) != STRSXP)
        ffi_abort_text("shape", "points must be as mf_points() makes them. (Those that an earlier version saved must be made again.)");
    return ffi_run(rows_body, in, m, 0);
}
