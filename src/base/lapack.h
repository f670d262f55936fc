/* BLAS and LAPACK: as R declares them, and in a build without R (RIEMDP_WITHOUT_R) as gfortran calls them. */
#ifndef RIEMDP_LAPACK_H
#define RIEMDP_LAPACK_H

#ifdef RIEMDP_WITHOUT_R
#include <stddef.h>
#define F77_CALL(name) name##_
#define FCONE , (size_t)1 /* the length of a string, which Fortran passes behind all other arguments */
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *, const double *,
            const double *, const int *, double *, const int *, size_t, size_t, size_t, size_t);
void dsyev_(const char *, const char *, const int *, double *, const int *, double *, double *, const int *, int *,
            size_t, size_t);
void dgesvd_(const char *, const char *, const int *, const int *, double *, const int *, double *, double *,
             const int *, double *, const int *, double *, const int *, int *, size_t, size_t);
void dgeqrf_(const int *, const int *, double *, const int *, double *, double *, const int *, int *);
void dormqr_(const char *, const char *, const int *, const int *, const int *, const double *, const int *,
             const double *, double *, const int *, double *, const int *, int *, size_t, size_t);
#else
#define USE_FC_LEN_T
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif
#endif

#endif
