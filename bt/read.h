/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_READ_H
#define BT_READ_H
/* Layer 3. --read: the other half of a checkpoint. After a run, once its clock has stopped and its
 * file is closed, dumps are read back into the ranks' fields by the writer's own way (io/read.h),
 * once for each decomposition of reading and state of the page cache:
 *
 *   before   fields of the decomposition's shape, filled with NaN so that nothing old can pass for
 *            read; cold: the file is durable and dropped from every node's memory, warm: the same
 *            reading once, not counted; how much of the dumps is in memory; barrier
 *   inside   opening, with the manifest; the dumps
 *   around   samples of what else keeps the processors busy (base/disturbance.h)
 *   after    closing; the digests of what stands in the fields, against the manifest
 *
 * T_R is the longest time over ranks from the barrier to the last field filled. Of it, *data* is that
 * of the slowest rank in the writer's calls, of opening and of each dump, summed: the ranks agree after
 * each, so it may be another one each time. What is left is *bookkeeping*: finding the file, its
 * manifest, putting values into place, agreement. Of all dumps,
 * BT_READ_AT_ONCE are read in one go, each into a field of its own; then the clock stands while
 * they are compared. The file is then opened anew, without its manifest, so that no writer reads
 * ahead while the clock is stopped. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/disturbance.h"
#include "base/nodes.h"
#include "bt/options.h"
#include "bt/solver/decomp.h"
#include "bt/solver/solver.h"
#include "io/file.h"

#define BT_READ_SHAPES_MAX 8
#define BT_READ_AT_ONCE    4 /* dumps, each in a field of its own */

/* What is read back after each run, on one rank. */
struct bt_read_plan {
    int ranks; /* that hold cells, the first ones */
    int shapes_n;
    struct bt_decomp shape[BT_READ_SHAPES_MAX]; /* counts of 0 on a rank that holds none */
    bool own[BT_READ_SHAPES_MAX];               /* the decomposition of the writers */
    int64_t fields_n;                           /* dumps that are held at a time */
};

/* Interprets --read and what stands beside it for so many ranks, of which this is one, that write
 * with decomposition own. Local, the same on every rank. [out] plan: without shapes when nothing is
 * to be read. ERR_USAGE, with the option to change. */
int bt_read_plan_make(struct bt_read_plan *plan, const struct bt_setup *s,
                      const struct bt_decomp *own, int ranks, int rank);

/* Memory in bytes that the fields take on this rank beside the solver, at most; whole: on all ranks.
 * Local. */
int64_t bt_read_plan_bytes(const struct bt_read_plan *plan, bool whole);

struct bt_read_dump {
    int64_t dump; /* its number, from 0 */
    int64_t step;
    double t_s; /* of the call that filled its fields, slowest rank */
    bool right; /* what was read has the manifest's digest */
};

/* One reading. */
struct bt_reading {
    bool warm; /* else cold */
    bool own;
    char decomp[40];
    int ranks;                 /* that hold cells */
    double t_r_s;              /* T_R */
    double data_s;             /* of T_R, in the writer's calls: the slowest rank of each dump */
    int64_t bytes, requests_n; /* of all ranks: values read, read calls */
    int64_t file_bytes;        /* of the whole file */
    int64_t dump_bytes;        /* of the dumps read, as they lie in the file */
    int64_t cached_bytes;    /* of these, in memory before reading; -1: the system does not tell */
    bool in_memory, network; /* the file system */
    bool virtual;            /* a virtual machine, whose host has a cache of its own */
    bool right;              /* every dump */
    struct disturbance disturbance; /* what else kept the processors busy; its nodes on rank 0 */
    int64_t dumps_n;
    struct bt_read_dump *dump; /* [dumps_n] */
};

struct bt_readings {
    int n;
    struct bt_reading *reading; /* [n] in the order in which they were made */
};

struct bt_read_request {
    MPI_Comm comm;
    const struct bt_setup *setup;
    const struct bt_read_plan *plan;
    struct bt_solver *solver;  /* whose fields are filled where the decomposition is its own */
    const struct io_spec *io;  /* what was written */
    const struct nodes *nodes; /* asked what else they are busy with; NULL: not asked */
    const char *run_id;        /* of the run that wrote; NULL: not checked */
    int round;
};

/* Makes all readings of a file that is closed. Collective. Returns the same code on every rank;
 * dumps with a wrong digest are no error: reading.right. ERR_INTERRUPT when a rank was asked to
 * stop. [out] readings, to be freed by bt_readings_free, also after an error: those that came to
 * their end. */
int bt_read_make(const struct bt_read_request *q, struct bt_readings *to);
void bt_readings_free(struct bt_readings *r);

#endif
