/* Products: points are those of the parts one after the other, the metric is the sum of positive weights times the parts' metrics. So
 * exp, log, transport and the Jacobi fields are those of the parts, distances are multiplied by the roots of the weights and their
 * squares add up, curvature is divided by the weights. Products of products come as their parts; one part alone is that space in other
 * units. What some part hasn't got is absent: each product has a table of its own. Why facts are what they are: inst/proofs/products.md. */
#include "manifold_certified.h"
#include "manifold_product.h"

/* ---- facts ------------------------------------------------------------------------------------------------------------ */

/* mean curvature times d (d - 1), or NAN where it isn't known */
static double bend_of(manifold_t m)
{
    if (m->k_min == 0 && m->k_max == 0)
        return 0;
    return m->mean_curvature != 0 ? m->mean_curvature * (double)m->dim * ((double)m->dim - 1) : NAN;
}

static int place_parts(struct manifold *m, struct product *p)
{
    m->ambient = m->dim = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct part *q = p->part + i;
        q->m.host = m->host;
        int status = manifold_init(&q->m);
        if (status != STATUS_OK || q->m.dim < 1 || !(q->weight >= 1e-12 && q->weight <= 1e12))
            return STATUS_BAD_MANIFOLD;
        q->root = sqrt(q->weight);
        q->at = m->ambient;
        q->coord = m->dim;
        m->ambient += q->m.ambient;
        m->dim += q->m.dim;
    }
    if (p->count == 1) { /* points keep their form */
        m->rows = p->part[0].m.rows;
        m->cols = p->part[0].m.cols;
    }
    return STATUS_OK;
}

/* curvature: planes across two parts are flat */
static void bound_parts(struct manifold *m, struct product *p)
{
    double bend = 0, growth = 0, far = 0, across = p->count > 1 ? 0 : INFINITY;
    m->k_min = across;
    m->k_max = -across;
    m->inj = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        const struct part *q = p->part + i;
        m->k_min = fmin(m->k_min, q->m.k_min / q->weight);
        m->k_max = fmax(m->k_max, q->m.k_max / q->weight);
        m->inj = fmin(m->inj, q->root * q->m.inj);
        far += q->weight * square(q->m.rho_max);
        growth += square(q->m.volume_growth) / q->weight;
        bend += bend_of(&q->m) / q->weight;
    }
    product_area(p);
    m->rho_max = sqrt(far);
    m->volume_growth = sqrt(growth);
    m->mean_curvature = isnan(bend) || m->dim < 2 ? 0 : bend / ((double)m->dim * ((double)m->dim - 1));
}

/* the K-norm gradient sampler's bounds are those of spaces by name */
static unsigned flags_of(const struct product *p)
{
    if (p->count == 1)
        return p->part[0].m.flags & ~(unsigned)(MANIFOLD_KNG | MANIFOLD_REFERENCE);
    unsigned all = MANIFOLD_HOMOGENEOUS | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | MANIFOLD_ONE_MEAN | MANIFOLD_UNIFORM, any = 0;
    for (size_t i = 0; i < p->count; i++) {
        all &= p->part[i].m.flags;
        any |= p->part[i].m.flags & (MANIFOLD_CALLS_R | MANIFOLD_FORMS);
    }
    return all | any;
}

/* what a part has */
#define PART_HAS(name, expression) \
    static int name(manifold_t q)  \
    {                              \
        return expression;         \
    }
PART_HAS(has_origin, q->ops->origin != NULL)
PART_HAS(has_start, (q->ops->start_add || (q->flags & MANIFOLD_EMBEDDED)) && !(q->flags & MANIFOLD_REFERENCE))
PART_HAS(has_density, q->ops->log_density != NULL)
PART_HAS(has_jacobi, q->ops->jacobi != NULL)
PART_HAS(has_radial, q->ops->radial && q->flags & MANIFOLD_HOMOGENEOUS)
PART_HAS(has_strided, q->ops->strided != NULL)
PART_HAS(calls_nothing, !(q->flags & MANIFOLD_CALLS_R))
PART_HAS(has_certified, q->ops->certified != NULL)
PART_HAS(lacks_bounds, !q->ops->ball_bounds)
PART_HAS(lacks_edge, !q->ops->at_edge)

