/* The manifold table: the one interface between a geometry and everything that works over any geometry.
 *
 * A point is `ambient` doubles in a row (matrices by columns, complex numbers as pairs). Every operation is a batch
 * over the records begin <= i < end; one point is a batch of one. Output record i may be input record i where both have
 * the same stride; nothing else overlaps. Operations allocate nothing, see no SEXP and raise nothing; on a status other
 * than OK the output of the range is unspecified. */
#ifndef RIEMDP_MANIFOLD_H
#define RIEMDP_MANIFOLD_H

#include "ground.h"

/* stride == record length: many records; stride == 0: one record for all, its factor made once a call */
struct points {
    const double *x;
    size_t stride;
};

static inline const double *at(struct points p, size_t i)
{
    return p.x + p.stride * i;
}

static inline struct points one(const double *x)
{
    return (struct points){x, 0};
}

/* coordinate j of record i is x[i * record + j * coordinate]; record == 0: one for all */
struct strided {
    const double *x;
    size_t record, coordinate;
};

enum strided_operation { STRIDED_NONE, STRIDED_EXP, STRIDED_LOG, STRIDED_DIST, STRIDED_TRANSPORT };

/* true where the factor of a base point has to be made: at the first record, and at each where bases differ */
static inline int fresh(struct points p, size_t i, size_t begin)
{
    return i == begin || p.stride;
}

enum manifold_flag {
    MANIFOLD_CALLS_R = 1,       /* operations call R: main thread only, R may jump out of them */
    MANIFOLD_HOMOGENEOUS = 2,   /* isometries carry any point to any other: noise normalisers are the same everywhere */
    MANIFOLD_TWO_POINT = 4,     /* and any direction to any other: densities depend on distance only */
    MANIFOLD_SYMMETRIC = 8,     /* Jacobi factors in closed form, one pole-ladder rung is exact */
    MANIFOLD_SCALED_ENTRY = 16, /* raw records are brought to the manifold on entry (Kendall) */
    MANIFOLD_EMBEDDED = 32,     /* the projected arithmetic mean of records is a sensible start for a mean */
    MANIFOLD_ORTHONORMAL = 64,  /* a point is a matrix with orthonormal columns, or a unit vector */
    MANIFOLD_ONE_MEAN = 128,    /* records have one Frechet mean, however far apart they lie */
    MANIFOLD_REFERENCE = 256,   /* start_add() turns records to the first one, which is the second half of `acc` */
    MANIFOLD_UNIFORM = 1024,    /* a normal vector of the space around the manifold, projected, is uniformly distributed */
    MANIFOLD_ARITHMETIC = 2048, /* the arithmetic mean of points of a ball, projected, lies in the ball */
    MANIFOLD_FORMS = 4096,      /* several stored forms are one point: bases of a subspace, rotations of a shape */
    MANIFOLD_KNG = 512          /* the bounds that the K-norm gradient sampler rests on are proven (inst/proofs/kng.md) */
};

/* Whose formulas hold within the ball of half the injectivity radius: what bounds of rounding errors and quadratures go by. A space
 * may be flat besides (a circle). */
enum manifold_model {
    MODEL_NONE,
    MODEL_FLAT,
    MODEL_SPHERE,
    MODEL_HYPERBOLIC,
    MODEL_PLANAR,    /* complex projective space */
    MODEL_SPD,       /* affine-invariant */
    MODEL_HERMITIAN, /* the same of complex matrices */
    MODEL_SUBSPACES,
    MODEL_BURES,
    MODEL_FRAMES,    /* canonical metric */
    MODEL_FRAMES_EUCLIDEAN,
    MODEL_PRODUCT, /* each part has a model of its own */
    MODEL_COUNT
};
extern const char *const manifold_model_name[MODEL_COUNT];

/* the random tangent vectors of the papers' Markov chains, which differ from space to space */
enum published_step { PUBLISHED_NONE, PUBLISHED_DIRECTION, PUBLISHED_ENTRIES, PUBLISHED_LANDMARKS };

