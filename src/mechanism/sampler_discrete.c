#include "sampler_discrete.h"

uint64_t integer_root(uint64_t a)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 62; bit; bit >>= 2) {
        uint64_t sum = root + bit;
        root >>= 1;
        if (a >= sum) {
            a -= sum;
            root += bit;
        }
    }
    return root;
}

/* ---- bits ----------------------------------------------------------------------------------------------------------- */

void bits_start(struct bits *bits, struct rng *rng)
{
    rng_use_system(rng);
    bits->rng = rng;
    bits->pool = 0;
    bits->left = 0;
}

void bits_wipe(struct bits *bits)
{
    volatile uint64_t *pool = &bits->pool;
    *pool = 0;
    bits->left = 0;
}

uint32_t bits_take(struct bits *bits, int count)
{
    if (bits->left < count) {
        bits->pool = rng_bits(bits->rng);
        bits->left = 64;
        host_tick(bits->rng->host, 0, 0);
    }
    uint32_t out = (uint32_t)(bits->pool & ((UINT64_C(1) << count) - 1));
    bits->pool >>= count;
    bits->left -= count;
    return out;
}

/* Loops that reject have at most RNG_ROUNDS rounds, of which each is the last with probability .3 or more, whatever the data; after them the
 * call ends in rng_stuck(). What counts a number up has no such bound, for then the numbers wouldn't have their laws: it stops where they
 * are beyond what leaves the sampler. inst/proofs/lattice.md, section 2 */

