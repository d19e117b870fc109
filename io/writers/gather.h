/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_GATHER_H
#define IO_GATHER_H
/* Layer 1. Collects dumps on a few ranks, the aggregators, each of which gets one long contiguous
 * range of every dump; for reading, spreads them again. For writers.
 *
 *     ranks            0     1     2     3     4     5
 *     aggregators      0           1           2             rank_of = 0, 2, 4
 *     dump in file     [--- 0 ----][--- 1 ----][--- 2 ----]  as long as what their ranks have
 *
 * So with slabs along z an aggregator's range is what it and its next ranks hold, and with an
 * aggregator on every rank nothing has to travel. With align > 1 ranges begin at multiples of align
 * of the whole file, so that aggregators never share a block; what is left over at the end of a
 * dump, the tail, goes to aggregator 0, which has the beginning of the next dump:
 *
 *     dump d           [0.... |1...... |2......|0]           | multiples of align
 *     dump d + 1                               [.... |1 ...
 *
 * A dump travels in rounds: in each, every range moves on by one piece of at most buffer_bytes.
 * All ranks make the same rounds whatever happens to one of them. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/cursor.h"
#include "io/writers/writer.h"

struct io_range {
    int owner;          /* rank of the aggregator */
    int64_t start, end; /* bytes of the file */
};

struct io_gather {
    const struct io_context *ctx;
    int aggregators_n;
    int own;              /* which of them this rank is; -1: none */
    int *rank_of;         /* [aggregators_n] */
    int64_t *share_bytes; /* [aggregators_n + 1] where in a dump ranges begin, before aligning */
    int64_t align;
    int ranges_n;
    struct io_range *range;   /* [aggregators_n + 1] of the dump prepared last, ascending */
    struct io_cursor *mine;   /* [aggregators_n + 1] where my part of each range goes on */
    struct io_cursor *theirs; /* [2][size] where each rank's part of my ranges goes on */
    char *parts;              /* received pieces that have yet to be spread */
    char *read[2];            /* for reading: my parts of others' pieces */
    MPI_Request *send, *recv; /* [size + 1], [2 size] */
    int64_t rounds;
};

/* Where an aggregator wants its bytes. */
struct io_sink {
    void *state;
    /* Memory for the bytes [start, start + bytes) of the file. */
    char *(*place)(void *state, int64_t start, int64_t bytes);
    /* These bytes are there: at data, which is what place gave, or the caller's own buffer when
     * nothing had to be moved. An error does not end the collecting; the first is returned. NULL:
     * the bytes are to be where place says, and no more. */
    int (*take)(void *state, const char *data, int64_t start, int64_t bytes);
};

/* Chooses the aggregators. Collective; the code is this rank's own. g is zeroed before, and to be
 * freed by io_gather_free also after an error. */
int io_gather_open(struct io_gather *g, const struct io_context *ctx, int64_t align);
void io_gather_free(struct io_gather *g);

/* The longest range of this rank's in any dump, with room for aligning. Local. */
int64_t io_gather_bytes_max(const struct io_gather *g);

/* Finds the ranges of a dump: g->range. Local. */
void io_gather_prepare(struct io_gather *g, int64_t dump);

/* Moves the prepared dump to the aggregators. Collective; the code is this rank's own. */
int io_gather_move(struct io_gather *g, int64_t dump, const void *buf, const struct io_sink *sink);

/* Where an aggregator has its bytes from. */
struct io_source {
    void *state;
    /* [out] data: the bytes [start, start + bytes) of the file, until the next call. Ranges ascend
     * inside a dump. After an error data is memory of that length all the same, for the others wait
     * for something. */
    int (*get)(void *state, int64_t start, int64_t bytes, const char **data);
};

/* The way back of io_gather_move: aggregators get a dump from where it is, the ranks get theirs of it.
 * Without aligning. Collective; the code is this rank's own. */
int io_gather_spread(struct io_gather *g, int64_t dump, const struct io_source *source,
                     const struct io_taker *to);

/* "aggregators" for the describe slot. Local. */
void io_gather_describe(const struct io_gather *g, json_t *into);

#endif
