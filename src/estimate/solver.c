/* Riemannian L-BFGS (Huang, Gallivan and Absil 2015, doi:10.1137/140955483) with backtracking. Pairs move along by parallel
 * transport where that is closed form, by tangent projection elsewhere: near the solution steps vanish and both agree. */
#include "solver.h"

enum { BACKTRACKS = 40, PATIENCE = 4, PATIENCE_ADAPTIVE = 60 };

size_t solver_work(manifold_t m, int memory)
{
    size_t pairs = 2 * (size_t)memory;
    return (pairs + 6) * m->ambient + pairs + manifold_work(m);
}

static int inner(manifold_t m, const double *p, const double *u, const double *v, double *out, double *work)
{
    return m->ops->inner(m, out, one(p), one(u), one(v), 0, 1, work);
}

static int move(manifold_t m, const double *p, const double *q, double *v, size_t count, double *work)
{
    struct points many = {v, m->ambient};
    if ((m->flags & MANIFOLD_SYMMETRIC) && m->ops->transport &&
        m->ops->transport(m, v, one(p), one(q), many, 0, count, work) == STATUS_OK)
        return STATUS_OK;
    return m->ops->project_tangent(m, v, one(q), many, 0, count, work);
}

/* d = -H g by the two-loop recursion over the pairs kept */
static int quasi_newton(manifold_t m, const double *p, const double *g, double *d, const double *pairs,
                        const double *rho, double *alpha, size_t kept, double scale, double *rest)
{
    size_t n = m->ambient;
    for (size_t j = 0; j < n; j++)
        d[j] = -g[j];
    for (size_t k = kept; k-- > 0;) {
        const double *sk = pairs + 2 * k * n, *yk = sk + n;
        if (inner(m, p, sk, d, &alpha[k], rest) != STATUS_OK)
            return STATUS_NO_CONVERGENCE;
        alpha[k] *= rho[k];
        for (size_t j = 0; j < n; j++)
            d[j] -= alpha[k] * yk[j];
    }
    if (kept > 0) {
        const double *sk = pairs + 2 * (kept - 1) * n, *yk = sk + n;
        double yy;
        if (inner(m, p, yk, yk, &yy, rest) == STATUS_OK && yy > 0)
            for (size_t j = 0; j < n; j++)
                d[j] /= rho[kept - 1] * yy;
    } else {
        for (size_t j = 0; j < n; j++)
            d[j] *= scale;
    }
    for (size_t k = 0; k < kept; k++) {
        const double *sk = pairs + 2 * k * n, *yk = sk + n;
        double b;
        if (inner(m, p, yk, d, &b, rest) != STATUS_OK)
            return STATUS_NO_CONVERGENCE;
        for (size_t j = 0; j < n; j++)
            d[j] += (alpha[k] - rho[k] * b) * sk[j];
    }
    return STATUS_OK;
}

/* Whether a step whose change of value is rounding may be taken, by the slope at its end (Hager and Zhang 2005,
 * doi:10.1137/030601880, approximate Wolfe conditions); else *t becomes the length at which that slope would have vanished. */
static int by_slope(manifold_t m, const double *p, const double *q, const double *g_new, const double *step,
                    double slope, double *t, double *y, double *rest)
{
    double end, start = *t * slope;
    for (size_t j = 0; j < m->ambient; j++)
        y[j] = step[j];
    if (move(m, p, q, y, 1, rest) != STATUS_OK || inner(m, q, g_new, y, &end, rest) != STATUS_OK)
        end = -2 * start;
    if (end >= 0.9 * start && end <= -0.8 * start)
        return 1;
    double factor = end > start ? start / (start - end) : 4;
    *t *= factor < 0.1 ? 0.1 : factor > 4 ? 4 : factor;
    return 0;
}

