/* The public interface of the kernels (inst/include/riemdp.h): handles, checks of arguments, statuses. No R. */
#include <riemdp.h>

#include "mean.h"
#include "mechanism.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = -1 };

struct rdp_manifold {
    struct host host; /* first: `fail` finds the handle behind it */
    struct manifold m;
    struct rng rng;
    double *work;
    size_t size;
    int failed;
    jmp_buf back;
};

/* kernels own nothing, so a jump out of them leaves nothing behind */
static void fail(struct host *host, int status)
{
    struct rdp_manifold *h = (struct rdp_manifold *)host;
    h->failed = status;
    longjmp(h->back, 1);
}

int rdp_version(void)
{
    return RIEMDP_VERSION;
}

static const struct {
    const char *name, *must;
} statuses[] = {
#define X(name, class, must, mend) {class, must},
    RIEMDP_STATUSES(X)
#undef X
};

const char *rdp_status(int status)
{
    return status == NO_MEMORY ? "memory" : status >= 0 && status < STATUS_COUNT ? statuses[status].name : "unknown";
}

const char *rdp_message(int status)
{
    return status == NO_MEMORY                    ? "needs more memory than there is"
           : status >= 0 && status < STATUS_COUNT ? statuses[status].must
                                                  : "is no status";
}

/* room for so many doubles, NULL where there isn't */
static double *room(struct rdp_manifold *h, size_t size)
{
    if (size > h->size) {
        free(h->work);
        h->work = size < SIZE_MAX / sizeof *h->work ? malloc(size * sizeof *h->work) : NULL;
        h->size = h->work ? size : 0;
    }
    return h->work;
}

int rdp_open(struct rdp_manifold **out, const char *name, size_t parameters, const int *parameter)
{
    if (!out)
        return STATUS_OUT_OF_RANGE;
    *out = NULL;
    const struct manifold_ops *ops = name && parameter ? manifold_lookup(name) : NULL;
    if (!ops || parameters != (ops->parameters ? (size_t)ops->parameters : 1))
        return STATUS_BAD_MANIFOLD;
    struct rdp_manifold *h = calloc(1, sizeof *h);
    if (!h)
        return NO_MEMORY;
    h->host.fail = fail;
    h->m.ops = ops;
    h->m.host = &h->host;
    for (size_t i = 0; i < parameters; i++)
        h->m.param[i] = parameter[i];
    int status = manifold_init(&h->m);
    if (status == STATUS_OK && !room(h, manifold_work(&h->m)))
        status = NO_MEMORY;
    if (status != STATUS_OK) {
        rdp_close(h);
        return status;
    }
    *out = h;
    return STATUS_OK;
}

void rdp_close(struct rdp_manifold *h)
{
    if (h)
        free(h->work);
    free(h);
}

size_t rdp_ambient(const struct rdp_manifold *h)
{
    return h ? h->m.ambient : 0;
}

size_t rdp_dim(const struct rdp_manifold *h)
{
    return h ? h->m.dim : 0;
}

int rdp_project(struct rdp_manifold *h, size_t n, const double *x, double *out)
{
    if (!h || !x || !out)
        return STATUS_OUT_OF_RANGE;
    return h->m.ops->project(&h->m, out, (struct points){x, h->m.ambient}, 0, n, h->work);
}

int rdp_check(struct rdp_manifold *h, size_t n, const double *x)
{
    if (!h || !x)
        return STATUS_OUT_OF_RANGE;
    return h->m.ops->check_point(&h->m, (struct points){x, h->m.ambient}, 0, n, h->work);
}

/* Two arguments, one of which may stand for as many as the other has, both checked: the second a point, or a vector
 * at the first. */
static int pair(struct rdp_manifold *h, size_t n_p, const double *p, size_t n_q, const double *q, int tangent,
                const double *out, struct points in[2], size_t *n)
{
    if (!h || !p || !q || !out || (n_p != n_q && n_p != 1 && n_q != 1))
        return STATUS_OUT_OF_RANGE;
    *n = n_p == 1 ? n_q : n_p;
    in[0] = (struct points){p, n_p == 1 ? 0 : h->m.ambient};
    in[1] = (struct points){q, n_q == 1 ? 0 : h->m.ambient};
    int status = h->m.ops->check_point(&h->m, in[0], 0, n_p, h->work);
    if (status == STATUS_OK)
        status = tangent ? h->m.ops->check_tangent(&h->m, in[0], in[1], 0, *n, h->work)
                         : h->m.ops->check_point(&h->m, in[1], 0, n_q, h->work);
    return status;
}

int rdp_dist(struct rdp_manifold *h, size_t n_p, const double *p, size_t n_q, const double *q, double *out)
{
    struct points in[2];
    size_t n;
    int status = pair(h, n_p, p, n_q, q, 0, out, in, &n);
    return status == STATUS_OK ? manifold_dist(&h->m, out, in[0], in[1], 0, n, h->work) : status;
}

int rdp_log(struct rdp_manifold *h, size_t n_p, const double *p, size_t n_q, const double *q, double *out)
{
    struct points in[2];
    size_t n;
    int status = pair(h, n_p, p, n_q, q, 0, out, in, &n);
    return status == STATUS_OK ? h->m.ops->log(&h->m, out, in[0], in[1], 0, n, h->work) : status;
}

