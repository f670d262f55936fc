/* Parts of mean_steps.c: products, whose points, logarithms and steps are their parts'. */
#ifndef RIEMDP_MEAN_STEPS_PRODUCT_H
#define RIEMDP_MEAN_STEPS_PRODUCT_H

#include "mean_steps.h"

/* where each part's numbers begin; returns how many numbers a gradient has */
size_t product_place(struct mean_part *part, size_t count);
size_t product_size(const struct mean_steps *c); /* numbers of an embedded point */
size_t product_room(const struct mean_steps *c);
void product_embed(const struct mean_steps *c, size_t n, const double *a, size_t a_apart, double *y, size_t y_apart, double *work);
/* to the point with coordinates a: `at` gets the parts' own coordinates and stays, as `work` does, for what follows */
void product_stand(const struct mean_steps *c, const double *a, double *at, double *work);
void product_logs(const struct mean_steps *c, const double *at, size_t n, const double *y, size_t y_apart, double *v, size_t v_apart,
                  double *work);
void product_end(const struct mean_steps *c, double *at, double *v, double *a, double *work);

#endif
