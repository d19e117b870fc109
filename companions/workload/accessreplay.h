/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESSREPLAY_H
#define WORKLOAD_ACCESSREPLAY_H
/* Layer 2. Replays the accesses of a program (accessfile.h) as the same POSIX calls: process p of the program
 * is rank p, each rank makes its calls one after the other in the order that they had, with the offsets, sizes
 * and flags of open files that they had. Files have their whole length, their space
 * taken, and are open before the clock starts; those that the program has truncated or appends to are shortened
 * when they are opened (accessopen.h). What is not in the file is not replayed: creation, closing, the time
 * between calls, and which call of one process came before one of another. */
#include <jansson.h>

#include "companions/workload/accessfile.h"
#include "companions/workload/measure.h"

/* Complete on rank 0 of the run. */
struct workload_access_result {
    struct workload_measured m;
    int64_t calls[WORKLOAD_RUN_CALLS], bytes[WORKLOAD_RUN_CALLS]; /* of all ranks, by call */
    int64_t otherwise_n;          /* descriptors without an O_TRUNC or O_APPEND of the program's */
    int64_t bytes_min, bytes_max; /* of a process of the program */
};

/* Whether there are as many ranks as the program had processes, and memory for the calls and data of each. name:
 * of the file. needed: [out] bytes of those of this node. Collective over c->comm. Returns 0 or ERR_USAGE. */
int workload_access_check(const struct workload_context *c, const struct nodes *n,
                          const struct workload_accessfile *a, const char *name, double *needed);

/* Makes the files, lays out those that are read, and replays. a: with the runs of this rank. Collective over
 * c->comm. [out] r, to be freed by workload_times_free(&r->m.times). Returns 0 or what went wrong; wrong data
 * are in the findings. */
int workload_access_replay(struct workload_context *c, const struct nodes *n,
                           const struct workload_accessfile *a, struct workload_access_result *r);

/* Its member of the result. New reference. Local. */
json_t *workload_access_json(const struct workload_accessfile *a,
                             const struct workload_access_result *r);

#endif
