/* What the files of the Grassmann manifold share. */
#ifndef RIEMDP_MANIFOLD_GRASSMANN_H
#define RIEMDP_MANIFOLD_GRASSMANN_H

#include "manifold.h"

static inline size_t grassmann_most(size_t a, size_t b)
{
    return a > b ? a : b;
}

void grassmann_to_horizontal(size_t n, size_t p, double *out, const double *w, const double *v, double *work);
int grassmann_spectrum(size_t n, size_t p, const double *u, double *v, double *s, int vectors, double *work);
int grassmann_gap(size_t n, size_t p, const double *w, const double *y, double *m, double *k, double *work);
int grassmann_stretch_near(size_t n, size_t p, const double *m, const double *k, double *d, double *sq, double *work);
int grassmann_log_one(size_t n, size_t p, double *out, const double *w, const double *y, double *work);
int grassmann_factor(manifold_t m, double *h, const double *w, double *work);
int grassmann_to_coords(manifold_t m, double *out, const double *h, const double *u, double *z, double *work);
int grassmann_from_frame(manifold_t m, double *out, const double *h, const double *b, double *z, double *work);
int grassmann_coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                     double *work);
int grassmann_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                          double *work);
void grassmann_radial(manifold_t m, double rho, double *log_area, double *slope);
double grassmann_radial_accept(manifold_t m, const double *a, double rho, double *work);
int grassmann_jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                     struct points u, size_t begin, size_t end, double *work);
int grassmann_add_hessian(manifold_t m, double *matrix, const double *coords, double *work);

#endif
