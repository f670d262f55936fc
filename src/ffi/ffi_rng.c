/* The stream's block function and the stream under a known key, for tests; no release comes near them. */
#include "ffi.h"

#include <string.h>

static int is_raw(SEXP x, size_t n)
{
    return TYPEOF(x) == RAWSXP && (size_t)XLENGTH(x) == n;
}

static void read_words(uint32_t *out, const unsigned char *from, size_t n)
{
    for (size_t i = 0; i < n; i++, from += 4)
        out[i] = from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Blocks counter, ... in the order and bytes of RFC 8439; NULL where the processor lacks the set. */
SEXP riemdp_chacha(SEXP key, SEXP nonce, SEXP counter, SEXP set)
{
    double first = ffi_number(counter, "counter"), which = ffi_number(set, "set");
    if (!is_raw(key, 4 * CHACHA_KEY) || !is_raw(nonce, 4 * CHACHA_NONCE))
        ffi_abort_text("argument", "`key` must be 32 raw bytes and `nonce` 12.");
    if (!(first >= 0 && first <= 4294967295.0) || !(which == CHACHA_PLAIN || which == CHACHA_AVX2))
        ffi_abort_text("argument", "`counter` must be a number of 32 bits and `set` that of a set of instructions.");
    chacha_blocks *blocks = chacha_of(which == CHACHA_PLAIN ? CHACHA_PLAIN : CHACHA_AVX2);
    if (!blocks)
        return R_NilValue;
    uint32_t k[CHACHA_KEY], n[CHACHA_NONCE], word[CHACHA_OUT];
    read_words(k, RAW(key), CHACHA_KEY);
    read_words(n, RAW(nonce), CHACHA_NONCE);
    blocks(word, k, n, (uint32_t)first);
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, sizeof word));
    for (size_t b = 0; b < CHACHA_LANES; b++)
        for (size_t i = 0; i < 16; i++)
            for (size_t j = 0; j < 4; j++)
                RAW(out)[64 * b + 4 * i + j] = (unsigned char)(word[i * CHACHA_LANES + b] >> 8 * j);
    UNPROTECT(1);
    return out;
}

/* n words of the stream from key and nonce, eight bytes each, the least significant first */
SEXP riemdp_stream(SEXP secret, SEXP n)
{
    double count = ffi_number(n, "n");
    if (!is_raw(secret, 4 * (CHACHA_KEY + CHACHA_NONCE)) || !(count >= 0 && count <= 1e6) || count != floor(count))
        ffi_abort_text("argument", "`secret` must be 44 raw bytes and `n` a count up to 1e6.");
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, 8 * (R_xlen_t)count));
    struct rng rng;
    rng_start(&rng, RNG_STREAM, NULL);
    read_words(rng.secret, RAW(secret), CHACHA_KEY + CHACHA_NONCE);
    rng.keyed = 1;
    for (size_t i = 0; i < (size_t)count; i++) {
        uint64_t x = rng_bits(&rng);
        for (size_t j = 0; j < 8; j++)
            RAW(out)[8 * i + j] = (unsigned char)(x >> 8 * j);
    }
    rng_wipe(&rng);
    UNPROTECT(1);
    return out;
}

/* Fingerprint of bytes under a key of 32: the cascade of Bellare, Canetti and Krawczyk (1996, doi:10.1109/SFCS.1996.548510) over the
 * block function. Sixteen bytes of the message are nonce and counter, the first half of the block that they give is the next key. The
 * message's length goes first, so that no message begins another one and the cascade is as good as the block function is. */
SEXP riemdp_seal(SEXP key, SEXP bytes)
{
    enum { STEP = 4 * (CHACHA_NONCE + 1) };
    if (!is_raw(key, 4 * CHACHA_KEY) || TYPEOF(bytes) != RAWSXP)
        ffi_abort_text("argument", "`key` must be 32 raw bytes and `bytes` raw.");
    size_t n = (size_t)XLENGTH(bytes);
    uint32_t k[CHACHA_KEY], message[CHACHA_NONCE + 1], block[CHACHA_OUT];
    chacha_blocks *blocks = chacha();
    read_words(k, RAW(key), CHACHA_KEY);
    for (size_t done = 0, first = 1; first || done < n; first = 0) {
        unsigned char part[STEP] = {0};
        if (first)
            for (size_t j = 0; j < 8; j++)
                part[j] = (unsigned char)((uint64_t)n >> 8 * j);
        else {
            size_t count = n - done < STEP ? n - done : STEP;
            memcpy(part, RAW(bytes) + done, count);
            done += count;
        }
        read_words(message, part, CHACHA_NONCE + 1);
        blocks(block, k, message, message[CHACHA_NONCE]);
        for (size_t i = 0; i < CHACHA_KEY; i++)
            k[i] = block[i * CHACHA_LANES];
        if (done % (1 << 24) == 0)
            R_CheckUserInterrupt();
    }
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, 4 * CHACHA_KEY));
    for (size_t i = 0; i < 4 * CHACHA_KEY; i++)
        RAW(out)[i] = (unsigned char)(k[i / 4] >> 8 * (i % 4));
    UNPROTECT(1);
    return out;
}
