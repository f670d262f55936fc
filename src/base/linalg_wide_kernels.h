/* Bodies of the kernels of linalg_wide.h. linalg_wide.c includes this once for every instruction set, with
 *   KERNEL(name)    the function's name there          TARGET     its attribute
 *   ROOT(x)         x = sqrt(x), lane by lane          ANY(m)     true where a lane of the mask is set
 *   SELECT(m, yes, no), LARGER(x, y)                   lane by lane
 * Vectors are never passed by value: how that is done depends on the instruction set. */

#define ABSOLUTE(x) ((wide)((wide_mask)(x)&INT64_MAX))

TARGET static int KERNEL(chol)(size_t n, size_t count, const wide *a, wide *l, wide *r, wide *work)
{
    (void)count, (void)work;
    wide_mask good = ~(wide_mask){0};
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            wide s = a[i + j * n];
            for (size_t k = 0; k < j; k++)
                s -= l[i + k * n] * l[j + k * n];
            l[i + j * n] = s;
        }
        wide d = l[j + j * n];
        good &= (wide_mask)(d > 0) & (wide_mask)(d < INFINITY);
        ROOT(d);
        d = 1 / d;
        r[j] = d;
        for (size_t i = j; i < n; i++)
            l[i + j * n] *= d;
        for (size_t i = 0; i < j; i++)
            l[i + j * n] = (wide){0};
    }
    return ANY(~good) ? STATUS_NOT_POSITIVE : STATUS_OK;
}

/* B = L^-1 A, of which the second step needs columns 0, ..., i of row i; then S L' = B */
TARGET static void KERNEL(whiten)(size_t n, size_t count, const wide *l, const wide *r, const wide *a, wide *s,
                                  wide *work)
{
    (void)count;
    wide *b = work;
    for (size_t j = 0; j < n; j++) {
        wide *bj = b + j * n;
        for (size_t i = 0; i < n; i++) {
            wide t = i < j ? a[j + i * n] : a[i + j * n];
            for (size_t k = 0; k < i; k++)
                t -= l[i + k * n] * bj[k];
            bj[i] = t * r[i];
        }
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            wide t = b[i + j * n];
            for (size_t k = 0; k < j; k++)
                t -= b[i + k * n] * l[j + k * n];
            b[i + j * n] = t * r[j];
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            s[i + j * n] = b[i + j * n];
}

TARGET static void KERNEL(inverse)(size_t n, size_t count, const wide *l, const wide *r, wide *a, wide *work)
{
    (void)count;
    wide *b = work; /* L^-1, lower triangular */
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            wide t = {0};
            if (i == j)
                t += 1;
            for (size_t k = j; k < i; k++)
                t -= l[i + k * n] * b[k + j * n];
            b[i + j * n] = t * r[i];
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            wide t = {0};
            for (size_t k = i; k < n; k++)
                t += b[k + i * n] * b[k + j * n];
            a[i + j * n] = t;
        }
}

TARGET static void KERNEL(unwhiten)(size_t n, size_t count, const wide *l, const wide *s, wide *a, wide *work)
{
    (void)count;
    wide *b = work; /* L S, of which the second step needs columns 0, ..., i of row i */
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            wide t = {0};
            for (size_t k = 0; k < j; k++)
                t += l[i + k * n] * s[j + k * n];
            for (size_t k = j; k <= i; k++)
                t += l[i + k * n] * s[k + j * n];
            b[i + j * n] = t;
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            wide t = b[i] * l[j];
            for (size_t k = 1; k <= j; k++)
                t += b[i + k * n] * l[j + k * n];
            a[i + j * n] = t;
        }
}

/* Steps of tridiagonalize() and ql_vectors(); what is one number for each matrix comes and goes by address. */
#define STEP TARGET static inline __attribute__((always_inline))

/* The row in d[0], ..., d[i - 1] becomes the vector u of the reflection that leaves but its last entry, e[i].
 * inverse: 2/|u|^2, or 0 where the row's squares vanish. */
