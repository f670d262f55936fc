/* Linear regression with q responses by objective perturbation (inst/proofs/linear-regression.md): the minimiser of
 *
 *   J(B) = sum_i rho(|y_i - F_i B|) + 1/2 sum_kj ridge_kj (B_kj - centre_kj)^2 + <noise, B>,   (F_i B)_j = sum_k F_ikj B_kj,
 *
 * with rho' = psi(r) = tau g(r / tau), g piecewise linear on equidistant knots from 0 and constant after the last. Or, of one response,
 * a loss of e = y - F B with the derivative g(e), or of e = -F B with y + g(e), both moved into [-tau, tau]: a table of e itself.
 * Arrays are record by record, within a record feature by feature, within a feature response by response: y[i q + j],
 * B[k q + j]. Coefficients are sums of two doubles, B[k q + j] + B[p q + k q + j], and residuals are rounded once: where
 * responses are far from 0, doubles alone neither hold the minimiser nor resolve its gradient. Features are
 * common to all responses (x[i p + k]) or their own (x[(i p + k) q + j], as those of Jacobi fields
 * in a frame are). A record that counts as missing has features 0. */
#ifndef RIEMDP_OBJECTIVE_PERTURBATION_H
#define RIEMDP_OBJECTIVE_PERTURBATION_H

#include "rng.h"

struct radial_loss {
    double tau, step;
    size_t knots; /* intervals: g has knots + 1 values, g[0] = 0 */
    const double *g;
    int table;    /* g is one of e itself, which needs one response: it does not fall, and begins at `first` */
    int added;    /* y is added to g, not to e */
    double first;
};

struct perturbed {
    size_t n, p, q;
    const double *x, *y;
    const double *share; /* of each record: what it counts, from 0 to 1; NULL: 1 each */
    double total;        /* bounds the sum of the shares: of records, or of units whose rows are records */
    int own;             /* features of their own for each response */
    const double *ridge, *centre, *noise;
    struct radial_loss loss;
    double reach; /* no record's features are longer than its root: sum_k F_ikj^2 <= reach for every j */
    struct host *host;
    /* NULL; or records that lie elsewhere (x and y are not looked at then): sum_i -F_i'psi_i and, unless NULL, the lower triangle of
     * the Hessian without the ridge, at 2 p q numbers */
    void (*sums)(const struct perturbed *o, const double *b, double *gradient, double *hessian);
    void *data;
};

/* psi(r) and its slope (the right one at a knot) */
void radial_psi(const struct radial_loss *loss, double r, double *psi, double *slope);
/* the same of a table at e, y being what is added to it; no slope where psi is moved into [-tau, tau] */
void table_psi(const struct radial_loss *loss, double e, double y, double *psi, double *slope);

/* The largest g for objective perturbation with shared accounting: e1 u/2 + (q - 1) log(1 + t g(z)/z) + log(1 + t g'(z)) <= k,
 * u = g; `averaged`, for units that count with averages over their rows, with v in the place of log(1 + v). Writes knots + 1 values;
 * STATUS_OUT_OF_RANGE where there is none or the check of the result fails. */
int shared_loss(double k, double e1, double q, double t, int averaged, double step, size_t knots, double *g);

/* From b (in and out, 2 p q doubles) to a computed |grad J| <= REACHED eta, by damped Newton steps, and where `newton` of them should not
 * get there by gradient steps whose number is proven. If no gradient is off by more than eta/4, STATUS_OK is certain and the true one is
 * within eta (inst/proofs/linear-regression.md); else STATUS_NO_CONVERGENCE may come after that number of steps. */
#define REACHED 0.75
size_t perturbed_work(const struct perturbed *o);
int perturbed_minimise(const struct perturbed *o, double eta, size_t newton, double *b, double *work);
/* What record i adds to sum -F'psi at b (2 p q numbers), p q numbers, and unless NULL to the lower triangle of the Hessian, column by
 * column */
void perturbed_record(const struct perturbed *o, size_t i, const double *b, double *gradient, double *triangle,
                      double *work);
/* grad J at b, 2 p q numbers (compensated sums) and, unless NULL, the (generalised) Hessian without the ridge: p q x p q */
void perturbed_gradient(const struct perturbed *o, const double *b, double *gradient, double *hessian, double *work);

/* b of density prop. to exp(-rate N(b)); p features of q responses */
enum perturbation_norm {
    NORM_VERTEX =
        1,    /* sum over the 2^(p-1) vertices v of {1} x {-1, 1}^(p-1) of w_v (x) v, w_v of density exp(-rate |w_v|) */
    NORM_MAX, /* N = max_k |b_k| */
    NORM_LENGTH, /* N = |b| */
    NORM_SQUARE  /* N = rate |b|^2 / 2: normals of standard deviation 1/rate, for Gaussian mechanisms */
};
enum { PERTURBATION_FEATURES = 16 }; /* beyond it the vertices are too many; the other norm is better long before */
/* `work`: q doubles; STATUS_OUT_OF_RANGE for a rate that isn't positive, or too many vertices */
int perturbation_draw(enum perturbation_norm norm, size_t p, size_t q, double rate, struct rng *rng, double *b,
                      double *work);

/* b of density prop. to exp(-rate max_c sum_(k in c) |b_k|) for classes c of coefficient rows: `group[k]`, from 1 to p, says which row k is
 * of; `work`: p doubles */
int simplex_draw(size_t p, size_t q, const double *group, double rate, struct rng *rng, double *b, double *work);

/* Draws B of density prop. to exp(-rate max_k |grad J_k|), noise 0, on |B - centre|_ridge <= radius, for common features and
 * Huber's g; `b` (2 p q numbers) holds any point of the ball on entry, the nearer to the minimiser the faster, and the draw on
 * return. The ridge must be the same for all responses. At most trials[0] draws by rejection from a radial envelope, exact wherever b was,
 * then at most trials[1] from a public one, then a public law: inst/proofs/linear-regression.md, section 7. */
size_t clipped_kng_work(const struct perturbed *o);
int clipped_kng(const struct perturbed *o, double rate, double radius, const double *trials, struct rng *rng, double *b,
                double *work);

/* the norm max_k |b_k| with blocks of `size[k]` numbers, one after the other */
int block_draw(size_t blocks, const double *size, double rate, struct rng *rng, double *b);

#endif
