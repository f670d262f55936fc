/* Geometry for R: one driver over a table of operations. Each operation says what it takes and gives; the driver reads
 * shapes, checks points and tangents, runs the batch block by block, and names the first bad record. */
#include "ffi.h"
#include "lanes.h"
#include "manifold_certified.h"

#include <string.h>

enum { ARGS_MOST = 4 };

struct operation {
    const char *name;
    int count;
    enum kind in[ARGS_MOST], out;
    const char *label[ARGS_MOST];
    int checked; /* 0: the operation itself takes anything (projections) */
    int culprit; /* the argument named when the operation fails */
    enum { NEEDS_WORK, NEEDS_NUMERIC_WORK, NEEDS_CERTIFIED_WORK } needs; /* manifold_work() and the like */
    enum strided_operation strided;
    int (*run)(manifold_t m, double *out, const struct points *in, size_t begin, size_t end, double *work);
};

struct geometry {
    const struct operation *op;
    SEXP *x;
};

/* One block where it lies, without packing: not all tables and layouts offer it. */
static int run_strided(const struct call *c, const struct operation *op, const struct arg *a,
                       const struct points *fixed, struct result *r, size_t begin, size_t end, double *work)
{
    struct strided in[ARGS_MOST];
    for (int i = 0; i < op->count; i++) {
        if (!a[i].many)
            in[i] = (struct strided){fixed[i].x, 0, 1};
        else if (a[i].layout == LAYOUT_ROWS)
            in[i] = (struct strided){a[i].data + begin, 1, a[i].n};
        else if (!a[i].buffer)
            in[i] = (struct strided){a[i].data + begin * a[i].length, a[i].length, 1};
        else
            return STATUS_UNSUPPORTED;
    }
    int rows = r->layout == LAYOUT_ROWS;
    if (!rows && r->buffer)
        return STATUS_UNSUPPORTED;
    return c->m.ops->strided(&c->m, op->strided, r->data + begin * (rows ? 1 : r->length), rows ? 1 : r->length,
                             rows ? r->n : 1, in, end - begin, work);
}

/* Whether an argument is checked before the operation runs; of projections their bases are. What was computed may be no point any
 * more: then its error is Inf. */
static int is_checked(const struct operation *op, int i)
{
    if (op->needs == NEEDS_CERTIFIED_WORK && i == 2)
        return 0;
    return op->checked || (op->in[i] == KIND_POINT && op->count > 1);
}

/* One block on one lane: read, check, run. No R in here. `fixed` holds the recycled arguments, read and checked already. */
static int run_block(const struct call *c, const struct operation *op, const struct arg *a, const struct points *fixed,
                     struct result *r, int lane, size_t begin, size_t end, double *work)
{
    manifold_t m = &c->m;
    struct points in[ARGS_MOST];
    size_t bad;
    if (op->strided && m->ops->strided && run_strided(c, op, a, fixed, r, begin, end, work) == STATUS_OK)
        return STATUS_OK;
    for (int i = 0; i < op->count; i++) {
        int status = STATUS_OK;
        in[i] = fixed[i];
        if (a[i].many)
            status = ffi_read_block(c, a + i, lane, begin, end, work, in + i, &bad);
        int varies = a[i].many || (op->in[i] == KIND_TANGENT && a[0].many);
        if (status == STATUS_OK && is_checked(op, i) && varies)
            status = ffi_check_range(m, op->in[i], in[i], in[0], 0, end - begin, work);
        if (status != STATUS_OK)
            return status;
    }
    int status = op->run(m, ffi_result_block(r, lane, begin), in, 0, end - begin, work);
    if (status == STATUS_OK)
        ffi_result_done(r, lane, begin, end);
    return status;
}

/* a block that failed: again, on the main thread and record by record, to raise for the first bad one */
static void name_culprit(struct call *c, const struct operation *op, struct arg *a, int many, size_t begin, size_t end,
                         double *out, double *work)
{
    struct points in[ARGS_MOST];
    for (int i = 0; i < op->count; i++) {
        in[i] = ffi_block_points(c, a + i, begin, end, 0, work);
        if (is_checked(op, i))
            ffi_check_block(c, a + i, in[i], a, in[0], begin, end, work);
    }
    for (size_t i = 0; i < end - begin; i++) {
        struct points single[ARGS_MOST];
        for (int k = 0; k < op->count; k++)
            single[k] = (struct points){at(in[k], i), 0};
        int status = op->run(&c->m, out, single, 0, 1, work);
        if (status != STATUS_OK)
            ffi_abort(c, status, op->label[op->culprit], many ? (double)(begin + i) : -1);
    }
    ffi_abort(c, STATUS_NO_CONVERGENCE, op->label[op->culprit], -1);
}

