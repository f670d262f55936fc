#include <math.h>

#include "ground.h"
#include "linear_newton.h"

size_t linear_newton_width(const struct linear_newton *o)
{
    size_t d = o->p - 1;
    if (o->stage == NEWTON_SPREAD)
        return 2 * d + 1;
    if (o->stage == NEWTON_LEVEL)
        return o->q;
    if (o->stage == NEWTON_MOMENTS)
        return o->diagonal ? o->p : o->p * (o->p + 1) / 2;
    return o->p * o->q + 1;
}

static void scale_by(size_t n, double *v, double factor)
{
    for (size_t j = 0; j < n; j++)
        v[j] *= factor;
}

/* 1 and the predictors, centred, scaled and turned; all 0 where nothing is known */
static void features(const struct linear_newton *o, const double *x, double *f, double *z)
{
    size_t d = o->p - 1;
    f[0] = x[0];
    for (size_t j = 0; j < d; j++)
        z[j] = x[0] * ((x[j + 1] - o->center[j]) / o->spread[j]);
    for (size_t j = 0; j < d; j++) {
        f[j + 1] = z[j];
        if (!o->turn)
            continue;
        double sum = 0;
        for (size_t k = 0; k < d; k++)
            sum += o->turn[k + d * j] * z[k];
        f[j + 1] = sum;
    }
}

/* divided by the length at which they are cut, so no longer than 1 */
static void cut_features(size_t n, double *f, double length)
{
    scale_by(n, f, 1 / fmax(length, norm2(n, f)));
}

/* products of features that count as in pulls, as far as `reach`: squares first */
static void products(const struct linear_newton *o, double *f, double *row)
{
    double size = norm2(o->p, f);
    scale_by(o->p, f, 1 / sqrt(fmax(o->length, size) * fmax(o->reach, size)));
    for (size_t j = 0; j < o->p; j++)
        *row++ = f[j] * f[j];
    for (size_t j = 1; j < o->p && !o->diagonal; j++)
        for (size_t k = 0; k < j; k++)
            *row++ = sqrt(2) * (f[k] * f[j]);
}

/* the residual over tau, cut at 1, and its length */
static double cut_residual(const struct linear_newton *o, const double *y, const double *f, double *e)
{
    for (size_t j = 0; j < o->q; j++) {
        e[j] = y[j];
        for (size_t k = 0; k < o->p; k++)
            e[j] -= o->b[j + o->q * k] * f[k];
        e[j] /= o->tau;
    }
    double size = norm2(o->q, e);
    scale_by(o->q, e, f[0] / fmax(1, size));
    return fmin(1, size);
}

/* that residual times the features, and the square of its length */
static void pulls(const struct linear_newton *o, const double *y, double *f, double *row, double *e)
{
    double there = f[0], size = cut_residual(o, y, f, e);
    cut_features(o->p, f, o->length);
    for (size_t k = 0; k < o->p; k++)
        for (size_t j = 0; j < o->q; j++)
            *row++ = f[k] * e[j];
    *row = o->square * there * size * size;
}

void linear_newton_record(const struct linear_newton *o, size_t i, double *row, double *work)
{
    const double *x = o->x + i * o->p;
    size_t d = o->p - 1;
    double *f = work, *z = work + o->p, *e = z + o->p;
    if (o->stage == NEWTON_SPREAD) {
        row[0] = o->there * x[0];
        for (size_t j = 0; j < d; j++) {
            row[1 + j] = x[j + 1];
            row[1 + d + j] = o->square * x[j + 1] * x[j + 1];
        }
        scale_by(2 * d + 1, row, 1 / sqrt((double)d));
    } else {
        features(o, x, f, z);
        if (o->stage == NEWTON_MOMENTS) {
            products(o, f, row);
        } else if (o->stage == NEWTON_LEVEL) {
            cut_residual(o, o->y + i * o->q, f, row);
        } else {
            pulls(o, o->y + i * o->q, f, row, e);
        }
    }
    scale_by(linear_newton_width(o), row, o->safe);
}
