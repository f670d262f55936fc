/* The reduced frame of a Stiefel manifold: its workspace, tangent vectors in it, geodesics and transport along them. */
#include "manifold_stiefel.h"
#include "simd.h"
#include "tall.h"

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* room that stiefel_exp_adjoint() needs */
static size_t adjoint_work(const struct stiefel_frame *f)
{
    size_t q = f->q, p = f->p, l = f->n - p;
    return 8 * q * q + la_expm1_work(2 * q) + q * q + 8 * q * p + 4 * p * p + 2 * l * p;
}

/* lays the views out; returns the number of doubles; with work == NULL only counts */
size_t stiefel_lay_out(manifold_t m, struct stiefel_frame *f, double *work)
{
    size_t n = (size_t)m->param[0], p = (size_t)m->param[1], r = p < n - p ? p : n - p, q = p + r;
    f->n = n;
    f->p = p;
    f->r = r;
    f->q = q;
    f->size = p * (p - 1) / 2 + r * p;
    f->c = m->weight;
    f->tol = 4e-16;
    f->host = m->host;
    size_t used = 0;
#define TAKE(view, count) (f->view = work ? work + used : NULL, used += (count))
    TAKE(h, n * p);
    TAKE(tau, p);
    TAKE(sign, p);
    TAKE(z, n * p);
    TAKE(b, (n - p) * p);
    TAKE(btau, p);
    TAKE(low, (n - p) * p);
    TAKE(t, q * p);
    TAKE(x, 2 * p * q);
    TAKE(e, q * q);
    TAKE(f, p * p);
    TAKE(goal, q * p);
    TAKE(now, q * p);
    TAKE(res, q * p);
    TAKE(u, q * p);
    TAKE(v, q * p);
    TAKE(here, f->size);
    TAKE(next, f->size);
    if (r > 0) { /* O(n) has a closed form */
        TAKE(kept, LOG_LEVELS * q * p);
        TAKE(step, (LOG_DEPTH + 1) * f->size);
    }
    size_t rest = most(la_qr_work(n, p), most(la_expm1_work(q), 6 * q * q));
    rest = most(rest, n * p + p + p * p + la_svd_work(n, p));
    rest = most(rest, 2 * q * p + p + p * p + la_svd_work(q, p));
    rest = most(rest, la_log1p_orthogonal_work(p));
    if (f->size <= DENSITY_MOST)
        rest = most(rest, f->size * f->size + f->size + 3 * q * q + 2 * p * p + la_expm1_work(q));
    rest = most(rest, adjoint_work(f));
    TAKE(rest, rest);
#undef TAKE
    return used;
}

int stiefel_factor(struct stiefel_frame *f, const double *w)
{
    size_t n = f->n, p = f->p;
    if (!all_finite(n * p, w))
        return STATUS_NOT_FINITE;
    for (size_t j = 0; j < n * p; j++)
        f->h[j] = w[j];
    int status = la_qr(n, p, f->h, f->tau, f->rest);
    for (size_t j = 0; j < p; j++)
        f->sign[j] = f->h[j + j * n] < 0 ? -1 : 1;
    return status;
}

/* z = (H diag(sign, 1))' v: the first p rows are W'v */
int stiefel_to_frame(struct stiefel_frame *f, const double *v, double *z)
{
    size_t n = f->n, p = f->p;
    if (z != v)
        for (size_t j = 0; j < n * p; j++)
            z[j] = v[j];
    int status = la_qr_apply('T', n, p, p, f->h, f->tau, z, f->rest);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            z[i + j * n] *= f->sign[i];
    return status;
}

int stiefel_from_frame(struct stiefel_frame *f, double *z)
{
    size_t n = f->n, p = f->p;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            z[i + j * n] *= f->sign[i];
    return la_qr_apply('N', n, p, p, f->h, f->tau, z, f->rest);
}

/* z's first p rows to those of `to`, the others to `low` */
static void part_rows(const struct stiefel_frame *f, const double *z, double *to, double *low)
{
    size_t n = f->n, p = f->p, l = n - p;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            to[i + j * f->q] = z[i + j * n];
        for (size_t i = 0; i < l; i++)
            low[i + j * l] = z[p + i + j * n];
    }
}

/* makes the factor of the lower part of z where it has more than p rows, and leaves z's reduction in `to` */
int stiefel_reduce(struct stiefel_frame *f, const double *z, double *to)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    part_rows(f, z, to, f->b);
    int status = l > p ? la_qr(l, p, f->b, f->btau, f->rest) : STATUS_OK;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < f->r; i++)
            to[p + i + j * q] = l > p && i > j ? 0 : f->b[i + j * l];
    return status;
}

/* v in the frame of w, which is made where `make` says so, reduced to t */
int stiefel_velocity(struct stiefel_frame *f, const double *w, const double *v, int make)
{
    int status = make ? stiefel_factor(f, w) : STATUS_OK;
    if (status == STATUS_OK)
        status = stiefel_to_frame(f, v, f->z);
    if (status == STATUS_OK)
        status = stiefel_reduce(f, f->z, f->t);
    if (status == STATUS_OK)
        stiefel_skew_top(f->q, f->p, f->t);
    return status;
}

