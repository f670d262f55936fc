/* Kendall's shapes of k landmarks in space: centred k x 3 matrices of size one modulo rotations of the right side, where the landmarks
 * don't all lie on a line. A record is the matrix by columns; raw landmarks are centred and scaled on entry. Tangents V at X are
 * horizontal: centred, <X, V> = 0 and X'V symmetric (inst/proofs/geometry.md, section 6). Sizes and shapes, of k x 3 and k x 2
 * matrices, are the same without the scaling and without <X, V> = 0 (section 10). */
#include "manifold.h"
#include "linalg.h"

/* 1 - l1^2 below this: the landmarks lie on a line as far as doubles tell */
static const double LEAST = 1e-12;
/* sizes whose squares doubles hold */
static const double LEAST_SIZE = 1e-70, MOST_SIZE = 1e70;

static int sized(manifold_t m)
{
    return m->ops != &manifold_kendall_space;
}

static int init(struct manifold *m)
{
    m->cols = m->ops == &manifold_size_plane ? 2 : 3;
    if (m->param[0] <= (int)m->cols)
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)m->param[0];
    m->ambient = m->cols * m->rows;
    m->dim = m->ambient - (m->cols == 2 ? 3 : sized(m) ? 6 : 7);
    m->k_min = sized(m) ? 0 : 1;
    m->k_max = INFINITY;
    m->inj = 0; /* depends on the point: its distance from the shapes on a line */
    m->rho_max = sized(m) ? INFINITY : RIEMDP_PI / 2;
    m->model = MODEL_NONE;
    m->flags = MANIFOLD_SCALED_ENTRY | MANIFOLD_FORMS;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    return 10 * m->ambient + la_symeig_work(4);
}

/* X'Y by columns, of c coordinates */
static void gram(size_t k, size_t c, const double *x, const double *y, double *g)
{
    for (size_t a = 0; a < c; a++)
        for (size_t b = 0; b < c; b++)
            g[a + c * b] = dot(k, x + a * k, y + b * k);
}

/* l2^2 + l3^2 for the singular values of X: the squared distance from those of rank one. In the plane turns leave 0 alone where it is:
 * |X|^2. Of size one it is the sine squared of a shape's distance from those on a line. */
static double off_line(size_t k, size_t c, const double *x, double *work)
{
    double g[9], w[3];
    if (c == 2)
        return dot(2 * k, x, x);
    gram(k, 3, x, x, g);
    double all = g[0] + g[4] + g[8];
    return la_symeig(3, g, w, 0, work) == STATUS_OK ? all - fmax(w[0], fmax(w[1], w[2])) : 0;
}

static void centre(size_t k, size_t c, double *x)
{
    for (size_t a = 0; a < c; a++) {
        double s = 0;
        for (size_t j = 0; j < k; j++)
            s += x[j + a * k];
        for (size_t j = 0; j < k; j++)
            x[j + a * k] -= s / (double)k;
    }
}

static int centred(size_t k, size_t c, const double *x, double tol)
{
    for (size_t a = 0; a < c; a++) {
        double s = 0;
        for (size_t j = 0; j < k; j++)
            s += x[j + a * k];
        if (!(fabs(s) <= tol * (double)k))
            return 0;
    }
    return 1;
}

/* o = (tr A - A)^-1 b for A = X'X: in the plane its third number; in space by cofactors of a positive definite matrix */
static void turn_of(size_t columns, const double *a, const double *b, double *o)
{
    if (columns == 2) {
        o[0] = o[1] = 0;
        o[2] = b[2] / (a[0] + a[3]);
        return;
    }
    double unit = 1 / (a[0] + a[4] + a[8]), s[9], e[3]; /* sixth powers of sizes are none of doubles' */
    for (size_t j = 0; j < 9; j++)
        s[j] = a[j] * unit;
    for (size_t j = 0; j < 3; j++)
        e[j] = b[j] * unit;
    a = s;
    b = e;
    double t = a[0] + a[4] + a[8], p = t - a[0], q = t - a[4], r = t - a[8], u = -a[1], v = -a[2], w = -a[5];
    double c0 = q * r - w * w, c1 = v * w - u * r, c2 = u * w - q * v;
    double d = p * c0 + u * c1 + v * c2;
    o[0] = (c0 * b[0] + c1 * b[1] + c2 * b[2]) / d;
    o[1] = (c1 * b[0] + (p * r - v * v) * b[1] + (u * v - p * w) * b[2]) / d;
    o[2] = (c2 * b[0] + (u * v - p * w) * b[1] + (p * q - u * u) * b[2]) / d;
}

