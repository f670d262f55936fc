#include <string.h>

#include "ffi.h"
#include "gauss_newton.h"

struct newton_args {
    SEXP p, v, x, y, turn, lambda, reach, legs;
};

static const double *finite_numbers(SEXP x, size_t n, const char *text)
{
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != n || !all_finite(n, REAL(x)))
        ffi_abort_text("argument", text);
    return REAL(x);
}

/* one checked point and checked tangent vectors there, packed */
static double *read_point(struct call *c, struct arg *p, double *work)
{
    double *out = ffi_doubles(c->m.ambient);
    if (p->n != 1)
        ffi_abort_text("shape", "`p` must be one point.");
    struct points at_p = ffi_block_points(c, p, 0, 1, 0, work);
    ffi_check_block(c, p, at_p, NULL, at_p, 0, 1, work);
    memcpy(out, at_p.x, c->m.ambient * sizeof *out);
    return out;
}

static double *read_vectors(struct call *c, SEXP v, struct arg *base, const double *p, size_t *count, double *work)
{
    struct arg a = ffi_arg(c, v, "v", KIND_TANGENT);
    size_t block = ffi_block(c);
    double *out = ffi_doubles(a.n * c->m.ambient);
    if (a.n < 1 || a.n > 100)
        ffi_abort_text("shape", "`v` must be 1 to 100 tangent vectors.");
    for (size_t begin = 0; begin < a.n; begin += block) {
        size_t end = begin + block < a.n ? begin + block : a.n;
        struct points b = ffi_block_points(c, &a, begin, end, 0, work);
        ffi_check_block(c, &a, b, base, one(p), begin, end, work);
        for (size_t i = begin; i < end; i++)
            memcpy(out + i * c->m.ambient, at(b, i - begin), c->m.ambient * sizeof *out);
    }
    *count = a.n;
    return out;
}

static SEXP frame_body(struct call *c, void *data)
{
    const struct newton_args *in = data;
    manifold_t m = &c->m;
    size_t d = m->dim, count;
    double *work = ffi_doubles(gauss_newton_frame_work(m) + manifold_work(m));
    struct arg base = ffi_arg(c, in->p, "p", KIND_POINT);
    double *p = read_point(c, &base, work), *v = read_vectors(c, in->v, &base, p, &count, work);
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, 2)), turn = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, (int)d));
    SEXP lambda = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)d));
    int status = gauss_newton_frame(m, p, v, REAL(turn), REAL(lambda), work);
    if (status != STATUS_OK)
        ffi_abort(c, status, "v", -1);
    if (count > 1) { /* several directions have no common frame: features of flat space */
        memset(REAL(turn), 0, d * d * sizeof(double));
        memset(REAL(lambda), 0, d * sizeof(double));
        for (size_t j = 0; j < d; j++)
            REAL(turn)[j * d + j] = 1;
    }
    SET_VECTOR_ELT(out, 0, turn);
    SET_VECTOR_ELT(out, 1, lambda);
    return out;
}

/* list(frame, eigenvalues): a function of p and v, which are public in a private fit */
SEXP riemdp_gauss_newton_frame(SEXP m, SEXP p, SEXP v)
{
    struct newton_args args = {.p = p, .v = v};
    return ffi_run(frame_body, &args, m, 0);
}

/* list(features, dim x (1 + k) x n; responses, dim x n) */
static SEXP records_body(struct call *c, void *data)
{
    const struct newton_args *in = data;
    manifold_t m = &c->m;
    size_t d = m->dim, k, block = ffi_block(c);
    double *work = ffi_doubles(gauss_newton_work(m));
    struct arg base = ffi_arg(c, in->p, "p", KIND_POINT), y = ffi_arg(c, in->y, "y", KIND_POINT);
    double *p = read_point(c, &base, work), *v = read_vectors(c, in->v, &base, p, &k, work);
    size_t n = y.n;
    double legs = ffi_number(in->legs, "legs");
    if (!(legs >= 1 && legs <= 1000))
        ffi_abort_text("argument", "`legs` must be between 1 and 1000.");
    if (TYPEOF(in->x) != REALSXP || (size_t)XLENGTH(in->x) != n * k || n < 1)
        ffi_abort_text("shape", "`x` must have as many columns as there are records and a row for each vector of `v`.");
    struct gauss_newton g = {
        .m = m,
        .predictors = k,
        .p = p,
        .v = v,
        .reach = finite_numbers(in->reach, k, "`reach` must be finite numbers, one for each predictor."),
        .turn = finite_numbers(in->turn, d * d, "`frame` must be a finite square matrix."),
        .lambda = finite_numbers(in->lambda, d, "`lambda` must be finite numbers, one for each coordinate."),
        .legs = (size_t)legs};
    for (size_t j = 0; j < k; j++)
        if (!(g.reach[j] > 0))
            ffi_abort_text("argument", "`reach` must be positive.");
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, 2));
    SEXP features = ffi_keep(c, Rf_alloc3DArray(REALSXP, (int)d, (int)(1 + k), (int)n));
    SEXP responses = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, (int)n));
    double *x = ffi_doubles(k);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points b = ffi_block_points(c, &y, begin, end, 1, work);
        for (size_t i = begin; i < end; i++) {
            for (size_t j = 0; j < k; j++) { /* clipped, so that bounds of the features hold for any x */
                double raw = REAL(in->x)[i * k + j];
                x[j] = isnan(raw) ? raw : fmax(-g.reach[j], fmin(g.reach[j], raw));
            }
            gauss_newton_record(&g, x, at(b, i - begin), REAL(features) + i * (1 + k) * d, REAL(responses) + i * d,
                                work);
            host_tick(m->host, 0, 0);
        }
    }
    SET_VECTOR_ELT(out, 0, features);
    SET_VECTOR_ELT(out, 1, responses);
    return out;
}

SEXP riemdp_gauss_newton_records_nonprivate(SEXP m, SEXP p, SEXP v, SEXP x, SEXP y, SEXP turn, SEXP lambda, SEXP reach,
                                            SEXP legs)
{
    struct newton_args args = {p, v, x, y, turn, lambda, reach, legs};
    return ffi_run(records_body, &args, m, 1);
}
