#include "linalg_wide.h"

typedef long long wide_mask __attribute__((vector_size(8 * WIDE), aligned(8), may_alias));

#if defined(__x86_64__)
#include <immintrin.h>

#define KERNEL(name) name##_fma
#define TARGET __attribute__((target("avx2,fma")))
#define ROOT(x) ((x) = (wide)_mm256_sqrt_pd((__m256d)(x)))
#define ANY(m) (_mm256_movemask_pd((__m256d)(m)) != 0)
#define SELECT(m, yes, no) ((wide)_mm256_blendv_pd((__m256d)(no), (__m256d)(yes), (__m256d)(m)))
#define LARGER(x, y) ((wide)_mm256_max_pd((__m256d)(x), (__m256d)(y)))
#include "linalg_wide_kernels.h"
#endif

#define KERNEL(name) name##_plain
#define TARGET
#define ROOT(x)                                                                                                        \
    do {                                                                                                               \
        for (int lane = 0; lane < WIDE; lane++)                                                                        \
            (x)[lane] = sqrt((x)[lane]);                                                                               \
    } while (0)
#define SELECT(m, yes, no) ((wide)(((m) & (wide_mask)(yes)) | (~(m) & (wide_mask)(no))))
#define LARGER(x, y) SELECT((x) > (y), x, y)
#define ANY(m) (((m)[0] | (m)[1] | (m)[2] | (m)[3]) != 0)
#include "linalg_wide_kernels.h"

/* ---- one after the other, for sizes at which WIDE matrices leave the caches ---------------------------------------- */

enum { WIDE_MOST = 112 };

/* what no matrix stands in is 0, as where lanes go in step: nothing of an earlier group is left for those who add lanes up */
static void empty_apart(size_t n, size_t count, wide *a)
{
    for (size_t j = 0; count < WIDE && j < n; j++)
        for (size_t k = count; k < WIDE; k++)
            a[j][k] = 0;
}

static int chol_apart(size_t n, size_t count, const wide *a, wide *l, wide *r, wide *work)
{
    double *x = (double *)work;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, a, x);
        if (la_chol(n, x, x) != STATUS_OK)
            return STATUS_NOT_POSITIVE;
        wide_put(n * n, k, x, l);
        for (size_t j = 0; j < n; j++)
            r[j][k] = 1 / x[j + j * n];
    }
    return STATUS_OK;
}

static void whiten_apart(size_t n, size_t count, const wide *l, const wide *r, const wide *a, wide *s, wide *work)
{
    double *x = (double *)work, *y = x + n * n, *rest = y + n * n;
    (void)r;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, l, x);
        wide_take(n * n, k, a, y);
        la_whiten(n, x, y, y, rest);
        wide_put(n * n, k, y, s);
    }
    empty_apart(n * n, count, s);
}

static void unwhiten_apart(size_t n, size_t count, const wide *l, const wide *s, wide *a, wide *work)
{
    double *x = (double *)work, *y = x + n * n, *rest = y + n * n;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, l, x);
        wide_take(n * n, k, s, y);
        la_mirror_lower(n, y);
        la_unwhiten(n, x, y, y, rest);
        wide_put(n * n, k, y, a);
    }
    empty_apart(n * n, count, a);
}

static void inverse_apart(size_t n, size_t count, const wide *l, const wide *r, wide *a, wide *work)
{
    double *x = (double *)work, *y = x + n * n, *rest = y + n * n;
    (void)r;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, l, x);
        la_inverse_from_chol(n, x, y, rest);
        wide_put(n * n, k, y, a);
    }
    empty_apart(n * n, count, a);
}

static int symeig_apart(size_t n, size_t count, wide *a, wide *w, int vectors, wide *work)
{
    double *x = (double *)work, *y = x + n * n, *rest = y + n;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, a, x);
        la_mirror_lower(n, x);
        int status = la_symeig(n, x, y, vectors, rest);
        if (status != STATUS_OK)
            return status;
        wide_put(n * n, k, x, a);
        wide_put(n, k, y, w);
    }
    empty_apart(n * n, count, a);
    empty_apart(n, count, w);
    return STATUS_OK;
}

