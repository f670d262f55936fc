#include "accountant_pld.h"

/* Gauss-Legendre, five nodes on [-1, 1] */
static const double NODE[5] = {-0.9061798459386639928, -0.5384693101056830910, 0, 0.5384693101056830910,
                               0.9061798459386639928};
static const double WEIGHT[5] = {0.2369268850561890875, 0.4786286704993664680, 0.5688888888888888889,
                                 0.4786286704993664680, 0.2369268850561890875};
#define WIDEST 0.25 /* of a piece, in z */

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
    size_t pieces = 1 + (size_t)((z2 - z1) / WIDEST);
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

void pld_merge(size_t n, const double *loss, const double *mass, double h, double first, size_t bins, double *out,
               struct host *host)
{
    const double snap = 1e-9, reach = 0.75; /* in steps */
    size_t i = 0;
    double left = n ? mass[0] : 0; /* of outcome i */
    for (size_t j = 0; j <= bins; j++)
        out[j] = 0;
    if (n == 0)
        return;
    /* a half step of outcomes goes to the point below, so that later groups lie around theirs */
    double start = (first + 0.5) * h;
    for (; i < n && loss[i] < start; left = ++i < n ? mass[i] : 0)
        out[0] += left;
    for (size_t j = 1; j <= bins && i < n; j++) {
        double l = (first + (double)j) * h, low = 0, low_mass = 0, high = 0, high_mass = 0;
        if (j % 4096 == 0)
            host_tick(host, (double)j, (double)bins);
        for (; i < n && loss[i] <= l + snap * h; left = ++i < n ? mass[i] : 0) {
            double x = loss[i] - l;
            low += fabs(x) <= snap * h ? 0 : left * expm1(-x);
            low_mass += left;
        }
        while (i < n && loss[i] <= l + reach * h && high < low) {
            double gain = left * -expm1(l - loss[i]);
            if (high + gain <= low) {
                high += gain;
                high_mass += left;
                left = ++i < n ? mass[i] : 0;
            } else {
                double share = (low - high) / gain;
                high_mass += share * left;
                left *= 1 - share;
                high = low;
            }
        }
        /* what can't be balanced is moved down to the next point */
        double down = low > high ? low_mass * (1 - high / low) : 0;
        out[j - 1] += down;
        out[j] += low_mass - down + high_mass;
    }
    for (; i < n; left = ++i < n ? mass[i] : 0)
        out[bins] += left;
}
