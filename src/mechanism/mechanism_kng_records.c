/* What the mechanism's sampler asks of the records: their distances from the mean, by cells, and the Hessian there. */
#include "mechanism_kng.h"
#include "linalg.h"
#include "simd.h"

/* adds f c c' to an upper triangle by rows */
RIEMDP_SIMD static void add_outer(size_t d, double f, const double *restrict c, double *restrict upper)
{
    for (size_t p = 0; p < d; p++) {
        double t = f * c[p], *row = upper + p * d;
        for (size_t q = p; q < d; q++)
            row[q] += t * c[q];
    }
}

static int looks(const struct kng *k)
{
    return !(k->curvature == 0 || k->constant || k->law == KNG_DISTANCE ||
             (k->space == KNG_GENERAL && k->curvature < 0));
}

static int has_matrix(const struct kng *k)
{
    manifold_t m = k->m;
    size_t d = m->dim;
    int with_matrix = k->curvature != 0 && d > 1 && d <= MOST_DIM;
    if (k->space == KNG_GENERAL) /* each record costs the Hessian's columns one by one */
        with_matrix =
            with_matrix && m->ops->add_hessian && (double)k->n * (double)(d * d) * (double)m->cols < HESSIAN_WORK;
    return with_matrix;
}

/* distance of a record from the mean, and its logarithm's coordinates where there is a matrix; 0 if it has none */
static int look_at(const struct kng *k, struct points x, int with_matrix, double *s, double *scratch)
{
    manifold_t m = k->m;
    int known;
    if (with_matrix) {
        known = m->ops->log(m, k->v, one(k->base), x, 0, 1, scratch) == STATUS_OK &&
                manifold_coords(m, k->coords, one(k->base), one(k->v), 0, 1, scratch) == STATUS_OK &&
                all_finite(m->dim, k->coords);
        *s = known ? norm2(m->dim, k->coords) : 0;
    } else {
        known = manifold_dist(m, s, one(k->base), x, 0, 1, scratch) == STATUS_OK && *s >= 0;
    }
    *s = known ? fmin(*s, 2 * k->radius) : 0;
    return known;
}

/* adds one record's Hessian; its trace's part and the bound of its least eigenvalue */
static int add_record(const struct kng *k, int known, double s, int with_matrix, double *matrix, double *turned,
                      double *trace, double *lowest, double *scratch)
{
    manifold_t m = k->m;
    double a = kng_cot_factor(k->space == KNG_COMPLEX ? 1 : k->curvature, s);
    double a4 = k->space == KNG_COMPLEX ? kng_cot_factor(4, s) : a;
    *trace += a;
    *lowest += k->curvature > 0 ? fmin(a, a4) : 1;
    if (with_matrix && k->space == KNG_GENERAL)
        return known && m->ops->add_hessian(m, matrix, k->coords, scratch) == STATUS_OK;
    if (with_matrix && s > 0) {
        double f = (1 - a) / (s * s), g = k->space == KNG_COMPLEX ? (a - a4) / (s * s) : 0;
        add_outer(m->dim, f, k->coords, matrix);
        if (g != 0)
            add_outer(m->dim, g, k->coords, turned);
    }
    return with_matrix;
}

size_t kng_cells(const struct kng *k)
{
    return k->m->dim < 10 ? DISTANCES / 2 : DISTANCES;
}

size_t kng_cell(double distance, double far, size_t cells)
{
    double c = far > 0 ? ceil(distance / far * (double)cells) - 1 : 0;
    return c < 0 ? 0 : c >= (double)cells ? cells - 1 : (size_t)c;
}

/* trace, lowest, the matrices' upper triangles by rows (the second only where it isn't 0) */
size_t kng_width(const struct kng *k)
{
    size_t d = k->m->dim, half = d * (d + 1) / 2;
    return 2 + (!has_matrix(k) ? 0 : k->space == KNG_COMPLEX ? 2 * half : half);
}

int kng_row(const struct kng *k, const double *x, double *out, double *distance, double *scratch)
{
    size_t d = k->m->dim;
    int with_matrix = has_matrix(k), known = look_at(k, one(x), with_matrix, distance, scratch);
    double *matrix = k->matrix, *turned = matrix + d * d;
    if (!out)
        return STATUS_OK;
    for (size_t j = 0; j < 2 * d * d && with_matrix; j++)
        matrix[j] = 0;
    out[0] = out[1] = 0;
    if (add_record(k, known, *distance, with_matrix, matrix, turned, out, out + 1, scratch) != with_matrix)
        return STATUS_NO_CONVERGENCE;
    out += 2;
    for (int part = 0; part < (!with_matrix ? 0 : k->space == KNG_COMPLEX ? 2 : 1); part++)
        for (size_t p = 0; p < d; p++)
            for (size_t q = p; q < d; q++)
                *out++ = matrix[(size_t)part * d * d + p * d + q];
    return STATUS_OK;
}

/* What the records tell: how many have a distance in each cell up to the largest one, and the sums of add_record(), whose matrices
 * stay in k->matrix. */
struct look {
    size_t cells;
    double count[DISTANCES], far, sum, lowest;
    int with_matrix;
};

