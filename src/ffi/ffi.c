#include "ffi.h"
#include "lanes.h"

#include <R_ext/Random.h>
#include <R_ext/Utils.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- host: interrupts and progress --------------------------------------------------------------------------------- */

static void progress_call(const char *name, double done, double of)
{
    SEXP ns = PROTECT(ffi_namespace());
    SEXP a = PROTECT(Rf_ScalarReal(done)), b = PROTECT(Rf_ScalarReal(of));
    SEXP expr = PROTECT(Rf_lang3(Rf_install(name), a, b));
    Rf_eval(expr, ns);
    UNPROTECT(4);
}

static double progress_wait(void)
{
    SEXP expr = PROTECT(Rf_lang1(Rf_install("progress_wait")));
    double wait = Rf_asReal(Rf_eval(expr, ffi_namespace()));
    UNPROTECT(1);
    return wait;
}

static void tick(struct host *base, double done, double of)
{
    struct ffi_host *host = (struct ffi_host *)base;
#ifdef _OPENMP
    if (omp_in_parallel()) /* R is for the main thread, and no jump may leave a parallel region */
        return;
#endif
    double t = lanes_clock();
    if (host->wait < 0)
        host->wait = progress_wait();
    if (t - host->checked < 0.005 && host->wait > 0)
        return;
    host->checked = t;
    /* Whatever R runs here (a bar, handlers, finalizers) may draw from R's generator: a simulation goes on from where it was. */
    SEXP seed = R_NilValue;
    if (host->simulate) {
        PutRNGstate();
        seed = PROTECT(Rf_findVarInFrame(R_GlobalEnv, Rf_install(".Random.seed")));
    }
    R_CheckUserInterrupt();
    if (t - host->started >= host->wait && (t - host->drawn > 0.2 || !(host->wait > 0))) {
        host->drawn = t;
        host->shown = 1;
        progress_call("progress_tick", done, of);
    }
    if (host->simulate) {
        Rf_defineVar(Rf_install(".Random.seed"), seed, R_GlobalEnv);
        GetRNGstate();
        UNPROTECT(1);
    }
}

static void fail(struct host *base, int status)
{
    (void)base;
    ffi_abort(NULL, status, "randomness", -1);
}

static double uniform(struct host *base)
{
    (void)base;
    return unif_rand();
}

static double normal(struct host *base)
{
    (void)base;
    return norm_rand();
}

/* ---- one call ------------------------------------------------------------------------------------------------------ */

struct run {
    SEXP (*body)(struct call *c, void *data);
    void *data;
    SEXP manifold; /* NULL: the call is about no manifold */
    struct call call;
};

static SEXP run_body(void *data)
{
    struct run *r = data;
    if (r->manifold)
        ffi_manifold_read(&r->call, r->manifold);
    return r->body(&r->call, r->data);
}

static void run_cleanup(void *data)
{
    struct run *r = data;
    if (r->call.host.shown) {
        r->call.host.shown = 0;
        progress_call("progress_hide", 0, 0);
    }
}

SEXP ffi_run(SEXP (*body)(struct call *c, void *data), void *data, SEXP manifold, int quiet)
{
    struct run r = {body, data, manifold, {.keep = R_NilValue}};
    r.call.host.base = (struct host){tick, fail, uniform, normal};
    r.call.host.started = r.call.host.checked = lanes_clock();
    r.call.host.wait = -1;
    r.call.quiet = quiet;
    r.call.keep = PROTECT(Rf_allocVector(VECSXP, KEEP_MOST));
    SEXP out = R_ExecWithCleanup(run_body, &r, run_cleanup, &r);
    UNPROTECT(1);
    return out;
}

SEXP ffi_eval(struct call *c, SEXP expr, SEXP env)
{
    if (c->host.simulate)
        PutRNGstate();
    SEXP value = PROTECT(Rf_eval(expr, env));
    if (c->host.simulate)
        GetRNGstate();
    UNPROTECT(1);
    return value;
}

struct rng_run {
    SEXP (*body)(struct call *c, struct rng *rng, void *data);
    void *data;
    SEXP manifold;
    int quiet;
    struct rng rng;
    int simulate;
};

static SEXP rng_inner(struct call *c, void *data)
{
    struct rng_run *r = data;
    c->host.simulate = r->simulate;
    rng_start(&r->rng, r->simulate ? RNG_HOST : RNG_STREAM, &c->host.base);
    return r->body(c, &r->rng, r->data);
}

static SEXP rng_body(void *data)
{
    struct rng_run *r = data;
    return ffi_run(rng_inner, r, r->manifold, r->quiet);
}

static void rng_cleanup(void *data)
{
    struct rng_run *r = data;
    rng_wipe(&r->rng);
    if (r->simulate)
        PutRNGstate(); /* also after an error or interrupt: nothing is drawn twice */
}

SEXP ffi_with_rng(SEXP (*body)(struct call *c, struct rng *rng, void *data), void *data, SEXP manifold, int simulate,
                  int quiet)
{
    struct rng_run r = {.body = body, .data = data, .manifold = manifold, .quiet = quiet, .simulate = simulate};
    rng_wipe(&r.rng);
    if (simulate)
        GetRNGstate();
    return R_ExecWithCleanup(rng_body, &r, rng_cleanup, &r);
}

