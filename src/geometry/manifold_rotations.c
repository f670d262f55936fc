/* Rotations of the plane and of space: orthogonal matrices with determinant 1.
 *
 * n = 3: metric tr(U'V)/8, so distances are half the angle and curvature is 1: unit quaternions up to sign, real projective space
 * (inst/proofs/geometry.md, section 4). R's rotations(3) multiplies this metric by 4. n = 2: tr(U'V)/2, a circle, distances are angles.
 * Coordinates of U at P are those of P'U, the same at each P: half the rotation vector; the angle.
 *
 * All goes by quaternions of P'Q (of P'Q - I where that is small, so that near rotations keep their digits), no arccosine. Those of space
 * are made many at once (manifold_rotations_space.c). */
#include "linalg.h"
#include "manifold_rotations.h"

static int init(struct manifold *m)
{
    int n = m->param[0];
    if (n != 2 && n != 3)
        return STATUS_BAD_MANIFOLD;
    m->rows = m->cols = (size_t)n;
    m->ambient = m->rows * m->cols;
    m->dim = n == 2 ? 1 : 3;
    m->k_min = m->k_max = m->mean_curvature = n == 2 ? 0 : 1;
    m->inj = m->rho_max = n == 2 ? RIEMDP_PI : RIEMDP_PI / 2;
    /* a ball in which no two points are pi/2 apart is a sphere's */
    m->model = MODEL_SPHERE;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED |
               MANIFOLD_ORTHONORMAL | MANIFOLD_UNIFORM | MANIFOLD_KNG;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    (void)m;
    return 20 + la_symeig_work(4);
}

static double determinant(size_t n, const double *x)
{
    if (n == 2)
        return x[0] * x[3] - x[1] * x[2];
    return x[0] * (x[4] * x[8] - x[5] * x[7]) - x[3] * (x[1] * x[8] - x[2] * x[7]) + x[6] * (x[1] * x[5] - x[2] * x[4]);
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    size_t n = m->rows;
    (void)work;
    if (n == 3 && rotations_space_check(x, begin, end))
        return STATUS_OK;
    for (size_t i = begin; i < end; i++) {
        const double *r = at(x, i);
        if (!all_finite(m->ambient, r))
            return STATUS_NOT_FINITE;
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j <= k; j++)
                if (!(fabs(dot(n, r + j * n, r + k * n) - (j == k)) <= 2 * RIEMDP_TOL))
                    return STATUS_OFF_MANIFOLD;
        if (!(determinant(n, r) > 0))
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

/* out = p'u; out may not be either */
static void pull(size_t n, double *out, const double *p, const double *u)
{
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            out[j + k * n] = dot(n, p + j * n, u + k * n);
}

/* out = p a; out may be either */
static void push(size_t n, double *out, const double *p, const double *a)
{
    double made[9];
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            double s = 0;
            for (size_t j = 0; j < n; j++)
                s += p[i + j * n] * a[j + k * n];
            made[i + k * n] = s;
        }
    for (size_t j = 0; j < n * n; j++)
        out[j] = made[j];
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->rows;
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double a[9], s = 0;
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        pull(n, a, at(p, i), at(v, i));
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                s += square(0.5 * (a[j + k * n] + a[k + j * n]));
        if (!(sqrt(s) <= 8 * RIEMDP_TOL * (1 + norm2(m->ambient, at(v, i))))) /* a point may be off by 2 an entry */
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

/* the coordinates of a skew matrix, or of the skew part of any; and back */
static void from_skew(size_t n, double *c, const double *a)
{
    if (n == 2) {
        c[0] = 0.5 * (a[1] - a[2]);
        return;
    }
    double x = 0.25 * (a[5] - a[7]), y = 0.25 * (a[6] - a[2]), z = 0.25 * (a[1] - a[3]);
    c[0] = x;
    c[1] = y;
    c[2] = z;
}

static void to_skew(size_t n, double *a, const double *c)
{
    if (n == 2) {
        a[1] = c[0];
        a[2] = -c[0];
        a[0] = a[3] = 0;
        return;
    }
    a[0] = a[4] = a[8] = 0;
    a[5] = 2 * c[0];
    a[6] = 2 * c[1];
    a[1] = 2 * c[2];
    a[7] = -a[5];
    a[2] = -a[6];
    a[3] = -a[1];
}

/* (cos, sin) of half the angle of the turn of the plane that leads from p to q */
static void between(double *h, const double *p, const double *q)
{
    double d[4], e[4];
    for (size_t j = 0; j < 4; j++)
        d[j] = q[j] - p[j];
    pull(2, e, p, d);
    double angle = 0.5 * atan2(e[1] - e[2], 2 + e[0] + e[3]);
    h[0] = cos(angle);
    h[1] = sin(angle);
}

/* I + out is the rotation of the quaternion (w, v) */
static void turn_by(size_t n, double *out, double w, const double *v)
{
    if (n == 2) {
        out[1] = 2 * w * v[2];
        out[2] = -out[1];
        out[0] = out[3] = -2 * v[2] * v[2];
        return;
    }
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < 3; j++)
            out[j + 3 * k] = 2 * v[j] * v[k];
    double vv = 2 * dot(3, v, v), x = 2 * w * v[0], y = 2 * w * v[1], z = 2 * w * v[2];
    out[0] -= vv;
    out[4] -= vv;
    out[8] -= vv;
    out[5] += x;
    out[7] -= x;
    out[6] += y;
    out[2] -= y;
    out[1] += z;
    out[3] -= z;
}

