/* Laws on a lattice around the public centre for R: private medians, and the K-norm gradient mechanism and the truncated Laplace law of means.
 * What depends on records stays in this call; entries whose name says nonprivate are for tests and tools. */
#include <string.h>

#include "ffi_steps.h"
#include "mechanism.h"

/* law: of kng_law, or 0 for medians. whole: of a ball so wide around that of the records that it is next to all of the space */
struct median_args {
    SEXP x, centre, at;
    struct steps_numbers number, whole;
    double radius, off, smooth, sigma, shell, first, draws;
    struct public_law public;
    int law, is_whole, is_public;
};

static double read_number(SEXP x, const char *label, double least, double most)
{
    double v = ffi_number(x, label);
    if (!(v >= least && v <= most))
        ffi_abort_text("argument", "a radius, length, scale or count is out of its range.");
    return v;
}

static void read_whole(struct median_args *in, SEXP numbers)
{
    struct steps_numbers *w = &in->whole;
    *w = in->number;
    in->is_whole = numbers != R_NilValue;
    if (!in->is_whole)
        return;
    ffi_steps_read(numbers, w);
    if (!(in->law == KNG_DISTANCE && w->radius >= in->radius && w->carried && !w->tangent))
        ffi_abort_text("argument", "`whole` must be about a larger ball, carried, and of distances.");
}

/* proposed mass, contraction, bend, what is taken off lengths, distance of the mean from the centre at most; the rest is the law's */
static void read_public(struct median_args *in, SEXP numbers)
{
    in->is_public = numbers != R_NilValue;
    if (!in->is_public)
        return;
    const double *v = TYPEOF(numbers) == REALSXP && XLENGTH(numbers) == 5 ? REAL(numbers) : NULL;
    if (!v || !(v[0] < INFINITY && v[1] > 0 && v[1] <= 1 && v[2] >= 0 && v[2] <= 1 && v[3] >= 0 && v[4] >= 0 && in->law))
        ffi_abort_text("argument", "`public` must be five numbers of a law of means.");
    in->public = (struct public_law){.radius = in->whole.radius,
                                     .contract = v[1],
                                     .bend = v[2],
                                     .slope = 1 / in->sigma,
                                     .less = v[3],
                                     .shell = in->shell,
                                     .first = in->first,
                                     .middle = v[4],
                                     .proposed = v[0]};
}

/* bounds: the numbers of the mean by public steps, and `gradient`; `whole`: those of the larger ball, where the law has one. sigma: a scale; of
 * a staircase with the widths of a shell and of the first */
static void read_args(struct median_args *in, SEXP bounds, SEXP smooth, SEXP sigma)
{
    ffi_steps_read(bounds, &in->number);
    in->radius = in->number.radius;
    in->off = read_number(ffi_field(bounds, "gradient"), "gradient", 0, in->radius);
    read_whole(in, ffi_list_get(bounds, "whole"));
    in->smooth = read_number(smooth, "smooth", 0, 1e100);
    int steps = TYPEOF(sigma) == REALSXP && XLENGTH(sigma) == 3;
    in->sigma = steps ? REAL(sigma)[0] : read_number(sigma, "sigma", 1e-12, INFINITY);
    in->shell = steps ? REAL(sigma)[1] : 0;
    in->first = steps ? REAL(sigma)[2] : 0;
    if (steps && !(in->law == KNG_DISTANCE && in->sigma >= 1e-12 && in->sigma < INFINITY && in->shell > 0 && in->shell < INFINITY &&
                   in->first > 0 && in->first <= in->shell))
        ffi_abort_text("argument", "`sigma` must be a scale, for distances also with the widths of a shell and of the first one.");
    read_public(in, ffi_list_get(bounds, "public"));
}

static int read_law(SEXP law)
{
    static const char *const names[] = {"median", [KNG_GRADIENT] = "kng", [KNG_DISTANCE] = "laplace_truncated"};
    return ffi_choice(law, "law", names, 3);
}

/* The sampler of one data set; it works with the ball carried to the reference point. */
struct prepared {
    struct steps steps;
    struct median k;
    const double *m0;
    double *o, *kept, *tangent, *coords, *work;
    struct public_law public;
    int carried;
};

/* in the larger ball, where the mean's coordinates are the same */
static struct steps wider_steps(struct call *c, const struct median_args *in)
{
    if (c->m.k_max > 0 || !c->m.ops->radial)
        ffi_abort_text("unsupported", "this law is there on homogeneous spaces without positive curvature only.");
    return ffi_steps_make(c, &in->whole, 1);
}

/* what is public of the law, with the volume's numbers of the space */
static void prepare_public(const struct median_args *in, struct prepared *out)
{
    out->public = in->public;
    out->public.curved = out->k.curved;
    out->public.steep = out->k.steep;
    out->k.public = &out->public;
}