static int all(const struct product *p, int (*has)(manifold_t))
{
    for (size_t i = 0; i < p->count; i++)
        if (!has(&p->part[i].m))
            return 0;
    return 1;
}

static void own_table(struct manifold *m, struct product *p)
{
    p->ops = manifold_product;
    if (!all(p, has_origin))
        p->ops.origin = NULL;
    if (!all(p, manifold_carries))
        p->ops.to_origin = p->ops.from_origin = NULL;
    if (!all(p, has_start)) {
        p->ops.start_add = NULL;
        p->ops.start_end = NULL;
    }
    if (!all(p, has_density))
        p->ops.log_density = NULL;
    if (all(p, has_jacobi) || m->flags & MANIFOLD_CALLS_R) /* differences: over all records at once */
        p->ops.exp_adjoint = NULL;
    if (!all(p, has_jacobi))
        p->ops.jacobi = NULL;
    if (p->count == 1 ? !all(p, has_strided) : !all(p, calls_nothing)) /* one part alone may scale records on entry */
        p->ops.strided = NULL;
    if (!all(p, has_certified))
        p->ops.certified = NULL;
    if (!all(p, has_radial)) {
        p->ops.radial = NULL;
        p->ops.radial_accept = NULL;
    }
    if (all(p, lacks_bounds))
        p->ops.ball_bounds = NULL;
    if (all(p, lacks_edge))
        p->ops.at_edge = NULL;
    m->ops = &p->ops;
}

static int init(struct manifold *m)
{
    struct product *p = m->context;
    if (!p || p->count < 1 || place_parts(m, p) != STATUS_OK)
        return STATUS_BAD_MANIFOLD;
    bound_parts(m, p);
    m->model = MODEL_PRODUCT;
    m->flags = flags_of(p);
    own_table(m, p);
    return STATUS_OK;
}

/* four buffers, and room for any operation of a part */
static size_t work_size(manifold_t m)
{
    const struct product *p = parts_of(m);
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        manifold_t q = &p->part[i].m;
        size_t own = manifold_numeric_work(q), adjoint = manifold_exp_adjoint_work(q, 1, 1);
        size_t size = BUFFERS * buffer_of(q) + (own > adjoint ? own : adjoint);
        most = size > most ? size : most;
    }
    return most;
}

/* ---- operations of the parts ------------------------------------------------------------------------------------------ */

static struct points part_of(struct points x, const struct part *q, size_t i)
{
    return (struct points){at(x, i) + q->at, x.stride};
}

/* n records of `length` doubles each to places that are `stride` apart */
static void put(double *out, size_t stride, const double *from, size_t length, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < length; j++)
            out[i * stride + j] = from[i * length + j];
}

enum operation { OP_EXP, OP_HELD, OP_LOG, OP_PROJECT, OP_PROJECT_TANGENT, OP_TRANSPORT };

static int run(enum operation op, manifold_t m, double *out, const struct points *in, size_t n, double *work)
{
    switch (op) {
    case OP_HELD:
        return (m->ops->exp_held ? m->ops->exp_held : m->ops->exp)(m, out, in[0], in[1], 0, n, work);
    case OP_EXP:
        return m->ops->exp(m, out, in[0], in[1], 0, n, work);
    case OP_LOG:
        return m->ops->log(m, out, in[0], in[1], 0, n, work);
    case OP_PROJECT:
        return m->ops->project(m, out, in[0], 0, n, work);
    case OP_PROJECT_TANGENT:
        return m->ops->project_tangent(m, out, in[0], in[1], 0, n, work);
    default:
        return manifold_transport(m, out, in[0], in[1], in[2], 0, n, work);
    }
}

