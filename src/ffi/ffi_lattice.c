/* Releases on a lattice: the mean's coordinates, rounded, plus integer noise. Only what is made from the noisy integers
 * leaves riemdp_release_lattice(). */
#include "ffi_steps.h"
#include "sampler_lattice.h"

enum lattice_law { LAW_L2 = 1, LAW_DISCRETE_LAPLACE = 2, LAW_DISCRETE_GAUSSIAN = 3, LAW_BALANCED = 4, LAW_SHELLS = 5,
                   LAW_JOINT = 6 };

int ffi_ratio(struct ratio *out, const double *x)
{
    if (!(x[0] >= 1 && x[0] <= 0x1p62) || !(x[1] >= 1 && x[1] <= 0x1p31) || x[0] != floor(x[0]) || x[1] != floor(x[1]))
        return 0;
    *out = (struct ratio){(uint64_t)x[0], (uint64_t)x[1]};
    return 1;
}

static int read_kind(SEXP law)
{
    static const char *const names[] = {[LAW_L2] = "l2",
                                        [LAW_DISCRETE_LAPLACE] = "laplace",
                                        [LAW_DISCRETE_GAUSSIAN] = "gaussian",
                                        [LAW_BALANCED] = "balanced",
                                        [LAW_SHELLS] = "staircase",
                                        [LAW_JOINT] = "joint"};
    return ffi_choice(law, "law", names, 7);
}

/* scale: numerator and denominator; of a staircase also the width of a shell and the first one's; of counts and vectors
 * after those the edge, how many numbers a vector has, and whether there is a count without one */
struct law {
    int kind;
    struct ratio scale;
    struct shells shells;
    uint64_t edge;
    size_t vector; /* numbers in the vector beside each count, and */
    int rest;      /* whether there is a count without one */
};

static struct shells read_shells(double width, double first, struct ratio scale)
{
    if (!(width >= 1 && width <= 0x1p52 && first >= 0 && first <= width) || width != floor(width) ||
        first != floor(first))
        ffi_abort_text("argument", "shells must be whole numbers of steps wide, the first no wider than others.");
    if (!(width * (double)scale.den <= LATTICE_RISE * (1 + 1e-9) * (double)scale.num))
        ffi_abort_text("unsupported", "the steps of this staircase are so high that hardly any draw is kept.");
    return (struct shells){(uint64_t)width, (uint64_t)first};
}

static void read_joint(const double *x, struct law *out)
{
    double edge = x[2];
    if (!(edge >= 1 && edge * (double)out->scale.den <= 0x1p62) || edge != floor(edge) || !(x[3] >= 1 && x[3] <= 1e6) ||
        x[3] != floor(x[3]) || !(x[4] == 0 || x[4] == 1))
        ffi_abort_text("argument", "the edge must be a whole number of steps, vectors have a length.");
    out->edge = (uint64_t)edge;
    out->vector = (size_t)x[3];
    out->rest = x[4] == 1;
    if (x[0] > 0)
        out->shells = read_shells(x[0], x[1], out->scale);
}

static struct law read_law(int kind, SEXP x)
{
    static const int lengths[] = {[LAW_L2] = 2,       [LAW_DISCRETE_LAPLACE] = 2, [LAW_DISCRETE_GAUSSIAN] = 2,
                                  [LAW_BALANCED] = 2, [LAW_SHELLS] = 4,           [LAW_JOINT] = 7};
    struct law out = {.kind = kind};
    if (TYPEOF(x) != REALSXP || XLENGTH(x) != lengths[out.kind] || !ffi_ratio(&out.scale, REAL(x)))
        ffi_abort_text("argument", "`scale` must be two whole numbers, a fraction from 1/2^31 to 2^62.");
    if (out.kind == LAW_SHELLS)
        out.shells = read_shells(REAL(x)[2], REAL(x)[3], out.scale);
    if (out.kind == LAW_JOINT)
        read_joint(REAL(x) + 2, &out);
    return out;
}

/* how many groups have a count and a vector, of d numbers in all; 0 where that doesn't divide */
static size_t joint_groups(const struct law *law, size_t d)
{
    size_t whole = d - (size_t)law->rest;
    return whole % (law->vector + 1) == 0 ? whole / (law->vector + 1) : 0;
}

