/* Frechet means for R. */
#include "ffi.h"
#include "manifold_certified.h"
#include "mean.h"

struct mean_args {
    SEXP x, weights, start;
    double tol;
    int max_iter, memory, median;
};

/* a mean on its way */
struct mean_call {
    struct call *c;
    const struct mean_args *in;
    struct arg x;
    const double *w; /* or NULL */
    double *p;       /* start, then mean */
    double *work;    /* of the manifold */
};

static const double *read_weights(SEXP weights, size_t n)
{
    if (weights == R_NilValue)
        return NULL;
    if (TYPEOF(weights) != REALSXP || (size_t)XLENGTH(weights) != n)
        ffi_abort_text("argument", "`weights` must be numeric with one number for each record.");
    double total = 0;
    const double *w = REAL(weights);
    for (size_t i = 0; i < n; i++) {
        if (!(w[i] >= 0 && w[i] < INFINITY))
            ffi_abort_text("argument", "`weights` must be finite and not negative.");
        total += w[i];
    }
    if (!(total > 0))
        ffi_abort_text("argument", "`weights` must not all be zero.");
    return w;
}

/* Checks all records, and takes the first that counts as the start in case there is no better one. Adds them to `sums`,
 * from which a start is made; a status where that can't be. *total: the sum of weights */
static int pass_over_records(struct mean_call *k, double *sums, double *total)
{
    manifold_t m = &k->c->m;
    size_t n = k->x.n, block = ffi_block(k->c), dim = m->ambient;
    int status = k->in->start == R_NilValue ? STATUS_OK : STATUS_UNSUPPORTED;
    *total = 0;
    for (size_t j = 0; j < 2 * dim; j++)
        sums[j] = 0;
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(k->c, &k->x, begin, end, 0, k->work);
        ffi_check_block(k->c, &k->x, y, NULL, y, begin, end, k->work);
        if (status == STATUS_OK)
            status = manifold_start_add(m, sums, y, k->w ? k->w + begin : NULL, 0, end - begin, k->work);
        for (size_t i = 0; i < end - begin; i++) {
            double wi = k->w ? k->w[begin + i] : 1;
            if (*total == 0 && wi > 0)
                for (size_t j = 0; j < dim; j++)
                    k->p[j] = at(y, i)[j];
            *total += wi;
        }
        host_tick(m->host, 0, 0);
    }
    return status;
}

static void read_start(struct mean_call *k)
{
    struct arg start = ffi_arg(k->c, k->in->start, "start", KIND_POINT);
    if (start.n != 1)
        ffi_abort_text("shape", "`start` must be one point.");
    struct points s = ffi_block_points(k->c, &start, 0, 1, 0, k->work);
    ffi_check_block(k->c, &start, s, NULL, s, 0, 1, k->work);
    for (size_t j = 0; j < k->c->m.ambient; j++)
        k->p[j] = s.x[j];
}

/* all records are good after it */
static void find_start(struct mean_call *k)
{
    manifold_t m = &k->c->m;
    double *sums = ffi_doubles(2 * m->ambient), total;
    int status = pass_over_records(k, sums, &total);
    if (k->in->start != R_NilValue) {
        read_start(k);
    } else if (status == STATUS_OK) {
        double *q = ffi_doubles(m->ambient);
        if (manifold_start_end(m, q, sums, total, k->work) == STATUS_OK)
            k->p = q;
    }
}

/* largest distance of a record: decides uniqueness where curvature or the injectivity radius don't */
static double farthest_record(struct mean_call *k)
{
    manifold_t m = &k->c->m;
    size_t n = k->x.n, block = ffi_block(k->c);
    double far = 0, *d = ffi_doubles(block);
    for (size_t begin = 0; begin < n && (m->k_max > 0 || m->inj < INFINITY); begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(k->c, &k->x, begin, end, 0, k->work);
        int whole = manifold_dist(m, d, one(k->p), y, 0, end - begin, k->work) == STATUS_OK;
        for (size_t i = 0; i < end - begin; i++) {
            if (!whole && manifold_dist(m, d + i, one(k->p), one(at(y, i)), 0, 1, k->work) != STATUS_OK)
                d[i] = INFINITY;
            if (d[i] > far)
                far = d[i];
        }
        host_tick(m->host, 0, 0);
    }
    return far;
}