/* X of a reduced tangent vector */
void stiefel_lift(struct stiefel_frame *f, const double *t, double *x)
{
    size_t p = f->p, q = f->q;
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < q; i++) {
            if (j < p)
                x[i + j * q] = (i < p ? f->c : 1) * t[i + j * q];
            else
                x[i + j * q] = i < p ? -t[j + i * q] : 0;
        }
}

/* out = Y + sum of c_j X^j over 1 <= j <= 4, and c_0 on the diagonal; powers are one after the other */
RIEMDP_SIMD static void add_powers(size_t n, const double *c, const double *powers, const double *y, double *out)
{
    size_t nn = n * n;
    const double *x = powers, *x2 = x + nn, *x3 = x2 + nn, *x4 = x3 + nn;
    for (size_t i = 0; i < nn; i++)
        out[i] = y[i] + (((c[4] * x4[i] + c[3] * x3[i]) + c[2] * x2[i]) + c[1] * x[i]);
    for (size_t i = 0; i < n; i++)
        out[i * (n + 1)] += c[0];
}

/* expm(X) - I for skew-symmetric X, relatively accurate for small X: Taylor's series of 20 terms in blocks of four (Paterson
 * and Stockmeyer 1973, doi:10.1137/0202007) at a norm <= 1, where normal matrices lose nothing, then expm1(2X) = E (E + 2 I).
 * 6 n * n doubles of work */
static int expm1_skew(size_t n, const double *x, double *out, double *work)
{
    /* 1/k! */
    static const double c[21] = {
        0,
        1,
        0.5,
        0.16666666666666666,
        0.041666666666666664,
        0.008333333333333333,
        0.001388888888888889,
        0.0001984126984126984,
        2.48015873015873e-05,
        2.7557319223985893e-06,
        2.755731922398589e-07,
        2.505210838544172e-08,
        2.08767569878681e-09,
        1.6059043836821613e-10,
        1.1470745597729725e-11,
        7.647163731819816e-13,
        4.779477332387385e-14,
        2.8114572543455206e-15,
        1.5619206968586225e-16,
        8.22063524662433e-18,
        4.110317623312165e-19,
    };
    size_t nn = n * n;
    double *powers = work, *t = powers + 4 * nn, *u = t + nn;
    double norm = norm2(nn, x) / RIEMDP_SQRT2; /* eigenvalues come in pairs */
    int s = 0;
    if (!(norm < INFINITY))
        return STATUS_NOT_FINITE;
    while (norm > 1) {
        norm *= 0.5;
        s++;
    }
    double h = ldexp(1, -s);
    for (size_t i = 0; i < nn; i++) {
        powers[i] = h * x[i];
        t[i] = 0;
    }
    tall_mul(n, n, n, powers, n, powers, n, powers + nn, n);
    tall_mul(n, n, n, powers, n, powers + nn, n, powers + 2 * nn, n);
    tall_mul(n, n, n, powers + nn, n, powers + nn, n, powers + 3 * nn, n);
    add_powers(n, c + 16, powers, t, out);
    for (int k = 12; k >= 0; k -= 4) {
        /* the term of X^(k + 4) is in `out` already */
        const double d[5] = {c[k], c[k + 1], c[k + 2], c[k + 3], 0};
        tall_mul(n, n, n, out, n, powers + 3 * nn, n, t, n);
        add_powers(n, d, powers, t, out);
    }
    while (s-- > 0) {
        tall_mul(n, n, n, out, n, out, n, u, n);
        for (size_t i = 0; i < nn; i++)
            out[i] = 2 * out[i] + u[i];
    }
    return STATUS_OK;
}

/* exp(X) - I and exp((1 - c) A) - I for the reduced tangent vector t */
int stiefel_geodesic(struct stiefel_frame *f)
{
    size_t p = f->p, q = f->q;
    stiefel_lift(f, f->t, f->x);
    int status = expm1_skew(q, f->x, f->e, f->rest);
    if (f->c == 1 || status != STATUS_OK)
        return status;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            f->u[i + j * p] = (1 - f->c) * f->t[i + j * q];
    return expm1_skew(p, f->u, f->f, f->rest);
}

/* v = y exp((1 - c) A) for a k x p matrix y (leading dimension k), in place; `work` k * p doubles */
void stiefel_turn(struct stiefel_frame *f, size_t k, double *y, double *work)
{
    if (f->c == 1)
        return;
    tall_mul(k, f->p, f->p, y, k, f->f, f->p, work, k);
    for (size_t j = 0; j < k * f->p; j++)
        y[j] += work[j];
}

/* increment of the geodesic over [I; 0] */
void stiefel_advance(struct stiefel_frame *f, double *to)
{
    size_t p = f->p, q = f->q;
    for (size_t j = 0; j < q * p; j++)
        to[j] = f->e[j];
    stiefel_turn(f, q, to, f->u);
    if (f->c != 1)
        for (size_t j = 0; j < p; j++)
            for (size_t i = 0; i < p; i++)
                to[i + j * q] += f->f[i + j * p];
}

