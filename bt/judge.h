/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_JUDGE_H
#define BT_JUDGE_H
/* Floor 3. What is to be thought of the numbers, decided here and nowhere else: the printed report
 * and the JSON tell the same stamps,
 *
 *   { "code": "page-cache", "severity": "good" | "note" | "warn" | "bad",
 *     "numbers": { "dirty_share": 0.8 }, "sentence": "..." }
 *
 * and reports, comparisons and studies repeat them. Codes: docs/zeta.md. Each function gives a new
 * array of them; local, for rank 0. */
#include "bt/ranking.h"

/* Of the whole job: cores in use, binding, T_C, a problem cut short. */
json_t *bt_judge_job(const struct bt_job *job);

/* Of one run: verified, official, page cache. */
json_t *bt_judge_run(const struct bt_job *job, const struct bt_outcome *o);

/* Of a writer over all its rounds: the balance first. */
json_t *bt_judge_row(const struct bt_job *job, const struct bt_row *row);

#endif
