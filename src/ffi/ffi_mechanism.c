/* Private means and noise for R. What depends on records stays in this call: only the noisy point leaves it. */
#include "ffi_steps.h"
#include "mean.h"
#include "mechanism.h"

/* The tangent mean takes the noise of the wrapped laws; it is a law of releases only. */
enum law {
    LAW_LAPLACE = 1,
    LAW_WRAPPED = 2,
    LAW_GAUSSIAN = 3,
    LAW_WRAPPED_GAUSSIAN = 4,
    LAW_STAIRCASE = 5,
    LAW_HEAT = 6,
    LAW_CHORDAL = 7,
    LAW_TANGENT = 8,
    LAW_TANGENT_GAUSSIAN = 9,
    LAW_VMF = 10, /* of single points only, as the next one */
    LAW_CAP = 11
};

static const char *const law_name[] = {[LAW_LAPLACE] = "laplace",
                                       [LAW_WRAPPED] = "wrapped",
                                       [LAW_GAUSSIAN] = "gaussian",
                                       [LAW_WRAPPED_GAUSSIAN] = "wrapped_gaussian",
                                       [LAW_STAIRCASE] = "staircase",
                                       [LAW_HEAT] = "heat",
                                       [LAW_CHORDAL] = "chordal",
                                       [LAW_TANGENT] = "tangent",
                                       [LAW_TANGENT_GAUSSIAN] = "tangent_gaussian",
                                       [LAW_VMF] = "vmf",
                                       [LAW_CAP] = "privunit"};

static int read_law(SEXP law, int last)
{
    return ffi_choice(law, "law", law_name, last + 1);
}

/* noise that is drawn at the mean itself, not at a public point */
static int on_manifold(int law)
{
    return law == LAW_LAPLACE || law == LAW_GAUSSIAN || law == LAW_STAIRCASE || law == LAW_HEAT || law == LAW_CHORDAL;
}

/* A law's scale; of a staircase, also the width of its shells and how far the first reaches; of von Mises and Fisher's 1/kappa; of
 * a cap its probability and (as `width`) its angle */
struct scale {
    double sigma, width, first;
};

/* a law that is made once a call */
struct noise {
    int law;
    double sigma;
    struct laplace laplace;
    struct gaussian gaussian;
    struct heat heat;
    struct chord chord;
    struct cap cap;
};

static int noise_make(struct noise *noise, manifold_t m, int law, struct scale scale)
{
    noise->law = law;
    noise->sigma = scale.sigma;
    if (law == LAW_LAPLACE)
        return laplace_make(&noise->laplace, m, scale.sigma);
    if (law == LAW_STAIRCASE)
        return staircase_make(&noise->laplace, m, scale.sigma, scale.width, scale.first);
    if (law == LAW_GAUSSIAN)
        return gaussian_make(&noise->gaussian, m, scale.sigma, (void *)R_alloc(gaussian_parts(m), sizeof noise->gaussian));
    if (law == LAW_HEAT)
        return heat_make(&noise->heat, m, scale.sigma, ffi_doubles(heat_work(m)));
    if (law == LAW_CHORDAL)
        return chord_make(&noise->chord, m, scale.sigma, ffi_doubles(chord_work(m)));
    if (law == LAW_CAP)
        return cap_make(&noise->cap, m, scale.sigma, scale.width);
    return law == LAW_VMF && !whole_sphere(m) ? STATUS_UNSUPPORTED : STATUS_OK;
}

static double positive(double v)
{
    if (!(v > 0 && v < INFINITY))
        ffi_abort_text("argument", "a scale or radius must be positive and finite.");
    return v;
}

static double read_positive(SEXP x, const char *label)
{
    return positive(ffi_number(x, label));
}

static struct scale read_scale(SEXP x, int law)
{
    if (law == LAW_CAP && TYPEOF(x) == REALSXP && XLENGTH(x) == 2)
        return (struct scale){positive(REAL(x)[0]), positive(REAL(x)[1]), 0};
    if (law != LAW_STAIRCASE)
        return (struct scale){read_positive(x, "sigma"), 0, 0};
    if (TYPEOF(x) != REALSXP || XLENGTH(x) != 3)
        ffi_abort_text("argument", "`sigma` of a staircase must be three numbers: scale, width, first.");
    return (struct scale){positive(REAL(x)[0]), positive(REAL(x)[1]), positive(REAL(x)[2])};
}