struct manifold {
    const struct manifold_ops *ops;
    struct host *host;
    /* rows x cols matrices, complex where their numbers are half of `ambient`; rows = 0: vectors; cols = 0: complex vectors of `rows` */
    size_t ambient, dim, rows, cols;
    double k_min, k_max;             /* bounds of sectional curvature */
    double inj;                      /* injectivity radius (a lower bound), 0 where it depends on the point */
    double rho_max;                  /* diameter or Inf */
    double mean_curvature;           /* mean sectional curvature; 0 where it isn't known */
    double volume_growth;            /* rate at which the logarithm of a ball's volume grows at last; 0 where it doesn't, linearly */
    enum manifold_model model;
    unsigned flags;
    int param[2];  /* d; k; (n, p) */
    double floor;  /* relative eigenvalue floor of `project` (SPD) */
    double weight; /* c of a Stiefel metric: 2 Euclidean, 1 canonical */
    void *context; /* a user's own manifold: what ffi_custom.c needs; a product: its parts */
};

typedef const struct manifold *manifold_t;

struct manifold_ops {
    const char *name;
    const char *family; /* the class of R's objects is "riemdp_" and this: what methods in R go by */
    int parameters; /* 2 for (n, p) and (dimension, ambient); 0 stands for 1 */
    enum published_step published;
    const struct chart *chart; /* of a flat space whose operations are those of manifold_chart.c */

    /* identity: checks parameters (they may come from a tampered file), fills the data above */
    int (*init)(struct manifold *m);
    size_t (*work)(manifold_t m); /* doubles of workspace, enough for every operation below */