STEP void KERNEL(reflector)(size_t i, wide *d, wide *e, wide *inverse)
{
    wide h = {0};
    for (size_t k = 0; k < i; k++)
        h += d[k] * d[k];
    wide f = d[i - 1], g = h;
    ROOT(g);
    g = SELECT(f > 0, -g, g);
    e[i] = g;
    wide_mask live = h > 1e-290;
    h -= f * g;
    *inverse = SELECT(live, 1 / SELECT(live, h, h * 0 + 1), h * 0);
    d[i - 1] = f - g;
}

/* The leading block of size i between two reflections (as in linalg_eigen.c); u goes to column i, the next row to d. */
STEP void KERNEL(reflect_block)(size_t n, size_t i, const wide *inverse, wide *a, wide *d, wide *e)
{
    wide scale = *inverse, along = {0};
    for (size_t j = 0; j < i; j++)
        e[j] = (wide){0};
    for (size_t j = 0; j < i; j++) {
        const wide *aj = a + j * n;
        wide f = d[j];
        a[j + i * n] = f;
        wide g = e[j] + aj[j] * f;
        for (size_t k = j + 1; k < i; k++) {
            wide t = aj[k];
            g += t * d[k];
            e[k] += t * f;
        }
        e[j] = g;
    }
    for (size_t j = 0; j < i; j++) {
        e[j] *= scale;
        along += e[j] * d[j];
    }
    wide half = 0.5 * scale * along;
    for (size_t j = 0; j < i; j++)
        e[j] -= half * d[j];
    for (size_t j = 0; j < i; j++) {
        wide *aj = a + j * n, f = d[j], g = e[j];
        for (size_t k = j; k < i; k++)
            aj[k] -= f * e[k] + g * d[k];
        d[j] = aj[i - 1];
        aj[i] = (wide){0};
    }
}

/* The product of the reflections, of which a holds the vectors and d their 2/|u|^2, in a; the diagonal, which stood on
 * that of a, to d. */
STEP void KERNEL(multiply_reflections)(size_t n, wide *a, wide *d)
{
    for (size_t i = 0; i + 1 < n; i++) {
        wide *next = a + (i + 1) * n;
        a[n - 1 + i * n] = a[i + i * n];
        a[i + i * n] = (wide){0} + 1;
        wide inverse = d[i + 1];
        for (size_t j = 0; j <= i; j++) {
            wide *aj = a + j * n, g = {0};
            for (size_t k = 0; k <= i; k++)
                g += next[k] * aj[k];
            g *= inverse;
            for (size_t k = 0; k <= i; k++)
                aj[k] -= g * next[k];
        }
        for (size_t k = 0; k <= i; k++)
            next[k] = (wide){0};
    }
    for (size_t j = 0; j < n; j++) {
        d[j] = a[n - 1 + j * n];
        a[n - 1 + j * n] = (wide){0};
    }
    a[n - 1 + (n - 1) * n] = (wide){0} + 1;
}

/* Householder reduction to tridiagonal form, diagonal d and subdiagonal e[1], ..., e[n - 1]; with vectors, the product
 * of the reflections in a. Rows whose squares vanish are left alone: their lanes get 0 for the reciprocal. */
TARGET static void KERNEL(tridiagonalize)(size_t n, wide *a, wide *d, wide *e, int vectors)
{
    for (size_t j = 0; j < n; j++)
        d[j] = a[n - 1 + j * n];
    for (size_t i = n - 1; i > 0; i--) {
        wide inverse;
        KERNEL(reflector)(i, d, e, &inverse);
        KERNEL(reflect_block)(n, i, &inverse, a, d, e);
        d[i] = inverse;
    }
    if (vectors) {
        KERNEL(multiply_reflections)(n, a, d);
        return;
    }
    for (size_t i = 0; i < n; i++)
        d[i] = a[i + i * n];
}

