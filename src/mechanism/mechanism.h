/* Noise laws over any geometry. */
#ifndef RIEMDP_MECHANISM_H
#define RIEMDP_MECHANISM_H

#include "mean_steps.h"
#include "sampler_grid.h"
#include "sampler_logconcave.h"

/* A radius from a hull that bounds area times the law, a uniform direction, both kept with probability true area over bound: one
 * tangent vector at a base point, in orthonormal coordinates (m->dim); work: manifold_work. STATUS_TRIALS where so many trials failed: the
 * base point and whatever it came from have no part in that. */
enum { RADIAL_TRIALS = 1000000 };
int radial_draw(manifold_t m, const struct hull *hull, struct rng *rng, double *coords, double *work);
/* one of its trials, and the log of the probability to keep it */
double radial_propose(manifold_t m, const struct hull *hull, struct rng *rng, double *coords, double *work);

/* Density proportional to exp(-d(x, centre)/sigma) with respect to the volume. With width > 0 a staircase: constant up to the distance
 * `first`, then lower by a factor exp(-width/sigma) on each further shell of that width. `radial`: the law of the radius, on products that
 * of the normals' common standard deviation (mechanism_product.c), with `drift` what the parts' volume adds to its exponent. */
struct laplace {
    manifold_t m;
    double sigma, width, first, drift;
    struct logconcave radial;
    struct hull hull;
};

int laplace_make(struct laplace *law, manifold_t m, double sigma);
int staircase_make(struct laplace *law, manifold_t m, double sigma, double width, double first);
/* log of the staircase at rho over its bound, a multiple of exp(-rho/sigma): 0 or less */
double staircase_kept(const struct laplace *law, double rho);
int laplace_draw(const struct laplace *law, struct rng *rng, double *coords, double *work);

/* The same on a product, a mixture of normals with radius law and hull of their common standard deviation (mechanism_product.c): a
 * proposal, which returns the log of the probability to keep it, and a draw. Staircases: of the law that they thin. */
void mixture_make(struct laplace *law);
double mixture_propose(const struct laplace *law, struct rng *rng, double *coords, double *work);
int mixture_draw(const struct laplace *law, struct rng *rng, double *coords, double *work);
/* log of 0F1(d/2, z^2/4): the mean of exp(z u), u a coordinate of a uniform direction of R^d */
double log_mean_exp(double d, double z);

/* Around a point x of the unit sphere S^d (mechanism_local.c): density proportional to exp(kappa <x, y>); or, with probability p, uniform
 * on the cap of points no farther than `angle` from x, else uniform on the rest. Tangent vectors, as laplace_draw gives them. */
struct cap {
    manifold_t m;
    double p;
    struct logconcave part[2];
    struct hull hull[2];
};

int whole_sphere(manifold_t m); /* not only in small balls */
int cap_make(struct cap *cap, manifold_t m, double p, double angle);
void cap_draw(const struct cap *cap, struct rng *rng, double *coords);
void vmf_draw(size_t d, double kappa, struct rng *rng, double *coords);

/* l2 K-norm noise in R^d: density proportional to exp(-|z|/sigma) */
void knorm_draw(size_t d, double sigma, struct rng *rng, double *z);

/* density proportional to exp(-d(x, centre)^2/(2 sigma^2)) with respect to the volume */
struct gaussian {
    manifold_t m;
    double sigma;
    struct logconcave radial;
    struct hull hull;
    struct gaussian *part; /* of a product */
};

/* part: room for so many that `law` keeps, of a product; else NULL */
size_t gaussian_parts(manifold_t m);
int gaussian_make(struct gaussian *law, manifold_t m, double sigma, struct gaussian *part);
/* as laplace_draw */
int gaussian_draw(const struct gaussian *law, struct rng *rng, double *coords, double *work);

/* The law of a point turned by Brownian motion of the group that turns the space, n x n matrices, real or complex ones. */
struct heat {
    manifold_t m;
    double sigma, *h;
    size_t n;
    int unitary;
};

