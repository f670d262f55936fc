/* Noise laws over any geometry. */
#ifndef RIEMDP_MECHANISM_H
#define RIEMDP_MECHANISM_H

#include "manifold.h"
#include "sampler_logconcave.h"

/* density proportional to exp(-d(x, centre)/sigma) with respect to the volume */
struct laplace {
    manifold_t m;
    double sigma, upper;
    struct logconcave radial;
    struct hull hull;
};

int laplace_make(struct laplace *law, manifold_t m, double sigma);
/* one tangent vector at a base point, in orthonormal coordinates (m->dim); work: manifold_work */
void laplace_draw(const struct laplace *law, struct rng *rng, double *coords, double *work);

/* l2 K-norm noise in R^d: density proportional to exp(-|z|/sigma) */
void knorm_draw(size_t d, double sigma, struct rng *rng, double *z);

/* density proportional to exp(-d(x, centre)^2/(2 sigma^2)) with respect to the volume */
struct gaussian {
    manifold_t m;
    double sigma;
    struct logconcave radial;
    struct hull hull;
};

int gaussian_make(struct gaussian *law, manifold_t m, double sigma);
/* as laplace_draw */
void gaussian_draw(const struct gaussian *law, struct rng *rng, double *coords, double *work);

/* d independent normals */
void normal_draw(size_t d, double sigma, struct rng *rng, double *z);

#endif
