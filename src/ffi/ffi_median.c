/* Private medians for R: the K-norm gradient mechanism of bounded gradients. What depends on records stays in this call; entries
 * whose name says nonprivate are for tests and tools. */
#include <string.h>

#include "ffi.h"
#include "mechanism.h"

struct median_args {
    SEXP x, centre, at;
    double radius, smooth, sigma, draws;
};

static double read_number(SEXP x, const char *label, double least, double most)
{
    double v = ffi_number(x, label);
    if (!(v >= least && v <= most))
        ffi_abort_text("argument", "a radius, length, scale or count is out of its range.");
    return v;
}

static void read_args(struct median_args *in, SEXP radius, SEXP smooth, SEXP sigma)
{
    in->radius = read_number(radius, "radius", 1e-12, 1e100);
    in->smooth = read_number(smooth, "smooth", 0, 1e100);
    in->sigma = read_number(sigma, "sigma", 1e-12, INFINITY);
}

/* The sampler of one data set; it works with the ball carried to the reference point. */
struct prepared {
    struct kng k;
    const double *m0;
    double *scratch, *kept;
    int carried;
};

/* From here on nothing may fail: what has no log at the centre counts as the centre. */
static void prepare(struct call *c, const struct median_args *in, struct arg *x, struct prepared *out)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(dim), *p = ffi_doubles(dim);
    struct ffi_sample s = ffi_sample(c, in->x, in->centre, work);
    if (s.elsewhere || !median_supported(m, in->radius, in->smooth))
        ffi_abort_text("unsupported", "a median isn't available here: on this manifold, at this radius, or in chunks.");
    *x = s.x;
    *out = (struct prepared){.m0 = s.centre, .scratch = work, .kept = ffi_doubles(dim)};
    out->carried = manifold_reference(m, s.centre, o);
    double *ball = ffi_records_in_ball(c, x, s.centre, in->radius, out->carried, o, work);
    out->k = (struct kng){.m = m,
                          .x = ball,
                          .centre = o,
                          .base = p,
                          .n = s.n,
                          .radius = in->radius,
                          .sigma = in->sigma,
                          .narrow = in->sigma,
                          .wide = in->sigma,
                          .law = KNG_MEDIAN,
                          .smooth = in->smooth,
                          .gradient = 1e-9 * sqrt((double)m->dim), /* sums are of multiples of 2^-MEDIAN_BITS */
                          .total = (int64_t *)R_alloc(m->dim, sizeof(int64_t)),
                          .room = ffi_doubles(median_work(m))};
    median_find(m, ball, s.n, o, in->radius, p, ffi_doubles(median_find_work(m, s.n)));
    median_settle(&out->k, p, work);
}

static void make_sampler(struct call *c, struct prepared *s)
{
    kng_make(&s->k, ffi_doubles(kng_work(&c->m, s->k.n)), s->scratch);
}

/* a draw, carried back to where the records are */
static void draw(struct prepared *s, struct rng *rng, double *y)
{
    kng_draw(&s->k, INFINITY, rng, s->kept, s->scratch);
    manifold_from_reference(s->k.m, s->carried, s->m0, s->kept, y, s->scratch);
}

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    struct prepared s;
    struct arg x;
    prepare(c, data, &x, &s);
    make_sampler(c, &s);
    double *y = ffi_doubles(c->m.ambient);
    draw(&s, rng, y);
    return ffi_single(c, &x, y);
}

/* sigma: the scale of the mean of the bounded vectors (Inf: the uniform law) */
SEXP riemdp_release_median(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP smooth, SEXP sigma, SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre};
    read_args(&args, radius, smooth, sigma);
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

static SEXP number(struct call *c, double v)
{
    return ffi_keep(c, Rf_ScalarReal(v));
}

/* Many draws for one data set, the point that they are proposed around, how many trials they took and at how many points f was
 * below its bound. */
