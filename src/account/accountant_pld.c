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
    if (p->family == PLD_LAPLACE)
        return 0.25;
    return 0.8 / (40 + (p->family == PLD_EXCHANGE ? 2 : 1) * p->size);
}

/* Where the pair's loss before sampling is `loss`. Of a mixture the loss is the logarithm of a sum of exponentials: convex, so
 * Newton's steps from above its root come down to it, and the first of its terms that reaches `loss` does so above. */
static double at_loss(const struct pld_pair *p, double loss)
{
    if (p->family != PLD_GAUSSIAN)
        return loss;
    if (p->kinds == 1)
        return loss / p->size + p->size / 2;
    double z = INFINITY;
    for (size_t i = 0; i < p->kinds; i++)
        z = fmin(z, (loss - p->logs[i]) / p->moves[i] + p->moves[i] / 2);
    for (int step = 0; step < 1000 && isfinite(z); step++) {
        double top = -INFINITY, sum = 0, slope = 0;
        for (size_t i = 0; i < p->kinds; i++)
            top = fmax(top, p->logs[i] + p->moves[i] * (z - p->moves[i] / 2));
        for (size_t i = 0; i < p->kinds; i++) {
            double e = exp(p->logs[i] + p->moves[i] * (z - p->moves[i] / 2) - top);
            sum += e;
            slope += e * p->moves[i];
        }
        double next = z - (top + log(sum) - loss) * sum / slope;
        if (!(next < z))
            break;
        z = next;
    }
    return z;
}

static double normal_density(double z)
{
    return exp(-square(z) / 2) / sqrt(2 * RIEMDP_PI);
}

static double density_q(const struct pld_pair *p, double z)
{
    return p->family == PLD_LAPLACE ? exp(-(z + p->size) / 2) / 4 : normal_density(z);
}

/* p = dP, gain = dP (1 - e^(x(edge) - x)) before sampling, x the loss, by terms of one sign */
static void density_p(const struct pld_pair *p, double z, double edge, double *density, double *gain)
{
    if (p->family != PLD_GAUSSIAN) {
        *density = exp((z - p->size) / 2) / 4;
        *gain = *density * -expm1(edge - z);
        return;
    }
    *density = *gain = 0;
    for (size_t i = 0; i < p->kinds; i++) {
        double d = p->weights[i] * normal_density(z - p->moves[i]);
        *density += d;
        *gain += d * -expm1(-p->moves[i] * (z - edge));
    }
}

/* 1 - e^(x - x(edge)) before sampling; each move's share of e^(x(edge)) is in p->share */
static double fall(const struct pld_pair *p, double z, double edge)
{
    if (p->family != PLD_GAUSSIAN)
        return -expm1(z - edge);
    double out = 0;
    for (size_t i = 0; i < p->kinds; i++)
        out += p->share[i] * -expm1(p->moves[i] * (z - edge));
    return out;
}

static void share_at(const struct pld_pair *p, double edge, double x)
{
    for (size_t i = 0; i < p->kinds; i++)
        p->share[i] = p->kinds == 1 ? 1 : exp(p->logs[i] + p->moves[i] * (edge - p->moves[i] / 2) - x);
}