    /* required */
    int (*check_point)(manifold_t m, struct points x, size_t begin, size_t end, double *work);
    int (*check_tangent)(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work);
    int (*project)(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work);
    int (*project_tangent)(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work);
    int (*exp)(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
    int (*log)(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work);
    int (*inner)(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                 double *work);

    /* optional, with a generic default in manifold.c */
    int (*coords)(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
    int (*from_coords)(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                       double *work);
    int (*dist)(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work);
    int (*transport)(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work);
    int (*log_density)(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work);
    int (*jacobi)(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work);
    /* Adjoints of the derivatives of exp at (p, w), y = exp_p(w) given: for e tangent at y, <e, d_p exp u> = <out_p, u> where p
     * moves along u and w with it in parallel, and <e, d_w exp u> = <out_w, u>. Where no transport in closed form makes it of
     * `jacobi`. */
    int (*exp_adjoint)(manifold_t m, double *out_p, double *out_w, struct points p, struct points w, struct points y,
                       struct points e, size_t begin, size_t end, double *work);
    int (*log_sum)(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                   size_t begin, size_t end, double *work);

    /* An operation and the checks of its arguments in one pass over n records, wherever their numbers lie; `record` and
     * `coordinate` say where those of the output go, and it overlaps no input. Any other status than OK: do it the ordinary
     * way, which will name what is wrong. The same bits as the ordinary way gives. */
    int (*strided)(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate,
                   const struct strided *in, size_t n, double *work);

    /* A start for a mean that beats the projected arithmetic mean: accumulates over records (acc: 2 * ambient doubles, zero at
     * first), then makes the point from the sums and the total weight. */
    int (*start_add)(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                     double *work);
    int (*start_end)(manifold_t m, double *out, double *acc, double total, double *work);

    /* bounds that hold on a whole ball, where those of the manifold don't say enough (inj = 0 or k_max = Inf); a radius
     * for which the ball isn't inside the manifold gives inj = 0 */
    void (*ball_bounds)(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work);

    /* optional, none without */
    const struct certified *certified; /* proven bounds of what rounding does (manifold_certified.h); NULL: none */
    /* exp that moves a point which doubles don't hold to the edge of what they do: a function of that point alone, not of p */
    int (*exp_held)(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
    /* whether `exp` has moved this result to the edge of what doubles hold, where it is total */
    int (*at_edge)(manifold_t m, const double *x);
    void (*origin)(manifold_t m, double *out);
    int (*to_origin)(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work);
    int (*from_origin)(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work);
    /* log-concave upper bound of the area of the geodesic sphere at radius rho (up to a constant): log and slope */
    void (*radial)(manifold_t m, double rho, double *log_area, double *slope);
    /* Adds the Hessian at p of half the squared distance to a point q to the lower triangle of `matrix` (dim x dim), in the frame
     * of `coords`; log_coords: coordinates of log_p q. Where it isn't a closed form of curvature. */
    int (*add_hessian)(manifold_t m, double *matrix, const double *log_coords, double *work);
    /* log of true over bound at the orthonormal coordinates a of a tangent vector of length rho; 0 where exact */
    double (*radial_accept)(manifold_t m, const double *a, double rho, double *work);
};

static inline int manifold_complex(manifold_t m)
{
    return m->rows > 0 && m->ambient == 2 * m->rows * (m->cols ? m->cols : 1);
}

/* What a product's `context` is, which outlives the manifold. A part's weight multiplies its metric, its root distances; where its
 * numbers begin among the product's, those of points and of coordinates. */
struct part {
    struct manifold m;
    double weight, root;
    size_t at, coord;
};

struct product {
    size_t count;
    struct part *part;
    /* bound of the area of spheres: in how many directions volume may grow, and minus the least Ricci curvature, over all parts */
    double curved, bend;
    struct manifold_ops ops; /* what all parts have */
};

/* the parts of a product, NULL of another manifold */
const struct product *manifold_parts(manifold_t m);
/* log of the volume density of a part's exp at the product's coordinates a, -Inf beyond the cut locus; where the part has `radial` */
double part_log_density(const struct part *q, const double *a, double *work);
/* Where there is `radial`: Ric(v, v) = ricci |v|^2, on positive definite matrices no less than that; *curved, in how many directions a
 * space without positive curvature is curved. */
double manifold_ricci(manifold_t m, double *curved);
/* Where there is `radial` and no curvature above 0: the volume density at coordinates a at a point that all others are like is at most
 * sinhc(rate |a|)^curved; by how much its logarithm, as computed, is less than that one's. */
void manifold_volume_bound(manifold_t m, double *curved, double *rate);
double manifold_volume_lost(manifold_t m, const double *a, double rho, double *work);
/* of a product: its figures for the bound of its spheres' area, and `radial` and `radial_accept` */
void product_area(struct product *p);
void product_radial(manifold_t m, double rho, double *log_area, double *slope);
double product_radial_accept(manifold_t m, const double *a, double rho, double *work);
/* rho^(d - 1) sinhc(c rho)^curved, log and slope */
void manifold_sinhc_area(double d, double curved, double c, double rho, double *log_area, double *slope);

/* Operation or generic: what every caller uses. Arguments as in the table; `work` has manifold_work() doubles. */
size_t manifold_work(manifold_t m);
size_t manifold_block(manifold_t m); /* records that one batch had best hold */
size_t manifold_numeric_work(manifold_t m); /* for log_density and jacobi, which may be found numerically */
int manifold_coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                    double *work);
int manifold_from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                         double *work);
/* exp that says so where its result has been moved to the edge of what doubles hold */
int manifold_exp(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work);
/* exp that can't fail: by `exp_held`, or a vector beyond its domain is halved until it is inside (v is overwritten); `otherwise` is a
 * public point */
void manifold_exp_total(manifold_t m, double *out, const double *p, double *v, const double *otherwise, double *work);
int manifold_dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work);
int manifold_transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                       size_t end, double *work);
/* The derivative at t of a field u that is parallel along the geodesic from x along w; scratch is what it needs. */
typedef int (*parallel_field)(manifold_t m, double t, const double *x, const double *w, const double *u, double *rate,
                              double *scratch);
/* u carried from 0 to d by Runge and Kutta's method, in so many steps (5,000 at most) and once more in twice as many: one Richardson
 * step, which tells whether they do: else STATUS_NO_CONVERGENCE. work: 4 ambient and the scratch. */
int manifold_integrate(manifold_t m, parallel_field rate, double d, double steps, const double *x, const double *w, double *u,
                       double *work);
/* orthonormal frame at p from projected axes: dim rows of `ambient` doubles */
int manifold_gram_schmidt(manifold_t m, const double *p, double *frame, double *work);
/* isometry of tangent spaces that matches the frames of `coords` */
int manifold_carry(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                   size_t end, double *work);
/* parallel transport by `rungs` steps of the pole ladder, for checks and for manifolds without a closed form */
int manifold_pole_ladder(manifold_t m, double *out, const double *p, const double *q, const double *v, int rungs,
                         double *work);
int manifold_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                         double *work);
/* Adjoint Jacobi factors along s -> exp_p(s v) at s = x, for u at p: out_p gets C*u, out_v gets (x S)*u, where
 * d exp_p(x v) = PT(C dp + x S dv). On symmetric spaces C and S are self-adjoint. `x` has one double a record. */
