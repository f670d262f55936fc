/* The mean by public steps for R: its numbers, its records as coordinates at the public centre, and what chunks add to its sums. */
#include "ffi_steps.h"

#include <float.h>

#include "linalg.h"
#include "mean.h"
#include "mean_steps_definite.h"
#include "mean_steps_lifts.h"
#include "mean_steps_product.h"

void ffi_steps_read(SEXP numbers, struct steps_numbers *out)
{
    SEXP roots = ffi_list_get(numbers, "roots"), stretch = ffi_list_get(numbers, "stretch");
    *out = (struct steps_numbers){.radius = ffi_range(ffi_field(numbers, "radius"), "radius", 0x1p-100, 0x1p100),
                                  .step = ffi_range(ffi_field(numbers, "step"), "step", 0x1p-1022, 1),
                                  .steps = ffi_count(ffi_field(numbers, "steps"), "steps", 1, 1e6),
                                  .bits = ffi_count(ffi_field(numbers, "bits"), "bits", -100, 160),
                                  .base = ffi_range(ffi_field(numbers, "base"), "base", 0, 1 - 0x1p-53),
                                  .terms = ffi_count(ffi_field(numbers, "terms"), "terms", 1, 1e5),
                                  .accept = ffi_range(ffi_field(numbers, "accept"), "accept", 0, DBL_MAX),
                                  .stretch = stretch == R_NilValue ? 1 : ffi_range(stretch, "stretch", 1, 0x1p20),
                                  .carried = ffi_flag(ffi_field(numbers, "carried"), "carried"),
                                  .tangent = ffi_flag(ffi_field(numbers, "tangent"), "tangent")};
    out->parts = ffi_list_get(numbers, "parts");
    if (roots == R_NilValue)
        return;
    if (TYPEOF(roots) != REALSXP)
        ffi_abort_text("argument", "`roots` must be numbers.");
    out->roots = (size_t)XLENGTH(roots);
    out->root = REAL(roots);
    for (size_t i = 0; i < out->roots; i++) /* a ball around this centre lies in the manifold */
        if (!(out->root[i] >= (i ? out->root[i - 1] : 3 * out->radius) && out->root[i] <= 0x1p100))
            ffi_abort_text("argument", "the roots of the centre's eigenvalues are out of their range or order.");
}

static void add_elsewhere(const struct steps_records *r, const double *a, int64_t *sum)
{
    struct steps *s = r->data;
    size_t count = 2 * s->mean.span;
    if (ffi_tally_call(s->c, &s->tally, "steps", a, s->mean.dim, s->parts, count) != STATUS_OK)
        ffi_abort_text("argument", "the sums from elsewhere are not numbers.");
    for (size_t j = 0; j < count; j++) {
        if (!(fabs(s->parts[j]) <= 0x1p61) || s->parts[j] != floor(s->parts[j]))
            ffi_abort_text("argument", "the sums from elsewhere are out of range.");
        sum[j] += (int64_t)s->parts[j];
    }
}

static double squares_elsewhere(const struct steps_records *r, const double *a)
{
    struct steps *s = r->data;
    double sum;
    if (ffi_tally_call(s->c, &s->tally, "squares", a, s->mean.dim, &sum, 1) != STATUS_OK || !(sum >= 0 && sum <= ldexp((double)r->n, 20)))
        ffi_abort_text("argument", "the squares from elsewhere are out of range.");
    return sum;
}

static struct mean_steps mean_of(manifold_t m, const struct steps_numbers *numbers)
{
    enum manifold_model model = numbers->tangent && !(m->flags & MANIFOLD_CALLS_R) ? MODEL_FLAT : steps_model(m);
    int frames = model == MODEL_SUBSPACES || model == MODEL_FRAMES || model == MODEL_FRAMES_EUCLIDEAN;
    int hermitian = model == MODEL_HERMITIAN, matrices = frames || hermitian || model == MODEL_SPD || model == MODEL_BURES;
    return (struct mean_steps){.model = model,
                               .dim = m->dim,
                               .rows = !matrices ? 0 : hermitian ? 2 * m->rows : m->rows,
                               .cols = frames ? m->cols : 0,
                               .span = model == MODEL_BURES ? m->ambient : m->dim,
                               .radius = numbers->radius,
                               .step = numbers->step,
                               .steps = (int)numbers->steps,
                               .bits = (int)numbers->bits,
                               .base = numbers->base,
                               .terms = (int)numbers->terms,
                               .accept = numbers->accept,
                               .root = numbers->root};
}

