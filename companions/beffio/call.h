/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_CALL_H
#define BEFFIO_CALL_H
/* Layer 2. The calls of MPI-IO that the five pattern types are made of [RK01, 5.1; MPI]: opening,
 * view, one call, sync, close. Inside the clock, so nothing here agrees on errors: a function
 * returns this rank's code, and the caller carries on with its collective calls and agrees later.
 *
 *   type            communicator  view                               call
 *   0, 1 unshared   partition     chunks of l in strides of n l      write_all, read_all
 *   1               partition     plain                              write_ordered, read_ordered
 *   2               one process   plain                              write, read
 *   3               partition     plain, from the segment on         write, read
 *   4               partition     the same                           write_all, read_all
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "companions/beffio/hints.h"
#include "companions/beffio/pattern.h"
#include "companions/beffio/schedule.h"

/* What a message about data that were not written ends with, behind what sys_full_words says: libraries give
 * full disks other names, or none, so the file system itself is asked. Local. */
const char *beffio_advice(const char *full);

/* A longer call is made in posts of this size, one after the other: libraries count the bytes of a
 * call in an int in places, and then report as written what was not (a nonblocking write of 2 GiB
 * by romio321 of Open MPI 4.1.4). An ordered call cannot be cut, because the chunks of the ranks
 * would mix: its chunks have to be smaller. */
#define BEFFIO_POST_BYTES (INT64_C(1) << 30)

struct beffio_file {
    MPI_Comm comm; /* of the partition, borrowed */
    int rank, procs;
    enum beffio_type type;
    enum beffio_access access;
    bool shared_pointer;              /* type 1 in ordered mode */
    bool unique;                      /* MPI_MODE_UNIQUE_OPEN */
    const struct beffio_hints *hints; /* borrowed */
    const char *path;                 /* of this rank's file, borrowed */
    int64_t post_bytes;               /* most that the library is given at once, a multiple of 8 */

    MPI_File fh;
    bool viewed;            /* types 2 to 4 and shared: the view was set */
    int pattern;            /* of the calls now */
    struct beffio_place at; /* and where it lies */
};

/* Whether the calls of the type are collective. */
bool beffio_file_collective(const struct beffio_file *f);

/* Opens the file, which exists. Collective over f->comm. Where it cannot be opened on some ranks only the
 * library comes back on all (io/writers/guard.h). Returns 0 or ERR_IO, on those. */
int beffio_file_open(struct beffio_file *f);

/* Makes ready for the calls of a pattern: view, hints. Collective over f->comm. */
int beffio_file_view(struct beffio_file *f, int pattern, const struct beffio_place *at);

/* One call on the buffer of a call, in as many posts as it takes. Collective over f->comm where the
 * type is. Bytes that the library did not take or give are an error, whatever it returns. */
int beffio_file_call(struct beffio_file *f, void *buf);

/* MPI_File_sync, on all ranks. */
int beffio_file_sync(struct beffio_file *f);

/* Closes. Collective over f->comm. A file that never opened is left alone. */
int beffio_file_close(struct beffio_file *f);

#endif
