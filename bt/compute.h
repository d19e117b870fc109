/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_COMPUTE_H
#define BT_COMPUTE_H
/* Layer 3. Compute-only runs, and T_C, the best of them for a system and problem: from the store,
 * measured on the spot, or given. */
#include "bt/job.h"

/* The key of T_C on so many nodes like this one and cores. Local. */
struct bt_tc_key bt_compute_key(const struct nodes *n, int64_t nodes, int64_t cores,
                                const struct bt_problem *p);

/* One compute-only run with decomposition d, added to job. Its time is offered to the store and
 * noted as job->measured when it is the best so far; one with wrong norms is neither. round: 0
 * outside of the rounds. Collective. Trouble with the store becomes a notice. */
int bt_compute_run(struct bt_job *job, struct bt_solver *solver, const struct bt_decomp *d,
                   int round);

/* Sets job->tc as far as it is known without measuring: given, or the better of the store and the
 * compute-only runs of this job. Collective. */
int bt_compute_known(struct bt_job *job);

/* Finds job->tc: as --tc says, measuring when that is needed. Collective; no solver should be
 * alive, since the measurement makes its own. Returns ERR_INTERRUPT when asked to stop meanwhile.
 */
int bt_compute_find(struct bt_job *job);

/* Where T_C comes from, for people: "best verified time remembered ...". out: size bytes. */
void bt_compute_origin(const struct bt_job *job, char *out, size_t size);

#endif
