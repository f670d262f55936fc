/* Minimisation of a smooth function on a manifold by limited-memory quasi-Newton or conjugate gradient steps with a safeguard. */
#ifndef RIEMDP_SOLVER_H
#define RIEMDP_SOLVER_H

#include "manifold.h"

struct objective {
    /* value and gradient (a tangent vector) at p; a status other than OK makes the step shorter */
    int (*eval)(const struct objective *f, const double *p, double *grad, double *value);
    const void *data;
};

struct solver {
    double tol;    /* gradient norm at which to stop */
    int relative;  /* tol is in units of the root of twice the value: for means, of the data's spread */
    double floor;  /* where the value is no more than rounding (relative): a gradient norm that will do */
    int max_iter;  /* most accepted steps */
    int memory;    /* pairs kept; 0: plain gradient steps */
    int conjugate; /* conjugate directions (Polak and Ribiere, kept at least 0); needs memory >= 1 for its room */
    int adaptive;  /* gradient and conjugate steps: each says how long the next one should be */
    double scale;  /* length of the first step along the gradient: about 1 over the Hessian's mean eigenvalue */
    /* results */
    double gradient_norm, value;
    int iterations, evaluations, converged;
};

size_t solver_work(manifold_t m, int memory);
/* p: start in, minimiser out */
int solver_run(manifold_t m, const struct objective *f, double *p, struct solver *s, double *work);

/* rounding floor of the gradient's norm at p */
size_t solver_floor_work(manifold_t m);
double solver_floor(manifold_t m, const struct objective *f, const double *p, double *work);

#endif
