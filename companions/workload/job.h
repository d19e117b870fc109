/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_JOB_H
#define WORKLOAD_JOB_H
/* Layer 2. A run of nht1-workload: its options, system, description and results. */
#include <jansson.h>
#include <stdio.h>

#include "base/nodes.h"
#include "base/sys.h"
#include "companions/workload/accessreplay.h"
#include "companions/workload/jobfile.h"
#include "companions/workload/measure.h"
#include "companions/workload/options.h"
#include "companions/workload/phase.h"
#include "companions/workload/replay.h"

struct workload_job {
    const struct workload_options *opt; /* borrowed */
    const char *name;                   /* of the description */
    struct workload_context context;
    bool files_begun;
    struct nodes nodes;
    struct disturbance disturbance; /* while it measured; its nodes on rank 0 */
    struct sys_fs fs;
    double node_bytes;     /* of memory that the processes of this node need */
    const char *component; /* of MPI-IO, as far as known */
    enum workload_job_kind { WORKLOAD_POINTS, WORKLOAD_PHASES, WORKLOAD_ACCESSES } kind;
    struct workload workload;                /* of points */
    struct workload_outcome *outcome;        /* [measured_n] */
    struct workload_jobfile jobfile;         /* of phases */
    struct workload_phase_result *phase;     /* [measured_n] */
    struct workload_accessfile accesses;     /* of accesses */
    struct workload_access_result *replayed; /* [1] */
    int measured_n;                          /* points, phases or replays that were begun */
    double took_s, paused_s;                 /* thinking between phases, of took_s */
    int64_t wrong_n;
    bool valid, done;
    char started[32];
};

/* What all measurements give, of point or phase number i of measured_n. */
static inline struct workload_measured *workload_job_measured(const struct workload_job *job, int i)
{
    return job->kind == WORKLOAD_POINTS   ? &job->outcome[i].m
           : job->kind == WORKLOAD_PHASES ? &job->phase[i].m
                                          : &job->replayed->m;
}

/* Reads the description and examines the system; nothing is written. Collective. [out]
 * job, to be freed by workload_job_free also after an error. */
int workload_job_make(struct workload_job *job, const struct workload_options *opt,
                      const char *name);

/* Whether the files of the run may be made, with room for all of them; job: not run yet. Nothing is
 * made. Collective. Returns 0, ERR_USAGE or ERR_IO. */
int workload_job_may(const struct workload_job *job);

/* Runs everything. Returns 0, ERR_VERIFY, ERR_INVALID or what went wrong; results so far are there
 * in any case. Collective. */
int workload_job_run(struct workload_job *job);
void workload_job_free(struct workload_job *job);

/* For people, on rank 0. */
void workload_job_heading(const struct workload_job *job, FILE *to);
void workload_job_plan(const struct workload_job *job, FILE *to);
void workload_job_results(const struct workload_job *job, FILE *to);

/* The whole result; job: a struct workload_job. New reference. On rank 0. */
json_t *workload_job_json(const void *job, int status);

#endif
