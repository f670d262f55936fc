/* Tangent noise for R. */
#include "ffi.h"
#include "tangent_noise.h"

struct tangent_noise_args {
    SEXP p;
    double n, sd, steps;
    int law, method;
};

struct room {
    double *work, *frame, step; /* frame: of the methods that make one; step: of the chain */
    int framed;
};

static struct room make_room(const struct tangent_noise_args *in, manifold_t m, size_t block)
{
    struct room r = {.framed = in->method == TANGENT_BASIS || in->method == TANGENT_GRAM_SCHMIDT};
    if (in->method != TANGENT_ISOMETRIC && in->law != TANGENT_GAUSSIAN)
        ffi_abort_text("argument", "the slower methods draw Gaussian noise only.");
    size_t more = 0;
    if (r.framed) {
        if ((double)m->dim * (double)m->ambient > 5e7)
            ffi_abort_text("argument", "the basis of this tangent space is too large to be stored.");
        r.frame = ffi_doubles(m->dim * m->ambient);
        more = manifold_work(m) + 3 * m->ambient + m->dim;
    }
    r.work = ffi_doubles(tangent_noise_work(m, block) + more);
    return r;
}

/* one draw at q by one of the slower methods; first: q is another base point than before */
static int draw_slowly(const struct tangent_noise_args *in, manifold_t m, struct room *r, double *out, const double *q,
                       int first, struct rng *rng)
{
    int status = STATUS_OK;
    if (r->framed && first)
        status = tangent_frame(m, r->frame, q, in->method, r->work);
    if (!r->framed && first)
        status = tangent_chain_step(m, &r->step, q, in->sd, rng, r->work);
    if (status != STATUS_OK)
        return status;
    return r->framed ? tangent_noise_frame(m, out, r->frame, in->sd, rng, r->work)
                     : tangent_noise_chain(m, out, q, in->sd, r->step, (size_t)in->steps, rng, r->work);
}

/* base points begin <= i < end, or the one for all, which is read once and kept */
static struct points read_bases(struct call *c, struct arg *p, int many, size_t begin, size_t end, double *kept,
                                double *work)
{
    if (!many && begin > 0)
        return one(kept);
    struct points x = ffi_block_points(c, p, many ? begin : 0, many ? end : 1, 0, work);
    ffi_check_block(c, p, x, NULL, x, many ? begin : 0, many ? end : 1, work);
    for (size_t j = 0; j < c->m.ambient; j++)
        kept[j] = x.x[j];
    return many ? x : one(kept);
}

static SEXP tangent_noise_body(struct call *c, struct rng *rng, void *data)
{
    const struct tangent_noise_args *in = data;
    manifold_t m = &c->m;
    struct arg p = ffi_arg(c, in->p, "p", KIND_POINT);
    int many = p.many && p.n != 1, slow = in->method != TANGENT_ISOMETRIC;
    size_t n = many ? p.n : (size_t)in->n, block = ffi_block(c), ambient = m->ambient;
    if (many && (double)n != in->n)
        ffi_abort_text("shape", "`n` must be the number of base points where there are many.");
    if (!p.n)
        ffi_abort_text("shape", "`p` must hold at least one point.");
    struct room r = make_room(in, m, block);
    double *base = ffi_doubles(ambient);
    struct result out = ffi_result(c, KIND_TANGENT, many ? &p : NULL, n, 1);
    for (size_t begin = 0; begin < n; begin += block) {
        size_t end = begin + block < n ? begin + block : n;
        double *to = ffi_result_block(&out, 0, begin);
        struct points x = read_bases(c, &p, many, begin, end, base, r.work);
        int status = slow ? STATUS_OK : tangent_noise(m, to, x, in->law, in->sd, rng, 0, end - begin, r.work);
        for (size_t i = 0; i < end - begin && slow && status == STATUS_OK; i++) {
            status = draw_slowly(in, m, &r, to + i * ambient, at(x, i), fresh(x, begin + i, 0), rng);
            host_tick(m->host, (double)(begin + i), (double)n);
        }
        if (status != STATUS_OK)
            ffi_abort(c, status, "p", -1);
        ffi_result_done(&out, 0, begin, end);
        host_tick(m->host, (double)end, (double)n);
    }
    return out.x;
}

SEXP riemdp_tangent_noise(SEXP m, SEXP p, SEXP n, SEXP sd, SEXP law, SEXP method, SEXP steps, SEXP simulate)
{
    struct tangent_noise_args args = {p, ffi_number(n, "n"), ffi_number(sd, "sd"), ffi_number(steps, "steps"), 0, 0};
    static const char *const laws[] = {[TANGENT_GAUSSIAN] = "gaussian", [TANGENT_LAPLACE] = "laplace"};
    static const char *const methods[] = {[TANGENT_ISOMETRIC] = "isometric",
                                          [TANGENT_BASIS] = "basis",
                                          [TANGENT_GRAM_SCHMIDT] = "gram-schmidt",
                                          [TANGENT_CHAIN] = "chain"};
    if (!(args.n >= 0 && args.n <= 1e8) || args.n != floor(args.n))
        ffi_abort_text("argument", "`n` must be a count from 0 to 1e8.");
    if (!(args.sd > 0 && args.sd < INFINITY))
        ffi_abort_text("argument", "`sd` must be positive and finite.");
    if (!(args.steps >= 1 && args.steps <= 1e8))
        ffi_abort_text("argument", "`steps` must be a count from 1 to 1e8.");
    args.law = ffi_choice(law, "law", laws, 3);
    args.method = ffi_choice(method, "method", methods, 5);
    return ffi_with_rng(tangent_noise_body, &args, m, ffi_number(simulate, "simulate") != 0, 0);
}