void stiefel_skew_top(size_t q, size_t p, double *t)
{
    for (size_t j = 0; j < p; j++) {
        t[j + j * q] = 0;
        for (size_t i = 0; i < j; i++) {
            double a = 0.5 * (t[i + j * q] - t[j + i * q]);
            t[i + j * q] = a;
            t[j + i * q] = -a;
        }
    }
}

/* Parallel transport in the moving frame [W Q] exp(sX), exp(s(1 - c)A): the coordinates (a, b) obey the linear equation
 *     a' = -(c - 1/2) [A, a] + skew(R'b),  b' = c/2 (b A - R a),
 * from the normal projection (Euclidean) and the Christoffel function of Edelman, Arias and Smith (canonical). */
static void transport_rate(struct stiefel_frame *f, const double *y, double *to)
{
    size_t p = f->p, q = f->q, r = f->r;
    double k = f->c - 0.5, h = 0.5 * f->c, *ab = f->x, *rb = ab + p * p, *ra = rb + p * p, *ba = ra + r * p;
    tall_mul(p, p, p, f->t, q, y, q, ab, p);
    tall_mul(p, p, r, f->rest, p, y + p, q, rb, p);
    tall_mul(r, p, p, f->t + p, q, y, q, ra, r);
    tall_mul(r, p, p, y + p, q, f->t, q, ba, r);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            to[i + j * q] = 0.5 * (rb[i + j * p] - rb[j + i * p]) - k * (ab[i + j * p] - ab[j + i * p]);
        for (size_t i = 0; i < r; i++)
            to[p + i + j * q] = h * (ba[i + j * r] - ra[i + j * r]);
    }
}

/* y = exp(s rate) y by Taylor's series in steps of norm <= 2; uses x, u, v and the rest, which holds R' */
void stiefel_transport_flow(struct stiefel_frame *f, double s, double tol, double *y)
{
    size_t qp = f->q * f->p;
    double norm = 2 * fabs(s) * norm2(qp, f->t), size = norm2(qp, y);
    if (!(norm < 1e6) || size == 0)
        return;
    double steps = ceil(norm / 2);
    for (size_t j = 0; j < f->p; j++)
        for (size_t i = 0; i < f->r; i++)
            f->rest[j + i * f->p] = f->t[f->p + i + j * f->q];
    for (double done = 0; done < steps; done++) {
        for (size_t j = 0; j < qp; j++)
            f->u[j] = y[j];
        for (int k = 1; k < 60; k++) {
            double scale = s / steps / k;
            transport_rate(f, f->u, f->v);
            for (size_t j = 0; j < qp; j++) {
                f->u[j] = scale * f->v[j];
                y[j] += f->u[j];
            }
            if (norm2(qp, f->u) <= tol * size)
                break;
        }
    }
}

/* A reduced tangent vector as a vector of its `size` coordinates, in which the metric is the dot product. */
void stiefel_pack(struct stiefel_frame *f, const double *t, double *to)
{
    double s = sqrt(f->c);
    for (size_t j = 0; j < f->p; j++) {
        for (size_t i = j + 1; i < f->p; i++)
            *to++ = s * t[i + j * f->q];
        for (size_t i = f->p; i < f->q; i++)
            *to++ = t[i + j * f->q];
    }
}

void stiefel_unpack(struct stiefel_frame *f, const double *from, double *t)
{
    double s = 1 / sqrt(f->c);
    for (size_t j = 0; j < f->p; j++) {
        t[j + j * f->q] = 0;
        for (size_t i = j + 1; i < f->p; i++) {
            t[i + j * f->q] = s * *from++;
            t[j + i * f->q] = -t[i + j * f->q];
        }
        for (size_t i = f->p; i < f->q; i++)
            t[i + j * f->q] = *from++;
    }
}

/* From the frame of the base to A over the first r rows of the lower part in the basis of its factor, which is left in
 * `low`; and back. */
int stiefel_split(struct stiefel_frame *f, const double *z, double *to)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    part_rows(f, z, to, f->low);
    int status = l > p ? la_qr_apply('T', l, p, p, f->b, f->btau, f->low, f->rest) : STATUS_OK;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < f->r; i++)
            to[p + i + j * q] = f->low[i + j * l];
    return status;
}

int stiefel_join(struct stiefel_frame *f, const double *from, double *z)
{
    size_t n = f->n, p = f->p, l = n - p, q = f->q;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < f->r; i++)
            f->low[i + j * l] = from[p + i + j * q];
    int status = l > p ? la_qr_apply('N', l, p, p, f->b, f->btau, f->low, f->rest) : STATUS_OK;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++)
            z[i + j * n] = from[i + j * q];
        for (size_t i = 0; i < l; i++)
            z[p + i + j * n] = f->low[i + j * l];
    }
    return status;
}
