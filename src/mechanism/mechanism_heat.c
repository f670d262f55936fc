/* The heat kernel where a compact group of matrices turns the space: SO(n) on spheres, frames and subspaces, U(n) on planar shapes. A point is
 * turned by exp(A), A normal in the Lie algebra and kept with the probability |prod sin(a/2)/(a/2)| over the positive roots a of A. On a product
 * each part moves by itself, a flat one by a normal vector. Proof: inst/proofs/gaussian.md, section 7; products.md, section 5. */
#include <math.h>

#include "linalg.h"
#include "mechanism.h"

size_t heat_group(manifold_t m, int *unitary)
{
    *unitary = m->ops == &manifold_kendall;
    if (*unitary)
        return m->rows - 1;
    if (m->ops == &manifold_sphere)
        return m->ambient;
    int frames = m->ops == &manifold_stiefel_euclidean || m->ops == &manifold_stiefel_canonical || m->ops == &manifold_grassmann ||
                 m->ops == &manifold_rotations_frames;
    return frames ? m->rows : 0;
}

static size_t own_work(manifold_t m)
{
    int unitary;
    size_t n = 2 * heat_group(m, &unitary);
    return n ? 5 * n * n + 3 * n + la_symeig_work(n) : m->dim + 3 * m->ambient + manifold_work(m);
}

size_t heat_work(manifold_t m)
{
    const struct product *p = manifold_parts(m);
    size_t most = p ? 0 : own_work(m);
    for (size_t i = 0; p && i < p->count; i++) {
        size_t own = own_work(&p->part[i].m);
        most = own > most ? own : most;
    }
    return most;
}

int heat_make(struct heat *law, manifold_t m, double sigma, double *work)
{
    const struct product *p = manifold_parts(m);
    *law = (struct heat){.m = m, .sigma = sigma};
    law->n = heat_group(m, &law->unitary);
    law->h = work;
    int turned = law->n >= 2;
    for (size_t i = 0; p && i < p->count; i++) {
        int unitary, turns = heat_group(&p->part[i].m, &unitary) >= 2;
        if (!turns && p->part[i].m.model != MODEL_FLAT)
            return STATUS_UNSUPPORTED;
        turned = turned || turns;
    }
    return turned ? STATUS_OK : STATUS_UNSUPPORTED;
}

/* The Hermitian matrix iA as a real one of twice the size, [P, -Q; Q, P] for P + iQ. A has independent normal coordinates in the metric tr A*A/2. */
static void algebra_draw(const struct heat *law, struct rng *rng)
{
    size_t n = law->n, size = 2 * n;
    double *h = law->h;
    for (size_t j = 0; j < size * size; j++)
        h[j] = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double x = law->sigma * rng_normal(rng), y = law->unitary ? -law->sigma * rng_normal(rng) : 0;
            h[j * size + n + i] = x;
            h[i * size + n + j] = -x;
            h[j * size + i] = h[(n + j) * size + n + i] = y;
        }
        if (law->unitary)
            h[i * size + i] = h[(n + i) * size + n + i] = -sqrt(2) * law->sigma * rng_normal(rng);
    }
}

/* log |sin(a/2)/(a/2)| */
static double log_part(double a)
{
    double x = fabs(a / 2);
    return x > 0 ? log(fabs(sin(x)) / x) : 0;
}

/* eigenvalues ascending, each twice; those of a real A are in pairs of opposite sign, and 0 in odd dimensions */
double heat_log_kept(size_t n, int unitary, const double *w)
{
    double sum = 0;
    size_t count = unitary ? n : n / 2;
    for (size_t i = 0; i < count; i++) {
        double a = w[2 * n - 1 - 2 * i];
        for (size_t j = 0; j < i; j++) {
            double b = w[2 * n - 1 - 2 * j];
            sum += log_part(b - a) + (unitary ? 0 : log_part(b + a));
        }
        if (!unitary && n % 2 == 1)
            sum += log_part(a);
    }
    return sum;
}

/* exp(A) to e, and of a complex one the imaginary part to f */
static void exponential(const struct heat *law, const double *w, double *e, double *f, double *work)
{
    size_t n = law->n, size = 2 * n;
    double *values = work, *cosine = values + size, *sine = cosine + size * size, *room = sine + size * size;
    for (size_t j = 0; j < size; j++)
        values[j] = cos(w[j]);
    la_spectral(size, law->h, values, cosine, room);
    for (size_t j = 0; j < size; j++)
        values[j] = sin(w[j]);
    la_spectral(size, law->h, values, sine, room);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            e[j * n + i] = cosine[j * size + i] + sine[j * size + n + i];
            f[j * n + i] = cosine[j * size + n + i] - sine[j * size + i];
        }
}

