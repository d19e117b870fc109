/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_PLAN_H
#define WORKLOAD_PLAN_H
/* Layer 2, free of MPI. From a working point to the calls of one process. Pure: the same point,
 * seed and rank give the same calls anywhere.
 *
 * Without holes (contMean at least sizeMean) a process sees the whole file, uniqueBytes long, its
 * own part beginning at rank / processNum of it. With holes its view is blocks of contMean bytes,
 * the processes' blocks interleaved, and positions below are positions in that view:
 *
 *     file   |0000|1111|2222|0000|1111|2222|...     contMean bytes each
 *     view of process 1  |1111|1111|...
 *
 * A process with a contMean of its own has blocks of that length.
 *
 * Listed calls with a span lie at places of their own (companions/workload/point.h).
 */
#include <stdint.h>

#include "companions/workload/point.h"

#define WORKLOAD_NO_SEEK INT64_C(-1)

struct workload_call {
    int kind;
    int64_t bytes;
    int64_t offset; /* where it begins in the view; with the shared pointer not known: -1 */
    int64_t seek; /* the pointer is moved there first, the shared one by all; or WORKLOAD_NO_SEEK */
};

struct workload_plan {
    int64_t n;
    struct workload_call *call; /* owned */
    int64_t bytes, longest_bytes;
    int64_t begin; /* of the individual pointer */
};

/* Length of the file, or of the process's file, that the point needs. Local. */
int64_t workload_point_length(const struct workload_point *p, bool separate, int rank);

/* Whether processes see a file with holes. Local. */
bool workload_point_holes(const struct workload_point *p);

/* What a process sees of the file: blocks, a tile apart, from begin on. Without holes it is one
 * block that does not end. */
struct workload_view {
    int64_t block_bytes, begin, tile_bytes;
};
struct workload_view workload_point_view(const struct workload_point *p, int rank);

/* Position in the file of a position in the view. Local. */
static inline int64_t workload_view_place(const struct workload_view *v, int64_t offset)
{
    return v->begin + offset / v->block_bytes * v->tile_bytes + offset % v->block_bytes;
}

/* Memory that the replay of a point takes of a rank, at most, plan and data; NUM_ENDLESS
 * (base/num.h): more than can be. depth: nonblocking calls in flight. Local. */
int64_t workload_plan_memory(const struct workload *w, int no, int rank, int64_t buffer_bytes,
                             int depth);

/* The calls of a rank. no: of the point in its workload. [out] plan, to be freed. Returns 0 or
 * ERR_NOMEM. */
int workload_plan_make(const struct workload *w, int no, int rank, struct workload_plan *plan);
void workload_plan_free(struct workload_plan *plan);

/* Memory for data, in slots that hold a call: reading calls take theirs in turn, and there are more
 * than calls in flight, or as many as calls; writing calls of a view with holes have one each. */
struct workload_slots {
    int64_t bytes, reads_n, writes_n; /* of a slot; calls */
    int64_t read, write;              /* slots */
};

/* [out] s. Returns 0, or ERR_USAGE where what must lie ready does not fit into the buffer. Local. */
int workload_plan_slots(const struct workload_plan *plan, bool holes, int64_t buffer_bytes,
                        int depth, struct workload_slots *s);

/* The nine numbers of calls that were made, of all processes. */
struct workload_achieved {
    int64_t calls[WORKLOAD_KINDS], bytes[WORKLOAD_KINDS];
    int64_t
        sequential; /* calls that begin where the one before of the process ended; and its first */
    int64_t pieces; /* contiguous in the file */
};

/* Where a process stands between two calls. A call with the shared pointer continues unless that was
 * moved; the others are compared with the one before of the others. */
struct workload_stand {
    bool begun, placed; /* any call; any but with the shared pointer */
    int64_t next;       /* where the last one placed ended */
    int64_t begin;      /* of the process's own part */
};

/* Counts one call made. s: begin is set, the rest 0 before the first. Local. */
void workload_achieved_count(struct workload_achieved *a, const struct workload_view *v,
                             struct workload_stand *s, const struct workload_call *c);

/* The point that describes what was counted over all processes. Local. */
struct workload_point workload_achieved_point(const struct workload_achieved *a,
                                              const struct workload_point *asked);

#endif
