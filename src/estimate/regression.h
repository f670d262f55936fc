/* Geodesic regression y_i ~ exp_p(sum_j x_ij v_j): losses and gradients of single records, for plain fits and for whoever
 * releases or samples from such gradients, and the plain fit itself. */
#ifndef RIEMDP_REGRESSION_H
#define RIEMDP_REGRESSION_H

#include "solver.h"

enum regression_loss { REGRESSION_SQUARED = 1, REGRESSION_HUBER, REGRESSION_LAD };

struct regression {
    manifold_t m;
    size_t q; /* predictors */
    enum regression_loss loss;
    double cutoff;    /* Huber: d^2/2 up to here, linear beyond */
    double smoothing; /* LAD: sqrt(d^2 + smoothing^2) - smoothing */
    double clip;      /* bound on the length of each record's residual after the loss's own weight; Inf: none */
    /* Residuals as a total function of one record: where y or the prediction is no point, or log is undefined, not finite or
     * within 1e-6 of the injectivity radius, the record has value and gradient 0. Nothing fails then. */
    int total;
};

enum { REGRESSION_BLOCK = 64 };

/* Numbers of some records; each may be NULL except psi, which regression_block() needs for the gradients. */
struct regression_records {
    double *value;  /* loss */
    double *size;   /* distance of y from the prediction; NaN where it has none (total) */
    double *grad_p; /* gradient with respect to p, `ambient` doubles a record */
    double *grad_w; /* gradient with respect to w = sum_j x_j v_j; that of v_j is x_j times it */
};

/* doubles that regression_block() needs for up to `count` <= REGRESSION_BLOCK records */
size_t regression_block_work(const struct regression *r, size_t count);
/* p: the foot, v: q vectors at p, x: q predictors a record, y: the responses */
int regression_block(const struct regression *r, const double *p, const double *v, struct points x, struct points y,
                     size_t count, struct regression_records out, double *work);
/* Gradients of records as rows of (1 + q) dim orthonormal coordinates at p: p first, then v_1, v_2, ... */
int regression_coords(const struct regression *r, const double *p, struct points x, const double *grad_p,
                      const double *grad_w, size_t count, double *out, double *work);

/* Records that lie elsewhere: mean loss and gradient over all of them, and the moments of (1, x) */
struct regression_elsewhere {
    int (*energy)(const struct regression_elsewhere *e, const struct regression *r, const double *p, const double *v,
                  double *value, double *grad_p, double *grad_v);
    const double *moments; /* (1 + q) x (1 + q), the first of them 1 */
    void *data;
};

struct regression_data {
    size_t n;
    struct points x, y;
    const double *w; /* weights or NULL */
    /* or NULL; then the records here are a few of them, for starts */
    const struct regression_elsewhere *elsewhere;
};

/* weighted mean of the losses and its gradient (ambient, q * ambient) */
size_t regression_energy_work(const struct regression *r);
int regression_energy(const struct regression *r, const struct regression_data *d, const double *p, const double *v,
                      double *value, double *grad_p, double *grad_v, double *work);

struct regression_fit {
    double tol;
    int max_iter, memory, starts;
    /* out */
    double value, gradient_norm, gradient_floor, smoothing;
    int iterations, evaluations, converged, tried;
};

/* Minimises from (p, v) (given = 1), or from `starts` starts of its own; p, v out. Predictors should have mean squares near 1;
 * centred where that leaves the model the same. */
size_t regression_run_work(const struct regression *r, const struct regression_data *d, int memory);
int regression_run(const struct regression *r, const struct regression_data *d, double *p, double *v, int given,
                   struct regression_fit *fit, double *work);

#endif
