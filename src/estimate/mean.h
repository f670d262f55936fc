/* Frechet means and medians over any manifold: plain, and the private release's mean in a public ball. */
#ifndef RIEMDP_MEAN_H
#define RIEMDP_MEAN_H

#include "solver.h"
#include "source.h"

struct mean_fit {
    /* in */
    double tol;
    int max_iter, memory, median;
    double smooth; /* of a median: distances d count as the root of d^2 + smooth^2 */
    /* out */
    double gradient_norm, gradient_floor, variance;
    double tolerance; /* the gradient norm that counts as converged where rounding lets it be reached */
    int iterations, converged;
};

/* What a mean needs of its records, wherever these lie. */
struct mean_records {
    struct objective energy; /* half the mean squared distance; for a median the mean distance */
    /* for medians: the record nearest to p and its share of the weight; 0 where there is none */
    int (*nearest)(const struct mean_records *r, const double *p, double *record, double *share, double *work);
    double scale; /* of the first step along the gradient, of means */
    const struct source *looked; /* a few of the records say what rounding does to all */
};

size_t mean_solver_work(manifold_t m, int memory);
/* work: mean_solver_work doubles */
int mean_minimise(manifold_t m, const struct mean_records *r, double *p, struct mean_fit *fit, double *work);
/* a good `scale` for records like those of x */
double mean_first_step(manifold_t m, const struct source *x, const double *p, double *work);

/* the same for records in a source */
size_t mean_work(manifold_t m, const struct source *x, int memory);
/* start in, mean out; w (may be NULL) are weights, not all zero */
int mean_run(manifold_t m, const struct source *x, const double *w, double *p, struct mean_fit *fit, double *work);

/* Projected gradient steps that provably reach a gradient of `tol` (inst/proofs/mean-solver.md): their length and number. */
void mean_ball_steps(double k_min, double k_max, double radius, double tol, double *step, double *count);
/* A point of the ball around `centre`, where the energy's gradient is small if fast steps from there got that far: no promise.
 * gradient_norm: NULL, or its length there. work: mean_solver_work(m, 5) */
void mean_fast_of(manifold_t m, const struct objective *f, const double *centre, double radius, double tol, double *p,
                  double *gradient_norm, double *work);
/* the same for records; work: mean_work(m, x, 5) */
void mean_fast(manifold_t m, const struct source *x, const double *centre, double radius, double tol, double *p, double *work);
/* Mean of records that lie in the ball around `centre`; never fails. *gradient_norm at the point returned, which lies
 * in the ball. */
void mean_in_ball(manifold_t m, const struct source *x, const double *centre, double radius, double k_min, double k_max,
                  double tol, double *p, double *gradient_norm, double *work);
/* The same for an energy whose gradient is that of records in the ball. work: mean_solver_work(m, 5) */
void mean_in_ball_of(manifold_t m, const struct objective *f, const double *centre, double radius, double k_min,
                     double k_max, double tol, double *p, double *gradient_norm, double *work);

#endif
