/* Blocks of work on several lanes, threads of OpenMP. What comes out doesn't depend on how many there are, so their number may depend
 * on time: threads that wait for each other while a machine is busy cost more than they bring, so short work is done alone. */
#ifndef RIEMDP_LANES_H
#define RIEMDP_LANES_H

#include "ground.h"

enum { LANES_MOST = 64 };

/* {most} to begin with */
struct lanes {
    int most;       /* lanes there are */
    double seconds; /* that a block takes alone, once some are seen */
    size_t seen;
    int tried;      /* several */
    int poor;       /* they weren't faster: no more of it */
};

/* seconds since some time, which only go on */
double lanes_clock(void);
/* Work of fewer seconds isn't shared, .03 unless set otherwise; returns what held before. For tests. */
double lanes_least(double seconds);

/* How many of the blocks that are left make the next round: `alone` on one lane; on several, what takes a while, `room` at most. Between
 * rounds callers look for interrupts. */
size_t lanes_round(const struct lanes *l, size_t left, size_t alone, size_t room);
/* run(data, k, lane) for 0 <= k < count, lane < most; each k is run. The worst status, and in `failed` (may be NULL) the first k that
 * failed, or count. */
int lanes_run(struct lanes *l, size_t count, int (*run)(const void *data, size_t k, int lane), const void *data,
              size_t *failed);

#endif
