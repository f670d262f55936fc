/* Stiefel manifold of n x p matrices with orthonormal columns, in the Euclidean metric tr(U'V) and in the canonical
 * metric tr(U'(I - WW'/2)V).
 *
 * One path for both: a tangent vector is U = W A + Q R with A = W'U skew, Q an n x r complement, r = min(p, n - p), and
 * with c = 2 (Euclidean) or 1 (canonical)
 *     exp_W(U) = [W Q] exp(X) [I; 0] exp((1 - c) A),  X = [c A, -R'; R, 0],  |U|^2 = c/2 |A|^2 + |R|^2
 * (Edelman, Arias and Smith 1998, doi:10.1137/S0895479895290954; Zimmermann and Hueper 2022, doi:10.1137/21M1425426).
 * H, the Householder factor of W, takes W to [I; 0] and tangent vectors to [A; B]; a second one takes B to R. Points
 * are kept as increments over W, so that near ones keep their digits. */
#include "manifold_stiefel.h"
#include "tall.h"

static size_t work_size(manifold_t m)
{
    struct stiefel_frame f;
    return stiefel_lay_out(m, &f, NULL) + m->ambient; /* log_sum: a sum */
}

/* proven in inst/proofs/geometry.md, section 2 (the injectivity radius: a lower bound); p > 1 */
static void bound_curvature(struct manifold *m, int n, int p, double c)
{
    m->k_min = c == 2 ? -0.5 : 0;
    m->k_max = c == 2 ? 1 : 1.25;
    m->inj = c == 2 ? RIEMDP_PI : 2 * RIEMDP_PI / sqrt(5);
    if (p == n || (p == n - 1 && c == 1)) { /* rotations with a bi-invariant metric, |A|^2 = c/2 tr(A'A) */
        m->k_min = 0;
        m->k_max = (n == 3 ? 0.25 : 0.5) / c;
        m->inj = RIEMDP_PI * sqrt(c);
    } else if (n == 3) { /* p = 2, Euclidean: a Berger sphere over +-1 */
        m->k_max = 0.5;
    }
    if (m->dim == 1)
        m->k_min = m->k_max = 0;
}

/* Upper bound of the diameter: some rotation of span[W, Y], of dimension k <= min(2p, n), takes W to Y; its
 * logarithm has floor(k/2) angles <= pi and canonical length <= pi sqrt(floor(k/2)); Euclidean lengths are at most
 * sqrt 2 times as long. */
static double longest_way(int n, int p, double c)
{
    double planes = 2 * p <= n ? p : n / 2;
    return RIEMDP_PI * sqrt(planes * c);
}

static int init_data(struct manifold *m, double c)
{
    int n = m->param[0], p = m->param[1];
    m->weight = c;
    /* O(1) is two points */
    if (p < 1 || p > n || n < 2 || (double)n * p > 1e7)
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)n;
    m->cols = (size_t)p;
    m->ambient = m->rows * m->cols;
    m->dim = m->ambient - m->cols * (m->cols + 1) / 2;
    m->model = p == 1 ? MODEL_SPHERE : c == 2 ? MODEL_FRAMES_EUCLIDEAN : MODEL_FRAMES;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_EMBEDDED | MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM;
    if (p == 1) {
        m->k_min = m->k_max = n == 2 ? 0 : 1;
        m->inj = m->rho_max = RIEMDP_PI;
        m->flags |= MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC;
    } else {
        bound_curvature(m, n, p, c);
        m->rho_max = p == n ? INFINITY : longest_way(n, p, c); /* O(n) has two components */
    }
    return STATUS_OK;
}

static int init_euclidean(struct manifold *m)
{
    return init_data(m, 2);
}

static int init_canonical(struct manifold *m)
{
    return init_data(m, 1);
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, p = m->cols;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(x, i);
        if (!all_finite(n * p, w))
            return STATUS_NOT_FINITE;
        tall_gram(n, p, w, work);
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < p; j++)
                if (!(fabs(work[j + k * p] - (j == k)) <= 2 * RIEMDP_TOL))
                    return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, k = m->cols;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *u = at(v, i);
        if (!all_finite(n * k, u))
            return STATUS_NOT_FINITE;
        tall_cross(n, k, w, u, work);
        la_symmetrize(k, work);
        if (!(norm2(k * k, work) <= RIEMDP_TOL * (1 + norm2(n * k, u))))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