static void finish_mean(struct call *c, manifold_t m, const struct steps_numbers *numbers, struct mean_steps *mean);

/* a product's parts, whose numbers R hands over one after the other */
static void finish_parts(struct call *c, manifold_t m, const struct steps_numbers *numbers, struct mean_steps *mean)
{
    const struct product *p = m->context;
    if (TYPEOF(numbers->parts) != VECSXP || (size_t)XLENGTH(numbers->parts) != p->count)
        ffi_abort_text("argument", "`numbers` must have those of each part of a product.");
    struct mean_part *part = (struct mean_part *)R_alloc(p->count, sizeof *part);
    for (size_t i = 0; i < p->count; i++) {
        struct steps_numbers own;
        ffi_steps_read(VECTOR_ELT(numbers->parts, (R_xlen_t)i), &own);
        part[i] = (struct mean_part){.steps = mean_of(&p->part[i].m, &own), .root = p->part[i].root};
        if (!(own.radius * part[i].root >= numbers->radius))
            ffi_abort_text("argument", "a part's ball must be as large as the product's.");
        finish_mean(c, &p->part[i].m, &own, &part[i].steps);
    }
    mean->span = product_place(part, p->count);
    mean->parts = p->count;
    mean->part = part;
}

/* what the model needs besides, checked */
static void finish_mean(struct call *c, manifold_t m, const struct steps_numbers *numbers, struct mean_steps *mean)
{
    enum manifold_model model = mean->model;
    if (numbers->roots != (model == MODEL_BURES ? m->rows : 0))
        ffi_abort_text(
            "argument",
            "`numbers` must have the roots of the centre's eigenvalues for the Bures-Wasserstein metric, only there.");
    if (model == MODEL_BURES) /* with some room for iterates that rounding has moved */
        mean->scale = 1 / (square(mean->root[m->rows - 1] + 1.01 * mean->radius) * (1 + 1e-6));
    if (model == MODEL_FRAMES || model == MODEL_FRAMES_EUCLIDEAN)
        frame_series(mean);
    if (model == MODEL_NONE || (definite(mean) && !(mean->base > 0)))
        ffi_abort(c, STATUS_UNSUPPORTED, "the mean by public steps", -1);
    if (definite(mean))
        definite_series(mean);
    if (model == MODEL_PRODUCT)
        finish_parts(c, m, numbers, mean);
}

struct steps ffi_steps_make(struct call *c, const struct steps_numbers *numbers, size_t n)
{
    manifold_t m = &c->m;
    struct steps s = {.c = c, .mean = mean_of(m, numbers), .records = {.n = n}, .stretch = numbers->stretch};
    s.carried = numbers->carried && manifold_carries(m);
    finish_mean(c, m, numbers, &s.mean);
    if (!(ldexp(s.mean.radius, s.mean.bits) <= 0x1p51) || !((double)n <= 0x1p31))
        ffi_abort_text("argument", "`numbers` leave no room for the sums.");
    s.work = ffi_doubles(steps_work(&s.mean));
    s.sum = (int64_t *)R_alloc(2 * s.mean.span, sizeof *s.sum);
    s.parts = ffi_doubles(2 * s.mean.span);
    return s;
}

void ffi_steps_reference(const struct steps *s, const double *centre, double *o)
{
    manifold_t m = &s->c->m;
    if (s->carried)
        m->ops->origin(m, o);
    for (size_t j = 0; j < m->ambient && !s->carried; j++)
        o[j] = centre[j];
}

void ffi_steps_elsewhere(struct steps *s, const struct tally *tally)
{
    s->tally = *tally;
    s->records.y = NULL;
    s->records.add = add_elsewhere;
    s->records.squares = squares_elsewhere;
    s->records.data = s;
}

