/* Proven bounds of what rounding has done to a distance, logarithm, exponential or mean: the true value is found once more with some
 * 32 digits, each operation telling how far off it may be, and compared with what was computed, however that was done
 * (inst/proofs/certified-digits.md). Inf: nothing is known. */
#ifndef RIEMDP_MANIFOLD_CERTIFIED_H
#define RIEMDP_MANIFOLD_CERTIFIED_H

#include "manifold.h"
#include "twofold.h"

/* of one record, whose stored numbers are taken as exact; `work`: what `work` says, in twofolds */
struct certified {
    size_t (*work)(manifold_t m);
    /* Coordinates of log_p q less those of the stored v (NULL: none), in an orthonormal frame at p, `ambient` numbers. Returned: by how
     * much they may be off besides, in norm. */
    double (*log)(manifold_t m, tf *a, const double *p, const double *q, const double *v, tf *work);
    /* above the distance of y from exp_p(v) */
    double (*exp)(manifold_t m, const double *p, const double *v, const double *y, tf *work);
    tf (*dist)(manifold_t m, const double *p, const double *q, tf *work); /* NULL: by the logarithm */
};

extern const struct certified certified_euclidean, certified_sphere, certified_hyperboloid, certified_ball, certified_spd_affine,
    certified_spd_logeuclidean, certified_product;

size_t certified_work(manifold_t m); /* in doubles, as `work` below */
/* the same record by record; `x` is what was computed */
int certified_exp(manifold_t m, double *out, struct points p, struct points v, struct points x, size_t begin, size_t end, double *work);
int certified_log(manifold_t m, double *out, struct points p, struct points q, struct points x, size_t begin, size_t end, double *work);
int certified_dist(manifold_t m, double *out, struct points p, struct points q, struct points x, size_t begin, size_t end, double *work);

/* A mean p of records: the sum of their logarithms there, `ambient` numbers. */
struct certified_mean {
    tf *sum, weight;
    double slack, farthest;
};
void certified_mean_add(manifold_t m, struct certified_mean *s, const double *p, struct points x, const double *w, size_t begin,
                        size_t end, double *work);
/* above the distance of p from the one minimiser of the weighted mean of squared distances; no product */
double certified_mean_error(manifold_t m, const struct certified_mean *s);

#endif
