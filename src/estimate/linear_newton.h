/* What a record adds to the sums from which a line is fitted by Newton's steps, inst/proofs/linear-regression.md, section 10. */
#ifndef RIEMDP_LINEAR_NEWTON_H
#define RIEMDP_LINEAR_NEWTON_H

#include <stddef.h>

enum newton_stage { NEWTON_SPREAD, NEWTON_MOMENTS, NEWTON_STEP, NEWTON_LEVEL };

struct linear_newton {
    size_t n, p, q;         /* records, features with the 1, responses */
    const double *x, *y;    /* p x n, q x n; x[0] is 0 in records of which nothing is known */
    enum newton_stage stage;
    const double *center, *spread, *turn; /* p - 1 each, and (p - 1) x (p - 1) by columns or NULL */
    const double *b;                      /* q x p */
    double tau, length, reach;            /* where residuals and features are cut, and squares of features */
    int diagonal;                         /* of second moments the squares alone */
    double there, square, safe;           /* what "is there" and squares count, and by how much all is shortened */
};

/* numbers of the stage's sum */
size_t linear_newton_width(const struct linear_newton *o);
/* of record i, no longer than 1 but for its square's weight; work: 2 p + q doubles */
void linear_newton_record(const struct linear_newton *o, size_t i, double *row, double *work);

#endif
