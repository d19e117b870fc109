/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_MEASURE_H
#define WORKLOAD_MEASURE_H
/* Layer 2. One measurement, of a phase of a job file or of a working point: what all of a run share,
 * the clock around the calls, and what is found out besides the time. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "companions/workload/clock.h"
#include "companions/workload/data.h"
#include "companions/workload/files.h"

/* --- what all measurements of a run share ---------------------------------------------------- */

/* What is known of a file. */
struct workload_content {
    int64_t length_bytes; /* made so long; of this process's own where separate */
    bool laid_out;        /* every byte holds what belongs there */
    int generation;       /* of the last write; 0: none yet */
    int oldest;           /* generation that may still be found */
    bool floating;        /* the shared pointer has been used for writing */
};

struct workload_context {
    MPI_Comm comm; /* all processes, borrowed */
    int rank, size;
    struct workload_files files;
    struct workload_content *content; /* [files of the description], owned */
    struct workload_data data;
    struct workload_clock clock;
    MPI_Info info; /* hints, or MPI_INFO_NULL; borrowed */
    int depth;
    int64_t buffer_bytes; /* of memory for data, per process */
    bool sync_end, sync_call, check, think;
    /* Of the MPI library. romio: that of Open MPI, whose iread_all and its like crash. pointer_late:
     * iread_all and iwrite_all move the individual pointer when they get to the transfer, which with
     * a second one in flight is too late (MPICH 4.0). */
    bool romio, pointer_late;
};

/* The generation of the next phase that writes. Local. */
int workload_content_next(const struct workload_content *file);

/* Makes a file of the length and, where its content will be read, lays it out. Nothing is done
 * where that has been done for this length. lengths are those of the process where each has its
 * own file. Collective over c->comm. */
int workload_context_file(struct workload_context *c, int index, int64_t bytes, bool lay_out);

/* --- what was found wrong ------------------------------------------------------------------- */

/* On each process its own until workload_measured_sum. */
struct workload_findings {
    int64_t checked_bytes, wrong_n;
    char first[200];
};

/* Counts a piece that was looked at. wrong: index of its first wrong byte, -1: none. Local. */
void workload_findings_add(struct workload_findings *f, int64_t bytes, int64_t wrong,
                           const char *path, int64_t offset, const char *what);

/* Checks [offset, offset + bytes) of a file, read by POSIX calls. fd: of it. Local. Returns 0,
 * ERR_NOMEM, ERR_IO or ERR_INTERRUPT. */
int workload_findings_read(struct workload_findings *f, const struct workload_data *d, int fd,
                           const char *path, int64_t offset, int64_t bytes,
                           struct workload_allowed allowed);

/* --- one measurement ------------------------------------------------------------------------ */

/* What every measurement gives; complete on rank 0 of the run. */
struct workload_measured {
    bool reads, writes; /* any of its processes does */
    bool
        again; /* it moves bytes that it has itself read or written before, perhaps in memory only */
    struct workload_times times;
    double cached_before, cached_after; /* share of the file in memory; -1: not known */
    double dirty_after;                 /* the same, not yet on the device */
    struct workload_findings findings;
    int64_t bytes; /* moved; of this process until workload_measured_sum */
    double bytes_per_s;
    bool enough; /* B insignificant, long enough */
    bool done;
};

/* What is measured. Each step gets part, the state of the process. */
struct workload_steps {
    int (*open)(void *part); /* collective, the same code on all */
    /* All accesses; goes on with what is collective when one has failed. Adds to *think_s. */
    int (*access)(void *part, double *think_s);
    int (*sync)(void *part);  /* flushes; collective, a code of this rank's own as the others */
    int (*close)(void *part); /* also where opening has failed */
};

/* Measures the steps on file no index, with flushing inside the clock where c->sync_end. Collective
 * over n->comm. [in,out] m: writes is given, the same on all; times (to be freed by
 * workload_times_free) and residency are set. Returns the same code on all. */
int workload_measure(const struct workload_context *c, const struct nodes *n, int index,
                     const struct workload_steps *steps, void *part, struct workload_measured *m);

/* Sums findings and bytes over the processes of a measurement, and judges its time. The first
 * finding of the lowest rank that has one stays. Collective over comm. */
int workload_measured_sum(struct workload_measured *m, const struct workload_context *c,
                          MPI_Comm comm);

/* The members of the result that all measurements have. New reference. Local. */
json_t *workload_measured_json(const struct workload_measured *m);

#endif