/* the axis of G - G' */
static void axis_of(size_t c, const double *g, double *b)
{
    b[0] = c == 2 ? 0 : g[2 + 3 * 1] - g[1 + 3 * 2];
    b[1] = c == 2 ? 0 : g[0 + 3 * 2] - g[2 + 3 * 0];
    b[2] = g[1] - g[c];
}

/* y += s x Omega, each row's vector product with omega */
static void add_turned(size_t k, size_t columns, double *y, double s, const double *x, const double *o)
{
    for (size_t j = 0; j < k; j++) {
        double a = x[j], b = x[j + k], c = columns == 2 ? 0 : x[j + 2 * k];
        y[j] += s * (b * o[2] - c * o[1]);
        y[j + k] += s * (c * o[0] - a * o[2]);
        if (columns == 3)
            y[j + 2 * k] += s * (a * o[1] - b * o[0]);
    }
}

/* takes the vertical part X Omega off a centred v, of shapes the part along X as well */
static void make_horizontal(manifold_t m, const double *x, double *v)
{
    size_t k = m->rows, n = m->ambient;
    double a[9], g[9], b[3], o[3], s = sized(m) ? 0 : dot(n, x, v) / dot(n, x, x);
    for (size_t j = 0; j < n; j++)
        v[j] -= s * x[j];
    gram(k, m->cols, x, x, a);
    gram(k, m->cols, x, v, g);
    axis_of(m->cols, g, b);
    turn_of(m->cols, a, b, o);
    add_turned(k, m->cols, v, -1, x, o);
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++) {
        double s = dot(m->ambient, at(x, i), at(x, i)), unit = sized(m) ? sqrt(s) : 1;
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        if ((!sized(m) && fabs(s - 1) > 2 * RIEMDP_TOL) || !centred(m->rows, m->cols, at(x, i), RIEMDP_TOL * unit))
            return STATUS_OFF_MANIFOLD;
        if (!(off_line(m->rows, m->cols, at(x, i), work) >= 0.5 * LEAST * square(unit) && unit >= LEAST_SIZE))
            return STATUS_OUT_OF_REACH;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double g[9], b[3], s = norm2(m->ambient, at(v, i)), unit = sized(m) ? norm2(m->ambient, at(p, i)) : 1;
        double tol = RIEMDP_TOL * (unit + s);
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        gram(m->rows, m->cols, at(p, i), at(v, i), g);
        axis_of(m->cols, g, b);
        if (!centred(m->rows, m->cols, at(v, i), tol) || norm2(3, b) > tol * unit)
            return STATUS_NOT_TANGENT;
        if (!sized(m) && fabs(g[0] + g[4] + g[8]) > tol)
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

static double largest(size_t n, const double *u)
{
    double big = 0;
    for (size_t j = 0; j < n; j++)
        big = fabs(u[j]) > big ? fabs(u[j]) : big;
    return big;
}

/* o, centred; twice: the first mean carries the rounding of a large shift. Whether more than rounding of `big` is left. */
static int centre_twice(size_t k, size_t c, double *o, double big)
{
    centre(k, c, o);
    centre(k, c, o);
    return norm2(c * k, o) > 1e-12 * big;
}

static int bring_shape(manifold_t m, double *o, const double *u)
{
    size_t n = m->ambient;
    double big = largest(n, u);
    int ready = fabs(dot(n, u, u) - 1) < 4e-15 && centred(m->rows, m->cols, u, 1e-15);
    if (big == 0)
        return STATUS_ZERO_SIZE;
    for (size_t j = 0; j < n; j++)
        o[j] = ready ? u[j] : u[j] / big;
    if (ready)
        return STATUS_OK;
    if (!centre_twice(m->rows, m->cols, o, 1))
        return STATUS_ZERO_SIZE;
    double s = norm2(n, o);
    for (size_t j = 0; j < n; j++)
        o[j] /= s;
    return STATUS_OK;
}

static int bring_sized(manifold_t m, double *o, const double *u)
{
    size_t n = m->ambient;
    double big = largest(n, u);
    if (!(big < MOST_SIZE))
        return STATUS_OUT_OF_REACH;
    for (size_t j = 0; j < n; j++)
        o[j] = u[j];
    if (centred(m->rows, m->cols, u, 1e-15 * norm2(n, u)))
        return big == 0 ? STATUS_ZERO_SIZE : STATUS_OK;
    return centre_twice(m->rows, m->cols, o, big) ? STATUS_OK : STATUS_ZERO_SIZE;
}

/* Centred, and of shapes scaled to size one; what already is so to the last digits stays as it is. */
static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * m->ambient;
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        int status = sized(m) ? bring_sized(m, o, at(x, i)) : bring_shape(m, o, at(x, i));
        if (status != STATUS_OK)
            return status;
        double s = sized(m) ? norm2(m->ambient, o) : 1;
        if (!(off_line(m->rows, m->cols, o, work) >= LEAST * square(s) && s >= LEAST_SIZE))
            return STATUS_OUT_OF_REACH;
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(n, at(v, i)))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < n; j++)
            work[j] = at(v, i)[j];
        centre(m->rows, m->cols, work);
        make_horizontal(m, at(p, i), work);
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = work[j];
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *u = at(v, i);
        double *o = out + i * n, t = norm2(n, u), c = sized(m) ? 1 : cos(t), s = sized(m) ? 1 : sinc(t);
        for (size_t j = 0; j < n; j++)
            o[j] = c * x[j] + s * u[j];
        t = norm2(n, o);
        for (size_t j = 0; !sized(m) && j < n; j++)
            o[j] /= t;
        t = sized(m) ? t : 1;
        if (!(t < INFINITY && off_line(m->rows, m->cols, o, work) >= LEAST * square(t) && t >= LEAST_SIZE))
            return STATUS_DOMAIN_EXCEEDED;
    }
    return STATUS_OK;
}

