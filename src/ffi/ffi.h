/* Between R and the kernels: reading manifolds and records of every accepted shape, making results in the same shape,
 * errors, interrupts and progress. Only ffi_*.c and init.c see SEXP. */
#ifndef RIEMDP_FFI_H
#define RIEMDP_FFI_H

#include <Rinternals.h>
#include <R_ext/Rdynload.h>

#include "exact.h"
#include "rng.h"
#include "solver.h"
#include "source.h"

enum layout {
    LAYOUT_RECORDS, /* one record after the other: k x k x n arrays, complex k x n */
    LAYOUT_ROWS,    /* rows are records: n x m matrices, mf_points */
    LAYOUT_PLANAR   /* k x 2 x n landmarks: all first coordinates of a record, then all second ones */
};

enum { DEEPEST_PRODUCT = 3 }; /* products of products of products, whose parts may be in other units: one level more */

enum kind { KIND_POINT, KIND_TANGENT, KIND_COORDS, KIND_SCALAR };

struct ffi_host {
    struct host base;
    double started, checked, drawn, wait; /* wait: seconds before anything is shown, -1 until it is known */
    int shown;
    int simulate; /* R's random numbers are in use: R code needs their state put back while it runs */
};

/* One .Call: its manifold, its host, and a list that protects what it made. */
struct call {
    struct ffi_host host;
    struct manifold m;
    SEXP keep;
    int kept;
    uint64_t stamp; /* of the manifold: texts of its points carry it */
    int quiet;    /* private callers: callbacks that fail are statuses, never R errors */
    int threads;  /* lanes that may work at once; 1 where operations call R */
};

/* An argument of points, tangents, coordinates or scalars. */
struct arg {
    const char *label;
    enum kind kind;
    enum layout layout;
    SEXP x; /* as given: results copy its shape */
    const double *data;
    size_t n, length;    /* records, doubles a record */
    int many;            /* 0: a single point, recycled */
    double *buffer;      /* packed blocks, one a lane, where the layout or the manifold needs them */
    size_t lane_size;    /* doubles of one lane's block */
    const double *ready; /* all records packed (ffi_pack_all), or NULL */
    size_t foreign;      /* of mf_points: elements that are no points of their manifold, read as missing */
};

enum { KEEP_MOST = 24 }; /* objects that ffi_keep() protects in one call */
SEXP ffi_keep(struct call *c, SEXP x);
/* runs body(data) with a fresh call object and cleans up (progress) however it ends; a manifold of NULL (not R's) stands for
 * calls that need none */
/* R code in the middle of a call: what it draws from R's generator doesn't draw a simulation's numbers again */
SEXP ffi_eval(struct call *c, SEXP expr, SEXP env);
SEXP ffi_run(SEXP (*body)(struct call *c, void *data), void *data, SEXP manifold, int quiet);
/* classed R error from the table of statuses; index < 0: no record to name */
void ffi_abort(struct call *c, int status, const char *label, double index) __attribute__((noreturn));
void ffi_abort_text(const char *class_suffix, const char *text) __attribute__((noreturn));

SEXP ffi_namespace(void);                       /* the package's own */
SEXP ffi_list_get(SEXP list, const char *name); /* R_NilValue if absent */
double ffi_number(SEXP x, const char *label);
double ffi_range(SEXP x, const char *label, double least, double most); /* one number, both ends included */
double ffi_count(SEXP x, const char *label, double least, double most); /* a whole one */
int ffi_flag(SEXP x, const char *label);
struct ratio;
int ffi_ratio(struct ratio *out, const double *x); /* two whole numbers, num and den; 0 where they are not such */
/* the place of a word in `names`, whose empty places have no word: how R says which of an enum is meant */
int ffi_choice(SEXP x, const char *label, const char *const *names, int count);
SEXP ffi_field(SEXP list, const char *name); /* aborts where it is absent */
double *ffi_doubles(size_t n); /* R_alloc */
SEXP ffi_vector(const double *x, size_t n); /* a copy for R, unprotected */

/* raises where no bounds of rounding errors are proven */
void ffi_check_certified(const struct call *c);
void ffi_manifold_read(struct call *c, SEXP manifold);
void ffi_custom_attach(struct call *c, struct manifold *m, SEXP manifold); /* ffi_custom.c */
void ffi_custom_register(void);

/* reads the shape; raises on a wrong one */
struct arg ffi_arg(struct call *c, SEXP x, const char *label, enum kind kind);
size_t ffi_common_length(struct arg *args, size_t count);
size_t ffi_block(const struct call *c);
/* The same without raising and without R, for any lane: a status, and the first bad record in *bad. */
int ffi_read_block(const struct call *c, const struct arg *a, int lane, size_t begin, size_t end, double *work,
                   struct points *out, size_t *bad);
/* The same, total: a record that can't be brought to the manifold is NaN. */
void ffi_read_total(const struct call *c, const struct arg *a, int lane, size_t begin, size_t end, double *work,
                    struct points *out);
