/* Adjoints of the derivatives of exp on the Stiefel manifold (see manifold_stiefel.c for the frame and c).
 *
 * With E = exp(X) J N, J = [I; 0], N = exp((1 - c) A), and G the covector of e: the derivative in w = (A, B) turns around to
 * Frechet derivatives of exp at X' and (1 - c) A', read off block triangular exponentials (Van Loan 1978,
 * doi:10.1109/TAC.1978.1101743); rows of dB outside the span of R enter through phi(X), the integral of exp(sX). For the
 * derivative in the foot, the group carries foot and w along the geodesic of d = (a, b): E moves by Y E + (1 - c) E a,
 * Y = [c a, -b'; b, 0], while the carried w leaves its parallel field at the rate (c - 1/2) [a, A] - skew(b'B) and
 * -c/2 (B a - b A) (the transport equation in manifold_stiefel_frame.c), which the derivative in w takes back. */
#include "manifold_stiefel.h"

/* out (k x k) = the upper right block of exp([X, Z; 0, Y]), where Z is the identity and Y zero if not given */
static int upper_right(size_t k, const double *x, const double *z, int transposed, const double *y, double *out,
                       double *work)
{
    size_t t = 2 * k;
    double *a = work, *e = a + t * t, *rest = e + t * t;
    for (size_t j = 0; j < t * t; j++)
        a[j] = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            a[i + j * t] = transposed ? x[j + i * k] : x[i + j * k];
            a[i + (k + j) * t] = z ? z[i + j * k] : i == j;
            if (y)
                a[k + i + (k + j) * t] = transposed ? y[j + i * k] : y[i + j * k];
        }
    int status = la_expm1(t, a, e, rest);
    for (size_t j = 0; j < k && status == STATUS_OK; j++)
        for (size_t i = 0; i < k; i++)
            out[i + j * k] = e[i + (k + j) * t];
    return status;
}

/* m = scale (m - m') for a k x k matrix */
static void skew(size_t k, double scale, double *m)
{
    for (size_t j = 0; j < k; j++) {
        m[j + j * k] = 0;
        for (size_t i = 0; i < j; i++) {
            double a = scale * (m[i + j * k] - m[j + i * k]);
            m[i + j * k] = a;
            m[j + i * k] = -a;
        }
    }
}

/* c = c + scale op(a) op(b), where c is m x n with leading dimension ldc; scratch m x n */
static void add_product(char ta, char tb, size_t m, size_t n, size_t k, double scale, const double *a, size_t lda,
                        const double *b, size_t ldb, double *c, size_t ldc, double *scratch)
{
    if (m == 0 || n == 0)
        return;
    la_mul(ta, tb, m, n, k, a, lda, b, ldb, scratch, m);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            c[i + j * ldc] += scale * scratch[i + j * m];
}

