/* Privacy-loss distributions for R. Public numbers only. */
#include "accountant_allocation.h"
#include "accountant_pld.h"
#include "ffi.h"
#include "fft.h"

#include <float.h>

#define BINS_MOST 5e7

#define FFT_MOST ((size_t)1 << 25)

struct pld_args {
    SEXP pair, range, grid, loss, mass;
};

static const double *numbers(SEXP x, R_xlen_t n, const char *otherwise)
{
    if (TYPEOF(x) != REALSXP || (n >= 0 && XLENGTH(x) != n))
        ffi_abort_text("argument", otherwise);
    return REAL(x);
}

#define KINDS_MOST 1000

/* pair: list(family, size, q, rest, enter, moves, weights), the last two for normal laws; range: between which coordinates */
static struct pld_pair read_pair(SEXP pair, SEXP range)
{
    static const char *const families[PLD_FAMILIES] = {
        [PLD_GAUSSIAN] = "gaussian", [PLD_LAPLACE] = "laplace", [PLD_EXCHANGE] = "exchange"};
    const double *ends = numbers(range, 2, "`range` must hold two numbers.");
    if (!(ends[0] > -1e6 && ends[0] < ends[1] && ends[1] < 1e6))
        ffi_abort_text("argument", "`range` must hold two numbers below a million, the lower one first.");
    struct pld_pair p = {
        .family = (enum pld_family)ffi_choice(ffi_field(pair, "family"), "family", families, PLD_FAMILIES),
        .size = ffi_range(ffi_field(pair, "size"), "size", DBL_MIN, DBL_MAX),
        .q = ffi_range(ffi_field(pair, "q"), "q", DBL_MIN, 1),
        .rest = ffi_range(ffi_field(pair, "rest"), "rest", 0, 1),
        .enter = ffi_flag(ffi_field(pair, "enter"), "enter"),
        .from = ends[0],
        .to = ends[1],
    };
    if (p.family != PLD_GAUSSIAN)
        return p;
    R_xlen_t kinds = XLENGTH(ffi_field(pair, "moves"));
    p.moves = numbers(ffi_field(pair, "moves"), -1, "`moves` must be numeric.");
    p.weights = numbers(ffi_field(pair, "weights"), kinds, "`weights` must hold one number a move.");
    if (kinds < 1 || kinds > KINDS_MOST)
        ffi_abort_text("argument", "`moves` must hold 1 to 1000 numbers.");
    double *logs = (double *)R_alloc((size_t)kinds, sizeof(double));
    for (R_xlen_t i = 0; i < kinds; i++) {
        if (!(p.moves[i] >= DBL_MIN && p.moves[i] <= p.size && p.weights[i] > 0 && p.weights[i] <= 1))
            ffi_abort_text("argument", "`moves` must be positive, none above `size`, and `weights` probabilities.");
        logs[i] = log(p.weights[i]);
    }
    p.kinds = (size_t)kinds;
    p.logs = logs;
    p.share = (double *)R_alloc((size_t)kinds, sizeof(double));
    return p;
}

/* losses step * (first, first + 1, ...) */
struct grid {
    double step, first;
    size_t bins;
};

static struct grid read_grid(SEXP x, size_t parts)
{
    struct grid g = {ffi_range(ffi_field(x, "step"), "step", 1e-300, 1e6),
                     ffi_count(ffi_field(x, "first"), "first", -1e15, 1e15),
                     (size_t)ffi_count(ffi_field(x, "bins"), "bins", 1, BINS_MOST)};
    if (!((double)(g.bins * parts) <= BINS_MOST && fabs(g.first * g.step) < 1e6 && (double)g.bins * g.step < 1e6))
        ffi_abort_text("argument", "`grid` must be within a million of 0, and have no more than 5e7 parts of cells.");
    return g;
}

