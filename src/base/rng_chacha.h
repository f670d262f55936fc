/* ChaCha20 (Bernstein 2008; RFC 8439, doi:10.17487/RFC8439): CHACHA_LANES blocks of 64 bytes at once. */
#ifndef RIEMDP_RNG_CHACHA_H
#define RIEMDP_RNG_CHACHA_H

#include <stddef.h>
#include <stdint.h>

enum { CHACHA_LANES = 8, CHACHA_KEY = 8, CHACHA_NONCE = 3, CHACHA_OUT = 16 * CHACHA_LANES };

/* Blocks counter, ..., counter + CHACHA_LANES - 1: word i of block b is out[i * CHACHA_LANES + b]. Key and nonce as words, which the
 * RFC reads from bytes with the least significant first. */
typedef void chacha_blocks(uint32_t *out, const uint32_t *key, const uint32_t *nonce, uint32_t counter);

/* the fastest on this processor; all of them give the same bits */
chacha_blocks *chacha(void);
/* each of them, for tests; NULL where this processor lacks it */
enum chacha_set { CHACHA_PLAIN, CHACHA_AVX2 };
chacha_blocks *chacha_of(enum chacha_set set);

#endif
