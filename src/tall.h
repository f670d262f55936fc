/* Products of n x p matrices with orthonormal columns, p small, stored by columns without gaps. */
#ifndef RIEMDP_TALL_H
#define RIEMDP_TALL_H

#include <stddef.h>

/* p x p: X'Y, and exactly symmetric X'X */
void tall_cross(size_t n, size_t p, const double *x, const double *y, double *out);
void tall_gram(size_t n, size_t p, const double *x, double *out);
/* out = Y + X A, A being p x p; out may be y, but not x */
void tall_add(size_t n, size_t p, const double *y, const double *x, const double *a, double *out);

#endif
