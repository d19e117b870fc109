/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_ROUNDS_H
#define BT_ROUNDS_H
/* Floor 2. The runs of a job: every writer once per round, in an order that is random but follows
 * from the seed, so that no writer always comes first; each file proved after its run. */
#include "bt/job.h"

/* Makes all runs that were asked for. Collective. Outcomes are added to job as they come; the first
 * error ends the rounds and is returned, ERR_INTERRUPT when asked to stop. */
int bt_rounds_make(struct bt_job *job);

/* One compute-only run with decomposition d and a solver of its own, added to job, noted for T_C.
 * Collective. */
int bt_rounds_compute(struct bt_job *job, const struct bt_decomp *d);

#endif