/* One step of the matrices `which` from row l down, with shifts that are added to *shifted. */
STEP void KERNEL(ql_step)(size_t n, size_t l, const wide_mask *which, const wide *floor, wide *v, wide *d, wide *e,
                          wide *shifted)
{
    wide_mask live = *which;
    wide tiny = *floor, zero = {0}, unit = zero + 1;
    wide g = d[l], first = SELECT(live, e[l], unit), p = (d[l + 1] - g) / (2 * first), r = p * p + 1;
    ROOT(r);
    r = p + SELECT(p < 0, -r, r);
    wide low = first / r, next = first * r, h = SELECT(live, g - low, zero);
    d[l] = SELECT(live, low, g);
    d[l + 1] = SELECT(live, next, d[l + 1]);
    for (size_t i = l + 2; i < n; i++)
        d[i] -= h;
    *shifted += h;
    p = d[n - 1];
    wide c = unit, c2 = unit, c3 = unit, s = zero, s2 = zero, after = e[l + 1];
    for (size_t i = n - 1; i-- > l;) {
        wide ei = e[i], di = d[i];
        c3 = c2;
        c2 = c;
        s2 = s;
        g = c * ei;
        h = c * p;
        wide sum = p * p + ei * ei, inverse = 1 / sum;
        wide_mask turn = live & (wide_mask)(sum > 0);
        r = sum;
        ROOT(r);
        inverse *= r; /* root and division side by side */
        wide off = s * r;
        off = SELECT(ABSOLUTE(off) > tiny, off, zero);
        e[i + 1] = SELECT(live, off, e[i + 1]);
        s = SELECT(turn, ei * inverse, zero);
        c = SELECT(turn, p * inverse, unit);
        p = c * di - s * g;
        d[i + 1] = h + s * (c * g + s * di);
        wide *vi = v + i * n, *vj = vi + n;
        for (size_t k = 0; k < n; k++) {
            wide x = vj[k], y = vi[k];
            vj[k] = s * y + c * x;
            vi[k] = c * y - s * x;
        }
    }
    p = -s * s2 * c3 * after * e[l] / SELECT(live, next, unit);
    e[l] = SELECT(live, s * p, e[l]);
    d[l] = SELECT(live, c * p, d[l]);
}

/* QL with implicit shifts in step: all matrices work on the same eigenvalue, always down to the last row; those that have it
 * already turn by the identity. */
TARGET static int KERNEL(ql_vectors)(size_t n, wide *v, wide *d, wide *e)
{
    wide shifted = {0}, size = {0}, zero = {0};
    for (size_t i = 1; i < n; i++)
        e[i - 1] = e[i];
    e[n - 1] = zero;
    for (size_t l = 0; l < n; l++) {
        wide t = ABSOLUTE(d[l]) + ABSOLUTE(e[l]);
        size = LARGER(t, size);
        wide tiny = 1e-20 * size; /* what no longer counts is cleared, since denormal numbers are slow */
        for (int step = 0; l + 1 < n; step++) {
            wide_mask live = ABSOLUTE(e[l]) > 0.5 * RIEMDP_EPS * size;
            if (!ANY(live))
                break;
            if (step == 60)
                return STATUS_LINALG;
            KERNEL(ql_step)(n, l, &live, &tiny, v, d, e, &shifted);
        }
        d[l] += shifted;
        e[l] = zero;
    }
    return STATUS_OK;
}

/* One sweep of the square-root-free variant of Pal, Walker and Kahan (as in linalg_eigen.c), in step. A gamma that
 * vanishes makes not-a-number of all that follows. */
