/* Random numbers from one of two sources: the operating system (every private release) or R's generator (simulations and
 * mf_random). A struct rng lives in one .Call and is wiped at its end; nothing outlives the call. */
#ifndef RIEMDP_RNG_H
#define RIEMDP_RNG_H

#include "riemdp.h"

enum rng_source { RNG_SYSTEM, RNG_R };
enum { RNG_WORDS = 512 };

struct rng {
    enum rng_source source;
    struct host *host;
    size_t left;
    uint64_t word[RNG_WORDS];
};

int rng_system_bytes(void *out, size_t n); /* rng_os.c: 0 on success */

void rng_start(struct rng *rng, enum rng_source source, struct host *host);
void rng_wipe(struct rng *rng);
uint64_t rng_bits(struct rng *rng);  /* 64 random bits */
double rng_uniform(struct rng *rng); /* open interval (0, 1) */
double rng_normal(struct rng *rng);
void rng_normals(struct rng *rng, size_t n, double sd, double *out); /* n normals times sd */
size_t rng_below(struct rng *rng, size_t n);                         /* uniform on 0, ..., n - 1 */
double rng_gamma(struct rng *rng, double shape);                     /* unit scale */
/* uniform on the unit sphere of R^n */
void rng_direction(struct rng *rng, size_t n, double *out);

#endif
