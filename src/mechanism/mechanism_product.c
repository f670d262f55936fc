/* The Laplace law on a product as a mixture of normal laws: exp(-a rho) is a multiple of the integral of exp(-a^2 u^2/2 - rho^2/(2 u^2)) over
 * u > 0, in which the parts' distances are apart. u is drawn from a log-concave law, the product of bounds of the parts' normalising constants;
 * each part's vector from the bound's own law; both are kept together or not at all. Proof: inst/proofs/products.md, section 5. */
#include "mechanism.h"

enum piece { PIECE_FLAT, PIECE_CIRCLE, PIECE_CLOSED, PIECE_OPEN };

/* how a part's density is bounded: `rate` is Ricci curvature in the product's metric, or the square of an exponential rate */
static enum piece piece_of(const struct part *q, double *rate)
{
    double curved, d = (double)q->m.dim, ricci = manifold_ricci(&q->m, &curved);
    *rate = ricci >= 0 ? ricci / q->weight : -ricci * fmax(curved, d / 2) / q->weight;
    return ricci > 0 ? PIECE_CLOSED : ricci < 0 ? PIECE_OPEN : q->m.rho_max < INFINITY ? PIECE_CIRCLE : PIECE_FLAT;
}

/* half as long as the circle, in the product's metric */
static double half_turn(const struct part *q)
{
    return q->root * q->m.rho_max;
}

static int fills(const struct part *q, double u)
{
    return sqrt(2 * RIEMDP_PI) * u > 2 * half_turn(q);
}

static void mixture_law(const void *data, double u, double *value, double *slope)
{
    const struct laplace *law = data;
    const struct product *p = manifold_parts(law->m);
    double left = 1 / law->sigma / law->sigma - law->drift, rate;
    *value = -0.5 * left * u * u;
    *slope = -left * u;
    for (size_t i = 0; i < p->count; i++) {
        const struct part *q = p->part + i;
        double d = (double)q->m.dim;
        enum piece piece = piece_of(q, &rate);
        double bend = piece == PIECE_CLOSED ? rate / 3 * u * u : 0;
        int full = piece == PIECE_CIRCLE && fills(q, u);
        *value += full ? log(2 * half_turn(q) / sqrt(2 * RIEMDP_PI)) : d * (log(u) - 0.5 * log1p(bend));
        *slope += full ? 0 : d / u / (1 + bend);
    }
}

void mixture_make(struct laplace *law)
{
    const struct product *p = manifold_parts(law->m);
    for (size_t i = 0; i < p->count; i++) {
        double rate;
        if (piece_of(p->part + i, &rate) == PIECE_OPEN)
            law->drift += rate;
    }
    law->radial = (struct logconcave){mixture_law, law, 0, INFINITY};
}

double log_mean_exp(double d, double z)
{
    double term = 1, sum = 1, scale = 0, y = 0.25 * z * z;
    for (double k = 0; term > 1e-17 * sum; k++) {
        term *= y / (k + 1) / (0.5 * d + k);
        sum += term;
        if (sum > 1e200) {
            sum *= 1e-200;
            term *= 1e-200;
            scale += 200 * log(10);
        }
    }
    return scale + log(sum);
}

/* one part's vector; log of the density over its bound */
static double propose_part(const struct part *q, double u, struct rng *rng, double *coords, double *work)
{
    double rate, *a = coords + q->coord, *turn = work;
    size_t d = q->m.dim;
    enum piece piece = piece_of(q, &rate);
    if (piece == PIECE_CIRCLE && fills(q, u)) {
        a[0] = (2 * rng_uniform(rng) - 1) * half_turn(q);
        return -0.5 * square(a[0] / u);
    }
    normal_draw(d, piece == PIECE_CLOSED ? u / sqrt(1 + rate / 3 * u * u) : u, rng, a);
    if (piece == PIECE_OPEN) {
        rng_direction(rng, d, turn);
        for (size_t j = 0; j < d; j++)
            a[j] += u * u * sqrt(rate) * turn[j];
    }
    double length = norm2(d, a), density = part_log_density(q, coords, work);
    if (piece == PIECE_CLOSED)
        return density + rate / 6 * length * length;
    return piece == PIECE_OPEN ? density - log_mean_exp((double)d, sqrt(rate) * length) : density;
}

double mixture_propose(const struct laplace *law, struct rng *rng, double *coords, double *work)
{
    const struct product *p = manifold_parts(law->m);
    double u = hull_draw(&law->hull, rng), kept = 0;
    for (size_t i = 0; i < p->count; i++)
        kept += propose_part(p->part + i, u, rng, coords, work);
    return kept;
}

int mixture_draw(const struct laplace *law, struct rng *rng, double *coords, double *work)
{
    for (long trial = 0; trial < RADIAL_TRIALS; trial++) {
        host_tick(law->m->host, 0, 0);
        if (log(rng_uniform(rng)) <= mixture_propose(law, rng, coords, work))
            return STATUS_OK;
    }
    return STATUS_TRIALS;
}
