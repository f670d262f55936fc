/* The K-norm gradient mechanism (Reimherr and Awan 2019; on manifolds Soto, Bharath, Reimherr and Slavkovic 2022)
 * for Frechet means: what its files share. The proofs of what is used, with the same letters, are in
 * inst/proofs/kng.md. */
#ifndef RIEMDP_MECHANISM_KNG_H
#define RIEMDP_MECHANISM_KNG_H

#include "mechanism.h"

enum {
    COARSE = 96,    /* cells of the radius in which e is constant */
    DISTANCES = 32, /* cells of the records' distances from the mean */
    CHORDS = 128,
    MOST_BINS = 4096, /* of an envelope */
    PUBLIC_BINS = 2048,
    MOST_ANGLES = 1024,
    MOST_STRATA = 128,
    MOST_DIM = 256, /* above it the Hessian is bounded without its matrix */
    GRADIENT_BLOCK = 256,
    HESSIAN_WORK = 1000000000
};

/* what the phases at one radius share */
struct rim {
    double a, b, gap, edge;
};

/* mechanism_kng_bounds.c: functions of curvature, */
double kng_cot_factor(double k, double d);
void kng_make_bends(struct kng *k);
double kng_excess(const struct kng *k, double rho, double lo, double hi);
double kng_excess_general(const struct kng *k, double rho, double hi);
/* areas of geodesic spheres, the share of directions that stay in the ball (from above, from below), and their
 * staircase */
double kng_log_area(const struct kng *k, double rho);
double kng_log_area_low(const struct kng *k, double rho);
double kng_log_area_true(const struct kng *k, const double *a, double rho, double *scratch);
double kng_cap_angle(double k, double tilt, double r, double rho);
struct rim kng_make_rim(double tilt, double r, double rho);
double kng_arc(const struct rim *m, double s);
double kng_log_add(double a, double b);
void kng_make_angles(struct kng *k);
double kng_log_stair(const struct kng *k, double theta);
double kng_log_cap_at(const struct kng *k, double tilt, double r, double rho);
double kng_log_cap(const struct kng *k, double rho);
double kng_log_cap_top(const struct kng *k, double from, double to);
double kng_log_cap_low(const struct kng *k, double tilt, double r, double rho);

/* mechanism_kng_records.c: distances of the records from the mean, by cells; the Hessian there where there is a
 * matrix for it */
void kng_look_at_records(struct kng *k, double *scratch);

#endif
