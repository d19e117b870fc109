/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_POSIX_H
#define PROFILE_PRELOAD_POSIX_H
/* Layer 3. What a program writes into files past MPI-IO: write and its like, and stdio. It is counted, not
 * profiled and not dropped. What MPI-IO writes by itself is not counted, nor are standard output and error. */
#include <stdbool.h>
#include <stdint.h>

/* No name of these is to stand before one of the program's. */
#pragma GCC visibility push(hidden)

/* Begins to count. outside: whether the calling thread is in no call of MPI-IO; add: the bytes of a call
 * that has written to a file that is open under that number. Both may be called by a handler of a signal. */
void posix_begin(bool (*outside)(void), void (*add)(int fd, int64_t bytes));
void posix_end(void);

#pragma GCC visibility pop

#endif
