/* Sums of a kernel over pairs of records, within groups that are drawn again and again: what permutation tests are made from. */
#ifndef RIEMDP_PERMUTATION_H
#define RIEMDP_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

#include "ground.h"

/* of vectors z, w: exp(-|z - w|^2/(2 b^2)); of unit vectors exp(-angle/b); exp(-distance/b) of points of the hyperboloid whose
 * last coordinates z and w are; no kernel, but what one is made from: the smaller of 1 and |z - w|^2/b^2 */
enum kernel_kind { KERNEL_GAUSSIAN = 1, KERNEL_ANGLE = 2, KERNEL_HYPERBOLIC = 3, KERNEL_SQUARES = 4 };

/* values are whole multiples of this */
#define KERNEL_UNIT 0x1p-28

struct kernel {
    int kind;
    double bandwidth;
    size_t n, length; /* records, numbers of each */
    const double *x;  /* one record after the other */
    const double *y;  /* NULL, or the other half of each pair: then the kernel is that of phi(x) - phi(y) */
};

/* its value in units, rounded: a function of the two vectors alone, the same for either order */
int32_t kernel_value(const struct kernel *k, const double *z, const double *w);
/* the upper triangle of an n x n matrix with its diagonal, row after row; the rest is left alone */
void kernel_fill(const struct kernel *k, struct host *host, int32_t *out);
/* group: of each record, from 0; sums[g]: over pairs i < j within group g. place, first: n and groups + 1 numbers of work */
void kernel_sums(const int32_t *matrix, size_t n, const int *group, size_t groups, double *sums, size_t *place, size_t *first);
/* the lower triangle from the upper one */
void kernel_mirror(int32_t *matrix, size_t n);
/* the sum of a_ij b_ij over i < j, where b is `b` with rows and columns in the order `at`: exact but for its last rounding; both
 * matrices are full, their entries from 0 to 2^28 */
double kernel_product(const int32_t *a, const int32_t *b, size_t n, const int *at);
/* the sum of a[i] b[at[i]], likewise; whole numbers from 0 to below 2^42 */
double sums_product(const int64_t *a, const int64_t *b, size_t n, const int *at);

#endif