uint64_t uniform_below(struct bits *bits, uint64_t most)
{
    uint64_t mask = most - 1, x = most;
    for (int shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    for (int round = 0; round < RNG_ROUNDS && x >= most; round++) {
        x = bits_take(bits, 32);
        if (mask >> 32)
            x |= (uint64_t)bits_take(bits, 32) << 32;
        x &= mask;
    }
    if (x >= most)
        rng_stuck(bits->rng);
    return x;
}

/* ---- Bernoulli ------------------------------------------------------------------------------------------------------- */

/* True with probability num/den <= 1: a uniform number's binary digits against those of the fraction, as they come. Two
 * digits on average. */
static int bernoulli(struct bits *bits, uint64_t num, uint64_t den)
{
    if (num >= den)
        return 1;
    for (int round = 0; num > 0; round++) {
        num <<= 1;
        uint32_t digit = num >= den, random = bits_take(bits, 1);
        if (digit)
            num -= den;
        if (random != digit)
            return random < digit;
        if (round >= RNG_ROUNDS)
            rng_stuck(bits->rng);
    }
    return 0;
}

int bernoulli_big(struct bits *bits, struct big *num, const struct big *den)
{
    if (big_compare(num, den) >= 0)
        return 1;
    for (int round = 0; num->n > 0; round++) {
        big_shift_left(num, 1);
        uint32_t digit = big_compare(num, den) >= 0, random = bits_take(bits, 1);
        if (digit)
            big_subtract(num, den);
        if (random != digit)
            return random < digit;
        if (round >= RNG_ROUNDS)
            rng_stuck(bits->rng);
    }
    return 0;
}

/* Below 2^(size + 1): as many powers of two as leave it below 1 are coins, so that numbers stay short. */
int bernoulli_dyadic(struct bits *bits, struct big *num, int64_t e, struct big *den)
{
    int64_t size = big_bits(num) - big_bits(den) + e;
    if (size > 1)
        return 1;
    for (; size < -1; size++, e++)
        if (bits_take(bits, 1))
            return 0;
    if (e < 0)
        big_shift_left(den, (int)-e);
    else
        big_shift_left(num, (int)e);
    return bernoulli_big(bits, num, den);
}

/* Canonne, Kamath and Steinke 2020, Algorithm 1; a trial with probability x/k is one with x and one with 1/k */
int bernoulli_exp(struct bits *bits, uint64_t num, uint64_t den)
{
    for (; num > den; num -= den)
        if (!bernoulli_exp(bits, 1, 1))
            return 0;
    uint64_t k = 1;
    while (bernoulli(bits, num, den) && bernoulli(bits, 1, k))
        if (++k > RNG_ROUNDS)
            rng_stuck(bits->rng);
    return k & 1;
}

int bernoulli_exp_big(struct bits *bits, struct big *num, const struct big *den)
{
    struct big x;
    uint64_t k = 1;
    while (big_compare(num, den) > 0) {
        if (!bernoulli_exp(bits, 1, 1))
            return 0;
        big_subtract(num, den);
    }
    for (; k <= RNG_ROUNDS; k++) {
        big_copy(&x, num);
        if (!bernoulli_big(bits, &x, den) || !bernoulli(bits, 1, k))
            return k & 1;
    }
    rng_stuck(bits->rng);
    return 0;
}

/* Each is proposed alike, and kept with probability exp(-rate (miss - least)): the one with the least always is, so a trial keeps
 * one with probability 1/count at least. */
size_t discrete_choice_draw(struct bits *bits, const uint64_t *miss, size_t count, struct ratio rate)
{
    struct big num, den;
    uint64_t least = miss[0];
    big_set(&den, rate.den);
    for (size_t j = 1; j < count; j++)
        least = miss[j] < least ? miss[j] : least;
    for (uint64_t round = 0; round < RNG_ROUNDS * (uint64_t)count; round++) {
        size_t j = (size_t)uniform_below(bits, count);
        big_set(&num, miss[j] - least);
        big_multiply_small(&num, rate.num);
        if (bernoulli_exp_big(bits, &num, &den))
            return j;
    }
    rng_stuck(bits->rng);
    return 0;
}

/* ---- discrete Laplace and Gaussian ----------------------------------------------------------------------------------- */

/* their Algorithm 2 */
int64_t discrete_laplace_draw(struct bits *bits, struct ratio scale)
{
    struct big x, den;
    /* (u + v num)/den is beyond LATTICE_MOST from there on */
    uint64_t most = (uint64_t)LATTICE_MOST, q = most / scale.num + 2,
             enough = q < most / scale.den ? q * scale.den : most;
    big_set(&den, scale.den);
    for (int round = 0; round < RNG_ROUNDS; round++) {
        uint64_t u = uniform_below(bits, scale.num), v = 0;
        if (!bernoulli_exp(bits, u, scale.num))
            continue;
        while (v < enough && bernoulli_exp(bits, 1, 1))
            v++;
        if (scale.den == 1 && v < 2) {
            u += v * scale.num;
        } else {
            big_set(&x, v);
            big_multiply_small(&x, scale.num);
            big_add_small(&x, u);
            big_divide(&x, &den);
            u = big_bits(&x) > 62 ? (uint64_t)LATTICE_MOST : big_low(&x);
        }
        if (u > (uint64_t)LATTICE_MOST)
            u = (uint64_t)LATTICE_MOST;
        int negative = (int)bits_take(bits, 1);
        if (negative && u == 0)
            continue;
        return negative ? -(int64_t)u : (int64_t)u;
    }
    rng_stuck(bits->rng);
    return 0;
}

/* All numbers but the last are independent; the last one, which brings their sum to 0, is kept with probability
 * exp(-|it|/scale). That is at least .47/sqrt(count) on average. */
uint64_t discrete_balanced_draw(struct bits *bits, size_t count, struct ratio scale, int64_t *z)
{
    const int64_t most = INT64_C(1) << 45; /* beyond are next to none, and their sums would fit no more */
    struct big left, den;
    uint64_t rounds = RNG_ROUNDS * (integer_root(count) + 1);
    big_set(&den, scale.num);
    for (uint64_t round = 1; round <= rounds; round++) {
        int64_t sum = 0;
        int far = 0;
        for (size_t j = 0; j + 1 < count; j++) {
            z[j] = discrete_laplace_draw(bits, scale);
            far |= z[j] > most || z[j] < -most;
            sum += far ? 0 : z[j];
        }
        z[count - 1] = -sum;
        big_set(&left, (uint64_t)(sum < 0 ? -sum : sum));
        big_multiply_small(&left, scale.den);
        if (!far && bernoulli_exp_big(bits, &left, &den))
            return round;
    }
    rng_stuck(bits->rng);
    return rounds;
}

/* their Algorithm 3: discrete Laplace of scale t = floor(sigma) + 1, kept with probability
 * exp(-(|y| - variance/t)^2/(2 variance)) */
int64_t discrete_gaussian_draw(struct bits *bits, struct ratio variance)
{
    struct ratio t = {integer_root(variance.num / variance.den) + 1, 1};
    struct big gamma, p, den;
    big_set(&p, variance.num);
    big_set(&den, 2 * variance.num);
    big_multiply_small(&den, variance.den);
    big_multiply_small(&den, t.num);
    big_multiply_small(&den, t.num);
    for (int round = 0; round < RNG_ROUNDS; round++) {
        int64_t y = discrete_laplace_draw(bits, t);
        big_set(&gamma, (uint64_t)(y < 0 ? -y : y));
        big_multiply_small(&gamma, t.num);
        big_multiply_small(&gamma, variance.den);
        if (big_compare(&gamma, &p) >= 0) {
            big_subtract(&gamma, &p);
        } else {
            struct big rest;
            big_copy(&rest, &p);
            big_subtract(&rest, &gamma);
            big_copy(&gamma, &rest);
        }
        big_square(&gamma);
        if (bernoulli_exp_big(bits, &gamma, &den))
            return y;
    }
    rng_stuck(bits->rng);
    return 0;
}
