/* The mean by public steps, as entries of R use it. */
#ifndef RIEMDP_FFI_STEPS_H
#define RIEMDP_FFI_STEPS_H

#include "ffi.h"
#include "mean_steps.h"

/* What R hands over. carried: the ball is carried to the reference point. tangent: the mean of the coordinates themselves, on every
 * manifold. root: for the Bures-Wasserstein metric, of the centre's eigenvalues. stretch: the mean's coordinates are so many times as
 * long, no longer than the radius; private, as the number of records is. */
struct steps_numbers {
    double radius, step, steps, bits, base, terms, accept, stretch;
    int carried, tangent;
    const double *root;
    size_t roots;
    SEXP parts; /* of a product: the same of each part */
};

struct steps {
    struct call *c;
    struct mean_steps mean;
    struct steps_records records;
    struct tally tally;
    int carried;
    double stretch, *work, *parts;
    int64_t *sum;
    int fast;           /* fast steps of no promise come first; else all steps are taken, in even time */
    const double *ball; /* the records in the ball around the reference point where they were made for others as well, or NULL */
    size_t moved;       /* how many records the ball holds elsewhere than they were */
    double *coords;     /* the records' coordinates, where fast steps may want them */
};

void ffi_steps_read(SEXP numbers, struct steps_numbers *out);
/* raises where there is no such mean */
struct steps ffi_steps_make(struct call *c, const struct steps_numbers *numbers, size_t n);
/* the records are elsewhere; s must stay where it is */
void ffi_steps_elsewhere(struct steps *s, const struct tally *tally);
/* where coordinates are taken: the reference point where the ball is carried there, else the public centre itself */
void ffi_steps_reference(const struct steps *s, const double *centre, double *o);
/* One record's coordinates, shortened to the ball's radius, which moves it to the ball, wherever it was: whether it stays where it was. What
 * is no point has the work of the centre. `in` and v: ambient doubles */
int ffi_steps_record(const struct steps *s, const double *m0, const double *o, const double *r, double *a, double *in, double *v,
                     double *work);
/* Each record by itself into the ball around m0 (carried to o, the reference point, where s says so), to coordinates there, and to a
 * point of the model space, so that neighbours stay neighbours; nothing fails. `shown` (may be NULL) gets the coordinates. */
void ffi_steps_records(struct steps *s, struct arg *x, const double *m0, const double *o, double *shown, double *work);
/* Coordinates at o of the mean of the records of x, or of records elsewhere (`tally`) */
void ffi_steps_mean(struct steps *s, struct arg *x, const struct tally *tally, const double *m0, const double *o, double *a, double *work);
/* coordinates of x at o, 0 where there are none, and whether there are; v: ambient doubles */
int ffi_steps_coords(const struct steps *s, const double *o, const double *x, double *a, double *v, double *work);
/* the point with coordinates a at o */
void ffi_steps_point(const struct steps *s, const double *o, const double *a, double *p, double *v, double *work);

#endif
