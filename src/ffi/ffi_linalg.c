/* The kernels of linalg_wide.h for tests: what a set of them makes of up to WIDE symmetric matrices. */
#include "ffi.h"
#include "twofold.h"
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

enum { STATUS, VALUES, VECTORS, ALONE, SPECTRAL, CHOL, INVERSE, WHITE, UNWHITE, MUL, MULT, SYMMETRIC, PARTS };

/* two arguments of up to four matrices each, the set of instructions, and room */
struct wide_test {
    const struct wide_kernels *kernels;
    size_t k, count;
    const double *x[WIDE], *y[WIDE];
    wide *a, *b, *l, *s, *t, *w, *r, *rest;
};

static void read_wide(struct call *c, struct wide_test *o, SEXP *in)
{
    struct arg x = ffi_arg(c, in[0], "x", KIND_TANGENT), y = ffi_arg(c, in[1], "y", KIND_TANGENT);
    double set = ffi_number(in[2], "set");
    size_t k = c->m.rows, n = k * k, count = x.n;
    if (k == 0 || c->m.cols != k || count < 1 || count > WIDE || y.n != count || !(set >= 0 && set <= WIDE_APART))
        ffi_abort_text("argument", "up to four pairs of symmetric matrices, and a set from 0 to 2.");
    o->kernels = wide_kernels_of((enum wide_set)set);
    if (!o->kernels)
        ffi_abort(c, STATUS_UNSUPPORTED, "set", -1);
    o->k = k;
    o->count = count;
    double *work = ffi_doubles(manifold_work(&c->m));
    for (size_t i = 0; i < WIDE; i++) {
        size_t which = i < count ? i : count - 1;
        double *copy = ffi_doubles(2 * n);
        struct points p = ffi_block_points(c, &x, which, which + 1, 0, work);
        for (size_t j = 0; j < n; j++)
            copy[j] = p.x[j];
        p = ffi_block_points(c, &y, which, which + 1, 0, work);
        for (size_t j = 0; j < n; j++)
            copy[n + j] = p.x[j];
        o->x[i] = copy;
        o->y[i] = copy + n;
    }
    o->a = wide_align(ffi_doubles(WIDE * (5 * n + 2 * k + wide_work(k) + 1)));
    o->b = o->a + n;
    o->l = o->b + n;
    o->s = o->l + n;
    o->t = o->s + n;
    o->w = o->t + n;
    o->r = o->w + k;
    o->rest = o->r + k;
}

static void keep(struct call *c, const struct wide_test *o, SEXP out, int part, wide *x, int symmetric)
{
    if (symmetric)
        wide_mirror(o->k, x);
    SET_VECTOR_ELT(out, part, keep_matrices(c, o->k, o->count, x));
}

static int test_spectra(struct call *c, const struct wide_test *o, SEXP out)
{
    wide_load(o->k, o->x, o->a);
    int status = o->kernels->symeig(o->k, o->count, o->a, o->w, 1, o->rest);
    if (status != STATUS_OK)
        return status;
    SET_VECTOR_ELT(out, VALUES, keep_vectors(c, o->k, o->count, o->w));
    keep(c, o, out, VECTORS, o->a, 0);
    o->kernels->spectral(o->k, o->count, o->a, o->w, o->s, o->rest);
    keep(c, o, out, SPECTRAL, o->s, 1);
    wide_load(o->k, o->x, o->a);
    status = o->kernels->symeig(o->k, o->count, o->a, o->w, 0, o->rest);
    SET_VECTOR_ELT(out, ALONE, keep_vectors(c, o->k, o->count, o->w));
    return status;
}

