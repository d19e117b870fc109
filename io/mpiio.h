/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_MPIIO_H
#define IO_MPIIO_H
/* Floor 1. What the drivers on MPI-IO share. Libraries differ in what they report: on a full disk
 * some return success and a count of zero, so the count is compared after every write. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/driver.h"

/* Opens the data file for writing with the context's hints. Collective. [out] fh: MPI_FILE_NULL on
 * failure, then on every rank. Not for use inside timed sections. */
int io_mpiio_open(const struct io_context *ctx, MPI_File *fh);

/* Checks the result of a write: the return value and that all bytes were taken. Local.
 * call: name of the MPI function, for the message. */
int io_mpiio_check(const struct io_context *ctx, int mpi_rc, const char *call,
                   const MPI_Status *status, int64_t bytes);

/* MPI_File_sync; MPI_FILE_NULL is allowed and does nothing. Collective. */
int io_mpiio_sync(const struct io_context *ctx, MPI_File fh);

/* Closes and sets *fh to MPI_FILE_NULL, which is allowed and does nothing. Collective. */
int io_mpiio_close(const struct io_context *ctx, MPI_File *fh);

/* Makes the rank's cells its view of the file: dump d begins after d times io_view_bytes. A rank
 * without cells sees bytes and is to write none. Collective. Not for use inside timed sections. */
int io_mpiio_set_view(const struct io_context *ctx, MPI_File fh);

/* Whether MPI-IO is, or may be, Open MPI's own component ompio. Local; a third of a second once. */
bool io_mpiio_is_ompio(void);

/* For the describe slot: "hints_reported" and "mpiio_component". Local. */
int io_mpiio_describe(const struct io_context *ctx, MPI_File fh, json_t *into);

/* Creates and commits a type of bytes consecutive bytes, beyond 2 GiB too. Local. */
int io_mpiio_bytes_type(int64_t bytes, MPI_Datatype *out);

/* Creates and commits the file type of a view in units of bytes: its data are my bytes of a dump in
 * ascending order and its extent is the whole dump, so that dump d follows by repetition. Local. */
int io_mpiio_view_type(const struct io_view *v, MPI_Datatype *out);

#endif
