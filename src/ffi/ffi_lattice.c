/* Releases on a lattice: the mean's coordinates, rounded, plus integer noise. Only what is made from the noisy integers
 * leaves riemdp_release_lattice(). */
#include "ffi_steps.h"
#include "sampler_lattice.h"

enum lattice_law { LAW_L2 = 1, LAW_DISCRETE_LAPLACE = 2, LAW_DISCRETE_GAUSSIAN = 3, LAW_BALANCED = 4, LAW_SHELLS = 5, LAW_CYLINDER = 6 };

static int read_kind(SEXP law)
{
    static const char *const names[] = {[LAW_L2] = "l2",
                                        [LAW_DISCRETE_LAPLACE] = "laplace",
                                        [LAW_DISCRETE_GAUSSIAN] = "gaussian",
                                        [LAW_BALANCED] = "balanced",
                                        [LAW_SHELLS] = "staircase",
                                        [LAW_CYLINDER] = "cylinder"};
    return ffi_choice(law, "law", names, 7);
}

/* scale: numerator and denominator; of a staircase also the width of a shell and the first one's */
struct law {
    int kind;
    struct ratio scale;
    struct shells shells;
    uint64_t edge;
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

static struct law read_law(SEXP law, SEXP x)
{
    static const int lengths[] = {[LAW_L2] = 2,       [LAW_DISCRETE_LAPLACE] = 2, [LAW_DISCRETE_GAUSSIAN] = 2,
                                  [LAW_BALANCED] = 2, [LAW_SHELLS] = 4,           [LAW_CYLINDER] = 5};
    struct law out = {.kind = read_kind(law)};
    if (TYPEOF(x) != REALSXP || XLENGTH(x) != lengths[out.kind] ||
        !(REAL(x)[0] >= 1 && REAL(x)[0] <= 0x1p62) || !(REAL(x)[1] >= 1 && REAL(x)[1] <= 0x1p31) ||
        REAL(x)[0] != floor(REAL(x)[0]) || REAL(x)[1] != floor(REAL(x)[1]))
        ffi_abort_text("argument", "`scale` must be two whole numbers, a fraction from 1/2^31 to 2^62.");
    out.scale = (struct ratio){(uint64_t)REAL(x)[0], (uint64_t)REAL(x)[1]};
    if (out.kind == LAW_SHELLS)
        out.shells = read_shells(REAL(x)[2], REAL(x)[3], out.scale);
    if (out.kind == LAW_CYLINDER) {
        double edge = REAL(x)[4];
        if (!(edge >= 1 && edge * (double)out.scale.den <= 0x1p62) || edge != floor(edge))
            ffi_abort_text("argument", "a cylinder's edge must be a whole number of steps.");
        out.edge = (uint64_t)edge;
        if (REAL(x)[2] > 0)
            out.shells = read_shells(REAL(x)[2], REAL(x)[3], out.scale);
    }
    return out;
}

/* the l2 law's trials are kept with probability about exp(-sqrt(d)/(2 scale)): below 20 scale < sqrt(d) hardly ever */
static void check_law(const struct law *law, size_t d)
{
    struct ratio scale = law->scale;
    if (law->kind == LAW_CYLINDER && (d < 2 || (double)scale.num * (double)d > 0x1p62))
        ffi_abort_text("argument", "a cylinder has a count and a vector, and a scale that fits.");
    if ((law->kind == LAW_L2 || law->kind == LAW_SHELLS || law->kind == LAW_CYLINDER) &&
        20 * (double)scale.num < sqrt((double)d) * (double)scale.den)
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
    if (law->kind == LAW_CYLINDER) {
        *trials += (double)lattice_cylinder_draw(bits, d - 1, scale, law->edge, law->shells, z, z + 1, work);
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
    return law->kind == LAW_L2 || law->kind == LAW_SHELLS || law->kind == LAW_CYLINDER ? 2 * d + 1 : 1;
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
    struct noise_args args = {count, read_law(law, scale)};
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

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    const struct release_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient, d = m->dim;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(dim), *a = ffi_doubles(d), *o = ffi_doubles(dim);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    check_law(&in->law, d);
    if (in->law.kind == LAW_BALANCED)
        ffi_abort_text("argument", "balanced noise is for counts.");
    struct steps s = ffi_steps_make(c, &in->number, x.n);
    if (!(ldexp(s.mean.radius, in->k) <= 0x1p51) || s.carried)
        ffi_abort_text("argument", "`k` leaves no room for the lattice, or the ball is to be carried.");
    double *ball = NULL;
    if (!x.elsewhere && !in->constant && s.mean.model != MODEL_FLAT)
        ball = ffi_records_in_ball(c, &x.x, x.centre, s.mean.radius, 0, x.centre, work);
    ffi_steps_mean(&s, &x.x, ball, x.elsewhere ? &x.tally : NULL, x.centre, x.centre, a, work);

    int64_t *z = (int64_t *)R_alloc(d, sizeof *z), most = LATTICE_MOST / 2;
    struct deviate *deviate = deviates(&in->law, d);
    struct bits bits;
    double trials = 0;
    bits_start(&bits, rng);
    draw(&in->law, &bits, d, z, deviate, &trials);
    for (size_t j = 0; j < d; j++) {
        /* a sum over a released size may be longer than the radius; the cut moves no two of them apart */
        int64_t noisy = z[j] + (int64_t)round(fmin(fmax(ldexp(a[j], in->k), -0x1p61), 0x1p61));
        /* the noisy integers are the release; all else is made from them */
        a[j] = ldexp((double)(noisy > most ? most : noisy < -most ? -most : noisy), -in->k);
    }
    bits_wipe(&bits);
    wipe((unsigned char *)z, d * sizeof *z);
    wipe((unsigned char *)deviate, deviate_count(&in->law, d) * sizeof *deviate);
    if (manifold_from_coords(m, v, one(x.centre), one(a), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < dim; j++)
            v[j] = 0;
    manifold_exp_total(m, o, x.centre, v, x.centre, work);
    return ffi_single(c, x.elsewhere ? NULL : &x.x, o);
}

SEXP riemdp_release_lattice(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP k, SEXP law, SEXP scale, SEXP constant,
                            SEXP simulate)
{
    double step = ffi_number(k, "k");
    struct release_args args = {
        .x = x, .centre = centre, .law = read_law(law, scale), .constant = ffi_number(constant, "constant") != 0};
    ffi_steps_read(numbers, &args.number);
    if (!(step >= -150 && step <= 150) || step != floor(step))
        ffi_abort_text("argument", "`k` must be a whole number from -150 to 150.");
    args.k = (int)step;
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}
