/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_RESIDENT_H
#define BASE_RESIDENT_H
/* Layer 0. How much of a file lies in this host's memory: what a program that writes without
 * flushing may have measured instead of a device, and what a program that reads gets without one.
 * All functions are local and tell about this host alone. */
#include <stdbool.h>
#include <stdint.h>

/* A file larger than this many times the memory cannot be held there to any amount that matters. */
#define RESIDENT_RULE 20

/* Data of this share of a file that have not reached the device make a result one of memory. */
#define RESIDENT_BEHIND 0.05

struct resident {
    int64_t file_bytes;
    int64_t cached_bytes; /* of the file, in memory */
    int64_t dirty_bytes;  /* of these, not yet on the device; -1 when the system does not tell */
    const char *how;      /* the system call that told: "cachestat" or "mincore" */
    bool in_memory,
        never_flushed; /* of its file system (base/sys.h), also where the system does not tell of the file */
};

/* Asks the system. [out] r. Returns 0, or ERR_IO where it does not tell, such as of a file system that hides what lies in memory below
 * it (base/sys.h), unless all of it is there. Nothing is read or brought into memory by asking. */
int resident_ask(const char *path, struct resident *r);

/* The same of a part of the file, start + bytes not behind its end; the counts are of the part, of
 * which pages at its edges may be others' as well. */
int resident_ask_range(const char *path, int64_t start, int64_t bytes, struct resident *r);

/* As resident_ask, but by mincore alone (tests, and kernels without cachestat). */
int resident_ask_mincore(const char *path, struct resident *r);

/* Takes a file out of this host's memory; what is not on the device yet is written there before,
 * since it could not be dropped. Returns 0 or ERR_IO. */
int resident_drop(const char *path);

#endif
