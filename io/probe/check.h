/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PROBE_CHECK_H
#define IO_PROBE_CHECK_H
/* Layer 2. The checks of --probe: two tables, one of the file system and one of MPI-IO, and the
 * state of a check. A check runs in a process that may hang or crash (io/probe/process.h); it works
 * on one new file, which is removed behind it. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum probe_state {
    PROBE_UNTRIED,
    PROBE_WORKS,
    PROBE_FAILS,
    PROBE_HANGS,   /* took longer than its limit */
    PROBE_CRASHES, /* its process ended */
    PROBE_ABSENT,  /* not offered here, which is not a fault */
};

#define PROBE_NOTE_MAX 640

/* What a check is given, and what it has to say. */
struct probe_try {
    char path[4096];     /* of its file, which is not there yet */
    const char *fs_type; /* as in base/sys.h */
    int64_t room_bytes;  /* that it may take at a time */
    MPI_Comm comm;       /* for checks of MPI-IO */
    int rank, size;

    bool absent;               /* [out] not available here, rather than broken */
    int errnum;                /* [out] of a call that failed */
    char note[PROBE_NOTE_MAX]; /* [out] remark about a check that works */
    json_t *values;            /* [out] the same as numbers and texts, an object */
};

struct probe_check {
    const char *name; /* in tables and results; NULL ends the table */
    unsigned need;    /* of enum io_need: writers that rely on it cannot work without it */
    /* Returns 0 when it works, else an error with its message. Of MPI-IO: collective over t->comm,
     * the code is this rank's own. */
    int (*run)(struct probe_try *t);
};

extern const struct probe_check probe_files[], probe_mpiio[];

/* What is said of a check that works, printf-style, behind what was said before. Local. */
void probe_say(struct probe_try *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
