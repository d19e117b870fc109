/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_HINT_H
#define IO_HINT_H
/* Layer 1. Hints to MPI-IO libraries and to PnetCDF, "KEY=VALUE". Libraries take a value that makes no sense
 * without a word, or die of it (cb_nodes=0 in OMPIO, cb_buffer_size=0 in ROMIO), and pass over keys
 * that they do not know. Local, all functions. */
#include <stdbool.h>

#include "base/mpilib.h"

/* Who reads a hint; bits. */
enum io_hint_reader {
    IO_HINT_OMPIO = MPILIB_OMPIO,
    IO_HINT_ROMIO = MPILIB_ROMIO,
    IO_HINT_FILE = 4, /* this program, when it makes the file (io/target/striping.h) */
    IO_HINT_PNETCDF = 8,
};

/* The form of n hints, and the values of those that are known. Returns 0 or ERR_USAGE with a
 * message that names the hint and what it may be. */
int io_hints_check(int n, const char *const *hint);

/* Who knows the key of a hint; 0: no reader is known. */
unsigned io_hint_readers(const char *hint);

/* The value of a key, the last that was given; NULL when it was not. Borrowed. */
const char *io_hint_value(int n, const char *const *hint, const char *key);

#endif
