/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_READ_H
#define IO_READ_H
/* Layer 1. Public face of the readers: every writer's way back. The dispatcher behind it learns
 * from the manifest what is in the file, opens the writer for reading, and puts what its read
 * slot (io/writers/writer.h) brings into the caller's values, piece by piece: no second copy
 * of a dump is in memory. The decomposition and the number of ranks that wrote do not matter.
 *
 * Call order, all collective over the communicator given at open:
 *   io_read_drop, if it is to come from the device  ->  io_read_cached
 *   io_read_open  ->  io_read_dump ...  ( ->  io_read_go_on  ->  io_read_dump ... )  ->  io_read_close
 * Every function returns the same code on every rank, and never leaves a rank waiting for another.
 * Nothing is locked and nothing is written. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/file.h"
#include "io/view.h"

struct io_writer;
struct io_reading;

/* What to read and how. Strings and lists are borrowed until io_read_close. */
struct io_read_spec {
    const char *path;      /* of the dump file; with parts, that beside which they lie */
    const char *writer;    /* whose way back: name on the list, or "check:NAME" */
    enum io_layout layout; /* of the file */
    int64_t n;             /* N */
    struct io_box box;     /* the calling rank's cells, none is allowed; together all N^3, once */
    const int64_t *dumps;  /* [dumps_n] numbers of the dumps to be read, from 0, in this order: a
                              writer in the background reads ahead */
    int64_t dumps_n;
    struct io_tuning
        tuning; /* of these: group, aggregators, buffer_bytes, staging, direct, call_bytes */
    int hints_n;
    const char *const *hints; /* "KEY=VALUE" */
};

/* Opens a file of ours for reading. Collective. [out] r, NULL after an error: ERR_USAGE when the
 * writer leaves nothing to be read, when the manifest is missing, damaged or of another problem or
 * layout, when it does not call one of the dumps complete, when the boxes do not share the cells;
 * ERR_IO when a file is missing or too short, or cannot be opened. */
int io_read_open(struct io_reading **r, MPI_Comm comm, const struct io_read_spec *spec);

/* As io_read_open with a writer that is on no list (tests). */
int io_read_open_with(struct io_reading **r, MPI_Comm comm, const struct io_read_spec *spec,
                      const struct io_writer *writer);

/* Reads the calling rank's cells of dump d, the next one of spec.dumps, into to: that of component
 * m at the box's cell (i,j,k) is to->u[k sk + j sj + m sm + i]. Nothing else is changed. Collective.
 * After an error the values are not to be used, and every later call returns the same code. ERR_IO:
 * a call failed, or the file ended, at the offset that the message names. ERR_INTERRUPT: a signal
 * asked for an end (base/stop.h). Nothing is compared: io_read_right does. */
int io_read_dump(struct io_reading *r, int64_t d, const struct io_array *to);

/* Goes on with other dumps, when all of the plan before were read: the file is opened anew, so that
 * nothing was read ahead; the manifest is not read again. Collective. dumps: [dumps_n], in the
 * place of those of the spec. Returns as io_read_open, and then as io_read_dump. */
int io_read_go_on(struct io_reading *r, const int64_t *dumps, int64_t dumps_n);

/* Whether the ranks' digests of dump d (base/digest.h) add up to that in the manifest. [out] step:
 * the dump's time step, on rank 0; right: on all. Collective. */
int io_read_right(struct io_reading *r, int64_t d, const uint64_t *digest, int64_t *step,
                  bool *right);

/* What this rank has done so far. */
struct io_read_stats {
    int64_t bytes;      /* of this rank's cells, read */
    int64_t requests_n; /* read calls of this rank */
    double open_s;      /* manifest, and opening the files */
    double read_s;      /* reading, exchanging and putting into place */
    double agree_s;     /* waiting for the other ranks' outcome */
    double data_s; /* the writer's calls: of these, neither manifest, nor putting into place, nor
                      waiting for the outcome */
};

/* Borrowed. Local. */
const struct io_read_stats *io_read_stats(const struct io_reading *r);

/* Closes and frees; r may be NULL on all ranks. Collective. Returns the code of an earlier failure. */
int io_read_close(struct io_reading *r);

/* Makes a file of ours, or all its parts, durable and drops it from the page cache of every node;
 * no process may have the file open. system: all that these nodes hold of any file as well, for which
 * one must be root. What cannot be dropped: the cache of a server, or of the host under
 * a virtual disk. Collective. Returns 0 or ERR_IO. */
int io_read_drop(MPI_Comm comm, const char *path, bool system);

/* Whether io_read_drop may drop what the nodes hold of any file. Collective. Returns 0 or ERR_USAGE. */
int io_read_may_drop_system(MPI_Comm comm);

/* How much of some dumps lies in memory. */
struct io_read_cached {
    bool known;           /* every node's system tells */
    int64_t bytes;        /* of these dumps */
    int64_t cached_bytes; /* of these, in the memory of the nodes, sum over nodes */
};

/* Asks on every node; nothing is brought into memory by asking. dumps: [dumps_n] their numbers.
 * Collective; the same on every rank. */
int io_read_cached(MPI_Comm comm, const char *path, const int64_t *dumps, int64_t dumps_n,
                   struct io_read_cached *c);

#endif