/* One draw around a base point, in orthonormal coordinates there. Whether the call ends here has the same probability whatever the
 * records are. */
static void draw(manifold_t m, const struct noise *noise, struct rng *rng, double *coords, double *work)
{
    int status = STATUS_OK;
    switch (noise->law) {
    case LAW_LAPLACE:
    case LAW_STAIRCASE:
        status = laplace_draw(&noise->laplace, rng, coords, work);
        break;
    case LAW_GAUSSIAN:
        status = gaussian_draw(&noise->gaussian, rng, coords, work);
        break;
    case LAW_WRAPPED_GAUSSIAN:
    case LAW_TANGENT_GAUSSIAN:
        normal_draw(m->dim, noise->sigma, rng, coords);
        break;
    case LAW_WRAPPED:
    case LAW_TANGENT:
        knorm_draw(m->dim, noise->sigma, rng, coords);
        break;
    case LAW_VMF:
        vmf_draw(m->dim, 1 / noise->sigma, rng, coords);
        break;
    case LAW_CAP:
        cap_draw(&noise->cap, rng, coords);
        break;
    default:
        status = STATUS_UNSUPPORTED;
    }
    if (status != STATUS_OK)
        ffi_abort(NULL, status, "mechanism", -1);
}

/* laws that give the point itself */
static int gives_point(int law)
{
    return law == LAW_HEAT || law == LAW_CHORDAL;
}

/* a point around p, to the last digit on the manifold; o where doubles have lost it. As draw() ends. */
static void drawn_point(manifold_t m, const struct noise *noise, struct rng *rng, const double *p, const double *o, double *q, double *v,
                        double *work)
{
    for (size_t j = 0; j < m->ambient; j++)
        v[j] = p[j];
    int status = noise->law == LAW_HEAT ? heat_turn(&noise->heat, rng, v) : chord_draw(&noise->chord, rng, q);
    if (status != STATUS_OK)
        ffi_abort(NULL, status, "mechanism", -1);
    if (noise->law == LAW_CHORDAL && m->ops->from_origin(m, v, p, one(q), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < m->ambient; j++)
            v[j] = o[j];
    if (m->ops->project(m, q, one(v), 0, 1, work) != STATUS_OK || !all_finite(m->ambient, q))
        for (size_t j = 0; j < m->ambient; j++)
            q[j] = o[j];
}

/* Mean of the logarithms at o, in orthonormal coordinates, where callbacks give them; total: what has no log counts as o. */
static void tangent_mean(manifold_t m, const double *ball, size_t n, const double *o, double *z, double *v, double *a,
                         double *work)
{
    struct points base = {o, 0};
    for (size_t j = 0; j < m->dim; j++)
        z[j] = 0;
    for (size_t i = 0; i < n; i++) {
        struct points y = {ball + i * m->ambient, 0};
        if (m->ops->log(m, v, base, y, 0, 1, work) == STATUS_OK &&
            manifold_coords(m, a, base, (struct points){v, 0}, 0, 1, work) == STATUS_OK && all_finite(m->dim, a))
            for (size_t j = 0; j < m->dim; j++)
                z[j] += (a[j] - z[j]) / (double)(i + 1);
        else
            for (size_t j = 0; j < m->dim; j++)
                z[j] -= z[j] / (double)(i + 1);
        host_tick(m->host, 0, 0);
    }
}

struct release_args {
    SEXP x, centre;
    double radius, k_min, k_max, tol;
    struct scale sigma;
    int law;
    int constant,
        proven; /* the mean is found by all public steps; has a bound of its rounding errors, as its numbers say */
    struct steps_numbers number;
};

double *ffi_records_in_ball(struct call *c, struct arg *x, const double *m0, double radius, int carried,
                            const double *o, double *work)
{
    manifold_t m = &c->m;
    size_t n = x->n, dim = m->ambient, block = ffi_block(c);
    double *ball = ffi_doubles(n * dim);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, x, begin, end, 1, work);
        double *to = ball + begin * dim;
        manifold_to_ball(m, to, m0, radius, y, 0, end - begin, work);
        if (carried)
            for (size_t i = 0; i < end - begin; i++) {
                struct points r = {to + i * dim, 0};
                if (m->ops->to_origin(m, to + i * dim, m0, r, 0, 1, work) != STATUS_OK ||
                    !all_finite(dim, to + i * dim))
                    m->ops->origin(m, to + i * dim);
            }
        host_tick(m->host, 0, 0);
    }
    for (size_t i = 0; i < n && carried; i++) { /* rounding of the isometry: back into the ball */
        manifold_to_ball(m, ball + i * dim, o, radius, (struct points){ball + i * dim, 0}, 0, 1, work);
        host_tick(m->host, 0, 0);
    }
    return ball;
}

