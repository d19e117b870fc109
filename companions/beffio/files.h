/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_FILES_H
#define BEFFIO_FILES_H
/* Layer 2. The data files: their names, making and removing them outside the clock.
 *
 *   DIR/PREFIX_data_iII_NNN_T       II partition, counted from 0; NNN its processes; T the type
 *   DIR/PREFIX_data_iII_NNN_2.RRR   type 2: one per process RRR
 *   DIR/PREFIX.lock                 held while a run uses these names
 *
 * Unless they are kept they are the run's own (base/own.h): removed at the end and when it is asked to
 * stop, and where it was killed by the next run of any program. */
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "companions/beffio/pattern.h"
#include "companions/beffio/schedule.h"

enum { BEFFIO_PATH_MAX = PATH_MAX, BEFFIO_NAME_MAX = NAME_MAX + 1 };

struct beffio_files {
    const char *dir, *prefix; /* borrowed; names of data files fit into BEFFIO_PATH_MAX */
    bool force, keep;
    bool untouched; /* nothing that lies there is cleaned away: a dry run */
    int rank;       /* in all of the job */
    int partitions_n;
    int procs[BEFFIO_PARTITIONS_MAX];

    struct own *own;
};

/* Name of a file. rank: used by type 2. out: [out] BEFFIO_PATH_MAX bytes. */
void beffio_files_path(const struct beffio_files *f, int partition, enum beffio_type type, int rank,
                       char *out);

/* Whether all this may be done: directory, names, the lock, and whose is what lies there already.
 * Removes what killed programs left. From then on a signal removes what was made, unless keep is set. Collective over comm; [in] f
 * with its first members set; one at a time in a process. To be ended by beffio_files_end, also
 * after an error. Returns 0, ERR_USAGE or ERR_IO. */
int beffio_files_begin(struct beffio_files *f, MPI_Comm comm);

/* Removes older files of the names that this run will use: to be called once it has been found that there is
 * room. Collective over comm. Returns 0 or ERR_IO. */
int beffio_files_clear(const struct beffio_files *f, MPI_Comm comm);

/* Makes the empty files of a type and sees that all ranks of the partition can open theirs.
 * Collective over the partition's comm. [out] s: seconds that making them took. */
int beffio_files_make(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type,
                      double *s);

/* Removes the files of a type, unless they are kept. Collective over the partition's comm. [out] s:
 * seconds that it took. */
int beffio_files_remove(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type,
                        double *s);

/* Removes what is still there, unless it is kept, and gives the names free. Local. */
void beffio_files_end(struct beffio_files *f);

/* Writes, flushes and removes a file of this rank and tells how fast it went. Local. Writing takes
 * a moment, flushing what it takes. [in,out] bytes: at most, and as many as were written. [out]
 * rate: bytes per second. */
int beffio_files_probe(const struct beffio_files *f, int64_t *bytes, double *rate);

#endif
