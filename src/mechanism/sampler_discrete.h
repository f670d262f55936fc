/* Exact noise on the integers, by integer arithmetic on random bits: discrete Laplace and discrete Gaussian (Canonne, Kamath
 * and Steinke 2020, doi:10.48550/arXiv.2004.00010). No floating-point number lies between the bits and the noise. */
#ifndef RIEMDP_SAMPLER_DISCRETE_H
#define RIEMDP_SAMPLER_DISCRETE_H

#include "big.h"
#include "rng.h"

/* a positive rational: num below 2^62, den below 2^32 */
struct ratio {
    uint64_t num, den;
};

/* m 2^e */
struct dyadic {
    uint64_t m;
    int64_t e;
};

/* random bits by the piece */
struct bits {
    struct rng *rng;
    uint64_t pool;
    int left;
};

/* what doesn't fit is this with its sign: far beyond all that a release lets through */
#define LATTICE_MOST (INT64_C(1) << 62)

void bits_start(struct bits *bits, struct rng *rng);
void bits_wipe(struct bits *bits);
uint32_t bits_take(struct bits *bits, int count);

uint64_t integer_root(uint64_t a);
/* uniform on 0, ..., most - 1; most below 2^63 */
uint64_t uniform_below(struct bits *bits, uint64_t most);
/* true with probability num/den, or 1 if that is less; `num` is used up */
int bernoulli_big(struct bits *bits, struct big *num, const struct big *den);
/* true with probability num 2^e/den, or 1 if that is less; 0 < num, both of at most 2,900 bits; both are used up */
int bernoulli_dyadic(struct bits *bits, struct big *num, int64_t e, struct big *den);
/* true with probability exp(-num/den); den below 2^63. Of large numbers, `num` is used up. */
int bernoulli_exp(struct bits *bits, uint64_t num, uint64_t den);
int bernoulli_exp_big(struct bits *bits, struct big *num, const struct big *den);
/* P(j) proportional to exp(-rate miss[j]); rate.den below 2^33 */
size_t discrete_choice_draw(struct bits *bits, const uint64_t *miss, size_t count, struct ratio rate);
/* P(z) proportional to exp(-|z|/scale) */
int64_t discrete_laplace_draw(struct bits *bits, struct ratio scale);
/* P(z) proportional to exp(-(|z_1| + ... + |z_count|)/scale) on z_1 + ... + z_count = 0; scale up to 2^31. Returns the number of
 * trials. */
uint64_t discrete_balanced_draw(struct bits *bits, size_t count, struct ratio scale, int64_t *z);
/* P(z) proportional to exp(-z^2/(2 variance)) */
int64_t discrete_gaussian_draw(struct bits *bits, struct ratio variance);

#endif