/* size of the matrices, 0 where there are none */
size_t heat_group(manifold_t m, int *unitary);
size_t heat_work(manifold_t m);
/* work: heat_work doubles that `law` keeps */
int heat_make(struct heat *law, manifold_t m, double sigma, double *work);
/* log of the probability to keep an element of the Lie algebra whose matrix, twice as large and real, has eigenvalues w */
double heat_log_kept(size_t n, int unitary, const double *w);
/* of the group, the squared length of half the sum of the positive roots */
double heat_rho(size_t n, int unitary);
/* The motion is made of so many independent ones, each of which is kept once in e trials or more often, up to 1000 */
double heat_parts(double rho, double sigma);
/* turns p; STATUS_TRIALS as radial_draw() */
int heat_turn(const struct heat *law, struct rng *rng, double *p);

/* Frames with density proportional to exp(-D/sigma), D the chordal distance from the first columns of the identity. Proposed within `cap`
 * with probability `near`, from a bound exp(-least rho/sigma) in coordinates, else evenly. log_mass: of what is proposed; log_all: of the volume. */
struct chord {
    manifold_t m;
    double sigma, cap, least, near, log_mass, log_all, *room;
    int euclidean;
};

/* at least D over the length of the coordinates, where D is at most `cap` */
double chord_least(int euclidean, double cap);
size_t chord_work(manifold_t m);
/* work: chord_work doubles that `law` keeps */
int chord_make(struct chord *law, manifold_t m, double sigma, double *work);
/* whether a trial is kept, which gives z; as heat_turn(), to a frame z */
int chord_trial(const struct chord *law, struct rng *rng, double *z);
int chord_draw(const struct chord *law, struct rng *rng, double *z);

/* d independent normals */
void normal_draw(size_t d, double sigma, struct rng *rng, double *z);

/* Laws with density proportional to exp(-f(x)/sigma) on a ball: f = |grad U| for the Frechet energy U of n records (the K-norm
 * gradient mechanism), or the distance to their mean (Laplace truncated). Drawn exactly, by rejection from bins of
 * the distance to the mean: inst/proofs/kng.md. */
enum kng_law { KNG_GRADIENT = 1, KNG_DISTANCE = 2 };
enum kng_space { KNG_CONSTANT, KNG_COMPLEX, KNG_GENERAL }; /* constant curvature, CP^n, other symmetric spaces */
enum kng_kind { KNG_ISOTROPIC = 1, KNG_ANISOTROPIC = 2, KNG_SLOPE = 3 };

/* A step function in the radius (or in |A v|) that lies above the law: bins with their bounds, and cumulative masses. */
struct kng_bins {
    size_t count;
    double *edge, *mass, *level, *log_area, *log_cap, *halve; /* level: a lower bound of the exponent's f */
    double log_total;
};

/* Records that lie elsewhere: what the sampler asks of them. A status other than OK: it can't be had. */
struct kng_elsewhere {
    /* sums of kng_row(), kng_width() numbers, and the largest distance from the base */
    int (*look)(const struct kng_elsewhere *e, const double *base, double *sums, double *far);
    /* how many records lie in each of `cells` equal parts of the distances up to `far` */
    int (*count)(const struct kng_elsewhere *e, const double *base, double far, double *count, size_t cells);
    void *data;
};

struct kng {
    /* in */
    manifold_t m;
    const double *x, *centre, *base;       /* n records in the ball around `centre`, and their mean (near it will do) */
    const struct kng_elsewhere *elsewhere; /* in place of x; not with `constant` */
    const struct mean_steps *steps;        /* how |grad U| is found, with a bound of its rounding errors, */
    const struct steps_records *records;   /* from which records, and the room that it takes: 2 dim, steps_work() */
    int64_t *total;
    double *steps_room;
    size_t n;
    double radius, sigma;
    double narrow, wide; /* with `constant`: the range of scales that the public bins are made for */
    double gradient;     /* what |grad U| at `base` and the rounding errors of |grad U| anywhere take off the levels */
    int law, envelope;   /* envelope: 0, or a kind that the caller insists on */
    int constant;        /* public bins, public slope, no trial cut short */
    /* made by kng_make */
    enum kng_space space;
    double curvature, slope, tilt, reach; /* tilt: distance of `base` from `centre`; reach: largest radius */
    double least, trace;                  /* of the Hessian at `base`: smallest eigenvalue (a bound), mean eigenvalue */
    double shrink, stretch, log_det;      /* smallest and largest eigenvalue of A, log det A */
    int kind, cells;
    struct kng_bins bins, other;
    double *coarse, *excess, *line, *lean;      /* edges of coarse cells; in each e, the slope's integral, the slope */
    double *angle_mass, *angle_top, *angle_low; /* the polar angle's law: bounds, log mass below, lower mass */
    double *far, *bends, bend_top;              /* distances of the records; chords of a function of curvature */
    double *sums;                               /* of records elsewhere */
    double *axis, *matrix, *root, *coords, *v,
        *sum; /* direction of `centre`, eigenvectors, eigenvalues of A, scratch */
    /* counts for tests; never part of a release */
    double trials, clamped;
};

