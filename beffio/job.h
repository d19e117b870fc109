/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_JOB_H
#define BEFFIO_JOB_H
/* Floor 2. A whole run of b_eff_io: what the job stands on, its partitions one after the other, and
 * what comes out of them. */
#include <jansson.h>

#include "base/nodes.h"
#include "base/sys.h"
#include "beffio/bench.h"
#include "beffio/options.h"
#include "beffio/schedule.h"
#include "beffio/value.h"

/* A partition and what came out. Values, criteria and sums of findings: on rank 0. */
struct beffio_part {
    struct beffio_bench bench;
    int64_t memory_bytes; /* of its nodes */
    int64_t nodes_n;
    int64_t expected_bytes; /* of all files, by the estimate */
    bool done;
    struct beffio_values values;
    struct beffio_findings wrong[BEFFIO_ACCESSES]; /* sum over ranks */
    struct beffio_criterion_result criterion[BEFFIO_CRITERIA];
    bool valid, capped;
};

struct beffio_job {
    struct beffio_setup *setup; /* borrowed */
    struct nodes nodes;
    int rank, size;
    int64_t memory_per_process_bytes, memory_total_bytes;
    int64_t m_part_bytes;
    struct sys_fs fs;
    struct beffio_room room;
    int64_t room_bytes;
    double rate; /* of writing, all processes, probed or given; bytes per second */
    struct beffio_hints hints;
    struct beffio_files files;
    bool files_begun;
    struct beffio_part *part; /* one per partition */
    json_t *mpi;              /* rank 0 */
    struct progress *progress;
    int64_t progress_done;
    double took_s;
    int best; /* partition with the largest value under the definition of the run; -1: none */
    int64_t wrong_n;
};

/* Finds out what the job stands on, reads the hints, looks at the space. Nothing is measured; the
 * names of the files are taken unless nothing will be written (dry run with a rate). Collective
 * over MPI_COMM_WORLD. [out] job, to be freed by beffio_job_free also after an error. */
int beffio_job_make(struct beffio_job *job, struct beffio_setup *setup);

/* Measures and evaluates. Collective. Returns 0, ERR_VERIFY when data were wrong, ERR_INVALID when
 * the result is not valid, or what went wrong; the results so far are there in any case. */
int beffio_job_run(struct beffio_job *job);

void beffio_job_free(struct beffio_job *job);

/* Whether the files of all partitions exist at the same time. */
bool beffio_job_together(const struct beffio_job *job);

#endif