/* Packs all records where that needs little memory, for algorithms that pass over them again and again. */
void ffi_pack_all(const struct call *c, struct arg *a, double *work);
int ffi_check_range(manifold_t m, enum kind kind, struct points x, struct points p, size_t from, size_t to,
                    double *work);
/* Records begin <= i < end, numbered from 0 in the result. Raises on raw landmarks of size zero unless `forgiving`,
 * in which case such a record is NaN. */
struct points ffi_block_points(struct call *c, struct arg *a, size_t begin, size_t end, int forgiving, double *work);
/* raises for the first record that is no point (or not tangent at `base`) */
void ffi_check_block(struct call *c, struct arg *a, struct points x, struct arg *base, struct points p, size_t begin,
                     size_t end, double *work);
struct source ffi_source(struct call *c, struct arg *a, int forgiving, double *work);

struct result {
    SEXP x;
    enum kind kind;
    enum layout layout;
    double *data;
    size_t n, length;
    double *buffer;
    size_t lane_size;
};

/* like the argument `shape` where it is of a shape for `kind`, else the manifold's own shape */
struct result ffi_result(struct call *c, enum kind kind, const struct arg *shape, size_t n, int many);
double *ffi_result_block(struct result *r, int lane, size_t begin); /* where the kernel writes records begin, ... */
void ffi_result_done(struct result *r, int lane, size_t begin, size_t end);

/* Records that lie elsewhere: a list of class riemdp_tally with their number `n` and functions that give sums over them. */
struct tally {
    size_t n;
    SEXP list;
};
/* 1 and *out filled where x is one; raises on a broken one */
int ffi_tally(SEXP x, struct tally *out);
/* What a release is made from: records, or who sums over them elsewhere, and the public centre, a copy. Raises for what shapes and the
 * centre show, and for nothing that a record holds. */
struct ffi_sample {
    struct arg x; /* no records where they are elsewhere */
    struct tally tally;
    int elsewhere;
    size_t n;
    const double *centre;
};
struct ffi_sample ffi_sample(struct call *c, SEXP x, SEXP centre, double *work);
/* the same, where there may be no records: x may be NULL */
struct ffi_sample ffi_sample_any(struct call *c, SEXP x, SEXP centre, double *work);
/* calls its function `name` with `count` numbers; a status where it gives no `length` finite numbers (or a status) */
int ffi_tally_ask(struct call *c, const struct tally *t, const char *name, SEXP request, double *out, size_t length);
int ffi_tally_call(struct call *c, const struct tally *t, const char *name, const double *in, size_t count, double *out,
                   size_t length);
/* the energy whose gradient is minus the mean of the logarithms that its function `logs` sums */
struct objective ffi_tally_energy(struct call *c, const struct tally *t);

/* Records into the ball around m0, and the ball (if `carried`) to the reference point o, where all conditions are bounded by the
 * radius. Total: what has no log counts as the centre. work: manifold_work */
double *ffi_records_in_ball(struct call *c, struct arg *x, const double *m0, double radius, int carried,
                            const double *o, double *work);

SEXP ffi_named_list(struct call *c, int count, const char *const *names);
/* finite numbers, none negative, one for each of n records; NULL for R's NULL */
const double *ffi_weights(SEXP weights, size_t n);
/* exact sums for R: list(low, digits) */
struct exact *ffi_exact(size_t n, size_t lanes); /* sums that are 0, one after the other for each lane */
SEXP ffi_exact_list(struct call *c, const struct exact *e);

/* How many records lie within each of `grid` radii of p, one without a distance counted as lying at p; where there is `unit`,
 * of each unit how many lie beyond the first */
void ffi_count_within(struct call *c, struct arg *x, const double *p, const double *radii, size_t grid, const int *unit,
                      double *count);

/* mf_points (ffi_points_vector.c). A number that tells manifolds apart. */
uint64_t ffi_stamp(SEXP manifold);
void ffi_points_register(DllInfo *dll);
/* points, or tangent vectors, whose numbers are the rows of `rows` (double, without dimnames); names: R_NilValue or a string each */
SEXP ffi_points_new(SEXP rows, SEXP manifold, int tangent, SEXP names);
/* The rows behind points or texts x (STRSXP), shared where x holds them. Elements that are no points of the manifold with this
 * stamp are missing and counted in *foreign. The caller protects. */
SEXP ffi_points_rows(SEXP x, size_t length, uint64_t stamp, int tangent, size_t *foreign);

/* one point in its plain single shape; landmarks as k x 2 where `like` (may be NULL) came so */
SEXP ffi_single(struct call *c, const struct arg *like, const double *p);

/* runs `draw` with a random source; wipes it (or saves R's state) however the call ends */
SEXP ffi_with_rng(SEXP (*body)(struct call *c, struct rng *rng, void *data), void *data, SEXP manifold, int simulate,
                  int quiet);

#endif