/* part by part, in blocks by way of a buffer: an output lies over its own input at most */
static int each(manifold_t m, enum operation op, double *out, const struct points *in, int count, size_t begin, size_t end, double *work)
{
    const struct product *p = parts_of(m);
    struct points sub[3];
    for (size_t i = 0; i < p->count; i++) {
        const struct part *q = p->part + i;
        size_t block = block_of(&q->m);
        double *buffer = work, *rest = work + 2 * buffer_of(&q->m);
        for (size_t b = begin; b < end; b += block) {
            size_t n = end - b < block ? end - b : block;
            for (int k = 0; k < count; k++)
                sub[k] = part_of(in[k], q, b);
            int status = run(op, &q->m, buffer, sub, n, rest);
            if (status != STATUS_OK)
                return status;
            put(out + b * m->ambient + q->at, m->ambient, buffer, q->m.ambient, n);
        }
    }
    return STATUS_OK;
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return each(m, OP_EXP, out, (struct points[]){p, v}, 2, begin, end, work);
}

static int exp_held(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return each(m, OP_HELD, out, (struct points[]){p, v}, 2, begin, end, work);
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    return each(m, OP_LOG, out, (struct points[]){p, q}, 2, begin, end, work);
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    return each(m, OP_PROJECT, out, &x, 1, begin, end, work);
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    return each(m, OP_PROJECT_TANGENT, out, (struct points[]){p, v}, 2, begin, end, work);
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    return each(m, OP_TRANSPORT, out, (struct points[]){p, q, v}, 3, begin, end, work);
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    const struct product *p = parts_of(m);
    int status = STATUS_OK;
    for (size_t i = 0; i < p->count && status == STATUS_OK; i++)
        status = p->part[i].m.ops->check_point(&p->part[i].m, part_of(x, p->part + i, 0), begin, end, work);
    return status;
}

static int check_tangent(manifold_t m, struct points x, struct points v, size_t begin, size_t end, double *work)
{
    const struct product *p = parts_of(m);
    int status = STATUS_OK;
    for (size_t i = 0; i < p->count && status == STATUS_OK; i++) {
        const struct part *q = p->part + i;
        status = q->m.ops->check_tangent(&q->m, part_of(x, q, 0), part_of(v, q, 0), begin, end, work);
    }
    return status;
}

/* ---- sums over the parts ---------------------------------------------------------------------------------------------- */

enum sum { SUM_INNER, SUM_SQUARES, SUM_DENSITY };

static int sum_parts(manifold_t m, enum sum what, double *out, const struct points *in, size_t begin, size_t end, double *work)
{
    const struct product *p = parts_of(m);
    for (size_t i = 0; i < p->count; i++) {
        const struct part *q = p->part + i;
        size_t block = block_of(&q->m);
        double *value = work, *rest = work + 2 * buffer_of(&q->m);
        for (size_t b = begin; b < end; b += block) {
            size_t n = end - b < block ? end - b : block;
            struct points x = part_of(in[0], q, b), y = part_of(in[1], q, b);
            int status = what == SUM_INNER     ? q->m.ops->inner(&q->m, value, x, y, part_of(in[2], q, b), 0, n, rest)
                         : what == SUM_SQUARES ? manifold_dist(&q->m, value, x, y, 0, n, rest)
                                               : manifold_log_density(&q->m, value, x, y, 0, n, rest);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < n; j++) {
                double before = i ? out[b + j] : 0;
                out[b + j] = what == SUM_SQUARES ? with_square(before, q->root, value[j])
                                                 : before + (what == SUM_INNER ? q->weight : 1) * value[j];
            }
        }
    }
    return STATUS_OK;
}

static int inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work)
{
    return sum_parts(m, SUM_INNER, out, (struct points[]){p, u, v}, begin, end, work);
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    int status = sum_parts(m, SUM_SQUARES, out, (struct points[]){p, q}, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        out[i] = sqrt(out[i]);
    return status;
}

static int log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return sum_parts(m, SUM_DENSITY, out, (struct points[]){p, v}, begin, end, work);
}