/* 0 where the law can't be served: a space without bounds, a radius or scale out of range (public facts) */
int kng_supported(manifold_t m, double radius);
size_t kng_work(manifold_t m, size_t n);
/* work: kng_work doubles that `k` keeps, scratch: manifold_work */
void kng_make(struct kng *k, double *work, double *scratch);
/* For the records of one chunk: a sampler that only looks. One record's numbers (kng_width() of them, out may be NULL) and its distance
 * from the base: 0 where it has none. A status where there is no Hessian for it. */
void kng_view(struct kng *k, double *work);
size_t kng_width(const struct kng *k);
int kng_row(const struct kng *k, const double *x, double *out, double *distance, double *scratch);
size_t kng_cells(const struct kng *k);
size_t kng_cell(double distance, double far, size_t cells);
/* one trial; 1 if y (inside the ball) was accepted */
int kng_trial(struct kng *k, struct rng *rng, double *y, double *scratch);
/* at most so many trials; whether one succeeded */
int kng_draw(struct kng *k, double trials, struct rng *rng, double *y, double *scratch);
/* |grad U| at y, Inf where it can't be had; and the lower bounds at y that the three envelopes rest on */
double kng_gradient_norm(const struct kng *k, const double *y, double *scratch);
void kng_bounds(struct kng *k, const double *y, double *out, double *scratch);
/* A lower bound, for any records in the ball and all scales from `narrow` to `wide`, of the probability that a trial with `constant` and
 * bins made for that range succeeds. */
double kng_least_acceptance(manifold_t m, double radius, double narrow, double wide, double gradient, int law,
                            double *work);

/* A lattice law's weights at most, by public numbers: exp(-slope max(0, F - less)), F the integral of 1 - bend ((radius + s)/(2 radius))^2
 * over distances s from the base, which are at least `contract` times those of coordinates; bend is what half a squared distance may bend
 * less than in flat space. shell, first: as in struct median; curved, steep too, for a base `middle` from the centre. proposed: what
 * kng_proposed() makes of it */
struct public_law {
    double radius, contract, bend, slope, less, shell, first, curved, steep, middle, proposed;
};

/* Laws on a lattice of coordinates at the ball's centre: medians (mechanism_median.c), and the laws of kng_law. Weights are exp(-F/scale), F at
 * a point of the lattice the length of the sum of bounded vectors, of the mean's gradient, or the distance from the mean, or that in steps; where
 * the ball is next to all of a homogeneous space also times the volume that coordinates have there, over the most that they have in the ball. */
enum { MEDIAN_BITS = 31, MEDIAN_DEPTH = 52, MEDIAN_CELLS = 256 };

struct median {
    /* in: n records, by their coordinates and as the steps see them; `off`: what their logarithms may be off by; the ball's radius and
     * largest curvature; the scale of F. law: 0 for medians, with the public length. shell: where it isn't 0, F counts as whole shells so wide
     * from `first` on. curved, steep: of the bound of the volume density, where weights have that density; else 0. room: manifold_work(). */
    manifold_t m;
    const struct mean_steps *steps;
    const double *coords, *y;
    const struct steps_records *records; /* for the gradient: may be elsewhere, with y NULL */
    size_t n;
    int law;
    double off, radius, curvature, smooth, scale, shell, first, curved, steep, *steps_room, *volume_room;
    int64_t *total, *at; /* room: 2 span, dim */
    const struct public_law *public; /* NULL, or what trials are proposed by where the records' own bounds would take more of them */
    /* made by median_make */
    double less, middle, reach, span, rate; /* middle: how far from the centre the base is */
    double edge[MEDIAN_CELLS + 1], reached[MEDIAN_CELLS], low[MEDIAN_CELLS], lean[MEDIAN_CELLS];
    double *far, *room, *v;
    struct grid grid;
};

