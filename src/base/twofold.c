/* no product and sum in one rounding but where fma() says so: errors of sums are found by their own formula */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "twofold.h"

#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#error "the bounds of rounding errors need IEEE arithmetic: compile without -ffast-math, on 32-bit x86 with -msse2 -mfpmath=sse"
#endif

static const double U = 0x1p-53;

/* a + b = s + *e (Knuth) */
static double two_sum(double a, double b, double *e)
{
    double s = a + b, t = s - a;
    *e = (a - (s - t)) + (b - t);
    return s;
}

static tf make(double hi, double lo, double off)
{
    tf x = {0, 0, off};
    x.hi = two_sum(hi, lo, &x.lo);
    return x;
}

double tf_most(tf a)
{
    double x = tf_up(fabs(a.hi) + fabs(a.lo) + a.off);
    return x < INFINITY ? x : INFINITY;
}

double tf_least(tf a)
{
    double x = tf_down(fabs(a.hi)) - tf_up(fabs(a.lo) + a.off), y = x - fabs(x) * 0x1p-47;
    return y > 0 ? y : 0;
}

tf tf_widen(tf a, double by)
{
    a.off = tf_up(a.off + by);
    return a;
}

tf tf_add(tf a, tf b)
{
    double e, f, g, c, s = two_sum(a.hi, b.hi, &e), t = two_sum(a.lo, b.lo, &f);
    c = two_sum(e, t, &g);
    s = two_sum(s, c, &c);
    double rest = f + g, low = c + rest;
    return make(s, low, tf_up(a.off + b.off + U * (fabs(rest) + fabs(low))));
}

tf tf_subtract(tf a, tf b)
{
    return tf_add(a, tf_negative(b));
}

tf tf_multiply(tf a, tf b)
{
    double p = a.hi * b.hi, e = fma(a.hi, b.hi, -p), c1 = a.hi * b.lo, c2 = a.lo * b.hi, c3 = a.lo * b.lo;
    double cross = fabs(c1) + fabs(c2) + fabs(c3), low = e + (c1 + (c2 + c3));
    double rounded = U * (3 * cross + fabs(low));
    double x = fabs(a.hi) + fabs(a.lo), y = fabs(b.hi) + fabs(b.lo);
    return make(p, low, tf_up(x * b.off + y * a.off + a.off * b.off + rounded));
}

/* a/b = q + (a - q b)/b, twice */
tf tf_divide(tf a, tf b)
{
    double q = a.hi / b.hi;
    double slip = tf_subtract(a, tf_multiply(tf_of(q), b)).hi / b.hi;
    tf x = make(q, slip, 0);
    x.off = tf_up(tf_most(tf_subtract(a, tf_multiply(x, b))) / tf_least(b));
    return x;
}

/* root a = x + (a - x^2)/(root a + x) */
tf tf_root(tf a)
{
    if (!(a.hi > 0))
        return (tf){0, 0, tf_up(sqrt(tf_up(tf_most(a))))};
    double s = sqrt(a.hi);
    tf r = tf_subtract(a, tf_multiply(tf_of(s), tf_of(s))), x = make(s, r.hi / (2 * s), 0);
    x.off = fmin(tf_up(tf_most(tf_subtract(a, tf_multiply(x, x))) / tf_least(x)), tf_most(x) + sqrt(tf_most(a)));
    return x;
}

/* Taylor's series of the sine at t/2^k, at most 1/2, with remainder below 2^-119 of the argument; then angles doubled */
void tf_sines(int sign, tf t, tf *sine, tf *cosine)
{
    enum { TERMS = 12, MOST = 1100 };
    int halved = 0;
    while (tf_most(t) > 0.5 && halved < MOST) {
        t = (tf){0.5 * t.hi, 0.5 * t.lo, tf_up(0.5 * t.off)};
        halved++;
    }
    tf unit = tf_of(1), direction = tf_of(sign), square = tf_multiply(direction, tf_multiply(t, t)), s = unit;
    for (int j = TERMS; j > 0; j--)
        s = tf_add(unit, tf_divide(tf_multiply(square, s), tf_of(2.0 * j * (2 * j + 1))));
    s = tf_multiply(t, s);
    s = tf_widen(s, tf_most(t) * 0x1p-119);
    tf c = tf_root(tf_add(unit, tf_multiply(direction, tf_multiply(s, s))));
    while (halved-- > 0) {
        tf twice = tf_multiply(tf_of(2), s);
        s = tf_multiply(twice, c);
        c = tf_add(unit, tf_multiply(direction, tf_multiply(twice, tf_multiply(twice, tf_of(0.5)))));
    }
    *sine = s;
    *cosine = c;
}