/* Where the sampler stands: at the mean, which for a law of distances is all that is kept of the records, or near their median. */
static void find_base(const struct median_args *in, size_t n, const double *ball, struct prepared *out)
{
    manifold_t m = out->k.m;
    const double *coords = out->k.coords;
    double *work = out->work, tol = 0.02 * in->sigma / (double)n;
    if (in->law == KNG_DISTANCE) {
        double *mean = ffi_doubles(steps_point_size(&out->steps.mean));
        steps_embed(&out->steps.mean, out->coords, mean, out->steps.work);
        out->k.y = mean;
    } else if (!in->law && m->dim == 1) {
        out->coords[0] = median_middle(coords, n, in->smooth, tol, ffi_doubles(n));
    } else if (!in->law) {
        double *p = ffi_doubles(m->ambient);
        median_find(m, ball, n, in->smooth, tol, out->o, in->radius, p, ffi_doubles(median_find_work(m, n)));
        ffi_steps_coords(&out->steps, out->o, p, out->coords, out->tangent, work);
        steps_clip(&out->steps.mean, out->coords);
    }
}

/* From here on nothing may fail: what has no log at the centre counts as the centre. */
static void prepare(struct call *c, const struct median_args *in, struct arg *x, struct prepared *out)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(dim), inj;
    struct ffi_sample s = ffi_sample(c, in->x, in->centre, work);
    if ((s.elsewhere && !in->law) || m->dim > GRID_DIM)
        ffi_abort_text("unsupported", "this law isn't available here: of records in chunks, or in so many dimensions.");
    *x = s.x;
    *out = (struct prepared){.steps = ffi_steps_make(c, &in->number, s.n),
                             .m0 = s.centre,
                             .o = o,
                             .kept = ffi_doubles(dim),
                             .tangent = ffi_doubles(dim),
                             .coords = ffi_doubles(m->dim),
                             .work = work};
    out->carried = manifold_reference(m, s.centre, o);
    double *coords = ffi_doubles(in->law ? 1 : s.n * m->dim), *ball = NULL;
    if (!in->law && m->dim > 1)
        ball = ffi_records_in_ball(c, x, s.centre, in->radius, out->carried, o, work);
    out->steps.fast = 1;
    if (in->law)
        ffi_steps_mean(&out->steps, x, s.elsewhere ? &s.tally : NULL, s.centre, o, out->coords, work);
    else
        ffi_steps_records(&out->steps, x, s.centre, o, coords, work);
    if (in->is_whole)
        out->steps = wider_steps(c, in);
    out->k = (struct median){.m = m,
                             .steps = &out->steps.mean,
                             .coords = coords,
                             .y = out->steps.records.y,
                             .records = &out->steps.records,
                             .n = s.n,
                             .law = in->law,
                             .off = in->off,
                             .radius = in->whole.radius,
                             .volume_room = work,
                             .smooth = in->smooth,
                             .scale = in->sigma,
                             .shell = in->shell,
                             .first = in->first,
                             .steps_room = out->steps.work,
                             .total = out->steps.sum,
                             .at = (int64_t *)R_alloc(m->dim, sizeof(int64_t))};
    if (in->is_whole)
        manifold_volume_bound(m, &out->k.curved, &out->k.steep);
    if (in->is_public)
        prepare_public(in, out);
    manifold_ball_bounds(m, s.centre, in->whole.radius, &out->k.curvature, &inj, work);
    find_base(in, s.n, ball, out);
    median_make(&out->k, out->coords, ffi_doubles(median_work(&out->k)));
}

/* the point with coordinates a, carried back to where the records are: a function of them and of public numbers */
static void back(struct prepared *s, const double *a, double *y)
{
    ffi_steps_point(&s->steps, s->o, a, s->kept, s->tangent, s->work);
    manifold_from_reference(s->k.m, s->carried, s->m0, s->kept, y, s->work);
}

static void draw(struct prepared *s, struct rng *rng, double *y)
{
    median_draw(&s->k, rng, s->coords);
    back(s, s->coords, y);
}

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    struct prepared s;
    struct arg x;
    prepare(c, data, &x, &s);
    double *y = ffi_doubles(c->m.ambient);
    draw(&s, rng, y);
    x = ffi_arg(c, ((struct median_args *)data)->centre, "center", KIND_POINT);
    return ffi_single(c, &x, y);
}

/* sigma: the scale of the length of the sum of bounded vectors (Inf: the uniform law). What comes out has the form of the centre, whatever the
 * records are. */
SEXP riemdp_release_median(SEXP m, SEXP x, SEXP centre, SEXP bounds, SEXP smooth, SEXP sigma, SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre};
    read_args(&args, bounds, smooth, sigma);
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* The same for laws of means. sigma: the scale of the gradient's length, or of the distance from the mean (Inf: the uniform law). */
SEXP riemdp_release_kng_lattice(SEXP m, SEXP x, SEXP centre, SEXP bounds, SEXP law, SEXP sigma, SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre, .law = read_law(law)};
    read_args(&args, bounds, Rf_ScalarReal(0), sigma);
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
    size_t n = (size_t)in->draws, dim = m->ambient, block = ffi_block(c);
    double *base = ffi_doubles(dim);
    back(&s, s.coords, base);
    struct result r = ffi_result(c, KIND_POINT, NULL, n, 1);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        double *out = ffi_result_block(&r, 0, begin);
        for (size_t i = 0; i < end - begin; i++)
            draw(&s, rng, out + i * dim);
        ffi_result_done(&r, 0, begin, end);
    }
    static const char *const names[] = {"draws", "median", "trials", "clamped"};
    SEXP list = ffi_named_list(c, 4, names);
    SET_VECTOR_ELT(list, 0, r.x);
    SET_VECTOR_ELT(list, 1, ffi_single(c, &x, base));
    SET_VECTOR_ELT(list, 2, number(c, s.k.grid.trials));
    SET_VECTOR_ELT(list, 3, number(c, s.k.grid.clamped));
    return list;
}

