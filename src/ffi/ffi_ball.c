/* The public ball for R: records moved into it, and a private radius for it. */
#include "ffi.h"
#include "mechanism.h"

struct ball_args {
    SEXP x, centre;
    double radius;
};

static SEXP to_ball_body(struct call *c, void *data)
{
    const struct ball_args *in = data;
    manifold_t m = &c->m;
    struct arg x = ffi_arg(c, in->x, "x", KIND_POINT), centre = ffi_arg(c, in->centre, "center", KIND_POINT);
    if (centre.n != 1)
        ffi_abort_text("shape", "`center` must be one point.");
    size_t n = x.n, block = ffi_block(c);
    double *work = ffi_doubles(manifold_work(m)), *p = ffi_doubles(m->ambient);
    struct points m0 = ffi_block_points(c, &centre, 0, 1, 0, work);
    ffi_check_block(c, &centre, m0, NULL, m0, 0, 1, work);
    for (size_t j = 0; j < m->ambient; j++)
        p[j] = m0.x[j];
    struct result r = ffi_result(c, KIND_POINT, &x, n, x.many);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points y = ffi_block_points(c, &x, begin, end, 1, work);
        manifold_to_ball(m, ffi_result_block(&r, 0, begin), p, in->radius, y, 0, end - begin, work);
        ffi_result_done(&r, 0, begin, end);
        host_tick(m->host, (double)end, (double)n);
    }
    return r.x;
}

SEXP riemdp_to_ball(SEXP m, SEXP x, SEXP centre, SEXP radius)
{
    struct ball_args args = {x, centre, ffi_number(radius, "radius")};
    if (!(args.radius > 0 && args.radius < INFINITY))
        ffi_abort_text("argument", "`radius` must be positive and finite.");
    return ffi_run(to_ball_body, &args, m, 0);
}

/* The records of numbers `which`, in this order, each moved into the ball by itself; the centre where the number is NA; what is no
 * point, and so has the coordinates 0 exactly, where it is 0. What is no point counts as the centre: nothing fails for what a record holds. */
struct gather_args {
    SEXP x, centre, which;
    double radius;
};

static SEXP gather_body(struct call *c, void *data)
{
    const struct gather_args *in = data;
    manifold_t m = &c->m;
    size_t n = (size_t)XLENGTH(in->which), dim = m->ambient;
    const int *which = INTEGER(in->which);
    double *work = ffi_doubles(manifold_work(m));
    struct ffi_sample s = ffi_sample(c, in->x, in->centre, work);
    if (s.elsewhere)
        ffi_abort_text("unsupported", "records in chunks can't be gathered.");
    for (size_t i = 0; i < n; i++)
        if (which[i] != NA_INTEGER && (which[i] < 0 || (size_t)which[i] > s.n))
            ffi_abort_text("argument", "`which` must hold numbers of records.");
    struct arg like = s.x; /* as many points as are asked for, without names */
    like.many = 0;
    struct result r = ffi_result(c, KIND_POINT, &like, n, 1);
    for (size_t i = 0; i < n; i++) {
        double *to = ffi_result_block(&r, 0, i);
        if (which[i] == NA_INTEGER || which[i] == 0) {
            for (size_t j = 0; j < dim; j++)
                to[j] = which[i] == 0 ? NAN : s.centre[j];
        } else {
            size_t k = (size_t)which[i] - 1;
            struct points y = ffi_block_points(c, &s.x, k, k + 1, 1, work);
            manifold_to_ball(m, to, s.centre, in->radius, y, 0, 1, work);
        }
        ffi_result_done(&r, 0, i, i + 1);
        host_tick(m->host, 0, 0);
    }
    return r.x;
}

SEXP riemdp_gathered(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP which)
{
    struct gather_args args = {x, centre, which, ffi_number(radius, "radius")};
    if (!(args.radius > 0 && args.radius < INFINITY) || TYPEOF(which) != INTSXP || XLENGTH(which) < 1)
        ffi_abort_text("argument", "`radius` must be positive and finite, `which` at least one whole number.");
    return ffi_run(gather_body, &args, m, 1);
}

/* ---- a private radius: the exponential mechanism over a public grid; only the index that was drawn leaves the call ------ */

struct radius_args {
    SEXP x, centre, radii;
    double aim;
    struct ratio epsilon; /* none where time is constant: then doubles do, of which the time tells no more than the index */
    double rounded;
};

/* The distance of q from p by a rule that asks nothing but the two: what is no point lies at p, and so does a point without a distance */
static double distance_anyway(manifold_t m, const double *p, const double *q, double *work)
{
    double d = 0;
    if (m->ops->check_point(m, one(q), 0, 1, work) != STATUS_OK)
        q = p; /* with the work of any other */
    if (manifold_dist(m, &d, one(p), one(q), 0, 1, work) != STATUS_OK || !(d >= 0))
        d = 0;
    return d;
}