/* one Newton step towards the polar factor, Y (3 I - Y'Y) / 2; p * p + p doubles of work */
static void polish(size_t n, size_t p, double *y, double *work)
{
    double *g = work, *row = work + p * p;
    tall_gram(n, p, y, g);
    for (size_t j = 0; j < p * p; j++)
        g[j] *= -0.5;
    for (size_t j = 0; j < p; j++)
        g[j * (p + 1)] += 0.5;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            row[j] = y[i + j * n];
        for (size_t j = 0; j < p; j++)
            y[i + j * n] += dot(p, row, g + j * p);
    }
}

/* the singular values of y, divided by its largest entry, in a; work as la_svd() */
static int scaled_svd(size_t n, size_t p, const double *y, double *a, double *u, double *s, double *vt, double *work)
{
    double big = 0;
    if (!all_finite(n * p, y))
        return STATUS_NOT_FINITE;
    for (size_t j = 0; j < n * p; j++)
        if (fabs(y[j]) > big)
            big = fabs(y[j]);
    if (big == 0)
        return STATUS_OFF_MANIFOLD;
    for (size_t j = 0; j < n * p; j++)
        a[j] = y[j] / big;
    return la_svd(n, p, a, u, s, vt, work);
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, p = m->cols, np = n * p;
    double *a = work, *s = a + np, *vt = s + p, *u = vt + p * p, *rest = u + np;
    for (size_t i = begin; i < end; i++) {
        int status = scaled_svd(n, p, at(x, i), a, u, s, vt, rest);
        if (status != STATUS_OK)
            return status;
        if (!(s[p - 1] > (double)n * RIEMDP_EPS * s[0]))
            return STATUS_OFF_MANIFOLD;
        la_mul('N', 'N', n, p, p, u, n, vt, p, out + i * np, n);
        polish(n, p, out + i * np, vt);
    }
    return STATUS_OK;
}

/* out = v - w sym(w'v); out may be v */
static int to_tangent(size_t n, size_t p, double *out, const double *w, const double *v, double *work)
{
    tall_cross(n, p, w, v, work);
    la_symmetrize(p, work);
    if (!all_finite(p * p, work))
        return STATUS_NOT_FINITE;
    double *row = work + p * p;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++)
            row[j] = w[i + j * n];
        for (size_t j = 0; j < p; j++)
            out[i + j * n] = v[i + j * n] - dot(p, row, work + j * p);
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = to_tangent(m->rows, m->cols, out + i * m->ambient, at(p, i), at(v, i), work);
    return status;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    size_t n = m->rows, k = m->cols, np = n * k;
    double *a = work, *b = work + k * k;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(p, i), *x = at(u, i), *y = at(v, i);
        double s = dot(np, x, y);
        if (m->weight == 1) {
            tall_cross(n, k, w, x, a);
            tall_cross(n, k, w, y, b);
            s -= 0.5 * dot(k * k, a, b);
        }
        out[i] = s;
    }
    return STATUS_OK;
}

/* z = the vector of the frame whose reduction is `from` */
static int expand(struct stiefel_frame *f, const double *from, double *z)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    if (l <= p) {
        for (size_t j = 0; j < n * p; j++)
            z[j] = from[j];
        return STATUS_OK;
    }
    /* z as scratch first: the lower part has to be contiguous */
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < l; i++)
            z[i + j * l] = i < p ? from[p + i + j * q] : 0;
    int status = la_qr_apply('N', l, p, p, f->b, f->btau, z, f->rest);
    for (size_t j = p; j-- > 0;) {
        for (size_t i = l; i-- > 0;)
            z[p + i + j * n] = z[i + j * l];
        for (size_t i = 0; i < p; i++)
            z[i + j * n] = from[i + j * q];
    }
    return status;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    size_t np = m->ambient;
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        const double *w = at(p, i);
        double *o = out + i * np;
        if (!all_finite(np, at(v, i)))
            return STATUS_NOT_FINITE;
        status = stiefel_velocity(&f, w, at(v, i), fresh(p, i, begin));
        if (status == STATUS_OK)
            status = stiefel_geodesic(&f);
        if (status != STATUS_OK)
            return status;
        stiefel_advance(&f, f.now);
        status = expand(&f, f.now, f.z);
        if (status == STATUS_OK)
            status = stiefel_from_frame(&f, f.z);
        for (size_t j = 0; j < np; j++)
            o[j] = w[j] + f.z[j];
        polish(f.n, f.p, o, f.rest);
    }
    return status;
}

