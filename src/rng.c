#include "rng.h"

#include <R_ext/Random.h>

void rng_start(struct rng *rng, enum rng_source source, struct host *host)
{
    rng->source = source;
    rng->host = host;
    rng->left = 0;
}

void rng_wipe(struct rng *rng)
{
    volatile uint64_t *w = rng->word; /* volatile: the compiler may not drop stores to memory that dies */
    for (size_t i = 0; i < RNG_WORDS; i++)
        w[i] = 0;
    rng->left = 0;
}

static uint64_t next_word(struct rng *rng)
{
    if (rng->left == 0) {
        if (rng_system_bytes(rng->word, sizeof rng->word) != 0)
            rng->host->fail(rng->host, STATUS_RANDOMNESS); /* doesn't return */
        rng->left = RNG_WORDS;
    }
    uint64_t x = rng->word[--rng->left];
    rng->word[rng->left] = 0; /* what was used can't be read back */
    return x;
}

/* 53 bits at a binary exponent that is drawn as well: small values keep full precision, zero is never returned */
static double system_uniform(struct rng *rng)
{
    int exponent = 0;
    uint64_t x = next_word(rng);
    while (x >> 63 == 0 && exponent < 1000) {
        /* each leading zero bit halves the value; 64 zeros in a row draw another word */
        if (x == 0) {
            exponent += 64;
            x = next_word(rng);
        } else {
            x <<= 1;
            exponent++;
        }
    }
    /* the bits below the leading one: those that the shift took are drawn again */
    uint64_t mantissa = exponent == 0 ? x : next_word(rng) | (UINT64_C(1) << 63);
    return ldexp((double)(mantissa >> 11) * 0x1p-53, -exponent);
}

/* R's generator gives 16 good bits a draw whatever its kind */
uint64_t rng_bits(struct rng *rng)
{
    if (rng->source == RNG_SYSTEM)
        return next_word(rng);
    uint64_t x = 0;
    for (int i = 0; i < 4; i++)
        x = x << 16 | (uint64_t)(unif_rand() * 65536);
    return x;
}

double rng_uniform(struct rng *rng)
{
    if (rng->source == RNG_R)
        return unif_rand();
    return system_uniform(rng);
}

/* Marsaglia's polar method; one of the pair is dropped, so that no state is kept */
double rng_normal(struct rng *rng)
{
    if (rng->source == RNG_R)
        return norm_rand();
    double u, v, s;
    do {
        u = 2 * system_uniform(rng) - 1;
        v = 2 * system_uniform(rng) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

/* Marsaglia and Tsang 2000, doi:10.1145/358407.358414 */
double rng_gamma(struct rng *rng, double shape)
{
    if (shape < 1)
        return rng_gamma(rng, shape + 1) * pow(rng_uniform(rng), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = rng_normal(rng), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(rng_uniform(rng)) < 0.5 * x * x + d * (1 - v + log(v)))
            return d * v;
    }
}

void rng_direction(struct rng *rng, size_t n, double *out)
{
    double s;
    do {
        for (size_t i = 0; i < n; i++)
            out[i] = rng_normal(rng);
        s = norm2(n, out);
    } while (s == 0);
    for (size_t i = 0; i < n; i++)
        out[i] /= s;
}
