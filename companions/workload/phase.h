/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_PHASE_H
#define WORKLOAD_PHASE_H
/* Layer 2. Measures one phase of a job file: a spatial and a temporal pattern.
 *
 *   write        into a new file, its space taken but nothing in it
 *   re-write     over what is there
 *   read         what is there, after it was taken out of the memory of all nodes
 *   re-read      what is there, memory as the phase before left it
 *   read-modify-write   an access at a time: read, changed, written back to its place
 *
 * What is not there because no phase before wrote it is laid out outside the clock. */
#include <jansson.h>

#include "companions/workload/jobfile.h"
#include "companions/workload/measure.h"

struct workload_phase_result {
    struct workload_measured m;         /* bytes: twice the data in read-modify-write */
    const struct workload_phase *phase; /* borrowed */
    int64_t n;                          /* repetitions of the pattern */
    int64_t accesses, calls;            /* of all processes */
    int64_t file_bytes;
    int tries;         /* amounts that were tried */
    const char *limit; /* what kept the amount from growing: "bytes", "buffer", "memory", "time",
                          "space", "file size"; NULL: nothing did */
};

/* Whether all phases can be planned with the memory that there is, and the data
 * fit into the buffer, of an amount that is to be found those of the first try. Nothing is made yet. Collective over c->comm. name: of the job file. needed: [out] bytes of the processes of this node.
 * Returns 0, or ERR_USAGE with place, directive and value. */
int workload_phases_check(const struct workload_context *c, const struct nodes *n,
                          const struct workload_jobfile *j, const char *name, double *needed);

/* The phase with the longest file, of an amount that is to be found that of the first try; NULL: there
 * are only pauses. bytes: [out] its length. Local. */
const struct workload_phase *workload_phases_longest(const struct workload_jobfile *j, int procs,
                                                     int64_t *bytes);

/* Puts place and title of a phase before the message that is there. name: of the job file. Local. */
void workload_phase_place(const struct workload_phase *p, const char *name);

/* Measures. Collective over c->comm. [out] r, to be freed by workload_times_free(&r->m.times).
 * Returns 0 or what went wrong; wrong data are in the findings. */
int workload_phase_measure(struct workload_context *c, const struct workload_phase *p,
                           struct workload_phase_result *r);

/* A phase's element of the result. New reference. Local. */
json_t *workload_phase_json(const struct workload_phase_result *r);

#endif
