/* Laplace noise on each coordinate of each landmark (Soto et al. 2022, supplement 2.5.2). */
#include "baseline.h"

void landmarks_rotate(size_t k, double *y, const double *to)
{
    double re = 0, im = 0; /* conj(to) . y */
    for (size_t j = 0; j < 2 * k; j += 2) {
        re += to[j] * y[j] + to[j + 1] * y[j + 1];
        im += to[j] * y[j + 1] - to[j + 1] * y[j];
    }
    double size = sqrt(re * re + im * im);
    if (!(size > 0 && size < INFINITY))
        return;
    re /= size;
    im /= size;
    for (size_t j = 0; j < 2 * k; j += 2) {
        double a = y[j], b = y[j + 1];
        y[j] = a * re + b * im;
        y[j + 1] = b * re - a * im;
    }
}

void landmarks_noise(size_t k, const double *scale, struct rng *rng, double *y)
{
    for (size_t j = 0; j < 2 * k; j++) {
        double size = scale[j] * rng_gamma(rng, 1);
        y[j] += rng_uniform(rng) < 0.5 ? size : -size;
    }
}

void landmarks_spread(size_t k, const double *p, struct points y, size_t n, double *spread)
{
    for (size_t j = 0; j < 2 * k; j++)
        spread[j] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < 2 * k; j++)
            spread[j] = fmax(spread[j], fabs(at(y, i)[j] - p[j]));
}
