/* What the files of products share. */
#ifndef RIEMDP_MANIFOLD_PRODUCT_H
#define RIEMDP_MANIFOLD_PRODUCT_H

#include "manifold.h"

enum { MOST_BLOCK = 128, DOUBLES = 4096, BUFFERS = 4 };

static inline const struct product *parts_of(manifold_t m)
{
    return m->context;
}

/* records that the parts' operations see at once */
static inline size_t block_of(manifold_t part)
{
    size_t longest = part->ambient > part->dim ? part->ambient : part->dim, n = DOUBLES / longest / 4 * 4;
    return n < 4 ? 4 : n > MOST_BLOCK ? MOST_BLOCK : n;
}

static inline size_t buffer_of(manifold_t part)
{
    return block_of(part) * (part->ambient > part->dim ? part->ambient : part->dim);
}

/* one operation in both ways to distances: the same bits */
static inline double with_square(double before, double root, double apart)
{
    return before + square(root * apart);
}

/* manifold_product_strided.c: part by part where the parts' numbers lie, in blocks of MOST_BLOCK records */
int product_strided(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
                    size_t n, double *work);

#endif
