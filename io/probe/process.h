/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PROBE_PROCESS_H
#define IO_PROBE_PROCESS_H
/* Layer 2. The processes that the checks of --probe run in: the running program once more,
 * nht1-probe or nht1-bt, started with
 *
 *     PROGRAM --probe-child PART FIRST PATH TYPE ROOM
 *
 * PART: "folder" makes the folder PATH, "alive" tries whether PATH can be written to, "stat" whether
 * it answers, "sweep" removes the folder PATH; "files" and "mpi-io" run the checks of these tables
 * from number FIRST on, in the folder PATH, on a file system of TYPE, each with ROOM bytes. Reports
 * go to standard output, a line each, between what the library under test writes there:
 *
 *     @pid NUMBER           of every process
 *     @about JSON           of "mpi-io", what it runs on
 *     @begin NUMBER         of a check
 *     @end JSON             {"state", "note", "errno", "values"}
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/probe/check.h"

#define PROBE_PIDS 64

/* The outcome of a check. */
struct probe_finding {
    enum probe_state state;
    char note[PROBE_NOTE_MAX];
    int errnum;
    double seconds;
    json_t *values; /* NULL: none */
};

/* A part to be run, from the first check to the last, in as many processes, one after the other, as
 * it takes: behind a check that hangs or crashes the next one goes on. */
struct probe_part {
    const char *part;      /* as above */
    const char *component; /* of Open MPI's MPI-IO, NULL: the library's choice */
    const char *path, *fs_type;
    int64_t room_bytes;
    double limit_s; /* of each check, and of starting */
    double stays_s; /* what it may take after a request to stop; 0: it ends at once */
    bool launched;  /* two processes, by the launcher of the MPI library */
    int n;          /* checks; 0: "mpi-io" tells what it runs on, and no more */
    const struct probe_check *checks;      /* [n], for their names, or NULL */
    struct probe_finding *finding;         /* [n], [out] */
    json_t *about;                         /* [out] of "@about", or NULL */
    json_t *left;                          /* [in,out] array of sentences: processes left behind */
    void (*done)(void *arg, int checks_n); /* called after each check, or NULL */
    void *arg;
    const char *(*alive)(void *arg); /* asked after a check that hung: NULL, or why to end */
};

/* First of all in main: whether this process is such a child; then it has done its work. status:
 * [out] of the exit. */
bool probe_child(int argc, char **argv, int *status);

/* Runs a part. It never waits for a process that the kernel does not release. Local. Returns
 * 0, ERR_INTERRUPT when asked to stop, ERR_IO or ERR_MPI when the processes could not be started or
 * alive said to end: what was not tried then stays untried. */
int probe_run_part(struct probe_part *p);

/* The launcher that probe_run_part takes, "" where there is none for this MPI library. Local. */
const char *probe_launcher(void);

#endif
