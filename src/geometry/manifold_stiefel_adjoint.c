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

/* What the adjoints of one record are made of, beside its frame, in which all is written. */
struct adjoint {
    struct stiefel_frame *f;
    double *g, *s, *end, *foot;          /* q x p: covectors of e and w, exp(X) J N, the covector of the foot */
    double *first, *gn;                  /* q x p: exp(X) J, g N' */
    double *turn, *a, *turned, *phi;     /* p x p: N, A; scratch */
    double *z, *scratch;                 /* q x q; what holds 4 q p */
    double *perp, *perp_out, *perp_foot; /* rows outside the span of R: of e, of w's covector, of the foot's */
};

/* in what the frame leaves free; perp_foot, which waits while factors need that, in the caller's `out` */
static struct adjoint lay_out(struct stiefel_frame *f, double *out)
{
    size_t p = f->p, q = f->q, l = f->n - p;
    struct adjoint b = {.f = f, .g = f->goal, .s = f->now, .end = f->res, .foot = f->v, .perp_foot = out};
    b.z = f->rest + 8 * q * q + la_expm1_work(2 * q); /* what the exponentials don't use */
    b.first = b.z + q * q;
    b.turn = b.first + q * p;
    b.gn = b.turn + p * p;
    b.turned = b.gn + q * p;
    b.phi = b.turned + p * p;
    b.a = b.phi + p * p;
    b.scratch = b.a + p * p;
    b.perp = b.scratch + 4 * q * p;
    b.perp_out = b.perp + l * p;
    return b;
}

/* the geodesic's end and the covector g of e there */
static int reach_end(const struct adjoint *b, const double *e)
{
    struct stiefel_frame *f = b->f;
    size_t p = f->p, q = f->q, r = f->r, l = f->n - p, over = l - r;
    int status = stiefel_to_frame(f, e, f->z);
    if (status == STATUS_OK)
        status = stiefel_split(f, f->z, b->g);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            b->turn[i + j * p] = (f->c == 1 ? 0 : f->f[i + j * p]) + (i == j);
            b->a[i + j * p] = f->t[i + j * q];
        }
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < q; i++)
            b->first[i + j * q] = f->e[i + j * q] + (i == j);
        for (size_t i = 0; i < over; i++)
            b->perp[i + j * over] = f->low[r + i + j * l];
    }
    la_mul('N', 'N', q, p, p, b->first, q, b->turn, p, b->end, q);
    if (f->c == 1) {
        la_mul('T', 'N', p, p, q, b->end, q, b->g, q, b->turned, p);
        add_product('N', 'N', q, p, p, -0.5, b->end, q, b->turned, p, b->g, q, b->scratch);
    }
    return STATUS_OK;
}

/* s: derivatives of exp(X) and of exp((1 - c) A) in w */
static int pull_to_velocity(const struct adjoint *b)
{
    struct stiefel_frame *f = b->f;
    size_t p = f->p, q = f->q, r = f->r;
    double c = f->c, *z = b->z;
    la_mul('N', 'T', q, p, p, b->g, q, b->turn, p, b->gn, q);
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < q; i++)
            z[i + j * q] = j < p ? b->gn[i + j * q] : 0;
    int status = upper_right(q, f->x, z, 1, f->x, z, f->rest);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            b->phi[i + j * p] = c * z[i + j * q];
    if (c != 1) {
        double *y = b->scratch;
        la_mul('T', 'N', p, p, q, b->first, q, b->g, q, b->turned, p);
        for (size_t j = 0; j < p * p; j++)
            y[j] = (1 - c) * b->a[j];
        status = upper_right(p, y, b->turned, 1, y, b->turned, f->rest);
        for (size_t j = 0; j < p * p && status == STATUS_OK; j++)
            b->phi[j] += (1 - c) * b->turned[j];
    }
    if (status != STATUS_OK)
        return status;
    skew(p, 1 / c, b->phi);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            b->s[i + j * q] = b->phi[i + j * p];
        for (size_t i = 0; i < r; i++)
            b->s[p + i + j * q] = z[p + i + j * q] - z[j + (p + i) * q];
    }
    return STATUS_OK;
}

