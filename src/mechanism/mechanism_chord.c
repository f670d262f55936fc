/* The Laplace law of the chordal distance on frames: density proportional to exp(-D/sigma) with respect to the volume, D the distance in a
 * Euclidean space that holds the manifold with its metric. Drawn around the first columns of the identity: where D < cap as frames
 * exp(b) E exp(a), else evenly. Proof: inst/proofs/laplace.md, section 5. */
#include <math.h>

#include "linalg.h"
#include "mechanism.h"

/* chord over arc of a circle of radius 1 */
static double over_arc(double chord)
{
    return chord > 0 ? 0.5 * chord / asin(fmin(1, 0.5 * chord)) : 1;
}

double chord_least(int euclidean, double cap)
{
    double q = 1 - (euclidean ? 0.5 : 1) * square(cap), top = euclidean ? cap / sqrt(q) : sqrt(2 / (q + 0.5)) * cap;
    double part = sqrt(euclidean ? q : 0.5 * (q + 1 - square(top) / 4)) * over_arc(top);
    return fmin(part, over_arc(euclidean ? cap : sqrt(2) * cap)) * (1 - 1e-12);
}

static double log_frames(double n, double p, int euclidean)
{
    double sum = p * log(2) + 0.5 * n * p * log(RIEMDP_PI) - 0.25 * p * (p - 1) * log(RIEMDP_PI);
    for (double j = 0; j < p; j++)
        sum -= lgamma(0.5 * (n - j));
    return sum + (euclidean ? 0.25 * p * (p - 1) * log(2) : 0);
}

size_t chord_work(manifold_t m)
{
    size_t n = m->rows, p = m->cols;
    return m->dim + 3 * n * p + 8 * p * p + n + 2 * p + manifold_work(m) + la_svd_work(n - p, p) + la_symeig_work(2 * p) + la_expm1_work(p);
}

int chord_make(struct chord *law, manifold_t m, double sigma, double *work)
{
    *law = (struct chord){.m = m, .sigma = sigma, .room = work};
    law->euclidean = m->ops == &manifold_stiefel_euclidean;
    if (!(law->euclidean || m->ops == &manifold_stiefel_canonical) || m->rows <= m->cols)
        return STATUS_UNSUPPORTED;
    double d = (double)m->dim, near = log(2) + 0.5 * d * log(RIEMDP_PI) - lgamma(0.5 * d) + lgamma(d) + d * log(sigma);
    double far = log_frames((double)m->rows, (double)m->cols, law->euclidean);
    /* so far out that next to nothing is proposed beyond */
    law->cap = fmin(law->euclidean ? 0.9 : 0.64, sigma * (d + 8 * sqrt(d) + 30 + fmax(0, far - near)));
    law->least = chord_least(law->euclidean, law->cap);
    near -= d * log(law->least);
    law->log_all = far;
    far -= law->cap / sigma;
    law->near = 1 / (1 + exp(far - near));
    law->log_mass = near + log1p(exp(far - near));
    return STATUS_OK;
}

/* skew a to exp(a) - I in e; log of the Jacobian, and the largest angle to *top */
static int skew_exp(size_t p, const double *a, double *e, double *log_density, double *top, double *work)
{
    size_t size = 2 * p;
    double *h = work, *w = h + size * size, *rest = w + size;
    for (size_t j = 0; j < size * size; j++)
        h[j] = 0;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            h[j * size + p + i] = a[j * p + i];
    int status = la_symeig(size, h, w, 0, rest);
    if (status != STATUS_OK)
        return status;
    *top = w[size - 1];
    *log_density = 2 * heat_log_kept(p, 0, w);
    return la_expm1(p, a, e, work);
}

/* log of the volume of subspaces over that of coordinates, principal angles t */
static double log_subspaces(size_t r, size_t more, const double *t)
{
    double sum = 0;
    for (size_t i = 0; i < r; i++) {
        sum += (double)more * log_sinc(t[i]);
        for (size_t j = 0; j < i; j++)
            sum += log_sinc(t[i] - t[j]) + log_sinc(t[i] + t[j]);
    }
    return sum;
}

/* skew a and any b of coordinates x, lengths as in the metric */
static void unpack(const struct chord *law, const double *x, double *a, double *b)
{
    size_t p = law->m->cols, l = law->m->rows - p;
    double share = law->euclidean ? sqrt(0.5) : 1;
    for (size_t i = 0; i < p; i++) {
        a[i * p + i] = 0;
        for (size_t j = 0; j < i; j++) {
            a[j * p + i] = share * *x++;
            a[i * p + j] = -a[j * p + i];
        }
    }
    for (size_t j = 0; j < l * p; j++)
        b[j] = *x++;
}

