/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_BENCH_H
#define BEFFIO_BENCH_H
/* Layer 2. The measurement of one partition: an access to the file of a type is opened, made
 * pattern by pattern, and closed, with the clock on; filling and checking buffers, making and
 * removing files are outside it [RK01, 5.1]. Under 2.1, as released, the first and the last word of
 * each chunk are set before a call that writes and compared after one that reads, inside the clock,
 * and buffers lie where malloc puts them. Times are those of rank 0, from barrier to barrier. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "companions/beffio/call.h"
#include "companions/beffio/data.h"
#include "companions/beffio/files.h"
#include "companions/beffio/value.h"

struct beffio_pattern_time {
    double s; /* all of it: view, calls, waiting, sync */
    double view_s;
    double calls_s;             /* in the calls, with stamping a word per chunk */
    double wait_s;              /* for the other ranks, and for the decision to go on */
    double barrier_s;           /* of that, for the other ranks */
    double last_s, last_wait_s; /* the last call, or the mean of the last batch; its waiting */
    double sync_s;
    int64_t batches_n;
    bool capped; /* ended for want of space */
};

struct beffio_type_time {
    double open_s, close_s;
    double cached_share; /* of the file in memory before reading, on the host that has most of it;
                            NAN: unknown */
};

struct beffio_access_result {
    struct beffio_pattern_time pattern[BEFFIO_PATTERNS];
    struct beffio_type_time type[BEFFIO_TYPES];
};

/* One partition. */
struct beffio_bench {
    /* set by the caller */
    MPI_Comm comm; /* of the partition */
    int rank, procs, index;
    const struct beffio_schedule *schedule;
    struct beffio_files *files;
    const struct beffio_hints *hints;
    bool shared_pointer, unique, drop_cache;
    int buffer_offset;   /* bytes from a page where the buffer begins, or BUFFER_MALLOC */
    bool evenly;         /* the space is too small on purpose, and dealt out to all patterns */
    bool keeps;          /* this process keeps what the library says */
    bool leads_node;     /* and this one asks what lies in its host's memory */
    int shift;           /* reading, a rank reads what the one so many ranks further wrote */
    int64_t share_bytes; /* of the space */
    int64_t post_bytes;  /* most that the library is given at once; 0: BEFFIO_POST_BYTES */
    struct progress *progress; /* NULL: none */
    int64_t *progress_done;

    struct beffio_layout layout; /* [in] procs, m_part_bytes; the rest comes from writing */
    void *memory;                /* that the buffer lies in */
    uint64_t *buf;               /* of one call, the longest */
    int offset_bytes[2];         /* from a page where it begins: least and most of all ranks */
    struct beffio_measured measured;
    struct beffio_access_result result[BEFFIO_ACCESSES];
    /* What was wrong, of this rank: in the last call of each timed read, and in the files. */
    struct beffio_findings findings[BEFFIO_ACCESSES];
    json_t *library; /* array on rank 0: what the library reports on each file opened */
};

/* Most that a rank may give to an ordered call. OMPIO adds up what all ranks write in one in an
 * int: from 2 GiB on its shared pointer is anywhere, and so are the data, without an error (Open
 * MPI 4.1.4). Chunks of 2 / n GB are what [RK01, 5.4] provides for such a library. Local. */
int64_t beffio_ordered_most(int procs, bool ompio);

/* Makes the buffer. Collective over b->comm. To be freed by beffio_bench_free, also after an
 * error. */
int beffio_bench_begin(struct beffio_bench *b);
void beffio_bench_free(struct beffio_bench *b);

/* Whether a pattern was read by a single call, which shows what was read ahead, not what the file
 * system can do [RK00, V]. Local. */
bool beffio_bench_single_read(const struct beffio_bench *b, enum beffio_access access, int no);

/* One access to the files of all types, writing first. Collective over b->comm. Files are made
 * before the first access. Returns 0, ERR_IO, ERR_MPI, ERR_NOMEM or ERR_INTERRUPT, the same on all
 * ranks. */
int beffio_bench_access(struct beffio_bench *b, enum beffio_access access);

#endif
