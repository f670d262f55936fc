/* Frechet means for R. */
#include "ffi.h"
#include "mean.h"

struct mean_args {
    SEXP x, weights, start;
    double tol;
    int max_iter, memory, median;
};

static SEXP mean_body(struct call *c, void *data)
{
    const struct mean_args *in = data;
    manifold_t m = &c->m;
    struct arg x = ffi_arg(c, in->x, "x", KIND_POINT);
    size_t n = x.n, block = ffi_block(c), dim = m->ambient;
    double *check = ffi_doubles(manifold_work(m)), *p = ffi_doubles(dim);
    const double *w = NULL;
    if (n == 0)
        ffi_abort_text("shape", "`x` must hold at least one record.");
    if (in->weights != R_NilValue) {
        if (TYPEOF(in->weights) != REALSXP || (size_t)XLENGTH(in->weights) != n)
            ffi_abort_text("argument", "`weights` must be numeric with one number for each record.");
        double total = 0;
        w = REAL(in->weights);
        for (size_t i = 0; i < n; i++) {
            if (!(w[i] >= 0 && w[i] < INFINITY))
                ffi_abort_text("argument", "`weights` must be finite and not negative.");
            total += w[i];
        }
        if (!(total > 0))
            ffi_abort_text("argument", "`weights` must not all be zero.");
    }
    double *acc = ffi_doubles(2 * dim), total = 0;
    ffi_pack_all(c, &x, check);
    int start_status = in->start == R_NilValue ? STATUS_OK : STATUS_UNSUPPORTED;
    for (size_t j = 0; j < 2 * dim; j++)
        acc[j] = 0;
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &x, begin, end, 0, check);
        ffi_check_block(c, &x, y, NULL, y, begin, end, check);
        if (start_status == STATUS_OK)
            start_status = manifold_start_add(m, acc, y, w ? w + begin : NULL, 0, end - begin, check);
        for (size_t i = 0; i < end - begin; i++) {
            double wi = w ? w[begin + i] : 1;
            if (total == 0 && wi > 0) /* the first record that counts, in case there is no better start */
                for (size_t j = 0; j < dim; j++)
                    p[j] = at(y, i)[j];
            total += wi;
        }
        host_tick(m->host, 0, 0);
    }
    if (in->start != R_NilValue) {
        struct arg start = ffi_arg(c, in->start, "start", KIND_POINT);
        if (start.n != 1)
            ffi_abort_text("shape", "`start` must be one point.");
        struct points s = ffi_block_points(c, &start, 0, 1, 0, check);
        ffi_check_block(c, &start, s, NULL, s, 0, 1, check);
        for (size_t j = 0; j < dim; j++)
            p[j] = s.x[j];
    } else if (start_status == STATUS_OK) {
        double *q = ffi_doubles(dim);
        if (manifold_start_end(m, q, acc, total, check) == STATUS_OK)
            p = q;
    }
    struct source source = ffi_source(c, &x, 0, check);
    struct mean_fit fit = {.tol = in->tol, .max_iter = in->max_iter, .memory = in->memory, .median = in->median};
    int status = mean_run(m, &source, w, p, &fit, ffi_doubles(mean_work(m, &source, in->memory)));
    if (status != STATUS_OK)
        ffi_abort(c, status == STATUS_CUT_LOCUS ? STATUS_CUT_LOCUS : STATUS_NO_CONVERGENCE,
                  in->median ? "median" : "mean", -1);
    /* largest distance of a record: decides uniqueness where curvature or the injectivity radius don't */
    double far = 0;
    for (size_t begin = 0; begin < n && (m->k_max > 0 || m->inj < INFINITY); begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &x, begin, end, 0, check);
        for (size_t i = 0; i < end - begin; i++) {
            double d;
            if (manifold_dist(m, &d, (struct points){p, 0}, (struct points){at(y, i), 0}, 0, 1, check) != STATUS_OK)
                d = INFINITY;
            if (d > far)
                far = d;
        }
        host_tick(m->host, 0, 0);
    }
    SEXP mean = ffi_single(c, &x, p);
    static const char *names[] = {"mean",      "gradient_norm", "gradient_floor", "iterations",
                                  "converged", "variance",      "farthest",       "tolerance"};
    enum { COUNT = 8 };
    SEXP list = ffi_keep(c, Rf_allocVector(VECSXP, COUNT)), nm = ffi_keep(c, Rf_allocVector(STRSXP, COUNT));
    for (int i = 0; i < COUNT; i++)
        SET_STRING_ELT(nm, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, nm);
    SET_VECTOR_ELT(list, 0, mean);
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(fit.gradient_norm));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(fit.gradient_floor));
    SET_VECTOR_ELT(list, 3, Rf_ScalarInteger(fit.iterations));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(fit.converged));
    SET_VECTOR_ELT(list, 5, Rf_ScalarReal(fit.variance));
    SET_VECTOR_ELT(list, 6, Rf_ScalarReal(far));
    SET_VECTOR_ELT(list, 7, Rf_ScalarReal(fit.tolerance));
    return list;
}

SEXP riemdp_mean(SEXP m, SEXP x, SEXP weights, SEXP start, SEXP tol, SEXP max_iter, SEXP memory, SEXP median)
{
    double iterations = ffi_number(max_iter, "max_iter"), pairs = ffi_number(memory, "memory");
    if (!(iterations >= 0 && iterations <= 1e9) || !(pairs >= 0 && pairs <= 100))
        ffi_abort_text("argument", "`max_iter` must be a count from 0 to 1e9 and `memory` one from 0 to 100.");
    struct mean_args args = {
        x, weights, start, ffi_number(tol, "tol"), (int)iterations, (int)pairs, ffi_number(median, "median") != 0};
    return ffi_run(mean_body, &args, m, 0);
}

/* c(step, count): the provable solver of the private mean, for tests and explain() */
SEXP riemdp_ball_steps(SEXP k_min, SEXP k_max, SEXP radius, SEXP tol)
{
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 2));
    mean_ball_steps(ffi_number(k_min, "k_min"), ffi_number(k_max, "k_max"), ffi_number(radius, "radius"),
                    ffi_number(tol, "tol"), REAL(out), REAL(out) + 1);
    UNPROTECT(1);
    return out;
}
