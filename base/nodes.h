/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_NODES_H
#define BASE_NODES_H
/* Layer 0. The nodes and cores on which the ranks of a job run. Knows MPI. */
#include <jansson.h>
#include <mpi.h>
#include <stdint.h>

#include "base/disturbance.h"

struct nodes {
    MPI_Comm comm, node; /* all ranks (borrowed); those of this rank's node (owned) */
    int rank, size;
    int node_rank, node_size; /* of this rank's node */
    int64_t count;            /* nodes */
    /* Of nodes_find alone: */
    int64_t cores;         /* of all nodes */
    int64_t node_cores;    /* of this rank's node, at least 1 */
    int64_t cores_allowed; /* those that this rank's affinity mask lets it use, at least 1 */
    char cpu[128];         /* model, of rank 0 */
    char host[128];        /* of this rank */
    json_t *mpi;           /* of par_json, on rank 0 (owned) */
};

/* Finds out how the ranks are placed on nodes. Collective over comm. [out] n, to be freed by nodes_free,
 * also after an error. Returns 0 or ERR_MPI. */
int nodes_split(MPI_Comm comm, struct nodes *n);

/* The same, and describes the nodes and MPI; counting the cores takes some milliseconds. */
int nodes_find(MPI_Comm comm, struct nodes *n);

/* Memory that the ranks of this rank's node need together, mine this one, and what the node has free,
 * in bytes; INT64_MAX: not known. Collective over n->node. Returns 0 or ERR_MPI. */
int nodes_memory(const struct nodes *n, int64_t mine, double *needed_bytes, int64_t *free_bytes);

/* The evidence of all ranks between two samples, those of node_rank 0 with of_node; width: threads of
 * this rank that were to compute all the time, 0: not known. Collective over n->comm. [out] d, valid
 * on every rank, its nodes on rank 0 alone, to be freed by disturbance_end. Returns 0, ERR_NOMEM or
 * ERR_MPI, and then d is all zero. */
int nodes_disturbance(const struct nodes *n, const struct disturbance_sample *before,
                      const struct disturbance_sample *after, int width, struct disturbance *d);

/* A struct that is all zero may be freed, too. */
void nodes_free(struct nodes *n);

#endif