/* foot: what moves E, less what w loses on the way */
static void pull_to_foot(const struct adjoint *b)
{
    struct stiefel_frame *f = b->f;
    size_t p = f->p, q = f->q, r = f->r;
    double c = f->c, half = 0.5 * c, *phi = b->phi, *rows = b->foot + p;
    const double *g = b->g, *s = b->s, *end = b->end, *a = b->a;
    for (size_t j = 0; j < p * p; j++)
        phi[j] = 0;
    add_product('N', 'T', p, p, p, c, g, q, end, q, phi, p, b->scratch);
    if (c != 1)
        add_product('T', 'N', p, p, q, 1 - c, end, q, g, q, phi, p, b->scratch);
    add_product('N', 'N', p, p, p, -half * (c - 0.5), a, p, s, q, phi, p, b->scratch);
    add_product('N', 'N', p, p, p, half * (c - 0.5), s, q, a, p, phi, p, b->scratch);
    add_product('T', 'N', p, p, r, half, f->t + p, q, s + p, q, phi, p, b->scratch);
    skew(p, 1 / c, phi);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            b->foot[i + j * q] = phi[i + j * p];
        for (size_t i = 0; i < r; i++)
            rows[i + j * q] = 0;
    }
    add_product('N', 'T', r, p, p, 1, g + p, q, end, q, rows, q, b->scratch);
    add_product('N', 'T', r, p, p, -1, end + p, q, g, q, rows, q, b->scratch);
    add_product('N', 'N', r, p, p, -half, f->t + p, q, s, q, rows, q, b->scratch);
    add_product('N', 'N', r, p, p, half, s + p, q, a, p, rows, q, b->scratch);
}

/* rows outside the span of R, by phi(X): those of w to the frame's lower rows, those of the foot to perp_foot */
static int pull_rows_outside(const struct adjoint *b)
{
    struct stiefel_frame *f = b->f;
    size_t p = f->p, q = f->q, r = f->r, l = f->n - p, over = l - r;
    if (over == 0)
        return STATUS_OK;
    int status = upper_right(q, f->x, NULL, 0, NULL, b->z, f->rest);
    if (status != STATUS_OK)
        return status;
    la_mul('T', 'T', p, p, p, b->turn, p, b->z, q, b->turned, p);
    la_mul('N', 'N', over, p, p, b->perp, over, b->turned, p, b->perp_out, over);
    la_mul('N', 'T', over, p, p, b->perp, over, b->end, q, b->perp_foot, over);
    la_mul('N', 'N', over, p, p, b->perp_out, over, b->a, p, b->perp, over);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < over; i++) {
            f->low[r + i + j * l] = b->perp_out[i + j * over];
            b->perp_foot[i + j * over] += 0.5 * f->c * b->perp[i + j * over];
        }
    return STATUS_OK;
}

/* `from` over the frame's lower rows, out of the frame */
static int leave_frame(struct stiefel_frame *f, const double *from, double *out)
{
    int status = stiefel_join(f, from, f->z);
    if (status == STATUS_OK)
        status = stiefel_from_frame(f, f->z);
    for (size_t j = 0; j < f->n * f->p; j++)
        out[j] = f->z[j];
    return status;
}

/* f holds the factor of p and the geodesic of w */
static int one_record(struct stiefel_frame *f, double *out_p, double *out_w, const double *e)
{
    size_t p = f->p, r = f->r, l = f->n - p, over = l - r;
    struct adjoint b = lay_out(f, out_p);
    int status = reach_end(&b, e);
    if (status == STATUS_OK)
        status = pull_to_velocity(&b);
    if (status != STATUS_OK)
        return status;
    pull_to_foot(&b);
    status = pull_rows_outside(&b);
    if (status == STATUS_OK)
        status = leave_frame(f, b.s, out_w);
    if (status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < over; i++)
            f->low[r + i + j * l] = b.perp_foot[i + j * over];
    return leave_frame(f, b.foot, out_p);
}

int stiefel_exp_adjoint(manifold_t m, double *out_p, double *out_w, struct points p, struct points w, struct points y,
                        struct points e, size_t begin, size_t end, double *work)
{
    struct stiefel_frame f;
    stiefel_lay_out(m, &f, work);
    (void)y;
    for (size_t i = begin; i < end; i++) {
        int status = stiefel_velocity(&f, at(p, i), at(w, i), fresh(p, i, begin));
        if (status == STATUS_OK)
            status = stiefel_geodesic(&f);
        if (status == STATUS_OK)
            status = one_record(&f, out_p + i * m->ambient, out_w + i * m->ambient, at(e, i));
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}