/* the first argument of many records, whose shape the result takes; NULL: a shape of its own */
static const struct arg *shape_from(const struct operation *op, const struct arg *a, int *many)
{
    const struct arg *shape = a;
    *many = 0;
    for (int i = 0; i < op->count; i++) {
        if (a[i].many && !*many)
            shape = a + i;
        *many |= a[i].many;
    }
    if (op->count > 1 && op->in[1] == KIND_COORDS) /* vectors from coordinates have the shape of their base */
        return a[0].many || !*many ? a : NULL;
    return *many && shape->kind == KIND_COORDS ? NULL : shape;
}

/* recycled arguments, read and checked once */
static void read_fixed(struct call *c, const struct operation *op, struct arg *a, struct points *fixed, double *work)
{
    for (int i = 0; i < op->count; i++) {
        if (a[i].many)
            continue;
        fixed[i] = ffi_block_points(c, a + i, 0, 1, 0, work);
        if (is_checked(op, i) && !(op->in[i] == KIND_TANGENT && a[0].many))
            ffi_check_block(c, a + i, fixed[i], a, fixed[0], 0, 1, work);
    }
}

/* the blocks of a round from record `start` */
struct round {
    const struct call *c;
    const struct operation *op;
    const struct arg *a;
    const struct points *fixed;
    struct result *r;
    double *work;
    size_t work_size, start, stop;
};

static int round_block(const void *data, size_t k, int lane)
{
    const struct round *d = data;
    size_t block = ffi_block(d->c), begin = d->start + k * block, end = begin + block < d->stop ? begin + block : d->stop;
    return run_block(d->c, d->op, d->a, d->fixed, d->r, lane, begin, end, d->work + (size_t)lane * d->work_size);
}

static size_t work_of(const struct call *c, const struct operation *op)
{
    size_t own = manifold_work(&c->m);
    if (op->needs == NEEDS_NUMERIC_WORK)
        return manifold_numeric_work(&c->m);
    if (op->needs != NEEDS_CERTIFIED_WORK)
        return own;
    ffi_check_certified(c);
    return certified_work(&c->m) > own ? certified_work(&c->m) : own;
}

static SEXP geometry_body(struct call *c, void *data)
{
    enum { ALONE = 4 }; /* blocks in a row, where that has something to win */
    const struct geometry *g = data;
    const struct operation *op = g->op;
    manifold_t m = &c->m;
    struct arg a[ARGS_MOST];
    struct points fixed[ARGS_MOST] = {{NULL, 0}};
    for (int i = 0; i < op->count; i++)
        a[i] = ffi_arg(c, g->x[i], op->label[i], op->in[i]);
    size_t n = ffi_common_length(a, (size_t)op->count), block = ffi_block(c);
    int many;
    struct lanes lanes = {.most = n > block ? c->threads : 1};
    const struct arg *shape = shape_from(op, a, &many);
    struct result r = ffi_result(c, op->out, shape, n, many);
    size_t work_size = work_of(c, op);
    double *work = ffi_doubles((size_t)lanes.most * work_size);
    if (n > 0)
        read_fixed(c, op, a, fixed, work);
    /* rounds of blocks; interrupts and progress in between */
    size_t alone = op->strided && m->ops->strided ? ALONE : 1;
    for (size_t start = 0; start < n;) {
        size_t left = (n - start + block - 1) / block, blocks = lanes_round(&lanes, left, alone, left);
        size_t stop = blocks < left ? start + blocks * block : n;
        struct round d = {c, op, a, fixed, &r, work, work_size, start, stop};
        size_t failed;
        lanes_run(&lanes, blocks, round_block, &d, &failed);
        size_t begin = start + failed * block, end = begin + block < stop ? begin + block : stop;
        if (failed < blocks)
            name_culprit(c, op, a, many, begin, end, ffi_result_block(&r, 0, begin), work);
        host_tick(m->host, (double)stop, (double)n);
        start = stop;
    }
    return r.x;
}

