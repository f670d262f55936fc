#include "fft.h"

/* e^(-2 pi i j/n), 0 <= j <= n/2, from the sine and cosine of at most pi/4 */
static void root(size_t n, size_t j, double *w)
{
    int turned = 4 * j > n; /* by a quarter: -i times the root at j - n/4 */
    size_t i = turned ? j - n / 4 : j;
    int mirrored = 8 * i > n;
    double angle = 2 * RIEMDP_PI / (double)n * (double)(mirrored ? n / 4 - i : i);
    double c = mirrored ? sin(angle) : cos(angle), s = mirrored ? cos(angle) : sin(angle);
    w[0] = turned ? -s : c;
    w[1] = turned ? -c : -s;
}

/* Roots of lengths 2, 4, ..., n/2 one after the other, the first half of each: those of length L start at L - 2. */
void fft_prepare(size_t n, double *work)
{
    size_t m = n / 2;
    for (size_t j = 0; j < m / 2; j++)
        root(m, j, work + (m - 2) + 2 * j);
    for (size_t length = m / 2; length >= 2; length /= 2)
        for (size_t j = 0; j < length / 2; j++)
            for (int part = 0; part < 2; part++)
                work[length - 2 + 2 * j + part] = work[2 * length - 2 + 4 * j + part];
}

/* a and b become a + w b and a - w b, for m/2 complex numbers each */
RIEMDP_HOT static void butterflies(size_t m, double *a, const double *w)
{
    double *b = a + m;
    for (size_t j = 0; j < m; j += 2) {
        double re = w[j] * b[j] - w[j + 1] * b[j + 1], im = w[j] * b[j + 1] + w[j + 1] * b[j];
        b[j] = a[j] - re;
        b[j + 1] = a[j + 1] - im;
        a[j] += re;
        a[j + 1] += im;
    }
}

enum { TICK_LENGTH = 1 << 15 };

/* Decimation in time: out = transform of the m complex numbers in[0], in[stride], ... Halves are finished one after the
 * other, so that they stay in the cache. */
static void transform(size_t m, const double *in, size_t stride, double *out, const double *roots, struct host *host)
{
    if (m == 1) {
        out[0] = in[0];
        out[1] = in[1];
        return;
    }
    if (m == TICK_LENGTH)
        host_tick(host, 0, 1);
    transform(m / 2, in, 2 * stride, out, roots, host);
    transform(m / 2, in + 2 * stride, 2 * stride, out + m, roots, host);
    butterflies(m, out, roots + (m - 2));
}

/* The real sequence's even and odd places are the parts of a complex one of half the length. */
void fft_forward(size_t n, const double *x, double *X, double *work, struct host *host)
{
    size_t m = n / 2;
    double *z = work + n, w[2];
    transform(m, x, 1, z, work, host);
    for (size_t k = 0; k <= m; k++) {
        const double *a = z + 2 * (k % m), *b = z + 2 * ((m - k) % m);
        double sum_re = a[0] + b[0], sum_im = a[1] - b[1], gap_re = a[0] - b[0], gap_im = a[1] + b[1];
        root(n, k, w);
        /* half of the sum less i w times half of the difference from the mirror image's conjugate */
        X[2 * k] = (sum_re + (w[0] * gap_im + w[1] * gap_re)) / 2;
        X[2 * k + 1] = (sum_im + (w[1] * gap_im - w[0] * gap_re)) / 2;
    }
}

void fft_inverse(size_t n, const double *X, double *x, double *work, struct host *host)
{
    size_t m = n / 2;
    double *z = work + n, w[2];
    for (size_t k = 0; k < m; k++) {
        const double *a = X + 2 * k, *b = X + 2 * (m - k);
        double sum_re = a[0] + b[0], sum_im = a[1] - b[1], gap_re = a[0] - b[0], gap_im = a[1] + b[1];
        root(n, k, w);
        /* the sum plus i conj(w) times the difference; its parts change places, which turns the transform round */
        z[2 * k + 1] = sum_re - (w[0] * gap_im - w[1] * gap_re);
        z[2 * k] = sum_im + (w[0] * gap_re + w[1] * gap_im);
    }
    transform(m, z, 1, x, work, host);
    for (size_t j = 0; j < n; j += 2) {
        double re = x[j + 1] / (double)n;
        x[j + 1] = x[j] / (double)n;
        x[j] = re;
    }
}
