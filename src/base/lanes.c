/* clock_gettime() is POSIX: strict dialects of C hide it otherwise */
#define _POSIX_C_SOURCE 199309L

#include "lanes.h"

#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* in seconds of one lane: what is shared at least, and what makes a round, which ends with a wait of some milliseconds where others
 * have the processors; the first is shorter, and the last where it doesn't pay */
static double shared_least = 0.03;
static const double FIRST = 0.04, ROUND = 0.2;

enum { SEEN_LEAST = 4 };

double lanes_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double lanes_least(double seconds)
{
    double before = shared_least;
    shared_least = seconds;
    return before;
}

static int shared(const struct lanes *l, size_t count)
{
    return l->most > 1 && !l->poor && l->seen >= SEEN_LEAST && count > 1 &&
           l->seconds * (double)count >= shared_least;
}

size_t lanes_round(const struct lanes *l, size_t left, size_t alone, size_t room)
{
    size_t most = left < room ? left : room;
    if (shared(l, most)) {
        double wanted = (l->tried ? ROUND : FIRST) / l->seconds;
        return wanted < (double)most ? (size_t)wanted + 1 : most;
    }
    return alone < most ? alone : most;
}

static void run_shared(int lanes, size_t count, void (*run)(void *data, size_t k, int lane), void *data)
{
    (void)lanes; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel for num_threads(lanes) schedule(dynamic, 1)
    for (long k = 0; k < (long)count; k++)
        run(data, (size_t)k, omp_get_thread_num());
#else
    for (size_t k = 0; k < count; k++)
        run(data, k, 0);
#endif
}

void lanes_run(struct lanes *l, size_t count, void (*run)(void *data, size_t k, int lane), void *data)
{
    int several = shared(l, count);
    double began = l->most > 1 ? lanes_clock() : 0;
    if (several) {
        run_shared(l->most, count, run, data);
    } else {
        for (size_t k = 0; k < count; k++)
            run(data, k, 0);
    }
    if (l->most < 2 || count == 0)
        return;
    double took = (lanes_clock() - began) / (double)count;
    if (several) {
        l->tried = 1;
        l->poor = took > 0.9 * l->seconds;
    } else {
        l->seconds = l->seen == 0 || took < l->seconds ? took : l->seconds;
        l->seen += count;
    }
}
