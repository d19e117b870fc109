/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_POSIX_H
#define PROFILE_PRELOAD_POSIX_H
/* Layer 3. Opening and closing descriptors, for the parts of the library that interpose the C library's
 * functions: posix (open files), names (paths), stdio, process. */
#include <stdbool.h>
#include <sys/types.h>

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

/* open of the program; caller: the address to which it returns. */
int posix_open(const void *caller, int at, const char *name, int flags, mode_t mode);

/* Whether a name is not to be opened for writing, or changed, with errno: without writes from the handler of a signal that came while
 * the library was at work (follow_interrupted), which is told in every run. */
bool posix_refused(const void *caller, const char *name);

/* Whether a call comes from the MPI library, whose own files are none of the program's. */
bool posix_is_mpi(const void *caller);

/* The descriptor is about to be closed; and it has been. */
struct followed *posix_closing(int fd);
void posix_closed(struct followed *f, uint64_t start_ns);

/* stdio goes through the functions of this library: once. */
void stdio_begin(void);

#pragma GCC visibility pop

#endif