int solver_run(manifold_t m, const struct objective *f, double *p, struct solver *s, double *work)
{
    size_t n = m->ambient, memory = (size_t)s->memory, kept = 0;
    double *pairs = work; /* s_1, y_1, s_2, y_2, ... oldest first */
    double *rho = pairs + 2 * memory * n, *alpha = rho + memory;
    double *g = alpha + memory, *g_new = g + n, *d = g_new + n, *q = d + n, *step = q + n, *y = step + n, *rest = y + n;
    double value, value_new, gg, slope, t, best;
    int stalled = 0, patience = s->adaptive ? PATIENCE_ADAPTIVE : PATIENCE;

    s->iterations = s->evaluations = s->converged = 0;
    int status = f->eval(f, p, g, &value);
    if (status == STATUS_OK)
        status = inner(m, p, g, g, &gg, rest);
    if (status != STATUS_OK)
        return status;
    s->evaluations = 1;
    best = gg;
    for (;;) {
        s->gradient_norm = sqrt(gg > 0 ? gg : 0);
        s->value = value;
        double spread = s->relative ? sqrt(2 * fabs(value)) : 1;
        s->converged = s->gradient_norm <= s->tol * spread || (spread <= 100 * s->floor && s->gradient_norm <= s->floor);
        if (s->converged || s->iterations >= s->max_iter || stalled >= patience)
            return STATUS_OK;
        if (s->conjugate && kept > 0) { /* the pair's room holds the last direction and gradient, both moved to p */
            const double *last = pairs, *before = pairs + n;
            double top, bottom;
            for (size_t j = 0; j < n; j++)
                y[j] = g[j] - before[j];
            if (inner(m, p, g, y, &top, rest) != STATUS_OK || inner(m, p, before, before, &bottom, rest) != STATUS_OK)
                return STATUS_NO_CONVERGENCE;
            double beta = bottom > 0 && top > 0 ? top / bottom : 0;
            for (size_t j = 0; j < n; j++)
                d[j] = s->scale * (beta * last[j] - g[j]);
        } else if (quasi_newton(m, p, g, d, pairs, rho, alpha, kept, s->scale, rest) != STATUS_OK) {
            return STATUS_NO_CONVERGENCE;
        }
        if (inner(m, p, g, d, &slope, rest) != STATUS_OK)
            return STATUS_NO_CONVERGENCE;
        if (!(slope < 0)) {
            kept = 0;
            for (size_t j = 0; j < n; j++)
                d[j] = -s->scale * g[j];
            slope = -s->scale * gg;
        }
        /* Backtracking on the value; close to the solution, where its rounding hides any descent, the gradient decides. */
        int accepted = 0;
        double slack = 1e-14 * (fabs(value) + 1e-300), gg_new = 0;
        t = 1;
        for (int k = 0; k < BACKTRACKS && !accepted; k++) {
            for (size_t j = 0; j < n; j++)
                step[j] = t * d[j];
            status = m->ops->exp(m, q, one(p), one(step), 0, 1, rest);
            if (status == STATUS_OK) {
                status = f->eval(f, q, g_new, &value_new);
                s->evaluations++;
            }
            if (status == STATUS_OK)
                status = inner(m, q, g_new, g_new, &gg_new, rest);
            if (status == STATUS_OK && s->adaptive && fabs(value_new - value) <= 1e-11 * fabs(value)) {
                accepted = by_slope(m, p, q, g_new, step, slope, &t, y, rest);
            } else if (status == STATUS_OK && (value_new <= value + 1e-4 * t * slope + slack ||
                                               (value_new <= value + 1e-9 * fabs(value) && gg_new < 0.8 * gg))) {
                accepted = 1;
            } else {
                double next = 0.5 * t;
                if (status == STATUS_OK && value_new < INFINITY) {
                    next = -0.5 * slope * t * t / (value_new - value - slope * t); /* parabola through what is known */
                    next = next > 0.1 * t ? (next < 0.5 * t ? next : 0.5 * t) : 0.1 * t;
                }
                t = next;
            }
        }
        if (!accepted) {
            if (kept == 0)
                return STATUS_OK; /* the gradient is all that is left, and rounding hides its descent */
            kept = 0;
            stalled++;
            continue;
        }
        s->iterations++;
        double scale = s->scale;
        if (s->adaptive) { /* the next step tried is where the slope along this one would have vanished */
            double end, factor = 2;
            for (size_t j = 0; j < n; j++)
                y[j] = step[j];
            if (move(m, p, q, y, 1, rest) == STATUS_OK && inner(m, q, g_new, y, &end, rest) == STATUS_OK &&
                end > t * slope)
                factor = t * slope / (t * slope - end);
            s->scale *= t * (factor < 0.1 ? 0.1 : factor > 10 ? 10 : factor);
        }
        if (s->conjugate) {
            for (size_t j = 0; j < n; j++) {
                pairs[j] = step[j] / (t * scale);
                pairs[j + n] = g[j];
            }
            kept = move(m, p, q, pairs, 2, rest) == STATUS_OK;
        } else if (memory > 0) {
            if (kept == memory) {
                for (size_t j = 0; j < 2 * (memory - 1) * n; j++)
                    pairs[j] = pairs[j + 2 * n];
                for (size_t k = 0; k + 1 < memory; k++)
                    rho[k] = rho[k + 1];
                kept--;
            }
            double *sk = pairs + 2 * kept * n, *yk = sk + n, sy, ss;
            for (size_t j = 0; j < n; j++) {
                sk[j] = step[j];
                yk[j] = g[j];
            }
            if (move(m, p, q, pairs, 2 * (kept + 1), rest) != STATUS_OK)
                return STATUS_NO_CONVERGENCE;
            for (size_t j = 0; j < n; j++)
                yk[j] = g_new[j] - yk[j];
            if (inner(m, q, sk, yk, &sy, rest) == STATUS_OK && inner(m, q, sk, sk, &ss, rest) == STATUS_OK &&
                s->scale * sy > 1e-10 * ss && sy > 0) {
                rho[kept] = 1 / sy;
                kept++;
            }
        }
        if (value_new < value - slack)
            stalled = 0;
        else if (gg_new <
                 (s->conjugate ? 0.9 * best : 0.25 * gg)) /* such steps may lengthen the gradient for a while */
            stalled = 0;
        else
            stalled++;
        for (size_t j = 0; j < n; j++) {
            p[j] = q[j];
            g[j] = g_new[j];
        }
        gg = gg_new;
        best = gg < best ? gg : best;
        value = value_new;
    }
}

