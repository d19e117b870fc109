/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_REPLAY_H
#define WORKLOAD_REPLAY_H
/* Layer 2. Replays a workload: its working points one after the other, each on a communicator of
 * its processes. */
#include <jansson.h>

#include "companions/workload/measure.h"
#include "companions/workload/plan.h"

/* What a point gave; complete on rank 0 of the run. */
struct workload_outcome {
    struct workload_measured m;
    const struct workload_point *asked; /* borrowed */
    struct workload_achieved achieved;  /* of all processes */
    int64_t bytes_min, bytes_max;       /* of the least and the busiest process */
    int in_flight_most;
};

/* Bytes that each file needs, and whether any point reads it. Local. */
void workload_replay_needs(const struct workload *w, int rank, int64_t bytes[WORKLOAD_FILES_MAX],
                           bool read[WORKLOAD_FILES_MAX]);

/* Whether the points can be replayed by so many processes, with so many files and by this library. Returns 0 or
 * ERR_USAGE. Local, the same on all ranks. */
int workload_replay_check(const struct workload_context *c, const struct workload *w,
                          const char *name);

/* Whether the calls of each point, and their data, fit into memory, and what is written with holes into
 * the buffer. Nothing is made yet. Collective over c->comm. name: of the workload. needed: [out] bytes of the
 * processes of this node. Returns 0, or
 * ERR_USAGE with place, number and remedy. */
int workload_replay_memory(const struct workload_context *c, const struct nodes *n,
                           const struct workload *w, const char *name, double *needed);

/* Replays one point; the files must be there (workload_context_file). Collective over c->comm.
 * [out] o, to be freed by workload_times_free(&o->m.times). Returns 0 or what went wrong; wrong data
 * are in the findings. */
int workload_replay_point(struct workload_context *c, const struct workload *w, int no,
                          struct workload_outcome *o);

/* A point's element of the result. New reference. Local. */
json_t *workload_outcome_json(const struct workload_outcome *o);

#endif