static SEXP mean_body(struct call *c, void *data)
{
    const struct mean_args *in = data;
    manifold_t m = &c->m;
    struct mean_call k = {.c = c, .in = in, .x = ffi_arg(c, in->x, "x", KIND_POINT)};
    k.work = ffi_doubles(manifold_work(m));
    k.p = ffi_doubles(m->ambient);
    if (k.x.n == 0)
        ffi_abort_text("shape", "`x` must hold at least one record.");
    k.w = read_weights(in->weights, k.x.n);
    ffi_pack_all(c, &k.x, k.work);
    find_start(&k);
    struct source source = ffi_source(c, &k.x, 0, k.work);
    struct mean_fit fit = {.tol = in->tol, .max_iter = in->max_iter, .memory = in->memory, .median = in->median};
    int status = mean_run(m, &source, k.w, k.p, &fit, ffi_doubles(mean_work(m, &source, in->memory)));
    if (status != STATUS_OK)
        ffi_abort(c, status == STATUS_CUT_LOCUS ? STATUS_CUT_LOCUS : STATUS_NO_CONVERGENCE,
                  in->median ? "median" : "mean", -1);
    double far = farthest_record(&k);
    static const char *const names[] = {"mean",      "gradient_norm", "gradient_floor", "iterations",
                                        "converged", "variance",      "farthest",       "tolerance"};
    SEXP list = ffi_named_list(c, 8, names);
    SET_VECTOR_ELT(list, 0, ffi_single(c, &k.x, k.p));
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

void ffi_check_certified(const struct call *c)
{
    if (!c->m.ops->certified)
        ffi_abort_text("unsupported", "`error = TRUE` is not available on this manifold: bounds of rounding errors are proven on Euclidean "
                                      "space, spheres, hyperbolic space, positive definite matrices with the affine-invariant or the Log-Euclidean metric, and their products.");
}

struct certified_args {
    SEXP x, weights, p;
};

static SEXP certified_mean_body(struct call *c, void *data)
{
    const struct certified_args *in = data;
    manifold_t m = &c->m;
    ffi_check_certified(c);
    struct arg x = ffi_arg(c, in->x, "x", KIND_POINT), p = ffi_arg(c, in->p, "p", KIND_POINT);
    const double *w = read_weights(in->weights, x.n);
    double *work = ffi_doubles(manifold_work(m)), *digits = ffi_doubles(certified_work(m));
    tf *sum = (tf *)ffi_doubles(sizeof(tf) / sizeof(double) * m->ambient);
    for (size_t j = 0; j < m->ambient; j++)
        sum[j] = tf_of(0);
    struct certified_mean s = {sum, tf_of(0), 0, 0};
    struct points at_mean = ffi_block_points(c, &p, 0, 1, 0, work);
    ffi_check_block(c, &p, at_mean, NULL, at_mean, 0, 1, work);
    size_t block = ffi_block(c);
    for (size_t begin = 0; begin < x.n; begin += block) {
        size_t end = begin + block < x.n ? begin + block : x.n;
        struct points y = ffi_block_points(c, &x, begin, end, 0, work);
        ffi_check_block(c, &x, y, NULL, y, begin, end, work);
        certified_mean_add(m, &s, at_mean.x, y, w ? w + begin : NULL, 0, end - begin, digits);
        host_tick(m->host, (double)end, (double)x.n);
    }
    return Rf_ScalarReal(certified_mean_error(m, &s));
}

SEXP riemdp_certified_mean(SEXP m, SEXP x, SEXP weights, SEXP p)
{
    return ffi_run(certified_mean_body, &(struct certified_args){x, weights, p}, m, 0);
}