/* complex numbers in pairs; with `step` 1 and no f a real vector */
static void turn(size_t n, const double *e, const double *f, size_t step, double *x, double *out)
{
    for (size_t i = 0; i < step * n; i++)
        out[i] = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double re = x[step * j], im = step == 2 ? x[2 * j + 1] : 0, a = e[j * n + i], b = step == 2 ? f[j * n + i] : 0;
            out[step * i] += a * re - b * im;
            if (step == 2)
                out[2 * i + 1] += a * im + b * re;
        }
    for (size_t i = 0; i < step * n; i++)
        x[i] = out[i];
}

/* centred complex vectors of n + 1 numbers to n of them and back: a reflection takes (1, ..., 1) to the last axis */
static void reflect_ones(size_t n, double *x)
{
    double c = 1 / sqrt((double)(n + 1)), scale = 1 / (1 - c);
    for (size_t part = 0; part < 2; part++) {
        double dot = -x[2 * n + part];
        for (size_t j = 0; j <= n; j++)
            dot += c * x[2 * j + part];
        for (size_t j = 0; j <= n; j++)
            x[2 * j + part] -= scale * dot * (c - (j == n));
    }
}

/* a flat part's point, in place; its origin, a public point, where doubles have lost it: nothing fails */
static void shift(manifold_t m, double sigma, struct rng *rng, double *p, double *work)
{
    double *a = work, *v = a + m->dim, *to = v + m->ambient, *o = to + m->ambient, *rest = o + m->ambient;
    normal_draw(m->dim, sigma, rng, a);
    m->ops->origin(m, o);
    if (manifold_from_coords(m, v, one(p), one(a), 0, 1, rest) == STATUS_OK)
        manifold_exp_total(m, to, p, v, o, rest);
    else
        for (size_t j = 0; j < m->ambient; j++)
            to[j] = o[j];
    for (size_t j = 0; j < m->ambient; j++)
        p[j] = to[j];
}

static int turn_parts(const struct heat *law, const struct product *whole, struct rng *rng, double *p)
{
    int status = STATUS_OK;
    for (size_t i = 0; i < whole->count && status == STATUS_OK; i++) {
        const struct part *q = whole->part + i;
        struct heat own;
        if (heat_make(&own, &q->m, law->sigma / q->root, law->h) == STATUS_OK)
            status = heat_turn(&own, rng, p + q->at);
        else
            shift(&q->m, law->sigma / q->root, rng, p + q->at, law->h);
    }
    return status;
}

/* p turned once; of planar shapes it is reflected already */
static int turn_once(const struct heat *law, struct rng *rng, double *p)
{
    size_t n = law->n, size = 2 * n;
    double *w = law->h + size * size, *e = w + size, *f = e + n * n, *out = f + n * n, *work = out + size;
    int drawn = 0;
    for (size_t t = 0; t < RADIAL_TRIALS && !drawn; t++) {
        algebra_draw(law, rng);
        drawn = la_symeig(size, law->h, w, 1, work) == 0 && log(rng_uniform(rng)) < heat_log_kept(n, law->unitary, w);
    }
    if (!drawn)
        return STATUS_TRIALS;
    exponential(law, w, e, f, work);
    for (size_t c = 0; c < (law->m->cols > 0 ? law->m->cols : 1); c++)
        turn(n, e, f, law->unitary ? 2 : 1, p + c * n, out);
    return STATUS_OK;
}

double heat_parts(double rho, double sigma)
{
    return fmin(1000, fmax(1, ceil(0.5 * rho * sigma * sigma)));
}

double heat_rho(size_t n, int unitary)
{
    double d = (double)n;
    return unitary ? d * (d * d - 1) / 6 : d * (d - 1) * (d - 2) / 24;
}

int heat_turn(const struct heat *law, struct rng *rng, double *p)
{
    const struct product *whole = manifold_parts(law->m);
    if (whole)
        return turn_parts(law, whole, rng, p);
    size_t n = law->n;
    double parts = heat_parts(heat_rho(n, law->unitary), law->sigma);
    struct heat one_part = *law;
    one_part.sigma = law->sigma / sqrt(parts);
    int status = STATUS_OK;
    if (law->unitary)
        reflect_ones(n, p);
    for (size_t i = 0; (double)i < parts && status == STATUS_OK; i++)
        status = turn_once(&one_part, rng, p);
    if (law->unitary)
        reflect_ones(n, p);
    return status;
}