static SEXP cells_body(struct call *c, void *data)
{
    struct pld_args *in = data;
    struct pld_pair pair = read_pair(in->pair, in->range);
    size_t parts = (size_t)ffi_count(ffi_field(in->grid, "parts"), "parts", 0, 64);
    struct grid g = read_grid(in->grid, parts ? parts : 1);
    if (parts == 0) {
        SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)g.bins + 1));
        pld_connect(&pair, g.step, g.first, g.bins, REAL(out), &c->host.base);
        return out;
    }
    size_t n = g.bins * parts;
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)n, 2));
    pld_merge_cells(&pair, g.step, g.first, g.bins, parts, REAL(out), REAL(out) + n, &c->host.base);
    return out;
}

static SEXP merge_body(struct call *c, void *data)
{
    struct pld_args *in = data;
    struct grid g = read_grid(in->grid, 1);
    const double *loss = numbers(in->loss, -1, "`loss` must be numeric.");
    size_t n = (size_t)XLENGTH(in->loss);
    const double *mass = numbers(in->mass, (R_xlen_t)n, "`mass` must hold one number a loss.");
    for (size_t i = 0; i < n; i++)
        if (!(isfinite(loss[i]) && mass[i] >= 0 && mass[i] < INFINITY && loss[i] >= g.first * g.step &&
              (i == 0 || loss[i - 1] <= loss[i])))
            ffi_abort_text("argument", "`loss` must be sorted and above the grid's first point, `mass` non-negative.");
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)g.bins + 1));
    int down = ffi_flag(ffi_field(in->grid, "down"), "down");
    pld_merge(n, loss, mass, g.step, g.first, g.bins, down, REAL(out), &c->host.base);
    return out;
}

/* grid: list(step, first, bins, parts); masses on the grid (parts = 0), or a matrix of losses and masses of merged outcomes */
SEXP riemdp_pld_cells(SEXP pair, SEXP range, SEXP grid)
{
    struct pld_args args = {pair, range, grid, R_NilValue, R_NilValue};
    return ffi_run(cells_body, &args, NULL, 0);
}

/* grid: list(step, first, bins, down) */
SEXP riemdp_pld_merge(SEXP loss, SEXP mass, SEXP grid)
{
    struct pld_args args = {R_NilValue, R_NilValue, grid, loss, mass};
    return ffi_run(merge_body, &args, NULL, 0);
}

/* real numbers to the first half of their transform, or that to real numbers */
static SEXP fft_body(struct call *c, void *data)
{
    SEXP x = data;
    int inverse = TYPEOF(x) == CPLXSXP;
    size_t n = inverse ? (size_t)(XLENGTH(x) - 1) * 2 : (size_t)XLENGTH(x);
    if ((!inverse && TYPEOF(x) != REALSXP) || XLENGTH(x) < 3 || n < 4 || n > FFT_MOST || (n & (n - 1)) != 0)
        ffi_abort_text(
            "argument",
            "`x` must hold 2^k real numbers, or the 2^(k - 1) + 1 complex ones of a transform, 2 <= k <= 25.");
    double *work = (double *)R_alloc(2 * n, sizeof(double));
    fft_prepare(n, work);
    if (inverse) {
        SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)n));
        fft_inverse(n, (const double *)COMPLEX(x), REAL(out), work, &c->host.base);
        return out;
    }
    SEXP out = ffi_keep(c, Rf_allocVector(CPLXSXP, (R_xlen_t)(n / 2 + 1)));
    fft_forward(n, REAL(x), (double *)COMPLEX(out), work, &c->host.base);
    return out;
}

SEXP riemdp_fft(SEXP x)
{
    return ffi_run(fft_body, x, NULL, 0);
}

#define LAW_MOST 2e6

#define PAIRS_MOST 4e10

struct allocation_args {
    SEXP a, b, grid;
};

static const double *some_numbers(SEXP x, const char *name, size_t *n)
{
    SEXP field = ffi_field(x, name);
    const double *out = numbers(field, -1, "laws must be numeric.");
    *n = (size_t)XLENGTH(field);
    if (*n < 1 || (double)*n > LAW_MOST)
        ffi_abort_text("argument", "a law must have 1 to 2e6 numbers.");
    for (size_t i = 0; i < *n; i++)
        if (!(out[i] >= 0 && out[i] < INFINITY))
            ffi_abort_text("argument", "laws must hold numbers of at least 0.");
    return out;
}

