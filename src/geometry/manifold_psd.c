/* Positive semidefinite n x n matrices of rank r as n x r factors Y, S = YY', modulo orthogonal matrices of the right side, with the
 * Bures-Wasserstein metric: that of the flat space of factors. Tangents V at X have a symmetric X'V (inst/proofs/geometry.md, section
 * 11). */
#include "manifold.h"
#include "linalg.h"

/* least over largest squared singular value: the rank is r as far as doubles tell */
static const double LEAST = 1e-12;
/* sizes whose squares doubles hold */
static const double LEAST_SIZE = 1e-70, MOST_SIZE = 1e70;

static int init(struct manifold *m)
{
    if (m->param[1] >= m->param[0])
        return STATUS_BAD_MANIFOLD;
    m->rows = (size_t)m->param[0];
    m->cols = (size_t)m->param[1];
    m->ambient = m->rows * m->cols;
    m->dim = m->ambient - m->cols * (m->cols - 1) / 2;
    m->k_min = 0;
    m->k_max = m->cols == 1 ? 0 : INFINITY;
    m->inj = 0; /* depends on the point: its least singular value */
    m->rho_max = INFINITY;
    m->model = MODEL_NONE;
    m->flags = MANIFOLD_FORMS;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    size_t r = m->cols, a = la_symeig_work(r), b = la_polar_work(r);
    return 10 * m->ambient + 6 * r * r + 2 * r + (a > b ? a : b);
}

/* X'Y */
static void gram(manifold_t m, const double *x, const double *y, double *g)
{
    la_mul('T', 'N', m->cols, m->cols, m->rows, x, m->rows, y, m->rows, g, m->cols);
}

/* squared singular values of X, ascending, in w; the space of g, r x r, has its right singular vectors with `vectors` */
static int spectrum(manifold_t m, const double *x, double *g, double *w, int vectors, double *work)
{
    gram(m, x, x, g);
    return la_symeig(m->cols, g, w, vectors, work);
}

static int full_rank(manifold_t m, const double *x, double share, double *work)
{
    size_t r = m->cols;
    double *g = work, *w = g + r * r, *rest = w + r, most = 0;
    for (size_t j = 0; j < m->ambient; j++)
        most = fabs(x[j]) > most ? fabs(x[j]) : most;
    if (!(most < MOST_SIZE && most > LEAST_SIZE) || spectrum(m, x, g, w, 0, rest) != STATUS_OK)
        return 0;
    return w[0] >= share * LEAST * w[r - 1];
}

/* y += s X Omega for the skew Omega that solves A Omega + Omega A = B - B', A = X'X, in A's own axes; b is destroyed */
static int add_turned(manifold_t m, double *y, double s, const double *x, double *b, double *work)
{
    size_t r = m->cols;
    double *v = work, *w = v + r * r, *c = w + r, *rest = c + r * r;
    if (r == 1)
        return STATUS_OK;
    int status = spectrum(m, x, v, w, 1, rest);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j <= i; j++) {
            double d = b[i + r * j] - b[j + r * i];
            b[i + r * j] = d;
            b[j + r * i] = -d;
        }
    la_mul('N', 'N', r, r, r, b, r, v, r, c, r);
    la_mul('T', 'N', r, r, r, v, r, c, r, b, r);
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++)
            b[i + r * j] /= w[i] + w[j];
    la_mul('N', 'T', r, r, r, b, r, v, r, c, r);
    la_mul('N', 'N', r, r, r, v, r, c, r, b, r);
    for (size_t j = 0; j < r; j++)
        for (size_t l = 0; l < r; l++)
            for (size_t i = 0; i < m->rows; i++)
                y[i + m->rows * j] += s * x[i + m->rows * l] * b[l + r * j];
    return STATUS_OK;
}

