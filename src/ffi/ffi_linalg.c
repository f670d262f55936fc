/* The kernels of linalg_wide.h for tests: what a set of them makes of up to WIDE symmetric matrices. */
#include "ffi.h"
#include "linalg_wide.h"

static SEXP keep_matrices(struct call *c, size_t k, size_t count, const wide *a)
{
    SEXP out = ffi_keep(c, Rf_alloc3DArray(REALSXP, (int)k, (int)k, (int)count));
    for (size_t i = 0; i < count; i++)
        wide_take(k * k, i, a, REAL(out) + i * k * k);
    return out;
}

static SEXP keep_vectors(struct call *c, size_t k, size_t count, const wide *w)
{
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)k, (int)count));
    for (size_t i = 0; i < count; i++)
        wide_take(k, i, w, REAL(out) + i * k);
    return out;
}

/* list(status, values, vectors, values_alone, spectral) and, where the matrices are positive definite, chol, inverse, and
 * the whitened and unwhitened second argument, a product of each kind */
static SEXP wide_body(struct call *c, void *data)
{
    SEXP *in = data;
    struct arg x = ffi_arg(c, in[0], "x", KIND_TANGENT), y = ffi_arg(c, in[1], "y", KIND_TANGENT);
    double set = ffi_number(in[2], "set");
    size_t k = c->m.rows, n = k * k, count = x.n;
    if (k == 0 || c->m.cols != k || count < 1 || count > WIDE || y.n != count || !(set >= 0 && set <= WIDE_APART))
        ffi_abort_text("argument", "up to four pairs of symmetric matrices, and a set from 0 to 2.");
    const struct wide_kernels *kernels = wide_kernels_of((enum wide_set)set);
    if (!kernels)
        ffi_abort(c, STATUS_UNSUPPORTED, "set", -1);
    double *work = ffi_doubles(manifold_work(&c->m));
    const double *xs[WIDE], *ys[WIDE];
    for (size_t i = 0; i < WIDE; i++) {
        size_t which = i < count ? i : count - 1;
        double *copy = ffi_doubles(2 * n);
        struct points p = ffi_block_points(c, &x, which, which + 1, 0, work);
        for (size_t j = 0; j < n; j++)
            copy[j] = p.x[j];
        p = ffi_block_points(c, &y, which, which + 1, 0, work);
        for (size_t j = 0; j < n; j++)
            copy[n + j] = p.x[j];
        xs[i] = copy;
        ys[i] = copy + n;
    }
    wide *a = wide_align(ffi_doubles(WIDE * (5 * n + 2 * k + wide_work(k) + 1))), *b = a + n, *l = b + n, *s = l + n,
         *t = s + n, *w = t + n, *r = w + k, *rest = r + k;
    enum { STATUS, VALUES, VECTORS, ALONE, SPECTRAL, CHOL, INVERSE, WHITE, UNWHITE, MUL, MULT, SYMMETRIC, PARTS };
    static const char *names[PARTS] = {"status",     "values", "vectors",        "values_alone",
                                       "spectral",   "chol",   "inverse",        "whitened",
                                       "unwhitened", "mul",    "mul_transposed", "symmetric"};
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, PARTS)), labels = ffi_keep(c, Rf_allocVector(STRSXP, PARTS));
    for (int i = 0; i < PARTS; i++)
        SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
    Rf_setAttrib(out, R_NamesSymbol, labels);
    wide_load(k, xs, a);
    int status = kernels->symeig(k, count, a, w, 1, rest);
    if (status == STATUS_OK) {
        SET_VECTOR_ELT(out, VALUES, keep_vectors(c, k, count, w));
        SET_VECTOR_ELT(out, VECTORS, keep_matrices(c, k, count, a));
        kernels->spectral(k, count, a, w, s, rest);
        wide_mirror(k, s);
        SET_VECTOR_ELT(out, SPECTRAL, keep_matrices(c, k, count, s));
        wide_load(k, xs, a);
        status = kernels->symeig(k, count, a, w, 0, rest);
        SET_VECTOR_ELT(out, ALONE, keep_vectors(c, k, count, w));
    }
    if (status == STATUS_OK) {
        wide_load(k, xs, a);
        wide_load(k, ys, b);
        status = kernels->chol(k, count, a, l, r, rest);
    }
    if (status == STATUS_OK) {
        SET_VECTOR_ELT(out, CHOL, keep_matrices(c, k, count, l));
        kernels->inverse(k, count, l, r, s, rest);
        wide_mirror(k, s);
        SET_VECTOR_ELT(out, INVERSE, keep_matrices(c, k, count, s));
        kernels->whiten(k, count, l, r, b, s, rest);
        wide_mirror(k, s);
        SET_VECTOR_ELT(out, WHITE, keep_matrices(c, k, count, s));
        kernels->unwhiten(k, count, l, s, t, rest);
        wide_mirror(k, t);
        SET_VECTOR_ELT(out, UNWHITE, keep_matrices(c, k, count, t));
        wide_mirror(k, b);
        kernels->mul(k, count, l, b, s, rest);
        SET_VECTOR_ELT(out, MUL, keep_matrices(c, k, count, s));
        kernels->mul_transposed(k, count, l, b, t, rest);
        SET_VECTOR_ELT(out, MULT, keep_matrices(c, k, count, t));
        kernels->symmetric_product(k, count, s, l, t, rest);
        wide_mirror(k, t);
        SET_VECTOR_ELT(out, SYMMETRIC, keep_matrices(c, k, count, t));
    }
    SET_VECTOR_ELT(out, STATUS, Rf_ScalarInteger(status));
    return out;
}

SEXP riemdp_wide(SEXP m, SEXP x, SEXP y, SEXP set)
{
    SEXP in[] = {x, y, set};
    return ffi_run(wide_body, in, m, 0);
}
