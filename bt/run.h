/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RUN_H
#define BT_RUN_H
/* Layer 3. One run of the benchmark: N_S steps, a dump every I_W of them, timed as [F93] 2.3 says.
 *
 * What lies inside the clock:
 *
 *   before   create, preallocate and open the file; staging buffer; one warm-up step, undone by the
 *            initial condition; barrier
 *   inside   the steps; per dump: staging, digest, write, agreement of the ranks, manifest, and
 *            durability as --sync says; what is still under way, durability and close at the end
 *   around   samples of what else keeps the processors busy (base/disturbance.h)
 *   after    residency of the file, statistics over ranks, norms; what --read asks for (bt/read.h)
 *
 * T_T is the longest time over ranks from the barrier to the end of the close. The time of the
 * slowest rank in staging, digests and calls of io/, of each dump and of the end, summed, is the *time
 * in I/O*; the rest of T_T is *computing beside it*. It may be another rank each time: those that are
 * done wait for it in the next exchange of the solver. Of the time in I/O, *data* is that of the slowest
 * rank, again each time, in the writer's calls and in flushing; what is left is *bookkeeping*: staging,
 * digests, agreement, manifest. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/par.h"
#include "base/cache.h"
#include "base/disturbance.h"
#include "bt/read.h"
#include "bt/solver/problem.h"
#include "bt/solver/solver.h"
#include "io/file.h"

struct progress;

/* The parts of T_T: the solver's phases stand first, those that io/ knows inside the clock, from
 * IO_PHASE_WRITE on, stand at BT_RUN_IO. */
enum bt_run_phase {
    BT_RUN_STAGE = BT_PHASES, /* the state is put into file order */
    BT_RUN_DIGEST,
    BT_RUN_IO,
    BT_RUN_SYNC = BT_RUN_IO + IO_PHASE_SYNC - IO_PHASE_WRITE,
    BT_RUN_STOP = BT_RUN_IO + IO_PHASES - IO_PHASE_WRITE, /* was a rank asked to stop? */
    BT_RUN_IDLE, /* what is left: waiting for the last rank at the end, and all between the others */
    BT_RUN_PHASES
};
const char *bt_run_phase_name(int phase);

struct bt_run_dump {
    int64_t step;
    double start_s;         /* of the first rank, after the start of the clock */
    double window_s;        /* of writing, from the first rank to start to the last to end */
    struct par_spread post; /* duration of the write call */
    struct par_spread wait; /* agreement on the dump before, manifest, durability */
};

struct bt_run {
    char writer[64]; /* BT_COMPUTE for a run that only computes */
    int round;       /* of --repeat, from 1 */
    double t_t_s;    /* T_T; time so far when interrupted */
    int64_t steps_done;
    int64_t bytes, requests_n; /* written by all ranks, their write calls */
    double create_s, open_s;   /* before the clock, slowest rank */
    double writing_s;          /* sum of the dumps' windows, or the slowest rank's io if longer */
    double in_io_s; /* staging, digests and all calls of io/: the slowest rank of each dump */
    double data_s;  /* of these, the writer's calls and flushing */
    struct par_spread compute, io, both; /* s: the caller's, data on their way, both at a time */
    struct par_spread phase[BT_RUN_PHASES];
    int64_t dumps_n;
    struct bt_run_dump *dump;            /* [dumps_n] */
    double xce[BT_NCOMP], xcr[BT_NCOMP]; /* NaN when it did not come to its end */
    bool completed;                      /* every step and every dump, and the norms */
    bool interrupted;                    /* asked to stop before the last step */
    struct disturbance disturbance;   /* what else kept the processors busy; its nodes on rank 0 */
    const struct bt_reference *norms; /* that they were compared with; NULL: none are known */
    bool norms_ok;
    double norms_deviation; /* largest relative one from these */
    json_t *file;           /* what io/ reports about the file, or NULL */
    struct cache cache;     /* of the file, when the clock stopped */
    bool resumed;           /* goes on with an earlier run's file: its time is not a result */
    bool bitwise;           /* the earlier run's kernel gives the same bits */
    int64_t first_step;     /* the step that it went on after; 0 without restart */
    int64_t kept_n;         /* dumps taken over; the first of dumps_n */
    int64_t claimed_n;      /* dumps that the manifest had called complete */
    bool kept_wrong; /* of those taken over, one before the last has turned out to be wrong */
    double read_s, ready_s; /* for reading the last of them; from opening the file to the clock */
    char past_kernel[64];
    struct bt_readings readings; /* of --read */
};

struct bt_run_request {
    MPI_Comm comm;
    const struct bt_problem *problem;
    struct bt_solver *solver;
    const struct io_spec *io;  /* NULL: only compute */
    const struct nodes *nodes; /* asked about the file in their memory, and what else they are busy
                                  with; NULL: not asked */
    int threads;               /* of this rank, that compute; 0: not known */
    const struct bt_setup *setup;
    const struct bt_read_plan *reads; /* after the run; NULL: nothing */
    const char *restart;              /* command line that continues the file after an
                                         interruption; NULL: none does */
    struct progress *progress;        /* NULL: silent; updated by the rank that has one */
};

/* Makes one run. Collective. [out] run, to be freed by bt_run_free, also after an error. Returns
 * the same code on every rank; ERR_INTERRUPT, with the file closed and its complete dumps known,
 * when a rank was asked to stop. An error of reading back leaves run->completed set. With
 * run->kept_wrong the run is to be made once more, with io->resume_seen. */
int bt_run_make(const struct bt_run_request *q, struct bt_run *run);
void bt_run_free(struct bt_run *run);

/* Seconds of a few steps, the slowest rank's; one step before them is not counted. Collective. */
int bt_run_probe(MPI_Comm comm, struct bt_solver *solver, int steps, double *seconds);

#endif
