/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESSFILE_H
#define WORKLOAD_ACCESSFILE_H
/* Layer 2, free of MPI. The accesses of a program as nht1-profile --accesses writes them: lines of JSON,
 * an object each; first the head, then the files, then the runs.
 *
 *     {"schema": "nht1-accesses/1", "processes_n": 2, "files_n": 1, "runs_n": 2, "unplaced_n": 0,
 *      "unplaced_bytes": 0, "lost_n": 0, "lost_bytes": 0}
 *     {"file": 0, "name": "x.dat"}
 *     {"process": 0, "file": 0, "call": "pwrite", "flags": "rdwr", "offset": 0, "bytes": 65536,
 *      "stride": 131072, "n": 16, "order": 0, "step": 1}
 *     ...
 *
 * processes: the ranks of MPI, then others that accessed a file. call: read, write, pread, pwrite, fsync or fdatasync.
 * flags: rdonly, wronly or rdwr, then +direct, +sync or +dsync. Call i of a run is at offset + i stride, and
 * the (order + i step)-th of its process. unplaced: accesses whose places are not known; lost: those for
 * which there was no room. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "companions/workload/point.h"
#include "companions/workload/runs.h"

#define WORKLOAD_ACCESSES_SCHEMA "nht1-accesses/"

struct workload_accessfile {
    int processes_n, files_n;
    int named_n; /* of the files, that were read */
    int64_t runs_n;
    int64_t unplaced_n, unplaced_bytes, lost_n, lost_bytes; /* accesses that are not there */
    /* What follows is of the runs that were read, of all processes. */
    struct workload_accessed {
        char *name; /* owned */
        int64_t length_bytes;
        bool read, written;
        int flags;                        /* all that it was open with */
        int64_t process_min, process_max; /* of those that use it */
        int64_t read_end, write_end;      /* of what is read; of what is written but not appended */
        int64_t append_begin, append_end, append_bytes;
        bool append_odd; /* pieces are not appended one behind the other */
    } * file;            /* [named_n], owned */
    int64_t calls_n, bytes;
    struct workload_run *run; /* [mine_n], of one process; owned */
    int64_t mine_n, mine_calls;
};

/* Whether a run can be one of a file with so many files: its calls lie within WORKLOAD_BYTES_MAX, and their
 * numbers are ascending. Local. */
const char *workload_run_call_name(int call);
bool workload_run_sound(const struct workload_run *r, int files_n);

/* Writes the head (the members that are not of runs), the name of a file, a run of a process. */
void workload_accessfile_head(const struct workload_accessfile *a, FILE *to);
void workload_accessfile_name(int file, const char *name, FILE *to);
void workload_accessfile_run(int process, const struct workload_run *r, FILE *to);

/* Reads a text, all of which is checked, and keeps the runs of one process. name: of the file, for messages
 * "name:line: what". [out] a: to be freed by workload_accessfile_free, empty after an error. Returns 0,
 * ERR_USAGE or ERR_NOMEM. Local. */
int workload_accessfile_read(const char *name, const char *text, size_t bytes, int process,
                             struct workload_accessfile *a);
void workload_accessfile_free(struct workload_accessfile *a);

/* One call of a process. */
struct workload_step {
    int64_t order, offset;
    int64_t run; /* index */
};

/* All calls of runs in their order. [out] step: [calls], to be freed, also after an error. Returns 0 or
 * ERR_NOMEM. Local. */
int workload_runs_expand(const struct workload_run *run, int64_t runs_n,
                         struct workload_step **step, int64_t *calls);

#endif
