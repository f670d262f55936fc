/* Tests of the core without R, for tools/test-core: laws of geometry, means in closed form, moments of noise, what
 * bad input gives. */
#include <riemdp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void check(int good, const char *what, const char *where)
{
    passed += good;
    failed += !good;
    if (!good)
        printf("FAILED: %s on %s\n", what, where);
}

static void status(int got, const char *want, const char *what)
{
    if (strcmp(rdp_status(got), want) != 0)
        printf("status %s where %s is due\n", rdp_status(got), want);
    check(strcmp(rdp_status(got), want) == 0, what, want);
}

/* stands in for the library's own, so that the operating system can be made to refuse */
static int refuse;
int rng_system_bytes(void *out, size_t n);
int rng_system_bytes(void *out, size_t n)
{
    FILE *f = refuse ? NULL : fopen("/dev/urandom", "rb");
    size_t got = f ? fread(out, 1, n, f) : 0;
    if (f)
        fclose(f);
    return got != n;
}

static double some(void)
{
    static unsigned long long state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static rdp_manifold *open(const char *name, int a, int b)
{
    int parameter[] = {a, b};
    rdp_manifold *m;
    if (rdp_open(&m, name, b ? 2 : 1, parameter) != 0) {
        printf("FAILED: %s doesn't open\n", name);
        exit(1);
    }
    return m;
}

enum { MOST = 64, MANY = 20 };

/* points around one of the manifold's own: `diagonal` rows of an identity, zeros without */
static void points(rdp_manifold *m, int rows, int diagonal, double spread, double *x)
{
    size_t n = rdp_ambient(m);
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < n; j++)
            x[i * n + j] = spread * some() + (diagonal && j % (size_t)(rows + 1) == 0);
    check(rdp_project(m, MANY, x, x) == 0 && rdp_check(m, MANY, x) == 0, "projections are points", "a manifold");
}

static void laws(const char *name, int a, int b, int rows, int diagonal)
{
    static double x[MANY * MOST], v[MANY * MOST], y[MANY * MOST], there[MANY], back[MANY], off[MANY], far[MANY];
    rdp_manifold *m = open(name, a, b);
    points(m, rows, diagonal, 0.3, x);
    size_t n = rdp_ambient(m);
    double worst = 0, asymmetric = 0, triangle = 0;
    check(rdp_log(m, 1, x, MANY, x, v) == 0 && rdp_exp(m, 1, x, MANY, v, y) == 0, "log and exp", name);
    check(rdp_dist(m, MANY, x, MANY, y, off) == 0 && rdp_dist(m, 1, x, MANY, x, there) == 0 &&
              rdp_dist(m, MANY, x, 1, x, back) == 0 && rdp_dist(m, 1, x + n, MANY, x, far) == 0,
          "distances", name);
    for (int i = 0; i < MANY; i++) {
        worst = fmax(worst, off[i]);
        asymmetric = fmax(asymmetric, fabs(there[i] - back[i]));
        triangle = fmax(triangle, there[i] - there[1] - far[i]);
        check(i == 0 || there[i] > 1e-3, "points differ", name);
    }
    check(worst < 2e-7, "exp undoes log", name);
    check(asymmetric < 1e-9, "distance is symmetric", name);
    check(triangle < 1e-9, "the triangle inequality", name);
    rdp_close(m);
}

