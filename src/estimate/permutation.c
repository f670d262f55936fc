#include "permutation.h"

/* Differences and squares, their sum and its square root or exponential: each step is off by a share of its own result, so
 * the value is off by less than half a unit before it is rounded (inst/proofs/testing.md, section 2). */
RIEMDP_HOT static double squared(size_t n, const double *z, const double *w)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += square(z[j] - w[j]);
    return sum;
}

static double angle(size_t n, const double *z, const double *w)
{
    double plus = 0;
    for (size_t j = 0; j < n; j++)
        plus += square(z[j] + w[j]);
    return 2 * atan2(sqrt(squared(n, z, w)), sqrt(plus));
}

/* 4 sinh^2(d/2) = |z - w|^2 - (z0 - w0)^2, where z0 - w0 = <z - w, z + w>/(z0 + w0) */
static double hyperbolic(size_t n, const double *z, const double *w)
{
    double zz = 0, ww = 0, across = 0;
    for (size_t j = 0; j < n; j++) {
        zz += square(z[j]);
        ww += square(w[j]);
        across += (z[j] - w[j]) * (z[j] + w[j]);
    }
    double apart = across / (sqrt(1 + zz) + sqrt(1 + ww));
    return 2 * asinh(sqrt(fmax(0, squared(n, z, w) - square(apart))) / 2);
}

int32_t kernel_value(const struct kernel *k, const double *z, const double *w)
{
    size_t n = k->length;
    double b = k->bandwidth, t;
    switch (k->kind) {
    case KERNEL_GAUSSIAN:
        t = squared(n, z, w) / (2 * b * b);
        break;
    case KERNEL_ANGLE:
        t = angle(n, z, w) / b;
        break;
    case KERNEL_SQUARES:
        return (int32_t)rint(fmin(1, squared(n, z, w) / (b * b)) / KERNEL_UNIT);
    default:
        t = hyperbolic(n, z, w) / b;
    }
    return (int32_t)rint(exp(-t) / KERNEL_UNIT);
}

void kernel_fill(const struct kernel *k, struct host *host, int32_t *out)
{
    size_t n = k->n, length = k->length;
    for (size_t i = 0; i < n; i++) {
        const double *x = k->x + i * length, *y = k->y ? k->y + i * length : NULL;
        for (size_t j = i; j < n; j++) {
            const double *u = k->x + j * length;
            int32_t value = kernel_value(k, x, u);
            if (y) {
                const double *v = k->y + j * length;
                value += kernel_value(k, y, v) - kernel_value(k, x, v) - kernel_value(k, y, u);
            }
            out[i * n + j] = value;
        }
        host_tick(host, (double)i, (double)n);
    }
}

RIEMDP_HOT static int64_t row_sum(const int32_t *row, const size_t *at, size_t count)
{
    int64_t sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += row[at[j]];
    return sum;
}

void kernel_sums(const int32_t *matrix, size_t n, const int *group, size_t groups, double *sums, size_t *place, size_t *first)
{
    for (size_t g = 0; g <= groups; g++)
        first[g] = 0;
    for (size_t i = 0; i < n; i++)
        first[group[i] + 1]++;
    for (size_t g = 0; g < groups; g++)
        first[g + 1] += first[g];
    /* members of each group in their order: first[g] becomes its end, and the next one's begin again */
    for (size_t i = 0; i < n; i++)
        place[first[group[i]]++] = i;
    for (size_t g = 0; g < groups; g++) {
        size_t begin = g ? first[g - 1] : 0, end = first[g];
        int64_t sum = 0;
        for (size_t i = begin; i + 1 < end; i++)
            sum += row_sum(matrix + place[i] * n, place + i + 1, end - i - 1);
        sums[g] = (double)sum;
    }
}

void kernel_mirror(int32_t *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] = matrix[j * n + i];
}

/* products are at most 2^56, so 64 of them fit; whole numbers high * 2^32 + low */
enum { PRODUCT_BLOCK = 64 };

RIEMDP_HOT static int64_t block_product(const int32_t *a, const int32_t *row, const int *at, size_t count)
{
    int64_t sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += (int64_t)a[j] * row[at[j]];
    return sum;
}

double kernel_product(const int32_t *a, const int32_t *b, size_t n, const int *at)
{
    int64_t high = 0, low = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t *row = b + (size_t)at[i] * n;
        for (size_t j = i + 1; j < n; j += PRODUCT_BLOCK) {
            size_t left = n - j;
            int64_t sum = block_product(a + i * n + j, row, at + j, left < PRODUCT_BLOCK ? left : PRODUCT_BLOCK);
            high += sum >> 32;
            low += sum & 0xffffffff;
        }
    }
    return ldexp((double)high, 32) + (double)low;
}

double sums_product(const int64_t *a, const int64_t *b, size_t n, const int *at)
{
    const int64_t part = 1 << 21;
    int64_t high = 0, middle = 0, low = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t x = a[i], y = b[at[i]], x1 = x / part, x0 = x % part, y1 = y / part, y0 = y % part;
        high += x1 * y1;
        middle += x1 * y0 + x0 * y1;
        low += x0 * y0;
    }
    return ldexp((double)high, 42) + ldexp((double)middle, 21) + (double)low;
}
