/* Shared by the files of the Stiefel manifold: the reduced frame in which exp, log and the density are computed. */
#ifndef RIEMDP_MANIFOLD_STIEFEL_H
#define RIEMDP_MANIFOLD_STIEFEL_H

#include "linalg.h"
#include "manifold.h"

/* log: steps a level, steps kept, halvings of the way; log_density: the largest determinant it makes */
enum { LOG_STEPS = 200, LOG_DEPTH = 30, LOG_LEVELS = 8, DENSITY_MOST = 1500 };

/* Views into the workspace. Reduced tangent vectors and increments are q x p matrices: A over R. */
struct stiefel_frame {
    size_t n, p, r, q, size; /* q = p + r; size: degrees of freedom of a reduced tangent vector */
    double c, tol;
    struct host *host;
    double *h, *tau, *sign;           /* factor of the base; H diag(sign, 1) begins with W */
    double *z;                        /* n x p: coordinates in that frame */
    double *b, *btau, *low;           /* (n - p) x p: the lower part, its factor where n - p > p; scratch */
    double *t;                        /* reduced tangent vector */
    double *x, *e, *f;                /* X, exp(X) - I (q x q), exp((1 - c) A) - I (p x p) */
    double *goal, *now, *res, *u, *v; /* q x p each */
    double *kept;                     /* goals of the levels above */
    double *here, *next, *step;       /* vectors of the iteration */
    double *rest;
};

size_t stiefel_lay_out(manifold_t m, struct stiefel_frame *f, double *work);
int stiefel_factor(struct stiefel_frame *f, const double *w);
int stiefel_to_frame(struct stiefel_frame *f, const double *v, double *z);
int stiefel_reduce(struct stiefel_frame *f, const double *z, double *to);
int stiefel_from_frame(struct stiefel_frame *f, double *z);
int stiefel_velocity(struct stiefel_frame *f, const double *w, const double *v, int make);
int stiefel_split(struct stiefel_frame *f, const double *z, double *to); /* the rest of the lower rows stays in `low` */
int stiefel_join(struct stiefel_frame *f, const double *from, double *z);
void stiefel_lift(struct stiefel_frame *f, const double *t, double *x);
int stiefel_geodesic(struct stiefel_frame *f);
void stiefel_turn(struct stiefel_frame *f, size_t k, double *y, double *work);
void stiefel_advance(struct stiefel_frame *f, double *to);
void stiefel_skew_top(size_t q, size_t p, double *t);
void stiefel_transport_flow(struct stiefel_frame *f, double s, double tol, double *y);
void stiefel_pack(struct stiefel_frame *f, const double *t, double *to);
void stiefel_unpack(struct stiefel_frame *f, const double *from, double *t);
int stiefel_solve(struct stiefel_frame *f);
int stiefel_exp_adjoint(manifold_t m, double *out_p, double *out_w, struct points p, struct points w, struct points y,
                        struct points e, size_t begin, size_t end, double *work);
int stiefel_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                        double *work);

#endif
