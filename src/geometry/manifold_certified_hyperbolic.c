/* Both models of hyperbolic space. A point of the hyperboloid is its d space coordinates, a tangent vector there its space part. */
#include "manifold_certified.h"

/* f(x)/x for f = sinh or asinh, which differs from 1 by at most x^2/6 where x is that small */
static tf over(tf f, tf x)
{
    double most = tf_most(x);
    return most < 1e-20 ? tf_widen(tf_of(1), most * most) : tf_divide(f, x);
}

static tf time_of(size_t d, const tf *a)
{
    return tf_root(tf_add(tf_of(1), tf_dot(d, a, a)));
}

/* Space coordinates of x after the boost that carries a to the apex: (1) of inst/proofs/geometry.md, no difference of which
 * loses digits. */
static void boost(size_t d, const tf *a, const tf *x, tf *y)
{
    tf aa = tf_dot(d, a, a), xx = tf_dot(d, x, x), a0 = time_of(d, a), x0 = time_of(d, x);
    if (aa.hi < 1e-280) { /* y = x - a x_0 + a <a, x>/(1 + a_0) */
        double moved = tf_up(2 * tf_most(tf_root(aa)) * tf_most(x0));
        for (size_t j = 0; j < d; j++)
            y[j] = tf_widen(x[j], moved);
        return;
    }
    tf length = tf_root(aa), far = tf_root(xx), inner = tf_dot(d, a, x), rise = tf_of(0), apart = tf_of(0);
    for (size_t j = 0; j < d; j++) {
        y[j] = tf_subtract(x[j], a[j]);
        apart = tf_add(apart, tf_multiply(y[j], y[j]));
        rise = tf_add(rise, tf_multiply(y[j], tf_add(x[j], a[j])));
    }
    for (size_t j = 0; j < d && !(apart.hi < xx.hi); j++)
        y[j] = x[j]; /* the shorter one of two vectors with the same part normal to a */
    tf t = tf_divide(tf_dot(d, a, y), aa);
    for (size_t j = 0; j < d; j++)
        y[j] = d == 1 ? tf_of(0) : tf_subtract(y[j], tf_multiply(t, a[j]));
    rise = tf_divide(rise, tf_add(tf_multiply(length, x0), tf_multiply(far, a0)));
    tf along = tf_divide(inner, length), both = tf_add(far, along);
    tf versine = along.hi > 0 && tf_least(both) > 0 ? tf_divide(tf_dot(d, y, y), both) : tf_subtract(far, along);
    tf r = tf_divide(tf_subtract(rise, tf_multiply(a0, versine)), length);
    for (size_t j = 0; j < d; j++)
        y[j] = tf_add(y[j], tf_multiply(r, a[j]));
}

/* Above the distance of y from the point at coordinates z in the frame at a. Both are carried with a to the apex; there it is at most
 * that of space coordinates, and once one of them is carried to the apex, the other is at sinh of it. */
static double exp_apart(size_t d, const tf *a, tf *z, const tf *y, tf *carried, tf *rest)
{
    tf t = tf_norm(d, z), s, c;
    tf_sines(1, t, &s, &c);
    s = over(s, t);
    for (size_t j = 0; j < d; j++)
        z[j] = tf_multiply(s, z[j]);
    boost(d, a, y, carried);
    for (size_t j = 0; j < d; j++)
        rest[j] = tf_subtract(z[j], carried[j]);
    double flat = tf_most(tf_norm(d, rest));
    boost(d, z, carried, rest);
    return fmin(flat, tf_most(tf_norm(d, rest)));
}

static size_t work_size(manifold_t m)
{
    return 5 * m->ambient;
}

/* ---- hyperboloid ------------------------------------------------------------------------------------------------------------ */

static void space_part(size_t d, const double *x, tf *y)
{
    for (size_t j = 0; j < d; j++)
        y[j] = tf_of(x[j + 1]);
}

/* coordinates of the tangent vector at a with space part u, in place: u - a <a, u>/(a_0 (1 + a_0)) */
static void coords(size_t d, const tf *a, tf *u)
{
    tf a0 = time_of(d, a), s = tf_divide(tf_dot(d, a, u), tf_multiply(a0, tf_add(tf_of(1), a0)));
    for (size_t j = 0; j < d; j++)
        u[j] = tf_subtract(u[j], tf_multiply(s, a[j]));
}

static double hyperboloid_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    size_t d = m->dim;
    tf *x = work, *y = x + d;
    space_part(d, p, x);
    space_part(d, q, y);
    boost(d, x, y, a);
    tf s = tf_norm(d, a), f = over(tf_asinh(s), s);
    for (size_t j = 0; j < d; j++)
        a[j] = tf_multiply(f, a[j]);
    a[d] = tf_of(0);
    if (v) {
        space_part(d, v, y);
        coords(d, x, y);
        for (size_t j = 0; j < d; j++)
            a[j] = tf_subtract(a[j], y[j]);
    }
    return 0;
}

static double hyperboloid_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    size_t d = m->dim;
    tf *a = work, *z = a + d, *computed = z + d;
    space_part(d, p, a);
    space_part(d, v, z);
    space_part(d, y, computed);
    coords(d, a, z);
    return exp_apart(d, a, z, computed, computed + d, computed + 2 * d);
}

const struct certified certified_hyperboloid = {work_size, hyperboloid_log, hyperboloid_exp, NULL};

/* ---- ball: the same frames --------------------------------------------------------------------------------------------------- */

static tf gap(size_t d, const double *x)
{
    tf s = tf_of(1);
    for (size_t j = 0; j < d; j++)
        s = tf_subtract(s, tf_multiply(tf_of(x[j]), tf_of(x[j])));
    return s;
}

static void scaled(size_t d, tf s, const double *x, tf *y)
{
    for (size_t j = 0; j < d; j++)
        y[j] = tf_multiply(s, tf_of(x[j]));
}

/* sinh(d/2) = |y - x|/root(gaps), in the direction of (1 - |x|^2) (y - x) - |y - x|^2 x */
static double ball_log(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work)
{
    (void)work;
    size_t d = m->dim;
    tf g = gap(d, p), h = gap(d, q), two = tf_of(2);
    for (size_t j = 0; j < d; j++)
        a[j] = tf_subtract(tf_of(q[j]), tf_of(p[j]));
    tf chord = tf_norm(d, a), square = tf_multiply(chord, chord);
    tf dist = tf_multiply(two, tf_asinh(tf_divide(chord, tf_root(tf_multiply(g, h)))));
    for (size_t j = 0; j < d; j++)
        a[j] = tf_subtract(tf_multiply(g, a[j]), tf_multiply(square, tf_of(p[j])));
    tf s = tf_norm(d, a), unit = tf_divide(two, g);
    int none = !(tf_least(s) > 0);
    tf scale = none ? tf_of(0) : tf_divide(dist, s);
    for (size_t j = 0; j < d; j++)
        a[j] = tf_subtract(tf_multiply(scale, a[j]), tf_multiply(unit, tf_of(v ? v[j] : 0)));
    return none ? tf_most(dist) : 0;
}

static double ball_exp(manifold_t m, const double *p, const double *v, const double *y, tf *work)
{
    size_t d = m->dim;
    tf *a = work, *z = a + d, *computed = z + d, two = tf_of(2), unit = tf_divide(two, gap(d, p));
    scaled(d, unit, p, a);
    scaled(d, unit, v, z);
    scaled(d, tf_divide(two, gap(d, y)), y, computed);
    return exp_apart(d, a, z, computed, computed + d, computed + 2 * d);
}

const struct certified certified_ball = {work_size, ball_log, ball_exp, NULL};
