/* Products where their parts' numbers lie, without packing whole records: a part reads its own, in columns or in records. */
#include "manifold_product.h"
#include "simd.h"

static const int inputs_of[] = {[STRIDED_EXP] = 2, [STRIDED_LOG] = 2, [STRIDED_DIST] = 2, [STRIDED_TRANSPORT] = 3};

/* an operation of a part on packed records, checked first; distances are n numbers */
static int checked(manifold_t m, enum strided_operation op, double *out, const struct points *in, size_t n, double *work)
{
    int status = m->ops->check_point(m, in[0], 0, n, work);
    if (status == STATUS_OK)
        status = op == STRIDED_EXP ? m->ops->check_tangent(m, in[0], in[1], 0, n, work) : m->ops->check_point(m, in[1], 0, n, work);
    if (status == STATUS_OK && op == STRIDED_TRANSPORT)
        status = m->ops->check_tangent(m, in[0], in[2], 0, n, work);
    if (status != STATUS_OK)
        return status;
    switch (op) {
    case STRIDED_EXP:
        return manifold_exp(m, out, in[0], in[1], 0, n, work);
    case STRIDED_LOG:
        return m->ops->log(m, out, in[0], in[1], 0, n, work);
    case STRIDED_DIST:
        return manifold_dist(m, out, in[0], in[1], 0, n, work);
    default:
        return manifold_transport(m, out, in[0], in[1], in[2], 0, n, work);
    }
}

/* what a part that doesn't do it makes of its numbers, packed and unpacked here */
static int strided_part(const struct part *q, enum strided_operation op, double *out, size_t record, size_t coordinate,
                        const struct strided *in, size_t n, double *work)
{
    size_t block = block_of(&q->m), length = q->m.ambient;
    double *buffer = work, *rest = work + BUFFERS * buffer_of(&q->m);
    for (size_t b = 0; b < n; b += block) {
        size_t count = n - b < block ? n - b : block;
        struct points own[3];
        for (int k = 0; k < inputs_of[op]; k++) {
            double *to = buffer + (size_t)(k + 1) * buffer_of(&q->m);
            own[k] = (struct points){to, in[k].record ? length : 0};
            simd_move(in[k].record ? count : 1, length, in[k].x + b * in[k].record, in[k].record, in[k].coordinate, to, length, 1);
        }
        int status = checked(&q->m, op, op == STRIDED_DIST ? out + b : buffer, own, count, rest);
        if (status != STATUS_OK)
            return status;
        if (op != STRIDED_DIST)
            simd_move(count, length, buffer, length, 1, out + b * record, record, coordinate);
    }
    return STATUS_OK;
}

/* part by part where the parts' numbers lie; distances of a block are collected first */
int product_strided(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate, const struct strided *in,
                    size_t n, double *work)
{
    const struct product *whole = parts_of(m);
    double apart[MOST_BLOCK];
    struct strided own[3];
    if (op == STRIDED_DIST) /* one number a record */
        record = 1;
    for (size_t b = 0; b < n; b += MOST_BLOCK) {
        size_t count = n - b < MOST_BLOCK ? n - b : MOST_BLOCK;
        for (size_t i = 0; i < whole->count; i++) {
            const struct part *q = whole->part + i;
            for (int k = 0; k < inputs_of[op]; k++)
                own[k] = (struct strided){in[k].x + b * in[k].record + q->at * in[k].coordinate, in[k].record, in[k].coordinate};
            double *to = out + b * record, *part = op == STRIDED_DIST ? apart : to + q->at * coordinate;
            int status = q->m.ops->strided ? q->m.ops->strided(&q->m, op, part, record, coordinate, own, count, work) : STATUS_UNSUPPORTED;
            if (status == STATUS_UNSUPPORTED)
                status = strided_part(q, op, part, record, coordinate, own, count, work);
            if (status != STATUS_OK)
                return status;
            for (size_t j = 0; j < count && op == STRIDED_DIST; j++)
                to[j] = with_square(i ? to[j] : 0, q->root, apart[j]);
        }
        for (size_t j = 0; j < count && op == STRIDED_DIST; j++)
            out[b + j] = sqrt(out[b + j]);
    }
    return STATUS_OK;
}
