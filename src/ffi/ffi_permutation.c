/* Permutation tests: sums of a kernel within groups, which never leave R's private functions, and the draw of a grid's cell. */
#include "ffi.h"
#include "permutation.h"
#include "sampler_discrete.h"

enum { TEST_MOST = 10000 }; /* records: the matrix has so many rows */

static const char *const KINDS[] = {
    [KERNEL_GAUSSIAN] = "gaussian", [KERNEL_ANGLE] = "angle", [KERNEL_HYPERBOLIC] = "hyperbolic", [KERNEL_SQUARES] = "squares"};

struct sums_args {
    struct kernel k;
    SEXP groups;
};

static const double *vectors(SEXP x, size_t n, size_t length)
{
    if (x == R_NilValue)
        return NULL;
    if (TYPEOF(x) != REALSXP || (size_t)XLENGTH(x) != n * length)
        ffi_abort_text("argument", "vectors must be doubles, a column for each record.");
    return REAL(x);
}

static SEXP sums_body(struct call *c, void *data)
{
    struct sums_args *in = data;
    size_t n = in->k.n, draws = (size_t)Rf_ncols(in->groups), groups = 1;
    const int *group = INTEGER(in->groups);
    for (size_t i = 0; i < n * draws; i++) {
        if (group[i] < 0 || group[i] > (int)n)
            ffi_abort_text("argument", "groups are numbered from 0 on, and there is at most one more than records.");
        if ((size_t)group[i] >= groups)
            groups = (size_t)group[i] + 1;
    }
    int32_t *matrix = (int32_t *)R_alloc(n * n, sizeof *matrix);
    size_t *place = (size_t *)R_alloc(n + groups + 1, sizeof *place);
    kernel_fill(&in->k, &c->host.base, matrix);
    static const char *const names[] = {"within", "all", "diagonal"};
    SEXP list = ffi_named_list(c, 3, names), within = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)groups, (int)draws));
    for (size_t b = 0; b < draws; b++) {
        kernel_sums(matrix, n, group + b * n, groups, REAL(within) + b * groups, place, place + n);
        host_tick(&c->host.base, (double)b, (double)draws);
    }
    int64_t all = 0, diagonal = 0;
    for (size_t i = 0; i < n; i++) {
        diagonal += matrix[i * n + i];
        for (size_t j = i + 1; j < n; j++)
            all += matrix[i * n + j];
    }
    SET_VECTOR_ELT(list, 0, within);
    SET_VECTOR_ELT(list, 1, ffi_keep(c, Rf_ScalarReal((double)all)));
    SET_VECTOR_ELT(list, 2, ffi_keep(c, Rf_ScalarReal((double)diagonal)));
    return list;
}

static struct kernel kernel_of(SEXP x, SEXP kind, SEXP bandwidth, size_t n)
{
    if (TYPEOF(x) != REALSXP || !Rf_isMatrix(x) || (size_t)Rf_ncols(x) != n || Rf_nrows(x) < 1)
        ffi_abort_text("argument", "`x` and `y` must be matrices of doubles, a column for each record.");
    return (struct kernel){.kind = ffi_choice(kind, "kind", KINDS, KERNEL_SQUARES + 1),
                           .bandwidth = ffi_range(bandwidth, "bandwidth", 1e-6, 1e150),
                           .n = n,
                           .length = (size_t)Rf_nrows(x),
                           .x = REAL(x)};
}

/* x, y: a column for each record; groups: n x draws, from 0. A list: `within`, sums over pairs i < j within each group, a column for each
 * draw; `all`, the sum over all pairs; `diagonal`. Whole numbers, in units of the kernel. */
SEXP riemdp_kernel_sums_nonprivate(SEXP x, SEXP y, SEXP kind, SEXP bandwidth, SEXP groups)
{
    if (TYPEOF(groups) != INTSXP || !Rf_isMatrix(groups) || Rf_nrows(groups) < 1 || Rf_nrows(groups) > TEST_MOST)
        ffi_abort_text("argument", "`groups` must be a matrix of whole numbers, with 1 to 10,000 rows.");
    struct sums_args args = {.groups = groups};
    args.k = kernel_of(x, kind, bandwidth, (size_t)Rf_nrows(groups));
    args.k.y = vectors(y, args.k.n, args.k.length);
    return ffi_run(sums_body, &args, NULL, 1);
}

struct products_args {
    struct kernel x, y;
    SEXP orders;
};

/* sums of each row over the others; of all pairs i < j in `all` */
static void row_sums(const int32_t *matrix, size_t n, int64_t *rows, double *all)
{
    int64_t twice = 0;
    for (size_t i = 0; i < n; i++) {
        rows[i] = 0;
        for (size_t j = 0; j < n; j++)
            rows[i] += j == i ? 0 : matrix[i * n + j];
        twice += rows[i];
    }
    *all = (double)(twice / 2);
}