/* option riemdp.threads; one by default, and where the compiler has no OpenMP */
static int threads_wanted(void)
{
#ifdef _OPENMP
    SEXP x = Rf_GetOption1(Rf_install("riemdp.threads"));
    double n = TYPEOF(x) == INTSXP && XLENGTH(x) == 1    ? (INTEGER(x)[0] == NA_INTEGER ? 1 : INTEGER(x)[0])
               : TYPEOF(x) == REALSXP && XLENGTH(x) == 1 ? REAL(x)[0]
                                                         : 1;
    if (!(n >= 2))
        return 1;
    SEXP ns = PROTECT(ffi_namespace()), expr = PROTECT(Rf_lang1(Rf_install("threads_allowed")));
    int allowed = Rf_asLogical(Rf_eval(expr, ns)) == 1;
    UNPROTECT(2);
    return !allowed ? 1 : n <= LANES_MOST ? (int)n : (int)LANES_MOST;
#else
    return 1;
#endif
}

/* whether the first of an object's classes that are the package's is the family's; a space made of one other has its own before it */
static int of_family(SEXP manifold, const char *family)
{
    static const char *const before[] = {"scaled", "roots", "pullback", "quotient"};
    SEXP class = Rf_getAttrib(manifold, R_ClassSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(class); i++) {
        const char *name = CHAR(STRING_ELT(class, i));
        size_t k = 0, count = sizeof before / sizeof *before;
        if (strncmp(name, "riemdp_", 7) != 0)
            continue;
        while (k < count && strcmp(name + 7, before[k]) != 0)
            k++;
        if (k == count)
            return strcmp(name + 7, family) == 0;
    }
    return 0;
}

/* whole numbers from 1 to a million, as many as the table takes */
static int read_parameters(struct manifold *m, SEXP param)
{
    if ((TYPEOF(param) != INTSXP && TYPEOF(param) != REALSXP) || XLENGTH(param) > 2 ||
        XLENGTH(param) != (m->ops->parameters ? m->ops->parameters : 1))
        return 0;
    for (R_xlen_t i = 0; i < XLENGTH(param); i++) {
        double v = TYPEOF(param) == REALSXP          ? REAL(param)[i]
                   : INTEGER(param)[i] == NA_INTEGER ? NAN
                                                     : INTEGER(param)[i];
        if (!(v >= 1 && v <= 1e6) || v != floor(v))
            return 0;
        m->param[i] = (int)v;
    }
    return 1;
}

static void read_named(struct call *c, struct manifold *m, SEXP manifold)
{
    SEXP name = ffi_list_get(manifold, "name");
    memset(m, 0, sizeof *m);
    m->host = &c->host.base;
    if (!Rf_inherits(manifold, "riemdp_manifold") || TYPEOF(name) != STRSXP || XLENGTH(name) != 1)
        ffi_abort(c, STATUS_BAD_MANIFOLD, "M", -1);
    m->ops = manifold_lookup(CHAR(STRING_ELT(name, 0)));
    if (!m->ops || !of_family(manifold, m->ops->family) || !read_parameters(m, ffi_list_get(manifold, "param")))
        ffi_abort(c, STATUS_BAD_MANIFOLD, "M", -1);
    SEXP floor_value = ffi_list_get(manifold, "floor");
    m->floor = floor_value == R_NilValue ? 0 : ffi_number(floor_value, "floor");
    if (strcmp(m->ops->name, "custom") == 0)
        ffi_custom_attach(c, m, manifold);
}

static int is_product(SEXP manifold)
{
    SEXP name = ffi_list_get(manifold, "name");
    return TYPEOF(name) == STRSXP && XLENGTH(name) == 1 && strcmp(CHAR(STRING_ELT(name, 0)), "product") == 0;
}

/* The parts of a product, of products of products as well, to part[0], ... (NULL: only counted); returns how many. Weights of nested
 * products are multiplied. */
static size_t read_parts(struct call *c, SEXP manifold, double weight, int depth, struct part *part)
{
    enum { MOST = 1000 };
    if (!is_product(manifold)) {
        if (part) {
            read_named(c, &part->m, manifold);
            part->weight = weight;
        }
        return 1;
    }
    SEXP parts = ffi_list_get(manifold, "parts"), weights = ffi_list_get(manifold, "weights");
    R_xlen_t length = TYPEOF(parts) == VECSXP ? XLENGTH(parts) : 0;
    size_t count = 0;
    if (depth > DEEPEST_PRODUCT + (length == 1) || !of_family(manifold, "product") || length < 1 || length > MOST ||
        TYPEOF(weights) != REALSXP || XLENGTH(weights) != length)
        ffi_abort(c, STATUS_BAD_MANIFOLD, "M", -1);
    depth = length == 1 ? DEEPEST_PRODUCT + 2 : depth + 1; /* one part alone is no product */
    for (R_xlen_t i = 0; i < length && count <= MOST; i++)
        count += read_parts(c, VECTOR_ELT(parts, i), weight * REAL(weights)[i], depth, part ? part + count : NULL);
    if (count > MOST)
        ffi_abort(c, STATUS_BAD_MANIFOLD, "M", -1);
    return count;
}

/* The object may come from a tampered file: everything is checked, and init() derives all the rest. */
void ffi_manifold_read(struct call *c, SEXP manifold)
{
    struct manifold *m = &c->m;
    read_named(c, m, manifold);
    if (m->ops == &manifold_product) {
        struct product *p = (struct product *)R_alloc(1, sizeof *p);
        p->count = read_parts(c, manifold, 1, 1, NULL);
        p->part = (struct part *)R_alloc(p->count, sizeof *p->part);
        read_parts(c, manifold, 1, 1, p->part);
        m->context = p;
    }
    if (manifold_init(m) != STATUS_OK)
        ffi_abort(c, STATUS_BAD_MANIFOLD, "M", -1);
    c->stamp = ffi_stamp(manifold);
    c->threads = m->flags & MANIFOLD_CALLS_R ? 1 : threads_wanted();
}