tf tf_exp(tf t)
{
    tf s, c;
    int below = t.hi < 0;
    tf_sines(1, below ? tf_negative(t) : t, &s, &c);
    tf e = tf_add(s, c);
    return below ? tf_divide(tf_of(1), e) : e;
}

/* e - e^2/2 + x, |x| <= |e|^3/2, is log(1 + e) */
tf tf_log(tf x)
{
    double t = log(x.hi);
    tf e = tf_subtract(tf_multiply(x, tf_exp(tf_of(-t))), tf_of(1)), half = tf_multiply(tf_of(0.5), tf_multiply(e, e));
    double most = tf_most(e);
    if (!(most < 0.1))
        return tf_of(NAN);
    return tf_widen(tf_add(tf_of(t), tf_subtract(e, half)), most * most * most * 0.5);
}

/* sinh(y - t) = x cosh t - root(1 + x^2) sinh t, where that cancels no digits; else by the logarithm */
tf tf_asinh(tf x)
{
    double t = asinh(x.hi);
    tf s, c, root = tf_root(tf_add(tf_of(1), tf_multiply(x, x)));
    if (!(t <= 1))
        return tf_log(tf_add(x, root));
    tf_sines(1, tf_of(t), &s, &c);
    tf slip = tf_subtract(tf_multiply(x, c), tf_multiply(root, s));
    double most = tf_most(slip);
    return tf_widen(tf_add(tf_of(t), slip), most * most * most);
}

/* sin(y - t) = (s cos t - c sin t)/root(s^2 + c^2), its cosine above 0 */
tf tf_angle(tf s, tf c)
{
    double t = atan2(s.hi > 0 ? s.hi : 0, c.hi);
    tf p = tf_of(s.hi), q = tf_of(c.hi), length = tf_root(tf_add(tf_multiply(s, s), tf_multiply(c, c)));
    tf_sines(-1, tf_of(t), &p, &q);
    tf slip = tf_divide(tf_subtract(tf_multiply(s, q), tf_multiply(c, p)), length);
    tf cosine = tf_add(tf_multiply(c, q), tf_multiply(s, p));
    double most = tf_most(slip);
    if (!(most < 0.5) || !(cosine.hi > 0) || !(tf_least(cosine) > 0))
        return tf_of(NAN);
    return tf_widen(tf_add(tf_of(t), slip), most * most * most);
}

tf tf_dot(size_t n, const tf *x, const tf *y)
{
    tf s = tf_of(0);
    for (size_t j = 0; j < n; j++)
        s = tf_add(s, tf_multiply(x[j], y[j]));
    return s;
}

/* by a power of two, so that squares stay in the range of doubles */
tf tf_norm(size_t n, const tf *x)
{
    double most = 0;
    int power = 0;
    for (size_t j = 0; j < n; j++)
        most = fmax(most, fmax(fabs(x[j].hi), x[j].off));
    if (most > 0x1p-400 && most < 0x1p400)
        return tf_root(tf_dot(n, x, x));
    if (most > 0 && most < INFINITY)
        frexp(most, &power);
    tf s = tf_of(0);
    for (size_t j = 0; j < n; j++) {
        tf y = {ldexp(x[j].hi, -power), ldexp(x[j].lo, -power), tf_up(ldexp(x[j].off, -power))};
        s = tf_add(s, tf_multiply(y, y));
    }
    s = tf_root(s);
    return (tf){ldexp(s.hi, power), ldexp(s.lo, power), tf_up(ldexp(s.off, power))};
}
