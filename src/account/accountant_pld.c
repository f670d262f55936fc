#include "accountant_pld.h"

/* Gauss-Legendre, five nodes on [-1, 1] */
static const double NODE[5] = {-0.9061798459386639928, -0.5384693101056830910, 0, 0.5384693101056830910,
                               0.9061798459386639928};
static const double WEIGHT[5] = {0.2369268850561890875, 0.4786286704993664680, 0.5688888888888888889,
                                 0.4786286704993664680, 0.2369268850561890875};

/* Widest piece in z. The integrands grow and fall by e^(rate) at most, rate 40 from a law's own middle up to where doubles end and
 * `size` of the loss: the rule's relative error, 3.9e-13 (rate width)^10, stays below 5e-14. Laplace's are flat. */
static double widest(const struct pld_pair *p)
{
    return p->family == PLD_GAUSSIAN ? 0.8 / (40 + p->size) : 0.25;
}

static double slope(const struct pld_pair *p)
{
    return p->family == PLD_GAUSSIAN ? p->size : 1;
}

/* where the pair's loss before sampling is `loss` */
static double at_loss(const struct pld_pair *p, double loss)
{
    return p->family == PLD_GAUSSIAN ? loss / p->size + p->size / 2 : loss;
}

static double density_p(const struct pld_pair *p, double z)
{
    if (p->family == PLD_GAUSSIAN)
        return exp(-square(z - p->size) / 2) / sqrt(2 * RIEMDP_PI);
    return exp((z - p->size) / 2) / 4;
}

static double density_q(const struct pld_pair *p, double z)
{
    if (p->family == PLD_GAUSSIAN)
        return exp(-square(z) / 2) / sqrt(2 * RIEMDP_PI);
    return exp(-(z + p->size) / 2) / 4;
}

