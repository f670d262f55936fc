/* libFuzzer target: every operation of every manifold table, outside R, with points and tangent vectors from arbitrary bytes.
 * Every buffer has exactly the size that the contract gives (manifold.h), so that the address sanitizer sees any access
 * beyond it; inputs must stay as they are, and an output written over an input must be the same. */
#include "manifold_registry.c"

#include "linalg.h"
#include "regression.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(struct host *host, int status)
{
    (void)host;
    (void)status;
}

/* the input's bytes, then an endless stream that depends on them */
struct bytes {
    const uint8_t *data;
    size_t size;
    uint64_t state;
};

static uint64_t next(struct bytes *b, size_t count)
{
    uint64_t x = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t byte;
        if (b->size) {
            byte = *b->data++;
            b->size--;
        } else {
            b->state ^= b->state << 13;
            b->state ^= b->state >> 7;
            b->state ^= b->state << 17;
            byte = (uint8_t)(b->state >> 32);
        }
        x = x << 8 | byte;
        b->state += byte;
    }
    return x;
}

/* one byte says of what kind, so that ordinary numbers, awkward ones and raw bit patterns all come up */
static double number(struct bytes *b)
{
    static const double awkward[] = {0,     -0.0,  1,      -1,    NAN,   INFINITY, -INFINITY, 1e300,
                                     1e-300, 5e-324, -1e154, 1e154, 1e-160, 1e17,     0.5,       1 + 1e-15};
    uint8_t kind = (uint8_t)next(b, 1);
    if (kind < 200)
        return ((double)next(b, 2) - 32768) / 16384;
    if (kind < 230)
        return awkward[kind % 16];
    if (kind < 240)
        return ((double)next(b, 2) - 32768) * 1e-12;
    uint64_t bits = next(b, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exactly `n` doubles; none at all is a buffer of size 0 */
static double *make(struct bytes *b, size_t n)
{
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n && b; i++)
        x[i] = number(b);
    return x;
}

static double *copy_of(const double *x, size_t n)
{
    double *y = malloc(n * sizeof *y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

static void must(int ok, manifold_t m, int op, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s, operation %d: %s\n", m->ops->name, op, what);
    abort();
}

enum { MOST = 4, OPS = 26 };

struct input {
    struct points p[MOST];
    size_t doubles[MOST];
};

/* runs operation `op`; *length says how many doubles a record it writes, 0 if it isn't there */
static int run(manifold_t m, int op, double *out, double *out2, const struct points *x, size_t n, double t, double *work,
               size_t *length, int dry)
{
    const struct manifold_ops *o = m->ops;
    size_t a = m->ambient, d = m->dim;
#define OP(number, there, len, call)                                                                                    \
    case number:                                                                                                       \
        *length = (there) ? (len) : 0;                                                                                 \
        if (dry || !(there))                                                                                           \
            return STATUS_UNSUPPORTED;                                                                                 \
        return call;
    switch (op) {
        OP(0, 1, a, o->project(m, out, x[0], 0, n, work))
        OP(1, 1, a, o->project_tangent(m, out, x[0], x[1], 0, n, work))
        OP(2, 1, a, o->exp(m, out, x[0], x[1], 0, n, work))
        OP(3, 1, a, o->log(m, out, x[0], x[2], 0, n, work))
        OP(4, 1, 1, o->inner(m, out, x[0], x[1], x[3], 0, n, work))
        OP(5, 1, 1, manifold_dist(m, out, x[0], x[2], 0, n, work))
        OP(6, 1, a, manifold_transport(m, out, x[0], x[2], x[1], 0, n, work))
        OP(7, 1, d, manifold_coords(m, out, x[0], x[1], 0, n, work))
        OP(8, 1, a, manifold_from_coords(m, out, x[0], x[3], 0, n, work)) /* coordinates: x[3] has dim doubles a record */
        OP(9, 1, a, manifold_carry(m, out, x[0], x[2], x[1], 0, n, work))
        OP(10, 1, 1, manifold_log_density(m, out, x[0], x[1], 0, n, work))
        OP(11, 1, a, manifold_jacobi(m, out, out2, x[0], x[1], (struct points){&t, 0}, x[3], 0, n, work))
        OP(12, 1, a, manifold_pole_ladder(m, out, x[0].x, x[2].x, x[1].x, 2, work))
        OP(13, 1, a, (manifold_to_ball(m, out, x[0].x, fabs(t), x[2], 0, n, work), STATUS_OK))
        OP(14, o->to_origin, a, o->to_origin(m, out, x[0].x, x[2], 0, n, work))
        OP(15, o->from_origin, a, o->from_origin(m, out, x[0].x, x[2], 0, n, work))
        OP(16, o->origin, a, (o->origin(m, out), STATUS_OK))
        OP(17, 1, 1, o->check_point(m, x[0], 0, n, work))
        OP(18, 1, 1, o->check_tangent(m, x[0], x[1], 0, n, work))
    case 19: /* sum of logarithms; out: the sum, out2: the sum of squares; weights are from x[3] */
        *length = a;
        if (dry)
            return STATUS_OK;
        for (size_t j = 0; j < a; j++)
            out[j] = 0;
        out2[0] = 0;
        return manifold_log_sum(m, out, out2, x[0].x, x[2], NULL, 0, n, work);
    case 20:
        *length = 2;
        if (!dry)
            manifold_ball_bounds(m, x[0].x, fabs(t), out, out + 1, work);
        return STATUS_OK;
    case 21:
        *length = o->radial ? 2 : 0;
        if (!dry && o->radial && t > 0 && t < m->rho_max)
            o->radial(m, t, out, out + 1);
        return STATUS_OK;
    case 22:
        *length = o->radial_accept ? 1 : 0;
        if (dry || !o->radial_accept)
            return STATUS_OK;
        t = norm2(d, x[3].x); /* the length of the coordinates */
        if (t > 0 && t < m->rho_max) {
            *out = o->radial_accept(m, x[3].x, t, work);
            must(!(*out > 1e-9), m, op, "the bounding area is below the true one");
        }
        return STATUS_OK;
    case 23:
        *length = o->add_hessian ? d * d : 0;
        if (dry || !o->add_hessian)
            return STATUS_OK;
        for (size_t j = 0; j < d * d; j++)
            out[j] = 0;
        return o->add_hessian(m, out, x[3].x, work);
    case 24: /* both adjoints of exp, from numbers that need not fit together */
        *length = o->exp_adjoint ? a : 0;
        if (dry || !o->exp_adjoint)
            return STATUS_UNSUPPORTED;
        return o->exp_adjoint(m, out, out2, x[0], x[1], x[2], x[3], 0, n, work);
    case 25: { /* a record's gradient as a total function: finite, whatever comes */
        struct regression r = {
            .m = m, .q = 1, .loss = REGRESSION_HUBER, .cutoff = 0.5, .clip = fabs(t) > 0 ? fabs(t) : 1, .total = 1};
        struct regression_records records = {NULL, NULL, out, out2};
        *length = a;
        if (dry)
            return STATUS_OK;
        must(regression_block(&r, x[0].x, x[1].x, one(&t), x[2], 1, records, work) == STATUS_OK, m, op,
             "a total residual failed");
        must(all_finite(a, out) && all_finite(a, out2), m, op, "a total residual is not finite");
        return STATUS_OK;
    }
    default:
        *length = 0;
        return STATUS_OK;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size, 88172645463325252ull};
    struct host host = {.fail = fail};
    struct manifold m;
    memset(&m, 0, sizeof m);
    m.host = &host;
    m.ops = registry[next(&b, 1) % (sizeof registry / sizeof *registry)];
    uint8_t shape = (uint8_t)next(&b, 1);
    int op = (int)(next(&b, 1) % OPS);
    for (int i = 0; i < 2; i++)
        m.param[i] = (int)(shape % 16 == 15 ? next(&b, 4) & 0xfffff : shape % 64 == 14 ? 19 + next(&b, 1) % 9 : 1 + next(&b, 1) % 6);
    m.floor = shape & 16 ? 0 : 1e-10;
    if (m.ops->init(&m) != STATUS_OK || m.ambient > 800)
        return 0;
    size_t n = 1 + next(&b, 1) % 3, length;
    uint8_t plan = (uint8_t)next(&b, 1);
    double t = number(&b);
    if (op >= 12 && op <= 15)
        plan |= 8; /* these take one base */
    if (op == 12 || op == 16 || op >= 20)
        n = 1;
    run(&m, op, NULL, NULL, NULL, n, t, NULL, &length, 1);
    if (length == 0)
        return 0;

    /* x[0], x[2]: points; x[1], x[3]: tangent vectors at x[0] (or x[3]: coordinates) */
    struct regression one_predictor = {.m = &m, .q = 1};
    size_t work_size = op == 10 || op == 11 ? manifold_numeric_work(&m)
                       : op == 25           ? regression_block_work(&one_predictor, 1)
                                            : manifold_work(&m);
    double *work = make(NULL, work_size), *x[MOST];
    size_t len[MOST], count[MOST];
    struct points in[MOST];
    for (int i = 0; i < MOST; i++) {
        len[i] = i == 3 && (op == 8 || op == 22 || op == 23) ? m.dim : m.ambient;
        count[i] = (plan >> (3 + i) & 1) ? 1 : n;
        if (i == 0 && op == 19)
            count[i] = 1;
        x[i] = make(&b, len[i] * count[i]);
        in[i] = (struct points){x[i], count[i] == 1 && n > 1 ? 0 : len[i]};
    }
    /* most often real points and tangent vectors: as the layer above hands them down */
    if ((plan & 7) != 0) {
        for (int i = 0; i < MOST; i += 2)
            for (size_t k = 0; k < count[i]; k++) {
                double *r = x[i] + k * len[i];
                struct points one = {r, 0};
                if (m.ops->project(&m, r, one, 0, 1, work) != STATUS_OK || m.ops->check_point(&m, one, 0, 1, work) != STATUS_OK)
                    goto end;
            }
        for (int i = 1; i < MOST; i += 2)
            for (size_t k = 0; k < count[i] && len[i] == m.ambient; k++) {
                double *r = x[i] + k * len[i];
                if (m.ops->project_tangent(&m, r, (struct points){at(in[0], k), 0}, (struct points){r, 0}, 0, 1, work) != STATUS_OK)
                    goto end;
            }
    }
    size_t records = op == 19 || op == 12 || op == 16 ? 1 : n;
    double *out = make(NULL, length * records), *out2 = make(NULL, (op == 19 ? 1 : m.ambient) * n), *before[MOST];
    for (int i = 0; i < MOST; i++)
        before[i] = copy_of(x[i], len[i] * count[i]);
    int status = run(&m, op, out, out2, in, n, t, work, &length, 0);
    for (int i = 0; i < MOST; i++)
        must(memcmp(before[i], x[i], len[i] * count[i] * sizeof(double)) == 0, &m, op, "an input was changed");
    must(status >= 0 && status < STATUS_COUNT, &m, op, "no such status");
    if (op == 13)
        for (size_t k = 0; k < n; k++) /* total, whatever comes in */
            must((plan & 7) == 0 || all_finite(m.ambient, out + k * m.ambient), &m, op, "the ball holds something not finite");

    /* aliasing: output over each input of the same stride */
    static const int aliased[] = {0, 1, 2, 3, 6, 7, 8, 9};
    for (size_t k = 0; k < sizeof aliased / sizeof *aliased && status == STATUS_OK; k++) {
        if (op != aliased[k])
            continue;
        for (int i = 0; i < MOST; i++) {
            int used = i == 0 || (i == 1 && (op == 1 || op == 2 || op == 6 || op == 7 || op == 9)) ||
                       (i == 2 && (op == 3 || op == 6 || op == 9)) || (i == 3 && op == 8);
            if (!used || count[i] != n || len[i] != length || !in[i].stride)
                continue;
            memcpy(x[i], before[i], len[i] * count[i] * sizeof(double));
            int again = run(&m, op, x[i], out2, in, n, t, work, &length, 0);
            must(again == status, &m, op, "another status when written over an input");
            must(memcmp(x[i], out, length * n * sizeof(double)) == 0, &m, op, "another result when written over an input");
            memcpy(x[i], before[i], len[i] * count[i] * sizeof(double));
        }
    }
    for (int i = 0; i < MOST; i++)
        free(before[i]);
    free(out);
    free(out2);
end:
    for (int i = 0; i < MOST; i++)
        free(x[i]);
    free(work);
    return 0;
}
