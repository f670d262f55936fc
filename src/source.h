/* A source of records: hands out blocks of points, packed where they are stored otherwise. Algorithms see records only
 * through it. */
#ifndef RIEMDP_SOURCE_H
#define RIEMDP_SOURCE_H

#include "manifold.h"

struct source {
    size_t n;     /* records */
    size_t block; /* most records a call */
    /* records begin <= i < end, numbered from 0 in what is returned; valid until the next call */
    struct points (*get)(const struct source *source, size_t begin, size_t end);
    const void *data;
    double *buffer;
};

#endif