#define RUN(name)                                                                                                      \
    static int run_##name(manifold_t m, double *out, const struct points *in, size_t begin, size_t end, double *work)

RUN(project)
{
    return m->ops->project(m, out, in[0], begin, end, work);
}
RUN(project_tangent)
{
    return m->ops->project_tangent(m, out, in[0], in[1], begin, end, work);
}
RUN(exp)
{
    return manifold_exp(m, out, in[0], in[1], begin, end, work);
}
RUN(log)
{
    return m->ops->log(m, out, in[0], in[1], begin, end, work);
}
RUN(dist)
{
    return manifold_dist(m, out, in[0], in[1], begin, end, work);
}
RUN(inner)
{
    return m->ops->inner(m, out, in[0], in[1], in[2], begin, end, work);
}
RUN(transport)
{
    return manifold_transport(m, out, in[0], in[1], in[2], begin, end, work);
}
RUN(carry)
{
    return manifold_carry(m, out, in[0], in[1], in[2], begin, end, work);
}
RUN(coords)
{
    return manifold_coords(m, out, in[0], in[1], begin, end, work);
}
RUN(from_coords)
{
    return manifold_from_coords(m, out, in[0], in[1], begin, end, work);
}
RUN(log_density)
{
    return manifold_log_density(m, out, in[0], in[1], begin, end, work);
}

RUN(certified_exp)
{
    return certified_exp(m, out, in[0], in[1], in[2], begin, end, work);
}
RUN(certified_log)
{
    return certified_log(m, out, in[0], in[1], in[2], begin, end, work);
}
RUN(certified_dist)
{
    return certified_dist(m, out, in[0], in[1], in[2], begin, end, work);
}