/* V (cos t - 1) V' and U sin t V'; the sum of sin^2 t */
static double blocks(size_t l, size_t p, const double *u, const double *t, const double *v, double *top, double *low)
{
    size_t r = l < p ? l : p;
    double sines = 0;
    for (size_t i = 0; i < p * p; i++)
        top[i] = 0;
    for (size_t i = 0; i < l * p; i++)
        low[i] = 0;
    for (size_t k = 0; k < r; k++) {
        double less = -2 * square(sin(0.5 * t[k])), s = sin(t[k]);
        sines += s * s;
        for (size_t j = 0; j < p; j++) {
            for (size_t i = 0; i < p; i++)
                top[j * p + i] += less * v[i * r + k] * v[j * r + k];
            for (size_t i = 0; i < l; i++)
                low[j * l + i] += s * u[k * l + i] * v[j * r + k];
        }
    }
    return sines;
}

/* row i of a block times the columns of I + e, less what the identity has there: one entry */
static double entry(size_t p, size_t rows, const double *block, size_t i, size_t j, const double *e)
{
    double sum = block[j * rows + i];
    for (size_t k = 0; k < p; k++)
        sum += block[k * rows + i] * e[j * p + k];
    return sum;
}

/* The frame with coordinates x around the first columns of the identity; its distance D from there and the log of the volume over that of
 * coordinates. 0 where coordinates go too far. */
static int frame_at(const struct chord *law, const double *x, double *z, double *distance, double *log_volume)
{
    size_t n = law->m->rows, p = law->m->cols, l = n - p;
    double *a = law->room, *e = a + p * p, *b = e + p * p, *u = b + l * p, *t = u + l * p, *v = t + n, *top = v + p * p, *work = top + p * p;
    double log_turn = 0, widest = 0, sum = 0;
    unpack(law, x, a, b);
    if (skew_exp(p, a, e, &log_turn, &widest, work) != STATUS_OK || la_svd(l, p, b, u, t, v, work) != STATUS_OK ||
        !(widest < RIEMDP_PI && t[0] < 0.5 * RIEMDP_PI))
        return 0;
    double sines = blocks(l, p, u, t, v, top, b);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < n; i++) {
            double off = i < p ? e[j * p + i] + entry(p, p, top, i, j, e) : entry(p, l, b, i - p, j, e);
            sum += off * off;
            z[j * n + i] = off + (i == j);
        }
    *distance = sqrt(law->euclidean ? sum : 0.5 * (sum + sines));
    *log_volume = log_turn + log_subspaces(l < p ? l : p, l > p ? l - p : p - l, t);
    return 1;
}

/* an even law, kept as the density beyond `cap` is */
static int even_frame(const struct chord *law, struct rng *rng, double *z)
{
    size_t n = law->m->rows, p = law->m->cols;
    double *g = law->room, *work = g + n * p;
    rng_normals(rng, n * p, 1, g);
    if (law->m->ops->project(law->m, z, one(g), 0, 1, work) != STATUS_OK) /* the polar factor */
        return 0;
    double sum = 2 * (double)p, sines = (double)p;
    for (size_t j = 0; j < p; j++) {
        sum -= 2 * z[j * n + j];
        for (size_t i = 0; i < p; i++)
            sines -= square(z[j * n + i]);
    }
    double distance = sqrt(fmax(0, law->euclidean ? sum : 0.5 * (sum + sines)));
    return distance >= law->cap && log(rng_uniform(rng)) < (law->cap - distance) / law->sigma;
}

int chord_trial(const struct chord *law, struct rng *rng, double *z)
{
    size_t d = law->m->dim;
    double *x = law->room, distance, log_volume;
    struct chord rest = *law;
    rest.room += d;
    if (!(rng_uniform(rng) < law->near))
        return even_frame(&rest, rng, z);
    double rho = rng_gamma(rng, (double)d) * law->sigma / law->least;
    rng_direction(rng, d, x);
    for (size_t j = 0; j < d; j++)
        x[j] *= rho;
    return frame_at(&rest, x, z, &distance, &log_volume) && distance < law->cap &&
           log(rng_uniform(rng)) < log_volume + (law->least * rho - distance) / law->sigma;
}

int chord_draw(const struct chord *law, struct rng *rng, double *z)
{
    for (size_t t = 0; t < RADIAL_TRIALS; t++)
        if (chord_trial(law, rng, z))
            return STATUS_OK;
    return STATUS_TRIALS;
}