static SEXP products_body(struct call *c, void *data)
{
    struct products_args *in = data;
    size_t n = in->x.n, draws = (size_t)Rf_ncols(in->orders);
    const int *given = INTEGER(in->orders);
    int *at = (int *)R_alloc(n, sizeof *at);
    int32_t *a = (int32_t *)R_alloc(n * n, sizeof *a), *b = (int32_t *)R_alloc(n * n, sizeof *b);
    int64_t *rows = (int64_t *)R_alloc(2 * n, sizeof *rows);
    for (size_t i = 0; i < n * draws; i++)
        if (given[i] < 1 || given[i] > (int)n)
            ffi_abort_text("argument", "orders hold numbers of records, from 1 on.");
    kernel_fill(&in->x, &c->host.base, a);
    kernel_fill(&in->y, &c->host.base, b);
    kernel_mirror(a, n);
    kernel_mirror(b, n);
    static const char *const names[] = {"pairs", "rows", "all"};
    SEXP list = ffi_named_list(c, 3, names), all = ffi_keep(c, Rf_allocVector(REALSXP, 2));
    SEXP pairs = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)draws)), across = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)draws));
    row_sums(a, n, rows, REAL(all));
    row_sums(b, n, rows + n, REAL(all) + 1);
    for (size_t k = 0; k < draws; k++) {
        for (size_t i = 0; i < n; i++)
            at[i] = given[k * n + i] - 1;
        REAL(pairs)[k] = kernel_product(a, b, n, at);
        REAL(across)[k] = sums_product(rows, rows + n, n, at);
        host_tick(&c->host.base, (double)k, (double)draws);
    }
    SET_VECTOR_ELT(list, 0, pairs);
    SET_VECTOR_ELT(list, 1, across);
    SET_VECTOR_ELT(list, 2, all);
    return list;
}

/* x, y: a column for each record, and the kernels of both; orders: n x draws, each column the numbers from 1 to n. A list: `pairs`, for
 * each order the sum over i < j of both kernels' products, y in that order; `rows`, that of the products of sums over the other records;
 * `all`, each kernel's sum over all pairs. In units of the kernels. */
SEXP riemdp_kernel_products_nonprivate(SEXP x, SEXP y, SEXP kinds, SEXP bandwidths, SEXP orders)
{
    if (TYPEOF(orders) != INTSXP || !Rf_isMatrix(orders) || Rf_nrows(orders) < 1 || Rf_nrows(orders) > TEST_MOST)
        ffi_abort_text("argument", "`orders` must be a matrix of whole numbers, with 1 to 10,000 rows.");
    if (TYPEOF(kinds) != VECSXP || XLENGTH(kinds) != 2 || TYPEOF(bandwidths) != VECSXP || XLENGTH(bandwidths) != 2)
        ffi_abort_text("argument", "`kinds` and `bandwidths` must be lists of two.");
    size_t n = (size_t)Rf_nrows(orders);
    struct products_args args = {.orders = orders};
    args.x = kernel_of(x, VECTOR_ELT(kinds, 0), VECTOR_ELT(bandwidths, 0), n);
    args.y = kernel_of(y, VECTOR_ELT(kinds, 1), VECTOR_ELT(bandwidths, 1), n);
    return ffi_run(products_body, &args, NULL, 1);
}

struct cell_args {
    const double *weight;
    size_t count;
    uint64_t total;
};

static SEXP cell_body(struct call *c, struct rng *rng, void *data)
{
    const struct cell_args *in = data;
    struct bits bits;
    (void)c;
    rng_use_system(rng);
    bits_start(&bits, rng);
    uint64_t u = uniform_below(&bits, in->total);
    size_t i = 0;
    for (; u >= (uint64_t)in->weight[i]; i++)
        u -= (uint64_t)in->weight[i];
    bits_wipe(&bits);
    return Rf_ScalarReal((double)i + 1);
}

/* weight: whole numbers, in all at most 2^53. The number, from 1, of one of them, drawn with exactly these chances. */
SEXP riemdp_weighted_cell(SEXP weight, SEXP simulate)
{
    if (TYPEOF(weight) != REALSXP || XLENGTH(weight) < 1)
        ffi_abort_text("argument", "`weight` must be doubles.");
    struct cell_args args = {.weight = REAL(weight), .count = (size_t)XLENGTH(weight)};
    double total = 0;
    for (size_t i = 0; i < args.count; i++) {
        double w = args.weight[i];
        if (!(w >= 0 && w <= 0x1p53) || w != floor(w) || w > 0x1p53 - total)
            ffi_abort_text("argument", "weights must be whole numbers, none negative, and at most 2^53 in all.");
        total += w;
    }
    if (total < 1)
        ffi_abort_text("argument", "one weight at least must be positive.");
    args.total = (uint64_t)total;
    return ffi_with_rng(cell_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 1);
}