static int test_factors(struct call *c, const struct wide_test *o, SEXP out)
{
    size_t k = o->k, count = o->count;
    wide_load(k, o->x, o->a);
    wide_load(k, o->y, o->b);
    int status = o->kernels->chol(k, count, o->a, o->l, o->r, o->rest);
    if (status != STATUS_OK)
        return status;
    keep(c, o, out, CHOL, o->l, 0);
    o->kernels->inverse(k, count, o->l, o->r, o->s, o->rest);
    keep(c, o, out, INVERSE, o->s, 1);
    o->kernels->whiten(k, count, o->l, o->r, o->b, o->s, o->rest);
    keep(c, o, out, WHITE, o->s, 1);
    o->kernels->unwhiten(k, count, o->l, o->s, o->t, o->rest);
    keep(c, o, out, UNWHITE, o->t, 1);
    wide_mirror(k, o->b);
    o->kernels->mul(k, count, o->l, o->b, o->s, o->rest);
    keep(c, o, out, MUL, o->s, 0);
    o->kernels->mul_transposed(k, count, o->l, o->b, o->t, o->rest);
    keep(c, o, out, MULT, o->t, 0);
    o->kernels->symmetric_product(k, count, o->s, o->l, o->t, o->rest);
    keep(c, o, out, SYMMETRIC, o->t, 1);
    return STATUS_OK;
}

/* list(status, values, vectors, values_alone, spectral) and, where the matrices are positive definite, chol, inverse, and
 * the whitened and unwhitened second argument, a product of each kind */
static SEXP wide_body(struct call *c, void *data)
{
    static const char *const names[PARTS] = {"status",     "values", "vectors",        "values_alone",
                                             "spectral",   "chol",   "inverse",        "whitened",
                                             "unwhitened", "mul",    "mul_transposed", "symmetric"};
    struct wide_test o;
    read_wide(c, &o, data);
    SEXP out = ffi_named_list(c, PARTS, names);
    int status = test_spectra(c, &o, out);
    if (status == STATUS_OK)
        status = test_factors(c, &o, out);
    SET_VECTOR_ELT(out, STATUS, Rf_ScalarInteger(status));
    return out;
}

SEXP riemdp_wide(SEXP m, SEXP x, SEXP y, SEXP set)
{
    SEXP in[] = {x, y, set};
    return ffi_run(wide_body, in, m, 0);
}

static const char *const twofold_operations[] = {"add", "multiply", "divide", "root", "sine", "cosine", "sinh", "cosh", "exp", "log", "asinh", "angle"};

static tf twofold_result(int which, tf a, tf b)
{
    tf s = a, c = a;
    switch (which) {
    case 0:
        return tf_add(a, b);
    case 1:
        return tf_multiply(a, b);
    case 2:
        return tf_divide(a, b);
    case 3:
        return tf_root(a);
    case 8:
        return tf_exp(a);
    case 9:
        return tf_log(a);
    case 10:
        return tf_asinh(a);
    case 11:
        return tf_angle(a, b);
    default:
        tf_sines(which < 6 ? -1 : 1, a, &s, &c);
        return which % 2 ? c : s;
    }
}

/* Tests the arithmetic of certified digits: the operation named on numbers of three doubles each, one number after the other. */
SEXP riemdp_twofold(SEXP operation, SEXP x, SEXP y)
{
    int which = ffi_choice(operation, "operation", twofold_operations, sizeof twofold_operations / sizeof *twofold_operations);
    if (TYPEOF(x) != REALSXP || TYPEOF(y) != REALSXP || XLENGTH(x) != XLENGTH(y) || XLENGTH(x) % 3)
        ffi_abort_text("argument", "`x` and `y` must be as many numbers, three doubles each.");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, XLENGTH(x)));
    const double *a = REAL(x), *b = REAL(y);
    for (R_xlen_t i = 0; i < XLENGTH(x); i += 3) {
        tf r = twofold_result(which, (tf){a[i], a[i + 1], a[i + 2]}, (tf){b[i], b[i + 1], b[i + 2]});
        REAL(out)[i] = r.hi;
        REAL(out)[i + 1] = r.lo;
        REAL(out)[i + 2] = r.off;
    }
    UNPROTECT(1);
    return out;
}