SEXP riemdp_lattice_law_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP bounds, SEXP law, SEXP smooth, SEXP sigma, SEXP draws,
                              SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre, .law = read_law(law), .draws = floor(read_number(draws, "draws", 0, 1e8))};
    read_args(&args, bounds, smooth, sigma);
    return ffi_with_rng(draws_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* At random distances from the base, in all orders of magnitude: what median_bound() has, and the coordinates there, `draws` rows of 5 + dim; NaN
 * for points out of the ball */
static SEXP bounds_body(struct call *c, struct rng *rng, void *data)
{
    const struct median_args *in = data;
    struct prepared s;
    struct arg x;
    prepare(c, in, &x, &s);
    R_xlen_t n = (R_xlen_t)in->draws;
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)n, 5 + (int)c->m.dim));
    double *a = s.coords, f[5];
    for (R_xlen_t i = 0; i < n; i++) {
        double rho = 2 * s.k.radius * exp(-16 * rng_uniform(rng));
        rng_direction(rng, c->m.dim, a);
        for (size_t j = 0; j < c->m.dim; j++)
            a[j] = a[j] * rho + (double)s.k.at[j] * s.k.grid.step;
        median_bound(&s.k, a, f);
        for (R_xlen_t j = 0; j < 5 + (R_xlen_t)c->m.dim; j++)
            REAL(out)[i + j * n] = j < 5 ? f[j] : a[j - 5];
    }
    return out;
}

SEXP riemdp_lattice_law_bounds_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP bounds, SEXP law, SEXP smooth, SEXP sigma, SEXP draws,
                                          SEXP simulate)
{
    struct median_args args = {.x = x, .centre = centre, .law = read_law(law), .draws = floor(read_number(draws, "draws", 0, 1e8))};
    read_args(&args, bounds, smooth, sigma);
    return ffi_with_rng(bounds_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* the sum of the bounded vectors, minus the mean's gradient, or the logarithm of the mean, at one point of the ball, in coordinates there */
static SEXP sum_body(struct call *c, void *data)
{
    const struct median_args *in = data;
    struct prepared s;
    struct arg x, at = ffi_arg(c, in->at, "at", KIND_POINT);
    prepare(c, in, &x, &s);
    if (at.n != 1)
        ffi_abort_text("shape", "`at` must be one point.");
    struct steps_records records = s.steps.records;
    ffi_steps_records(&s.steps, &at, s.m0, s.o, s.coords, s.work);
    s.steps.records = records;
    size_t d = s.steps.mean.span;
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)d));
    if (in->law)
        kng_length_at(&s.k, s.coords);
    else
        median_sum(&s.k, s.coords);
    for (size_t j = 0; j < d; j++)
        REAL(out)[j] = in->law ? s.k.v[j] : ldexp((double)s.k.total[j], -MEDIAN_BITS);
    return out;
}

SEXP riemdp_lattice_law_sum_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP bounds, SEXP law, SEXP smooth, SEXP at)
{
    struct median_args args = {.x = x, .centre = centre, .law = read_law(law), .at = at};
    read_args(&args, bounds, smooth, Rf_ScalarReal(1));
    return ffi_run(sum_body, &args, m, 0);
}

/* see kng_proposed() */
SEXP riemdp_kng_proposed(SEXP d, SEXP radius, SEXP contract, SEXP bend, SEXP slope, SEXP less, SEXP shell,
                         SEXP first, SEXP volume)
{
    static const double none[3] = {0, 0, 0};
    const double *v = TYPEOF(volume) == REALSXP && XLENGTH(volume) == 3 ? REAL(volume) : none;
    double dim = read_number(d, "d", 1, GRID_DIM), r = read_number(radius, "radius", 1e-30, 1e30);
    struct public_law law = {.radius = r,
                             .contract = read_number(contract, "contract", 0, 1),
                             .bend = read_number(bend, "bend", 0, 1),
                             .slope = read_number(slope, "slope", 0, 1e100),
                             .less = read_number(less, "less", 0, 1e100),
                             .shell = read_number(shell, "shell", 0, 1e100),
                             .first = read_number(first, "first", 0, 1e100),
                             .curved = v[0],
                             .steep = v[1],
                             .middle = v[2]};
    return Rf_ScalarReal(kng_proposed((size_t)dim, r, &law, ffi_doubles(grid_work())));
}