/* The rotation, rows q_j -> R q_j, that brings y nearest to x, by columns in r. *gap: twice the sum of the last two singular values of
 * X'Y, the last with the sign of the determinant: 0 where there are several. In space by the largest eigenvalue of a matrix of
 * quaternions (Horn 1987, doi:10.1364/JOSAA.4.000629). */
static int nearest_turn(size_t k, size_t columns, const double *x, const double *y, double *r, double *gap, double *work)
{
    double s[9], n[16], w[4];
    gram(k, columns, y, x, s);
    if (columns == 2) {
        double along = s[0] + s[3], across = s[2] - s[1], h = hypot(along, across);
        *gap = 2 * h;
        r[0] = r[3] = h > 0 ? along / h : 1;
        r[1] = h > 0 ? across / h : 0;
        r[2] = -r[1];
        return STATUS_OK;
    }
    double xx = s[0], yx = s[1], zx = s[2], xy = s[3], yy = s[4], zy = s[5], xz = s[6], yz = s[7], zz = s[8];
    double full[16] = {xx + yy + zz, yz - zy, zx - xz, xy - yx, yz - zy, xx - yy - zz, xy + yx, zx + xz,
                       zx - xz, xy + yx, yy - xx - zz, yz + zy, xy - yx, zx + xz, yz + zy, zz - xx - yy};
    for (size_t j = 0; j < 16; j++)
        n[j] = full[j];
    int status = la_symeig(4, n, w, 1, work);
    if (status != STATUS_OK)
        return status;
    size_t top = w[3] >= w[0] ? 3 : 0, next = top == 3 ? 2 : 1;
    *gap = w[top] - w[next];
    const double *q = n + 4 * top;
    double a = q[0], b = q[1], c = q[2], d = q[3];
    double turn[9] = {a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c),
                      2 * (b * c - a * d), a * a - b * b + c * c - d * d, 2 * (c * d + a * b),
                      2 * (b * d + a * c), 2 * (c * d - a * b), a * a - b * b - c * c + d * d};
    for (size_t j = 0; j < 9; j++)
        r[j] = turn[j];
    return STATUS_OK;
}

