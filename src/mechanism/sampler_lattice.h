/* Exact noise on the integers, by integer arithmetic on random bits: discrete Laplace and discrete Gaussian (Canonne, Kamath
 * and Steinke 2020, doi:10.48550/arXiv.2004.00010) and the l2 law on Z^d, probability proportional to exp(-|z|/scale) with
 * the Euclidean norm (inst/proofs/lattice.md). No floating-point number lies between the bits and the noise. */
#ifndef RIEMDP_SAMPLER_LATTICE_H
#define RIEMDP_SAMPLER_LATTICE_H

#include "rng.h"

/* a positive rational: num below 2^62, den below 2^32 */
struct ratio {
    uint64_t num, den;
};

/* shells of whole numbers of steps: the first ends at `first`, 0 or more, each further one is `width` wide, 1 or more */
struct shells {
    uint64_t width, first;
};

/* random bits by the piece */
struct bits {
    struct rng *rng;
    uint64_t pool;
    int left;
};

enum { DEVIATE_DIGITS = 8 };

/* whole + 0.digits in base 2^32, of which `known` are drawn so far; the others are independent and uniform */
struct deviate {
    uint64_t whole;
    uint32_t digit[DEVIATE_DIGITS];
    int known, negative;
};

/* what doesn't fit is this with its sign: far beyond all that a release lets through */
#define LATTICE_MOST (INT64_C(1) << 62)

void bits_start(struct bits *bits, struct rng *rng);
void bits_wipe(struct bits *bits);

/* true with probability exp(-num/den); den below 2^63 */
int bernoulli_exp(struct bits *bits, uint64_t num, uint64_t den);
/* P(z) proportional to exp(-|z|/scale) */
int64_t discrete_laplace_draw(struct bits *bits, struct ratio scale);
/* P(z) proportional to exp(-(|z_1| + ... + |z_count|)/scale) on z_1 + ... + z_count = 0; scale up to 2^31. Returns the number of
 * trials. */
uint64_t discrete_balanced_draw(struct bits *bits, size_t count, struct ratio scale, int64_t *z);
/* P(z) proportional to exp(-z^2/(2 variance)) */
int64_t discrete_gaussian_draw(struct bits *bits, struct ratio variance);
/* P(z) proportional to exp(-|z|/scale) on Z^d; `work` has 2 d + 1 deviates. Returns the number of trials. */
uint64_t lattice_l2_draw(struct bits *bits, size_t d, struct ratio scale, int64_t *z, struct deviate *work);
/* P(z) proportional to exp(-j width/scale) where |z| is in the j-th shell, from 0. As above; first <= width <= 2^52, and
 * width <= LATTICE_RISE scale. */
uint64_t lattice_staircase_draw(struct bits *bits, size_t d, struct ratio scale, struct shells shells, int64_t *z,
                                struct deviate *work);
/* Counts t of `groups`, and of the rest if there is one, that add up to 0, and a vector z on Z^d of each group:
 * probability proportional to the product of exp(-max(edge |t|, |z|)/scale), with shells (width > 0) to the outer edge of
 * the one in which that maximum lies, and of exp(-edge |t|/scale) of the rest. edge >= 1; scale.num below 2^62/(d + 1),
 * scale.den edge below 2^62; two counts at least. */
uint64_t lattice_joint_draw(struct bits *bits, size_t d, size_t groups, int rest, struct ratio scale, uint64_t edge,
                            struct shells shells, int64_t *t, int64_t *z, struct deviate *work);
/* above it too few draws would be kept */
enum { LATTICE_RISE = 12 };

#endif