size_t solver_floor_work(manifold_t m)
{
    return 3 * m->ambient + manifold_work(m);
}

/* Rounding floor of the gradient, seen rather than guessed: how much it changes when p moves by less than the tolerance. */
double solver_floor(manifold_t m, const struct objective *f, const double *p, double *work)
{
    size_t n = m->ambient;
    double *g = work, *h = g + n, *q = h + n, *rest = q + n, value, floor = 0, sq;
    if (f->eval(f, p, g, &value) != STATUS_OK)
        return 0;
    for (int k = 0; k < 3; k++) {
        for (size_t j = 0; j < n; j++)
            h[j] = (j + (size_t)k) % 3 == 0 ? p[j] : (j + (size_t)k) % 3 == 1 ? -0.5 * p[j] : 0.25 * p[j];
        if (m->ops->project_tangent(m, h, one(p), one(h), 0, 1, rest) != STATUS_OK ||
            m->ops->inner(m, &sq, one(p), one(h), one(h), 0, 1, rest) != STATUS_OK || !(sq > 0))
            continue;
        for (size_t j = 0; j < n; j++)
            h[j] *= 1e-11 / sqrt(sq);
        if (m->ops->exp(m, q, one(p), one(h), 0, 1, rest) != STATUS_OK || f->eval(f, q, h, &value) != STATUS_OK)
            continue;
        for (size_t j = 0; j < n; j++)
            h[j] -= g[j];
        if (m->ops->project_tangent(m, h, one(p), one(h), 0, 1, rest) == STATUS_OK &&
            m->ops->inner(m, &sq, one(p), one(h), one(h), 0, 1, rest) == STATUS_OK && sqrt(sq) > floor)
            floor = sqrt(sq);
    }
    return 4 * floor;
}
