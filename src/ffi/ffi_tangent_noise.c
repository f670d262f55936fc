/* Tangent noise for R. */
#include "ffi.h"
#include "tangent_noise.h"

struct tangent_noise_args {
    SEXP p;
    double n, sd, steps;
    int law, method;
};

static SEXP tangent_noise_body(struct call *c, struct rng *rng, void *data)
{
    const struct tangent_noise_args *in = data;
    manifold_t m = &c->m;
    struct arg p = ffi_arg(c, in->p, "p", KIND_POINT);
    int many = p.many && p.n != 1;
    size_t n = many ? p.n : (size_t)in->n, block = ffi_block(c), ambient = m->ambient;
    if (many && (double)n != in->n)
        ffi_abort_text("shape", "`n` must be the number of base points where there are many.");
    if (!p.n)
        ffi_abort_text("shape", "`p` must hold at least one point.");
    double *work = ffi_doubles(tangent_noise_work(m, block)), *frame = NULL, *base = ffi_doubles(ambient), step = 0;
    int framed = in->method == TANGENT_BASIS || in->method == TANGENT_GRAM_SCHMIDT;
    if (in->method != TANGENT_ISOMETRIC && in->law != TANGENT_GAUSSIAN)
        ffi_abort_text("argument", "the slower methods draw Gaussian noise only.");
    if (framed) {
        if ((double)m->dim * (double)ambient > 5e7)
            ffi_abort_text("argument", "the basis of this tangent space is too large to be stored.");
        frame = ffi_doubles(m->dim * ambient);
        double frame_work = (double)manifold_work(m) + 3 * (double)ambient + (double)m->dim;
        work = ffi_doubles(tangent_noise_work(m, block) + (size_t)frame_work);
    }
    struct result r = ffi_result(c, KIND_TANGENT, many ? &p : NULL, n, 1);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        double *out = ffi_result_block(&r, 0, begin);
        struct points x;
        int status = STATUS_OK;
        if (many || begin == 0) {
            x = ffi_block_points(c, &p, many ? begin : 0, many ? end : 1, 0, work);
            ffi_check_block(c, &p, x, NULL, x, many ? begin : 0, many ? end : 1, work);
            for (size_t j = 0; j < ambient; j++)
                base[j] = x.x[j];
        }
        if (!many)
            x = one(base);
        if (in->method == TANGENT_ISOMETRIC)
            status = tangent_noise(m, out, x, in->law, in->sd, rng, 0, end - begin, work);
        for (size_t i = 0; i < end - begin && in->method != TANGENT_ISOMETRIC && status == STATUS_OK; i++) {
            double *o = out + i * ambient;
            const double *q = at(x, i);
            int first = fresh(x, begin + i, 0);
            if (framed && first)
                status = tangent_frame(m, frame, q, in->method, work);
            if (!framed && first)
                status = tangent_chain_step(m, &step, q, in->sd, rng, work);
            if (status == STATUS_OK)
                status = framed ? tangent_noise_frame(m, o, frame, in->sd, rng, work)
                                : tangent_noise_chain(m, o, q, in->sd, step, (size_t)in->steps, rng, work);
            host_tick(m->host, (double)(begin + i), (double)n);
        }
        if (status != STATUS_OK)
            ffi_abort(c, status, "p", -1);
        ffi_result_done(&r, 0, begin, end);
        host_tick(m->host, (double)end, (double)n);
    }
    return r.x;
}

SEXP riemdp_tangent_noise(SEXP m, SEXP p, SEXP n, SEXP sd, SEXP law, SEXP method, SEXP steps, SEXP simulate)
{
    struct tangent_noise_args args = {p, ffi_number(n, "n"), ffi_number(sd, "sd"), ffi_number(steps, "steps"), 0, 0};
    double l = ffi_number(law, "law"), k = ffi_number(method, "method");
    if (!(args.n >= 0 && args.n <= 1e8) || args.n != floor(args.n))
        ffi_abort_text("argument", "`n` must be a count from 0 to 1e8.");
    if (!(args.sd > 0 && args.sd < INFINITY))
        ffi_abort_text("argument", "`sd` must be positive and finite.");
    if (!(args.steps >= 1 && args.steps <= 1e8))
        ffi_abort_text("argument", "`steps` must be a count from 1 to 1e8.");
    if (!(l == TANGENT_GAUSSIAN || l == TANGENT_LAPLACE) || !(k >= 1 && k <= TANGENT_CHAIN) || k != floor(k))
        ffi_abort_text("argument", "`law` and `method` must be numbers of a law and a method.");
    args.law = (int)l;
    args.method = (int)k;
    return ffi_with_rng(tangent_noise_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}
