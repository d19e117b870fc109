/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_FILES_H
#define BEFFIO_FILES_H
/* Layer 2. The data files: their names, making and removing them outside the clock, and nothing of
 * them left behind when the job is asked to stop.
 *
 *   DIR/PREFIX_data_iII_NNN_T       II partition, counted from 0; NNN its processes; T the type
 *   DIR/PREFIX_data_iII_NNN_2.RRR   type 2: one per process RRR
 *   DIR/PREFIX.lock                 held while a run uses these names
 *   DIR/PREFIX.run                  a line "II NNN" per partition, while a run that is to leave
 *                                   nothing has files there: what the next one has to clean away
 *                                   when this one was killed
 *
 * A launcher gives its processes about a second between asking them to end and ending them. So the
 * handler of the signal takes the names away: at once, because a descriptor is held on each file
 * and only the last one to be closed gives gigabytes back to the file system, which the kernel does
 * when the process is gone. */
#include <limits.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "beffio/pattern.h"
#include "beffio/schedule.h"

enum { BEFFIO_PATH_MAX = PATH_MAX, BEFFIO_NAME_MAX = NAME_MAX + 1 };

/* A file that this rank made and is to remove. */
struct beffio_made {
    atomic_bool there; /* made and not removed; whoever clears it removes the name */
    int fd;            /* held until it is removed */
    char name[BEFFIO_NAME_MAX];
};

struct beffio_files {
    const char *dir, *prefix; /* borrowed; names of data files fit into BEFFIO_PATH_MAX */
    bool force, keep;
    bool untouched; /* nothing that lies there is cleaned away: a dry run */
    int rank;       /* in all of the job */
    int partitions_n;
    int procs[BEFFIO_PARTITIONS_MAX];

    int dir_fd, lock_fd; /* dir_fd -1: not begun */
    char lock[BEFFIO_NAME_MAX];
    struct beffio_made made[BEFFIO_PARTITIONS_MAX][BEFFIO_TYPES];
    struct beffio_made note; /* PREFIX.run */
    atomic_bool unlocked;
    bool pointers_removed; /* of ROMIO, after a request to stop */
};

/* Name of a file. rank: used by type 2. out: [out] BEFFIO_PATH_MAX bytes. */
void beffio_files_path(const struct beffio_files *f, int partition, enum beffio_type type, int rank,
                       char *out);

/* Whether all this may be done: directory, names, the lock, and whose is what lies there already.
 * Removes what a run that was killed left, and older files of the names that this run will use.
 * From then on a signal removes what was made, unless keep is set. Collective over comm; [in] f
 * with its first members set; one at a time in a process. To be ended by beffio_files_end, also
 * after an error. Returns 0, ERR_USAGE or ERR_IO. */
int beffio_files_begin(struct beffio_files *f, MPI_Comm comm);

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