static int log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work)
{
    const struct product *whole = parts_of(m);
    int status = STATUS_OK;
    for (size_t i = 0; i < whole->count && status == STATUS_OK; i++) {
        const struct part *q = whole->part + i;
        double squares = 0;
        status = manifold_log_sum(&q->m, sum + q->at, &squares, p + q->at, part_of(x, q, 0), w, begin, end, work);
        *sum_sq += q->weight * squares;
    }
    return status;
}

/* ---- frames: the parts', each vector as short as the metric is large ---------------------------------------------------- */

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    const struct product *whole = parts_of(m);
    for (size_t i = 0; i < whole->count; i++) {
        const struct part *q = whole->part + i;
        size_t block = block_of(&q->m), d = q->m.dim;
        double *buffer = work, *rest = work + 2 * buffer_of(&q->m);
        for (size_t b = begin; b < end; b += block) {
            size_t n = end - b < block ? end - b : block;
            int status = manifold_coords(&q->m, buffer, part_of(p, q, b), part_of(v, q, b), 0, n, rest);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < n * d; j++)
                buffer[j] *= q->root;
            put(out + b * m->dim + q->coord, m->dim, buffer, d, n);
        }
    }
    return STATUS_OK;
}

static int from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work)
{
    const struct product *whole = parts_of(m);
    for (size_t i = 0; i < whole->count; i++) {
        const struct part *q = whole->part + i;
        size_t block = block_of(&q->m), d = q->m.dim;
        double *buffer = work, *given = work + buffer_of(&q->m), *rest = given + buffer_of(&q->m);
        for (size_t b = begin; b < end; b += block) {
            size_t n = end - b < block ? end - b : block;
            for (size_t k = 0; k < (a.stride ? n : 1); k++)
                for (size_t j = 0; j < d; j++)
                    given[k * d + j] = at(a, b + k)[q->coord + j] / q->root;
            struct points own = {given, a.stride ? d : 0};
            int status = manifold_from_coords(&q->m, buffer, part_of(p, q, b), own, 0, n, rest);
            if (status != STATUS_OK)
                return status;
            put(out + b * m->ambient + q->at, m->ambient, buffer, q->m.ambient, n);
        }
    }
    return STATUS_OK;
}

/* ---- derivatives: those of the parts, whatever the weights ------------------------------------------------------------- */

static int jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    const struct product *whole = parts_of(m);
    for (size_t i = 0; i < whole->count; i++) {
        const struct part *q = whole->part + i;
        size_t block = block_of(&q->m), n = q->m.ambient;
        double *one_p = work, *one_v = work + buffer_of(&q->m), *rest = one_v + buffer_of(&q->m);
        for (size_t b = begin; b < end; b += block) {
            size_t count = end - b < block ? end - b : block;
            int status = q->m.ops->jacobi(&q->m, one_p, one_v, part_of(p, q, b), part_of(v, q, b),
                                          (struct points){at(x, b), x.stride}, part_of(u, q, b), 0, count, rest);
            if (status != STATUS_OK)
                return status;
            put(out_p + b * m->ambient + q->at, m->ambient, one_p, n, count);
            put(out_v + b * m->ambient + q->at, m->ambient, one_v, n, count);
        }
    }
    return STATUS_OK;
}