/* rows turned by R, or back; o may be y */
static void turn_rows(size_t k, size_t c, double *o, const double *y, const double *r, int back)
{
    for (size_t j = 0; j < k; j++) {
        double u[3];
        for (size_t a = 0; a < c; a++)
            u[a] = y[j + a * k];
        for (size_t a = 0; a < c; a++) {
            double sum = 0;
            for (size_t b = 0; b < c; b++)
                sum += (back ? r[b + c * a] : r[a + c * b]) * u[b];
            o[j + a * k] = sum;
        }
    }
}

/* In h the horizontal part of y turned to x, of length sin d where |x| = 1, d with sizes; r and gap as above. What the rotation is off
 * by is vertical to first order, so that near coincidence all digits of differences stay. */
static int horizontal(manifold_t m, double *h, const double *x, const double *y, double *r, double *gap, double *d,
                      double *work)
{
    size_t k = m->rows, n = m->ambient;
    int status = nearest_turn(k, m->cols, x, y, r, gap, work);
    if (status != STATUS_OK)
        return status;
    turn_rows(k, m->cols, h, y, r, 0);
    double c = dot(n, x, h);
    for (size_t j = 0; j < n; j++)
        h[j] -= x[j];
    centre(k, m->cols, h); /* rounding of the turn */
    make_horizontal(m, x, h);
    *d = sized(m) ? norm2(n, h) : atan2(norm2(n, h), c);
    return STATUS_OK;
}

/* what `gap` is at least where the best rotation is one */
static double least_gap(manifold_t m, const double *x, const double *y)
{
    return 1e-8 * (sized(m) ? norm2(m->ambient, x) * norm2(m->ambient, y) : 1);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    double *h = work, *rest = h + n;
    for (size_t i = begin; i < end; i++) {
        double r[9], gap, d;
        int status = horizontal(m, h, at(p, i), at(q, i), r, &gap, &d, rest);
        if (status != STATUS_OK)
            return status;
        if (!(gap >= least_gap(m, at(p, i), at(q, i))))
            return STATUS_CUT_LOCUS;
        double s = norm2(n, h);
        s = s > 0 ? d / s : 0;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s * h[j];
    }
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    double *h = work, *rest = h + m->ambient, r[9], gap;
    for (size_t i = begin; i < end; i++) {
        int status = horizontal(m, h, at(p, i), at(q, i), r, &gap, out + i, rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* The derivative of a horizontal field u parallel along x cos t + w sin t, |w| = 1: -<u, T> g + g Omega with the velocity T and
 * (tr G - G) omega = -axis of T'u - u'T, G = g'g. With sizes along x + t w, and g Omega alone. */
static int parallel_rate(manifold_t m, double t, const double *x, const double *w, const double *u, double *rate, double *g)
{
    size_t k = m->rows, n = m->ambient;
    double *v = g + n, a[9], b[9], axis[3], o[3], c = cos(t), s = sin(t);
    for (size_t j = 0; j < n; j++) {
        g[j] = sized(m) ? x[j] + t * w[j] : c * x[j] + s * w[j];
        v[j] = sized(m) ? w[j] : c * w[j] - s * x[j];
    }
    gram(k, m->cols, g, g, a);
    gram(k, m->cols, v, u, b);
    axis_of(m->cols, b, axis);
    turn_of(m->cols, a, axis, o);
    c = sized(m) ? 0 : dot(n, u, v);
    for (size_t j = 0; j < n; j++)
        rate[j] = -c * g[j];
    add_turned(k, m->cols, rate, -1, g, o);
    return STATUS_OK;
}

/* the least distance of the way's points from what turns leave as it is, at 33 of them */
static double least_off(manifold_t m, double d, const double *x, const double *w, double *g)
{
    double least = INFINITY;
    for (size_t l = 0; l <= 32; l++) {
        double t = d * (double)l / 32, c = sized(m) ? 1 : cos(t), s = sized(m) ? t : sin(t);
        for (size_t j = 0; j < m->ambient; j++)
            g[j] = c * x[j] + s * w[j];
        least = fmin(least, off_line(m->rows, m->cols, g, g + m->ambient));
    }
    return sqrt(fmax(least, LEAST * dot(m->ambient, x, x)));
}

/* numbers of steps in the proportion of the length to the least distance from shapes on a line */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *w = work, *u = w + n, *rest = u + n;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i);
        double r[9], gap, d, size = norm2(n, at(v, i));
        int status = horizontal(m, w, x, at(q, i), r, &gap, &d, rest);
        if (status != STATUS_OK)
            return status;
        if (!(gap >= least_gap(m, x, at(q, i))))
            return STATUS_CUT_LOCUS;
        double s = norm2(n, w);
        for (size_t j = 0; j < n; j++) {
            w[j] = s > 0 ? w[j] / s : 0;
            u[j] = at(v, i)[j];
        }
        status = manifold_integrate(m, parallel_rate, d, 20 + ceil(60 * d / least_off(m, d, x, w, rest)), x, w, u, rest);
        if (status != STATUS_OK)
            return status;
        turn_rows(k, m->cols, u, u, r, 1);
        centre(k, m->cols, u);
        make_horizontal(m, at(q, i), u);
        s = norm2(n, u);
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s > 0 ? u[j] * (size / s) : 0;
    }
    return STATUS_OK;
}