/* the l2 law's trials are kept with probability about exp(-sqrt(d)/(2 scale)): below 20 scale < sqrt(d) hardly ever */
static void check_law(const struct law *law, size_t d)
{
    struct ratio scale = law->scale;
    int joint = law->kind == LAW_JOINT;
    size_t length = joint ? law->vector : d;
    if (joint && (joint_groups(law, d) < (law->rest ? 1 : 2) || (double)scale.num * (double)(length + 1) > 0x1p62))
        ffi_abort_text("argument", "there must be two counts at least, whole vectors, and a scale that fits.");
    if ((law->kind == LAW_L2 || law->kind == LAW_SHELLS || joint) &&
        20 * (double)scale.num < sqrt((double)length) * (double)scale.den)
        ffi_abort_text("unsupported", "the l2 law needs a scale of at least sqrt(d)/20 lattice steps.");
    if (law->kind == LAW_BALANCED && (d < 2 || (double)scale.num > 0x1p31 * (double)scale.den))
        ffi_abort_text("argument", "balanced noise is of two numbers at least, with a scale up to 2^31.");
}

static void draw(const struct law *law, struct bits *bits, size_t d, int64_t *z, struct deviate *work, double *trials)
{
    struct ratio scale = law->scale;
    if (law->kind == LAW_SHELLS) {
        *trials += (double)lattice_staircase_draw(bits, d, scale, law->shells, z, work);
        return;
    }
    if (law->kind == LAW_JOINT) {
        size_t groups = joint_groups(law, d);
        *trials += (double)lattice_joint_draw(bits, law->vector, groups, law->rest, scale, law->edge, law->shells, z,
                                              z + groups + law->rest, work);
        return;
    }
    if (law->kind == LAW_L2) {
        *trials += (double)lattice_l2_draw(bits, d, scale, z, work);
        return;
    }
    if (law->kind == LAW_BALANCED) {
        *trials += (double)discrete_balanced_draw(bits, d, scale, z);
        return;
    }
    for (size_t j = 0; j < d; j++)
        z[j] = law->kind == LAW_DISCRETE_LAPLACE ? discrete_laplace_draw(bits, scale)
                                                 : discrete_gaussian_draw(bits, scale);
    *trials += 1;
}

static size_t deviate_count(const struct law *law, size_t d)
{
    size_t length = law->kind == LAW_JOINT ? law->vector : d;
    return law->kind == LAW_L2 || law->kind == LAW_SHELLS || law->kind == LAW_JOINT ? 2 * length + 1 : 1;
}

static struct deviate *deviates(const struct law *law, size_t d)
{
    return (struct deviate *)R_alloc(deviate_count(law, d), sizeof(struct deviate));
}

static void wipe(volatile unsigned char *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 0;
}

/* one draw for a release, to be wiped by who uses it */
static int64_t *drawn(const struct law *law, struct rng *rng, size_t d)
{
    int64_t *z = (int64_t *)R_alloc(d, sizeof *z);
    struct deviate *deviate = deviates(law, d);
    struct bits bits;
    double trials = 0;
    bits_start(&bits, rng);
    draw(law, &bits, d, z, deviate, &trials);
    bits_wipe(&bits);
    wipe((unsigned char *)deviate, deviate_count(law, d) * sizeof *deviate);
    return z;
}

/* ---- noise ----------------------------------------------------------------------------------------------------------- */

struct noise_args {
    double n;
    struct law law;
};

static SEXP noise_body(struct call *c, struct rng *rng, void *data)
{
    const struct noise_args *in = data;
    size_t d = c->m.dim, n = (size_t)in->n;
    check_law(&in->law, d);
    if (in->n * (double)d > 1e9)
        ffi_abort_text("argument", "`n` is too large for so many coordinates.");
    struct bits bits;
    int64_t *z = (int64_t *)R_alloc(d, sizeof *z);
    struct deviate *work = deviates(&in->law, d);
    double trials = 0;
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)n, (int)d));
    bits_start(&bits, rng);
    for (size_t i = 0; i < n; i++) {
        draw(&in->law, &bits, d, z, work, &trials);
        for (size_t j = 0; j < d; j++)
            REAL(out)[i + j * n] = (double)z[j];
        host_tick(c->m.host, (double)i, in->n);
    }
    bits_wipe(&bits);
    Rf_setAttrib(out, Rf_install("trials"), Rf_ScalarReal(trials));
    return out;
}

