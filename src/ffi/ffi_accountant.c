/* Privacy-loss distributions for R. Public numbers only. */
#include "accountant_pld.h"
#include "ffi.h"
#include "fft.h"

#define BINS_MOST 5e7

#define FFT_MOST ((size_t)1 << 25)

struct pld_args {
    SEXP pair, grid, loss, mass;
};

static const double *numbers(SEXP x, R_xlen_t n, const char *otherwise)
{
    if (TYPEOF(x) != REALSXP || (n >= 0 && XLENGTH(x) != n))
        ffi_abort_text("argument", otherwise);
    return REAL(x);
}

/* c(family, size, q, enter, from, to) */
static struct pld_pair read_pair(SEXP x)
{
    const double *v = numbers(x, 6, "`pair` must hold six numbers.");
    if (!(v[0] >= 0 && v[0] < PLD_FAMILIES && v[1] > 0 && v[1] < INFINITY && v[2] > 0 && v[2] <= 1 && v[4] > -1e6 &&
          v[4] < v[5] && v[5] < 1e6))
        ffi_abort_text("argument", "`pair` must be c(family, size, q, enter, from, to) within their ranges.");
    struct pld_pair p = {(enum pld_family)v[0], v[1], v[2], v[3] == 1, v[4], v[5]};
    return p;
}

/* c(step, first, bins, parts); for merging c(step, first, bins, down) */
static const double *read_grid(SEXP x)
{
    const double *v = numbers(x, 4, "`grid` must hold four numbers.");
    if (!(v[0] > 1e-300 && v[0] < INFINITY && fabs(v[1]) < 1e15 && v[1] == floor(v[1]) && v[2] >= 1 &&
          v[2] <= BINS_MOST && v[3] >= 0 && v[3] <= 64 && v[2] * (v[3] > 0 ? floor(v[3]) : 1) <= BINS_MOST &&
          fabs(v[1] * v[0]) < 1e6 && v[2] * v[0] < 1e6))
        ffi_abort_text("argument", "`grid` must be c(step, first, bins, parts) within their ranges.");
    return v;
}

static SEXP cells_body(struct call *c, void *data)
{
    struct pld_args *in = data;
    struct pld_pair pair = read_pair(in->pair);
    const double *grid = read_grid(in->grid);
    size_t bins = (size_t)grid[2], parts = (size_t)grid[3];
    if (parts == 0) {
        SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)bins + 1));
        pld_connect(&pair, grid[0], grid[1], bins, REAL(out), &c->host.base);
        return out;
    }
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)(bins * parts), 2));
    pld_merge_cells(&pair, grid[0], grid[1], bins, parts, REAL(out), REAL(out) + bins * parts, &c->host.base);
    return out;
}

static SEXP merge_body(struct call *c, void *data)
{
    struct pld_args *in = data;
    const double *grid = read_grid(in->grid);
    const double *loss = numbers(in->loss, -1, "`loss` must be numeric.");
    size_t bins = (size_t)grid[2], n = (size_t)XLENGTH(in->loss);
    const double *mass = numbers(in->mass, (R_xlen_t)n, "`mass` must hold one number a loss.");
    for (size_t i = 0; i < n; i++)
        if (!(isfinite(loss[i]) && mass[i] >= 0 && mass[i] < INFINITY && loss[i] >= grid[1] * grid[0] &&
              (i == 0 || loss[i - 1] <= loss[i])))
            ffi_abort_text("argument", "`loss` must be sorted and above the grid's first point, `mass` non-negative.");
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)bins + 1));
    pld_merge(n, loss, mass, grid[0], grid[1], bins, grid[3] == 1, REAL(out), &c->host.base);
    return out;
}

/* masses on the grid (parts = 0), or a matrix of losses and masses of merged outcomes */
SEXP riemdp_pld_cells(SEXP pair, SEXP grid)
{
    struct pld_args args = {pair, grid, R_NilValue, R_NilValue};
    return ffi_run(cells_body, &args, NULL, 0);
}

SEXP riemdp_pld_merge(SEXP loss, SEXP mass, SEXP grid)
{
    struct pld_args args = {R_NilValue, grid, loss, mass};
    return ffi_run(merge_body, &args, NULL, 0);
}

/* real numbers to the first half of their transform, or that to real numbers */
static SEXP fft_body(struct call *c, void *data)
{
    SEXP x = data;
    int inverse = TYPEOF(x) == CPLXSXP;
    size_t n = inverse ? (size_t)(XLENGTH(x) - 1) * 2 : (size_t)XLENGTH(x);
    if ((!inverse && TYPEOF(x) != REALSXP) || XLENGTH(x) < 3 || n < 4 || n > FFT_MOST || (n & (n - 1)) != 0)
        ffi_abort_text("argument", "`x` must hold 2^k real numbers, or the 2^(k - 1) + 1 complex ones of a transform, 2 <= k <= 25.");
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
