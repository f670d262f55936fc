/* One line a manifold. */
#include "manifold.h"

#include <string.h>

static const struct manifold_ops *const registry[] = {
    &manifold_euclidean,         &manifold_sphere,      &manifold_spd_affine, &manifold_spd_bures,
    &manifold_spd_logeuclidean,  &manifold_hyperboloid, &manifold_ball,       &manifold_stiefel_euclidean,
    &manifold_stiefel_canonical, &manifold_grassmann,   &manifold_kendall,    &manifold_custom,
};

const struct manifold_ops *manifold_lookup(const char *name)
{
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}
