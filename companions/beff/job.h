/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_JOB_H
#define BEFF_JOB_H
/* Layer 2. A run: the conditions under which it measures, and its results. */
#include <jansson.h>
#include <mpi.h>

#include "base/nodes.h"
#include "companions/beff/insight.h"
#include "companions/beff/measure.h"
#include "companions/beff/options.h"

/* Memory that L_max follows from. */
struct beff_memory {
    int64_t process_bytes; /* per process, the least of all processes */
    int64_t total_bytes;   /* process_bytes times the processes */
    const char *source;    /* where it comes from, in words; static */
    int64_t lmax_bytes;
    int64_t detected_bytes; /* per process, 0 when it cannot be found out */
};

/* The floating-point rate that the balance factor refers to. */
struct beff_rate {
    double flop_per_s;  /* 0: not known */
    int64_t cores_n;    /* that of a result of nht1-bt was measured on, 0: not known */
    const char *label;  /* "R_max" or what else it is; static */
    const char *source; /* an option's value; borrowed */
};

/* The topology of the processes: a periodic row and grids, which the MPI library may reorder to suit the
 * network. Source: [RK01] section 4. */
struct beff_topology {
    MPI_Comm row;             /* all processes; its ranks are those of the patterns (owned) */
    struct beff_grid grid[2]; /* of two and three dimensions, in ranks of row */
};

struct beff_job {
    MPI_Comm comm; /* borrowed */
    const struct beff_setup *setup;
    struct nodes nodes;
    struct disturbance disturbance; /* while it measured; its nodes on rank 0 */
    struct beff_topology topology;
    struct beff_plan plan;
    struct beff_memory memory;
    struct beff_rate rate;
    struct beff_measured measured;
    struct beff_summary summary; /* after beff_job_run */
    bool complete; /* there is a b_eff, also where beff_job_run has failed behind it */
    struct beff_insight insight;
    char **hosts; /* by rank of the row; on rank 0 of comm alone, as placement */
    const char *placement;
    char started_utc[32];
    json_t *stamps; /* judgements (base/stamp.h); "not-valid": why the result is none of b_eff */
};

/* Collective over comm. [out] t: to be freed by beff_topology_free, also after an error. Returns 0,
 * ERR_MPI or ERR_NOMEM. */
int beff_topology_make(MPI_Comm comm, struct beff_topology *t);
void beff_topology_free(struct beff_topology *t);

/* How the ranks of comm lie on nodes: "one node", "sequential" (a node is filled before the next
 * begins), "round-robin" (neighbours are never on one node), or "mixed". hosts: the names in rank
 * order. Local. */
const char *beff_placement(char *const *hosts, int n);

/* Finds out about nodes and memory, checks the targets of results and makes the patterns.
 * Collective over comm. [out] job: to be freed by beff_job_free, also after an error. Returns 0 or
 * what is wrong, the same on all ranks; fewer than two processes are ERR_USAGE. */
int beff_job_make(MPI_Comm comm, const struct beff_setup *setup, struct beff_job *job);
void beff_job_free(struct beff_job *job);

/* Measures. Collective. Returns as beff_measure, and ERR_INVALID when a value is missing. */
int beff_job_run(struct beff_job *job);

/* Whether the result is a value of b_eff by its definition. Local, the same on all ranks. */
bool beff_job_valid(const struct beff_job *job);

#endif
