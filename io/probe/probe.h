/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PROBE_H
#define IO_PROBE_H
/* Layer 2. What works on the file system that a file is to be written to (nht1-probe): every call that
 * writers rely on is tried there, in processes with time limits (io/probe/process.h), so that a call that hangs or
 * crashes does not end the program. What was found is kept beside the T_C store:
 *
 *   { "schema": "nht1-probe/1",
 *     "entries": [
 *       the key:
 *       { "type": "ext4", "source": "/dev/vda", "mount": "/", "host": "n1",
 *         "mpi": "Open MPI v4.1.4",
 *       what was found:
 *         "utc": "2001-01-31T12:00:00Z", "chosen": "unknown (...)", "components": ["ompio"],
 *         "findings": [{"component": null, "tried": "io_uring", "state": "works", "note": ""}] } ] }
 *
 * host: "" for a file system that is served by other hosts. component: of MPI-IO, null for the file
 * system. chosen: the MPI-IO component in force (mpilib_component). */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"

/* The options of nht1-probe. All borrowed. */
struct probe_request {
    const char *out;      /* the file that is to be written, or the folder */
    const char *json;     /* where the result goes, NULL: nowhere */
    const char *tc_store; /* value of --tc-store, NULL: not given */
    const char *progress; /* value of --progress */
    int64_t limit_s;      /* after which a check counts as hanging */
    bool known;           /* try only where nothing was found before: there is no result then */
    bool quiet;           /* print nothing but errors */
};

/* Tries on rank 0, prints, writes the result (docs/schema/nht1-bt-probe-1.json), keeps the findings.
 * Collective over comm. What does not work is not an error of the probe. ERR_IO where the folder cannot
 * be written to, has no room or does not answer, ERR_INTERRUPT, with what was found up to then,
 * ERR_USAGE. conf, options: of the program that asks, for its name and for the result. */
int probe_run(MPI_Comm comm, const struct conf_program *conf, const void *options,
              const struct probe_request *of);

#endif