/* two passes: the cells end at the largest distance */
static void look_here(struct kng *k, struct look *l, double *scratch)
{
    manifold_t m = k->m;
    double *turned = k->matrix + m->dim * m->dim;
    for (size_t i = 0; i < k->n; i++) {
        if (i % GRADIENT_BLOCK == 0)
            host_tick(m->host, 0, 0);
        int known = look_at(k, one(k->x + i * m->ambient), l->with_matrix, k->far + i, scratch);
        l->far = fmax(l->far, k->far[i]);
        l->with_matrix =
            add_record(k, known, k->far[i], l->with_matrix, k->matrix, turned, &l->sum, &l->lowest, scratch);
    }
    for (size_t i = 0; i < k->n; i++)
        l->count[kng_cell(k->far[i], l->far, l->cells)]++;
}

/* the same of records elsewhere; 0 where it can't be had */
static int look_elsewhere(struct kng *k, struct look *l)
{
    size_t d = k->m->dim;
    double *sums = k->sums, *turned = k->matrix + d * d;
    if (k->elsewhere->look(k->elsewhere, k->base, sums, &l->far) != STATUS_OK ||
        k->elsewhere->count(k->elsewhere, k->base, l->far, l->count, l->cells) != STATUS_OK)
        return 0;
    l->sum = sums[0];
    l->lowest = sums[1];
    sums += 2;
    for (int part = 0; part < (!l->with_matrix ? 0 : k->space == KNG_COMPLEX ? 2 : 1); part++)
        for (size_t p = 0; p < d; p++)
            for (size_t q = p; q < d; q++)
                (part ? turned : k->matrix)[p * d + q] = *sums++;
    return 1;
}

static void make_coarse_cells(struct kng *k)
{
    for (size_t j = 0; j <= COARSE; j++)
        k->coarse[j] = k->reach * (j < COARSE ? square((double)j / COARSE) * ((double)j / COARSE) : 1);
    for (size_t j = 0; j < COARSE; j++)
        k->excess[j] = k->line[j] = k->lean[j] = 0;
}

/* e, and the slope with its integral, in each cell of the radius */
static void fill_coarse_cells(struct kng *k, const struct look *l)
{
    double n = (double)k->n, top = 2 * k->radius, far = l->far * (1 + 1e-12);
    for (size_t c = 0; c < COARSE; c++) {
        double e = 0, slope = 0, end = k->coarse[c + 1];
        for (size_t j = 0; j < l->cells; j++) {
            double lo = far * (double)j / (double)l->cells, hi = far * (double)(j + 1) / (double)l->cells;
            if (!(l->count[j] > 0))
                continue;
            if (k->space == KNG_GENERAL) {
                slope += l->count[j] * kng_cot_factor(k->curvature, fmin(hi + end, top));
                e += l->count[j] * kng_excess_general(k, end, hi);
            } else {
                e += l->count[j] * kng_excess(k, end, lo, hi);
            }
        }
        k->excess[c] = e / n * (1 + 1e-9);
        k->lean[c] = slope / n;
        k->line[c + 1] = k->line[c] + k->lean[c] * (end - k->coarse[c]);
    }
}

/* the mean Hessian from the sums; its upper part by rows is the lower one by columns */
static void finish_hessian(struct kng *k, double sum)
{
    size_t d = k->m->dim;
    double n = (double)k->n, *turned = k->matrix + d * d; /* sums for i times the logarithms */
    k->trace = 0;
    for (size_t p = 0; p < d; p++) {
        for (size_t q = p; q < d; q++) {
            /* i c = (-c_1, c_0, -c_3, c_2, ...): its products are those of neighbours, with the sign of p + q */
            size_t a = p ^ 1, b = q ^ 1;
            double along = k->space != KNG_COMPLEX ? 0 : (p + q) % 2 ? -1 : 1;
            if (along != 0)
                k->matrix[p * d + q] -= along * (a < b ? turned[a * d + b] : turned[b * d + a]);
            double value = k->matrix[p * d + q] / n + (p == q && k->space != KNG_GENERAL ? sum / n : 0);
            k->matrix[p * d + q] = value;
        }
        k->trace += k->matrix[p * d + p] / (double)d;
    }
}

/* eigenvectors and eigenvalues, which may raise the bound of the least one */
static void take_apart(struct kng *k)
{
    size_t d = k->m->dim;
    if (la_symeig(d, k->matrix, k->root, 1, k->matrix + d * d) != STATUS_OK)
        k->root[0] = -1;
    if (k->root[0] - 1e-11 > k->least)
        k->least = k->root[0] - 1e-11;
    else if (!(k->root[0] > 0))
        k->root[0] = 0;
}

/* distances of the records from the mean, by cells; the Hessian there where there is a matrix for it */
void kng_look_at_records(struct kng *k, double *scratch)
{
    size_t d = k->m->dim;
    struct look l = {.cells = kng_cells(k), .with_matrix = has_matrix(k)};
    k->least = k->trace = 1;
    make_coarse_cells(k);
    if (!looks(k))
        return;
    for (size_t j = 0; j < 2 * d * d && l.with_matrix; j++)
        k->matrix[j] = 0;
    if (!k->elsewhere) {
        look_here(k, &l, scratch);
    } else if (!look_elsewhere(k, &l)) {
        k->kind = KNG_SLOPE; /* which needs to know nothing of the records */
        k->least = k->slope;
        return;
    }
    k->least = l.lowest / (double)k->n;
    fill_coarse_cells(k, &l);
    if (l.with_matrix) {
        finish_hessian(k, l.sum);
        take_apart(k);
    }
}
