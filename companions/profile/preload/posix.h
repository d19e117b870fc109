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

/* In a handler (follow_back) that opens a name for writing, or changes it, or writes to an open file or changes it: tells
 * of it. Whether that is not to be done: without writes; posix_refused sets errno. */
bool posix_refused(const char *name);
bool posix_passed_over(int fd);

/* The descriptor is about to be closed; and it has been. */
struct followed *posix_closing(int fd);
void posix_closed(struct followed *f, uint64_t start_ns);

/* stdio goes through the functions of this library: once. */
void stdio_begin(void);

#pragma GCC visibility pop

#endif
