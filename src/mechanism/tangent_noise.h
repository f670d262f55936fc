/* Isotropic noise in tangent spaces: N_p(0, sd^2) has covariance sd^2 I in any orthonormal coordinates at p. */
#ifndef RIEMDP_TANGENT_NOISE_H
#define RIEMDP_TANGENT_NOISE_H

#include "manifold.h"
#include "rng.h"

enum tangent_law { TANGENT_GAUSSIAN = 1, TANGENT_LAPLACE = 2 };
enum tangent_method { TANGENT_ISOMETRIC = 1, TANGENT_BASIS = 2, TANGENT_GRAM_SCHMIDT = 3, TANGENT_CHAIN = 4 };

/* doubles of workspace for batches of at most `block` records; Inf-like sizes are the caller's to refuse */
size_t tangent_noise_work(manifold_t m, size_t block);
/* records begin <= i < end of out; end - begin <= block */
int tangent_noise(manifold_t m, double *out, struct points p, enum tangent_law law, double sd, struct rng *rng,
                  size_t begin, size_t end, double *work);

/* the slow ways, for comparison, at one base point: `frame` has dim * ambient doubles */
int tangent_frame(manifold_t m, double *frame, const double *p, enum tangent_method method, double *work);
int tangent_noise_frame(manifold_t m, double *out, const double *frame, double sd, struct rng *rng, double *work);
/* `steps` of a random walk Metropolis chain from 0 with proposals of length about `step`; no certificate */
int tangent_noise_chain(manifold_t m, double *out, const double *p, double sd, double step, size_t steps,
                        struct rng *rng, double *work);
/* scale of the chain's proposals at p: projected ambient normals are brought to the metric's size */
int tangent_chain_step(manifold_t m, double *step, const double *p, double sd, struct rng *rng, double *work);

#endif
