/* Logarithm on the Stiefel manifold: shooting in the reduced frame. */
#include "manifold_stiefel.h"
#include "tall.h"

/* What the tangent vector `here` misses of the goal: the tangential part of the difference at the end of its geodesic,
 * carried back to the base. */
static int shoot(struct stiefel_frame *f, double *to)
{
    size_t p = f->p, q = f->q;
    stiefel_unpack(f, f->here, f->t);
    int status = stiefel_geodesic(f);
    if (status != STATUS_OK)
        return status;
    stiefel_advance(f, f->now);
    for (size_t j = 0; j < q * p; j++)
        f->now[j] = f->goal[j] - f->now[j];
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < q; i++)
            f->x[j + i * q] = f->e[i + j * q];
    tall_mul(q, p, q, f->x, q, f->now, q, f->res, q);
    for (size_t j = 0; j < q * p; j++)
        f->res[j] += f->now[j];
    if (f->c != 1) {
        la_mul('N', 'T', q, p, p, f->res, q, f->f, p, f->u, q);
        for (size_t j = 0; j < q * p; j++)
            f->res[j] += f->u[j];
    }
    stiefel_skew_top(q, p, f->res);
    stiefel_transport_flow(f, -1, 1e-2, f->res);
    stiefel_pack(f, f->res, to);
    return STATUS_OK;
}

/* The step after that of number k, from shoot()'s answer `next`, by Broyden's updates so far; where there are too many,
 * they are forgotten. Returns its number. */
static size_t broyden_step(struct stiefel_frame *f, size_t k)
{
    size_t size = f->size;
    const double *s = f->step + k * size;
    if (k == LOG_DEPTH) {
        for (size_t j = 0; j < size; j++)
            f->step[j] = f->next[j];
        return 0;
    }
    for (size_t i = 0; i < k; i++) {
        double *si = f->step + i * size, *sn = si + size, a = dot(size, si, f->next) / dot(size, si, si);
        for (size_t j = 0; j < size; j++)
            f->next[j] += a * sn[j];
    }
    double scale = 1 - dot(size, s, f->next) / dot(size, s, s);
    scale = fabs(scale) > 0.1 ? 1 / scale : 1;
    k++;
    for (size_t j = 0; j < size; j++)
        f->step[k * size + j] = scale * f->next[j];
    return k;
}

/* Broyden's method in Kelley's form (1995, doi:10.1137/1.9781611970944, 7.3) on shoot(), whose derivative is near -I */
static int iterate(struct stiefel_frame *f, double tol)
{
    size_t size = f->size, k = 0;
    double before = 0, limit = 4 * RIEMDP_PI * sqrt(f->c * (double)f->p); /* no minimal geodesic is so long */
    stiefel_pack(f, f->t, f->here);
    int status = shoot(f, f->step);
    for (int count = 0; count < LOG_STEPS && status == STATUS_OK; count++) {
        /* no tick: how many steps there are depends on the points, which may be records */
        double *s = f->step + k * size, length = norm2(size, s), norm;
        for (size_t j = 0; j < size; j++)
            f->here[j] += s[j];
        norm = norm2(size, f->here);
        if (!(norm < limit))
            return STATUS_CUT_LOCUS;
        /* what is left after this step, at the rate seen; or no progress any more but for rounding */
        double left = length * fmin(1, fmax(0.01, length / before));
        if (left <= tol * norm || (length <= 1e-13 * norm && length > 0.5 * before)) {
            stiefel_unpack(f, f->here, f->t);
            /* at the end: a difference that is normal to the manifold stops the iteration, too */
            return tol > 1e-6 || norm2(f->q * f->p, f->now) < 0.1 ? STATUS_OK : STATUS_CUT_LOCUS;
        }
        before = length;
        status = shoot(f, f->next);
        k = broyden_step(f, k);
    }
    return status == STATUS_OK ? STATUS_CUT_LOCUS : status;
}

/* keeps the goal and replaces it by the midpoint of the chord, brought back to the manifold */
static int halve(struct stiefel_frame *f, double *keep)
{
    size_t p = f->p, q = f->q;
    double *a = f->rest, *left = a + q * p, *s = left + q * p, *vt = s + p, *more = vt + p * p;
    for (size_t j = 0; j < q * p; j++)
        a[j] = keep[j] = f->goal[j];
    for (size_t j = 0; j < p; j++)
        a[j * (q + 1)] += 2;
    int status = la_svd(q, p, a, left, s, vt, more);
    if (status == STATUS_OK && s[p - 1] < 1e-6) /* Wx = -Yx for some x */
        status = STATUS_CUT_LOCUS;
    if (status != STATUS_OK)
        return status;
    la_mul('N', 'N', q, p, p, left, q, vt, p, f->goal, q);
    for (size_t j = 0; j < p; j++)
        f->goal[j * (q + 1)] -= 1;
    return STATUS_OK;
}

/* Reduced logarithm of the goal. Far goals are approached by way of the midpoint, the midpoint's midpoint, ...: twice
 * the logarithm of the midpoint is a start from which the iteration found every point inside the injectivity radius
 * that was tried. A result within that radius is the logarithm; a longer one need not be the shortest geodesic. */
int stiefel_solve(struct stiefel_frame *f)
{
    size_t p = f->p, q = f->q;
    int status = STATUS_OK, levels = 0;
    if (f->r == 0) {
        for (size_t j = 0; j < p * p; j++)
            f->now[j] = f->goal[j];
        return la_log1p_orthogonal(p, f->now, f->t, f->rest);
    }
    if (p == 1) {
        f->t[0] = 0;
        f->t[1] = atan2(f->goal[1], 1 + f->goal[0]);
        return RIEMDP_PI - fabs(f->t[1]) < 1e-8 ? STATUS_CUT_LOCUS : STATUS_OK;
    }
    while (levels < LOG_LEVELS && norm2(q * p, f->goal) > 1 && status == STATUS_OK)
        status = halve(f, f->kept + levels++ * q * p);
    for (size_t j = 0; j < q * p; j++)
        f->t[j] = f->goal[j];
    stiefel_skew_top(q, p, f->t);
    while (status == STATUS_OK) {
        status = iterate(f, levels ? 1e-2 : f->tol);
        if (levels == 0)
            break;
        levels--;
        for (size_t j = 0; j < q * p; j++) {
            f->goal[j] = f->kept[levels * q * p + j];
            f->t[j] *= 2;
        }
    }
    return status;
}
