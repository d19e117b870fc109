/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_CONTEXT_H
#define WORKLOAD_CONTEXT_H
/* Floor 2. What all measurements of a run share: who takes part, the files and what is known of
 * their content, the options that say how. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "workload/clock.h"
#include "workload/data.h"
#include "workload/files.h"

/* What is known of a file. */
struct workload_content {
    int64_t length_bytes; /* made so long; of this process's own where separate */
    bool laid_out;        /* every byte holds what belongs there */
    int generation;       /* of the last that wrote; 0: nobody did */
    int oldest;           /* generation that may still be found */
    bool floating;        /* the shared pointer has been used for writing */
};

struct workload_context {
    MPI_Comm comm; /* all processes, borrowed */
    int rank, size;
    struct workload_files files;
    struct workload_content content[WORKLOAD_FILES_MAX];
    struct workload_data data;
    struct workload_clock clock;
    MPI_Info info; /* hints, or MPI_INFO_NULL; borrowed */
    int depth;
    int64_t buffer_bytes; /* of memory for data, per process */
    bool sync_end, sync_call, check, think, romio;
};

/* The generation of the next phase that writes. Local. */
int workload_content_next(const struct workload_content *file);

/* What was found wrong; on each process its own until workload_findings_sum. */
struct workload_findings {
    int64_t checked_bytes, wrong_n;
    char first[200];
};

/* Counts a piece that was looked at. wrong: index of its first wrong byte, -1: none. Local. */
void workload_findings_add(struct workload_findings *f, int64_t bytes, int64_t wrong,
                           const char *path, int64_t offset, const char *what);

/* Sums over the processes; the first finding of the lowest rank that has one. Collective. */
int workload_findings_sum(struct workload_findings *f, MPI_Comm comm);

/* Checks [offset, offset + bytes) of a file, read by POSIX calls. fd: of it. Local. */
int workload_findings_read(struct workload_findings *f, const struct workload_data *d, int fd,
                           const char *path, int64_t offset, int64_t bytes,
                           struct workload_allowed allowed);

/* Makes a file of the length and, where its content will be read, lays it out. Nothing is done
 * where that has been done for this length. lengths are those of the process where each has its
 * own file. Collective over c->comm. */
int workload_context_file(struct workload_context *c, int index, int64_t bytes, bool lay_out);

#endif