/* p (I + e), and one Newton step to the polar factor */
static void move(size_t n, double *out, const double *p, const double *e)
{
    double y[9], g[9];
    push(n, y, p, e);
    for (size_t j = 0; j < n * n; j++)
        y[j] += p[j];
    pull(n, g, y, y);
    for (size_t j = 0; j < n * n; j++)
        g[j] *= -0.5;
    for (size_t j = 0; j < n; j++)
        g[j * (n + 1)] += 1.5;
    push(n, out, y, g);
}

/* The nearest rotation, of the leading eigenvector of Davenport's matrix: no other is as near unless its largest eigenvalue is double */
static int project_space(double *out, const double *x, double *work)
{
    double *a = work, *s = a + 16, e[9];
    double big = 0;
    for (size_t j = 0; j < 9; j++)
        if (fabs(x[j]) > big)
            big = fabs(x[j]);
    if (!(big > 0))
        return STATUS_OFF_MANIFOLD;
    for (size_t j = 0; j < 9; j++)
        e[j] = x[j] / big;
    const double w[3] = {e[5] - e[7], e[6] - e[2], e[1] - e[3]}, both[3] = {e[5] + e[7], e[6] + e[2], e[1] + e[3]};
    a[0] = e[0] + e[4] + e[8];
    for (size_t j = 0; j < 3; j++) {
        a[j + 1] = a[4 * (j + 1)] = w[j];
        for (size_t k = 0; k < 3; k++)
            a[j + 1 + 4 * (k + 1)] = j == k ? 2 * e[4 * j] - a[0] : both[3 - j - k];
    }
    int status = la_symeig(4, a, s, 1, work + 20);
    if (status != STATUS_OK)
        return status;
    if (!(s[3] - s[2] > 8 * RIEMDP_EPS * s[3]))
        return STATUS_OFF_MANIFOLD;
    const double *q = a + 12;
    double unit[9];
    turn_by(3, e, q[0], q + 1);
    for (size_t j = 0; j < 9; j++)
        unit[j] = j % 4 == 0;
    move(3, out, unit, e);
    return STATUS_OK;
}

static int project_plane(double *out, const double *x)
{
    double big = fmax(fmax(fabs(x[0]), fabs(x[1])), fmax(fabs(x[2]), fabs(x[3])));
    double c = big > 0 ? x[0] / big + x[3] / big : 0, s = big > 0 ? x[1] / big - x[2] / big : 0, size = sqrt(c * c + s * s);
    if (!(size > 4 * RIEMDP_EPS))
        return STATUS_OFF_MANIFOLD;
    out[0] = out[3] = c / size;
    out[1] = s / size;
    out[2] = -out[1];
    return STATUS_OK;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        double *o = out + i * m->ambient;
        status = m->rows == 2 ? project_plane(o, at(x, i)) : project_space(o, at(x, i), work);
    }
    return status;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double a[9], c[3];
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        pull(m->rows, a, at(p, i), at(v, i));
        from_skew(m->rows, c, a);
        if (!all_finite(m->dim, c))
            return STATUS_NOT_FINITE;
        to_skew(m->rows, a, c);
        push(m->rows, out + i * m->ambient, at(p, i), a);
    }
    return STATUS_OK;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double a[9];
        pull(m->rows, a, at(p, i), at(v, i));
        from_skew(m->rows, out + i * m->dim, a);
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double skew[9];
        to_skew(m->rows, skew, at(a, i));
        push(m->rows, out + i * m->ambient, at(p, i), skew);
    }
    return STATUS_OK;
}

int rotations_exp_one(size_t n, double *out, const double *p, const double *v)
{
    double a[9], c[3] = {0, 0, 0}, e[9], t, s;
    pull(n, a, p, v);
    from_skew(n, c, a);
    if (n == 2) { /* half the angle */
        t = 0.5 * c[0];
        c[2] = sin(t);
    } else {
        t = norm2(3, c);
        s = sinc(t);
        for (size_t j = 0; j < 3; j++)
            c[j] *= s;
    }
    if (!(fabs(t) < INFINITY))
        return STATUS_NOT_FINITE;
    turn_by(n, e, cos(t), c);
    move(n, out, p, e);
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    if (m->rows == 3)
        return rotations_space_points(STRIDED_EXP, out, (struct points[]){p, v}, begin, end);
    int status = STATUS_OK;
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        status = rotations_exp_one(2, out + i * 4, at(p, i), at(v, i));
    return status;
}

