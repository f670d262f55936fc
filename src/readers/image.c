/* Region covariance (Tuzel, Porikli and Meer 2006, doi:10.1007/11744047_45) with the features of Utpala et al. (2023), Appendix C.1:
 * place, channels, moduli of the intensity's derivatives, gradient's length and arctan |Ix|/|Iy|. Two misprints of the paper are
 * mended: its filter for Iy repeats the one for Ix (and that has a wrong row), and its arctangent is that of a quotient of
 * derivatives, which is 0 where both vanish. */
#include "image.h"

#include <math.h>

size_t image_descriptor_work(size_t rows, size_t cols)
{
    return rows * cols * (1 + IMAGE_FEATURES);
}

static size_t clamp(long i, size_t n)
{
    return i < 0 ? 0 : i >= (long)n ? n - 1 : (size_t)i;
}

/* sum of down[a] across[b] g at places around (i, j): a product filter of 2 half + 1 taps; pixels beyond the border repeat it */
static double filter(const double *g, size_t rows, size_t cols, size_t i, size_t j, int half, const double *down,
                     const double *across)
{
    double sum = 0;
    for (int b = -half; b <= half; b++) {
        double column = 0;
        if (across[b + half] == 0)
            continue;
        for (int a = -half; a <= half; a++)
            column += down[a + half] * g[clamp((long)i + a, rows) + clamp((long)j + b, cols) * rows];
        sum += across[b + half] * column;
    }
    return sum;
}

void image_descriptor(double *out, const double *image, size_t rows, size_t cols, const double *weights, double eta,
                      double *work)
{
    enum { K = IMAGE_FEATURES };
    static const double smooth3[] = {0.25, 0.5, 0.25}, slope3[] = {1, 0, -1};
    static const double smooth5[] = {1 / 32.0, 4 / 32.0, 6 / 32.0, 4 / 32.0, 1 / 32.0}, bend5[] = {1, 0, -2, 0, 1};
    size_t n = rows * cols;
    double *g = work, *f = g + n, mean[K] = {0};
    for (size_t i = 0; i < n; i++)
        g[i] = weights[0] * image[i] + weights[1] * image[i + n] + weights[2] * image[i + 2 * n];
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            double *v = f + K * (i + j * rows);
            v[0] = (double)j + 1;
            v[1] = (double)i + 1;
            for (size_t c = 0; c < IMAGE_CHANNELS; c++)
                v[2 + c] = image[i + j * rows + c * n];
            v[5] = fabs(filter(g, rows, cols, i, j, 1, smooth3, slope3));
            v[6] = fabs(filter(g, rows, cols, i, j, 1, slope3, smooth3));
            v[7] = fabs(filter(g, rows, cols, i, j, 2, smooth5, bend5));
            v[8] = fabs(filter(g, rows, cols, i, j, 2, bend5, smooth5));
            v[9] = hypot(v[5], v[6]);
            v[10] = atan2(v[5], v[6]);
            for (size_t a = 0; a < K; a++)
                mean[a] += v[a] / (double)n;
        }
    for (size_t a = 0; a < K * K; a++)
        out[a] = 0;
    for (size_t i = 0; i < n; i++) {
        double *v = f + K * i;
        for (size_t a = 0; a < K; a++)
            v[a] -= mean[a];
        for (size_t b = 0; b < K; b++)
            for (size_t a = b; a < K; a++)
                out[a + b * K] += v[a] * v[b];
    }
    for (size_t b = 0; b < K; b++)
        for (size_t a = b; a < K; a++)
            out[a + b * K] = out[b + a * K] = out[a + b * K] / (double)n + (a == b ? eta : 0);
}
