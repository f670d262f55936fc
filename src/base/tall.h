/* Products of n x p matrices with orthonormal columns, p small, stored by columns without gaps. */
#ifndef RIEMDP_TALL_H
#define RIEMDP_TALL_H

#include <stddef.h>

/* p x p: X'Y, and exactly symmetric X'X */
void tall_cross(size_t n, size_t p, const double *x, const double *y, double *out);
void tall_gram(size_t n, size_t p, const double *x, double *out);
/* out = Y + X A, A being p x p; out may be y, but not x */
void tall_add(size_t n, size_t p, const double *y, const double *x, const double *a, double *out);
/* C (m x n) = A B for small sizes, with inner dimension k; C is neither A nor B */
void tall_mul(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb, double *c,
              size_t ldc);

#endif
