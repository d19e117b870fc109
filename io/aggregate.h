/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_AGGREGATE_H
#define IO_AGGREGATE_H
/* Layer 1, free of MPI calls. Which ranks collect and write the data of all. Local. */
#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"

#define IO_AGGREGATORS_PER_NODE 4 /* where 0 are asked for */

static inline int64_t io_aggregators(int64_t asked, int64_t ranks, int64_t nodes)
{
    return num_min(asked > 0 ? asked : IO_AGGREGATORS_PER_NODE * nodes, ranks);
}

/* Whether rank r is one of them: they are spread evenly, rank 0 is the first. */
static inline bool io_aggregates(int64_t r, int64_t ranks, int64_t aggregators)
{
    const int64_t next = num_quotient_up(r * aggregators, ranks); /* the first from rank r on */
    return next < aggregators && next * ranks / aggregators == r;
}

#endif
