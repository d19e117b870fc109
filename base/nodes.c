/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nodes.h"

#include <stdio.h>
#include <unistd.h>

#include "base/par.h"
#include "base/sys.h"

int nodes_find(MPI_Comm comm, struct nodes *n)
{
    struct sys_cpu cpu;
    int64_t mine[2], all[2];
    *n = (struct nodes){.comm = comm, .node = MPI_COMM_NULL};
    TRY_MPI(MPI_Comm_rank(comm, &n->rank));
    TRY_MPI(MPI_Comm_size(comm, &n->size));
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, n->rank, MPI_INFO_NULL, &n->node));
    TRY_MPI(MPI_Comm_rank(n->node, &n->node_rank));
    TRY_MPI(MPI_Comm_size(n->node, &n->node_size));
    sys_cpu(&cpu);
    n->node_cores = cpu.cores_n > 0 ? cpu.cores_n : 1;
    snprintf(n->cpu, sizeof n->cpu, "%s", cpu.model);
    gethostname(n->host, sizeof n->host - 1);
    TRY_MPI(MPI_Bcast(n->cpu, sizeof n->cpu, MPI_CHAR, 0, comm));
    /* The first rank of each node speaks for it. */
    mine[0] = n->node_rank == 0;
    mine[1] = mine[0] * n->node_cores;
    TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, comm));
    n->count = all[0];
    n->cores = all[1];
    return 0;
}

void nodes_free(struct nodes *n)
{
    if (n->node != MPI_COMM_NULL) MPI_Comm_free(&n->node);
}

int nodes_count(MPI_Comm comm, int *nodes)
{
    MPI_Comm node;
    int rank;
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    TRY_MPI(MPI_Comm_rank(node, &rank));
    TRY_MPI(MPI_Comm_free(&node));
    const int first = rank == 0;
    TRY_MPI(MPI_Allreduce(&first, nodes, 1, MPI_INT, MPI_SUM, comm));
    return 0;
}
