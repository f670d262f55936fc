/* Loss of an edge (u, v): log of the sum of exp(-d(u, w)) over v and random nodes w that u has no edge to, less -d(u, v). Each step moves
 * u, v and those nodes by Riemannian stochastic gradients with the retraction x + step, back into the ball where that leads out of it
 * (Nickel and Kiela 2017, equations 3 to 6). */
#include "embedding.h"

#include <math.h>

#define EMBEDDING_EDGE 1e-5 /* the paper's margin to the ball's boundary */

size_t embedding_work(const struct embedding *e)
{
    size_t k = e->negatives + 1;
    return k * 3 + (k + 1) * e->dim;
}

static int has_edge(const struct embedding *e, size_t u, size_t w)
{
    size_t low = e->first[u], high = e->first[u + 1];
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (e->to[mid] == w)
            return 1;
        if (e->to[mid] < w)
            low = mid + 1;
        else
            high = mid;
    }
    return 0;
}

/* distance; `out` += weight times its gradient in x, by the metric of the ball at x */
static double distance(size_t n, const double *x, const double *y)
{
    double xx = 0, yy = 0, d = 0;
    for (size_t j = 0; j < n; j++) {
        xx += x[j] * x[j];
        yy += y[j] * y[j];
        d += (x[j] - y[j]) * (x[j] - y[j]);
    }
    return 2 * asinh(sqrt(d / ((1 - xx) * (1 - yy))));
}

static void add_gradient(size_t n, double *out, const double *x, const double *y, double weight)
{
    double xx = 0, yy = 0, xy = 0, d = 0;
    for (size_t j = 0; j < n; j++) {
        xx += x[j] * x[j];
        yy += y[j] * y[j];
        xy += x[j] * y[j];
        d += (x[j] - y[j]) * (x[j] - y[j]);
    }
    double a = 1 - xx, b = 1 - yy, t = 2 * d / (a * b); /* cosh(distance) = 1 + t */
    double root = sqrt(t * (2 + t));
    if (!(root > 1e-12)) /* at one place: no direction is better than another */
        return;
    /* Euclidean gradient 4/(b root) ((yy - 2 xy + 1)/a^2 x - y/a), times (1 - |x|^2)^2/4 */
    double c = weight * a * a / (b * root), cx = (yy - 2 * xy + 1) / (a * a), cy = 1 / a;
    for (size_t j = 0; j < n; j++)
        out[j] += c * (cx * x[j] - cy * y[j]);
}

static void into_ball(size_t n, double *x)
{
    double s = 0;
    for (size_t j = 0; j < n; j++)
        s += x[j] * x[j];
    s = sqrt(s);
    if (s > 1 - EMBEDDING_EDGE)
        for (size_t j = 0; j < n; j++)
            x[j] *= (1 - EMBEDDING_EDGE) / s;
}

/* loss of one edge; moves its points by `lr` */
static double step(const struct embedding *e, double *x, size_t edge, double lr, double *work)
{
    size_t n = e->dim, u = e->from[edge], k = 1;
    double *which = work, *dist = which + e->negatives + 1, *p = dist + e->negatives + 1, *g = p + e->negatives + 1;
    which[0] = (double)e->to[edge];
    for (size_t i = 0; i < e->negatives; i++)
        for (int attempt = 0; attempt < 50; attempt++) {
            size_t w = rng_below(e->rng, e->nodes);
            if (w == u || has_edge(e, u, w))
                continue;
            which[k++] = (double)w;
            break;
        }
    double least = INFINITY, total = 0;
    for (size_t i = 0; i < k; i++) {
        dist[i] = distance(n, x + u * n, x + (size_t)which[i] * n);
        least = dist[i] < least ? dist[i] : least;
    }
    for (size_t i = 0; i < k; i++)
        total += p[i] = exp(least - dist[i]);
    for (size_t j = 0; j < (k + 1) * n; j++)
        g[j] = 0;
    for (size_t i = 0; i < k; i++) {
        double weight = (i == 0) - p[i] / total; /* derivative of the loss in this distance */
        const double *y = x + (size_t)which[i] * n;
        add_gradient(n, g, x + u * n, y, weight);
        add_gradient(n, g + (i + 1) * n, y, x + u * n, weight);
    }
    for (size_t j = 0; j < n; j++)
        x[u * n + j] -= lr * g[j];
    into_ball(n, x + u * n);
    for (size_t i = 0; i < k; i++) {
        double *y = x + (size_t)which[i] * n;
        for (size_t j = 0; j < n; j++)
            y[j] -= lr * g[(i + 1) * n + j];
        into_ball(n, y);
    }
    return dist[0] - least + log(total);
}

void embedding_run(const struct embedding *e, double *x, double *loss, size_t *order, double *work)
{
    double done = 0, all = (double)e->edges * (double)e->epochs;
    for (size_t i = 0; i < e->edges; i++)
        order[i] = i;
    for (size_t epoch = 0; epoch < e->epochs; epoch++) {
        double lr = epoch < e->burn_in ? e->lr * e->burn_factor : e->lr, sum = 0;
        for (size_t i = 0; i < e->edges; i++) {
            size_t j = i + rng_below(e->rng, e->edges - i), t = order[i];
            order[i] = order[j];
            order[j] = t;
            sum += step(e, x, order[i], lr, work);
            host_tick(e->rng->host, ++done, all);
        }
        loss[epoch] = sum / (double)e->edges;
    }
}