/* frame of p and reduced logarithm of q */
static int reach(struct stiefel_frame *f, const double *w, const double *y, int make)
{
    int status = make ? stiefel_factor(f, w) : STATUS_OK;
    if (!all_finite(f->n * f->p, y))
        return STATUS_NOT_FINITE;
    for (size_t j = 0; j < f->n * f->p; j++)
        f->z[j] = y[j] - w[j];
    if (status == STATUS_OK)
        status = stiefel_to_frame(f, f->z, f->z);
    if (status == STATUS_OK)
        status = stiefel_reduce(f, f->z, f->goal);
    return status == STATUS_OK ? stiefel_solve(f) : status;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    for (size_t i = begin; i < end; i++) {
        int status = reach(&f, at(p, i), at(q, i), fresh(p, i, begin));
        if (status == STATUS_OK)
            status = expand(&f, f.t, out + i * m->ambient);
        if (status == STATUS_OK)
            status = stiefel_from_frame(&f, out + i * m->ambient);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Sums in the frame of the base. The last two digits of single logarithms are not waited for. */
static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    double *total = work + stiefel_lay_out(m, &f, work);
    f.tol = 1e-14;
    for (size_t j = 0; j < m->ambient; j++)
        total[j] = 0;
    for (size_t i = begin; i < end; i++) {
        double wi = w ? w[i] : 1;
        int status = reach(&f, p, at(x, i), i == begin);
        if (status == STATUS_OK)
            status = expand(&f, f.t, f.z);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->ambient; j++)
            total[j] += wi * f.z[j];
        stiefel_pack(&f, f.t, f.here);
        *sum_sq += wi * dot(f.size, f.here, f.here);
    }
    int status = end > begin ? stiefel_from_frame(&f, total) : STATUS_OK;
    for (size_t j = 0; j < m->ambient; j++)
        sum[j] += total[j];
    return status;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    for (size_t i = begin; i < end; i++) {
        int status = reach(&f, at(p, i), at(q, i), fresh(p, i, begin));
        if (status != STATUS_OK)
            return status;
        stiefel_pack(&f, f.t, f.here);
        out[i] = norm2(f.size, f.here);
    }
    return STATUS_OK;
}

/* whether rows outside the span of R turn on the way: see transport() */
static int rows_turn(const struct stiefel_frame *f)
{
    return f->c == 1 && f->n - f->p > f->p;
}

/* the geodesic from w to y, and exp((1 - c/2) A) - I in f->f where rows outside turn by it */
static int prepare_transport(struct stiefel_frame *f, const double *w, const double *y, int make)
{
    size_t k = f->p;
    int status = reach(f, w, y, make);
    if (status == STATUS_OK)
        status = stiefel_geodesic(f);
    if (status != STATUS_OK || !rows_turn(f))
        return status;
    for (size_t j = 0; j < k; j++)
        for (size_t h = 0; h < k; h++)
            f->u[h + j * k] = 0.5 * f->t[h + j * f->q];
    return la_expm1(k, f->u, f->f, f->rest);
}

/* v to the end of the geodesic, in f->z */
static int carry(struct stiefel_frame *f, const double *v)
{
    size_t k = f->p, l = f->n - k, q = f->q;
    int status = stiefel_to_frame(f, v, f->z);
    if (status == STATUS_OK)
        status = stiefel_split(f, f->z, f->res);
    if (status != STATUS_OK)
        return status;
    stiefel_skew_top(q, k, f->res);
    stiefel_transport_flow(f, 1, 1e-17, f->res);
    la_mul('N', 'N', q, k, q, f->e, q, f->res, q, f->now, q);
    for (size_t j = 0; j < q * k; j++)
        f->now[j] += f->res[j];
    stiefel_turn(f, q, f->now, f->u);
    if (rows_turn(f)) {
        la_mul('N', 'N', l, k, k, f->low, l, f->f, k, f->z, l);
        for (size_t j = 0; j < l * k; j++)
            f->low[j] += f->z[j];
    }
    status = stiefel_join(f, f->now, f->z);
    return status == STATUS_OK ? stiefel_from_frame(f, f->z) : status;
}