int rdp_exp(struct rdp_manifold *h, size_t n_p, const double *p, size_t n_v, const double *v, double *out)
{
    struct points in[2];
    size_t n;
    int status = pair(h, n_p, p, n_v, v, 1, out, in, &n);
    return status == STATUS_OK ? manifold_exp(&h->m, out, in[0], in[1], 0, n, h->work) : status;
}

static struct points packed(const struct source *s, size_t begin, size_t end)
{
    const struct rdp_manifold *h = ((const void *const *)s->data)[0];
    const double *x = ((const void *const *)s->data)[1];
    (void)end;
    return (struct points){x + begin * h->m.ambient, h->m.ambient};
}

static int read_packed(const struct source *s, int lane, size_t begin, size_t end, double *work, struct points *out)
{
    (void)lane;
    (void)work;
    *out = packed(s, begin, end);
    return STATUS_OK;
}

/* total of the weights, one each without; 0 where they are none */
static double total_weight(size_t n, const double *weights)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        if (!(w >= 0 && w < INFINITY))
            return 0;
        total += w;
    }
    return total < INFINITY ? total : 0;
}

/* where a mean starts, by blocks as R adds them up; the first record that counts where there is no better point */
static void mean_start(manifold_t m, const struct source *x, const double *weights, double total, double *p,
                       double *work)
{
    double *acc = work, *rest = acc + 2 * m->ambient;
    int status = STATUS_OK;
    for (size_t j = 0; j < 2 * m->ambient; j++)
        acc[j] = 0;
    for (size_t begin = 0; begin < x->n && status == STATUS_OK; begin += x->block) {
        size_t count = x->n - begin < x->block ? x->n - begin : x->block;
        status = manifold_start_add(m, acc, x->get(x, begin, begin + count), weights ? weights + begin : NULL, 0, count,
                                    rest);
    }
    if (status == STATUS_OK && manifold_start_end(m, p, acc, total, rest) == STATUS_OK)
        return;
    size_t first = 0;
    while (weights && !(weights[first] > 0))
        first++;
    memcpy(p, x->get(x, first, first + 1).x, m->ambient * sizeof *p);
}

int rdp_mean(struct rdp_manifold *h, size_t n, const double *x, const double *weights, double tol, double *out,
             double *gradient_norm)
{
    enum { PAIRS = 6, STEPS = 1000 };
    double total = x ? total_weight(n, weights) : 0;
    if (!h || !x || !out || !(total > 0) || !(tol > 0 && tol < INFINITY))
        return STATUS_OUT_OF_RANGE;
    manifold_t m = &h->m;
    const void *data[] = {h, x};
    struct source source = {n, manifold_block(m), 1, packed, read_packed, data};
    size_t size = mean_work(m, &source, PAIRS), start = 2 * m->ambient + manifold_work(m);
    if (!room(h, size > start ? size : start))
        return NO_MEMORY;
    int status = rdp_check(h, n, x);
    if (status != STATUS_OK)
        return status;
    mean_start(m, &source, weights, total, out, h->work);
    struct mean_fit fit = {.tol = tol, .max_iter = STEPS, .memory = PAIRS};
    status = mean_run(m, &source, weights, out, &fit, h->work);
    if (gradient_norm)
        *gradient_norm = fit.gradient_norm;
    return status == STATUS_OK && fit.converged ? STATUS_OK
           : status == STATUS_CUT_LOCUS         ? status
                                                : STATUS_NO_CONVERGENCE;
}

/* n draws; a generator that fails jumps out */
static int draw(struct rdp_manifold *h, const struct laplace *law, const double *centre, size_t n, double *out)
{
    manifold_t m = &h->m;
    double *coords = h->work, *v = coords + m->dim, *rest = v + m->ambient;
    if (setjmp(h->back))
        return h->failed;
    for (size_t i = 0; i < n; i++) {
        int status = laplace_draw(law, &h->rng, coords, rest);
        if (status == STATUS_OK)
            status = manifold_from_coords(m, v, one(centre), one(coords), 0, 1, rest);
        if (status != STATUS_OK)
            return status;
        manifold_exp_total(m, out + i * m->ambient, centre, v, centre, rest);
    }
    return STATUS_OK;
}

int rdp_laplace(struct rdp_manifold *h, const double *centre, double sigma, size_t n, double *out)
{
    struct laplace law;
    if (!h || !centre || !out || !(sigma > 0 && sigma < INFINITY))
        return STATUS_OUT_OF_RANGE;
    if (!room(h, h->m.dim + h->m.ambient + manifold_work(&h->m)))
        return NO_MEMORY;
    int status = rdp_check(h, 1, centre);
    if (status == STATUS_OK && laplace_make(&law, &h->m, sigma) != STATUS_OK)
        status = STATUS_UNSUPPORTED;
    if (status != STATUS_OK)
        return status;
    rng_start(&h->rng, RNG_STREAM, &h->host);
    status = draw(h, &law, centre, n, out);
    rng_wipe(&h->rng);
    return status;
}

int rdp_random(size_t bytes, void *out)
{
    if (!out)
        return STATUS_OUT_OF_RANGE;
    return rng_system_bytes(out, bytes) ? STATUS_RANDOMNESS : STATUS_OK;
}