int ffi_steps_coords(const struct steps *s, const double *o, const double *x, double *a, double *v, double *work)
{
    manifold_t m = &s->c->m;
    if (m->ops->log(m, v, one(o), one(x), 0, 1, work) == STATUS_OK &&
        manifold_coords(m, a, one(o), one(v), 0, 1, work) == STATUS_OK && all_finite(m->dim, a))
        return 1;
    for (size_t j = 0; j < m->dim; j++)
        a[j] = 0;
    return 0;
}

/* shortens coordinates to the ball's radius: whether they were that short */
static int into_ball(const struct steps *s, double *a)
{
    int inside = norm2(s->mean.dim, a) <= steps_edge(&s->mean);
    steps_clip(&s->mean, a);
    return inside;
}

int ffi_steps_record(const struct steps *s, const double *m0, const double *o, const double *r, double *a,
                         double *in, double *v, double *work)
{
    manifold_t m = &s->c->m;
    int ok = m->ops->check_point(m, one(r), 0, 1, work) == STATUS_OK;
    if (!ok) /* with the work of any other */
        r = s->carried ? m0 : o;
    if (s->carried) {
        int came = m->ops->to_origin(m, in, m0, one(r), 0, 1, work) == STATUS_OK && all_finite(m->ambient, in);
        ok &= came;
        r = came ? in : o;
    }
    ok &= ffi_steps_coords(s, o, r, a, v, work);
    if (!ok) {
        for (size_t j = 0; j < m->dim; j++)
            a[j] = 0;
    }
    return into_ball(s, a) && ok;
}

/* room for the records of a block: points, tangent vectors and coordinates */
struct block {
    double *in, *v, *a;
};

/* The same of a block of records: no operation of the package's own manifolds has two records meet, so each has the bits that it has alone. 0
 * where one of them can't be done so; then each goes by itself, as all do of a user's manifold, or where time is to be even. */
static int block_coords(struct steps *s, const double *m0, const double *o, struct points x, size_t n, const struct block *b, double *work)
{
    manifold_t m = &s->c->m;
    if ((m->flags & MANIFOLD_CALLS_R) || s->mean.even || m->ops->check_point(m, x, 0, n, work) != STATUS_OK)
        return 0;
    if (s->carried) {
        if (m->ops->to_origin(m, b->in, m0, x, 0, n, work) != STATUS_OK || !all_finite(n * m->ambient, b->in))
            return 0;
        x = (struct points){b->in, m->ambient};
    }
    if (m->ops->log(m, b->v, one(o), x, 0, n, work) != STATUS_OK ||
        manifold_coords(m, b->a, one(o), (struct points){b->v, m->ambient}, 0, n, work) != STATUS_OK || !all_finite(n * m->dim, b->a))
        return 0;
    for (size_t i = 0; i < n; i++)
        s->moved += !into_ball(s, b->a + i * m->dim);
    return 1;
}

void ffi_steps_records(struct steps *s, struct arg *x, const double *m0, const double *o, double *shown, double *work)
{
    manifold_t m = &s->c->m;
    size_t n = x->n, d = m->dim, block = ffi_block(s->c), size = steps_point_size(&s->mean), most = block < n ? block : n;
    double *y = ffi_doubles(n * size);
    struct block b = {ffi_doubles(most * m->ambient), ffi_doubles(most * m->ambient), ffi_doubles(most * d)};
    s->moved = 0;
    for (size_t begin = 0; begin < n; begin += block) {
        size_t count = n - begin < block ? n - begin : block;
        struct points from = ffi_block_points(s->c, x, begin, begin + count, 1, work);
        if (!block_coords(s, m0, o, from, count, &b, work))
            for (size_t i = 0; i < count; i++)
                s->moved += !ffi_steps_record(s, m0, o, at(from, i), b.a + i * d, b.in, b.v, work);
        for (size_t j = 0; j < count * d && shown; j++)
            shown[begin * d + j] = b.a[j];
        steps_embed_all(&s->mean, count, b.a, d, y + begin * size, size, s->work);
        host_tick(m->host, 0, 0);
    }
    s->records.y = y;
}

