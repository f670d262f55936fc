/* Hermitian positive definite matrices with the affine-invariant metric Re tr(P^-1 U P^-1 V): the symmetric space GL(k, C)/U(k), curvature
 * in [-1/2, 0]. A complex number a + ib is the real matrix with rows (a, -b), (b, a), a Hermitian matrix so a symmetric one of twice the
 * size, which preserves sums, products, inverses and Cholesky factors: a totally geodesic copy in the real matrices whose squared metric
 * is twice this one, where exp, log, distances, transport and Jacobi fields are theirs, and the logarithm of the volume density twice as
 * large (inst/proofs/geometry.md, section 8). A record is the complex matrix by columns, numbers as pairs. */
#include "manifold_spd.h"

enum { BATCH = WIDE };

static int init(struct manifold *m)
{
    if (m->param[0] < 1 || m->param[0] > 500000 || !(m->floor >= 0 && m->floor < 1))
        return STATUS_BAD_MANIFOLD;
    double k = (double)m->param[0];
    m->rows = m->cols = (size_t)m->param[0];
    m->ambient = 2 * m->rows * m->cols;
    m->dim = m->rows * m->cols;
    m->k_min = k > 1 ? -0.5 : 0;
    m->k_max = 0;
    m->mean_curvature = k > 1 ? -1 / (2 * k) : 0;
    m->volume_growth = sqrt(k * (k * k - 1) / 3);
    m->inj = m->rho_max = INFINITY;
    m->model = MODEL_HERMITIAN;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | (k > 1 ? 0 : MANIFOLD_TWO_POINT) | MANIFOLD_ONE_MEAN |
               MANIFOLD_KNG;
    return STATUS_OK;
}

/* the real matrices, and room for records of a batch in their form */
struct real {
    struct manifold m;
    double *in[4], *out[2], *rest;
};

static struct manifold real_space(manifold_t m)
{
    struct manifold r = {.ops = &manifold_spd_affine, .host = m->host, .param = {2 * m->param[0]}, .floor = m->floor};
    manifold_init(&r);
    return r;
}

static struct real make_real(manifold_t m, double *work)
{
    struct real r = {.m = real_space(m)};
    size_t size = BATCH * r.m.ambient;
    for (size_t i = 0; i < 4; i++)
        r.in[i] = work + i * size;
    r.out[0] = work + 4 * size;
    r.out[1] = r.out[0] + size;
    r.rest = r.out[1] + size;
    return r;
}

static size_t work_size(manifold_t m)
{
    struct manifold r = real_space(m);
    return 6 * BATCH * r.ambient + 2 * m->ambient + r.ops->work(&r);
}

/* whole: what a diagonal's numbers have of an imaginary part as well */
static void to_real(size_t k, const double *z, double *s, int whole)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            double re = *z++, im = *z++, *e = s + 2 * i + 4 * j * k;
            im = i == j && !whole ? 0 : im;
            e[0] = e[2 * k + 1] = re;
            e[1] = im;
            e[2 * k] = -im;
        }
}

/* the nearest matrix of that form: exactly Hermitian where s is symmetric */
static void from_real(size_t k, const double *s, double *z)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            const double *e = s + 2 * i + 4 * j * k;
            *z++ = 0.5 * e[0] + 0.5 * e[2 * k + 1];
            *z++ = 0.5 * e[1] - 0.5 * e[2 * k];
        }
}

/* argument `which`, records from i on */
static struct points enter(const struct real *r, size_t k, int which, struct points x, size_t i, size_t count, int whole)
{
    size_t n = x.stride ? count : 1, size = r->m.ambient;
    for (size_t a = 0; a < n; a++)
        to_real(k, at(x, i + a), r->in[which] + a * size, whole);
    return (struct points){r->in[which], x.stride ? size : 0};
}

static void leave(const struct real *r, size_t k, int which, double *out, size_t i, size_t count)
{
    for (size_t a = 0; a < count; a++)
        from_real(k, r->out[which] + a * r->m.ambient, out + (i + a) * 2 * k * k);
}

