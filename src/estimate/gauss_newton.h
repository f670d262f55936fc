/* One Gauss-Newton step of geodesic regression as a linear regression: what it needs of each record (inst/proofs/regression.md).
 *
 * Given a curve x -> exp_p(x_1 v_1 + ... + x_k v_k) (in a private fit: a released one) a record becomes the logarithm of its
 * response at the curve, carried back to p along the curve, in coordinates of a fixed frame there, and features: how that
 * logarithm changes, to first order, with (dp, X_1 dv_1, ..., X_k dv_k), X_j the largest |x_j|. Every record is treated by itself
 * and nothing fails: one without a logarithm has features 0. */
#ifndef RIEMDP_GAUSS_NEWTON_H
#define RIEMDP_GAUSS_NEWTON_H

#include "manifold.h"

struct gauss_newton {
    manifold_t m;
    size_t predictors;
    const double *p, *v;  /* foot point; shooting vectors, one after the other */
    const double *reach;  /* X_1, ..., X_k */
    const double *turn;   /* dim x dim by columns: the frame in terms of that of `coords` */
    const double *lambda; /* eigenvalues of u -> R(u, v) v in that frame; zeros where they aren't used */
    size_t legs;          /* transport in so many pieces */
};

/* The frame in which Jacobi fields along exp_p(x v) are those of single coordinates, and its eigenvalues: on symmetric spaces with
 * one predictor. Elsewhere the identity and zeros, which are the features of flat space. turn: dim x dim */
size_t gauss_newton_frame_work(manifold_t m);
int gauss_newton_frame(manifold_t m, const double *p, const double *v, double *turn, double *lambda, double *work);

/* x: predictors of a record, y: its response (NULL: features only). features: (1 + predictors) x dim, response: dim. */
size_t gauss_newton_work(manifold_t m);
void gauss_newton_record(const struct gauss_newton *g, const double *x, const double *y, double *features,
                         double *response, double *work);

#endif
