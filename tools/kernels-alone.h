/* For programs that use the package's kernels without the package: every table but that of a user's manifold, which needs R,
 * and a host that does nothing between steps. */
#include "manifold_registry.c"

static int refuse(struct manifold *m)
{
    (void)m;
    return STATUS_BAD_MANIFOLD;
}
const struct manifold_ops manifold_custom = {.name = "custom", .init = refuse};

static void tick(struct host *host, double done, double of)
{
    (void)host;
    (void)done;
    (void)of;
}
