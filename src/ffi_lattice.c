/* Releases on a lattice: the mean's coordinates, rounded, plus integer noise. Only what is made from the noisy integers
 * leaves riemdp_release_lattice(). */
#include "ffi.h"
#include "mechanism_lattice.h"
#include "sampler_lattice.h"

enum lattice_law { LAW_L2 = 1, LAW_DISCRETE_LAPLACE = 2, LAW_DISCRETE_GAUSSIAN = 3 };

static int read_law(SEXP law)
{
    double v = ffi_number(law, "law");
    if (v != LAW_L2 && v != LAW_DISCRETE_LAPLACE && v != LAW_DISCRETE_GAUSSIAN)
        ffi_abort_text("argument", "`law` must be 1 (l2), 2 (discrete Laplace) or 3 (discrete Gaussian).");
    return (int)v;
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
}

static void draw(int law, struct bits *bits, size_t d, struct ratio scale, int64_t *z, struct deviate *work,
                 double *trials)
{
    if (law == LAW_L2) {
        *trials += (double)lattice_l2_draw(bits, d, scale, z, work);
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

static SEXP model_body(struct call *c, void *data)
{
    (void)data;
    static const char *const name[] = {"none", "flat", "sphere", "hyperbolic", "planar", "spd", "grassmann"};
    return ffi_keep(c, Rf_mkString(name[lattice_model(&c->m)]));
}

SEXP riemdp_lattice_model(SEXP m)
{
    return ffi_run(model_body, NULL, m, 0);
}

enum { NUMBERS = 8 };

struct release_args {
    SEXP x, centre;
    double number
        [NUMBERS]; /* radius, step, steps, bits, base, terms, k, target: 0 the Frechet mean, 1 the mean of the coordinates */
    int law;
    struct ratio scale;
    int noisy;
};

static void read_numbers(SEXP numbers, double *out)
{
    if (TYPEOF(numbers) != REALSXP || XLENGTH(numbers) != NUMBERS)
        ffi_abort_text("argument", "`numbers` must be eight numbers.");
    for (int i = 0; i < NUMBERS; i++)
        out[i] = REAL(numbers)[i];
    for (int i = 0; i < NUMBERS; i++)
        if (!(fabs(out[i]) < INFINITY) || ((i == 2 || i == 3 || i >= 5) && out[i] != floor(out[i])))
            ffi_abort_text("argument", "`numbers` must be finite, and counts whole.");
    if (!(out[0] >= 0x1p-100 && out[0] <= 0x1p100) || !(out[1] > 0 && out[1] <= 1) || !(out[2] >= 1 && out[2] <= 1e6) ||
        !(out[3] >= -100 && out[3] <= 160) || !(out[4] >= 0 && out[4] < 1) || !(out[5] >= 1 && out[5] <= 1e5) ||
        !(out[6] >= -150 && out[6] <= 150) || !(out[7] == 0 || out[7] == 1))
        ffi_abort_text("argument", "one of `numbers` is out of its range.");
}

/* what the numbers say of the mean; `k`, the lattice's exponent, is checked for room as well */
static struct lattice_mean read_mean(struct call *c, const double *number, size_t n)
{
    manifold_t m = &c->m;
    enum lattice_model model = lattice_model(m);
    if (number[7] == 1 && !(m->flags & MANIFOLD_CALLS_R))
        model = LATTICE_FLAT; /* the mean of the coordinates themselves, on every manifold */
    int matrices = model == LATTICE_SPD || model == LATTICE_GRASSMANN;
    struct lattice_mean mean = {.model = model,
                                .dim = m->dim,
                                .rows = matrices ? m->rows : 0,
                                .cols = model == LATTICE_GRASSMANN ? m->cols : 0,
                                .radius = number[0],
                                .step = number[1],
                                .steps = (int)number[2],
                                .bits = (int)number[3],
                                .base = number[4],
                                .terms = (int)number[5]};
    if (mean.model == LATTICE_NONE || (mean.model == LATTICE_SPD && !(mean.base > 0)))
        ffi_abort(c, STATUS_UNSUPPORTED, "numerics = \"lattice\"", -1);
    if (!(ldexp(3 * mean.radius, mean.bits) * (double)n <= 0x1p62) || !(ldexp(mean.radius, mean.bits) <= 0x1p51) ||
        !(ldexp(mean.radius, (int)number[6]) <= 0x1p51))
        ffi_abort_text("argument", "`numbers` leave no room for the sums, or for the lattice.");
    return mean;
}

/* Each record by itself to coordinates at the centre, so that neighbours stay neighbours, and to a point of the model space; nothing
 * fails. `shown` (may be NULL) gets the coordinates. */
static double *embed_records(struct call *c, struct arg *x, const struct lattice_mean *mean, struct points m0,
                             double *shown, double *work)
{
    manifold_t m = &c->m;
    size_t n = x->n, dim = m->ambient, d = m->dim, block = ffi_block(c), size = lattice_point_size(mean);
    double *y = ffi_doubles(n * size), *rest = ffi_doubles(lattice_mean_work(mean)), *o = ffi_doubles(dim);
    double *v = ffi_doubles(dim), *a = ffi_doubles(d);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        struct points from = ffi_block_points(c, x, begin, end, 1, work);
        for (size_t i = 0; i < end - begin; i++) {
            manifold_to_ball(m, o, m0.x, mean->radius, one(at(from, i)), 0, 1, work);
            if (m->ops->log(m, v, m0, one(o), 0, 1, work) != STATUS_OK ||
                manifold_coords(m, a, m0, one(v), 0, 1, work) != STATUS_OK || !all_finite(d, a))
                for (size_t j = 0; j < d; j++)
                    a[j] = 0;
            lattice_clip(mean, a);
            for (size_t j = 0; j < d && shown; j++)
                shown[(begin + i) * d + j] = a[j];
            lattice_embed(mean, a, y + (begin + i) * size, rest);
        }
        host_tick(m->host, 0, 0);
    }
    return y;
}

struct elsewhere {
    struct call *c;
    struct tally tally;
};

/* whole numbers as two doubles each: multiples of 2^31, and the rest */
static void add_elsewhere(const struct lattice_records *r, const double *a, int64_t *sum)
{
    const struct elsewhere *e = r->data;
    size_t d = e->c->m.dim;
    double *parts = ffi_doubles(2 * d);
    if (ffi_tally_call(e->c, &e->tally, "lattice", a, d, parts, 2 * d) != STATUS_OK)
        ffi_abort_text("argument", "the sums from elsewhere are not numbers.");
    for (size_t j = 0; j < d; j++) {
        double high = parts[j], low = parts[d + j];
        if (!(fabs(high) <= 0x1p31 && fabs(low) <= 0x1p53) || high != floor(high) || low != floor(low))
            ffi_abort_text("argument", "the sums from elsewhere are out of range.");
        sum[j] += (int64_t)high * ((int64_t)1 << 31) + (int64_t)low;
    }
}

static SEXP release_lattice(struct call *c, struct rng *rng, const struct release_args *in)
{
    manifold_t m = &c->m;
    struct elsewhere e = {.c = c};
    int elsewhere = ffi_tally(in->x, &e.tally);
    struct arg x = {.label = "x"}, centre = ffi_arg(c, in->centre, "center", KIND_POINT);
    if (!elsewhere)
        x = ffi_arg(c, in->x, "x", KIND_POINT);
    size_t n = elsewhere ? e.tally.n : x.n, dim = m->ambient, d = m->dim;
    double *work = ffi_doubles(manifold_work(m)), *v = ffi_doubles(dim), *a = ffi_doubles(d), *o = ffi_doubles(dim);
    if (n == 0)
        ffi_abort_text("shape", "`x` must hold at least one record.");
    if (centre.n != 1)
        ffi_abort_text("shape", "`center` must be one point.");
    struct points m0 = ffi_block_points(c, &centre, 0, 1, 0, work);
    ffi_check_block(c, &centre, m0, NULL, m0, 0, 1, work);
    struct lattice_mean mean = read_mean(c, in->number, n);
    int k = (int)in->number[6];
    if (in->noisy)
        check_law(in->law, d, in->scale);

    double *rest = ffi_doubles(lattice_mean_work(&mean));
    int64_t *sum = (int64_t *)R_alloc(d, sizeof *sum);
    SEXP coords = in->noisy || elsewhere ? R_NilValue : ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, (int)n));
    if (elsewhere) {
        struct lattice_records records = {add_elsewhere, &e};
        lattice_mean_of(&mean, n, &records, a, sum, m->host, rest);
    } else {
        double *y = embed_records(c, &x, &mean, m0, in->noisy ? NULL : REAL(coords), work);
        lattice_mean_run(&mean, n, y, a, sum, m->host, rest);
    }
    if (!in->noisy) {
        SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)d));
        for (size_t j = 0; j < d; j++)
            REAL(out)[j] = a[j];
        Rf_setAttrib(out, Rf_install("records"), coords);
        return out;
    }

    int64_t *z = (int64_t *)R_alloc(d, sizeof *z), most = LATTICE_MOST / 2;
    struct deviate *deviate = deviates(in->law, d);
    struct bits bits;
    double trials = 0;
    bits_start(&bits, rng);
    draw(in->law, &bits, d, in->scale, z, deviate, &trials);
    for (size_t j = 0; j < d; j++) {
        int64_t noisy = z[j] + (int64_t)round(ldexp(a[j], k));
        /* the noisy integers are the release; all else is made from them */
        a[j] = ldexp((double)(noisy > most ? most : noisy < -most ? -most : noisy), -k);
    }
    bits_wipe(&bits);
    wipe((unsigned char *)z, d * sizeof *z);
    wipe((unsigned char *)deviate, (in->law == LAW_L2 ? 2 * d + 1 : 1) * sizeof *deviate);
    if (manifold_from_coords(m, v, m0, one(a), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < dim; j++)
            v[j] = 0;
    ffi_exp_total(m, o, m0.x, v, m0.x, work);
    return ffi_single(c, elsewhere ? NULL : &x, o);
}