/* The part of the lower rows outside the span of R obeys b' = c/2 b A in the moving frame: at the end it has turned by
 * exp((1 - c/2) A), which is the identity in the Euclidean metric. */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    for (size_t i = begin; i < end; i++) {
        int status = STATUS_OK;
        if (fresh(p, i, begin) || fresh(q, i, begin))
            status = prepare_transport(&f, at(p, i), at(q, i), fresh(p, i, begin));
        if (status == STATUS_OK)
            status = carry(&f, at(v, i));
        if (status == STATUS_OK)
            status = to_tangent(f.n, f.p, out + i * m->ambient, at(q, i), f.z, f.rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* sqrt(c) times the entries of A below the diagonal by columns, then B by columns */
static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    double s = sqrt(f.c);
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? stiefel_factor(&f, at(p, i)) : STATUS_OK;
        if (status == STATUS_OK)
            status = stiefel_to_frame(&f, at(v, i), f.z);
        if (status != STATUS_OK)
            return status;
        double *o = out + i * m->dim;
        for (size_t k = 0; k < f.p; k++)
            for (size_t j = k + 1; j < f.p; j++)
                *o++ = 0.5 * s * (f.z[j + k * f.n] - f.z[k + j * f.n]);
        for (size_t k = 0; k < f.p; k++)
            for (size_t j = f.p; j < f.n; j++)
                *o++ = f.z[j + k * f.n];
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    double s = 1 / sqrt(f.c);
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? stiefel_factor(&f, at(p, i)) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
        const double *from = at(a, i);
        for (size_t k = 0; k < f.p; k++) {
            f.z[k + k * f.n] = 0;
            for (size_t j = k + 1; j < f.p; j++) {
                double t = s * *from++;
                f.z[j + k * f.n] = t;
                f.z[k + j * f.n] = -t;
            }
        }
        for (size_t k = 0; k < f.p; k++)
            for (size_t j = f.p; j < f.n; j++)
                f.z[j + k * f.n] = *from++;
        status = stiefel_from_frame(&f, f.z);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = f.z[j];
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t k = 0; k < m->cols; k++)
        for (size_t j = 0; j < m->rows; j++)
            out[j + k * m->rows] = j == k;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    int status = stiefel_factor(&f, base);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = stiefel_to_frame(&f, at(x, i), out + i * m->ambient);
    return status;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    int status = stiefel_factor(&f, base);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = at(x, i)[j];
        status = stiefel_from_frame(&f, out + i * m->ambient);
    }
    return status;
}

/* ---- rotations of four dimensions and more: the frames of p = n with determinant 1 ------------------------------------- */

static int init_rotations(struct manifold *m)
{
    m->param[1] = m->param[0];
    int status = m->param[0] < 4 ? STATUS_BAD_MANIFOLD : init_data(m, 1);
    m->rho_max = longest_way(m->param[0], m->param[0], 1);
    m->flags |= MANIFOLD_SYMMETRIC;
    return status;
}

static int check_rotation(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    int status = check_point(m, x, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        for (size_t j = 0; j < m->ambient; j++)
            work[j] = at(x, i)[j];
        status = la_det_positive(m->rows, work, work + m->ambient) ? STATUS_OK : STATUS_OFF_MANIFOLD;
    }
    return status;
}

/* the polar factor; where it is no rotation, with the direction of the smallest singular value turned round */
static int project_rotation(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    size_t n = m->rows, nn = n * n;
    double *a = work, *s = a + nn, *vt = s + n, *u = vt + nn, *rest = u + nn;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * nn;
        int status = scaled_svd(n, n, at(x, i), a, u, s, vt, rest);
        if (status != STATUS_OK)
            return status;
        la_mul_square('N', 'N', n, u, vt, o);
        for (size_t j = 0; j < nn; j++)
            a[j] = o[j];
        int positive = la_det_positive(n, a, rest);
        if (!(s[n - 2] + (positive ? s[n - 1] : -s[n - 1]) > (double)n * RIEMDP_EPS * s[0]))
            return STATUS_OFF_MANIFOLD;
        for (size_t j = 0; j < n && !positive; j++)
            u[j + (n - 1) * n] *= -1;
        la_mul_square('N', 'N', n, u, vt, o);
        polish(n, n, o, vt);
    }
    return STATUS_OK;
}

#define STIEFEL_OPERATIONS                                                                                             \
    .work = work_size, .check_tangent = check_tangent, .project_tangent = project_tangent, .exp = exp_map,               \
    .log = log_map, .inner = inner, .coords = coords, .from_coords = from_coords, .dist = dist,                         \
    .transport = transport, .log_density = stiefel_log_density, .exp_adjoint = stiefel_exp_adjoint, .log_sum = log_sum, \
    .origin = origin, .to_origin = to_origin, .from_origin = from_origin

const struct manifold_ops manifold_stiefel_euclidean = {
    .name = "stiefel_euclidean",
    .family = "stiefel",
    .parameters = 2,
    .init = init_euclidean,
    .check_point = check_point,
    .project = project,
    STIEFEL_OPERATIONS,
};

const struct manifold_ops manifold_stiefel_canonical = {
    .name = "stiefel_canonical",
    .family = "stiefel",
    .parameters = 2,
    .init = init_canonical,
    .check_point = check_point,
    .project = project,
    STIEFEL_OPERATIONS,
};

const struct manifold_ops manifold_rotations_frames = {
    .name = "rotations_frames",
    .family = "rotations",
    .init = init_rotations,
    .check_point = check_rotation,
    .project = project_rotation,
    STIEFEL_OPERATIONS,
};