TARGET static void KERNEL(sweep)(size_t n, size_t l, const wide_mask *which, const wide *floor, wide *d, wide *e)
{
    wide_mask live = *which;
    wide tiny = *floor, zero = {0}, unit = (wide){0} + 1, root = SELECT(live, e[l], unit);
    ROOT(root);
    wide shift = (d[l + 1] - d[l]) / (2 * root), r = shift * shift + 1;
    ROOT(r);
    shift = d[l] - root / (shift + SELECT(shift < 0, -r, r));
    wide s = {0}, gamma = d[n - 1] - shift, p = gamma * gamma;
    for (size_t i = n - 1; i-- > l;) {
        wide b = e[i], di = d[i], previous = gamma;
        r = p + b;
        wide inverse = 1 / r, up = r / p;
        wide off = s * r;
        off = SELECT(off > tiny, off, zero);
        e[i + 1] = SELECT(live, off, e[i + 1]); /* s = 0 in the last row, where e is 0 */
        wide c = p * inverse;
        s = b * inverse;
        gamma = c * (di - shift) - s * previous;
        d[i + 1] = SELECT(live, previous + (di - gamma), d[i + 1]);
        p = gamma * gamma * up;
    }
    e[l] = SELECT(live, s * p, e[l]);
    d[l] = SELECT(live, shift + gamma, d[l]);
}

/* the same with the limits that it needs where a gamma vanishes */
TARGET static void KERNEL(careful_sweep)(size_t n, size_t l, const wide_mask *which, wide *d, wide *e)
{
    wide_mask live = *which;
    wide unit = (wide){0} + 1, zero = {0}, root = SELECT(live, e[l], unit);
    ROOT(root);
    wide shift = (d[l + 1] - d[l]) / (2 * root), r = shift * shift + 1;
    ROOT(r);
    shift = d[l] - root / (shift + SELECT(shift < 0, -r, r));
    wide c = unit, s = zero, gamma = d[n - 1] - shift, p = gamma * gamma;
    for (size_t i = n - 1; i-- > l;) {
        wide b = e[i], old = c, previous = gamma;
        r = p + b;
        e[i + 1] = SELECT(live, s * r, e[i + 1]);
        wide_mask turn = r > 0;
        wide inverse = 1 / SELECT(turn, r, unit);
        c = SELECT(turn, p * inverse, unit);
        s = SELECT(turn, b * inverse, zero);
        gamma = c * (d[i] - shift) - s * previous;
        d[i + 1] = SELECT(live, previous + (d[i] - gamma), d[i + 1]);
        wide_mask some = c > 0;
        p = SELECT(some, gamma * gamma / SELECT(some, c, unit), old * b);
    }
    e[l] = SELECT(live, s * p, e[l]);
    d[l] = SELECT(live, shift + gamma, d[l]);
}

/* work: 2 n */
TARGET static int KERNEL(ql_values)(size_t n, wide *d, wide *e, wide *work)
{
    wide zero = {0}, size = {0}, *d0 = work, *e0 = work + n;
    for (size_t i = 1; i < n; i++)
        e[i - 1] = e[i] * e[i];
    e[n - 1] = zero;
    for (size_t i = 0; i < n; i++) {
        wide t = d[i] * d[i] + e[i];
        size = LARGER(t, size);
    }
    wide tiny = 1e-40 * size; /* as above */
    for (size_t l = 0; l + 1 < n; l++)
        for (int step = 0;; step++) {
            wide t = d[l] * d[l + 1];
            wide_mask live = e[l] > RIEMDP_EPS * RIEMDP_EPS * (ABSOLUTE(t) + RIEMDP_EPS * size);
            if (!ANY(live))
                break;
            if (step == 80)
                return STATUS_LINALG;
            for (size_t i = l; i < n; i++) {
                d0[i] = d[i];
                e0[i] = e[i];
            }
            KERNEL(sweep)(n, l, &live, &tiny, d, e);
            /* lane by lane: what one matrix needs changes no bit of its neighbours */
            wide_mask lost = (wide_mask)(d[l] != d[l]) | (wide_mask)(e[l] != e[l]);
            if (ANY(lost)) {
                for (size_t i = l; i < n; i++) {
                    d[i] = SELECT(lost, d0[i], d[i]);
                    e[i] = SELECT(lost, e0[i], e[i]);
                }
                KERNEL(careful_sweep)(n, l, &lost, d, e);
            }
        }
    return STATUS_OK;
}

