/* Problems of optimisation: mean of losses of n records over a manifold. Every problem gives the gradient of each record apart, which
 * is what clipping needs. */
#ifndef RIEMDP_PROBLEM_H
#define RIEMDP_PROBLEM_H

#include "manifold.h"

enum problem_kind { PROBLEM_FRECHET = 1, PROBLEM_HUBER = 2, PROBLEM_PCA = 3, PROBLEM_CALLBACK = 4 };

struct problem;
struct problem_ops {
    const char *name;
    size_t (*work)(manifold_t m, size_t block);
    /* Gradients (tangent vectors at p) and losses of `count` records. A status other than OK leaves the output unspecified. */
    int (*gradient)(const struct problem *q, double *grads, double *losses, const double *p, struct points x,
                    size_t count, double *work);
};

extern const struct problem_ops problem_frechet, problem_huber, problem_pca;

/* What is summed: gradients at p clipped at `clip`; with a snapshot, differences to its gradients carried to p, clipped at `clip` (or,
 * `apart`, both gradients are, and the difference is not). A clip of Inf is none. */
struct problem_step {
    const double *p, *snapshot;
    double clip;
    int apart;
};

struct problem {
    const struct problem_ops *ops; /* NULL: a user's callback */
    manifold_t m;
    const double *x; /* n records of `length` doubles; what isn't valid holds a NaN */
    size_t n, length, block;
    /* NULL: each record is a unit. Else n is the number of units, and unit u, of the records rows[first[u]] ... rows[first[u + 1] - 1],
     * counts with the average of what is summed of them; room for `block` records and their shares. */
    const size_t *rows, *first;
    size_t *some;
    double *share;
    double threshold; /* Huber */
    /* A user's own: gradients and losses of records which[0], ... at p; what failed is NaN; losses may be NULL. */
    void (*call)(void *context, double *grads, double *losses, const double *p, const size_t *which, size_t count);
    /* Records elsewhere: the sum over the records `which` (NULL: all of them, 0 ... count - 1) of what problem_sum_rows() makes of each; no
     * record is at hand then. */
    int (*sum)(void *context, double *out, const struct problem_step *step, const size_t *which, size_t count);
    void *context;
};

size_t problem_work(const struct problem *q);
/* Gradients and losses of count <= block records; total: where a record's gradient can't be had, is not finite or not a tangent
 * vector, it is 0. The status of the first such record, for those who may speak about it. `losses` may be NULL. */
int problem_gradients(const struct problem *q, double *grads, double *losses, const double *p, const size_t *which,
                      size_t count, double *work);

#endif