/* The shape farthest from those on a line: orthogonal contrasts of the same length, of size one together */
static void origin(manifold_t m, double *out)
{
    size_t k = m->rows, c = m->cols;
    for (size_t a = 1; a <= c; a++)
        for (size_t j = 0; j < k; j++) {
            double s = 1 / sqrt((double)c * (double)a * (double)(a + 1));
            out[j + (a - 1) * k] = j < a ? s : j == a ? -(double)a * s : 0;
        }
}

/* The distance from the shapes on a line, of sine l2^2 + l3^2 to the square root, falls by the radius at most; curvature is at most 1
 * + 3/(l2^2 + l3^2), the injectivity radius that distance (inst/proofs/geometry.md, section 6). Rounded outwards. */
static void ball_bounds(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work)
{
    double off = off_line(m->rows, m->cols, centre, work), all = dot(m->ambient, centre, centre);
    off = sqrt(fmax(off - 1e-14 * all, 0));
    double least = (sized(m) ? off : asin(fmin(1, off))) * (1 - 1e-14) - radius;
    *inj = least > 0 ? least * (1 - 1e-12) : 0;
    *k_max = least > 0 ? (sized(m) ? 3 / square(least) : 1 + 3 / square(sin(least))) * (1 + 1e-12) : INFINITY;
}

#define SHAPES(name_, family_)                                                                                                          \
    {                                                                                                                                 \
        .name = name_, .family = family_, .published = PUBLISHED_NONE, .init = init, .work = work_size, .check_point = check_point,   \
        .check_tangent = check_tangent, .project = project, .project_tangent = project_tangent, .exp = exp_map, .log = log_map,       \
        .inner = manifold_ambient_inner, .dist = dist, .transport = transport, .ball_bounds = ball_bounds, .origin = origin           \
    }
const struct manifold_ops manifold_kendall_space = SHAPES("kendall_space", "kendall_space");
const struct manifold_ops manifold_size_plane = SHAPES("size_plane", "size_and_shape");
const struct manifold_ops manifold_size_space = SHAPES("size_space", "size_and_shape");
