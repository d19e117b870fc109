/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_BACKGROUND_H
#define IO_BACKGROUND_H
/* Layer 1. What writers share that write in the background. A dump is collected by the
 * aggregators (io/writers/gather.h) into slots of memory, of which each aggregator has tuning.staging; an
 * engine empties the slots into the file, in order, while the caller computes. When no slot is free
 * the caller waits: memory is bounded.
 *
 * With tuning.direct the file is written around the page cache, in whole blocks of
 * IO_BLOCK_BYTES of the file; dumps are no multiples of that. Aggregator 0 has the first range of
 * each dump and what is left over behind the last whole block, and keeps that, the carry, until the
 * next dump fills the block:
 *
 *     blocks of the file  |....:....|....:....|....:....|....:....|
 *     dumps               <---- 0 ----------------><----- 1 -----...
 *     written with dump 0 [-------------------]
 *     carry                                    [--]
 *     written with dump 1                      [---------------...
 *
 * A dump is done when its carry is in the file as well. The incomplete block at the end of the file
 * is written through the page cache, and never otherwise; a carry that has to go down early (a
 * flush after each dump) is written with the block it lies in, zeros behind it.
 *
 * Reading: an aggregator's ranges of all dumps of the plan, one after the other, are jobs of at most
 * tuning.buffer_bytes. While one of them is spread over the ranks and put into place, the engine is
 * at work on tuning.staging of those behind it, which may be the next dump's. Around the page cache
 * whole blocks are read; no block is shared, so there is no carry. */
#include <stdbool.h>
#include <stdint.h>

#include "io/writers/writer.h"
#include "io/writers/fd.h"
#include "io/writers/gather.h"

#define IO_BLOCK_BYTES 4096

/* A range of the file to be written or read. */
struct io_job {
    char *data; /* aligned to IO_BLOCK_BYTES when the file is accessed directly */
    int64_t start, bytes;
    int64_t need_bytes; /* when reading: the first of them; the file may end behind these */
    char *tail;         /* the incomplete block at the end of the file, or tail_bytes 0 */
    int64_t tail_start, tail_bytes;
    int64_t done_after;       /* dumps done when this job is */
    bool finished;            /* owned by the engine between post and finished */
    int64_t requests_n;       /* [out] */
    struct io_fd_fault fault; /* [out] */
    int64_t todo;             /* the engine's own */
    double start_s;           /* the engine's own */
};

struct io_background;

/* How slots are emptied, by the aggregators. Codes are this rank's own; a job's outcome is in its
 * fault. */
struct io_engine {
    size_t state_size;
    int (*start)(struct io_background *b);
    int (*post)(struct io_background *b, struct io_job *job);
    /* Whether a job is finished; wait: not before it is. */
    bool (*finished)(struct io_background *b, struct io_job *job, bool wait);
    /* Leaves no job under way. Called also where start failed or was not called; state zeroed. */
    void (*stop)(struct io_background *b);
};

struct io_background {
    const struct io_context *ctx;
    const struct io_engine *engine;
    void *engine_state;
    struct io_gather gather;
    bool owns, direct, refused; /* refused: direct was asked for and cannot be */
    int fd, tail_fd;            /* tail_fd: through the page cache, when fd is direct */
    struct io_job *job;         /* [slots_n], a ring */
    int slots_n, head, posted_n;
    int64_t slot_bytes;
    struct io_job *filling;
    int64_t in_place_bytes; /* where in a dump my data lie that can be staged in a slot; -1: none */
    char *carry;            /* [IO_BLOCK_BYTES] */
    int64_t carry_start, carry_bytes;
    int64_t carry_first; /* the oldest dump in it */
    int64_t dumps_posted, dumps_done;
    bool begun;
    int64_t reads_n; /* jobs of the plan that were posted */
    bool held;       /* the oldest job is being spread */
    int rc;          /* the first failure */
};

/* What requests are multiples of. */
int64_t io_background_align(const struct io_background *b);

/* For the slots of the same names in a writer's table, whose state is a struct io_background. */
int io_background_open(struct io_background *b, const struct io_context *ctx,
                       const struct io_engine *engine);
void *io_background_slot_buffer(void *state, const struct io_context *ctx, int64_t dump);
int io_background_slot_write(void *state, const struct io_context *ctx, int64_t dump,
                             const void *buf);
int io_background_slot_read(void *state, const struct io_context *ctx, int64_t dump,
                            const struct io_taker *to);
int64_t io_background_slot_done(void *state, const struct io_context *ctx);
int io_background_slot_drain(void *state, const struct io_context *ctx);
int io_background_slot_sync(void *state, const struct io_context *ctx);
int io_background_slot_close(void *state, const struct io_context *ctx);
int io_background_slot_describe(void *state, const struct io_context *ctx, json_t *into);

#endif
