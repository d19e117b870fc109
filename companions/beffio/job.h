/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_JOB_H
#define BEFFIO_JOB_H
/* Layer 2. A whole run of b_eff_io: what the job stands on, its partitions one after the other, and
 * what comes out of them. */
#include <jansson.h>

#include "base/nodes.h"
#include "base/sys.h"
#include "companions/beffio/bench.h"
#include "companions/beffio/options.h"
#include "companions/beffio/schedule.h"
#include "companions/beffio/value.h"

/* A partition and what came out. Values, criteria and sums of findings: on rank 0. */
struct beffio_part {
    struct beffio_bench bench;
    int64_t memory_bytes; /* of its nodes */
    int64_t nodes_n;
    int64_t expected_bytes; /* of all files, by the estimate */
    bool sample;            /* what is read back is looked at in samples */
    bool done;
    struct beffio_values values;
    struct beffio_findings wrong[BEFFIO_ACCESSES]; /* sum over ranks */
    struct beffio_criterion_result criterion[BEFFIO_CRITERIA];
    bool valid, capped;
    double cached_share; /* of all files before they were read; NAN: unknown */
    struct beffio_honesty honesty;
};

/* The value of one repetition, bytes/s: of the best partition, under the definition of the run. */
struct beffio_rep {
    double value;
    int procs;
    bool valid;      /* by what this repetition alone measured */
    int64_t wrong_n; /* in all of its partitions */
};

/* Where in a run data were wrong first. */
struct beffio_wrong {
    struct beffio_findings found; /* wrong_n 0: nowhere */
    int procs, rep;
    enum beffio_access access;
};

struct beffio_job {
    struct beffio_setup *setup; /* borrowed */
    struct nodes nodes;
    struct disturbance disturbance; /* while it measured; its nodes on rank 0 */
    int rank;
    int size; /* processes; in a dry run those that --ranks asks about */
    int64_t memory_per_process_bytes, memory_total_bytes;
    int64_t m_part_bytes;
    struct sys_fs fs;
    struct beffio_room room;
    int64_t room_bytes;
    int64_t missing_bytes; /* of room, for one call of each pattern */
    bool unasked;        /* more than a tenth of what is free would be taken, without --max-space */
    int64_t probe_bytes; /* that all processes wrote to find out the rate; 0: it was given */
    double rate;         /* of writing, all processes, probed or given; bytes per second */
    struct beffio_hints hints;
    struct beffio_files files;
    struct beffio_part *part; /* one per partition: of the repetition with the median value */
    struct beffio_rep *rep;
    int reps_done;
    char started_utc[32];
    struct progress *progress;
    int64_t progress_done;
    double took_s;
    int best; /* partition with the largest value under the definition of the run; -1: none */
    int64_t wrong_n; /* of all partitions and repetitions: one is enough for no valid result */
    struct beffio_wrong wrong_first;
};

/* Finds out what the job stands on, reads the hints, looks at the space. Nothing is measured; the
 * names of the files are taken unless nothing will be written (dry run with a rate). Collective
 * over MPI_COMM_WORLD. [out] job, to be freed by beffio_job_free also after an error. */
int beffio_job_make(struct beffio_job *job, struct beffio_setup *setup);

/* Whether its files have room, and may take it. Local, the same on every rank. [out] why: "", or why not. Returns 0,
 * ERR_IO or ERR_USAGE; beffio_job_fits leaves the message, too. A dry run is made all the same. */
#define BEFFIO_REFUSAL_MAX 4608
int beffio_job_refused(const struct beffio_job *job, char why[BEFFIO_REFUSAL_MAX]);
int beffio_job_fits(const struct beffio_job *job);

/* Measures and evaluates. Collective. Returns 0, ERR_VERIFY when data were wrong, ERR_INVALID when
 * the result is not valid, or what went wrong; the results so far are there in any case. */
int beffio_job_run(struct beffio_job *job);

void beffio_job_free(struct beffio_job *job);

/* Whether the files of all partitions exist at the same time. */
bool beffio_job_together(const struct beffio_job *job);

/* Bytes of all files that exist at the same time, by the estimate. */
int64_t beffio_job_expected(const struct beffio_job *job);

/* Seconds that the run will take by its schedule, and those that reading everything once more for
 * the check adds to them at the rate of writing. */
double beffio_job_check_s(const struct beffio_job *job);

/* The largest value of the valid repetitions, which the papers take, or of all where none is valid;
 * NaN without one. [out] valid: may be NULL. */
double beffio_job_maximum(const struct beffio_job *job, bool *valid);

/* The judgements (base/stamp.h). p: of a partition, or NULL: of the whole, for the partition with
 * the largest value. New reference. */
json_t *beffio_job_stamps(const struct beffio_job *job, const struct beffio_part *p);

#endif