void ffi_count_within(struct call *c, struct arg *x, const double *p, const double *radii, size_t grid, const int *unit,
                      double *count)
{
    manifold_t m = &c->m;
    size_t block = ffi_block(c);
    double *work = ffi_doubles(manifold_work(m));
    for (size_t begin = 0; begin < x->n; begin += block) {
        size_t end = begin + block < x->n ? begin + block : x->n;
        struct points y = ffi_block_points(c, x, begin, end, 1, work);
        for (size_t i = 0; i < end - begin; i++) {
            double d = distance_anyway(m, p, at(y, i), work);
            if (!unit) {
                for (size_t j = 0; j < grid; j++)
                    count[j] += d <= radii[j];
            } else if (unit[begin + i] != NA_INTEGER) {
                count[unit[begin + i] - 1] += !(d <= radii[0]);
            }
        }
        host_tick(m->host, 0, 0);
    }
}

struct ffi_sample ffi_sample(struct call *c, SEXP x, SEXP centre, double *work)
{
    struct ffi_sample s = ffi_sample_any(c, x, centre, work);
    if (s.n == 0)
        ffi_abort_text("shape", "`x` must hold at least one record.");
    return s;
}

struct ffi_sample ffi_sample_any(struct call *c, SEXP x, SEXP centre, double *work)
{
    struct ffi_sample s = {.x = {.label = "x"}};
    struct arg a = ffi_arg(c, centre, "center", KIND_POINT);
    s.elsewhere = ffi_tally(x, &s.tally);
    if (!s.elsewhere && !Rf_isNull(x))
        s.x = ffi_arg(c, x, "x", KIND_POINT);
    s.n = s.elsewhere ? s.tally.n : s.x.n;
    if (a.n != 1)
        ffi_abort_text("shape", "`center` must be one point.");
    struct points p = ffi_block_points(c, &a, 0, 1, 0, work);
    ffi_check_block(c, &a, p, NULL, p, 0, 1, work); /* public: it may be checked aloud */
    double *copy = ffi_doubles(c->m.ambient);
    for (size_t j = 0; j < c->m.ambient; j++)
        copy[j] = p.x[j];
    s.centre = copy;
    return s;
}

/* weights exp(-epsilon miss/2), of whole numbers */
static size_t exact_choice(struct ratio epsilon, struct rng *rng, const double *miss, size_t grid)
{
    struct bits bits;
    uint64_t *whole = (uint64_t *)R_alloc(grid, sizeof *whole);
    for (size_t j = 0; j < grid; j++)
        whole[j] = (uint64_t)miss[j];
    bits_start(&bits, rng);
    size_t j = discrete_choice_draw(&bits, whole, grid, (struct ratio){epsilon.num, 2 * epsilon.den});
    bits_wipe(&bits);
    return j;
}

static size_t rounded_choice(const struct radius_args *in, struct rng *rng, double *miss, size_t grid)
{
    double total = 0, best = -INFINITY;
    for (size_t j = 0; j < grid; j++) {
        miss[j] *= -0.5 * in->rounded;
        best = fmax(best, miss[j]);
    }
    for (size_t j = 0; j < grid; j++)
        total += miss[j] = exp(miss[j] - best);
    double u = rng_uniform(rng) * total;
    size_t j = 0;
    while (j + 1 < grid && u > miss[j])
        u -= miss[j++];
    return j;
}

/* Scores -|#{i: d(x_i, centre) <= r_j} - aim| move by at most 1 when a record is replaced, or is there or isn't, so weights
 * exp(epsilon score/2) are epsilon-DP (McSherry and Talwar 2007, doi:10.1109/FOCS.2007.66). A record without a distance
 * counts as lying at the centre. */
static SEXP radius_body(struct call *c, struct rng *rng, void *data)
{
    const struct radius_args *in = data;
    size_t grid = (size_t)XLENGTH(in->radii);
    double *work = ffi_doubles(manifold_work(&c->m)), *count = ffi_doubles(grid);
    struct ffi_sample s = ffi_sample_any(c, in->x, in->centre, work);
    for (size_t j = 0; j < grid; j++)
        count[j] = 0;
    if (!s.elsewhere)
        ffi_count_within(c, &s.x, s.centre, REAL(in->radii), grid, NULL, count);
    else if (ffi_tally_call(c, &s.tally, "counts", REAL(in->radii), grid, count, grid) != STATUS_OK)
        ffi_abort_text("argument", "the counts from elsewhere are not numbers.");
    for (size_t j = 0; j < grid; j++)
        count[j] = fabs(fmin(fmax(round(count[j]), -0x1p50), 0x1p50) - in->aim);
    size_t j = in->epsilon.den ? exact_choice(in->epsilon, rng, count, grid) : rounded_choice(in, rng, count, grid);
    return ffi_keep(c, Rf_ScalarReal((double)j + 1));
}

