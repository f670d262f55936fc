/* Kernels of linalg.h for WIDE matrices at once: entry (i, j) of all of them stands in one `wide`, so that vector instructions
 * work on WIDE matrices, whatever their size. Matrices never mix: each gives the same bits whatever its neighbours are, and one
 * matrix repeated agrees with a batch. Lower triangles are read; a status other than OK means that one of them failed. */
#ifndef RIEMDP_LINALG_WIDE_H
#define RIEMDP_LINALG_WIDE_H

#include "linalg.h"

enum { WIDE = 4 };

#if !defined(__GNUC__)
#error "riemdp needs a compiler with GNU vector extensions (gcc, clang)"
#endif
typedef double wide __attribute__((vector_size(8 * WIDE), aligned(8), may_alias));

/* `count` <= WIDE matrices matter, the others are copies of the last; `work` is wide_work(n) */
struct wide_kernels {
    /* lower Cholesky factors, zeros above, and the reciprocals r of their diagonals; l may be a */
    int (*chol)(size_t n, size_t count, const wide *a, wide *l, wide *r, wide *work);
    /* S = L^-1 A L^-T, lower triangle; s may be a */
    void (*whiten)(size_t n, size_t count, const wide *l, const wide *r, const wide *a, wide *s, wide *work);
    /* A = L S L', lower triangle; a may be s */
    void (*unwhiten)(size_t n, size_t count, const wide *l, const wide *s, wide *a, wide *work);
    /* (L L')^-1, lower triangle */
    void (*inverse)(size_t n, size_t count, const wide *l, const wide *r, wide *a, wide *work);
    /* eigenvalues in no order; with vectors, a becomes the eigenvectors by columns, else it is destroyed */
    int (*symeig)(size_t n, size_t count, wide *a, wide *w, int vectors, wide *work);
    /* V diag(f) V', lower triangle; a isn't v */
    void (*spectral)(size_t n, size_t count, const wide *v, const wide *f, wide *a, wide *work);
    /* C = A B, C = A' B; c is neither a nor b */
    void (*mul)(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work);
    void (*mul_transposed)(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work);
    /* lower triangle of A B' where that product is symmetric; c is neither a nor b */
    void (*symmetric_product)(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work);
};

/* the fastest for this size on this processor; always the same one */
const struct wide_kernels *wide_kernels(size_t n);
/* each of them, for tests; NULL where this processor lacks it */
enum wide_set { WIDE_PLAIN, WIDE_FMA, WIDE_APART };
const struct wide_kernels *wide_kernels_of(enum wide_set set);
size_t wide_work(size_t n);

/* the first place in `work` that suits vectors; costs at most WIDE doubles */
wide *wide_align(double *work);
/* lower triangles of matrices x[i], or of differences x[i] - y[i] */
void wide_load(size_t n, const double *const *x, wide *a);
void wide_load_difference(size_t n, const double *const *x, const double *const *y, wide *a);
/* the first `count` matrices, both triangles from the lower ones */
void wide_store(size_t n, size_t count, const wide *a, double *const *x);
/* all n entries of number `which`, as they stand */
void wide_take(size_t n, size_t which, const wide *a, double *x);
void wide_put(size_t n, size_t which, const double *x, wide *a);
/* both triangles from the lower ones */
void wide_mirror(size_t n, wide *a);

#endif
