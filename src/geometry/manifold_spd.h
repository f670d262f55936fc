/* What the metrics on symmetric positive definite k x k matrices share: checks, projection, and orthonormal
 * coordinates of symmetric matrices (diagonal entries and sqrt(2) times the lower ones, by columns). */
#ifndef RIEMDP_MANIFOLD_SPD_H
#define RIEMDP_MANIFOLD_SPD_H

#include "linalg_wide.h"
#include "manifold.h"

int spd_init(struct manifold *m);
int spd_check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work);
int spd_check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work);
int spd_project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work);
int spd_project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                        double *work);
void spd_origin(manifold_t m, double *out);
/* eigenvectors and positive eigenvalues; rest: la_symeig_work(k) doubles */
int spd_spectrum(size_t k, const double *x, double *v, double *w, double *rest);
/* S = D log_P [U] (or its inverse) through the spectrum (v, w) of P; rest: k * k doubles; s may be u */
void spd_dlog(size_t k, const double *v, const double *w, const double *u, double *s, int inverse, double *rest);

/* logarithmic mean (a - b)/(log a - log b) */
static inline double log_mean(double a, double b)
{
    return sqrt(a) * sqrt(b) * sinhc(0.5 * log(a / b));
}

/* manifold_spd_bures_map.c: X = T - I for the optimal transport T of P to Q, in the eigenbasis (v, w) of P; rest: 4 k^2 + k doubles
 * and the work of an eigenproblem or polar factor. Pairs whose first step is this short go another way than the others. */
int bures_is_near(size_t k, double gamma2);
int bures_map(size_t k, const double *p, const double *q, const double *v, const double *w, double *x, double *rest);

static inline void sym_to_coords(size_t k, const double *s, double *a)
{
    for (size_t j = 0; j < k; j++) {
        *a++ = s[j + j * k];
        for (size_t i = j + 1; i < k; i++)
            *a++ = RIEMDP_SQRT2 * s[i + j * k];
    }
}

static inline void sym_from_coords(size_t k, const double *a, double *s)
{
    for (size_t j = 0; j < k; j++) {
        s[j + j * k] = *a++;
        for (size_t i = j + 1; i < k; i++)
            s[i + j * k] = s[j + i * k] = *a++ / RIEMDP_SQRT2;
    }
}

/* Records i, i + 1, ... of a batch as one group of WIDE, the last repeated where the batch ends: how many there are. */
static inline size_t spd_group(struct points p, size_t i, size_t end, const double **x)
{
    size_t count = end - i < WIDE ? end - i : WIDE;
    for (size_t k = 0; k < WIDE; k++)
        x[k] = at(p, i + (k < count ? k : count - 1));
    return count;
}

static inline void spd_store(size_t k, double *out, size_t i, size_t count, const wide *a)
{
    double *to[WIDE];
    for (size_t j = 0; j < count; j++)
        to[j] = out + (i + j) * k * k;
    wide_store(k, count, a, to);
}

/* number `which` of a group alone, to record i */
static inline void spd_store_one(size_t k, double *out, size_t i, const wide *a, size_t which)
{
    double *to = out + i * k * k;
    wide_store(k, 1, (const wide *)((const double *)a + which), &to);
}

/* What operations on groups need, in the caller's workspace: `base` and `scale` belong to the base points (a Cholesky factor and
 * its reciprocals, or eigenvectors and eigenvalues), `root` to either; the rest is free. */
struct spd_groups {
    const struct wide_kernels *kernels;
    wide *base, *scale, *root, *v, *f, *s, *t, *g, *rest;
    double *scalar; /* what is left, for one matrix */
};

static inline size_t spd_groups_work(manifold_t m)
{
    return WIDE * (5 * m->ambient + 3 * m->rows + wide_work(m->rows) + 1);
}

static inline struct spd_groups spd_make_groups(manifold_t m, double *work)
{
    size_t k = m->rows, n = m->ambient;
    struct spd_groups c = {.kernels = wide_kernels(k), .base = wide_align(work)};
    c.v = c.base + n;
    c.s = c.v + n;
    c.t = c.s + n;
    c.g = c.t + n;
    c.scale = c.g + n;
    c.root = c.scale + k;
    c.f = c.root + k;
    c.rest = c.f + k;
    c.scalar = (double *)(c.rest + wide_work(k));
    return c;
}

/* eigenvectors v and positive eigenvalues w of records i, i + 1, ... as a group */
int spd_group_spectrum(const struct spd_groups *c, size_t k, struct points p, size_t i, size_t end, wide *v, wide *w);

#endif
