/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_AGAIN_H
#define WORKLOAD_AGAIN_H
/* Layer 2. Whether a measurement reads or writes again what it has read or written: then some of it may stay in memory. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "companions/workload/runs.h"

/* Whether any byte is in two of the pieces that the ranks move. piece: [n] those of this rank, in any order; changed. Collective over
 * comm. [out] again, the same on all. Returns 0 or ERR_MPI. */
int workload_moves_again(MPI_Comm comm, struct workload_piece *piece, int64_t n, bool *again);

#endif
