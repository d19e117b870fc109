/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/par.h"
#include "base/sys.h"

/* The sum over nodes: the first rank of each speaks for it. */
static int sum(const struct nodes *n, int64_t of_node, int64_t *all)
{
    const int64_t mine = n->node_rank == 0 ? of_node : 0;
    TRY_MPI(MPI_Allreduce(&mine, all, 1, MPI_INT64_T, MPI_SUM, n->comm));
    return 0;
}

int nodes_split(MPI_Comm comm, struct nodes *n)
{
    *n = (struct nodes){.comm = comm, .node = MPI_COMM_NULL};
    TRY_MPI(MPI_Comm_rank(comm, &n->rank));
    TRY_MPI(MPI_Comm_size(comm, &n->size));
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, n->rank, MPI_INFO_NULL, &n->node));
    TRY_MPI(MPI_Comm_rank(n->node, &n->node_rank));
    TRY_MPI(MPI_Comm_size(n->node, &n->node_size));
    return sum(n, 1, &n->count);
}

int nodes_find(MPI_Comm comm, struct nodes *n)
{
    struct sys_cpu cpu;
    TRY(nodes_split(comm, n));
    sys_cpu(&cpu);
    n->node_cores = cpu.cores_n > 0 ? cpu.cores_n : 1;
    n->cores_allowed = cpu.cores_allowed_n > 0 ? cpu.cores_allowed_n : n->node_cores;
    snprintf(n->cpu, sizeof n->cpu, "%s", cpu.model);
    gethostname(n->host, sizeof n->host - 1);
    TRY_MPI(MPI_Bcast(n->cpu, sizeof n->cpu, MPI_CHAR, 0, comm));
    TRY(sum(n, n->node_cores, &n->cores));
    return par_json(comm, &n->mpi);
}

int nodes_memory(const struct nodes *n, int64_t mine, double *needed_bytes, int64_t *free_bytes)
{
    const double bytes = (double)mine;
    struct sys_memory memory;
    sys_memory(&memory);
    *free_bytes = memory.free_bytes;
    return par_check(MPI_Allreduce(&bytes, needed_bytes, 1, MPI_DOUBLE, MPI_SUM, n->node),
                     "MPI_Allreduce");
}

int nodes_disturbance(const struct nodes *n, const struct disturbance_sample *before,
                      const struct disturbance_sample *after, int width, struct disturbance *d)
{
    struct disturbance_part mine, *all = NULL;
    int rc = 0;
    *d = (struct disturbance){0};
    disturbance_between(before, after, width, &mine);
    mine.node = n->rank;
    TRY_MPI(MPI_Bcast(&mine.node, 1, MPI_INT, 0, n->node));
    if (n->rank == 0 && !(all = mem_new(n->size, sizeof *all, "the evidence of %d ranks", n->size)))
        rc = ERR_NOMEM;
    TRY_TO(out, rc, par_agree(n->comm, rc));
    TRY_MPI_TO(out, rc,
               MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, n->comm));
    if (n->rank == 0) disturbance_judge(all, n->size, d);
    json_t *const nodes = d->nodes;
    rc = par_check(MPI_Bcast(d, sizeof *d, MPI_BYTE, 0, n->comm), "MPI_Bcast");
    d->nodes = n->rank == 0 ? nodes : NULL;
out:
    free(all);
    return rc;
}

void nodes_free(struct nodes *n)
{
    if (n->node_size > 0) MPI_Comm_free(&n->node);
    json_decref(n->mpi);
}
