/* Tangent noise one draw at a time inside C, as optimisers take it: built by noise.R beside copies of the package's kernels. */
#include "tangent_noise.h"

#include <R.h>
#include <string.h>
#include <time.h>

static void fail(struct host *host, int status)
{
    (void)host;
    Rf_error("status %d", status);
}

/* CPU seconds of n draws at p; the last one in out */
void noise_single(char **name, int *param, double *p, double *sd, double *n, double *out, double *seconds)
{
    struct host host = {.fail = fail};
    struct manifold m;
    struct rng rng;
    memset(&m, 0, sizeof m);
    m.host = &host;
    m.ops = manifold_lookup(*name);
    m.param[0] = *param;
    if (!m.ops || m.ops->init(&m) != STATUS_OK)
        Rf_error("no such manifold");
    double *work = (double *)R_alloc(tangent_noise_work(&m, 1), sizeof *work);
    rng_start(&rng, RNG_STREAM, &host);
    clock_t start = clock();
    for (double i = 0; i < *n; i++)
        if (tangent_noise(&m, out, one(p), TANGENT_GAUSSIAN, *sd, &rng, 0, 1, work) != STATUS_OK)
            Rf_error("no noise");
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    rng_wipe(&rng);
}