static int exp_adjoint(manifold_t m, double *out_p, double *out_w, struct points p, struct points w, struct points y,
                       struct points e, size_t begin, size_t end, double *work)
{
    static const double unit = 1;
    const struct product *whole = parts_of(m);
    for (size_t i = 0; i < whole->count; i++) {
        const struct part *q = whole->part + i;
        double *one_p = work, *one_w = work + buffer_of(&q->m), *rest = one_w + buffer_of(&q->m);
        for (size_t b = begin; b < end; b++) {
            const double *own = at(w, b) + q->at;
            int status = manifold_exp_adjoint(&q->m, one_p, one_w, at(p, b) + q->at, own, 1, one(&unit), one(own), part_of(y, q, b),
                                              part_of(e, q, b), 1, rest);
            if (status != STATUS_OK)
                return status;
            put(out_p + b * m->ambient + q->at, m->ambient, one_p, q->m.ambient, 1);
            put(out_w + b * m->ambient + q->at, m->ambient, one_w, q->m.ambient, 1);
        }
    }
    return STATUS_OK;
}

/* ---- the rest ----------------------------------------------------------------------------------------------------------- */

/* the sums of a part, twice as many numbers as its points have, stand one after the other */
static int start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end, double *work)
{
    const struct product *p = parts_of(m);
    int status = STATUS_OK;
    for (size_t i = 0; i < p->count && status == STATUS_OK; i++)
        status = manifold_start_add(&p->part[i].m, acc + 2 * p->part[i].at, part_of(x, p->part + i, 0), w, begin, end, work);
    return status;
}

static int start_end(manifold_t m, double *out, double *acc, double total, double *work)
{
    const struct product *p = parts_of(m);
    int status = STATUS_OK;
    for (size_t i = 0; i < p->count && status == STATUS_OK; i++)
        status = manifold_start_end(&p->part[i].m, out + p->part[i].at, acc + 2 * p->part[i].at, total, work);
    return status;
}

/* each part sees a ball as large as the whole one */
static void ball_bounds(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work)
{
    const struct product *p = parts_of(m);
    *k_max = 0;
    *inj = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        const struct part *q = p->part + i;
        double k, reach;
        manifold_ball_bounds(&q->m, centre + q->at, radius / q->root * (1 + 4 * RIEMDP_EPS), &k, &reach, work);
        *k_max = fmax(*k_max, k / q->weight);
        *inj = fmin(*inj, q->root * reach);
    }
}

static int at_edge(manifold_t m, const double *x)
{
    const struct product *p = parts_of(m);
    for (size_t i = 0; i < p->count; i++)
        if (p->part[i].m.ops->at_edge && p->part[i].m.ops->at_edge(&p->part[i].m, x + p->part[i].at))
            return 1;
    return 0;
}

static void origin(manifold_t m, double *out)
{
    const struct product *p = parts_of(m);
    for (size_t i = 0; i < p->count; i++)
        p->part[i].m.ops->origin(&p->part[i].m, out + p->part[i].at);
}

static int move(manifold_t m, int back, double *out, const double *base, struct points x, size_t begin, size_t end, double *work)
{
    const struct product *p = parts_of(m);
    for (size_t i = 0; i < p->count; i++) {
        const struct part *q = p->part + i;
        const struct manifold_ops *o = q->m.ops;
        double *buffer = work, *rest = work + 2 * buffer_of(&q->m);
        for (size_t b = begin; b < end; b++) {
            int status = (back ? o->from_origin : o->to_origin)(&q->m, buffer, base + q->at, part_of(x, q, b), 0, 1, rest);
            if (status != STATUS_OK)
                return status;
            put(out + b * m->ambient + q->at, m->ambient, buffer, q->m.ambient, 1);
        }
    }
    return STATUS_OK;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end, double *work)
{
    return move(m, 0, out, base, x, begin, end, work);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end, double *work)
{
    return move(m, 1, out, base, x, begin, end, work);
}

const struct manifold_ops manifold_product = {
    .name = "product",
    .family = "product",
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
    .exp_adjoint = exp_adjoint,
    .log_sum = log_sum,
    .strided = product_strided,
    .start_add = start_add,
    .start_end = start_end,
    .ball_bounds = ball_bounds,
    .exp_held = exp_held,
    .at_edge = at_edge,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = product_radial,
    .radial_accept = product_radial_accept,
    .certified = &certified_product,
};