/* takes the vertical part off v */
static int make_horizontal(manifold_t m, const double *x, double *v, double *work)
{
    gram(m, x, v, work);
    return add_turned(m, v, -1, x, work, work + m->cols * m->cols);
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++) {
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        if (!full_rank(m, at(x, i), 0.5, work))
            return STATUS_OUT_OF_REACH;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t r = m->cols;
    for (size_t i = begin; i < end; i++) {
        double unit = norm2(m->ambient, at(p, i)), s = norm2(m->ambient, at(v, i)), off = 0;
        if (!(s < INFINITY))
            return STATUS_NOT_FINITE;
        gram(m, at(p, i), at(v, i), work);
        for (size_t a = 0; a < r; a++)
            for (size_t b = 0; b < a; b++)
                off = fmax(off, fabs(work[a + r * b] - work[b + r * a]));
        if (off > RIEMDP_TOL * unit * (unit + s))
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    int status = check_point(m, x, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = at(x, i)[j];
    return status;
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
        int status = make_horizontal(m, at(p, i), work, work + n);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = work[j];
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    for (size_t i = begin; i < end; i++) {
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = at(p, i)[j] + at(v, i)[j];
        if (!full_rank(m, out + i * n, 1, work))
            return STATUS_DOMAIN_EXCEEDED;
    }
    return STATUS_OK;
}

/* In h the horizontal part of YQ - X for the orthogonal Q, by columns, that brings y nearest: the polar factor of Y'X, unique where
 * the least singular value of X'Y isn't 0, of which *gap is a measure. */
static int horizontal(manifold_t m, double *h, const double *x, const double *y, double *q, double *gap, double *work)
{
    size_t r = m->cols, n = m->ambient;
    double *g = work, *c = g + r * r, *w = c + r * r, *rest = w + r;
    gram(m, y, x, g);
    int status = la_polar(r, g, q, rest);
    if (status != STATUS_OK)
        return status;
    la_mul('N', 'N', m->rows, r, r, y, m->rows, q, r, h, m->rows);
    gram(m, x, h, c); /* symmetric, its eigenvalues are the singular values */
    la_symmetrize(r, c);
    status = la_symeig(r, c, w, 0, rest);
    *gap = w[0];
    for (size_t j = 0; j < n; j++)
        h[j] -= x[j];
    return status == STATUS_OK ? make_horizontal(m, x, h, work) : status;
}

static double least_gap(manifold_t m, const double *x, const double *y)
{
    return 1e-12 * norm2(m->ambient, x) * norm2(m->ambient, y);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    size_t n = m->ambient;
    double *h = work, *turn = h + n, *rest = turn + m->cols * m->cols, gap;
    for (size_t i = begin; i < end; i++) {
        int status = horizontal(m, h, at(p, i), at(q, i), turn, &gap, rest);
        if (status != STATUS_OK)
            return status;
        if (!(gap >= least_gap(m, at(p, i), at(q, i))))
            return STATUS_CUT_LOCUS;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = h[j];
    }
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    double *h = work, *turn = h + m->ambient, *rest = turn + m->cols * m->cols, gap;
    for (size_t i = begin; i < end; i++) {
        int status = horizontal(m, h, at(p, i), at(q, i), turn, &gap, rest);
        if (status != STATUS_OK)
            return status;
        out[i] = norm2(m->ambient, h);
    }
    return STATUS_OK;
}

/* The derivative of a horizontal field u parallel along g = x + t w: g Omega, A Omega + Omega A = -(w'u - u'w), A = g'g */
static int parallel_rate(manifold_t m, double t, const double *x, const double *w, const double *u, double *rate, double *g)
{
    double *rest = g + m->ambient;
    for (size_t j = 0; j < m->ambient; j++) {
        g[j] = x[j] + t * w[j];
        rate[j] = 0;
    }
    gram(m, w, u, rest);
    return add_turned(m, rate, -1, g, rest, rest + m->cols * m->cols);
}

/* the least squared singular value of the way's points, at 33 of them, to the root */
static double least_value(manifold_t m, const double *x, const double *w, double *g)
{
    size_t r = m->cols;
    double least = INFINITY, *a = g + m->ambient, *value = a + r * r;
    for (size_t l = 0; l <= 32; l++) {
        for (size_t j = 0; j < m->ambient; j++)
            g[j] = x[j] + (double)l / 32 * w[j];
        if (spectrum(m, g, a, value, 0, value + r) == STATUS_OK)
            least = fmin(least, value[0]);
    }
    return sqrt(fmax(least, LEAST * dot(m->ambient, x, x)));
}

/* steps in the proportion of the length to the least singular value */
static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    size_t n = m->ambient, r = m->cols;
    double *turn = work, *w = turn + r * r, *u = w + n, *o = u + n, *rest = o + n, gap;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i);
        double size = norm2(n, at(v, i));
        int status = horizontal(m, w, x, at(q, i), turn, &gap, rest);
        if (status == STATUS_OK && !(gap >= least_gap(m, x, at(q, i))))
            status = STATUS_CUT_LOCUS;
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < n; j++)
            u[j] = at(v, i)[j];
        double steps = 20 + ceil(60 * norm2(n, w) / least_value(m, x, w, rest));
        status = manifold_integrate(m, parallel_rate, 1, steps, x, w, u, rest);
        if (status != STATUS_OK)
            return status;
        la_mul('N', 'T', m->rows, r, r, u, m->rows, turn, r, o, m->rows);
        status = make_horizontal(m, at(q, i), o, rest);
        if (status != STATUS_OK)
            return status;
        double s = norm2(n, o);
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = s > 0 ? o[j] * (size / s) : 0;
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = j % m->rows == j / m->rows;
}

/* The least singular value l_r, and the root of l_r^2 + l_(r-1)^2, are distances from matrices of lower rank: they fall by the radius
 * at most. The first is the injectivity radius, curvature is at most three over the square of the second (section 11). */
static void ball_bounds(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work)
{
    size_t r = m->cols;
    double *g = work, *w = g + r * r;
    *inj = 0;
    *k_max = r == 1 ? 0 : INFINITY;
    if (spectrum(m, centre, g, w, 0, w + r) != STATUS_OK)
        return;
    double slack = 1e-14 * (double)r * w[r - 1], least = sqrt(fmax(w[0] - slack, 0)) * (1 - 1e-14) - radius;
    *inj = least > 0 ? least * (1 - 1e-12) : 0;
    double two = r == 1 ? 0 : sqrt(fmax(w[0] + w[1] - slack, 0)) * (1 - 1e-14) - radius;
    if (r > 1 && least > 0)
        *k_max = 3 / square(two) * (1 + 1e-12);
}

const struct manifold_ops manifold_psd = {
    .name = "psd",
    .family = "psd",
    .parameters = 2,
    .published = PUBLISHED_NONE,
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = manifold_ambient_inner,
    .dist = dist,
    .transport = transport,
    .ball_bounds = ball_bounds,
    .origin = origin,
};
