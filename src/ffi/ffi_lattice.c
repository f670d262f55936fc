/* Releases on a lattice: the mean's coordinates, rounded, plus integer noise. Only what is made from the noisy integers
 * leaves riemdp_release_lattice(). */
#include "ffi_steps.h"
#include "sampler_lattice.h"

enum lattice_law { LAW_L2 = 1, LAW_DISCRETE_LAPLACE = 2, LAW_DISCRETE_GAUSSIAN = 3, LAW_BALANCED = 4 };

static int read_law(SEXP law)
{
    static const char *const names[] = {[LAW_L2] = "l2",
                                        [LAW_DISCRETE_LAPLACE] = "laplace",
                                        [LAW_DISCRETE_GAUSSIAN] = "gaussian",
                                        [LAW_BALANCED] = "balanced"};
    return ffi_choice(law, "law", names, 5);
}

static struct ratio read_ratio(SEXP x)
{
    if (TYPEOF(x) != REALSXP || XLENGTH(x) != 2 || !(REAL(x)[0] >= 1 && REAL(x)[0] <= 0x1p62) ||
        !(REAL(x)[1] >= 1 && REAL(x)[1] <= 0x1p31) || REAL(x)[0] != floor(REAL(x)[0]) ||
        REAL(x)[1] != floor(REAL(x)[1]))
        ffi_abort_text("argument", "`scale` must be two whole numbers, a fraction from 1/2^31 to 2^62.");
    return (struct ratio){(uint64_t)REAL(x)[0], (uint64_t)REAL(x)[1]};
}

/* the l2 law's trials are kept with probability about exp(-sqrt(d)/(2 scale)): below 20 scale < sqrt(d) hardly ever */
static void check_law(int law, size_t d, struct ratio scale)
{
    if (law == LAW_L2 && 20 * (double)scale.num < sqrt((double)d) * (double)scale.den)
        ffi_abort_text("unsupported", "the l2 law needs a scale of at least sqrt(d)/20 lattice steps.");
    if (law == LAW_BALANCED && (d < 2 || (double)scale.num > 0x1p31 * (double)scale.den))
        ffi_abort_text("argument", "balanced noise is of two numbers at least, with a scale up to 2^31.");
}

static void draw(int law, struct bits *bits, size_t d, struct ratio scale, int64_t *z, struct deviate *work,
                 double *trials)
{
    if (law == LAW_L2) {
        *trials += (double)lattice_l2_draw(bits, d, scale, z, work);
        return;
    }
    if (law == LAW_BALANCED) {
        *trials += (double)discrete_balanced_draw(bits, d, scale, z);
        return;
    }
    for (size_t j = 0; j < d; j++)
        z[j] = law == LAW_DISCRETE_LAPLACE ? discrete_laplace_draw(bits, scale) : discrete_gaussian_draw(bits, scale);
    *trials += 1;
}

static struct deviate *deviates(int law, size_t d)
{
    return (struct deviate *)R_alloc(law == LAW_L2 ? 2 * d + 1 : 1, sizeof(struct deviate));
}

static void wipe(volatile unsigned char *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 0;
}

/* ---- noise ----------------------------------------------------------------------------------------------------------- */

struct noise_args {
    double n;
    int law;
    struct ratio scale;
};

static SEXP noise_body(struct call *c, struct rng *rng, void *data)
{
    const struct noise_args *in = data;
    size_t d = c->m.dim, n = (size_t)in->n;
    check_law(in->law, d, in->scale);
    if (in->n * (double)d > 1e9)
        ffi_abort_text("argument", "`n` is too large for so many coordinates.");
    struct bits bits;
    int64_t *z = (int64_t *)R_alloc(d, sizeof *z);
    struct deviate *work = deviates(in->law, d);
    double trials = 0;
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)n, (int)d));
    bits_start(&bits, rng);
    for (size_t i = 0; i < n; i++) {
        draw(in->law, &bits, d, in->scale, z, work, &trials);
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
    struct noise_args args = {count, read_law(law), read_ratio(scale)};
    return ffi_with_rng(noise_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}

/* ---- releases -------------------------------------------------------------------------------------------------------- */

struct release_args {
    SEXP x, centre;
    struct steps_numbers number;
    int law, k; /* of the lattice 2^-k */
    struct ratio scale;
};

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    const struct release_args *in = data;
    manifold_t m = &c->m;
    size_t dim = m->ambient, d = m->dim;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(dim), *a = ffi_doubles(d), *o = ffi_doubles(dim);
    struct ffi_sample x = ffi_sample(c, in->x, in->centre, work);
    check_law(in->law, d, in->scale);
    if (in->law == LAW_BALANCED)
        ffi_abort_text("argument", "balanced noise is for counts.");
    struct steps s = ffi_steps_make(c, &in->number, x.n);
    if (!(ldexp(s.mean.radius, in->k) <= 0x1p51) || s.carried)
        ffi_abort_text("argument", "`k` leaves no room for the lattice, or the ball is to be carried.");
    if (x.elsewhere)
        ffi_steps_elsewhere(&s, &x.tally);
    else
        ffi_steps_records(&s, &x.x, x.centre, x.centre, NULL, work);
    mean_steps_run(&s.mean, &s.records, NULL, a, s.sum, m->host, s.work);

    int64_t *z = (int64_t *)R_alloc(d, sizeof *z), most = LATTICE_MOST / 2;
    struct deviate *deviate = deviates(in->law, d);
    struct bits bits;
    double trials = 0;
    bits_start(&bits, rng);
    draw(in->law, &bits, d, in->scale, z, deviate, &trials);
    for (size_t j = 0; j < d; j++) {
        /* a sum over a released size may be longer than the radius; the cut moves no two of them apart */
        int64_t noisy = z[j] + (int64_t)round(fmin(fmax(ldexp(a[j], in->k), -0x1p61), 0x1p61));
        /* the noisy integers are the release; all else is made from them */
        a[j] = ldexp((double)(noisy > most ? most : noisy < -most ? -most : noisy), -in->k);
    }
    bits_wipe(&bits);
    wipe((unsigned char *)z, d * sizeof *z);
    wipe((unsigned char *)deviate, (in->law == LAW_L2 ? 2 * d + 1 : 1) * sizeof *deviate);
    if (manifold_from_coords(m, v, one(x.centre), one(a), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < dim; j++)
            v[j] = 0;
    manifold_exp_total(m, o, x.centre, v, x.centre, work);
    return ffi_single(c, x.elsewhere ? NULL : &x.x, o);
}

SEXP riemdp_release_lattice(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP k, SEXP law, SEXP scale, SEXP simulate)
{
    double step = ffi_number(k, "k");
    struct release_args args = {.x = x, .centre = centre, .law = read_law(law), .scale = read_ratio(scale)};
    ffi_steps_read(numbers, &args.number);
    if (!(step >= -150 && step <= 150) || step != floor(step))
        ffi_abort_text("argument", "`k` must be a whole number from -150 to 150.");
    args.k = (int)step;
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}
