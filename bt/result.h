/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RESULT_H
#define BT_RESULT_H
/* Layer 3. The complete result as JSON; its members are described in docs/schema/nht1-bt-1.json. */
#include "bt/job.h"

/* The "problem" object: what is solved and dumped. New reference. */
json_t *bt_result_problem(const struct bt_setup *s);

/* The result of a job, a struct bt_judged. New reference. For rank 0. status: exit status of the
 * program. */
json_t *bt_result_json(const void *judged, int status);

/* Writes the result so far to the file of --json, so that a job that is killed leaves what it had
 * measured. Nothing is written into a pipe, nor where writing would take more than a twentieth of the
 * time; an error is reported at the end of the job. next_s: [in,out] time of the next write at the
 * earliest. For rank 0. */
void bt_result_keep(const struct bt_job *job, double *next_s);

#endif