/* log(rest + q e^x) = loss solved for x; -Inf below log(rest) */
static double unsampled(const struct pld_pair *p, double loss)
{
    /* beyond 40 the rest is below the last digit; e^loss/q isn't a double where q is tiny */
    if (p->rest <= 0 || loss > 40)
        return loss - log(p->q);
    /* where nearly all are in the sample and the loss is low, rest isn't 1 - q to the last digit that counts */
    if (p->q > 0.5 && loss < -0.7) {
        double more = exp(loss) - p->rest;
        return more > 0 ? log(more / p->q) : -INFINITY;
    }
    double y = expm1(loss) / p->q;
    return y > -1 ? log1p(y) : -INFINITY;
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Where the loss of an exchange is `loss`: the quadratic equation of e^(mu z) has the root
 * mu z = loss/2 + asinh((1 - q)/q e^(mu^2/2) sinh(loss/2)). */
static double exchange_place(const struct pld_pair *p, double loss)
{
    double far = fabs(loss) / 2, ratio = p->rest / p->q, bend = square(p->size) / 2;
    double logarithm = log(ratio) + bend + far + log1p(-exp(-2 * far)) - log(2);
    double more = logarithm > 300 ? logarithm + log(2) : asinh(ratio * exp(bend) * sinh(far));
    return copysign(far + more, loss) / p->size;
}

/* where the sampled loss is `loss` */
static double place(const struct pld_pair *p, double loss)
{
    if (p->family == PLD_EXCHANGE)
        return exchange_place(p, loss);
    double x = unsampled(p, p->enter ? -loss : loss);
    return isfinite(x) ? at_loss(p, x) : -INFINITY;
}

/* Range of z between the places za and zb of two losses, the lower one first; 0 if empty. */
static int range_of(const struct pld_pair *p, double za, double zb, double *z1, double *z2)
{
    *z1 = clamp(p->enter ? zb : za, p->from, p->to);
    *z2 = clamp(p->enter ? za : zb, p->from, p->to);
    return *z1 < *z2;
}

/* The same for an exchange: with d = dN(mu), n = dN(0), s the share of the moved law in Q' at the edge and t = 1 - e^(-mu (z -
 * edge)), dP' (1 - e^(a - L)) is q d (t (1 - s) + t (2 - t) s) + (1 - q) n t s, terms of one sign. */
static void exchange_integrate(const struct pld_pair *p, double edge, double z1, double z2, double *mass, double *above)
{
    size_t pieces = 1 + (size_t)((z2 - z1) / widest(p));
    double width = (z2 - z1) / (double)pieces;
    double x = -p->size * edge - square(p->size) / 2, s = 1 / (1 + p->rest / p->q * exp(-x));
    *mass = *above = 0;
    for (size_t i = 0; i < pieces; i++) {
        double mid = z1 + ((double)i + 0.5) * width, half = width / 2;
        for (int k = 0; k < 5; k++) {
            double z = mid + half * NODE[k], w = half * WEIGHT[k], t = -expm1(-p->size * (z - edge));
            double d = p->q * normal_density(z - p->size), n = p->rest * normal_density(z);
            *mass += w * (d + n);
            *above += w * (d * t * (1 + (1 - t) * s) + n * t * s);
        }
    }
}

/* mass = int dP', above = int (1 - e^(a - L)) dP' over z1..z2, where L is the sampled loss, a at `edge`. No difference of near
 * numbers is taken: with w = dP'/dQ', 1 - e^a/w is q (e^x - e^x(a))/w. */
static void integrate(const struct pld_pair *p, double a, double edge, double z1, double z2, double *mass,
                      double *above)
{
    if (p->family == PLD_EXCHANGE) {
        exchange_integrate(p, edge, z1, z2, mass, above);
        return;
    }
    size_t pieces = 1 + (size_t)((z2 - z1) / widest(p));
    double width = (z2 - z1) / (double)pieces;
    double share = p->q; /* of the second law at the edge, where Q' is the mixture */
    if (p->enter && isfinite(edge)) {
        double x = unsampled(p, -a);
        share = p->rest <= 0 ? 1 : p->q / (p->q + p->rest * exp(-x));
        share_at(p, edge, x);
    }
    *mass = *above = 0;
    for (size_t i = 0; i < pieces; i++) {
        double mid = z1 + ((double)i + 0.5) * width, half = width / 2;
        for (int k = 0; k < 5; k++) {
            double z = mid + half * NODE[k], w = half * WEIGHT[k], q = density_q(p, z);
            if (p->enter) {
                *mass += w * q;
                *above += w * q * (isfinite(edge) ? share * fall(p, z, edge) : share);
            } else {
                double d, gain;
                density_p(p, z, edge, &d, &gain);
                *mass += w * (p->rest * q + p->q * d);
                *above += isfinite(edge) ? w * p->q * gain : w * (p->rest * q + p->q * d - exp(a) * q);
            }
        }
    }
}

/* cells between two looks at the clock */
static size_t ticks(const struct pld_pair *p)
{
    return 1 + 4096 / (p->kinds + 1);
}

/* Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022): a bin's mass goes to its two ends so that both laws keep theirs. */
void pld_connect(const struct pld_pair *p, double h, double first, size_t bins, double *out, struct host *host)
{
    double top = -expm1(-h);
    for (size_t i = 0; i <= bins; i++)
        out[i] = 0;
    size_t often = ticks(p);
    double next = place(p, first * h);
    for (size_t i = 0; i < bins; i++) {
        double edge = next, z1, z2, mass, above;
        next = place(p, (first + (double)i + 1) * h);
        if (i % often == 0)
            host_tick(host, (double)i, (double)bins);
        if (!range_of(p, edge, next, &z1, &z2))
            continue;
        integrate(p, (first + (double)i) * h, edge, z1, z2, &mass, &above);
        double up = clamp(above / top, 0, mass);
        out[i + 1] += up;
        out[i] += mass - up;
    }
}

void pld_merge_cells(const struct pld_pair *p, double h, double first, size_t bins, size_t parts, double *loss,
                     double *mass, struct host *host)
{
    size_t n = bins * parts, often = ticks(p);
    double step = h / (double)parts, next = place(p, first * h);
    for (size_t i = 0; i < n; i++) {
        double a = first * h + (double)i * step, edge = next, z1, z2, m, above;
        next = place(p, first * h + ((double)i + 1) * step);
        loss[i] = a;
        mass[i] = 0;
        if (i % often == 0)
            host_tick(host, (double)i, (double)n);
        if (!range_of(p, edge, next, &z1, &z2))
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