/* The coordinate of log_p q in the plane; at half a turn, to rounding, there are two, and the answer is not OK. */
static int log_coord(double *c, const double *p, const double *q)
{
    double h[2];
    between(h, p, q);
    double half = atan2(fabs(h[1]), h[0]);
    *c = h[1] < 0 ? -2 * half : 2 * half;
    return h[0] > 4 * RIEMDP_EPS ? STATUS_OK : STATUS_CUT_LOCUS;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    if (m->rows == 3)
        return rotations_space_points(STRIDED_LOG, out, (struct points[]){p, q}, begin, end);
    for (size_t i = begin; i < end; i++) {
        double c, a[4];
        if (log_coord(&c, at(p, i), at(q, i)) != STATUS_OK)
            return STATUS_CUT_LOCUS;
        to_skew(2, a, &c);
        push(2, out + i * 4, at(p, i), a);
    }
    return STATUS_OK;
}

static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    double c, total[3] = {0, 0, 0}, a[9];
    int status = m->rows == 3 ? rotations_space_log_sum(total, sum_sq, p, x, w, begin, end) : STATUS_OK;
    (void)work;
    for (size_t i = begin; i < end && m->rows == 2 && status == STATUS_OK; i++) {
        double wi = w ? w[i] : 1;
        status = log_coord(&c, p, at(x, i));
        *sum_sq += wi * c * c;
        total[0] += wi * c;
    }
    if (status != STATUS_OK)
        return status;
    to_skew(m->rows, a, total);
    push(m->rows, a, p, a);
    for (size_t j = 0; j < m->ambient; j++)
        sum[j] += a[j];
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    if (m->rows == 3)
        return rotations_space_points(STRIDED_DIST, out, (struct points[]){p, q}, begin, end);
    for (size_t i = begin; i < end; i++) {
        double h[2];
        between(h, at(p, i), at(q, i));
        out[i] = 2 * atan2(fabs(h[1]), h[0]);
    }
    return STATUS_OK;
}

/* Seen from the moving rotation a vector turns back by half the angle (inst/proofs/geometry.md, section 4): its coordinates x become
 * w x - v x x + v (v'x)/(1 + w), (w, v) the quaternion of the way. In the plane there is nothing to turn. */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    (void)work;
    if (m->rows == 3)
        return rotations_space_points(STRIDED_TRANSPORT, out, (struct points[]){p, q, v}, begin, end);
    for (size_t i = begin; i < end; i++) {
        double c, a[4];
        if (log_coord(&c, at(p, i), at(q, i)) != STATUS_OK)
            return STATUS_CUT_LOCUS;
        pull(2, a, at(p, i), at(v, i));
        from_skew(2, &c, a);
        to_skew(2, a, &c);
        push(2, out + i * 4, at(q, i), a);
    }
    return STATUS_OK;
}

static int strided(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate,
                   const struct strided *in, size_t n, double *work)
{
    (void)work;
    return m->rows == 3 ? rotations_space_run(op, out, op == STRIDED_DIST ? 1 : record, coordinate, in, 1, n) : STATUS_UNSUPPORTED;
}

/* |v|: the surrounding space's length of v over this, squared, is 2 or 8 */
static double length_of(manifold_t m, const double *v)
{
    return norm2(m->ambient, v) / (m->rows == 2 ? RIEMDP_SQRT2 : 2 * RIEMDP_SQRT2);
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = dot(m->ambient, at(u, i), at(v, i)) / (m->rows == 2 ? 2 : 8);
    return STATUS_OK;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        double t = length_of(m, at(v, i));
        out[i] = m->rows == 2 ? 0 : 2 * (t < 1 ? log_sinc(t) : log(fabs(sin(t) / t)));
    }
    return STATUS_OK;
}

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        const double *w = at(v, i), *e = at(u, i);
        double vv = dot(n, w, w), s = *at(x, i), t = m->rows == 2 ? 0 : s * length_of(m, w);
        double along = vv > 0 ? dot(n, w, e) / vv : 0;
        manifold_constant_jacobi(n, along, w, e, cos(t), s, s * sinc(t), out_p + i * n, out_v + i * n);
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = j % (m->rows + 1) == 0;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double a[9];
        pull(m->rows, a, base, at(x, i));
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = a[j];
    }
    return STATUS_OK;
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        push(m->rows, out + i * m->ambient, base, at(x, i));
    return STATUS_OK;
}

static void radial(manifold_t m, double rho, double *log_area, double *slope)
{
    *log_area = m->rows == 2 ? 0 : 2 * log(sin(rho));
    *slope = m->rows == 2 ? 0 : 2 / tan(rho);
}

/* further out points are met again on a shorter way */
static double radial_accept(manifold_t m, const double *a, double rho, double *work)
{
    (void)a, (void)work;
    return rho < m->rho_max ? 0 : -INFINITY;
}

const struct manifold_ops manifold_rotations = {
    .name = "rotations",
    .family = "rotations",
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
    .log_sum = log_sum,
    .strided = strided,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = radial,
    .radial_accept = radial_accept,
};
