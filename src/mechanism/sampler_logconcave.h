/* Exact draws from a log-concave density on an interval, by rejection from a hull of tangents. */
#ifndef RIEMDP_SAMPLER_LOGCONCAVE_H
#define RIEMDP_SAMPLER_LOGCONCAVE_H

#include "rng.h"

/* log density (up to a constant) and its slope at x; the data are public */
struct logconcave {
    void (*eval)(const void *data, double x, double *value, double *slope);
    const void *data;
    double lower, upper; /* open interval; upper may be Inf */
};

enum { HULL_MOST = 9 };

struct hull {
    const struct logconcave *f;
    int count;
    double at[HULL_MOST], value[HULL_MOST], slope[HULL_MOST];
    double from[HULL_MOST + 1]; /* where segment i starts; from[count] is the upper end */
    double mass[HULL_MOST];     /* cumulative, mass[count - 1] == 1 */
    double peak;                /* largest value of the hull: keeps exponentials in range */
};

/* STATUS_NO_CONVERGENCE where the density can't be normalised */
int hull_make(struct hull *h, const struct logconcave *f, double scale);
/* A trial succeeds with probability .43 or more, whatever the law is: inst/proofs/laplace.md, section 3. */
double hull_draw(const struct hull *h, struct rng *rng);

#endif
