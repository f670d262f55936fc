/* Readers: descriptors of images, embeddings of graphs. Not private. */
#include "embedding.h"
#include "ffi.h"
#include "image.h"

#include <string.h>

struct image_args {
    SEXP images, weights;
    double eta;
};

static SEXP descriptor_body(struct call *c, void *data)
{
    enum { K = IMAGE_FEATURES };
    const struct image_args *in = data;
    SEXP dim = Rf_getAttrib(in->images, R_DimSymbol);
    if (TYPEOF(in->images) != REALSXP || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 4 ||
        INTEGER(dim)[2] != IMAGE_CHANNELS || XLENGTH(in->images) < 1)
        ffi_abort_text("shape", "`images` must be a numeric array of rows x columns x 3 x images.");
    if (TYPEOF(in->weights) != REALSXP || XLENGTH(in->weights) != IMAGE_CHANNELS ||
        !all_finite(IMAGE_CHANNELS, REAL(in->weights)))
        ffi_abort_text("argument", "`weights` must be three numbers.");
    if (!(in->eta > 0 && in->eta < INFINITY))
        ffi_abort_text("argument", "`eta` must be positive.");
    size_t rows = (size_t)INTEGER(dim)[0], cols = (size_t)INTEGER(dim)[1], n = (size_t)INTEGER(dim)[3];
    SEXP shape = ffi_keep(c, Rf_allocVector(INTSXP, 3));
    INTEGER(shape)[0] = INTEGER(shape)[1] = K;
    INTEGER(shape)[2] = (int)n;
    SEXP out = ffi_keep(c, Rf_allocArray(REALSXP, shape));
    double *work = ffi_doubles(image_descriptor_work(rows, cols));
    for (size_t i = 0; i < n; i++) {
        image_descriptor(REAL(out) + i * K * K, REAL(in->images) + i * rows * cols * IMAGE_CHANNELS, rows, cols,
                         REAL(in->weights), in->eta, work);
        host_tick(&c->host.base, (double)i, (double)n);
    }
    return out;
}

SEXP riemdp_covariance_descriptors(SEXP images, SEXP weights, SEXP eta)
{
    struct image_args args = {images, weights, ffi_number(eta, "eta")};
    return ffi_run(descriptor_body, &args, NULL, 0);
}

enum {
    EMBEDDING_NODES,
    EMBEDDING_NEGATIVES,
    EMBEDDING_EPOCHS,
    EMBEDDING_BURN_IN,
    EMBEDDING_LR,
    EMBEDDING_BURN_FACTOR,
    EMBEDDING_NUMBERS
};

struct embedding_args {
    SEXP edges, start;
    const double *number;
};

/* edges and start were checked by the caller */
static SEXP embedding_body(struct call *c, struct rng *rng, void *data)
{
    const struct embedding_args *in = data;
    size_t count = (size_t)XLENGTH(in->edges) / 2, nodes = (size_t)in->number[EMBEDDING_NODES], d = c->m.ambient;
    size_t *from = (size_t *)R_alloc(count, sizeof *from), *to = (size_t *)R_alloc(count, sizeof *to),
           *first = (size_t *)R_alloc(nodes + 1, sizeof *first), *order = (size_t *)R_alloc(count, sizeof *order);
    const double *edge = REAL(in->edges);
    if (strcmp(c->m.ops->name, "ball") != 0 || (size_t)XLENGTH(in->start) != nodes * d)
        ffi_abort_text("argument", "an embedding is one into hyperbolic(d, \"ball\"), and starts with a point a node.");
    for (size_t u = 0; u <= nodes; u++)
        first[u] = 0;
    for (size_t i = 0; i < count; i++) {
        from[i] = (size_t)edge[i] - 1;
        to[i] = (size_t)edge[i + count] - 1;
        if (i > 0 && (from[i] < from[i - 1] || (from[i] == from[i - 1] && to[i] <= to[i - 1])))
            ffi_abort_text("argument", "`edges` must be sorted and differ.");
        first[from[i] + 1]++;
    }
    for (size_t u = 0; u < nodes; u++)
        first[u + 1] += first[u];
    struct embedding e = {.nodes = nodes,
                          .dim = d,
                          .edges = count,
                          .from = from,
                          .to = to,
                          .first = first,
                          .negatives = (size_t)in->number[EMBEDDING_NEGATIVES],
                          .epochs = (size_t)in->number[EMBEDDING_EPOCHS],
                          .burn_in = (size_t)in->number[EMBEDDING_BURN_IN],
                          .lr = in->number[EMBEDDING_LR],
                          .burn_factor = in->number[EMBEDDING_BURN_FACTOR],
                          .rng = rng};
    double *x = ffi_doubles(nodes * d), *work = ffi_doubles(manifold_work(&c->m));
    for (size_t u = 0; u < nodes; u++)
        for (size_t j = 0; j < d; j++)
            x[u * d + j] = REAL(in->start)[u + j * nodes];
    if (c->m.ops->check_point(&c->m, (struct points){x, d}, 0, nodes, work) != STATUS_OK)
        ffi_abort_text("argument", "`start` must hold points of the ball.");
    SEXP out = ffi_keep(c, Rf_allocVector(VECSXP, 2)),
         points = ffi_keep(c, Rf_allocMatrix(REALSXP, (int)nodes, (int)d)),
         loss = ffi_keep(c, Rf_allocVector(REALSXP, (R_xlen_t)e.epochs));
    embedding_run(&e, x, REAL(loss), order, ffi_doubles(embedding_work(&e)));
    for (size_t u = 0; u < nodes; u++)
        for (size_t j = 0; j < d; j++)
            REAL(points)[u + j * nodes] = x[u * d + j];
    SET_VECTOR_ELT(out, 0, points);
    SET_VECTOR_ELT(out, 1, loss);
    return out;
}

static int count_within(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

static int settings_fit(const double *x)
{
    return count_within(x[EMBEDDING_NODES], 2, 1e7) && count_within(x[EMBEDDING_NEGATIVES], 0, 1e4) &&
           count_within(x[EMBEDDING_EPOCHS], 1, 1e6) && count_within(x[EMBEDDING_BURN_IN], 0, 1e6) &&
           x[EMBEDDING_LR] > 0 && x[EMBEDDING_LR] < 1e6 && x[EMBEDDING_BURN_FACTOR] > 0 &&
           x[EMBEDDING_BURN_FACTOR] <= 1;
}

SEXP riemdp_poincare_embedding(SEXP m, SEXP edges, SEXP start, SEXP numbers)
{
    struct embedding_args args = {edges, start, NULL};
    if (TYPEOF(numbers) != REALSXP || XLENGTH(numbers) != EMBEDDING_NUMBERS || TYPEOF(start) != REALSXP ||
        TYPEOF(edges) != REALSXP || XLENGTH(edges) < 2 || XLENGTH(edges) % 2)
        ffi_abort_text("argument", "`edges`, `start` and `numbers` must be numeric, of the right lengths.");
    const double *x = args.number = REAL(numbers);
    if (!settings_fit(x))
        ffi_abort_text("argument", "a setting of the embedding is out of its range.");
    for (R_xlen_t i = 0; i < XLENGTH(edges); i++)
        if (!count_within(REAL(edges)[i], 1, x[EMBEDDING_NODES]))
            ffi_abort_text("argument", "`edges` must hold numbers of nodes.");
    return ffi_with_rng(embedding_body, &args, m, 1, 0);
}
