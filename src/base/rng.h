/* Random numbers from one of three sources. A struct rng lives in one .Call and is wiped at its end: nothing outlives the call, so no
 * two processes can share what comes of a fork.
 *
 * RNG_STREAM   every private release but the lattice's: ChaCha20 with fast key erasure, under a key of 256 bits and a nonce of 96 that
 *              the operating system gives each call anew (inst/proofs/randomness.md)
 * RNG_SYSTEM   the operating system's own bits, one by one: lattice mode
 * RNG_HOST     the host's generator, which is R's: simulations and mf_random */
#ifndef RIEMDP_RNG_H
#define RIEMDP_RNG_H

#include "ground.h"
#include "rng_chacha.h"

enum rng_source { RNG_STREAM, RNG_SYSTEM, RNG_HOST };
enum { RNG_WORDS = 512 };

/* Rounds of rejection at most. Each ends with probability .3 or more, so that none is left with one below 2^-2100, less than any double but
 * 0, whatever the data: then the call ends in an error, and nothing is released. inst/proofs/randomness.md */
enum { RNG_ROUNDS = 4096 };

struct rng {
    enum rng_source source;
    struct host *host;
    size_t left;
    int keyed;
    uint32_t secret[CHACHA_KEY + CHACHA_NONCE];
    uint64_t word[RNG_WORDS];
};

int rng_system_bytes(void *out, size_t n); /* rng_os.c: 0 on success */

void rng_start(struct rng *rng, enum rng_source source, struct host *host);
void rng_wipe(struct rng *rng);
void rng_use_system(struct rng *rng); /* no stream from now on, but the operating system's bits; R's generator stays */
void rng_stuck(struct rng *rng);      /* ends the call: so many rounds in vain come of a generator that is stuck */
uint64_t rng_bits(struct rng *rng);   /* 64 random bits */
double rng_uniform(struct rng *rng);  /* open interval (0, 1) */
double rng_normal(struct rng *rng);
void rng_normals(struct rng *rng, size_t n, double sd, double *out); /* n normals times sd */
size_t rng_below(struct rng *rng, size_t n);                         /* uniform on 0, ..., n - 1 */
double rng_gamma(struct rng *rng, double shape);                     /* unit scale */
/* uniform on the unit sphere of R^n */
void rng_direction(struct rng *rng, size_t n, double *out);

#endif