RUN(norm)
{
    int status = m->ops->inner(m, out, in[0], in[1], in[1], begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        out[i] = sqrt(out[i] > 0 ? out[i] : 0);
    return status;
}

RUN(pole)
{
    for (size_t i = begin; i < end; i++) {
        double rungs = *at(in[3], i);
        if (!(rungs >= 1 && rungs <= 1e4))
            return STATUS_OUT_OF_RANGE;
        int status =
            manifold_pole_ladder(m, out + i * m->ambient, at(in[0], i), at(in[1], i), at(in[2], i), (int)rungs, work);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

#define P KIND_POINT
#define T KIND_TANGENT
static const struct operation op_project = {"project", 1, {P}, P, {"x"}, 0, 0, 0, STRIDED_NONE, run_project};
static const struct operation op_project_tangent = {"project_tangent",  2, {P, T}, T, {"p", "v"}, 0, 1, 0, STRIDED_NONE,
                                                    run_project_tangent};
static const struct operation op_exp = {"exp", 2, {P, T}, P, {"p", "v"}, 1, 1, 0, STRIDED_EXP, run_exp};
static const struct operation op_log = {"log", 2, {P, P}, T, {"p", "q"}, 1, 1, 0, STRIDED_LOG, run_log};
static const struct operation op_dist = {"dist", 2, {P, P}, KIND_SCALAR, {"p", "q"}, 1, 1, 0, STRIDED_DIST, run_dist};
static const struct operation op_inner = {"inner", 3, {P, T, T}, KIND_SCALAR,  {"p", "u", "v"},
                                          1,       1, 0,         STRIDED_NONE, run_inner};
static const struct operation op_norm = {"norm", 2, {P, T}, KIND_SCALAR, {"p", "v"}, 1, 1, 0, STRIDED_NONE, run_norm};
static const struct operation op_transport = {
    "transport", 3, {P, P, T}, T, {"p", "q", "v"}, 1, 1, 0, STRIDED_TRANSPORT, run_transport};
static const struct operation op_carry = {"carry", 3, {P, P, T}, T, {"p", "q", "v"}, 1, 1, 0, STRIDED_NONE, run_carry};
static const struct operation op_pole = {"pole", 4, {P, P, T, KIND_SCALAR}, T,       {"p", "q", "v", "rungs"}, 1,
                                         1,      0, STRIDED_NONE,           run_pole};
static const struct operation op_coords = {"coords", 2, {P, T}, KIND_COORDS,  {"p", "v"},
                                           1,        1, 0,      STRIDED_NONE, run_coords};
static const struct operation op_from_coords = {
    "from_coords", 2, {P, KIND_COORDS}, T, {"p", "a"}, 1, 1, 0, STRIDED_NONE, run_from_coords};
static const struct operation op_log_density = {
    "log_density", 2, {P, T}, KIND_SCALAR, {"p", "v"}, 1, 1, NEEDS_NUMERIC_WORK, STRIDED_NONE, run_log_density};
static const struct operation op_certified_exp = {
    "certified_exp", 3, {P, T, P}, KIND_SCALAR, {"p", "v", "x"}, 1, 2, NEEDS_CERTIFIED_WORK, STRIDED_NONE, run_certified_exp};
static const struct operation op_certified_log = {
    "certified_log", 3, {P, P, T}, KIND_SCALAR, {"p", "q", "x"}, 1, 2, NEEDS_CERTIFIED_WORK, STRIDED_NONE, run_certified_log};
static const struct operation op_certified_dist = {
    "certified_dist", 3, {P, P, KIND_SCALAR}, KIND_SCALAR, {"p", "q", "x"}, 1, 2, NEEDS_CERTIFIED_WORK, STRIDED_NONE, run_certified_dist};
#undef P
#undef T

static const struct operation *operation_named(SEXP name)
{
    static const struct operation *const all[] = {&op_project,   &op_project_tangent, &op_exp,    &op_log,
                                                  &op_transport, &op_carry,           &op_coords, &op_from_coords};
    if (TYPEOF(name) != STRSXP || XLENGTH(name) != 1)
        ffi_abort_text("argument", "`name` must be one string.");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, CHAR(STRING_ELT(name, 0))) == 0)
            return all[i];
    ffi_abort_text("argument", "no such operation.");
}

/* a copy of up to n records of an argument */
static struct points copy_points(struct call *c, struct arg *a, size_t n, double *work)
{
    size_t count = a->many ? n : 1;
    struct points p = ffi_block_points(c, a, 0, count, 0, work);
    double *copy = ffi_doubles(count * a->length);
    for (size_t j = 0; j < count * a->length; j++)
        copy[j] = p.x[j];
    return (struct points){copy, p.stride};
}

/* Tests the aliasing contract: the operation called `name` with its output written over a copy of argument `over`. */
static SEXP aliased_body(struct call *c, void *data)
{
    SEXP *x = data;
    const struct operation *op = operation_named(x[0]);
    if (TYPEOF(x[1]) != VECSXP || XLENGTH(x[1]) != op->count)
        ffi_abort_text("argument", "`args` must be a list of as many arguments as the operation takes.");
    size_t k = (size_t)ffi_count(x[2], "over", 1, op->count) - 1;
    struct arg a[ARGS_MOST];
    struct points in[ARGS_MOST];
    for (int i = 0; i < op->count; i++)
        a[i] = ffi_arg(c, VECTOR_ELT(x[1], i), op->label[i], op->in[i]);
    size_t n = ffi_common_length(a, (size_t)op->count);
    double *work = ffi_doubles(manifold_work(&c->m));
    if (n > ffi_block(c))
        n = ffi_block(c);
    for (int i = 0; i < op->count; i++) {
        in[i] = copy_points(c, a + i, n, work);
        ffi_check_block(c, a + i, in[i], a, in[0], 0, n, work);
    }
    struct result r = ffi_result(c, op->out, NULL, n, 1);
    if (!in[k].stride || in[k].stride != r.length)
        ffi_abort_text("argument", "only an argument with as many records and the same stride can be written over.");
    double *out = (double *)in[k].x;
    int status = op->run(&c->m, out, in, 0, n, work);
    if (status != STATUS_OK)
        ffi_abort(c, status, op->label[op->culprit], -1);
    double *to = ffi_result_block(&r, 0, 0);
    for (size_t j = 0; j < n * r.length; j++)
        to[j] = out[j];
    ffi_result_done(&r, 0, 0, n);
    return r.x;
}

SEXP riemdp_aliased(SEXP m, SEXP name, SEXP args, SEXP over)
{
    SEXP x[] = {name, args, over};
    return ffi_run(aliased_body, x, m, 0);
}

#define ENTRY1(name)                                                                                                   \
    SEXP riemdp_##name(SEXP m, SEXP a)                                                                                 \
    {                                                                                                                  \
        SEXP x[] = {a};                                                                                                \
        return ffi_run(geometry_body, &(struct geometry){&op_##name, x}, m, 0);                                        \
    }
#define ENTRY2(name)                                                                                                   \
    SEXP riemdp_##name(SEXP m, SEXP a, SEXP b)                                                                         \
    {                                                                                                                  \
        SEXP x[] = {a, b};                                                                                             \
        return ffi_run(geometry_body, &(struct geometry){&op_##name, x}, m, 0);                                        \
    }
#define ENTRY3(name)                                                                                                   \
    SEXP riemdp_##name(SEXP m, SEXP a, SEXP b, SEXP d)                                                                 \
    {                                                                                                                  \
        SEXP x[] = {a, b, d};                                                                                          \
        return ffi_run(geometry_body, &(struct geometry){&op_##name, x}, m, 0);                                        \
    }
#define ENTRY4(name)                                                                                                   \
    SEXP riemdp_##name(SEXP m, SEXP a, SEXP b, SEXP d, SEXP e)                                                         \
    {                                                                                                                  \
        SEXP x[] = {a, b, d, e};                                                                                       \
        return ffi_run(geometry_body, &(struct geometry){&op_##name, x}, m, 0);                                        \
    }

ENTRY1(project)
ENTRY2(project_tangent)
ENTRY2(exp)
ENTRY2(log)
ENTRY2(dist)
ENTRY3(inner)
ENTRY2(norm)
ENTRY3(transport)
ENTRY3(carry)
ENTRY4(pole)
ENTRY2(coords)
ENTRY2(from_coords)
ENTRY2(log_density)
ENTRY3(certified_exp)
ENTRY3(certified_log)
ENTRY3(certified_dist)

/* ---- entries of another form --------------------------------------------------------------------------------------- */

static SEXP check_body(struct call *c, void *data)
{
    struct arg a = ffi_arg(c, *(SEXP *)data, "x", KIND_POINT);
    double *work = ffi_doubles(manifold_work(&c->m));
    size_t block = ffi_block(c);
    for (size_t begin = 0; begin < a.n; begin += block) {
        size_t end = begin + block < a.n ? begin + block : a.n;
        struct points x = ffi_block_points(c, &a, begin, end, 0, work);
        ffi_check_block(c, &a, x, NULL, x, begin, end, work);
        host_tick(c->m.host, (double)end, (double)a.n);
    }
    return R_NilValue;
}

SEXP riemdp_check(SEXP m, SEXP x)
{
    return ffi_run(check_body, &x, m, 0);
}

static SEXP is_point_body(struct call *c, void *data)
{
    struct arg a = ffi_arg(c, *(SEXP *)data, "x", KIND_POINT);
    double *work = ffi_doubles(manifold_work(&c->m));
    size_t block = ffi_block(c);
    SEXP out = ffi_keep(c, Rf_allocVector(LGLSXP, (R_xlen_t)a.n));
    for (size_t begin = 0; begin < a.n; begin += block) {
        size_t end = begin + block < a.n ? begin + block : a.n;
        struct points x = ffi_block_points(c, &a, begin, end, 1, work);
        for (size_t i = 0; i < end - begin; i++)
            LOGICAL(out)[begin + i] = c->m.ops->check_point(&c->m, x, i, i + 1, work) == STATUS_OK;
        host_tick(c->m.host, (double)end, (double)a.n);
    }
    return out;
}

SEXP riemdp_is_point(SEXP m, SEXP x)
{
    return ffi_run(is_point_body, &x, m, 0);
}

/* number of records, from the shape alone: their numbers aren't looked at */
static SEXP count_body(struct call *c, void *data)
{
    return ffi_keep(c, Rf_ScalarReal((double)ffi_arg(c, *(SEXP *)data, "x", KIND_POINT).n));
}

SEXP riemdp_count(SEXP m, SEXP x)
{
    return ffi_run(count_body, &x, m, 0);
}

/* list(p =, v =): adjoint Jacobi factors */
static SEXP jacobi_body(struct call *c, void *data)
{
    SEXP *x = data;
    manifold_t m = &c->m;
    struct arg a[4] = {ffi_arg(c, x[0], "p", KIND_POINT), ffi_arg(c, x[1], "v", KIND_TANGENT),
                       ffi_arg(c, x[2], "x", KIND_SCALAR), ffi_arg(c, x[3], "u", KIND_TANGENT)};
    size_t n = ffi_common_length(a, 4), block = ffi_block(c);
    int many = 0;
    const struct arg *shape = NULL;
    struct points in[4];
    for (int i = 0; i < 4; i++) {
        if (a[i].many && !shape && i != 2)
            shape = a + i;
        many |= a[i].many;
    }
    if (!shape)
        shape = a;
    struct result p = ffi_result(c, KIND_TANGENT, shape, n, many), v = ffi_result(c, KIND_TANGENT, shape, n, many);
    double *work = ffi_doubles(manifold_numeric_work(m));
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        for (int i = 0; i < 4; i++) {
            in[i] = ffi_block_points(c, a + i, begin, end, 0, work);
            ffi_check_block(c, a + i, in[i], a, in[0], begin, end, work);
        }
        for (size_t i = 0; i < end - begin; i++) {
            int status = manifold_jacobi(m, ffi_result_block(&p, 0, begin), ffi_result_block(&v, 0, begin), in[0],
                                         in[1], in[2], in[3], i, i + 1, work);
            if (status != STATUS_OK)
                ffi_abort(c, status, "v", many ? (double)(begin + i) : -1);
        }
        ffi_result_done(&p, 0, begin, end);
        ffi_result_done(&v, 0, begin, end);
        host_tick(m->host, (double)end, (double)n);
    }
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, 2)), names = ffi_keep(c, Rf_allocVector(STRSXP, 2));
    SET_VECTOR_ELT(out, 0, p.x);
    SET_VECTOR_ELT(out, 1, v.x);
    SET_STRING_ELT(names, 0, Rf_mkChar("p"));
    SET_STRING_ELT(names, 1, Rf_mkChar("v"));
    Rf_setAttrib(out, R_NamesSymbol, names);
    return out;
}

SEXP riemdp_jacobi(SEXP m, SEXP p, SEXP v, SEXP x, SEXP u)
{
    SEXP a[] = {p, v, x, u};
    return ffi_run(jacobi_body, a, m, 0);
}

/* lower triangle by columns, as a `dist` holds it */
static SEXP dist_matrix_body(struct call *c, void *data)
{
    manifold_t m = &c->m;
    struct arg a = ffi_arg(c, *(SEXP *)data, "x", KIND_POINT);
    size_t n = a.n, block = ffi_block(c);
    double *work = ffi_doubles(manifold_work(m)), *base = ffi_doubles(m->ambient);
    if (n > 1 && (double)n * (double)(n - 1) / 2 > 1e9)
        ffi_abort_text("shape", "`x` has too many records for a matrix of all distances.");
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, n > 1 ? (R_xlen_t)(n * (n - 1) / 2) : 0));
    double *d = REAL(out);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points x = ffi_block_points(c, &a, begin, end, 0, work);
        ffi_check_block(c, &a, x, NULL, x, begin, end, work);
        host_tick(m->host, 0, (double)n);
    }
    for (size_t j = 0; j + 1 < n; j++) {
        struct points p = ffi_block_points(c, &a, j, j + 1, 0, work);
        for (size_t i = 0; i < m->ambient; i++)
            base[i] = p.x[i];
        for (size_t begin = j + 1; begin < n; begin += block) {
            size_t end = begin + block < n ? begin + block : n;
            struct points x = ffi_block_points(c, &a, begin, end, 0, work);
            if (manifold_dist(m, d + (begin - j - 1), (struct points){base, 0}, x, 0, end - begin, work) != STATUS_OK)
                for (size_t i = 0; i < end - begin; i++) {
                    int status = manifold_dist(m, d + (begin - j - 1) + i, (struct points){base, 0},
                                               (struct points){at(x, i), 0}, 0, 1, work);
                    if (status != STATUS_OK)
                        ffi_abort(c, status, "x", (double)(begin + i));
                }
            host_tick(m->host, (double)j, (double)n);
        }
        d += n - j - 1;
    }
    return out;
}

SEXP riemdp_dist_matrix(SEXP m, SEXP x)
{
    return ffi_run(dist_matrix_body, &x, m, 0);
}