static SEXP release_body(struct call *c, struct rng *rng, void *data)
{
    return release_lattice(c, rng, data);
}

SEXP riemdp_release_lattice(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP law, SEXP scale, SEXP simulate)
{
    struct release_args args = {.x = x, .centre = centre, .law = read_law(law), .scale = read_ratio(scale), .noisy = 1};
    read_numbers(numbers, args.number);
    return ffi_with_rng(release_body, &args, m, ffi_number(simulate, "simulate") != 0, 1);
}

/* What a chunk's records add to the integer sums at coordinates `at`; n: records in all. Two columns: multiples of 2^31, the rest. */
struct add_args {
    SEXP x, centre, at;
    double n, number[NUMBERS];
};

static SEXP add_body(struct call *c, void *data)
{
    const struct add_args *in = data;
    manifold_t m = &c->m;
    struct arg x = ffi_arg(c, in->x, "x", KIND_POINT);
    size_t d = m->dim;
    if (x.n == 0 || (double)x.n > in->n)
        ffi_abort_text("shape", "`x` must hold at least one record, and no more than `n`.");
    if (TYPEOF(in->centre) != REALSXP || (size_t)XLENGTH(in->centre) != m->ambient ||
        !all_finite(m->ambient, REAL(in->centre)) || TYPEOF(in->at) != REALSXP || (size_t)XLENGTH(in->at) != d ||
        !all_finite(d, REAL(in->at)))
        ffi_abort_text("argument", "`centre` and `at` must be the stored numbers of a point and coordinates.");
    struct lattice_mean mean = read_mean(c, in->number, (size_t)in->n);
    double *work = ffi_doubles(manifold_work(m)), *rest = ffi_doubles(lattice_mean_work(&mean));
    double *centre = ffi_doubles(m->ambient), *a = ffi_doubles(d);
    for (size_t j = 0; j < m->ambient; j++)
        centre[j] = REAL(in->centre)[j];
    for (size_t j = 0; j < d; j++)
        a[j] = REAL(in->at)[j];
    if (!(norm2(d, a) <= mean.radius * (1 + 1e-9)))
        ffi_abort_text("argument", "`at` must be coordinates in the ball, as the mean's steps make them.");
    int64_t *sum = (int64_t *)R_alloc(d, sizeof *sum);
    for (size_t j = 0; j < d; j++)
        sum[j] = 0;
    lattice_add(&mean, x.n, embed_records(c, &x, &mean, one(centre), NULL, work), a, sum, m->host, rest);
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, 2));
    for (size_t j = 0; j < d; j++) {
        int64_t unit = (int64_t)1 << 31, low = sum[j] % unit;
        REAL(out)[j] = (double)((sum[j] - low) / unit);
        REAL(out)[d + j] = (double)low;
    }
    return out;
}

SEXP riemdp_chunk_lattice(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP n, SEXP at)
{
    struct add_args args = {.x = x, .centre = centre, .at = at, .n = ffi_number(n, "n")};
    read_numbers(numbers, args.number);
    if (!(args.n >= 1 && args.n <= 0x1p53) || args.n != floor(args.n))
        ffi_abort_text("argument", "`n` must be a number of records.");
    return ffi_run(add_body, &args, m, 1);
}

/* The coordinates before rounding and noise, and (attribute "records", by columns) what the records were moved to: to compare
 * with other computations, not private */
static SEXP nonprivate_body(struct call *c, void *data)
{
    return release_lattice(c, NULL, data);
}

SEXP riemdp_lattice_mean_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP numbers)
{
    struct release_args args = {.x = x, .centre = centre};
    read_numbers(numbers, args.number);
    return ffi_run(nonprivate_body, &args, m, 1);
}
