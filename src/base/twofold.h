/* Real numbers with a proven error: every operation gives a set that holds its exact result for all numbers of the sets it is given
 * (inst/proofs/certified-digits.md, section 1). A centre of two doubles has some 32 digits; what is wrong about it is `off`. */
#ifndef RIEMDP_TWOFOLD_H
#define RIEMDP_TWOFOLD_H

#include "ground.h"

/* all x with |x - (hi + lo)| <= off; NaN or Inf anywhere: nothing is known */
struct twofold {
    double hi, lo, off;
};
typedef struct twofold tf;

static inline tf tf_of(double x)
{
    return (tf){x, 0, 0};
}

/* the same centre, taken as exact: a guess */
static inline tf tf_centre(tf a)
{
    return (tf){a.hi, a.lo, 0};
}

static inline tf tf_negative(tf a)
{
    return (tf){-a.hi, -a.lo, a.off};
}

/* sums and products of few numbers that aren't negative, from below to above what they are exactly, and from above to below */
static inline double tf_up(double x)
{
    return x * (1 + 0x1p-47) + 0x1p-1060;
}

static inline double tf_down(double x)
{
    return x * (1 - 0x1p-47) - 0x1p-1060;
}

/* bounds of |x|: the largest (Inf where nothing is known) and the least */
double tf_most(tf a);
double tf_least(tf a);
tf tf_widen(tf a, double by); /* by >= 0 */

tf tf_add(tf a, tf b);
tf tf_subtract(tf a, tf b);
tf tf_multiply(tf a, tf b);
tf tf_divide(tf a, tf b);
tf tf_root(tf a); /* of a number that isn't negative, whatever its set holds */
/* sin and cos (sign = -1) or sinh and cosh (sign = 1) */
void tf_sines(int sign, tf t, tf *sine, tf *cosine);
tf tf_exp(tf t);
tf tf_log(tf x);
tf tf_asinh(tf x);        /* x >= 0 */
tf tf_angle(tf s, tf c);  /* of (c, s) to the first axis, s >= 0: 0 to pi */
tf tf_dot(size_t n, const tf *x, const tf *y);
tf tf_norm(size_t n, const tf *x);

#endif
