/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_JUDGE_H
#define BT_JUDGE_H
/* Layer 3. Judges the numbers of a job, once and for all outputs: the printed report and the JSON
 * show the same stamps,
 *
 *   { "code": "page-cache", "severity": "good" | "note" | "warn" | "bad",
 *     "numbers": { "dirty_share": 0.8 }, "sentence": "..." }
 *
 * and reports, comparisons and studies repeat them. Codes: base/stamp_list.h. Local, for rank 0. */
#include "bt/ranking.h"

/* A job with what came out of it. */
struct bt_judged {
    const struct bt_job *job;
    int rows_n;                         /* 0: no run came to its end */
    struct bt_row row[BT_RUNS_MAX + 1]; /* by bt_ranking, with the stamps of a writer over all its
                                           rounds: the balance first; what was read back besides */
    json_t *
        stamps; /* of the whole job: interrupted, cores in use, binding, T_C, a problem cut short */
};

/* Once all runs are made and T_C is known. [out] to, to be freed by bt_judge_free; zeros may be. */
void bt_judge(struct bt_judged *to, const struct bt_job *job);
void bt_judge_free(struct bt_judged *judged);

/* Stamps of one run: verified, official, page cache. New reference. */
json_t *bt_judge_run(const struct bt_job *job, const struct bt_outcome *o);

#endif
