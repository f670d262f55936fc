/* Where fits of geodesic regressions start: of the records in memory, for regression.c. */
#ifndef RIEMDP_REGRESSION_START_H
#define RIEMDP_REGRESSION_START_H

#include "regression.h"

int regression_make_moments(const struct regression_data *d, size_t q, double *moments, double *inverse, double *work);
int regression_make_start(const struct regression *r, const struct regression_data *d, const double *mean, int k,
                          double *state, double *work);
void regression_find_mean(const struct regression *r, const struct regression_data *d, double *mean, double *work);
int regression_is_tight(manifold_t m, const struct regression_data *d, const double *mean, double *work);

#endif
