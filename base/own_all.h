/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_OWN_ALL_H
#define BASE_OWN_ALL_H
/* Layer 0. The beginning of base/own.h for all ranks of a job. */
#include <mpi.h>

#include "base/own.h"

enum own_how { OWN_KEEP = 1, OWN_NO_SWEEP = 2 };

/* Collective over comm: sweeps the directory (rank 0, unless how has OWN_NO_SWEEP), opens it, takes the
 * lock file of that name (rank 0), and watches for a request to stop, as own_sweep, own_begin, own_lock
 * and own_watch do. how: of enum own_how, OWN_KEEP as keep of own_begin. [out] o: to be given to own_end,
 * also after an error. Returns the same on every rank: 0, ERR_IO, ERR_NOMEM, or as lock_take. */
int own_begin_all(struct own **o, MPI_Comm comm, const char *dir, const char *lock, int how);

#endif