/* of the lattice, from the radius alone: a power of two */
double median_step(double radius);
/* F as it enters the exponent, in steps where there are shells: it doesn't fall with F */
double in_shells(double length, double shell, double first);
size_t median_work(const struct median *k);
/* a: coordinates near the records' median, or of their mean (law KNG_DISTANCE: the mean is the only record), and then those of the point that is
 * proposed around; work: median_work() that `k` keeps */
void median_make(struct median *k, double *a, double *work);
/* coordinates of a draw */
void median_draw(struct median *k, struct rng *rng, double *a);
/* at coordinates a: F over the number of vectors in it (NaN outside the ball), its lower bound, the distance from the base's coordinates, and how
 * much less the logarithm of volume is than its bound at the ball's edge; the bound of the weight's logarithm there and farther out */
void median_bound(struct median *k, const double *a, double *out);
/* The length of the sum at coordinates a. k->total: that sum before its length is taken, as multiples of 2^-MEDIAN_BITS: exact sums of terms
 * that are functions of a and one record each, none longer than 1. Nothing fails. */
double median_sum(const struct median *k, const double *a);
/* the laws of kng_law (mechanism_kng_lattice.c): F, and lower bounds of it by cells of the distance from the base at coordinates a */
double kng_length_at(const struct median *k, const double *a);
void kng_look_around(struct median *k, const double *a);
/* log of the bound of the volume density at distance rho from the centre over that at the ball's edge; 0 where curved is 0 */
double volume_share(double curved, double steep, double radius, double rho);
/* log of the mass that is proposed for it from a base at the ball's edge, in units of the lattice's cells. work: grid_work() */
double kng_proposed(size_t d, double radius, const struct public_law *law, double *work);
/* the same proposals for a base anywhere in the ball */
void kng_fit_public(struct grid *g, const struct public_law *law);
/* A point of the ball around `centre` near the records' median, with distances that are smoothed: no promise; `tol` of the mean gradient.
 * work: median_find_work() */
size_t median_find_work(manifold_t m, size_t n);
void median_find(manifold_t m, const double *x, size_t n, double smooth, double tol, const double *centre, double radius, double *p,
                 double *work);
/* of numbers */
double median_middle(const double *x, size_t n, double smooth, double tol, double *work);

/* A ball that holds most of n points of [-radius, radius]^d, rows of `coords`, from those around lattice points with radii
 * radius 2^(-(first + level)/2), level < levels (mechanism_place.c): density proportional to exp(rate score + bonus level), and another
 * point in the place of one moves each score by 1 at most. Or none, with weight exp(nothing). */
struct place {
    const double *coords;
    size_t n, d, first, levels;
    struct ratio rate;     /* at most PLACE_RATE */
    double growth;         /* a little below exp(rate/d) */
    uint64_t slack;        /* in parts of PLACE_PARTS */
    int bits;              /* of the whole numbers of proposals, from 1 to 48: the law doesn't depend on them */
    double radius, bonus, nothing;
    const double *mantissa, *exponent; /* of the weights of counts; place_draw() makes them */
    struct host *host;
};
enum { PLACE_PARTS = 1 << 20, PLACE_RATE = 512, PLACE_LEVELS = 40 };

/* one axis of one radius: the lattice points whose shadow holds a point, how many it holds, and the running sums of the whole numbers
 * with which they are proposed; `empty` others hold none, and have the number `none` */
struct place_axis {
    double *at, *held, *mass, none, total;
    size_t count, empty;
    int shift;
    uint64_t padded; /* more than the total, in parts of 2^shift */
    struct dyadic above;
};

/* a proposal is kept with probability exp(-slack) or more, times 1 - 2^-15 for each axis: where the first is 1e-6, all are refused with
 * one below exp(-1000), up to 10,000 dimensions */
enum { PLACE_TRIALS = 1600000000 };
size_t place_work(const struct place *in);
/* radius 0: none; STATUS_TRIALS: see PLACE_TRIALS; axis: levels x d */
int place_draw(struct place *in, struct rng *rng, struct place_axis *axis, double *p, double *radius, double *work);

#endif
