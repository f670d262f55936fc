/* A source of records: hands out blocks of points, packed where they are stored otherwise. Algorithms see records only
 * through it. */
#ifndef RIEMDP_SOURCE_H
#define RIEMDP_SOURCE_H

#include "manifold.h"

struct source {
    size_t n;     /* records */
    size_t block; /* most records a call */
    int lanes;    /* readers that may work at once */
    /* Records begin <= i < end, numbered from 0 in what is returned; valid until the next call. May raise, and uses lane 0. */
    struct points (*get)(const struct source *source, size_t begin, size_t end);
    /* The same for any lane, with its own workspace; a status instead of raising. */
    int (*read)(const struct source *source, int lane, size_t begin, size_t end, double *work, struct points *out);
    const void *data;
};

#endif
