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

struct task {
    int (*run)(const void *data, size_t k, int lane);
    const void *data;
    size_t failed[LANES_MOST]; /* of each lane: its first k that failed */
    int bad[LANES_MOST];       /* and its worst status */
};

static void run_one(struct task *t, size_t k, int lane)
{
    int status = t->run(t->data, k, lane);
    if (status == STATUS_OK)
        return;
    if (status > t->bad[lane])
        t->bad[lane] = status;
    if (k < t->failed[lane])
        t->failed[lane] = k;
}

static void run_shared(int lanes, size_t count, struct task *t)
{
    (void)lanes; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel for num_threads(lanes) schedule(dynamic, 1)
    for (long k = 0; k < (long)count; k++)
        run_one(t, (size_t)k, omp_get_thread_num());
#else
    for (size_t k = 0; k < count; k++)
        run_one(t, k, 0);
#endif
}

int lanes_run(struct lanes *l, size_t count, int (*run)(const void *data, size_t k, int lane), const void *data,
              size_t *failed)
{
    struct task t = {.run = run, .data = data};
    int several = shared(l, count), bad = STATUS_OK;
    size_t first = count;
    for (int lane = 0; lane < l->most; lane++) {
        t.bad[lane] = STATUS_OK;
        t.failed[lane] = count;
    }
    double began = l->most > 1 ? lanes_clock() : 0;
    if (several) {
        run_shared(l->most, count, &t);
    } else {
        for (size_t k = 0; k < count; k++)
            run_one(&t, k, 0);
    }
    for (int lane = 0; lane < l->most; lane++) {
        bad = t.bad[lane] > bad ? t.bad[lane] : bad;
        first = t.failed[lane] < first ? t.failed[lane] : first;
    }
    if (failed)
        *failed = first;
    if (l->most < 2 || count == 0)
        return bad;
    double took = (lanes_clock() - began) / (double)count;
    if (several) {
        l->tried = 1;
        l->poor = took > 0.9 * l->seconds;
    } else {
        l->seconds = l->seen == 0 || took < l->seconds ? took : l->seconds;
        l->seen += count;
    }
    return bad;
}