/* From a cache line on: where its loops lie, a tenth of the time at size 40, doesn't depend on what stands before. */
TARGET static __attribute__((aligned(64))) int KERNEL(symeig)(size_t n, size_t count, wide *a, wide *w, int vectors,
                                                              wide *work)
{
    (void)count;
    if (n == 1) {
        w[0] = a[0];
        a[0] = (wide){0} + 1;
        return STATUS_OK;
    }
    /* powers of two keep squares in range */
    wide big = {0}, sum = {0};
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            wide t = ABSOLUTE(a[i + j * n]);
            big = LARGER(t, big);
            sum += 0 * a[i + j * n];
        }
    if (ANY(~(wide_mask)(sum == 0)))
        return STATUS_NOT_FINITE;
    wide up = (wide){0} + 1;
    wide_mask scaled = (wide_mask)(big > 1e100) | ((wide_mask)(big < 1e-100) & (wide_mask)(big > 0));
    if (ANY(scaled)) {
        for (int k = 0; k < WIDE; k++) {
            int exponent;
            if (!scaled[k])
                continue; /* as without its neighbours */
            frexp(big[k], &exponent);
            up[k] = ldexp(1, exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent);
        }
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++)
                a[i + j * n] /= up;
    }
    KERNEL(tridiagonalize)(n, a, w, work, vectors);
    int status = vectors ? KERNEL(ql_vectors)(n, a, w, work) : KERNEL(ql_values)(n, w, work, work + n);
    for (size_t j = 0; j < n; j++)
        w[j] *= up;
    return status;
}

/* c[i + j n] = sum over k of a[i ai + k ak] b[j bj + k bk], two rows at once; from the diagonal down where `lower` */
TARGET static inline __attribute__((always_inline)) void
KERNEL(product)(size_t n, const wide *a, size_t ai, size_t ak, const wide *b, size_t bj, size_t bk, int lower, wide *c)
{
    for (size_t j = 0; j < n; j++) {
        size_t i = lower ? j : 0;
        for (; i + 1 < n; i += 2) {
            wide s = {0}, t = {0};
            for (size_t k = 0; k < n; k++) {
                wide e = b[j * bj + k * bk];
                s += a[i * ai + k * ak] * e;
                t += a[(i + 1) * ai + k * ak] * e;
            }
            c[i + j * n] = s;
            c[i + 1 + j * n] = t;
        }
        for (; i < n; i++) {
            wide s = {0};
            for (size_t k = 0; k < n; k++)
                s += a[i * ai + k * ak] * b[j * bj + k * bk];
            c[i + j * n] = s;
        }
    }
}

TARGET static void KERNEL(symmetric_product)(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    (void)count, (void)work;
    KERNEL(product)(n, a, 1, n, b, 1, n, 1, c);
}

TARGET static void KERNEL(spectral)(size_t n, size_t count, const wide *v, const wide *f, wide *a, wide *work)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            work[i + j * n] = v[i + j * n] * f[j];
    KERNEL(symmetric_product)(n, count, work, v, a, NULL);
}

TARGET static void KERNEL(mul)(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    (void)count, (void)work;
    KERNEL(product)(n, a, 1, n, b, n, 1, 0, c);
}

TARGET static void KERNEL(mul_transposed)(size_t n, size_t count, const wide *a, const wide *b, wide *c, wide *work)
{
    (void)count, (void)work;
    KERNEL(product)(n, a, n, 1, b, n, 1, 0, c);
}

static const struct wide_kernels KERNEL(kernels) = {
    .chol = KERNEL(chol),
    .whiten = KERNEL(whiten),
    .inverse = KERNEL(inverse),
    .unwhiten = KERNEL(unwhiten),
    .symeig = KERNEL(symeig),
    .spectral = KERNEL(spectral),
    .mul = KERNEL(mul),
    .mul_transposed = KERNEL(mul_transposed),
    .symmetric_product = KERNEL(symmetric_product),
};

#undef STEP
#undef SELECT
#undef LARGER
#undef ABSOLUTE
#undef KERNEL
#undef TARGET
#undef ROOT
#undef ANY
