/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_PROBE_H
#define BT_PROBE_H
/* Layer 3. What works where a run would write (--probe): every call that writers rest on is tried on
 * the target's own file system, in processes with time limits (bt/probe_child.h), so that nothing
 * that hangs or crashes there takes the program along. What was found is kept beside the T_C store:
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
 * system. chosen: what of MPI-IO was in force (io_mpiio_component). */
#include <mpi.h>

#include "bt/options.h"

/* All of --probe: tries on rank 0, prints, writes --json (docs/schema/nht1-bt-probe-1.json), keeps.
 * Collective over comm. What does not work is no error of the probe. ERR_IO where the folder cannot
 * be written to, has no room or does not answer, ERR_INTERRUPT, with what was found up to then,
 * ERR_USAGE. */
int bt_probe_run(MPI_Comm comm, const struct bt_setup *setup);

#endif
