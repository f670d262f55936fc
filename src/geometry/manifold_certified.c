/* Drivers, and the spaces whose formulas are short: Euclidean space, spheres, products. */
#include "manifold_certified.h"
#include "manifold_product.h"

size_t certified_work(manifold_t m)
{
    const struct certified *c = m->ops->certified;
    return c ? sizeof(tf) / sizeof(double) * (m->ambient + c->work(m)) : 0;
}

static double length(size_t n, const tf *a, double slack)
{
    return tf_up(tf_most(tf_norm(n, a)) + slack);
}

static tf true_dist(manifold_t m, const double *p, const double *q, tf *work)
{
    const struct certified *c = m->ops->certified;
    if (c->dist)
        return c->dist(m, p, q, work);
    double slack = c->log(m, work, p, q, NULL, work + m->ambient);
    return tf_widen(tf_norm(m->ambient, work), slack);
}

int certified_exp(manifold_t m, double *out, struct points p, struct points v, struct points x, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++)
        out[i] = m->ops->certified->exp(m, at(p, i), at(v, i), at(x, i), (tf *)work);
    return STATUS_OK;
}

int certified_log(manifold_t m, double *out, struct points p, struct points q, struct points x, size_t begin, size_t end, double *work)
{
    tf *a = (tf *)work;
    for (size_t i = begin; i < end; i++) {
        double slack = m->ops->certified->log(m, a, at(p, i), at(q, i), at(x, i), a + m->ambient);
        out[i] = length(m->ambient, a, slack);
    }
    return STATUS_OK;
}

int certified_dist(manifold_t m, double *out, struct points p, struct points q, struct points x, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++)
        out[i] = tf_most(tf_subtract(true_dist(m, at(p, i), at(q, i), (tf *)work), tf_of(*at(x, i))));
    return STATUS_OK;
}

void certified_mean_add(manifold_t m, struct certified_mean *s, const double *p, struct points x, const double *w, size_t begin,
                        size_t end, double *work)
{
    tf *a = (tf *)work;
    for (size_t i = begin; i < end; i++) {
        tf wi = tf_of(w ? w[i] : 1);
        if (!(wi.hi > 0))
            continue;
        double slack = m->ops->certified->log(m, a, p, at(x, i), NULL, a + m->ambient);
        s->farthest = fmax(s->farthest, length(m->ambient, a, slack));
        s->slack = tf_up(s->slack + wi.hi * slack);
        s->weight = tf_add(s->weight, wi);
        for (size_t j = 0; j < m->ambient; j++)
            s->sum[j] = tf_add(s->sum[j], tf_multiply(wi, a[j]));
    }
}

/* On a sphere: in the ball of radius t around p the energy's second derivative is at least that of a record at `farthest` + t. Where
 * that is positive and exceeds the gradient over t, the minimiser is within the gradient over it (section 4). */
double certified_mean_error(manifold_t m, const struct certified_mean *s)
{
    double gradient = tf_up(length(m->ambient, s->sum, s->slack) / tf_least(s->weight));
    if (!(gradient < INFINITY) || m->inj == INFINITY)
        return gradient < INFINITY ? gradient : INFINITY;
    if (m->model != MODEL_SPHERE)
        return INFINITY;
    tf sine, cosine;
    double reach = tf_up(s->farthest + 0.01);
    for (int i = 0; i < 2; i++) {
        if (!(reach < 1.57))
            return INFINITY;
        tf_sines(-1, tf_of(reach), &sine, &cosine);
        double least = tf_least(tf_divide(tf_multiply(tf_of(reach), cosine), sine)), error = tf_up(gradient / least);
        if (!(error < tf_down(reach - s->farthest)))
            return INFINITY;
        if (i == 1)
            return error;
        reach = tf_up(s->farthest + 2 * error + 1e-6);
    }
    return INFINITY;
}

/* ---- Euclidean space ------------------------------------------------------------------------------------------------------ */

static size_t euclidean_work(manifold_t m)
{
    return m->ambient;
}

static double euclidean_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    (void)work;
    for (size_t j = 0; j < m->ambient; j++)
        a[j] = tf_subtract(tf_subtract(tf_of(q[j]), tf_of(p[j])), tf_of(v ? v[j] : 0));
    return 0;
}

static double euclidean_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    return length(m->ambient, work, euclidean_log(m, work, p, y, v, NULL));
}

const struct certified certified_euclidean = {euclidean_work, euclidean_log, euclidean_exp, NULL};

/* ---- sphere: a stored point is x/|x|, a stored vector its tangent part ------------------------------------------------------ */

static void unit(size_t n, const double *x, tf *y)
{
    for (size_t j = 0; j < n; j++)
        y[j] = tf_of(x[j]);
    tf s = tf_norm(n, y);
    for (size_t j = 0; j < n; j++)
        y[j] = tf_divide(y[j], s);
}