enum operation { CHECK, CHECK_TANGENT, PROJECT, EXP, LOG, TRANSPORT, INNER, DIST, DENSITY, TO_ORIGIN, FROM_ORIGIN };

static int run(enum operation op, struct real *r, double *out, const struct points *x, size_t n)
{
    const struct manifold_ops *ops = r->m.ops;
    switch (op) {
    case CHECK:
        return ops->check_point(&r->m, x[0], 0, n, r->rest);
    case CHECK_TANGENT:
        return ops->check_tangent(&r->m, x[0], x[0], 0, n, r->rest);
    case PROJECT:
        return ops->project(&r->m, out, x[0], 0, n, r->rest);
    case EXP:
        return ops->exp(&r->m, out, x[0], x[1], 0, n, r->rest);
    case LOG:
        return ops->log(&r->m, out, x[0], x[1], 0, n, r->rest);
    case TRANSPORT:
        return ops->transport(&r->m, out, x[0], x[1], x[2], 0, n, r->rest);
    case INNER:
        return ops->inner(&r->m, out, x[0], x[1], x[2], 0, n, r->rest);
    case DIST:
        return ops->dist(&r->m, out, x[0], x[1], 0, n, r->rest);
    case DENSITY:
        return ops->log_density(&r->m, out, x[0], x[1], 0, n, r->rest);
    case TO_ORIGIN:
        return ops->to_origin(&r->m, out, x[0].x, x[1], 0, n, r->rest);
    default:
        return ops->from_origin(&r->m, out, x[0].x, x[1], 0, n, r->rest);
    }
}

/* An operation of the real matrices on records of ours; `scale` makes numbers of theirs ours, 0: the results are matrices, or none. */
static int by_real(manifold_t m, enum operation op, double scale, double *out, const struct points *x, int count, size_t begin, size_t end,
                   double *work)
{
    struct real r = make_real(m, work);
    size_t k = m->rows;
    struct points in[3];
    for (size_t i = begin; i < end; i += BATCH) {
        size_t n = end - i < BATCH ? end - i : BATCH;
        for (int j = 0; j < count; j++) {
            int same = j > 0 && x[j].x == x[j - 1].x && x[j].stride == x[j - 1].stride;
            in[j] = same ? in[j - 1] : enter(&r, k, j, x[j], i, n, op <= PROJECT);
        }
        int status = run(op, &r, scale > 0 ? out + i : r.out[0], in, n);
        if (status != STATUS_OK)
            return status;
        for (size_t a = 0; a < n && scale > 0; a++)
            out[i + a] *= scale;
        if (scale == 0 && out)
            leave(&r, k, 0, out, i, n);
    }
    return STATUS_OK;
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    return by_real(m, CHECK, 0, NULL, &x, 1, begin, end, work);
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)p;
    return by_real(m, CHECK_TANGENT, 0, NULL, &v, 1, begin, end, work);
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    return by_real(m, PROJECT, 0, out, &x, 1, begin, end, work);
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t k = m->rows;
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(v, i);
        double *o = out + i * m->ambient;
        if (!all_finite(m->ambient, x))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < k; j++)
            for (size_t l = j; l < k; l++) {
                size_t a = 2 * (l + j * k), b = 2 * (j + l * k);
                double re = 0.5 * x[a] + 0.5 * x[b], im = 0.5 * x[a + 1] - 0.5 * x[b + 1];
                o[a] = o[b] = re;
                o[b + 1] = -im;
                o[a + 1] = l == j ? 0 : im;
            }
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return by_real(m, EXP, 0, out, (struct points[]){p, v}, 2, begin, end, work);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    return by_real(m, LOG, 0, out, (struct points[]){p, q}, 2, begin, end, work);
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin, size_t end, double *work)
{
    return by_real(m, TRANSPORT, 0, out, (struct points[]){p, q, v}, 3, begin, end, work);
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end, double *work)
{
    return by_real(m, INNER, 0.5, out, (struct points[]){p, u, v}, 3, begin, end, work);
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    return by_real(m, DIST, 1 / RIEMDP_SQRT2, out, (struct points[]){p, q}, 2, begin, end, work);
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return by_real(m, DENSITY, 0.5, out, (struct points[]){p, v}, 2, begin, end, work);
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end, double *work)
{
    return by_real(m, TO_ORIGIN, 0, out, (struct points[]){one(base), x}, 2, begin, end, work);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end, double *work)
{
    return by_real(m, FROM_ORIGIN, 0, out, (struct points[]){one(base), x}, 2, begin, end, work);
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = j % (2 * (m->rows + 1)) == 0;
}