SEXP riemdp_release_radius(SEXP m, SEXP x, SEXP centre, SEXP radii, SEXP aim, SEXP epsilon, SEXP simulate)
{
    struct radius_args args = {x, centre, radii, ffi_count(aim, "aim", 0, 0x1p44), {0, 0}, 0};
    if (TYPEOF(radii) != REALSXP || XLENGTH(radii) < 1 || XLENGTH(radii) > 10000)
        ffi_abort_text("argument", "`radii` must be 1 to 10000 numbers.");
    for (R_xlen_t j = 0; j < XLENGTH(radii); j++)
        if (!(REAL(radii)[j] > 0 && REAL(radii)[j] < INFINITY))
            ffi_abort_text("argument", "`radii` must be positive and finite.");
    if (TYPEOF(epsilon) != REALSXP || XLENGTH(epsilon) != 2)
        args.rounded = ffi_number(epsilon, "epsilon");
    else if (!ffi_ratio(&args.epsilon, REAL(epsilon)))
        ffi_abort_text("argument", "`epsilon` must be a number, or two whole ones, a fraction from 1/2^31 to 2^62.");
    if (!args.epsilon.den && !(args.rounded > 0 && args.rounded < INFINITY))
        ffi_abort_text("argument", "`epsilon` must be positive and finite.");
    return ffi_with_rng(radius_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* ---- scores of a conformal ball, and the choice among its radii ---------------------------------------------------------- */

struct scores_args {
    SEXP x, p;
};

static SEXP scores_body(struct call *c, void *data)
{
    const struct scores_args *in = data;
    manifold_t m = &c->m;
    struct arg both[2] = {ffi_arg(c, in->x, "x", KIND_POINT), ffi_arg(c, in->p, "at", KIND_POINT)};
    size_t n = both[0].n, block = ffi_block(c);
    if (both[1].n != 1 && both[1].n != n)
        ffi_abort_text("shape", "`at` must be one point, or one for each record.");
    double *work = ffi_doubles(manifold_work(m));
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)n));
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        int each = both[1].n == n;
        struct points y = ffi_block_points(c, &both[0], begin, end, 1, work);
        struct points p = ffi_block_points(c, &both[1], each ? begin : 0, each ? end : 1, 1, work);
        for (size_t i = 0; i < end - begin; i++)
            REAL(out)[begin + i] = distance_anyway(m, at(p, each ? i : 0), at(y, i), work);
        host_tick(m->host, 0, 0);
    }
    return out;
}

/* How far each record is from a point, or from its own one */
SEXP riemdp_scores_nonprivate(SEXP m, SEXP x, SEXP p)
{
    struct scores_args args = {x, p};
    return ffi_run(scores_body, &args, m, 1);
}

struct choice_args {
    SEXP miss;
    struct ratio epsilon;
};

static SEXP choice_body(struct call *c, struct rng *rng, void *data)
{
    const struct choice_args *in = data;
    size_t j = exact_choice(in->epsilon, rng, REAL(in->miss), (size_t)XLENGTH(in->miss));
    return ffi_keep(c, Rf_ScalarReal((double)j + 1));
}

/* One of several by weights exp(-epsilon miss/2), exactly: whole numbers that a replaced record moves by 1 at most */
SEXP riemdp_release_choice(SEXP miss, SEXP epsilon, SEXP simulate)
{
    struct choice_args args = {miss, {0, 0}};
    if (TYPEOF(miss) != REALSXP || XLENGTH(miss) < 1)
        ffi_abort_text("argument", "`miss` must be whole numbers.");
    for (R_xlen_t j = 0; j < XLENGTH(miss); j++)
        if (!(REAL(miss)[j] >= 0 && REAL(miss)[j] <= 0x1p50))
            ffi_abort_text("argument", "`miss` must be whole numbers.");
    if (TYPEOF(epsilon) != REALSXP || XLENGTH(epsilon) != 2 || !ffi_ratio(&args.epsilon, REAL(epsilon)))
        ffi_abort_text("argument", "`epsilon` must be two whole numbers, a fraction from 1/2^31 to 2^62.");
    return ffi_with_rng(choice_body, &args, NULL, ffi_number(simulate, "simulate") != 0, 1);
}

