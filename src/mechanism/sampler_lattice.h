/* Exact noise on Z^d, by integer arithmetic on random bits: the l2 law, probability proportional to exp(-|z|/scale) with the
 * Euclidean norm, staircases, and counts with vectors beside them (inst/proofs/lattice.md, mean-sensitivity.md, 15). */
#ifndef RIEMDP_SAMPLER_LATTICE_H
#define RIEMDP_SAMPLER_LATTICE_H

#include "sampler_discrete.h"

/* shells of whole numbers of steps: the first ends at `first`, 0 or more, each further one is `width` wide, 1 or more */
struct shells {
    uint64_t width, first;
};

enum { DEVIATE_DIGITS = 8 };

/* whole + 0.digits in base 2^32, of which `known` are drawn so far; the others are independent and uniform */
struct deviate {
    uint64_t whole;
    uint32_t digit[DEVIATE_DIGITS];
    int known, negative;
};

/* P(z) proportional to exp(-|z|/scale) on Z^d; `work` has 2 d + 1 deviates. Returns the number of trials. */
uint64_t lattice_l2_draw(struct bits *bits, size_t d, struct ratio scale, int64_t *z, struct deviate *work);
/* P(z) proportional to exp(-j width/scale) where |z| is in the j-th shell, from 0. As above; first <= width <= 2^52, and
 * width <= LATTICE_RISE scale. */
uint64_t lattice_staircase_draw(struct bits *bits, size_t d, struct ratio scale, struct shells shells, int64_t *z,
                                struct deviate *work);
/* Counts t of `groups`, and of the rest if there is one, that add up to 0, and a vector z on Z^d of each group:
 * probability proportional to the product of exp(-max(edge |t|, |z|)/scale), with shells (width > 0) to the outer edge of
 * the one in which that maximum lies, and of exp(-edge |t|/scale) of the rest. edge >= 1; scale.num below 2^62/(d + 1),
 * scale.den edge below 2^62; two counts at least. */
uint64_t lattice_joint_draw(struct bits *bits, size_t d, size_t groups, int rest, struct ratio scale, uint64_t edge,
                            struct shells shells, int64_t *t, int64_t *z, struct deviate *work);
/* above it too few draws would be kept */
enum { LATTICE_RISE = 12 };

#endif