/* the diagonal and sqrt(2) times the numbers below it, real and imaginary parts, of a Hermitian matrix z */
static void to_coords(size_t k, const double *z, double *a)
{
    for (size_t j = 0; j < k; j++) {
        *a++ = z[2 * (j + j * k)];
        for (size_t e = 2 * (j + 1 + j * k); e < 2 * (j + 1) * k; e++)
            *a++ = RIEMDP_SQRT2 * z[e];
    }
}

static void from_coords_at_origin(size_t k, const double *a, double *z)
{
    for (size_t j = 0; j < k; j++) {
        z[2 * (j + j * k)] = *a++;
        z[2 * (j + j * k) + 1] = 0;
        for (size_t i = j + 1; i < k; i++, a += 2) {
            size_t low = 2 * (i + j * k), high = 2 * (j + i * k);
            z[low] = z[high] = a[0] / RIEMDP_SQRT2;
            z[low + 1] = a[1] / RIEMDP_SQRT2;
            z[high + 1] = -z[low + 1];
        }
    }
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    double *z = work, *rest = z + m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        status = to_origin(m, z, at(p, i), one(at(v, i)), 0, 1, rest);
        if (status == STATUS_OK)
            to_coords(m->rows, z, out + i * m->dim);
    }
    return status;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end, double *work)
{
    double *z = work, *rest = z + m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        from_coords_at_origin(m->rows, at(a, i), z);
        status = from_origin(m, out + i * m->ambient, at(p, i), one(z), 0, 1, rest);
    }
    return status;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x, struct points u,
                  size_t begin, size_t end, double *work)
{
    struct real r = make_real(m, work);
    size_t k = m->rows;
    for (size_t i = begin; i < end; i += BATCH) {
        size_t n = end - i < BATCH ? end - i : BATCH;
        struct points base = enter(&r, k, 0, p, i, n, 0), along = enter(&r, k, 1, v, i, n, 0), of = enter(&r, k, 2, u, i, n, 0);
        int status = r.m.ops->jacobi(&r.m, r.out[0], r.out[1], base, along, (struct points){at(x, i), x.stride}, of, 0, n, r.rest);
        if (status != STATUS_OK)
            return status;
        leave(&r, k, 0, out_p, i, n);
        leave(&r, k, 1, out_v, i, n);
    }
    return STATUS_OK;
}

/* prod_{i<j} sinhc((v_i - v_j)/2)^2 <= sinhc(rho/sqrt(2(k-1)))^(k(k-1)): inst/proofs/laplace.md */
static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double curved, rate;
    manifold_volume_bound(m, &curved, &rate);
    manifold_sinhc_area((double)m->dim, curved, rate, rho, log_area, slope);
}

static double radial_accept(manifold_t m, const double *a, double rho, double *work)
{
    double *o = work, *z = o + m->ambient, *rest = z + m->ambient, density, curved, rate;
    manifold_volume_bound(m, &curved, &rate);
    origin(m, o);
    from_coords_at_origin(m->rows, a, z);
    if (log_density(m, &density, one(o), one(z), 0, 1, rest) != STATUS_OK)
        return -INFINITY;
    return density - curved * log_sinhc(rate * rho);
}

const struct manifold_ops manifold_hermitian = {
    .name = "hermitian_spd",
    .family = "hermitian_spd",
    .published = PUBLISHED_NONE,
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = inner,
    .coords = coords,
    .from_coords = from_coords,
    .dist = dist,
    .transport = transport,
    .log_density = log_density,
    .jacobi = jacobi,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
    .radial_accept = radial_accept,
};
