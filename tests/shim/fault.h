/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SHIM_FAULT_H
#define TESTS_SHIM_FAULT_H
/* What the parts of the shim share: the plan (fault.c) and the calls that are counted. Not part of
 * the project's programs. */
#include <stdbool.h>

enum fault_kind {
    OPEN,
    OPENR,
    PWRITE,
    PREAD,
    WRITE,
    FSYNC,
    FDATASYNC,
    RENAME,
    FTRUNCATE,
    FALLOCATE,
    CLOSE,
    AIO,
    URING_INIT,
    URING_SUBMIT,
    URING_WRITE,
    URING_READ,
    URING_WAIT,
    KINDS
};

/* Counts a call that belongs to no file of its own; whether it is the one that fails. what: for the
 * trace. */
bool fault_now(enum fault_kind k, const char *what);

/* As fault_now, for a call on an open file; files elsewhere are not counted. */
bool fault_now_fd(enum fault_kind k, int fd);

/* What the call that fails is to fail with; 0: it is to be short; FAULT_END: the file ends there. */
int fault_errnum(void);
#define FAULT_END (-2)

/* The function of that name which this library stands in front of. */
void *fault_next(const char *name);

#endif