/* ---- a private ball inside the public one: only its place in the coordinates of the centre and its radius leave the call, or that there is none ------ */

struct place_args {
    SEXP x, centre;
    double radius, first, levels, bonus, nothing, slack, growth, bits;
    struct ratio rate;
};

/* coordinates of the records' logarithms at the centre, moved into the ball; what has none counts as the centre */
static double *ball_coords(struct call *c, struct arg *x, const double *centre, double radius, double *work)
{
    manifold_t m = &c->m;
    size_t d = m->dim, block = ffi_block(c);
    double *out = ffi_doubles(x->n * d), *q = ffi_doubles(2 * m->ambient), *v = q + m->ambient;
    for (size_t begin = 0; begin < x->n; begin += block) {
        size_t end = begin + block < x->n ? begin + block : x->n;
        struct points y = ffi_block_points(c, x, begin, end, 1, work);
        for (size_t i = begin; i < end; i++) {
            double *a = out + i * d;
            manifold_to_ball(m, q, centre, radius, one(at(y, i - begin)), 0, 1, work);
            int ok = m->ops->log(m, v, one(centre), one(q), 0, 1, work) == STATUS_OK &&
                     manifold_coords(m, a, one(centre), one(v), 0, 1, work) == STATUS_OK;
            for (size_t j = 0; j < d; j++)
                a[j] = ok && isfinite(a[j]) ? fmax(-radius, fmin(radius, a[j])) : 0;
        }
        host_tick(m->host, 0, 0);
    }
    return out;
}

/* weights exp(rate score), whose scores a record moves by 1: mean-sensitivity.md, section 12 */
static SEXP place_body(struct call *c, struct rng *rng, void *data)
{
    const struct place_args *in = data;
    double *work = ffi_doubles(manifold_work(&c->m));
    struct ffi_sample s = ffi_sample_any(c, in->x, in->centre, work);
    if (s.elsewhere)
        ffi_abort_text("unsupported", "a place is found for records in memory only.");
    struct place p = {.n = s.n,
                      .d = c->m.dim,
                      .first = (size_t)in->first,
                      .levels = (size_t)in->levels,
                      .radius = in->radius,
                      .rate = in->rate,
                      .bonus = in->bonus,
                      .nothing = in->nothing,
                      .slack = (uint64_t)round(in->slack * PLACE_PARTS),
                      .growth = in->growth,
                      .bits = (int)in->bits,
                      .host = c->m.host};
    p.coords = ball_coords(c, &s.x, s.centre, in->radius, work);
    struct place_axis *axis = (struct place_axis *)R_alloc(p.levels * p.d, sizeof *axis);
    double *out = ffi_doubles(p.d + 1);
    for (size_t j = 0; j <= p.d; j++)
        out[j] = 0;
    int status = place_draw(&p, rng, axis, out + 1, out, ffi_doubles(place_work(&p)));
    if (status != STATUS_OK)
        ffi_abort(c, status, "x", -1);
    for (size_t j = 0; !(out[0] > 0) && j < p.d; j++)
        out[j + 1] = 0; /* of a proposal that was refused nothing is told */
    return ffi_keep(c, ffi_vector(out, p.d + 1));
}

SEXP riemdp_release_place(SEXP m, SEXP x, SEXP centre, SEXP radius, SEXP first, SEXP levels, SEXP bonus, SEXP nothing,
                          SEXP slack, SEXP rate, SEXP growth, SEXP bits, SEXP simulate)
{
    enum { FINEST = 56 }; /* whose lattice has numbers that are integers of C */
    struct place_args args = {x,
                              centre,
                              ffi_number(radius, "radius"),
                              ffi_count(first, "first", 0, PLACE_LEVELS),
                              ffi_count(levels, "levels", 1, PLACE_LEVELS),
                              ffi_range(bonus, "bonus", 0, 100),
                              ffi_range(nothing, "nothing", -1e6, 1e6),
                              ffi_range(slack, "slack", 0, 14),
                              ffi_range(growth, "growth", 1, exp(PLACE_RATE)),
                              ffi_count(bits, "bits", 1, 48),
                              {0, 0}};
    if (!(args.radius > 0 && args.radius < INFINITY) || args.first + args.levels > FINEST)
        ffi_abort_text("argument", "`radius` must be positive and finite, and no level finer than 56 half halvings.");
    if (TYPEOF(rate) != REALSXP || XLENGTH(rate) != 2 || !ffi_ratio(&args.rate, REAL(rate)) ||
        REAL(rate)[0] > PLACE_RATE * REAL(rate)[1])
        ffi_abort_text("argument", "`rate` must be two whole numbers, a fraction from 1/2^31 to 512.");
    return ffi_with_rng(place_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}
