/* One line a manifold, and what the program around brings with it. */
#include "manifold.h"

#include <string.h>

static const struct manifold_ops *const registry[] = {
    &manifold_euclidean,         &manifold_sphere,          &manifold_spd_affine,              &manifold_spd_bures,
    &manifold_spd_logeuclidean,  &manifold_hyperboloid,     &manifold_ball,                    &manifold_stiefel_euclidean,
    &manifold_stiefel_canonical, &manifold_grassmann,       &manifold_kendall,                 &manifold_product,
    &manifold_simplex_aitchison, &manifold_spd_logcholesky, &manifold_correlation_logcholesky, &manifold_correlation_offlog,
    &manifold_rotations,         &manifold_rotations_frames, &manifold_kendall_space,            &manifold_hermitian,
    &manifold_size_plane,        &manifold_size_space,       &manifold_psd,
};

const char *const manifold_model_name[MODEL_COUNT] = {
    [MODEL_NONE] = "none",           [MODEL_FLAT] = "flat",
    [MODEL_SPHERE] = "sphere",       [MODEL_HYPERBOLIC] = "hyperbolic",
    [MODEL_PLANAR] = "planar",       [MODEL_SPD] = "spd",
    [MODEL_SUBSPACES] = "grassmann", [MODEL_BURES] = "bures",
    [MODEL_FRAMES] = "stiefel",      [MODEL_FRAMES_EUCLIDEAN] = "stiefel_euclidean",
    [MODEL_PRODUCT] = "product",     [MODEL_HERMITIAN] = "hermitian",
};

static const struct manifold_ops *entered;

void manifold_enter(const struct manifold_ops *ops)
{
    entered = ops;
}

const struct manifold_ops *manifold_lookup(const char *name)
{
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return entered && strcmp(entered->name, name) == 0 ? entered : NULL;
}

int manifold_init(struct manifold *m)
{
    for (int i = 0; i < 2; i++)
        if (m->param[i] < 0 || m->param[i] > 1000000)
            return STATUS_BAD_MANIFOLD;
    int status = m->ops->init(m);
    int fits = status == STATUS_OK && (double)m->ambient * (double)(m->dim + 1) < 1e15 && m->ambient <= (size_t)1e8;
    return status == STATUS_OK && !fits ? STATUS_BAD_MANIFOLD : status;
}