/* the mean in the ball around o, as a point p and as coordinates z at o */
static void release_center(struct call *c, const struct release_args *in, struct arg *x, const struct tally *tally,
                           const double *ball, size_t n, const double *m0, const double *o, double *z, double *p,
                           double *v, double *work)
{
    manifold_t m = &c->m;
    double gradient;
    if (in->proven) {
        struct steps s = ffi_steps_make(c, &in->number, n);
        s.fast = tally || !in->constant;
        ffi_steps_mean(&s, x, tally, m0, o, z, work);
        ffi_steps_point(&s, o, z, p, v, work);
        return;
    }
    if (tally) {
        struct objective f = ffi_tally_energy(c, tally);
        mean_in_ball_of(m, &f, o, in->radius, in->k_min, in->k_max, in->tol, p, &gradient,
                        ffi_doubles(mean_solver_work(m, 5)));
    } else {
        struct arg inside = {.label = "x",
                             .kind = KIND_TANGENT,
                             .layout = LAYOUT_RECORDS,
                             .data = ball,
                             .n = n,
                             .length = m->ambient,
                             .many = 1};
        struct source source = ffi_source(c, &inside, 1, work);
        mean_in_ball(m, &source, o, in->radius, in->k_min, in->k_max, in->tol, p, &gradient,
                     ffi_doubles(mean_work(m, &source, 5)));
    }
    if (m->ops->log(m, v, one(o), one(p), 0, 1, work) != STATUS_OK ||
        manifold_coords(m, z, one(o), one(v), 0, 1, work) != STATUS_OK || !all_finite(m->dim, z))
        for (size_t j = 0; j < m->dim; j++)
            z[j] = 0;
}

/* What noise is added to: coordinates z at `base`. Noise of the first laws is drawn at the mean itself, of the others at o. */
static struct points release_base(struct call *c, const struct release_args *in, struct ffi_sample *x, int carried,
                                  const double *o, double *z, double *work)
{
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    int tangent = in->law == LAW_TANGENT || in->law == LAW_TANGENT_GAUSSIAN;
    double *ball = NULL, *p = ffi_doubles(dim), *v = ffi_doubles(dim);
    if (!x->elsewhere && !in->proven)
        ball = ffi_records_in_ball(c, &x->x, x->centre, in->radius, carried, o, work);
    if (in->proven || !tangent) {
        release_center(c, in, &x->x, x->elsewhere ? &x->tally : NULL, ball, x->n, x->centre, o, z, p, v, work);
        if (!on_manifold(in->law))
            return one(o);
        for (size_t j = 0; j < m->dim; j++)
            z[j] = 0;
        return one(p);
    }
    if (!x->elsewhere) {
        tangent_mean(m, ball, x->n, o, z, v, ffi_doubles(m->dim), work);
        return one(o);
    }
    int got = ffi_tally_call(c, &x->tally, "coords", o, dim, z, m->dim) == STATUS_OK;
    for (size_t j = 0; j < m->dim; j++)
        z[j] = got ? z[j] / (double)x->n : 0;
    return one(o);
}

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    const struct release_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient;
    double *work = ffi_doubles(manifold_work(m)), *o = ffi_doubles(dim), *q = ffi_doubles(dim), *v = ffi_doubles(dim);
    double *a = ffi_doubles(m->dim), *z = ffi_doubles(m->dim);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    struct noise noise;
    if (noise_make(&noise, m, in->law, in->sigma) != STATUS_OK)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    /* from here on nothing may fail for what a record holds */
    int carried = manifold_reference(m, x.centre, o);
    struct points base = release_base(c, in, &x, carried, o, z, work);
    if (!gives_point(in->law))
        draw(m, &noise, rng, a, work);
    for (size_t j = 0; j < m->dim; j++)
        a[j] += z[j];
    if (gives_point(in->law))
        drawn_point(m, &noise, rng, base.x, o, q, v, work);
    else if (manifold_from_coords(m, v, base, one(a), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < dim; j++) /* base.x may be the mean itself: never what is released */
            q[j] = o[j];
    else
        manifold_exp_total(m, q, base.x, v, o, work);
    manifold_one_form(m, o, q, work);
    manifold_from_reference(m, carried, x.centre, q, v, work);
    return ffi_single(c, x.elsewhere ? NULL : &x.x, v);
}

