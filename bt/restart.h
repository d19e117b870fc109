/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RESTART_H
#define BT_RESTART_H
/* Layer 3. --restart: what an earlier run's manifest says takes the place of the options that were
 * not given. The dumps themselves are checked by io/ when the file is opened, under the lock. */
#include <mpi.h>
#include <stdbool.h>

#include "bt/options.h"

/* Fills in problem, layout, durability, and the writer with its settings, from the manifest of --out,
 * where the command line does not have them; settings only with the writer. Collective; does
 * nothing without --restart. ERR_USAGE when there is nothing to continue, or when it was not
 * written by a run that this program can continue. */
int bt_restart_adopt(MPI_Comm comm, struct bt_setup *setup);

/* Whether two kernels, "VERSION/ISA", give the same bits: all instruction sets of a version do. */
bool bt_restart_bitwise(const char *past, const char *now);

#endif