static void run(struct steps *s, const double *start, double *a)
{
    mean_steps_run(&s->mean, &s->records, start, a, s->sum, s->c->m.host, s->work);
    if (!(s->stretch > 1))
        return;
    for (size_t j = 0; j < s->mean.dim; j++)
        a[j] *= s->stretch;
    steps_clip(&s->mean, a);
}

/* where time must not depend on the records */
static void evenly(struct mean_steps *mean)
{
    mean->even = 1;
    for (size_t i = 0; i < mean->parts; i++)
        evenly((struct mean_steps *)&mean->part[i].steps);
}

/* the points at o that the records' coordinates are of */
static double *points_of(const struct steps *s, const double *o, double *work)
{
    manifold_t m = &s->c->m;
    size_t n = s->records.n, d = m->dim, dim = m->ambient, block = ffi_block(s->c);
    double *out = ffi_doubles(n * dim), *v = ffi_doubles((block < n ? block : n) * dim);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t count = n - begin < block ? n - begin : block;
        double *to = out + begin * dim;
        const double *a = s->coords + begin * d;
        if ((m->flags & MANIFOLD_CALLS_R) ||
            manifold_from_coords(m, v, one(o), (struct points){a, d}, 0, count, work) != STATUS_OK ||
            m->ops->exp(m, to, one(o), (struct points){v, dim}, 0, count, work) != STATUS_OK || !all_finite(count * dim, to))
            for (size_t i = 0; i < count; i++)
                ffi_steps_point(s, o, a + i * d, to + i * dim, v, work);
        host_tick(m->host, 0, 0);
    }
    return out;
}

/* fast steps: where the records are if all of them stay there, else where their coordinates are */
static void seek(const struct steps *s, struct arg *x, const double *m0, const double *o, double *p, double *work)
{
    manifold_t m = &s->c->m;
    size_t dim = m->ambient;
    int there = s->carried && !s->moved;
    double *q = ffi_doubles(dim);
    struct arg inside = {.label = "x", .kind = KIND_TANGENT, .layout = LAYOUT_RECORDS, .n = x->n, .length = dim, .many = 1};
    if (s->moved)
        inside.data = s->ball ? s->ball : points_of(s, o, work);
    struct source source = ffi_source(s->c, s->moved ? &inside : x, 1, work);
    mean_fast(m, &source, there ? m0 : o, s->mean.radius, s->mean.accept, q, ffi_doubles(mean_work(m, &source, 5)));
    if (!there || m->ops->to_origin(m, p, m0, one(q), 0, 1, work) != STATUS_OK)
        for (size_t j = 0; j < dim; j++)
            p[j] = there ? o[j] : q[j];
}

/* a start for the steps, coordinates at o */
static void find_start(struct steps *s, struct arg *x, const struct tally *tally, const double *m0, const double *o, double *start,
                       double *work)
{
    struct call *c = s->c;
    manifold_t m = &c->m;
    double *p = ffi_doubles(m->ambient);
    if (tally) {
        struct objective f = ffi_tally_energy(c, tally);
        mean_fast_of(m, &f, o, s->mean.radius, s->mean.accept, p, NULL, ffi_doubles(mean_solver_work(m, 5)));
    } else {
        seek(s, x, m0, o, p, work);
    }
    ffi_steps_coords(s, o, p, start, ffi_doubles(m->ambient), work);
}

void ffi_steps_mean(struct steps *s, struct arg *x, const struct tally *tally, const double *m0, const double *o, double *a, double *work)
{
    size_t d = s->c->m.dim;
    int fast = s->fast && s->mean.model != MODEL_FLAT;
    double *start = fast ? ffi_doubles(d) : NULL;
    if (!fast)
        evenly(&s->mean);
    if (fast && !tally)
        s->coords = ffi_doubles(x->n * d);
    if (tally)
        ffi_steps_elsewhere(s, tally);
    else
        ffi_steps_records(s, x, m0, o, s->coords, work);
    if (fast)
        find_start(s, x, tally, m0, o, start, work);
    run(s, start, a);
}

