/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESS_H
#define WORKLOAD_ACCESS_H
/* Floor 2. The data access functions of MPI-IO behind one call, with up to so many of them in
 * flight at a time, every return value and count checked; what the library keeps to itself is found
 * out by io/guard.h from the first call to workload_flight_end. */
#include <mpi.h>
#include <stdint.h>

#include "workload/function.h"

#define WORKLOAD_DEPTH_MAX 1024

struct workload_transfer {
    int kind;
    MPI_Offset offset; /* of explicit calls */
    void *buffer;      /* read only by writing calls */
    int64_t bytes;
    MPI_Datatype type; /* of the whole buffer, one of them; MPI_DATATYPE_NULL: bytes in a row */
};

/* What is under way on one file handle. */
struct workload_flight {
    MPI_File file;
    const char *path; /* for messages, borrowed */
    int depth;        /* requests at a time, 1..WORKLOAD_DEPTH_MAX */
    int n, oldest;    /* requests in flight, a ring */
    int most;         /* the largest n there was */
    int split;        /* kind of the split collective call that has begun, -1: none */
    void *split_buffer;
    int64_t split_bytes;
    MPI_Request request[WORKLOAD_DEPTH_MAX];
    int64_t bytes[WORKLOAD_DEPTH_MAX];
    int kind[WORKLOAD_DEPTH_MAX];
};

void workload_flight_begin(struct workload_flight *f, MPI_File file, const char *path, int depth);

/* Makes one call; waits for the oldest one in flight where there is no room, and for a split
 * collective call that has begun. Returns 0, ERR_IO or ERR_MPI, of whichever ended. */
int workload_flight_call(struct workload_flight *f, const struct workload_transfer *t);

/* Waits for all. */
int workload_flight_end(struct workload_flight *f);

/* A committed type of so many bytes at these displacements in memory. Local. */
int workload_type_pieces(int n, const int64_t *displacement, const int64_t *bytes,
                         MPI_Datatype *out);

/* Turns the return value of a call of MPI-IO on a file into 0 or ERR_IO. Local. */
int workload_check(int mpi_rc, const char *call, const char *path);

#endif