/* numbers: of the mean by public steps; NULL: a solver without bounds of rounding errors, to the gradient `tol` as computed */
SEXP riemdp_release_mean(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP bounds, SEXP law, SEXP sigma, SEXP tol,
                         SEXP numbers, SEXP constant, SEXP simulate)
{
    if (TYPEOF(bounds) != REALSXP || XLENGTH(bounds) != 2 || isnan(REAL(bounds)[0]) || isnan(REAL(bounds)[1]))
        ffi_abort_text("argument", "`bounds` must be two numbers, the least and the largest curvature.");
    struct release_args args = {.x = x,
                                .centre = centre,
                                .radius = read_positive(radius, "radius"),
                                .k_min = REAL(bounds)[0],
                                .k_max = REAL(bounds)[1],
                                .tol = read_positive(tol, "tol"),
                                .law = read_law(law, LAW_TANGENT_GAUSSIAN),
                                .constant = ffi_number(constant, "constant") != 0,
                                .proven = numbers != R_NilValue};
    args.sigma = read_scale(sigma, args.law);
    if (args.proven)
        ffi_steps_read(numbers, &args.number);
    if (args.proven && (args.number.radius != args.radius || !args.number.carried ||
                        args.number.tangent != (args.law == LAW_TANGENT || args.law == LAW_TANGENT_GAUSSIAN)))
        ffi_abort_text("argument", "`numbers` must be about this mean in the ball of this radius, carried.");
    if (!(args.tol >= 1e-14))
        ffi_abort_text("argument", "`tol` must be at least 1e-14: rounding allows no less.");
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* ---- single points, each released by itself (inst/proofs/local.md) --------------------------------------------------- */

struct local_args {
    SEXP x, centre;
    double radius; /* Inf: there is no ball */
    struct scale sigma;
    int law;
};

/* The record in the ball or, without one, brought to the manifold to the last digit; the public centre for what is no point. */
static void local_point(manifold_t m, const struct local_args *in, const double *centre, const double *y, double *p,
                        double *work)
{
    if (in->radius < INFINITY)
        manifold_to_ball(m, p, centre, in->radius, one(y), 0, 1, work);
    else if (m->ops->check_point(m, one(y), 0, 1, work) != STATUS_OK ||
             m->ops->project(m, p, one(y), 0, 1, work) != STATUS_OK || !all_finite(m->ambient, p))
        for (size_t j = 0; j < m->ambient; j++)
            p[j] = centre[j];
}

/* its coordinates at the centre, no longer than the radius; 0 where there are none */
static void local_coords(manifold_t m, const struct local_args *in, const double *centre, const double *p, double *z,
                         double *v, double *work)
{
    int ok = m->ops->log(m, v, one(centre), one(p), 0, 1, work) == STATUS_OK &&
             manifold_coords(m, z, one(centre), one(v), 0, 1, work) == STATUS_OK && all_finite(m->dim, z);
    double length = ok ? norm2(m->dim, z) : 0, cut = length > in->radius ? in->radius / length : 1;
    for (size_t j = 0; j < m->dim; j++)
        z[j] = ok ? cut * z[j] : 0;
}

static SEXP local_body(struct call *c, struct rng *rng, void *data)
{
    const struct local_args *in = data;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *p = ffi_doubles(m->ambient), *v = ffi_doubles(m->ambient);
    double *a = ffi_doubles(m->dim), *z = ffi_doubles(m->dim);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    struct noise noise;
    if (x.elsewhere || noise_make(&noise, m, in->law, in->sigma) != STATUS_OK)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    int there = in->law == LAW_WRAPPED; /* noise at the centre, else around the record */
    struct result out = ffi_result(c, KIND_POINT, NULL, x.n, x.x.many);
    size_t block = ffi_block(c);
    for (size_t begin = 0; begin < x.n; begin += block) {
        size_t end = begin + block < x.n ? begin + block : x.n;
        struct points y = ffi_block_points(c, &x.x, begin, end, 1, work);
        double *to = ffi_result_block(&out, 0, begin);
        for (size_t i = 0; i < end - begin; i++) {
            local_point(m, in, x.centre, at(y, i), p, work);
            if (there)
                local_coords(m, in, x.centre, p, z, v, work);
            draw(m, &noise, rng, a, work);
            for (size_t j = 0; j < m->dim && there; j++)
                a[j] += z[j];
            const double *base = there ? x.centre : p;
            if (manifold_from_coords(m, v, one(base), one(a), 0, 1, work) == STATUS_OK)
                manifold_exp_total(m, to + i * m->ambient, base, v, x.centre, work);
            else
                for (size_t j = 0; j < m->ambient; j++)
                    to[i * m->ambient + j] = x.centre[j];
            manifold_one_form(m, x.centre, to + i * m->ambient, work);
        }
        ffi_result_done(&out, 0, begin, end);
        host_tick(m->host, 0, 0);
    }
    return out.x;
}

SEXP riemdp_release_local(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP law, SEXP sigma, SEXP simulate)
{
    struct local_args args = {
        .x = x, .centre = centre, .radius = ffi_number(radius, "radius"), .law = read_law(law, LAW_CAP)};
    args.sigma = read_scale(sigma, args.law);
    if (!(args.radius > 0) ||
        !(args.law == LAW_LAPLACE || args.law == LAW_VMF || args.law == LAW_CAP ||
          (args.law == LAW_WRAPPED && args.radius < INFINITY)))
        ffi_abort_text("argument", "`radius` must be positive, and `law` one of single points.");
    return ffi_with_rng(local_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* n draws of the noise law around a public centre */
struct noise_args {
    SEXP centre;
    double n;
    int law;
    struct scale sigma;
};

static SEXP noise_body(struct call *c, struct rng *rng, void *data)
{
    const struct noise_args *in = data;
    manifold_t m = &c->m;
    struct arg centre = ffi_arg(c, in->centre, "center", KIND_POINT);
    if (centre.n != 1)
        ffi_abort_text("shape", "`center` must be one point.");
    double *work = ffi_doubles(manifold_work(m)), *a = ffi_doubles(m->dim), *v = ffi_doubles(m->ambient);
    struct points p = ffi_block_points(c, &centre, 0, 1, 0, work);
    ffi_check_block(c, &centre, p, NULL, p, 0, 1, work);
    struct noise noise;
    if (noise_make(&noise, m, in->law, in->sigma) != STATUS_OK)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    size_t n = (size_t)in->n, block = ffi_block(c);
    struct result r = ffi_result(c, KIND_POINT, NULL, n, 1);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        double *out = ffi_result_block(&r, 0, begin);
        for (size_t i = 0; i < end - begin; i++) {
            if (gives_point(in->law)) {
                drawn_point(m, &noise, rng, p.x, p.x, out + i * m->ambient, v, work);
                continue;
            }
            draw(m, &noise, rng, a, work);
            int status = manifold_from_coords(m, v, p, (struct points){a, 0}, 0, 1, work);
            if (status != STATUS_OK)
                ffi_abort(c, status, "center", -1);
            manifold_exp_total(m, out + i * m->ambient, p.x, v, p.x, work);
        }
        ffi_result_done(&r, 0, begin, end);
        host_tick(m->host, (double)end, (double)n);
    }
    return r.x;
}

SEXP riemdp_noise(SEXP m, SEXP centre, SEXP n, SEXP law, SEXP sigma, SEXP simulate)
{
    double count = ffi_number(n, "n");
    if (!(count >= 0 && count <= 1e8) || count != floor(count))
        ffi_abort_text("argument", "`n` must be a count from 0 to 1e8.");
    struct noise_args args = {.centre = centre, .n = count, .law = read_law(law, LAW_CHORDAL)};
    args.sigma = read_scale(sigma, args.law);
    return ffi_with_rng(noise_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* n radii of a law on the manifold, without the points */
static SEXP radii_body(struct call *c, struct rng *rng, void *data)
{
    const struct noise_args *in = data;
    manifold_t m = &c->m;
    struct noise noise;
    double *work = ffi_doubles(manifold_work(m)), *a = ffi_doubles(m->dim);
    if (noise_make(&noise, m, in->law, in->sigma) != STATUS_OK)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)in->n));
    for (size_t i = 0; i < (size_t)in->n; i++) {
        draw(m, &noise, rng, a, work);
        REAL(out)[i] = norm2(m->dim, a);
        host_tick(m->host, (double)i, in->n);
    }
    return out;
}

static SEXP radii(SEXP m, SEXP n, SEXP sigma, SEXP simulate, int law)
{
    double count = ffi_number(n, "n");
    if (!(count >= 0 && count <= 1e8) || count != floor(count))
        ffi_abort_text("argument", "`n` must be a count from 0 to 1e8.");
    struct noise_args args = {R_NilValue, count, law, read_scale(sigma, law)};
    return ffi_with_rng(radii_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

SEXP riemdp_laplace_radii(SEXP m, SEXP n, SEXP sigma, SEXP simulate)
{
    return radii(m, n, sigma, simulate, LAW_LAPLACE);
}

SEXP riemdp_gaussian_radii(SEXP m, SEXP n, SEXP sigma, SEXP simulate)
{
    return radii(m, n, sigma, simulate, LAW_GAUSSIAN);
}

/* of a proposal, the probability to keep it */
static double proposal_kept(manifold_t m, const struct noise *noise, struct rng *rng, double *a, double *work)
{
    double kept = noise->law == LAW_GAUSSIAN ? radial_propose(m, &noise->gaussian.hull, rng, a, work)
                  : manifold_parts(m)        ? mixture_propose(&noise->laplace, rng, a, work)
                                             : radial_propose(m, &noise->laplace.hull, rng, a, work);
    if (noise->law == LAW_STAIRCASE)
        kept += staircase_kept(&noise->laplace, norm2(m->dim, a));
    return exp(kept);
}

/* Share of draws that a law keeps, by their probabilities of it, or of chords by trials: public, for plans */
static SEXP acceptance_body(struct call *c, struct rng *rng, void *data)
{
    const struct noise_args *in = data;
    manifold_t m = &c->m;
    struct noise noise;
    double *work = ffi_doubles(manifold_work(m)), *a = ffi_doubles(m->ambient), sum = 0;
    if (noise_make(&noise, m, in->law, in->sigma) != STATUS_OK || (in->law == LAW_GAUSSIAN && manifold_parts(m))) /* those are the parts' */
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    for (size_t i = 0; i < (size_t)in->n; i++) {
        sum += in->law == LAW_CHORDAL ? chord_trial(&noise.chord, rng, a) : proposal_kept(m, &noise, rng, a, work);
        host_tick(m->host, (double)i, in->n);
    }
    return ffi_keep(c, Rf_ScalarReal(sum / in->n));
}

SEXP riemdp_radial_acceptance(SEXP m, SEXP n, SEXP law, SEXP sigma, SEXP simulate)
{
    double count = ffi_number(n, "n");
    int which = read_law(law, LAW_CHORDAL);
    if (!(count >= 1 && count <= 1e8) || count != floor(count) || !on_manifold(which) || which == LAW_HEAT)
        ffi_abort_text("argument", "`n` must be a count from 1 to 1e8 and `law` one that is drawn on the manifold.");
    struct noise_args args = {R_NilValue, count, which, read_scale(sigma, which)};
    return ffi_with_rng(acceptance_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* Log area of geodesic spheres (the log-concave bound where it isn't exact) at radii rho; attribute "exact". */
static SEXP radial_body(struct call *c, void *data)
{
    SEXP rho = *(SEXP *)data;
    manifold_t m = &c->m;
    if (!m->ops->radial)
        ffi_abort(c, STATUS_UNSUPPORTED, "M", -1);
    if (TYPEOF(rho) != REALSXP)
        ffi_abort_text("argument", "`rho` must be numeric.");
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, XLENGTH(rho)));
    for (R_xlen_t i = 0; i < XLENGTH(rho); i++) {
        double slope, r = REAL(rho)[i];
        REAL(out)[i] = -INFINITY;
        if (r > 0 && r < m->rho_max)
            m->ops->radial(m, r, REAL(out) + i, &slope);
    }
    Rf_setAttrib(out, Rf_install("exact"), Rf_ScalarLogical(m->ops->radial_accept == NULL));
    return out;
}

SEXP riemdp_radial(SEXP m, SEXP rho)
{
    return ffi_run(radial_body, &rho, m, 0);
}

/* one word of system randomness as a number in (0, 1): lets tests see that forked workers differ */
static SEXP system_uniform_body(struct call *c, struct rng *rng, void *data)
{
    (void)data;
    return ffi_keep(c, Rf_ScalarReal(rng_uniform(rng)));
}

SEXP riemdp_system_uniform(SEXP m)
{
    return ffi_with_rng(system_uniform_body, NULL, m, 0, 0);
}
