/* Poincare embeddings of graphs (Nickel and Kiela 2017). Not private. */
#ifndef RIEMDP_EMBEDDING_H
#define RIEMDP_EMBEDDING_H

#include "rng.h"

struct embedding {
    size_t nodes, dim, edges;
    const size_t *from, *to; /* edges, sorted by from and then to */
    const size_t *first;     /* nodes + 1: where a node's edges begin */
    size_t negatives, epochs, burn_in;
    double lr, burn_factor; /* step size, and its factor in the first burn_in epochs */
    struct rng *rng;
};

size_t embedding_work(const struct embedding *e);
/* x: nodes x dim, one node after the other, start in and embedding out; loss: mean of each epoch; order: edges, scratch */
void embedding_run(const struct embedding *e, double *x, double *loss, size_t *order, double *work);

#endif
