/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_JOB_H
#define BT_JOB_H
/* Layer 3. A job of nht1-bt: what was asked, what it runs on, and what came out. Filled in by
 * bt/rounds (runs with and without writing) and bt/compute (T_C), judged by bt/judge, told by
 * bt/report and bt/result. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>

#include "bt/solver/decomp.h"
#include "bt/machine.h"
#include "bt/options.h"
#include "bt/prove.h"
#include "bt/run.h"
#include "bt/solver/solver.h"
#include "bt/tc.h"

/* What one run gave, and whether its norms and its file are right. */
struct bt_outcome {
    struct bt_run run;
    struct bt_proof proof; /* of the file; rank 0 alone has its JSON */
    bool serial_file;      /* a file in serial format was left */
    bool verified;         /* norms and file are right; all ranks agree */
    bool wrong;            /* norms or file are wrong */
    char verdict[640];     /* the same in words */
    char path[4096];       /* "" when no file was left */
    char decomp[40];
};

enum bt_tc_origin { BT_TC_UNKNOWN, BT_TC_FROM_STORE, BT_TC_MEASURED, BT_TC_FROM_USER };

struct bt_tc_result {
    enum bt_tc_origin origin;
    struct bt_tc_entry entry; /* time and the run it comes from; only the time when given */
    bool stored;              /* this job made the store better */
    char store[4096];         /* "" when there is none */
    bool unusable;            /* the store cannot be used, which a notice says once */
    bool noticed;             /* a notice says that an entry is not used, or a time not stored */
};

/* A member of the result that belongs to who uses the job (bt/search/search.h), made when it is needed. */
struct bt_addition {
    json_t *(*json)(const void *of); /* new reference; NULL: there is no such member */
    const void *of;                  /* borrowed */
};

struct bt_job {
    MPI_Comm comm;
    int rank, size;
    struct bt_setup *setup;
    struct bt_machine machine;
    struct bt_decomp decomp; /* the one asked for */
    struct bt_read_plan reads;
    char decomp_name[40];
    char kernel[64];      /* version and instruction set, "1/avx2" */
    char charged_utc[32]; /* when rank 0's kernels were timed that a simulation charges; or "" */
    char started_utc[32]; /* of rank 0 */
    char **hosts;         /* [size] on rank 0, NULL elsewhere */
    struct bt_outcome *outcome; /* [outcomes_n] in the order they ran */
    int outcomes_n;
    int rounds_done;    /* of --repeat, complete ones */
    bool rounds_over;   /* of --repeat auto: no more are to come */
    bool rounds_cut;    /* of these: the time was over before everything was decided */
    double rounds_s;    /* that they have taken, with all that is done after the clock; rank 0's */
    char undecided[96]; /* writers whose balance --repeat auto still asks for, "posix, mpiio" */
    int64_t warmup_bytes; /* written and removed before the first dump */
    double memory_bytes;  /* of the solver, sum over ranks */
    double setup_s;       /* making the solver: memory, forcing, initial condition; slowest rank */
    struct bt_tc_result tc;
    bool has_measured; /* a compute-only run of this job is in measured */
    struct bt_tc_entry measured;
    json_t *notices;           /* array of strings; rank 0's are reported */
    struct bt_addition search; /* of --io auto, to the result */
    struct io_lock *lock; /* of the file of all its runs, NULL: each run takes that of its file */
    json_t *left_out;     /* writers of --io all that cannot work here: [{"writer", "why"}] */
};

/* Finds out what the job runs on and checks that it can: decomposition, memory, names of results.
 * Collective. [out] job, to be freed by bt_job_free, also after an error. */
int bt_job_make(struct bt_job *job, MPI_Comm comm, struct bt_setup *setup);
void bt_job_free(struct bt_job *job);

/* Checks that the nodes have the memory that these candidates need, one after the other. Collective.
 * ERR_NOMEM. */
int bt_job_memory(const struct bt_job *job, const struct bt_candidate *c, int candidates_n);

/* A solver for the job, as its options ask. Collective. [out] solver, to be freed by bt_solver_free. */
int bt_job_solver(const struct bt_job *job, const struct bt_decomp *d, struct bt_solver **solver);

/* How a simulation takes the time of computing: "charged", "measured" or "free". Local. */
const char *bt_job_computing(const struct bt_job *job);

/* What a run is to do. All borrowed. */
struct bt_task {
    const struct bt_candidate *candidate; /* NULL: only compute */
    const struct bt_problem *problem;
    const char *path;  /* of the file */
    const char *label; /* what progress says */
    int round;
    bool remove; /* the file goes when it was found right */
};

/* Makes one run, with its progress shown, and has its file proved; notices of io/ are taken over.
 * Collective. [out] o, also after an error of the run, to be freed by bt_outcome_free. ERR_INTERRUPT
 * when asked to stop. */
int bt_job_make_run(struct bt_job *job, struct bt_solver *solver, const struct bt_task *task,
                    struct bt_outcome *o);
void bt_outcome_free(struct bt_outcome *o);

/* The same as one of the job's outcomes, the last; with --io all the file goes after it was proved.
 * writer: index of one of the setup's, or BT_COMPUTE_ONLY. */
#define BT_COMPUTE_ONLY (-1)
int bt_job_run(struct bt_job *job, struct bt_solver *solver, int writer, int round);

#endif
