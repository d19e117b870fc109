/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_COMPUTE_H
#define BT_COMPUTE_H
/* Floor 2. T_C, the best compute-only time for a system and problem: from the store, measured on
 * the spot, or given. */
#include "bt/job.h"

/* Notes a compute-only run of this job and offers it to the store. Collective. solver: its solver.
 * A run with wrong norms is neither noted nor stored; trouble with the store becomes a notice. */
int bt_compute_note(struct bt_job *job, const struct bt_outcome *outcome, const char *isa);

/* Finds job->tc: as --tc says, measuring when that is needed. Collective; no solver should be
 * alive, since the measurement makes its own. Returns ERR_INTERRUPT when asked to stop meanwhile.
 */
int bt_compute_find(struct bt_job *job);

/* "best verified time of this system and problem (store FILE)", for people. out: size bytes. */
void bt_compute_words(const struct bt_job *job, char *out, size_t size);

#endif
