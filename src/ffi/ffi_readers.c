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

struct embedding_args {
    SEXP edges, start;
    struct embedding settings;
};

/* edges and start were checked by the caller */
static SEXP embedding_body(struct call *c, struct rng *rng, void *data)
{
    const struct embedding_args *in = data;
    size_t count = (size_t)XLENGTH(in->edges) / 2, nodes = in->settings.nodes, d = c->m.ambient;
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
    struct embedding e = in->settings;
    e.dim = d;
    e.edges = count;
    e.from = from;
    e.to = to;
    e.first = first;
    e.rng = rng;
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

SEXP riemdp_poincare_embedding(SEXP m, SEXP edges, SEXP start, SEXP settings)
{
    if (TYPEOF(start) != REALSXP || TYPEOF(edges) != REALSXP || XLENGTH(edges) < 2 || XLENGTH(edges) % 2)
        ffi_abort_text("argument", "`edges` and `start` must be numeric, of the right lengths.");
    struct embedding_args args = {
        edges,
        start,
        {.nodes = (size_t)ffi_count(ffi_field(settings, "nodes"), "nodes", 2, 1e7),
         .negatives = (size_t)ffi_count(ffi_field(settings, "negatives"), "negatives", 0, 1e4),
         .epochs = (size_t)ffi_count(ffi_field(settings, "epochs"), "epochs", 1, 1e6),
         .burn_in = (size_t)ffi_count(ffi_field(settings, "burn_in"), "burn_in", 0, 1e6),
         .lr = ffi_range(ffi_field(settings, "lr"), "lr", 0x1p-1022, 1e6),
         .burn_factor = ffi_range(ffi_field(settings, "burn_factor"), "burn_factor", 0x1p-1022, 1)}};
    for (R_xlen_t i = 0; i < XLENGTH(edges); i++)
        if (!(REAL(edges)[i] >= 1 && REAL(edges)[i] <= (double)args.settings.nodes) ||
            REAL(edges)[i] != floor(REAL(edges)[i]))
            ffi_abort_text("argument", "`edges` must hold numbers of nodes.");
    return ffi_with_rng(embedding_body, &args, m, 1, 0);
}
