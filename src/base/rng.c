#include "rng.h"
#include "rng_ziggurat.h"

#include <string.h>

/* The barrier says that the zeros are read: a compiler may not drop them, though the memory dies. */
static void wipe(void *x, size_t n)
{
    memset(x, 0, n);
    __asm__ volatile("" : : "r"(x) : "memory");
}

/* clears what the block function left on the stack */
static __attribute__((noinline)) void wipe_stack(void)
{
    char below[2048];
    wipe(below, sizeof below);
}

void rng_start(struct rng *rng, enum rng_source source, struct host *host)
{
    rng->source = source;
    rng->host = host;
    rng->left = 0;
    rng->keyed = 0;
}

void rng_wipe(struct rng *rng)
{
    wipe(rng->word, sizeof rng->word);
    wipe(rng->secret, sizeof rng->secret);
    rng->left = 0;
    rng->keyed = 0;
}

void rng_use_system(struct rng *rng)
{
    if (rng->source != RNG_STREAM)
        return;
    rng_wipe(rng);
    rng->source = RNG_SYSTEM;
}

/* Fast key erasure (Bernstein 2017): each block of output begins with the next key, which takes the old one's place at once; so
 * nothing in memory leads back to numbers that were used. */
static __attribute__((noinline)) void refill(struct rng *rng)
{
    int stream = rng->source == RNG_STREAM, failed = 0;
    if (!stream)
        failed = rng_system_bytes(rng->word, sizeof rng->word);
    else if (!rng->keyed)
        failed = rng_system_bytes(rng->secret, sizeof rng->secret);
    if (failed)
        rng->host->fail(rng->host, STATUS_RANDOMNESS); /* doesn't return */
    rng->left = RNG_WORDS;
    if (!stream)
        return;
    chacha_blocks *blocks = chacha();
    uint32_t *out = (uint32_t *)rng->word;
    for (uint32_t i = 0; i < sizeof rng->word / (CHACHA_OUT * sizeof *out); i++)
        blocks(out + i * CHACHA_OUT, rng->secret, rng->secret + CHACHA_KEY, i * CHACHA_LANES);
    wipe_stack();
    rng->keyed = 1;
    rng->left -= CHACHA_KEY / 2;
    memcpy(rng->secret, rng->word + rng->left, CHACHA_KEY * sizeof *out);
    wipe(rng->word + rng->left, CHACHA_KEY * sizeof *out);
}

static inline uint64_t next_word(struct rng *rng)
{
    if (rng->left == 0)
        refill(rng);
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
    if (rng->source != RNG_HOST)
        return next_word(rng);
    uint64_t x = 0;
    for (int i = 0; i < 4; i++)
        x = x << 16 | (uint64_t)(rng->host->uniform(rng->host) * 65536);
    return x;
}

double rng_uniform(struct rng *rng)
{
    if (rng->source == RNG_HOST)
        return rng->host->uniform(rng->host);
    return system_uniform(rng);
}

/* Uniform in (0, 1) with full relative precision from the 55 upper bits of a word: where they are small, a further word follows
 * them. */
static double long_fraction(struct rng *rng, uint64_t bits)
{
    if (bits >> 42)
        return ((double)bits + 0.5) * 0x1p-55;
    return (double)bits * 0x1p-55 + (double)((next_word(rng) >> 11) + 0.5) * 0x1p-108;
}

void rng_stuck(struct rng *rng)
{
    if (rng->host)
        rng->host->fail(rng->host, STATUS_RANDOMNESS); /* doesn't return */
}

/* What one word couldn't decide: edges of layers, the tail, numbers near 0. */
static double ziggurat_slow(struct rng *rng, uint64_t word)
{
    for (int round = 0; round < RNG_ROUNDS; round++, word = next_word(rng)) {
        size_t layer = word & 255;
        double sign = word & 256 ? -1 : 1, x = long_fraction(rng, word >> 9) * ziggurat_edge[layer];
        if (x < ziggurat_edge[layer + 1])
            return sign * x;
        if (layer == 0) { /* Marsaglia 1964: the tail beyond r */
            double y = 0;
            x = 1;
            for (int k = 0; k < RNG_ROUNDS && 2 * y < x * x; k++) {
                x = -log(system_uniform(rng)) / ziggurat_tail;
                y = -log(system_uniform(rng));
            }
            if (2 * y < x * x)
                rng_stuck(rng);
            return sign * (ziggurat_tail + x);
        }
        double low = ziggurat_height[layer], high = ziggurat_height[layer + 1];
        if (low + system_uniform(rng) * (high - low) < exp(-0.5 * x * x))
            return sign * x;
    }
    rng_stuck(rng);
    return 0;
}

