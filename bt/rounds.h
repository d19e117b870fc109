/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_ROUNDS_H
#define BT_ROUNDS_H
/* Layer 3. The runs of a job: every writer once per round, in an order that is random but follows
 * from the seed, so that no writer always comes first; each file proved after its run. From two
 * rounds on each holds a compute-only run, which gives the T_C of its round: a slowdown of
 * the whole machine then cancels in the paired zeta. */
#include "bt/job.h"

/* Makes the solver of all runs, and warms memory and file system up for them. Collective. [out]
 * solver, to be freed also after an error. */
int bt_rounds_begin(struct bt_job *job, struct bt_solver **solver);

/* Makes all runs that were asked for; with --repeat auto until the balance of every writer is
 * settled or --minutes are over. Collective. Outcomes are added to job as they come, and the
 * result so far is kept in the file of --json; the first error ends the rounds and is returned,
 * ERR_INTERRUPT when asked to stop. */
int bt_rounds_make(struct bt_job *job);

#endif