void ffi_steps_point(const struct steps *s, const double *o, const double *a, double *p, double *v, double *work)
{
    manifold_t m = &s->c->m;
    if (manifold_from_coords(m, v, one(o), one(a), 0, 1, work) != STATUS_OK ||
        m->ops->exp(m, p, one(o), one(v), 0, 1, work) != STATUS_OK || !all_finite(m->ambient, p))
        for (size_t j = 0; j < m->ambient; j++) /* can't be: a lies in the ball */
            p[j] = o[j];
}

/* What a chunk's records add to the whole sums at coordinates `at`; n: records in all. Two columns: multiples of 2^31, the rest. Or their squared
 * distances, where `squares` has bits and the most that one may count; or products of coordinates, where it has a reach as well. */
struct add_args {
    SEXP x, centre, at;
    double n;
    const double *squares;
    int products;
    struct steps_numbers number;
};

static SEXP add_squares(struct call *c, const struct add_args *in, const struct steps *s, size_t n, const double *a)
{
    struct host *host = c->m.host;
    size_t entries = s->mean.span * (s->mean.span + 1) / 2;
    if (!in->products)
        return ffi_keep(c, Rf_ScalarReal(steps_squares(&s->mean, n, s->records.y, a, in->squares[0], in->squares[1], host, s->work)));
    SEXP out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)entries));
    for (size_t j = 0; j < entries; j++)
        REAL(out)[j] = 0;
    steps_products(&s->mean, n, s->records.y, a, in->squares[0], in->squares[2], REAL(out), host, s->work);
    return out;
}

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
    struct steps s = ffi_steps_make(c, &in->number, (size_t)in->n);
    size_t span = s.mean.span;
    double *work = ffi_doubles(manifold_work(m)), *centre = ffi_doubles(m->ambient), *o = ffi_doubles(m->ambient),
           *a = ffi_doubles(d);
    for (size_t j = 0; j < m->ambient; j++)
        centre[j] = REAL(in->centre)[j];
    ffi_steps_reference(&s, centre, o);
    for (size_t j = 0; j < d; j++)
        a[j] = REAL(in->at)[j];
    if (!(norm2(d, a) <= s.mean.radius * (1 + 1e-9)))
        ffi_abort_text("argument", "`at` must be coordinates in the ball, as the mean's steps make them.");
    for (size_t j = 0; j < 2 * span; j++)
        s.sum[j] = 0;
    ffi_steps_records(&s, &x, centre, o, NULL, work);
    if (in->squares)
        return add_squares(c, in, &s, x.n, a);
    steps_add(&s.mean, x.n, s.records.y, a, s.sum, m->host, s.work);
    SEXP out = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)span, 2));
    for (size_t j = 0; j < span; j++) {
        int64_t unit = (int64_t)1 << 31, low = s.sum[span + j] % unit;
        REAL(out)[j] = (double)(s.sum[j] + (s.sum[span + j] - low) / unit);
        REAL(out)[span + j] = (double)low;
    }
    return out;
}

SEXP riemdp_chunk_steps(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP n, SEXP at, SEXP squares)
{
    struct add_args args = {.x = x, .centre = centre, .at = at, .n = ffi_number(n, "n")};
    ffi_steps_read(numbers, &args.number);
    if (!(args.n >= 1 && args.n <= 0x1p31) || args.n != floor(args.n))
        ffi_abort_text("argument", "`n` must be a number of records.");
    if (squares != R_NilValue) {
        R_xlen_t length = TYPEOF(squares) == REALSXP ? XLENGTH(squares) : 0;
        args.squares = length ? REAL(squares) : NULL;
        args.products = length == 3;
        if ((length != 2 && length != 3) || !(args.squares[0] >= 0 && args.squares[0] <= 52) || !(args.squares[1] >= 1) ||
            !(args.n * args.squares[1] <= 0x1p53) || (args.products && !(args.squares[2] > 0)))
            ffi_abort_text("argument", "`squares` must be a number of bits, one of which sums fit into doubles, and a reach; or NULL.");
    }
    return ffi_run(add_body, &args, m, 1);
}