int manifold_jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                    struct points u, size_t begin, size_t end, double *work);
/* u at exp_p(v) back to p along the geodesic itself, which is not the shortest one where v is long; 2 * ambient more doubles */
int manifold_transport_back(manifold_t m, double *out, const double *p, const double *v, const double *y,
                            const double *u, double *work);
/* exp_adjoint for `count` records y_i = exp_p(w_i), w_i = sum_j x_ij v_j with q vectors v (x: q doubles a record): in closed
 * form, by transport and `jacobi`, or by differences (relative error some 1e-12) */
size_t manifold_exp_adjoint_work(manifold_t m, size_t q, size_t count);
int manifold_exp_adjoint(manifold_t m, double *out_p, double *out_w, const double *p, const double *v, size_t q,
                         struct points x, struct points w, struct points y, struct points e, size_t count,
                         double *work);
/* v from p to the near point q, parallel up to third order in their distance: all that derivatives and steps of a solver need */
int manifold_transport_near(manifold_t m, double *out, const double *p, const double *q, const double *v, double *work);
/* adds sum_i w_i log_p x_i to `sum` and sum_i w_i d(p, x_i)^2 to `sum_sq`; w may be NULL (all one) */
int manifold_log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                     size_t begin, size_t end, double *work);
/* whether isometries carry any point to the origin and back */
int manifold_carries(manifold_t m);
/* where private solvers work: `o` is the origin where isometries carry `centre` there, which is then returned as true; else the
 * centre itself */
int manifold_reference(manifold_t m, const double *centre, double *o);
/* x of that place back around the centre, where it was `carried`; what can't be carried is the centre */
void manifold_from_reference(manifold_t m, int carried, const double *centre, const double *x, double *out,
                             double *work);
/* The stored form of y that y as a point and `o` decide: a draw around a private point has a form that fits that point's, which would tell
 * it. What has no log at o, a null set of the laws, becomes o. */
void manifold_one_form(manifold_t m, const double *o, double *y, double *work);
/* Total: what is no point, or has no log at the centre, becomes the centre; what lies outside moves to the nearest point
 * of the ball. Never fails. */
/* start of a mean; STATUS_UNSUPPORTED where only a record will do */
int manifold_start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end,
                       double *work);
int manifold_start_end(manifold_t m, double *out, double *acc, double total, double *work);
void manifold_ball_bounds(manifold_t m, const double *centre, double radius, double *k_max, double *inj, double *work);
void manifold_to_ball(manifold_t m, double *out, const double *centre, double radius, struct points x, size_t begin,
                      size_t end, double *work);

/* Pieces that tables share. The ambient inner product, for metrics that are the surrounding space's: */
int manifold_ambient_inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin,
                           size_t end, double *work);
/* Jacobi factors where curvature is constant: e = a v + r with r normal to v gives out_p = a v + c r, out_v = s a v + b r */
void manifold_constant_jacobi(size_t n, double along, const double *v, const double *e, double c, double s, double b,
                              double *out_p, double *out_v);

/* what every flat space has: density 1, factors 1 and x, spheres of Euclidean area (manifold_euclidean.c) */
int manifold_flat_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                              double *work);
int manifold_flat_jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                         struct points u, size_t begin, size_t end, double *work);
void manifold_flat_radial(manifold_t m, double rho, double *log_area, double *slope);

/* the registry (manifold_registry.c), and one table more, entered at loading: that of users' own manifolds, which needs R */
const struct manifold_ops *manifold_lookup(const char *name);
void manifold_enter(const struct manifold_ops *ops);
/* ops->init and what all tables need of sizes; param, floor, context, host and ops are set */
int manifold_init(struct manifold *m);
extern const struct manifold_ops manifold_euclidean, manifold_sphere, manifold_spd_affine, manifold_spd_bures,
    manifold_spd_logeuclidean, manifold_hyperboloid, manifold_ball, manifold_stiefel_euclidean,
    manifold_stiefel_canonical, manifold_grassmann, manifold_kendall, manifold_kendall_space, manifold_size_plane,
    manifold_size_space, manifold_psd, manifold_rotations, manifold_rotations_frames,
    manifold_product, manifold_simplex_aitchison, manifold_spd_logcholesky, manifold_correlation_logcholesky,
    manifold_correlation_offlog, manifold_hermitian;

#endif