static void check_pairs(size_t n, size_t m)
{
    if ((double)n * (double)m > PAIRS_MOST)
        ffi_abort_text("argument", "two laws must not have more than 4e10 pairs of numbers.");
}

static struct allocation_law read_law(SEXP x)
{
    struct allocation_law law;
    law.mass = some_numbers(x, "mass", &law.n);
    law.first = (int64_t)ffi_count(ffi_field(x, "first"), "first", -1e8, 1e8);
    law.coarse = (int64_t)ffi_count(ffi_field(x, "coarse"), "coarse", 1, 1e6);
    return law;
}

static SEXP spread_body(struct call *c, void *data)
{
    struct allocation_args *in = data;
    int both = in->b == R_NilValue;
    struct allocation_law a = read_law(in->a), b = both ? a : read_law(in->b);
    double step = ffi_range(ffi_field(in->grid, "step"), "step", 1e-14, 100);
    int64_t refine = (int64_t)ffi_count(ffi_field(in->grid, "refine"), "refine", 1, 1024);
    int64_t first = (int64_t)ffi_count(ffi_field(in->grid, "first"), "first", -1e12, 1e12);
    size_t bins = (size_t)ffi_count(ffi_field(in->grid, "bins"), "bins", 1, BINS_MOST), reach = 1;
    check_pairs(a.n, b.n);
    if (a.coarse != 1)
        ffi_abort_text("argument", "the first law must have `coarse` 1.");
    if (!both)
        reach = allocation_reach(&a, &b);
    if ((double)reach > BINS_MOST)
        ffi_abort_text("argument", "two laws must not lie more than 5e7 steps apart.");
    struct allocation_place *places = (struct allocation_place *)R_alloc(reach, sizeof *places);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)bins));
    if (allocation_spread(&a, both ? NULL : &b, step, refine, first, bins, places, REAL(out), &c->host.base))
        ffi_abort_text("argument", "`grid` must hold all sums.");
    return out;
}

static void check_ascending(const double *x, size_t n, int strictly)
{
    for (size_t i = 1; i < n; i++)
        if (!(strictly ? x[i - 1] < x[i] : x[i - 1] <= x[i]))
            ffi_abort_text("argument", "values and edges must ascend.");
}

static const double *read_values(SEXP x, size_t n)
{
    size_t m;
    const double *value = some_numbers(x, "value", &m);
    if (m != n)
        ffi_abort_text("argument", "a law must have one value for each mass.");
    check_ascending(value, n, 0);
    return value;
}

static SEXP sums_body(struct call *c, void *data)
{
    struct allocation_args *in = data;
    int both = in->b == R_NilValue;
    size_t n, m = 0;
    const double *mass = some_numbers(in->a, "mass", &n), *value = read_values(in->a, n), *second_mass = NULL,
                 *second = NULL;
    if (!both) {
        second_mass = some_numbers(in->b, "mass", &m);
        second = read_values(in->b, m);
    }
    check_pairs(n, both ? n : m);
    const double *edges = numbers(in->grid, -1, "`edges` must be numeric.");
    size_t bins = (size_t)XLENGTH(in->grid);
    if (bins < 1 || (double)bins > LAW_MOST)
        ffi_abort_text("argument", "`edges` must hold 1 to 2e6 numbers.");
    check_ascending(edges, bins, 1);
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)bins, 2));
    allocation_merge(n, mass, value, m, second_mass, second, bins, edges, REAL(out), &c->host.base);
    return out;
}

/* a, b (or NULL for a once more): list(mass, first, coarse); grid: list(step, refine, first, bins) */
SEXP riemdp_allocation_spread(SEXP a, SEXP b, SEXP grid)
{
    struct allocation_args args = {a, b, grid};
    return ffi_run(spread_body, &args, NULL, 0);
}

/* a, b (or NULL): list(mass, value); a matrix of masses, and of masses times value, with a row for each of the bins that start at
 * the edges */
SEXP riemdp_allocation_merge(SEXP a, SEXP b, SEXP edges)
{
    struct allocation_args args = {a, b, edges};
    return ffi_run(sums_body, &args, NULL, 0);
}
