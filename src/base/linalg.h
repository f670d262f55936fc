/* Linear algebra on small dense matrices, stored by columns. BLAS and LAPACK are called by linalg.c and linalg_eigen.c alone.
 * Nothing here allocates: workspaces come from the caller, and each la_*_work() says how many doubles are needed. */
#ifndef RIEMDP_LINALG_H
#define RIEMDP_LINALG_H

#include "ground.h"

/* C (m x n) = op(A) op(B) with inner dimension k; leading dimensions are the stored ones */
void la_mul(char ta, char tb, size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
            double *c, size_t ldc);
/* the same for n x n matrices without gaps */
void la_mul_square(char ta, char tb, size_t n, const double *a, const double *b, double *c);

void la_mirror_lower(size_t n, double *a); /* copies the lower triangle onto the upper one */
void la_symmetrize(size_t n, double *a);   /* (A + A') / 2 */

/* lower Cholesky factor, zeros above; reads the lower triangle of a (may be the same array) */
int la_chol(size_t n, const double *a, double *l);
/* S = L^-1 A L^-T, exactly symmetric; reads A symmetric (its lower triangle); s may be a; `work` n * n doubles */
void la_whiten(size_t n, const double *l, const double *a, double *s, double *work);
/* A = L S L', exactly symmetric; a may be s; `work` n * n doubles */
void la_unwhiten(size_t n, const double *l, const double *s, double *a, double *work);
/* (L L')^-1, exactly symmetric; `work` n * n doubles */
void la_inverse_from_chol(size_t n, const double *l, double *a, double *work);
/* X = L^-1 B (n x m) in place, or L^-T B with trans = 'T' */
void la_solve_lower(char trans, size_t n, size_t m, const double *l, double *b);

/* Eigenvalues (ascending) of a symmetric matrix whose lower triangle is in a; with vectors, a becomes the
 * orthonormal eigenvectors by columns, else it is destroyed. */
size_t la_symeig_work(size_t n);
int la_symeig(size_t n, double *a, double *w, int vectors, double *work);
/* A = V diag(f) V', exactly symmetric; `work` n * n doubles */
void la_spectral(size_t n, const double *v, const double *f, double *a, double *work);
/* A = B B', exactly symmetric; a may not be b */
void la_gram(size_t n, const double *b, double *a);
/* B = V' A V and A = V B V' for symmetric arguments (exactly symmetric results); `work` n * n doubles; may alias */
void la_to_basis(size_t n, const double *v, const double *a, double *b, double *work);
void la_from_basis(size_t n, const double *v, const double *b, double *a, double *work);

/* thin SVD of an m x n matrix (destroyed): U m x r, s descending, Vt r x n, r = min(m, n). u and vt may both be NULL. */
size_t la_svd_work(size_t m, size_t n);
int la_svd(size_t m, size_t n, double *a, double *u, double *s, double *vt, double *work);
/* orthogonal polar factor of a square matrix (destroyed) */
size_t la_polar_work(size_t n);
int la_polar(size_t n, double *a, double *q, double *work);

/* Householder QR of an m x n matrix in place (LAPACK's form) with its n-vector tau, then Q' B or Q B (B is m x k). */
size_t la_qr_work(size_t m, size_t n);
int la_qr(size_t m, size_t n, double *a, double *tau, double *work);
int la_qr_apply(char trans, size_t m, size_t n, size_t k, const double *a, const double *tau, double *b, double *work);

/* expm(A) - I for any square matrix, relatively accurate for small A; out may not be a */
size_t la_expm1_work(size_t n);
int la_expm1(size_t n, const double *a, double *out, double *work);
/* log |det A| (A destroyed); `work` n doubles */
int la_log_abs_det(size_t n, double *a, double *log_det, double *work);
/* whether det A > 0 (A destroyed); `work` n doubles */
int la_det_positive(size_t n, double *a, double *work);
/* solves A X = B (n x m) in place of B by partial pivoting, A destroyed; `work` n doubles */
int la_solve(size_t n, size_t m, double *a, double *b, double *work);
/* principal logarithm (skew-symmetric) of the orthogonal matrix I + E; E is destroyed; relatively accurate for small E;
 * STATUS_CUT_LOCUS where I + E has an eigenvalue -1 */
size_t la_log1p_orthogonal_work(size_t n);
int la_log1p_orthogonal(size_t n, double *e, double *out, double *work);

/* complex vectors as pairs of doubles: x* y */
static inline void la_cdot(size_t k, const double *x, const double *y, double *re, double *im)
{
    double a = 0, b = 0;
    for (size_t i = 0; i < k; i++) {
        a += x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
        b += x[2 * i] * y[2 * i + 1] - x[2 * i + 1] * y[2 * i];
    }
    *re = a;
    *im = b;
}

#endif