/* log(1 - q + q e^x) = loss solved for x; -Inf below log(1 - q) */
static double unsampled(const struct pld_pair *p, double loss)
{
    if (p->q >= 1 || loss > 700)
        return loss - log(p->q);
    double y = expm1(loss) / p->q;
    return y > -1 ? log1p(y) : -INFINITY;
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Range of z whose sampled loss lies in [a, b]; 0 if empty. `edge` is the z at which the loss is a. */
static int range_of(const struct pld_pair *p, double a, double b, double *z1, double *z2, double *edge)
{
    double la = unsampled(p, p->enter ? -a : a), lb = unsampled(p, p->enter ? -b : b);
    double za = isfinite(la) ? at_loss(p, la) : -INFINITY, zb = isfinite(lb) ? at_loss(p, lb) : -INFINITY;
    *z1 = clamp(p->enter ? zb : za, p->from, p->to);
    *z2 = clamp(p->enter ? za : zb, p->from, p->to);
    *edge = za;
    return *z1 < *z2;
}

/* mass = int dP', above = int (1 - e^(a - L)) dP' over z1..z2, where L is the sampled loss, a at `edge`. No difference of near
 * numbers is taken: with w = dP'/dQ', 1 - e^a/w is q (e^x - e^x(a))/w. */
static void integrate(const struct pld_pair *p, double a, double edge, double z1, double z2, double *mass,
                      double *above)
{
    size_t pieces = 1 + (size_t)((z2 - z1) / widest(p));
    double width = (z2 - z1) / (double)pieces, rate = slope(p);
    double share = p->q; /* of the second law at the edge, where Q' is the mixture */
    if (p->enter && isfinite(edge)) {
        double x = unsampled(p, -a);
        share = p->q >= 1 ? 1 : p->q / (p->q + (1 - p->q) * exp(-x));
    }
    *mass = *above = 0;
    for (size_t i = 0; i < pieces; i++) {
        double mid = z1 + ((double)i + 0.5) * width, half = width / 2;
        for (int k = 0; k < 5; k++) {
            double z = mid + half * NODE[k], w = half * WEIGHT[k], q = density_q(p, z);
            if (p->enter) {
                *mass += w * q;
                *above += w * q * share * (isfinite(edge) ? -expm1(rate * (z - edge)) : 1);
            } else {
                double d = density_p(p, z);
                *mass += w * ((1 - p->q) * q + p->q * d);
                *above += isfinite(edge) ? w * p->q * d * -expm1(-rate * (z - edge))
                                         : w * ((1 - p->q) * q + p->q * d - exp(a) * q);
            }
        }
    }
}

/* Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022): a bin's mass goes to its two ends so that both laws keep theirs. */
void pld_connect(const struct pld_pair *p, double h, double first, size_t bins, double *out, struct host *host)
{
    double top = -expm1(-h);
    for (size_t i = 0; i <= bins; i++)
        out[i] = 0;
    for (size_t i = 0; i < bins; i++) {
        double a = (first + (double)i) * h, b = (first + (double)i + 1) * h, z1, z2, edge, mass, above;
        if (i % 4096 == 0)
            host_tick(host, (double)i, (double)bins);
        if (!range_of(p, a, b, &z1, &z2, &edge))
            continue;
        integrate(p, a, edge, z1, z2, &mass, &above);
        double up = clamp(above / top, 0, mass);
        out[i + 1] += up;
        out[i] += mass - up;
    }
}

void pld_merge_cells(const struct pld_pair *p, double h, double first, size_t bins, size_t parts, double *loss,
                     double *mass, struct host *host)
{
    size_t n = bins * parts;
    for (size_t i = 0; i < n; i++) {
        double step = h / (double)parts, a = first * h + (double)i * step, z1, z2, edge, m, above;
        loss[i] = a;
        mass[i] = 0;
        if (i % 4096 == 0)
            host_tick(host, (double)i, (double)n);
        if (!range_of(p, a, a + step, &z1, &z2, &edge))
            continue;
        integrate(p, a, edge, z1, z2, &m, &above);
        if (!(m > 0))
            continue;
        mass[i] = m;
        /* log of mass under P' over mass under Q' */
        loss[i] = a - log1p(-clamp(above / m, 0, -expm1(-step)));
    }
}

/* Outcomes still to be merged, from one end. */
struct queue {
    const double *loss, *mass;
    size_t i, n; /* i of n are gone */
    int down;
    double left; /* of the next one */
};

static size_t next_index(const struct queue *s)
{
    return s->down ? s->n - 1 - s->i : s->i;
}

static void advance(struct queue *s)
{
    if (++s->i < s->n)
        s->left = s->mass[next_index(s)];
}

/* how far the next outcome lies beyond the point l, in the queue's direction */
static double beyond(const struct queue *s, double l)
{
    double x = s->loss[next_index(s)] - l;
    return s->down ? -x : x;
}

#define SNAP 1e-9 /* in steps: outcomes as near as this count as lying on the point */
#define REACH 4.0 /* in steps: how far up a group may look for what balances it, where the law falls fast */

/* A group around l: all outcomes before l, and as many after it as balance them, sum of mass (1 - e^(l - loss)) = 0, so that the
 * merged outcome's loss is l. before and after: mass and weight of the two sides. */
static void take_group(struct queue *s, double l, double h, double before[2], double after[2])
{
    before[0] = before[1] = after[0] = after[1] = 0;
    for (; s->i < s->n && beyond(s, l) <= SNAP * h; advance(s)) {
        if (-beyond(s, l) > SNAP * h)
            before[1] += s->left * fabs(expm1(l - s->loss[next_index(s)]));
        before[0] += s->left;
    }
    while (s->i < s->n && beyond(s, l) <= REACH * h && after[1] < before[1]) {
        double gain = s->left * fabs(expm1(l - s->loss[next_index(s)]));
        if (after[1] + gain <= before[1]) {
            after[1] += gain;
            after[0] += s->left;
            advance(s);
        } else {
            double share = (before[1] - after[1]) / gain;
            after[0] += share * s->left;
            s->left *= 1 - share;
            after[1] = before[1];
        }
    }
}

void pld_merge(size_t n, const double *loss, const double *mass, double h, double first, size_t bins, int down,
               double *out, struct host *host)
{
    struct queue s = {loss, mass, 0, n, down, 0};
    for (size_t j = 0; j <= bins; j++)
        out[j] = 0;
    if (n == 0)
        return;
    s.left = mass[next_index(&s)];
    for (size_t k = 0; k < bins && s.i < n; k++) {
        size_t j = down ? bins - k : k + 1;
        double l = (first + (double)j) * h, before[2], after[2];
        if (k % 4096 == 0)
            host_tick(host, (double)k, (double)bins);
        take_group(&s, l, h, before, after);
        /* what can't be balanced from above is moved down to the next point; from below it may stay as it is */
        double lower = !down && before[1] > after[1] ? before[0] * (1 - after[1] / before[1]) : 0;
        out[j - 1] += lower;
        out[j] += before[0] - lower + after[0];
    }
    for (; s.i < n; advance(&s))
        out[down ? 0 : bins] += s.left;
}