/* The mean's coordinates, and (attributes) "records", by columns, what these were moved to, and "series", how often each series of a matrix
 * logarithm was taken: to compare with other computations, not private. centre: NULL where x holds coordinates, by columns. start: NULL (all steps), coordinates, or TRUE, as a
 * release finds its own. */
struct mean_args {
    SEXP x, centre, start;
    struct steps_numbers number;
};

/* records given as coordinates, moved to the ball */
static void given_coords(struct steps *s, SEXP x, double *coords)
{
    size_t d = s->mean.dim, n = s->records.n, size = steps_point_size(&s->mean);
    double *y = ffi_doubles(n * size);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++)
            coords[i * d + j] = REAL(x)[i * d + j];
        steps_clip(&s->mean, coords + i * d);
    }
    steps_embed_all(&s->mean, n, coords, d, y, size, s->work);
    s->records.y = y;
}

/* the records of `in`, and the centre where there is one */
static struct arg nonprivate_records(struct call *c, const struct mean_args *in, const double **centre, double *work)
{
    size_t d = c->m.dim;
    struct arg x = {.label = "x"};
    *centre = NULL;
    if (in->centre == R_NilValue) {
        if (TYPEOF(in->x) != REALSXP || XLENGTH(in->x) == 0 || (size_t)XLENGTH(in->x) % d != 0)
            ffi_abort_text("argument", "`x` must be coordinates, a column a record.");
        x.n = (size_t)XLENGTH(in->x) / d;
        return x;
    }
    struct arg given = ffi_arg(c, in->centre, "center", KIND_POINT);
    x = ffi_arg(c, in->x, "x", KIND_POINT);
    if (x.n == 0 || given.n != 1)
        ffi_abort_text("shape", "`x` must hold at least one record, and `center` must be one point.");
    struct points m0 = ffi_block_points(c, &given, 0, 1, 0, work);
    ffi_check_block(c, &given, m0, NULL, m0, 0, 1, work);
    *centre = m0.x;
    return x;
}

static SEXP nonprivate_body(struct call *c, void *data)
{
    const struct mean_args *in = data;
    size_t d = c->m.dim;
    const double *m0;
    double *work = ffi_doubles(manifold_work(&c->m)), *o = ffi_doubles(c->m.ambient);
    struct arg x = nonprivate_records(c, in, &m0, work);
    int seeks = TYPEOF(in->start) == LGLSXP && m0;
    if (in->start != R_NilValue && !seeks && (TYPEOF(in->start) != REALSXP || (size_t)XLENGTH(in->start) != d))
        ffi_abort_text("argument", "`start` must be coordinates, NULL or, where there is a centre, TRUE.");
    struct steps s = ffi_steps_make(c, &in->number, x.n);
    SEXP coords = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)d, (int)x.n)), out = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)d)),
         series = ffi_keep(c, Rf_allocVector(REALSXP, SERIES));
    for (size_t j = 0; j < SERIES; j++)
        REAL(series)[j] = 0;
    s.mean.used = REAL(series);
    s.fast = in->start != R_NilValue;
    if (!s.fast)
        evenly(&s.mean);
    if (m0) {
        ffi_steps_reference(&s, m0, o);
        ffi_steps_records(&s, &x, m0, o, REAL(coords), work);
    } else {
        given_coords(&s, in->x, REAL(coords));
    }
    if (seeks)
        ffi_steps_mean(&s, &x, NULL, m0, o, REAL(out), work);
    else
        run(&s, s.fast ? REAL(in->start) : NULL, REAL(out));
    Rf_setAttrib(out, Rf_install("records"), coords);
    Rf_setAttrib(out, Rf_install("series"), series);
    return out;
}

SEXP riemdp_steps_mean_nonprivate(SEXP m, SEXP x, SEXP centre, SEXP numbers, SEXP start)
{
    struct mean_args args = {.x = x, .centre = centre, .start = start};
    ffi_steps_read(numbers, &args.number);
    return ffi_run(nonprivate_body, &args, m, 1);
}
