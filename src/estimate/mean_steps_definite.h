/* Parts of mean_steps.c: positive definite matrices, and Hermitian ones as real ones of twice the size, WIDE at once. */
#ifndef RIEMDP_MEAN_STEPS_DEFINITE_H
#define RIEMDP_MEAN_STEPS_DEFINITE_H

#include "mean_steps.h"

int definite(const struct mean_steps *c);
/* the series that records of a smaller spread do with, from the one that all of the ball need */
void definite_series(struct mean_steps *c);
size_t definite_room(const struct mean_steps *c);
/* n matrices exp(A): record i's coordinates stand at a + i a_apart, its matrix goes to y + i y_apart */
void definite_embed(const struct mean_steps *c, size_t n, const double *a, size_t a_apart, double *y, size_t y_apart, double *work);
/* exp(-A/2) and exp(A/2) */
void definite_isometry(const struct mean_steps *c, const double *a, double *isometry, double *work);
/* coordinates of log(H Y H) for n matrices Y, H the first matrix of `isometry`, or with `back` the second */
void definite_logs(const struct mean_steps *c, const double *isometry, int back, size_t n, const double *y, size_t y_apart, double *v,
                   size_t v_apart, double *work);

#endif
