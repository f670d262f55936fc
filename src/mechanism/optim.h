/* Optimisers with clipped gradients and tangent Gaussian noise. What leaves them is a function of the noisy sums, of public
 * settings and of random numbers. */
#ifndef RIEMDP_OPTIM_H
#define RIEMDP_OPTIM_H

#include "problem.h"
#include "rng.h"

enum optim_sampling { OPTIM_FULL = 1, OPTIM_WITHOUT = 2, OPTIM_POISSON = 3, OPTIM_DISJOINT = 4 };
enum optim_output { OPTIM_LAST = 1, OPTIM_AVERAGE = 2, OPTIM_RANDOM = 3 };

/* Squares of shorter lengths round to 0 in doubles, and what has no length isn't clipped; as CLIP_LEAST of R/dp-optimize.R */
#define OPTIM_CLIP_LEAST 1e-150

struct optim {
    manifold_t m;
    const struct problem *problem;
    struct rng *rng;
    int sampling, output;
    size_t steps, batch;  /* steps of one run; records of a batch */
    size_t lots;          /* disjoint: batches into which each record falls by lot, with chance `rate` each; 0: by its place */
    double rate, divisor; /* Poisson: share; and the public number by which a step's sum is divided */
    double clip, sd;      /* clipping norm; noise on the mean gradient of a batch */
    double *spent, most;  /* each record's (unit's) sum of squared gradients, in squares of the clip, secret, and what it may come to; NULL:
                           * none is kept */
    size_t inner;         /* variance reduction: steps an epoch (steps is a multiple), 0: none */
    double snapshot_clip, snapshot_sd, snapshot_divisor;
    int paper;        /* both gradients clipped apart, noise in the steps only: Algorithm 11 as published */
    const double *lr; /* step sizes, `lr_count` of them: 1 or steps */
    size_t lr_count;
    const double *centre; /* public ball of the iterates, or NULL */
    double radius;
    size_t *which; /* n indices */
    size_t taken;  /* by lot: how many of them, the first ones, an epoch's earlier batches have had */
    double *trace; /* trace_room rows (step, step size, length of the noisy gradient), every trace_every steps */
    size_t trace_room, trace_every, trace_used;
    double done, total; /* for progress */
};

size_t optim_work(const struct optim *o);
/* What goes on from step to step, for checkpoints too: releases and public numbers, no index of a record. Runs that are over, steps of
 * this one, the step whose iterate option II takes; then the iterate (at the end: the output), average, chosen one, snapshot and its
 * released gradient. */
enum { OPTIM_STATE_RUN, OPTIM_STATE_STEP, OPTIM_STATE_PICK, OPTIM_STATE_HEAD };
size_t optim_state_size(manifold_t m);
void optim_begin(const struct optim *o, double *state, const double *start);
/* goes on until so many steps of all runs are done. STATUS_DOMAIN_EXCEEDED where the (public) iterate left the manifold. */
int optim_run(struct optim *o, double *state, double until, double *work);

/* pieces (optim.c) */
void optim_start(struct optim *o);
size_t optim_draw_batch(struct optim *o, size_t step, const size_t **which);
/* scales each of count tangent vectors at p to length at most `clip`; what has no length becomes 0 */
void optim_clip(manifold_t m, double *v, const double *p, size_t count, double clip, double *work);
/* Budgets of records (units) in `spent`, one for each, which begin at 0 and are kept nowhere else. Whether they are proven for such
 * steps: with all records, which are at hand. */
int optim_budgets(struct optim *o, double *spent);
/* takes what each of count clipped gradients costs from the budgets of the records (units) `who`, and shortens those that cost more than is
 * left to that */
void optim_ration(struct optim *o, double *v, const double *p, const size_t *who, size_t count, double *work);
int optim_add_noise(struct optim *o, double *v, const double *p, double sd, double *work);
/* transport where it is closed form, else the isometry of frames; total */
void optim_carry(manifold_t m, double *v, const double *p, const double *q, size_t count, double *work);
/* optim_rsgd.c, optim_rsvrg.c: the noisy gradient of one step */
/* what count <= block records add to a step's sum, one after the other in g; h: as many again */
int optim_rows(const struct problem *q, const struct problem_step *s, double *g, double *h, double *losses,
               const size_t *which, size_t count, double *work);
/* their sum, wherever they are */
void optim_sum(struct optim *o, double *sum, const struct problem_step *s, const size_t *which, size_t count,
               double *work);
int optim_gradient(struct optim *o, double *v, const double *p, size_t step, double *work);
int optim_snapshot(struct optim *o, double *r, const double *p, double *work);
int optim_reduced_gradient(struct optim *o, double *v, const double *p, const double *snapshot, const double *r,
                           size_t step, double *work);
size_t optim_gradient_work(const struct optim *o);

#endif
