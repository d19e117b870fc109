/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_TOPOLOGY_H
#define BEFF_TOPOLOGY_H
/* Floor 2. Where the processes stand: in a periodic row and in grids, which the MPI library may
 * number to suit the network. Source: [RK01] section 4. */
#include <mpi.h>

#include "beff/pattern.h"

struct beff_topology {
    MPI_Comm row;             /* all processes; its ranks are those of the patterns (owned) */
    struct beff_grid grid[2]; /* of two and three dimensions, in ranks of row */
};

/* Collective over comm. [out] t: to be freed by beff_topology_free, also after an error. Returns 0,
 * ERR_MPI or ERR_NOMEM. */
int beff_topology_make(MPI_Comm comm, struct beff_topology *t);
void beff_topology_free(struct beff_topology *t);

/* How the ranks of comm lie on nodes: "one node", "sequential" (a node is filled before the next
 * begins), "round-robin" (neighbours are never on one node), or "mixed". hosts: the names in rank
 * order. Local. */
const char *beff_placement(char *const *hosts, int n);

#endif
