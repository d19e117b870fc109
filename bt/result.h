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

#endif
