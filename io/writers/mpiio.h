/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_MPIIO_H
#define IO_MPIIO_H
/* Layer 1. What the writers on MPI-IO share. A rank's bytes of a dump, its stream, are written or read
 * in pieces of at most tuning.call_bytes, each with a call of its own: libraries count in ints
 * somewhere, and one (ROMIO in Open MPI) reports a full count for a longer call and writes nothing.
 *
 * Libraries differ in what they report. On a full disk some return success and a count of zero, so
 * the count is compared after every write; a short one is continued. What they do not report is
 * found out by io/writers/guard.h. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/writers/writer.h"

/* The state of a writer begins with this. */
struct io_mpiio {
    MPI_File fh;
    bool viewed;        /* offsets are those of the stream, dump d at d times mine_bytes; else those
                           of the file */
    int64_t mine_bytes; /* of a dump: io_view_bytes */
    int64_t pieces_n;   /* of a stream; on every rank that of the longest, so that all make the same
                           collective calls */
};

/* Opens the data file for writing, or with ctx->plan for reading, with the context's hints. viewed: makes the rank's cells its view
 * of the file; a rank without cells sees bytes and is to write none. Collective. [out] m. Not for
 * use inside timed sections. */
int io_mpiio_open(struct io_mpiio *m, const struct io_context *ctx, bool viewed);

/* A piece of a stream. */
struct io_mpiio_piece {
    int64_t start, bytes;
};

/* The i-th piece; without bytes where the rank's stream has fewer. Local. */
struct io_mpiio_piece io_mpiio_piece(const struct io_mpiio *m, const struct io_context *ctx,
                                     int64_t i);

/* Writes a piece of the stream buf, extent by extent, with MPI_File_write_at, and goes on after
 * short writes. Local. */
int io_mpiio_write_piece(const struct io_mpiio *m, const struct io_context *ctx, int64_t dump,
                         const char *buf, struct io_mpiio_piece p);

/* What became of the write of a piece: as io_mpiio_check, and that all bytes were taken. Where they
 * were not, the piece is written again by io_mpiio_write_piece. Local. call: name of the MPI
 * function, for the message. */
int io_mpiio_wrote(const struct io_mpiio *m, const struct io_context *ctx, int mpi_rc,
                   const char *call, const MPI_Status *status, int64_t dump, const char *buf,
                   struct io_mpiio_piece p);

/* Reads bytes at an offset of the file, which is of the stream with a view, with MPI_File_read_at,
 * and goes on after short reads. Never behind the end of the file: OMPIO's other calls then wait
 * for ever. Local. */
int io_mpiio_read(const struct io_mpiio *m, const struct io_context *ctx, char *to, int64_t bytes,
                  int64_t at);

/* What became of the read of a piece of dump's stream, without a view of the dump, into data: as
 * io_mpiio_wrote. Local. */
int io_mpiio_got(const struct io_mpiio *m, const struct io_context *ctx, int mpi_rc,
                 const char *call, const MPI_Status *status, int64_t dump, char *data,
                 struct io_mpiio_piece p);

/* Checks what a call returned, and that the library met no error in writing or reading that it kept
 * to itself. Local. */
int io_mpiio_check(const struct io_context *ctx, int mpi_rc, const char *call);

/* The same for a library above MPI-IO, which says itself what went wrong. Local. */
int io_mpiio_judge(const struct io_context *ctx, bool failed, const char *call, const char *why);

/* For slots of the same names, whose state begins with a struct io_mpiio. Both do nothing without
 * an open file. Collective. */
int io_mpiio_sync(void *state, const struct io_context *ctx);
int io_mpiio_close(void *state, const struct io_context *ctx);

/* What is to be known about an open file: "hints_reported" and "mpiio_component". Local. */
int io_mpiio_report(MPI_File fh, json_t *into);

/* The same of hints that were asked for already; info is freed, MPI_INFO_NULL has none. Local. */
int io_mpiio_report_info(MPI_Info info, json_t *into);

/* The same for the describe slot. */
int io_mpiio_describe(void *state, const struct io_context *ctx, json_t *into);

/* Creates and commits the file type of a view in units of bytes: its data are my bytes of a dump in
 * ascending order and its extent is the whole dump, so that dump d follows by repetition. Local. */
int io_mpiio_view_type(const struct io_view *v, MPI_Datatype *out);

#endif
