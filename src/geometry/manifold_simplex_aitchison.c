/* Compositions, k positive parts that sum to 1, with Aitchison's metric: flat by isometric log-ratio coordinates in Helmert's basis
 * (Egozcue et al. 2003, doi:10.1023/A:1023818214614). Records are brought to the simplex on entry. */
#include "manifold_chart.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 2 || !(m->floor >= 0 && m->floor < 1))
        return STATUS_BAD_MANIFOLD;
    m->ambient = (size_t)m->param[0];
    m->dim = m->ambient - 1;
    m->flags = MANIFOLD_SCALED_ENTRY;
    chart_init(m);
    return STATUS_OK;
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double sum = 0;
        if (!all_finite(m->ambient, at(x, i)))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < m->ambient; j++) {
            if (!(at(x, i)[j] > 0))
                return STATUS_NOT_COMPOSITION;
            sum += at(x, i)[j];
        }
        if (!(fabs(sum - 1) <= RIEMDP_TOL))
            return STATUS_OFF_MANIFOLD;
    }
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        double sum = 0, size = 0;
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < m->ambient; j++) {
            sum += at(v, i)[j];
            size += fabs(at(v, i)[j]);
        }
        if (!(fabs(sum) <= RIEMDP_TOL * fmax(size, 1e-6))) /* differences of vectors of size one hold rounding */
            return STATUS_NOT_TANGENT;
    }
    return STATUS_OK;
}

/* Non-negative numbers: a zero counts as `floor` times the largest, other parts as they are (1e-300 times that at least), and all are
 * divided by their sum. So what is a point stays one. */
static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * m->ambient, most = 0, sum = 0;
        for (size_t j = 0; j < m->ambient; j++) {
            double t = at(x, i)[j];
            if (!(fabs(t) < INFINITY))
                return STATUS_NOT_FINITE;
            if (t < 0)
                return STATUS_NOT_COMPOSITION;
            most = fmax(most, t);
        }
        for (size_t j = 0; j < m->ambient; j++) {
            double t = at(x, i)[j];
            if (!(most > 0) || (t == 0 && m->floor == 0))
                return STATUS_NOT_COMPOSITION;
            o[j] = fmax(t > 0 ? t / most : m->floor, 1e-300);
            sum += o[j];
        }
        for (size_t j = 0; j < m->ambient; j++)
            o[j] /= sum;
    }
    return STATUS_OK;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        double sum = 0;
        if (!all_finite(m->ambient, at(v, i)))
            return STATUS_NOT_FINITE;
        for (size_t j = 0; j < m->ambient; j++)
            sum += at(v, i)[j];
        for (size_t j = 0; j < m->ambient; j++)
            out[i * m->ambient + j] = at(v, i)[j] - sum / (double)m->ambient;
    }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = 1 / (double)m->ambient;
}

/* a = H w: row i of H has i times 1/sqrt(i (i + 1)), then -i/sqrt(i (i + 1)) */
static void helmert(size_t k, const double *w, double *a)
{
    double sum = 0;
    for (size_t i = 1; i < k; i++) {
        double n = (double)i;
        sum += w[i - 1];
        a[i - 1] = (sum / n - w[i]) * sqrt(n / (n + 1));
    }
}

/* w = H'a */
static void helmert_back(size_t k, const double *a, double *w)
{
    double tail = 0;
    for (size_t i = k - 1; i > 0; i--) {
        double n = (double)i;
        w[i] = tail - a[i - 1] * sqrt(n / (n + 1));
        tail += a[i - 1] / sqrt(n * (n + 1));
    }
    w[0] = tail;
}

/* coordinates, and the parts themselves */
static size_t size(manifold_t m)
{
    return m->dim + m->ambient;
}

static size_t work_size(manifold_t m)
{
    return m->ambient;
}

static int to(manifold_t m, double *y, const double *x, double *work)
{
    for (size_t j = 0; j < m->ambient; j++) {
        y[m->dim + j] = x[j];
        work[j] = log(x[j]);
    }
    helmert(m->ambient, work, y);
    return STATUS_OK;
}

static int from(manifold_t m, double *x, const double *a, double *work)
{
    double most = -INFINITY, sum = 0;
    helmert_back(m->ambient, a, work);
    for (size_t j = 0; j < m->ambient; j++)
        most = fmax(most, work[j]);
    for (size_t j = 0; j < m->ambient; j++) {
        x[j] = exp(work[j] - most);
        if (x[j] < 1e-300)
            return STATUS_OUT_OF_REACH;
        sum += x[j];
    }
    for (size_t j = 0; j < m->ambient; j++)
        x[j] /= sum;
    return STATUS_OK;
}

static int push(manifold_t m, double *a, const double *y, const double *v, double *work)
{
    for (size_t j = 0; j < m->ambient; j++)
        work[j] = v[j] / y[m->dim + j];
    helmert(m->ambient, work, a);
    return STATUS_OK;
}

static int pull(manifold_t m, double *v, const double *y, const double *a, double *work)
{
    const double *x = y + m->dim;
    helmert_back(m->ambient, a, work);
    double mean = dot(m->ambient, x, work), rest = 0;
    size_t most = 0;
    for (size_t j = 1; j < m->ambient; j++)
        most = x[j] > x[most] ? j : most;
    for (size_t j = 0; j < m->ambient; j++) {
        v[j] = x[j] * (work[j] - mean);
        rest += j == most ? 0 : v[j];
    }
    v[most] = -rest; /* what cancels near a vertex is the largest part's */
    return STATUS_OK;
}

static const struct chart chart = {size, work_size, to, from, push, pull};

const struct manifold_ops manifold_simplex_aitchison = {
    .name = "simplex_aitchison",
    .family = "simplex",
    .chart = &chart,
    .init = init,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .origin = origin,
    CHART_OPERATIONS,
};
