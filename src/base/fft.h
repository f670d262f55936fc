/* Fourier transforms of real sequences whose error is proven: inst/proofs/accounting.md, section 6. */
#ifndef RIEMDP_FFT_H
#define RIEMDP_FFT_H

#include "ground.h"

/* Lengths n are powers of two of at least 4; `work` holds 2 n doubles, of which fft_prepare() fills those that don't change. */
void fft_prepare(size_t n, double *work);
/* X_k = sum of x_j e^(-2 pi i j k/n) for k = 0, ..., n/2, as pairs of real and imaginary part. Nothing overlaps. */
void fft_forward(size_t n, const double *x, double *X, double *work, struct host *host);
/* The real x whose transform starts with these n/2 + 1 pairs. */
void fft_inverse(size_t n, const double *X, double *x, double *work, struct host *host);

#endif
