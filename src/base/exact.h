/* Sums of doubles that are exact, so that neither order nor grouping matters: fixed-point numbers as wide as the range of doubles, in
 * digits of 32 bits (Neal 2015, doi:10.48550/arXiv.1505.05571). */
#ifndef RIEMDP_EXACT_H
#define RIEMDP_EXACT_H

#include <stddef.h>
#include <stdint.h>

enum { EXACT_DIGITS = 68 }; /* 66 for the range of doubles, two for what 2^63 of them may add up to */

struct exact {
    size_t n;       /* sums side by side */
    int64_t *digit; /* n * EXACT_DIGITS; digit i counts multiples of 2^(32 i - 1074) */
    size_t pending; /* rows added since digits were last brought into their range */
    int bad;        /* something was not finite */
};

void exact_clear(struct exact *e);
/* adds row[j] to sum j; what is not finite only sets `bad` */
void exact_add(struct exact *e, const double *row);
/* adds `digit` at place `place` of sum j; |digit| below 2^53, and a call of exact_carry() every 512 rows of such */
void exact_add_digit(struct exact *e, size_t j, size_t place, double digit);
/* every digit from -2^31 to below 2^31: one way to write each number */
void exact_carry(struct exact *e);
/* adds the sums of `from`, which is brought into range */
void exact_merge(struct exact *e, struct exact *from);
/* the places from *low to below *high hold all digits that are not 0; exact_carry() first */
void exact_range(const struct exact *e, size_t *low, size_t *high);
/* Sum j as a double, to a unit in the last place and the same for the same exact sum; exact_carry() first. */
double exact_value(const struct exact *e, size_t j);

#endif