/* f holds the factor of p and the geodesic of w */
static int one_record(struct stiefel_frame *f, double *out_p, double *out_w, const double *e)
{
    size_t n = f->n, p = f->p, q = f->q, r = f->r, l = n - p, over = l - r;
    double c = f->c, *rest = f->rest;
    double *g = f->goal, *s = f->now, *end = f->res, *fp = f->v; /* q x p each */
    double *far = rest + 8 * q * q + la_expm1_work(2 * q);       /* what the exponentials don't use */
    double *z = far, *first = z + q * q, *turn = first + q * p, *gn = turn + p * p, *k2 = gn + q * p, *phi = k2 + p * p;
    double *a = phi + p * p, *scratch = a + p * p, *perp = scratch + 4 * q * p, *perp_out = perp + l * p;
    int status = stiefel_to_frame(f, e, f->z);
    if (status == STATUS_OK)
        status = stiefel_split(f, f->z, g);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            turn[i + j * p] = (c == 1 ? 0 : f->f[i + j * p]) + (i == j);
            a[i + j * p] = f->t[i + j * q];
        }
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < q; i++)
            first[i + j * q] = f->e[i + j * q] + (i == j);
        for (size_t i = 0; i < over; i++)
            perp[i + j * over] = f->low[r + i + j * l];
    }
    la_mul('N', 'N', q, p, p, first, q, turn, p, end, q);
    if (c == 1) { /* the covector of e */
        la_mul('T', 'N', p, p, q, end, q, g, q, k2, p);
        add_product('N', 'N', q, p, p, -0.5, end, q, k2, p, g, q, scratch);
    }
    la_mul('N', 'T', q, p, p, g, q, turn, p, gn, q);
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < q; i++)
            z[i + j * q] = j < p ? gn[i + j * q] : 0;
    status = upper_right(q, f->x, z, 1, f->x, z, rest);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            phi[i + j * p] = c * z[i + j * q]; /* the covector of A, for now */
    if (c != 1) {
        double *b = scratch;
        la_mul('T', 'N', p, p, q, first, q, g, q, k2, p);
        for (size_t j = 0; j < p * p; j++)
            b[j] = (1 - c) * a[j];
        status = upper_right(p, b, k2, 1, b, k2, rest);
        for (size_t j = 0; j < p * p && status == STATUS_OK; j++)
            phi[j] += (1 - c) * k2[j];
    }
    if (status != STATUS_OK)
        return status;
    skew(p, 1 / c, phi);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            s[i + j * q] = phi[i + j * p];
        for (size_t i = 0; i < r; i++)
            s[p + i + j * q] = z[p + i + j * q] - z[j + (p + i) * q];
    }
    /* the foot: covector of a in `phi`, rows of b in fp */
    double half = 0.5 * c;
    for (size_t j = 0; j < p * p; j++)
        phi[j] = 0;
    add_product('N', 'T', p, p, p, c, g, q, end, q, phi, p, scratch);
    if (c != 1)
        add_product('T', 'N', p, p, q, 1 - c, end, q, g, q, phi, p, scratch);
    add_product('N', 'N', p, p, p, -half * (c - 0.5), a, p, s, q, phi, p, scratch);
    add_product('N', 'N', p, p, p, half * (c - 0.5), s, q, a, p, phi, p, scratch);
    add_product('T', 'N', p, p, r, half, f->t + p, q, s + p, q, phi, p, scratch);
    skew(p, 1 / c, phi);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            fp[i + j * q] = phi[i + j * p];
        for (size_t i = 0; i < r; i++)
            fp[p + i + j * q] = 0;
    }
    add_product('N', 'T', r, p, p, 1, g + p, q, end, q, fp + p, q, scratch);
    add_product('N', 'T', r, p, p, -1, end + p, q, g, q, fp + p, q, scratch);
    add_product('N', 'N', r, p, p, -half, f->t + p, q, s, q, fp + p, q, scratch);
    add_product('N', 'N', r, p, p, half, s + p, q, a, p, fp + p, q, scratch);
    /* rows outside the span; those of the foot wait in out_p, since the factors below need the workspace */
    if (over > 0) {
        status = upper_right(q, f->x, NULL, 0, NULL, z, rest);
        if (status != STATUS_OK)
            return status;
        la_mul('T', 'T', p, p, p, turn, p, z, q, k2, p);
        la_mul('N', 'N', over, p, p, perp, over, k2, p, perp_out, over);
        la_mul('N', 'T', over, p, p, perp, over, end, q, out_p, over);
        la_mul('N', 'N', over, p, p, perp_out, over, a, p, perp, over);
        for (size_t j = 0; j < p; j++)
            for (size_t i = 0; i < over; i++) {
                f->low[r + i + j * l] = perp_out[i + j * over];
                out_p[i + j * over] += half * perp[i + j * over];
            }
    }
    status = stiefel_join(f, s, f->z);
    if (status == STATUS_OK)
        status = stiefel_from_frame(f, f->z);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < n * p; j++)
        out_w[j] = f->z[j];
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < over; i++)
            f->low[r + i + j * l] = out_p[i + j * over];
    status = stiefel_join(f, fp, f->z);
    if (status == STATUS_OK)
        status = stiefel_from_frame(f, f->z);
    for (size_t j = 0; j < n * p; j++)
        out_p[j] = f->z[j];
    return status;
}

int stiefel_exp_adjoint(manifold_t m, double *out_p, double *out_w, struct points p, struct points w, struct points y,
                        struct points e, size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    (void)y;
    for (size_t i = begin; i < end; i++) {
        int status = fresh(p, i, begin) ? stiefel_factor(&f, at(p, i)) : STATUS_OK;
        if (status == STATUS_OK)
            status = stiefel_to_frame(&f, at(w, i), f.z);
        if (status == STATUS_OK)
            status = stiefel_reduce(&f, f.z, f.t);
        stiefel_skew_top(f.q, f.p, f.t);
        if (status == STATUS_OK)
            status = stiefel_geodesic(&f);
        if (status == STATUS_OK)
            status = one_record(&f, out_p + i * m->ambient, out_w + i * m->ambient, at(e, i));
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}