static void means(void)
{
    double p[4], length;
    rdp_manifold *m = open("euclidean", 2, 0);
    check(rdp_mean(m, 3, (double[]){0, 0, 3, 0, 0, 6}, NULL, 1e-12, p, &length) == 0 && fabs(p[0] - 1) < 1e-10 &&
              fabs(p[1] - 2) < 1e-10,
          "the arithmetic mean", "euclidean");
    check(rdp_mean(m, 2, (double[]){0, 0, 3, 3}, (double[]){2, 1}, 1e-12, p, NULL) == 0 && fabs(p[0] - 1) < 1e-10,
          "a weighted mean", "euclidean");
    rdp_close(m);
    m = open("spd_affine", 2, 0);
    check(rdp_mean(m, 3, (double[]){1, 0, 0, 2, 8, 0, 0, 4, 27, 0, 0, 1}, NULL, 1e-12, p, &length) == 0 &&
              fabs(p[0] - 6) < 1e-8 && fabs(p[3] - 2) < 1e-8 && fabs(p[1]) < 1e-9 && length < 1e-9,
          "the geometric mean of diagonal matrices", "spd_affine");
    rdp_close(m);
    m = open("sphere", 2, 0);
    check(rdp_mean(m, 3, (double[]){0.6, 0.8, 0, 0.6, -0.4, 0.69282032302755092, 0.6, -0.4, -0.69282032302755092}, NULL,
                   1e-12, p, NULL) == 0 &&
              fabs(p[0] - 1) < 1e-8,
          "the middle of a triangle", "sphere");
    rdp_close(m);
}

/* mean and variance of the distance from the centre against theirs, to 6 standard errors (2 in 10^9 for both sides) */
static void noise(const char *name, int d, const double *centre, double sigma, double mean, double variance)
{
    enum { DRAWS = 20000 };
    rdp_manifold *m = open(name, d, 0);
    double *x = malloc(DRAWS * rdp_ambient(m) * sizeof *x), *r = malloc(DRAWS * sizeof *r), sum = 0, square = 0,
           fourth = 0;
    check(rdp_laplace(m, centre, sigma, DRAWS, x) == 0 && rdp_dist(m, 1, centre, DRAWS, x, r) == 0, "noise", name);
    for (int i = 0; i < DRAWS; i++) {
        double s = (r[i] - mean) * (r[i] - mean);
        sum += r[i] - mean;
        square += s;
        fourth += s * s;
    }
    check(fabs(sum / DRAWS) < 6 * sqrt(variance / DRAWS), "mean distance of noise", name);
    check(fabs(square / DRAWS - variance) < 6 * sqrt(fourth / DRAWS - square / DRAWS * (square / DRAWS)) / sqrt(DRAWS),
          "variance of the distance of noise", name);
    rdp_close(m);
    free(x);
    free(r);
}