/* Ziggurat (Marsaglia and Tsang 2000, doi:10.18637/jss.v005.i08) on whole words: 8 bits choose the layer, one the sign, the
 * others the place, so that none is used twice (Doornik 2005). True where the word alone decides. No branch: signs are random, and a
 * processor can't foretell them. */
static inline int ziggurat_fast(uint64_t word, double *out)
{
    union {
        double x;
        uint64_t bits;
    } u;
    uint64_t bits = word >> 9;
    size_t layer = word & 255;
    u.x = ((double)(int64_t)bits + 0.5) * 0x1p-55 * ziggurat_edge[layer];
    int decided = (u.x < ziggurat_edge[layer + 1]) & (bits >> 42 != 0);
    u.bits |= (word & 256) << 55;
    *out = u.x;
    return decided;
}

static double system_normal(struct rng *rng)
{
    double x;
    uint64_t word = next_word(rng);
    return ziggurat_fast(word, &x) ? x : ziggurat_slow(rng, word);
}

double rng_normal(struct rng *rng)
{
    if (rng->source == RNG_HOST)
        return rng->host->normal(rng->host);
    return system_normal(rng);
}

/* At most CHUNK words that are there; the ones that don't decide are looked at again afterwards, with words that follow. */
static size_t some_normals(struct rng *rng, size_t n, double sd, double *out)
{
    enum { CHUNK = 128 };
    uint64_t again[CHUNK];
    unsigned char where[CHUNK];
    if (rng->left == 0)
        refill(rng);
    size_t count = n < rng->left ? n : rng->left, open = 0;
    count = count < CHUNK ? count : CHUNK;
    uint64_t *word = rng->word + (rng->left -= count);
    for (size_t i = 0; i < count; i++) {
        double x;
        uint64_t w = word[i];
        again[open] = w;
        where[open] = (unsigned char)i;
        open += !ziggurat_fast(w, &x);
        out[i] = sd * x;
        word[i] = 0;
    }
    for (size_t k = 0; k < open; k++)
        out[where[k]] = sd * ziggurat_slow(rng, again[k]);
    wipe(again, (open + 1 < CHUNK ? open + 1 : CHUNK) * sizeof *again);
    return count;
}

void rng_normals(struct rng *rng, size_t n, double sd, double *out)
{
    if (rng->source == RNG_HOST) {
        for (size_t i = 0; i < n; i++)
            out[i] = sd * rng->host->normal(rng->host);
        return;
    }
    for (size_t done = 0; done < n;)
        done += some_normals(rng, n - done, sd, out + done);
}

/* uniform on 0, ..., n - 1, without bias; n < 2^53 */
size_t rng_below(struct rng *rng, size_t n)
{
    uint64_t most = UINT64_MAX - UINT64_MAX % n, x = most;
    for (int round = 0; round < RNG_ROUNDS && x >= most; round++)
        x = rng_bits(rng);
    if (x >= most)
        rng_stuck(rng);
    return (size_t)(x % n);
}

/* Marsaglia and Tsang 2000, doi:10.1145/358407.358414 */
double rng_gamma(struct rng *rng, double shape)
{
    if (shape < 1)
        return rng_gamma(rng, shape + 1) * pow(rng_uniform(rng), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (int round = 0; round < RNG_ROUNDS; round++) {
        double x = rng_normal(rng), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(rng_uniform(rng)) < 0.5 * x * x + d * (1 - v + log(v)))
            return d * v;
    }
    rng_stuck(rng);
    return d;
}

void rng_direction(struct rng *rng, size_t n, double *out)
{
    double s = 0;
    for (int round = 0; round < RNG_ROUNDS && s == 0; round++) {
        for (size_t i = 0; i < n; i++)
            out[i] = rng_normal(rng);
        s = norm2(n, out);
    }
    if (!(s > 0))
        rng_stuck(rng);
    for (size_t i = 0; i < n; i++)
        out[i] = s > 0 ? out[i] / s : i == 0;
}
