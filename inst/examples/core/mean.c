/* Distances, a Frechet mean and noise without R:
 *   cc -Iinst/include inst/examples/core/mean.c src/core/libriemdpcore.a -llapack -lblas -lm && ./a.out
 * An illustration: the mean is not private, and neither is the mean with noise of a scale that was made up. */
#include <riemdp.h>

#include <stdio.h>

static int stop(const char *what, int status)
{
    fprintf(stderr, "%s: %s: %s\n", what, rdp_status(status), rdp_message(status));
    return 1;
}

int main(void)
{
    /* covariance matrices, by columns */
    static const double x[] = {2, 0.5, 0.5, 1, 3, 1, 1, 2, 1, 0.2, 0.2, 4};
    double d[3], mean[4], near[4];
    int size = 2, status;
    rdp_manifold *m;
    if (rdp_version() != RIEMDP_VERSION)
        return stop("the library", 0);
    if ((status = rdp_open(&m, "spd_affine", 1, &size)) != 0)
        return stop("spd_affine", status);
    if ((status = rdp_dist(m, 1, x, 3, x, d)) == 0 && (status = rdp_mean(m, 3, x, NULL, 1e-10, mean, NULL)) == 0)
        status = rdp_laplace(m, mean, 0.1, 1, near);
    if (status == 0) {
        printf("distances from the first matrix: %.6f %.6f %.6f\n", d[0], d[1], d[2]);
        printf("Frechet mean: %.6f %.6f %.6f\n", mean[0], mean[1], mean[3]);
        printf("a Laplace draw around it: %.6f %.6f %.6f\n", near[0], near[1], near[3]);
    }
    rdp_close(m);
    return status ? stop("riemdp", status) : 0;
}
