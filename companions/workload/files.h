/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_FILES_H
#define WORKLOAD_FILES_H
/* Layer 2. The data files of a run: NAME, and NAME.1, NAME.2 ... for further ones, with .RANK
 * behind it where every process has its own. They are made before anything is measured, where room was
 * proved (io/target/place.h), and, unless they are kept, are the run's own (base/own.h): removed at the end and
 * when it is asked to stop, and where it was killed by the next run of any program. What was there before
 * is never touched without force. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/nodes.h"
#include "base/own.h"
#include "companions/workload/data.h"
#include "companions/workload/point.h"

#define WORKLOAD_PATH_MAX 4096

struct workload_files {
    const char *name, *description; /* borrowed; the file that describes the run, if it is one */
    bool separate, force, keep;
    int rank;
    struct own *own;
};

/* Checks the name, removes what killed programs left beside it, takes its lock and begins to watch for a
 * request to stop. Collective over comm.
 * [out] f: name, description, separate, force, keep and rank are given, the rest is set. */
int workload_files_begin(struct workload_files *f, MPI_Comm comm);

/* Of a run that is only described: the name, what killed programs left, and the folder as in
 * workload_files_begin. Nothing is made. Collective over n->comm. Returns 0, ERR_USAGE or ERR_IO. */
int workload_files_look(const struct workload_files *f, const struct nodes *n);

/* Whether files of so many bytes each, of a process's own where separate, may be made for a run that
 * has made none yet. Nothing is made. Collective. Returns 0, or ERR_USAGE where something lies there
 * that is not ours. */
int workload_files_names(const struct workload_files *f, MPI_Comm comm, int files_n,
                         const int64_t bytes[]);

/* Whether there is room for all of them together, on the file system of each node, and, where that is in memory, beside so many bytes that
 * the processes of the node need; 0 else. Nothing is made. Collective over n->comm. Returns 0 or ERR_IO. */
int workload_files_room(const struct workload_files *f, const struct nodes *n, int files_n,
                        const int64_t bytes[], double memory);

/* Removes the files unless they are kept, and lets go of the name. Local. */
void workload_files_end(struct workload_files *f);

/* Name of a file of this rank. Local. */
void workload_files_path(const struct workload_files *f, int index, char out[WORKLOAD_PATH_MAX]);

/* rc of a call on a file of this run; ERR_INTERRUPT, "interrupted", where it failed because the file is gone,
 * removed when this run was asked to stop. Local. */
int workload_files_gone(const char *path, int rc);

/* Whether this rank has made file no index. Local. */
bool workload_files_made(const struct workload_files *f, int index);

/* Makes file no index with so many bytes of space; the length of a process's own where separate.
 * What this run made before takes no force to be made again. Collective over comm. Returns 0, or
 * ERR_IO: no space, not writable; ERR_USAGE: something is there that is not ours. */
int workload_files_make(struct workload_files *f, MPI_Comm comm, int index, int64_t bytes);

/* Fills [from, to) of the file with its content, each process its part, or each its own file.
 * Collective over comm. */
int workload_files_lay_out(const struct workload_files *f, MPI_Comm comm, int index, int64_t from,
                           int64_t to, const struct workload_data *data);

/* Flushes the file and takes its pages out of the memory of every node, as far as the system does
 * it. Collective over n->comm. */
int workload_files_drop(const struct workload_files *f, const struct nodes *n, int index);

/* Share of the file in the memory of the nodes, 0 to 1, and of what of it is not on the device (NULL: not asked); -1 where the system does
 * not tell. Collective over n->comm; of rank 0's file where each has its own. */
int workload_files_cached(const struct workload_files *f, const struct nodes *n, int index,
                          double *share, double *dirty);

#endif
