/* The papers' baselines, for comparison: noise in the space around the manifold, noise landmark by landmark, and Markov chains.
 * Reimherr, Bharath and Soto 2021; Soto, Bharath, Reimherr and Slavkovic 2022, doi:10.48550/arXiv.2209.12667. */
#ifndef RIEMDP_BASELINE_H
#define RIEMDP_BASELINE_H

#include "mechanism.h"
#include "solver.h"

/* ---- ambient noise (mechanism_euclidean.c) ---- */

/* The norm of the l2 K-norm noise: all entries; symmetric k x k matrices with the Frobenius norm; symmetric matrices with the
 * l2 norm of the entries on and below the diagonal (the papers' vech) */
enum ambient_norm { AMBIENT_ENTRIES = 1, AMBIENT_FROBENIUS = 2, AMBIENT_VECH = 3 };

/* adds noise with density proportional to exp(-|z|/sigma); z: m->ambient doubles of workspace */
void ambient_noise(manifold_t m, enum ambient_norm norm, double sigma, struct rng *rng, double *x, double *z);
/* The nearest point of the manifold, moved to the ball if radius > 0; the centre where there is none. Never fails; a function
 * of x and public things only. work: ambient + manifold_work */
void ambient_finish(manifold_t m, double *x, const double *centre, double radius, double *work);

/* ---- noise landmark by landmark (mechanism_pointwise.c); configurations are k complex numbers ---- */

/* turns y so that the inner product with `to` is real and positive; as it is where they are orthogonal */
void landmarks_rotate(size_t k, double *y, const double *to);
/* independent Laplace noise, one scale a coordinate */
void landmarks_noise(size_t k, const double *scale, struct rng *rng, double *y);
/* largest distance of a record from p in each coordinate */
void landmarks_spread(size_t k, const double *p, struct points y, size_t n, double *spread);

/* ---- Markov chains (mechanism_chain.c) ---- */

enum chain_target { CHAIN_KNG = 1, CHAIN_LAPLACE = 2 };
/* isotropic in the metric, or as the papers print them; the papers draw a rejected candidate again (`redraw`), a chain with
 * the density as its limit keeps the state once more */
enum chain_proposal { CHAIN_ISOTROPIC = 1, CHAIN_PUBLISHED = 2 };

struct chain {
    manifold_t m;
    enum chain_target target;
    enum chain_proposal proposal;
    int redraw;
    struct points records; /* in the ball; for the gradient */
    size_t n;
    /* or, where records are elsewhere, what gives the mean gradient there, carried from the centre to the reference point */
    const struct objective *elsewhere;
    const double *base;   /* the public centre; NULL where the manifold has no reference point */
    const double *mean;   /* for the Laplace density */
    const double *centre; /* with radius > 0: the density is cut off outside this ball */
    double radius, sigma, step;
    /* results */
    double log_density, accepted, proposed;
};

size_t chain_work(manifold_t m);
/* STATUS_UNSUPPORTED where the papers have no proposal for the manifold */
int chain_start(struct chain *c, double *state, double *work);
void chain_step(struct chain *c, double *state, struct rng *rng, double *work);

#endif