/* x less its part along the unit vector e */
static void tangent_part(size_t n, const tf *e, tf *x)
{
    tf s = tf_dot(n, e, x);
    for (size_t j = 0; j < n; j++)
        x[j] = tf_subtract(x[j], tf_multiply(s, e[j]));
}

static size_t sphere_work(manifold_t m)
{
    return 3 * m->ambient;
}

/* tan(d/2) is the chord over that to the other pole */
static tf sphere_dist(manifold_t m, const double *p, const double *q, tf *work)
{
    size_t n = m->ambient;
    tf *x = work, *y = x + n, *z = y + n;
    unit(n, p, x);
    unit(n, q, y);
    for (size_t j = 0; j < n; j++)
        z[j] = tf_add(y[j], x[j]);
    tf far = tf_norm(n, z);
    for (size_t j = 0; j < n; j++)
        z[j] = tf_subtract(y[j], x[j]);
    return tf_multiply(tf_of(2), tf_angle(tf_norm(n, z), far));
}

static double sphere_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    size_t n = m->ambient;
    tf *x = work, d = sphere_dist(m, p, q, work);
    unit(n, p, x);
    unit(n, q, a);
    for (size_t j = 0; j < n; j++) /* the same tangent part, and no digits lost where q is near */
        a[j] = tf_subtract(a[j], x[j]);
    tangent_part(n, x, a);
    tf s = tf_norm(n, a);
    int none = !(tf_least(s) > 0);
    tf scale = none ? tf_of(0) : tf_divide(d, s);
    for (size_t j = 0; j < n; j++)
        a[j] = tf_subtract(tf_multiply(scale, a[j]), tf_of(v ? v[j] : 0));
    return none ? tf_most(d) : 0;
}

static double sphere_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    size_t n = m->ambient;
    tf *x = work, *u = x + n, *z = u + n, sine, cosine;
    unit(n, p, x);
    unit(n, y, z);
    for (size_t j = 0; j < n; j++)
        u[j] = tf_of(v[j]);
    tangent_part(n, x, u);
    tf t = tf_norm(n, u);
    tf_sines(-1, t, &sine, &cosine);
    double least = tf_least(t), most = tf_most(t);
    tf scale = least > 0 ? tf_divide(sine, t) : tf_widen(tf_of(1), most * most); /* |sin t/t - 1| <= t^2/6 */
    for (size_t j = 0; j < n; j++)
        z[j] = tf_subtract(z[j], tf_add(tf_multiply(cosine, x[j]), tf_multiply(scale, u[j])));
    double chord = length(n, z, 0);
    if (chord < 1)
        return tf_up(chord * (1 + 0.048 * chord * chord)); /* 2 asin(chord/2) */
    return chord < INFINITY ? tf_up(RIEMDP_PI) : INFINITY;
}

const struct certified certified_sphere = {sphere_work, sphere_log, sphere_exp, sphere_dist};

/* ---- products: by the weights ----------------------------------------------------------------------------------------------- */

static size_t product_work(manifold_t m)
{
    const struct product *p = parts_of(m);
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        size_t own = p->part[i].m.ambient + p->part[i].m.ops->certified->work(&p->part[i].m);
        most = own > most ? own : most;
    }
    return most;
}

static double product_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    tf sum = tf_of(0);
    for (size_t i = 0; i < parts_of(m)->count; i++) {
        const struct part *r = parts_of(m)->part + i;
        size_t n = r->at;
        tf root = tf_root(tf_of(r->weight));
        double slack = r->m.ops->certified->log(&r->m, a + n, p + n, q + n, v ? v + n : NULL, work);
        for (size_t j = 0; j < r->m.ambient; j++)
            a[n + j] = tf_multiply(root, a[n + j]);
        sum = tf_add(sum, tf_multiply(tf_of(r->weight), tf_multiply(tf_of(slack), tf_of(slack))));
    }
    return tf_most(tf_root(sum));
}

static double product_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    tf sum = tf_of(0);
    for (size_t i = 0; i < parts_of(m)->count; i++) {
        const struct part *r = parts_of(m)->part + i;
        size_t n = r->at;
        tf off = tf_of(r->m.ops->certified->exp(&r->m, p + n, v + n, y + n, work));
        sum = tf_add(sum, tf_multiply(tf_of(r->weight), tf_multiply(off, off)));
    }
    return tf_most(tf_root(sum));
}

static tf product_dist(manifold_t m, const double *p, const double *q, tf *work)
{
    tf sum = tf_of(0);
    for (size_t i = 0; i < parts_of(m)->count; i++) {
        const struct part *r = parts_of(m)->part + i;
        tf d = true_dist(&r->m, p + r->at, q + r->at, work);
        sum = tf_add(sum, tf_multiply(tf_of(r->weight), tf_multiply(d, d)));
    }
    return tf_root(sum);
}

const struct certified certified_product = {product_work, product_log, product_exp, product_dist};
