/* A user's own manifold, written in R: the one table that sees SEXP. Each operation calls the user's function once for the
 * whole range with n x ambient matrices (rows are records). In plain calls an R error of the user's function passes through as
 * it is; in private calls it is caught per call and becomes a status. */
#include "ffi.h"

#include <stdio.h>
#include <string.h>

struct custom {
    struct call *call;
    SEXP functions, facts;
};

static double fact(SEXP facts, const char *name, double otherwise)
{
    SEXP x = ffi_list_get(facts, name);
    if (TYPEOF(x) != REALSXP || XLENGTH(x) != 1 || isnan(REAL(x)[0]))
        return otherwise;
    return REAL(x)[0];
}

void ffi_custom_attach(struct call *c, struct manifold *m, SEXP manifold)
{
    struct custom *u = (struct custom *)R_alloc(1, sizeof *u);
    *u = (struct custom){c, ffi_list_get(manifold, "functions"), ffi_list_get(manifold, "facts")};
    m->context = u;
}

static int init(struct manifold *m)
{
    static const char *required[] = {"exp", "log", "inner", "project", "project_tangent", "check"};
    const struct custom *u = m->context;
    if (!u || m->param[0] < 1 || m->param[1] < 1 || m->param[0] > m->param[1])
        return STATUS_BAD_MANIFOLD;
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!Rf_isFunction(ffi_list_get(u->functions, required[i])))
            return STATUS_BAD_MANIFOLD;
    m->dim = (size_t)m->param[0];
    m->ambient = (size_t)m->param[1];
    m->k_min = fact(u->facts, "k_min", -INFINITY);
    m->k_max = fact(u->facts, "k_max", INFINITY);
    m->inj = fact(u->facts, "injectivity_radius", 0);
    m->rho_max = fact(u->facts, "diameter", INFINITY);
    m->flags = MANIFOLD_CALLS_R;
    if (fact(u->facts, "symmetric", 0) == 1)
        m->flags |= MANIFOLD_SYMMETRIC;
    return m->k_min <= m->k_max && m->inj >= 0 ? STATUS_OK : STATUS_BAD_MANIFOLD;
}

static size_t work_size(manifold_t m)
{
    return m->ambient;
}

static SEXP rows_of(manifold_t m, struct points x, size_t begin, size_t end)
{
    size_t n = end - begin;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)m->ambient));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m->ambient; j++)
            REAL(out)[i + j * n] = at(x, begin + i)[j];
    UNPROTECT(1);
    return out;
}

/* calls function `name` with up to three arguments; the result has n x width finite doubles (or n logicals for check) */
static int run(manifold_t m, const char *name, double *out, size_t width, const struct points *in, int count,
               size_t begin, size_t end)
{
    const struct custom *u = m->context;
    size_t n = end - begin;
    SEXP f = ffi_list_get(u->functions, name);
    if (f == R_NilValue)
        return STATUS_UNSUPPORTED;
    if (n == 0)
        return STATUS_OK;
    SEXP args = PROTECT(Rf_allocVector(VECSXP, count));
    for (int i = 0; i < count; i++)
        SET_VECTOR_ELT(args, i, rows_of(m, in[i], begin, end));
    SEXP name_value = PROTECT(Rf_mkString("riemdp"));
    SEXP ns = PROTECT(R_FindNamespace(name_value));
    SEXP quiet = PROTECT(Rf_ScalarLogical(u->call->quiet));
    SEXP expr = PROTECT(Rf_lang4(Rf_install("custom_call"), f, args, quiet));
    SEXP value = PROTECT(ffi_eval(u->call, expr, ns));
    int status = STATUS_OK;
    if (TYPEOF(value) == LGLSXP && width == 1 && (size_t)XLENGTH(value) == n) {
        for (size_t i = 0; i < n; i++)
            out[begin + i] = LOGICAL(value)[i] == 1;
    } else if (TYPEOF(value) == REALSXP && (size_t)XLENGTH(value) == n * width) {
        for (size_t i = 0; i < n && status == STATUS_OK; i++)
            for (size_t j = 0; j < width; j++) {
                double v = REAL(value)[i + j * n];
                if (!(fabs(v) < INFINITY))
                    status = STATUS_BAD_CALLBACK;
                out[(begin + i) * width + j] = v;
            }
    } else {
        status = STATUS_BAD_CALLBACK;
    }
    UNPROTECT(6);
    return status;
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double ok = 0;
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        struct points in[] = {{at(x, i), 0}};
        int status = run(m, "check", &ok, 1, in, 1, 0, 1);
        if (status != STATUS_OK)
            return status;
        if (ok != 1)
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
    struct points in[] = {x};
    return run(m, "project", out, m->ambient, in, 1, begin, end);
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    (void)work;
    struct points in[] = {p, v};
    return run(m, "project_tangent", out, m->ambient, in, 2, begin, end);
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++) {
        double off = 0, size = 0;
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        int status = project_tangent(m, work, (struct points){at(p, i), 0}, (struct points){at(v, i), 0}, 0, 1, NULL);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->ambient; j++) {
            off += square(work[j] - at(v, i)[j]);
            size += square(at(v, i)[j]);
        }
        if (sqrt(off) > RIEMDP_TOL * (1 + sqrt(size)))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    struct points in[] = {p, v};
    return run(m, "exp", out, m->ambient, in, 2, begin, end);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    struct points in[] = {p, q};
    return run(m, "log", out, m->ambient, in, 2, begin, end);
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    (void)work;
    struct points in[] = {p, u, v};
    return run(m, "inner", out, 1, in, 3, begin, end);
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    const struct custom *u = m->context;
    if (ffi_list_get(u->functions, "transport") == R_NilValue) {
        /* the generic pole ladder, reached through a table without this entry */
        struct manifold_ops without = *m->ops;
        struct manifold copy = *m;
        without.transport = NULL;
        copy.ops = &without;
        return manifold_transport(&copy, out, p, q, v, begin, end, work);
    }
    struct points in[] = {p, q, v};
    return run(m, "transport", out, m->ambient, in, 3, begin, end);
}

static const struct manifold_ops manifold_custom = {
    .name = "custom",
    .family = "custom",
    .parameters = 2,
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = inner,
    .transport = transport,
};

void ffi_custom_register(void)
{
    manifold_enter(&manifold_custom);
}
