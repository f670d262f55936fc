/* Values between C and R, and how errors leave C. */
#include "ffi.h"
#include "lanes.h"

#include <stdio.h>
#include <string.h>

/* ---- statuses, errors ---------------------------------------------------------------------------------------------- */

struct status_text {
    const char *name, *suffix, *must, *mend;
};

static const struct status_text status_texts[] = {
#define X(name, suffix, must, mend) {#name, suffix, must, mend},
    RIEMDP_STATUSES(X)
#undef X
};

/* from how many seconds on work is shared among threads: for tests; what held before */
SEXP riemdp_lanes_least(SEXP seconds)
{
    return Rf_ScalarReal(lanes_least(Rf_asReal(seconds)));
}

SEXP riemdp_statuses(void)
{
    SEXP out = PROTECT(Rf_allocMatrix(STRSXP, STATUS_COUNT, 4));
    for (int i = 0; i < STATUS_COUNT; i++) {
        SET_STRING_ELT(out, i, Rf_mkChar(status_texts[i].name));
        SET_STRING_ELT(out, i + STATUS_COUNT, Rf_mkChar(status_texts[i].suffix));
        SET_STRING_ELT(out, i + 2 * STATUS_COUNT, Rf_mkChar(status_texts[i].must));
        SET_STRING_ELT(out, i + 3 * STATUS_COUNT, Rf_mkChar(status_texts[i].mend));
    }
    UNPROTECT(1);
    return out;
}

SEXP ffi_namespace(void)
{
    SEXP name = PROTECT(Rf_mkString("riemdp"));
    SEXP ns = R_FindNamespace(name);
    UNPROTECT(1);
    return ns;
}

void ffi_abort_text(const char *class_suffix, const char *text)
{
    SEXP ns = PROTECT(ffi_namespace());
    SEXP suffix = PROTECT(Rf_mkString(class_suffix)), message = PROTECT(Rf_mkString(text));
    SEXP expr = PROTECT(Rf_lang3(Rf_install("abort_riemdp"), suffix, message));
    Rf_eval(expr, ns);
    Rf_error("riemdp: %s", text); /* not reached */
}

void ffi_abort(struct call *c, int status, const char *label, double index)
{
    char text[1024];
    const struct status_text *s = status_texts + status;
    (void)c;
    if (index >= 0)
        snprintf(text, sizeof text, "`%s` %s (record %.0f). %s", label, s->must, index + 1, s->mend);
    else
        snprintf(text, sizeof text, "`%s` %s. %s", label, s->must, s->mend);
    ffi_abort_text(s->suffix, text);
}

SEXP ffi_keep(struct call *c, SEXP x)
{
    if (c->kept >= KEEP_MOST)
        ffi_abort_text("internal", "too many objects in one call");
    SET_VECTOR_ELT(c->keep, c->kept++, x);
    return x;
}

SEXP ffi_named_list(struct call *c, int count, const char *const *names)
{
    SEXP list = ffi_keep(c, Rf_allocVector(VECSXP, count)), nm = ffi_keep(c, Rf_allocVector(STRSXP, count));
    for (int i = 0; i < count; i++)
        SET_STRING_ELT(nm, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, nm);
    return list;
}

double *ffi_doubles(size_t n)
{
    if (n > (size_t)1 << 36) /* what R says of it is no error of ours */
        ffi_abort_text("unsupported", "this manifold is so large that its work doesn't fit into memory.");
    return (double *)R_alloc(n + 1, sizeof(double));
}

SEXP ffi_vector(const double *x, size_t n)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
    for (size_t j = 0; j < n; j++)
        REAL(out)[j] = x[j];
    return out;
}

SEXP ffi_list_get(SEXP list, const char *name)
{
    if (TYPEOF(list) != VECSXP)
        return R_NilValue;
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    if (TYPEOF(names) != STRSXP)
        return R_NilValue;
    for (R_xlen_t i = 0; i < XLENGTH(list) && i < XLENGTH(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    return R_NilValue;
}

double ffi_number(SEXP x, const char *label)
{
    char text[256];
    double v = NAN;
    if (TYPEOF(x) == REALSXP && XLENGTH(x) == 1)
        v = REAL(x)[0];
    else if ((TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) && XLENGTH(x) == 1 && INTEGER(x)[0] != NA_INTEGER)
        v = INTEGER(x)[0];
    if (isnan(v)) {
        snprintf(text, sizeof text, "`%s` must be one number, not missing.", label);
        ffi_abort_text("argument", text);
    }
    return v;
}

double ffi_range(SEXP x, const char *label, double least, double most)
{
    char text[256];
    double v = ffi_number(x, label);
    if (!(v >= least && v <= most)) {
        snprintf(text, sizeof text, "`%s` must be a number from %g to %g.", label, least, most);
        ffi_abort_text("argument", text);
    }
    return v;
}

double ffi_count(SEXP x, const char *label, double least, double most)
{
    char text[256];
    double v = ffi_number(x, label);
    if (!(v >= least && v <= most) || v != floor(v)) {
        snprintf(text, sizeof text, "`%s` must be a whole number from %g to %g.", label, least, most);
        ffi_abort_text("argument", text);
    }
    return v;
}

int ffi_flag(SEXP x, const char *label)
{
    return ffi_number(x, label) != 0;
}

int ffi_choice(SEXP x, const char *label, const char *const *names, int count)
{
    char text[256];
    const char *word = TYPEOF(x) == STRSXP && XLENGTH(x) == 1 ? CHAR(STRING_ELT(x, 0)) : "";
    for (int i = 0; i < count; i++)
        if (names[i] && strcmp(names[i], word) == 0)
            return i;
    int used = snprintf(text, sizeof text, "`%s` must be one of", label);
    for (int i = 0; i < count && used < (int)sizeof text; i++)
        if (names[i])
            used += snprintf(text + used, sizeof text - (size_t)used, " %s", names[i]);
    ffi_abort_text("argument", text);
}

SEXP ffi_field(SEXP list, const char *name)
{
    char text[256];
    SEXP value = ffi_list_get(list, name);
    if (value == R_NilValue) {
        snprintf(text, sizeof text, "a list must have the field `%s`.", name);
        ffi_abort_text("argument", text);
    }
    return value;
}
