/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_GUARD_H
#define IO_GUARD_H
/* Layer 1. What stands around the calls of an MPI-IO library, for the writers that make them.
 *
 * A library that crashes says where, but not on which file, and not what of it can be relied on. So
 * while it is at work signals like SIGSEGV write one line to standard error, with rank, host,
 * signal, call, file and, in a file of dumps, the last durable one, and then act as before.
 *
 * A library that meets an error may keep it to itself: collective writes of Open MPI's OMPIO 4.1
 * return success with a full count on every rank when the pwritev of an aggregator fails or comes
 * short (fcoll vulcan, dynamic, dynamic_gen2). So the program brings its own pwrite, pwritev, pread
 * and preadv, which the library's calls meet first: while a call is under way they go on after short
 * ones and remember errors, and what cannot be read is tried once more. For opening, see
 * IO_GUARD_OPENING. All functions are local; one file at a time is guarded.
 *
 * This is not part of libnht1.a, out of which it would go into every program that calls pwrite: the
 * Makefile names the programs that have it. */
#include <stdint.h>

#include "io/writers/writer.h"

/* From here on signals tell of this file; ctx is borrowed until io_guard_end. */
void io_guard_begin(const struct io_context *ctx);
void io_guard_end(const struct io_context *ctx);

/* The library is at work, in this call (static text) or with what it began; NULL: it is not. In the
 * call IO_GUARD_CLOSING, and in collective ones that write, a write that fails looks whole to the
 * library: HDF5's ranks wait for ever for the one that it failed on, and OMPIO's in the next barrier;
 * io_guard_errnum tells. In IO_GUARD_OPENING the same holds for opening the file: what io_guard_opening
 * names stands in for it. */
#define IO_GUARD_CLOSING "closing"
#define IO_GUARD_OPENING "MPI_File_open"
void io_guard_at(const char *call);

/* io_guard_at(IO_GUARD_OPENING). fd: of the file, for reading, where a library goes on to read of it; -1: an empty file in memory will do. */
void io_guard_opening(int fd);

/* The errno value of the first write or read of the library that failed since the last question, 0:
 * none has; IO_GUARD_ENDED: the file ended, which a reader knows to be longer. */
#define IO_GUARD_ENDED (-1)
int io_guard_errnum(void);

#endif