/* n draws on Z^d, d the dimension of m */
SEXP riemdp_lattice_noise(SEXP m, SEXP n, SEXP law, SEXP scale, SEXP simulate)
{
    double count = ffi_number(n, "n");
    if (!(count >= 0 && count <= 1e8) || count != floor(count))
        ffi_abort_text("argument", "`n` must be a count from 0 to 1e8.");
    struct noise_args args = {count, read_law(read_kind(law), scale)};
    return ffi_with_rng(noise_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* ---- releases -------------------------------------------------------------------------------------------------------- */

struct release_args {
    SEXP x, centre;
    struct steps_numbers number;
    struct law law;
    int k;        /* of the lattice 2^-k */
    int constant; /* the mean is found by all public steps */
};

/* The noisy integer on the lattice, whatever is noised and drawn. A sum over a released size may be longer than the
 * radius; the cut moves no two of them apart. */
static double noisy(double a, int k, int64_t z)
{
    const int64_t most = LATTICE_MOST / 2;
    int64_t sum = z + (int64_t)round(fmin(fmax(ldexp(a, k), -0x1p61), 0x1p61));
    return ldexp((double)(sum > most ? most : sum < -most ? -most : sum), -k);
}

/* the point with coordinates `a` at the centre */
static void placed(manifold_t m, double *out, const double *centre, const double *a, double *v, double *work)
{
    if (manifold_from_coords(m, v, one(centre), one(a), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < m->ambient; j++)
            v[j] = 0;
    manifold_exp_total(m, out, centre, v, centre, work);
}

/* the mean's coordinates at the centre, of records that are there */
static void mean_coords(struct call *c, const struct release_args *in, struct ffi_sample *x, double *a, double *work)
{
    struct steps s = ffi_steps_make(c, &in->number, x->n);
    if (!(ldexp(s.mean.radius, in->k) <= 0x1p51) || s.carried)
        ffi_abort_text("argument", "`k` leaves no room for the lattice, or the ball is to be carried.");
    s.fast = x->elsewhere || !in->constant;
    ffi_steps_mean(&s, &x->x, x->elsewhere ? &x->tally : NULL, x->centre, x->centre, a, work);
}

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    const struct release_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient, d = m->dim;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(dim), *a = ffi_doubles(d), *o = ffi_doubles(dim);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    check_law(&in->law, d);
    if (in->law.kind == LAW_BALANCED || in->law.kind == LAW_JOINT)
        ffi_abort_text("argument", "balanced noise is for counts.");
    mean_coords(c, in, &x, a, work);

    int64_t *z = drawn(&in->law, rng, d);
    /* the noisy integers are the release; all else is made from them */
    for (size_t j = 0; j < d; j++)
        a[j] = noisy(a[j], in->k, z[j]);
    wipe((unsigned char *)z, d * sizeof *z);
    placed(m, o, x.centre, a, v, work);
    return ffi_single(c, x.elsewhere ? NULL : &x.x, o);
}

static void read_release(struct release_args *args, SEXP numbers, SEXP k)
{
    double step = ffi_number(k, "k");
    ffi_steps_read(numbers, &args->number);
    if (!(step >= -150 && step <= 150) || step != floor(step))
        ffi_abort_text("argument", "`k` must be a whole number from -150 to 150.");
    args->k = (int)step;
}

SEXP riemdp_release_lattice(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP k, SEXP law, SEXP scale, SEXP constant,
                            SEXP simulate)
{
    struct release_args args = {.x = x,
                                .centre = centre,
                                .law = read_law(read_kind(law), scale),
                                .constant = ffi_number(constant, "constant") != 0};
    read_release(&args, numbers, k);
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* Each record by itself: its coordinates in the ball, rounded, plus noise of its own. */
static SEXP local_body(struct call *c, struct rng *rng, void *data)
{
    const struct release_args *in = data;
    manifold_t m = &c->m;
    size_t d = m->dim;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(m->ambient), *a = ffi_doubles(d);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    check_law(&in->law, d);
    if (in->law.kind != LAW_L2 || x.elsewhere)
        ffi_abort(c, STATUS_UNSUPPORTED, "mechanism", -1);
    struct steps s = ffi_steps_make(c, &in->number, x.n);
    if (!(ldexp(s.mean.radius, in->k) <= 0x1p51) || s.carried || !in->number.tangent)
        ffi_abort_text("argument",
                       "`k` leaves no room for the lattice, or the coordinates aren't those at the centre.");
    double *coords = ffi_doubles(x.n * d);
    ffi_steps_records(&s, &x.x, x.centre, x.centre, coords, work);
    struct result out = ffi_result(c, KIND_POINT, NULL, x.n, x.x.many);
    size_t block = ffi_block(c);
    int64_t *z = (int64_t *)R_alloc(d, sizeof *z);
    struct deviate *deviate = deviates(&in->law, d);
    struct bits bits;
    double trials = 0;
    bits_start(&bits, rng);
    for (size_t begin = 0; begin < x.n; begin += block) {
        size_t end = begin + block < x.n ? begin + block : x.n;
        double *to = ffi_result_block(&out, 0, begin);
        for (size_t i = begin; i < end; i++) {
            draw(&in->law, &bits, d, z, deviate, &trials);
            for (size_t j = 0; j < d; j++)
                a[j] = noisy(coords[i * d + j], in->k, z[j]);
            placed(m, to + (i - begin) * m->ambient, x.centre, a, v, work);
        }
        ffi_result_done(&out, 0, begin, end);
        host_tick(m->host, 0, 0);
    }
    bits_wipe(&bits);
    wipe((unsigned char *)z, d * sizeof *z);
    wipe((unsigned char *)deviate, deviate_count(&in->law, d) * sizeof *deviate);
    return out.x;
}

SEXP riemdp_release_local_lattice(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP k, SEXP scale, SEXP simulate)
{
    struct release_args args = {.x = x, .centre = centre, .law = read_law(LAW_L2, scale)};
    read_release(&args, numbers, k);
    return ffi_with_rng(local_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* ---- groups whose sizes are private ---------------------------------------------------------------------------------- */

/* a group's number of records and the sum that goes with it: that number times the mean's coordinates */
static double group_sum(struct call *c, const struct release_args *in, SEXP records, double *sum, double *work)
{
    struct ffi_sample x = ffi_sample_any(c, records, in->centre, work);
    if (x.elsewhere)
        ffi_abort_text("unsupported", "records of groups must be in memory.");
    if (x.n > 0)
        mean_coords(c, in, &x, sum, work);
    for (size_t j = 0; j < c->m.dim; j++)
        sum[j] = x.n > 0 ? (double)x.n * sum[j] : 0;
    return (double)x.n;
}

static SEXP joint_body(struct call *c, struct rng *rng, void *data)
{
    const struct release_args *in = data;
    size_t d = c->m.dim, groups = (size_t)XLENGTH(in->x);
    size_t counts = groups + (size_t)in->law.rest, all = counts + groups * d;
    double *work = ffi_doubles(manifold_work(&c->m)), *sum = ffi_doubles(groups * d), *size = ffi_doubles(groups);
    check_law(&in->law, all);
    if (in->law.kind != LAW_JOINT || in->law.vector != d)
        ffi_abort_text("argument", "groups are released with the law of counts and vectors of this dimension.");
    for (size_t i = 0; i < groups; i++)
        size[i] = group_sum(c, in, VECTOR_ELT(in->x, (R_xlen_t)i), sum + i * d, work);

    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)(d + 1), (int)groups));
    int64_t *z = drawn(&in->law, rng, all);
    /* the noisy integers are the release; all else is made from them */
    for (size_t i = 0; i < groups; i++) {
        double *to = REAL(out) + i * (d + 1);
        to[0] = fmin(fmax(noisy(size[i], 0, z[i]), -0x1p52), 0x1p52); /* mean-sensitivity.md, 15 */
        for (size_t j = 0; j < d; j++)
            to[1 + j] = noisy(sum[i * d + j], in->k, z[counts + i * d + j]);
    }
    wipe((unsigned char *)z, all * sizeof *z);
    return out;
}

/* x: a list of each group's records, NULL where it has none. A column for each group: its noisy number of records and
 * its noisy sum, to be divided by that. */
SEXP riemdp_release_groups(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP k, SEXP scale, SEXP simulate)
{
    struct release_args args = {.x = x, .centre = centre, .law = read_law(LAW_JOINT, scale)};
    if (TYPEOF(x) != VECSXP || XLENGTH(x) < 1)
        ffi_abort_text("argument", "`x` must be a list of records of groups.");
    read_release(&args, numbers, k);
    return ffi_with_rng(joint_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

struct point_args {
    SEXP x, centre, coords;
};

static SEXP point_body(struct call *c, void *data)
{
    const struct point_args *in = data;
    manifold_t m = &c->m;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(m->ambient), *o = ffi_doubles(m->ambient);
    struct ffi_sample x = ffi_sample_any(c, in->x, in->centre, work);
    if (TYPEOF(in->coords) != REALSXP || (size_t)XLENGTH(in->coords) != m->dim || !all_finite(m->dim, REAL(in->coords)))
        ffi_abort_text("argument", "the coordinates must be as many finite numbers as the dimension.");
    placed(m, o, x.centre, REAL(in->coords), v, work);
    return ffi_single(c, &x.x, o);
}

/* exp of the vector with those coordinates at the centre, of the shape of the records x */
SEXP riemdp_placed(SEXP m, SEXP x, SEXP centre, SEXP coords)
{
    struct point_args args = {x, centre, coords};
    return ffi_run(point_body, &args, m, 1);
}
