/* Natural numbers of up to 4096 bits, digits of 32 bits, lowest first, for lattice mode: no floating-point number in
 * here (tests/testthat/test-sampler-lattice.R). */
#ifndef RIEMDP_BIG_H
#define RIEMDP_BIG_H

#include <stdint.h>

enum { LIMBS = 128 };

struct big {
    int n; /* digits in use; the highest isn't zero */
    uint32_t w[LIMBS];
};

void big_trim(struct big *a);
void big_set(struct big *a, uint64_t x);
void big_copy(struct big *a, const struct big *b);
uint64_t big_low(const struct big *a);
int big_bits(const struct big *a);
int big_compare(const struct big *a, const struct big *b);
void big_add(struct big *a, const struct big *b);
void big_add_small(struct big *a, uint64_t x);
void big_subtract(struct big *a, const struct big *b);
void big_multiply(struct big *out, const struct big *a, const struct big *b);
void big_multiply_small(struct big *a, uint64_t x);
void big_square(struct big *a);
void big_shift_left(struct big *a, int bits);
void big_halve(struct big *a);
void big_divide(struct big *a, const struct big *b);
void big_root(struct big *a);

#endif