static void spectral_apart(size_t n, size_t count, const wide *v, const wide *f, wide *a, wide *work)
{
    double *x = (double *)work, *y = x + n * n, *z = y + n, *rest = z + n * n;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, v, x);
        wide_take(n, k, f, y);
        la_spectral(n, x, y, z, rest);
        wide_put(n * n, k, z, a);
    }
    empty_apart(n * n, count, a);
}

static void product_apart(char ta, char tb, size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    double *x = (double *)work, *y = x + n * n, *z = y + n * n;
    for (size_t k = 0; k < count; k++) {
        wide_take(n * n, k, a, x);
        wide_take(n * n, k, b, y);
        la_mul_square(ta, tb, n, x, y, z);
        wide_put(n * n, k, z, c);
    }
    empty_apart(n * n, count, c);
}

static void mul_apart(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    product_apart('N', 'N', n, count, a, b, c, work);
}

static void mul_transposed_apart(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    product_apart('T', 'N', n, count, a, b, c, work);
}

static void symmetric_product_apart(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    product_apart('N', 'T', n, count, a, b, c, work);
}

static const struct wide_kernels kernels_apart = {
    .chol = chol_apart,
    .whiten = whiten_apart,
    .unwhiten = unwhiten_apart,
    .inverse = inverse_apart,
    .symeig = symeig_apart,
    .spectral = spectral_apart,
    .mul = mul_apart,
    .mul_transposed = mul_transposed_apart,
    .symmetric_product = symmetric_product_apart,
};

/* ---- all ------------------------------------------------------------------------------------------------------------ */

const struct wide_kernels *wide_kernels_of(enum wide_set set)
{
    if (set == WIDE_APART)
        return &kernels_apart;
    if (set == WIDE_PLAIN)
        return &kernels_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_fma;
#endif
    return NULL;
}

const struct wide_kernels *wide_kernels(size_t n)
{
    const struct wide_kernels *fast = wide_kernels_of(n > WIDE_MOST ? WIDE_APART : WIDE_FMA);
    return fast ? fast : &kernels_plain;
}

size_t wide_work(size_t n)
{
    return n * n + 3 * n + la_symeig_work(n) / WIDE + 1;
}

wide *wide_align(double *work)
{
    while ((uintptr_t)work % sizeof(wide) != 0)
        work++;
    return (wide *)work;
}

void wide_load(size_t n, const double *const *x, wide *a)
{
    const double *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            size_t e = i + j * n;
            a[e] = (wide){x0[e], x1[e], x2[e], x3[e]};
        }
}

void wide_load_difference(size_t n, const double *const *x, const double *const *y, wide *a)
{
    const double *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3], *y0 = y[0], *y1 = y[1], *y2 = y[2], *y3 = y[3];
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            size_t e = i + j * n;
            a[e] = (wide){x0[e] - y0[e], x1[e] - y1[e], x2[e] - y2[e], x3[e] - y3[e]};
        }
}

void wide_store(size_t n, size_t count, const wide *a, double *const *x)
{
    for (size_t k = 0; k < count; k++) {
        const double *from = (const double *)a + k;
        double *to = x[k];
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++)
                to[i + j * n] = to[j + i * n] = from[WIDE * (i + j * n)];
    }
}

void wide_take(size_t n, size_t which, const wide *a, double *x)
{
    const double *from = (const double *)a + which;
    for (size_t i = 0; i < n; i++)
        x[i] = from[WIDE * i];
}

void wide_put(size_t n, size_t which, const double *x, wide *a)
{
    double *to = (double *)a + which;
    for (size_t i = 0; i < n; i++)
        to[WIDE * i] = x[i];
}

void wide_mirror(size_t n, wide *a)
{
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++)
            a[i + j * n] = a[j + i * n];
}
