/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_MACHINE_H
#define BT_MACHINE_H
/* Layer 3. What the job runs on, as far as the benchmark decides by it: nodes, cores, threads per
 * rank, memory; and the warnings that follow. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/nodes.h"

struct bt_machine {
    struct nodes nodes;
    int64_t cores_in_use; /* min(ranks x threads, cores) */
    int threads; /* OpenMP threads that every rank computes with: the fewest that one may have */
    int threads_most; /* that one may have */
    int width;        /* logical CPUs that the narrowest rank may use, INT_MAX: unknown */
    int mask_width; /* those that its threads are let on together: fewer where OpenMP binds them */
    int64_t cpus;   /* those of the threads of all ranks together, INT64_MAX: unknown */
    bool omp_binds; /* OMP_PROC_BIND or OMP_PLACES binds threads */
};

/* Threads that spin while they wait ruin each other's time when there are more of them than cores,
 * by a factor of a hundred and more. Before MPI starts: when the launcher's environment says so and
 * OMP_WAIT_POLICY is not set, sets it to passive and starts this program again, because the OpenMP
 * library has read it by now. Returns when there is nothing to do. Local. */
void bt_machine_reexec_passive(char **argv);

/* Finds out. When OMP_NUM_THREADS is not set, or to no number, gives every rank its share of the
 * CPUs that it may use; then all ranks the fewest threads that one of them has. From here on OpenMP
 * takes so many, not fewer by the load (OMP_DYNAMIC). Collective over comm. [out] m, to be freed by bt_machine_free. */
int bt_machine_make(MPI_Comm comm, struct bt_machine *m);
void bt_machine_free(struct bt_machine *m);

/* Appends a sentence, made printf-style, to an array of them. Local. */
#define bt_notice(to, ...) json_array_append_new(to, js_printf(__VA_ARGS__))

/* Appends warnings about the threads of the ranks to the sentences. Binding and oversubscription are
 * bt/judge's. Local. */
void bt_machine_warn(const struct bt_machine *m, json_t *notices);

/* What to do about threads that share CPUs that they are bound to: words behind "; ". Local. */
#define BT_MACHINE_UNBIND 192
const char *bt_machine_unbind(const struct bt_machine *m, char out[BT_MACHINE_UNBIND]);

/* Compares the memory that the ranks of each node need, mine this one, with what the node has free.
 * Collective. ERR_NOMEM with both numbers when it does not fit. */
int bt_machine_memory(const struct bt_machine *m, int64_t mine);

/* Memory in bytes that a rank needs for a block of so many cells, roughly: solver, and where
 * something is written (staged) the staging buffer. What writers hold: io/setting.h. Local. */
int64_t bt_machine_rank_bytes(int64_t cells, bool staged);

/* Free memory of this node in bytes, INT64_MAX when unknown. Local. */
int64_t bt_machine_free_bytes(void);

#endif