static SEXP draws_body(struct call *c, struct rng *rng, void *data)
{
    const struct median_args *in = data;
    manifold_t m = &c->m;
    struct prepared s;
    struct arg x;
    prepare(c, in, &x, &s);
    make_sampler(c, &s);
    size_t n = (size_t)in->draws, dim = m->ambient, block = ffi_block(c);
    double *base = ffi_doubles(dim);
    struct result r = ffi_result(c, KIND_POINT, NULL, n, 1);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        double *out = ffi_result_block(&r, 0, begin);
        for (size_t i = 0; i < end - begin; i++)
            draw(&s, rng, out + i * dim);
        ffi_result_done(&r, 0, begin, end);
    }
    memcpy(s.kept, s.k.base, dim * sizeof *base);
    manifold_from_reference(m, s.carried, s.m0, s.kept, base, s.scratch);
    static const char *const names[] = {"draws", "median", "trials", "clamped"};
    SEXP list = ffi_named_list(c, 4, names);
    SET_VECTOR_ELT(list, 0, r.x);
    SET_VECTOR_ELT(list, 1, ffi_single(c, &x, base));
    SET_VECTOR_ELT(list, 2, number(c, s.k.trials));
    SET_VECTOR_ELT(list, 3, number(c, s.k.clamped));
    return list;
}

SEXP riemdp_median_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP smooth, SEXP sigma, SEXP draws,
                              SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre, .draws = floor(read_number(draws, "draws", 0, 1e8))};
    read_args(&args, radius, smooth, sigma);
    return ffi_with_rng(draws_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* At random distances from the base, in all orders of magnitude: f, its lower bound, and the distance, `draws` rows of three; NaN for
 * points out of the ball */
static SEXP bounds_body(struct call *c, struct rng *rng, void *data)
{
    const struct median_args *in = data;
    manifold_t m = &c->m;
    struct prepared s;
    struct arg x;
    prepare(c, in, &x, &s);
    make_sampler(c, &s);
    R_xlen_t n = (R_xlen_t)in->draws;
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)n, 3));
    double *y = ffi_doubles(m->ambient), *v = ffi_doubles(m->ambient), *a = ffi_doubles(m->dim), f[5], far;
    for (R_xlen_t i = 0; i < n; i++) {
        double rho = s.k.reach * exp(-16 * rng_uniform(rng)) * (1 - 1e-9);
        rng_direction(rng, m->dim, a);
        for (size_t j = 0; j < m->dim; j++)
            a[j] *= rho;
        int placed = manifold_from_coords(m, v, one(s.k.base), one(a), 0, 1, s.scratch) == STATUS_OK &&
                     m->ops->exp(m, y, one(s.k.base), one(v), 0, 1, s.scratch) == STATUS_OK &&
                     manifold_dist(m, &far, one(s.k.centre), one(y), 0, 1, s.scratch) == STATUS_OK && far <= s.k.radius;
        if (placed)
            kng_bounds(&s.k, y, f, s.scratch);
        REAL(out)[i] = placed ? f[0] : NAN;
        REAL(out)[i + n] = placed ? f[3] : NAN;
        REAL(out)[i + 2 * n] = rho;
    }
    return out;
}

SEXP riemdp_median_bounds_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP smooth, SEXP draws, SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre, .draws = floor(read_number(draws, "draws", 0, 1e8))};
    read_args(&args, radius, smooth, Rf_ScalarReal(1));
    return ffi_with_rng(bounds_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* the sum of the bounded vectors at one point of the ball, in coordinates of the carried ball */
static SEXP sum_body(struct call *c, void *data)
{
    const struct median_args *in = data;
    manifold_t m = &c->m;
    struct prepared s;
    struct arg x, at = ffi_arg(c, in->at, "at", KIND_POINT);
    prepare(c, in, &x, &s);
    if (at.n != 1)
        ffi_abort_text("shape", "`at` must be one point.");
    double *y = ffi_records_in_ball(c, &at, s.m0, in->radius, s.carried, s.k.centre, s.scratch);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)m->dim));
    median_sum(m, s.k.x, s.k.n, in->smooth, y, s.k.total, s.k.room, s.scratch);
    for (size_t j = 0; j < m->dim; j++)
        REAL(out)[j] = ldexp((double)s.k.total[j], -MEDIAN_BITS);
    return out;
}

SEXP riemdp_median_sum_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP smooth, SEXP at)
{
    struct median_args args = {.x = x, .centre = centre, .at = at};
    read_args(&args, radius, smooth, Rf_ScalarReal(1));
    return ffi_run(sum_body, &args, m, 0);
}
