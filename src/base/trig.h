/* Sine, cosine and arctangent without branches or tables, for loops over many records: within two units in the last place.
 * Polynomials interpolate at Chebyshev's points, their errors are below a fifth of a unit. */
#ifndef RIEMDP_TRIG_H
#define RIEMDP_TRIG_H

#include "ground.h"
#include "simd.h"

#include <string.h>

#define TRIG_MOST 1e6 /* the largest argument of trig_sincos(), in absolute value */

/* Angle in [0, pi] of the vector (x, y), y >= 0. Three ranges of y/|x|, bounded by tan(pi/8) and tan(3 pi/8), are turned by 0,
 * pi/4 or pi/2 into |z| <= tan(pi/8). */
RIEMDP_INLINE double trig_angle(double y, double x)
{
    double ax = fabs(x);
    int some = y > 0.41421356237309503 * ax, more = y > 2.414213562373095 * ax;
    double up = more ? -ax : some ? y - ax : y, down = more ? y : some ? y + ax : ax;
    double high = more ? 1.5707963267948966 : some ? 0.7853981633974483 : 0;
    double low = more ? 6.123233995736766e-17 : some ? 3.061616997868383e-17 : 0;
    double z = up / down, w = z * z, q = -0.019175404711104935;
    q = q * w + 0.03923044778479309;
    q = q * w - 0.050854078345894844;
    q = q * w + 0.05858140904866328;
    q = q * w - 0.06664510525508936;
    q = q * w + 0.07692183125376892;
    q = q * w - 0.0909090457530649;
    q = q * w + 0.11111111015187018;
    q = q * w - 0.14285714284665682;
    q = q * w + 0.19999999999995516;
    q = q * w - 0.3333333333333333;
    double a = high + (z + (z * w * q + low));
    return x < 0 ? 3.141592653589793 - (a - 1.2246467991473532e-16) : a;
}

/* |x| <= TRIG_MOST: the nearest multiple of pi/2 is taken off in three parts, the first two of 33 bits */
RIEMDP_INLINE void trig_sincos(double x, double *sine, double *cosine)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: integers stand in the last bits */
    double shifted = x * 0.6366197723675814 + magic, k = shifted - magic;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    double r = ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21, w = r * r;
    double s = 1.5918115263265974e-10, c = -1.1382623647474604e-11;
    s = s * w - 2.505113165023518e-08;
    s = s * w + 2.7557316101617874e-06;
    s = s * w - 0.00019841269836756774;
    s = s * w + 0.008333333333330948;
    s = s * w - 0.16666666666666666;
    s = r + r * w * s;
    c = c * w + 2.087614614655861e-09;
    c = c * w - 2.7557317271145144e-07;
    c = c * w + 2.480158729876456e-05;
    c = c * w - 0.0013888888888887398;
    c = c * w + 0.041666666666666664;
    double half = 0.5 * w, first = 1 - half;
    c = first + (((1 - first) - half) + w * w * c);
    double a = bits & 1 ? c : s, b = bits & 1 ? s : c;
    *sine = bits & 2 ? -a : a;
    *cosine = (bits + 1) & 2 ? -b : b;
}

#endif
