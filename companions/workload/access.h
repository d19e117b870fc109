/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESS_H
#define WORKLOAD_ACCESS_H
/* Layer 2. A file that is open for MPI-IO, and the data access functions behind one call, with up to
 * so many of them in flight at a time. Every return value and count is checked; an error that the
 * library keeps to itself is found out, and a crash of the library names rank, function and file
 * (io/writers/guard.h). */
#include <mpi.h>
#include <stdint.h>

#include "io/writers/writer.h"
#include "companions/workload/function.h"

#define WORKLOAD_DEPTH_MAX 1024

struct workload_transfer {
    int kind;
    MPI_Offset offset; /* of explicit calls */
    void *buffer;      /* read only by writing calls */
    int64_t bytes;
    MPI_Datatype type; /* of the whole buffer, one of them; MPI_DATATYPE_NULL: bytes in a row */
};

/* A file handle and what is under way on it. It must not move while the file is open. */
struct workload_handle {
    MPI_File file;             /* MPI_FILE_NULL: not open */
    struct io_context context; /* communicator, rank, path and hints, borrowed */
    int depth;                 /* requests at a time, 1..WORKLOAD_DEPTH_MAX */
    int n, oldest;             /* requests in flight, a ring */
    int most;                  /* the largest n there was */
    int64_t posted;            /* requests so far; those in flight are the last n */
    bool pointer_late;         /* workload_context */
    bool moving;               /* then: one in flight may have that pointer still to move */
    int split;                 /* kind of the split collective call that has begun, -1: none */
    void *split_buffer;
    int64_t split_bytes;
    MPI_Request request[WORKLOAD_DEPTH_MAX];
    int64_t bytes[WORKLOAD_DEPTH_MAX];
    int kind[WORKLOAD_DEPTH_MAX];
};

/* Opens a file for reading and writing. Collective over comm, the same code on all ranks. [out] f,
 * to be closed also after an error. */
int workload_handle_open(struct workload_handle *f, MPI_Comm comm, const char *path, MPI_Info info,
                         int depth);

/* Shows of the file, from begin on, n pieces, and the same again after each period. Collective, the
 * same code on all ranks. */
int workload_handle_view(struct workload_handle *f, int64_t begin, int n, const int64_t *offset,
                         const int64_t *bytes, int64_t period);

/* Moves the individual or the shared pointer, after waiting for a split collective call. The shared
 * pointer is moved collectively. */
int workload_handle_seek(struct workload_handle *f, bool shared, int64_t offset);

/* Makes one call; waits for the oldest one in flight where there is no room, and for a split
 * collective call that has begun. Returns 0, ERR_IO or ERR_MPI, of whichever ended. */
int workload_handle_call(struct workload_handle *f, const struct workload_transfer *t);

/* Waits for all. */
int workload_handle_wait(struct workload_handle *f);

/* Flushes the file; closes it if it is open. Collective; a code of this rank's own. */
int workload_handle_sync(struct workload_handle *f);
int workload_handle_close(struct workload_handle *f);

/* A committed type of so many bytes at these displacements in memory. Local. */
int workload_type_pieces(int n, const int64_t *displacement, const int64_t *bytes,
                         MPI_Datatype *out);

#endif