static void bad_input(void)
{
    double x[] = {1, 0, 0}, off[] = {1, 1, 0}, none[] = {NAN, 0, 0}, opposite[] = {-1, 0, 0}, out[8];
    rdp_manifold *m;
    status(rdp_open(&m, "no such space", 1, (int[]){2}), "manifold", "an unknown name");
    check(m == NULL, "no handle where it doesn't open", "open");
    status(rdp_open(&m, "custom", 2, (int[]){2, 2}), "manifold", "a manifold that needs R");
    status(rdp_open(&m, "sphere", 2, (int[]){2, 2}), "manifold", "a parameter too many");
    status(rdp_open(&m, "sphere", 1, (int[]){0}), "manifold", "no dimension");
    status(rdp_open(&m, "sphere", 1, (int[]){-3}), "manifold", "a negative dimension");
    status(rdp_open(&m, "spd_affine", 1, (int[]){2000000}), "manifold", "too large");
    status(rdp_open(&m, "stiefel_euclidean", 2, (int[]){2, 3}), "manifold", "more columns than rows");
    status(rdp_open(NULL, "sphere", 1, (int[]){2}), "argument", "nowhere for the handle");
    rdp_close(NULL);
    check(rdp_dim(NULL) == 0 && rdp_ambient(NULL) == 0, "no handle, no size", "sizes");
    m = open("sphere", 2, 0);
    status(rdp_check(m, 1, off), "off_manifold", "a point off the sphere");
    status(rdp_check(m, 1, none), "not_finite", "no number");
    status(rdp_dist(m, 1, x, 1, off, out), "off_manifold", "distance to no point");
    status(rdp_log(m, 1, off, 1, x, out), "off_manifold", "log at no point");
    status(rdp_log(m, 1, x, 1, opposite, out), "cut_locus", "log of the antipode");
    status(rdp_exp(m, 1, x, 1, x, out), "not_tangent", "exp of no tangent vector");
    status(rdp_dist(m, 2, x, 3, x, out), "argument", "counts that don't fit");
    status(rdp_dist(m, 1, NULL, 1, x, out), "argument", "no points");
    status(rdp_dist(NULL, 1, x, 1, x, out), "argument", "no manifold");
    status(rdp_mean(m, 0, x, NULL, 1e-10, out, NULL), "argument", "no records");
    status(rdp_mean(m, 1, x, (double[]){-1}, 1e-10, out, NULL), "argument", "a negative weight");
    status(rdp_mean(m, 1, x, (double[]){0}, 1e-10, out, NULL), "argument", "no weight");
    status(rdp_mean(m, 1, off, NULL, 1e-10, out, NULL), "off_manifold", "the mean of no point");
    status(rdp_mean(m, 1, x, NULL, 0, out, NULL), "argument", "no tolerance");
    status(rdp_laplace(m, x, 0, 1, out), "argument", "no scale");
    status(rdp_laplace(m, x, NAN, 1, out), "argument", "a scale that is no number");
    status(rdp_laplace(m, off, 1, 1, out), "off_manifold", "noise around no point");
    status(rdp_random(8, NULL), "argument", "nowhere for bytes");
    refuse = 1;
    status(rdp_laplace(m, x, 1, 1, out), "randomness", "noise without randomness");
    status(rdp_random(8, out), "randomness", "bytes without randomness");
    refuse = 0;
    status(rdp_laplace(m, x, 1, 1, out), "none", "noise after that");
    rdp_close(m);
    m = open("stiefel_euclidean", 3, 1);
    status(rdp_laplace(m, x, 1, 1, out), "unsupported", "no law on this space");
    rdp_close(m);
    status(-1, "memory", "the name of a status");
    status(1000, "unknown", "the name of none");
}

int main(void)
{
    check(rdp_version() == RIEMDP_VERSION, "header and library have one version", "the version");
    laws("euclidean", 3, 0, 1, 0);
    laws("sphere", 4, 0, 5, 1);
    laws("hyperboloid", 3, 0, 4, 1);
    laws("ball", 3, 0, 1, 0);
    laws("spd_affine", 3, 0, 3, 1);
    laws("spd_logeuclidean", 3, 0, 3, 1);
    laws("spd_bures", 3, 0, 3, 1);
    laws("stiefel_euclidean", 5, 2, 5, 1);
    laws("stiefel_canonical", 5, 2, 5, 1);
    laws("grassmann", 5, 2, 5, 1);
    laws("kendall", 6, 0, 5, 1);
    laws("spd_logcholesky", 3, 0, 3, 1);
    laws("correlation_offlog", 4, 0, 4, 1);
    laws("correlation_logcholesky", 4, 0, 4, 1);
    laws("simplex_aitchison", 5, 0, 0, 1);
    laws("rotations", 3, 0, 3, 1);
    laws("rotations_frames", 4, 0, 4, 1);
    means();
    noise("euclidean", 3, (double[]){0, 1, 2}, 2, 6, 12); /* a gamma law */
    /* sinh(r) exp(-a r), a = 1/sigma, has mean 2a/(a^2 - 1) and variance 2(a^2 + 1)/(a^2 - 1)^2 */
    noise("ball", 2, (double[]){0.1, 0.2}, 0.5, 4.0 / 3, 10.0 / 9);
    bad_input();
    unsigned char bytes[2][16];
    check(rdp_random(16, bytes[0]) == 0 && rdp_random(16, bytes[1]) == 0 && memcmp(bytes[0], bytes[1], 16) != 0,
          "bytes are fresh", "random");
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
