/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_EVIDENCE_H
#define BT_EVIDENCE_H
/* Layer 3. Why nothing can be concluded from the rounds of a job, whatever they came to: processors that
 * are shared, other programs. The same for what a writer writes and for what is read back. All
 * functions are local. */
#include "base/balance.h"
#include "bt/ranking.h"

/* Rounds of which something is compared with computing alone. Of the runs of a writer: like NULL; else of its readings that are like this one. */
struct balance_rounds bt_evidence_of(const struct bt_job *job, const char *writer,
                                     const struct bt_reading *like);

/* More threads than cores, or than a rank is bound to. Returns the reason as a word, NULL when there is
 * none. why: [out] the same for people, and what to do about it. */
const char *bt_evidence_cores(const struct bt_machine *m, char why[BALANCE_WHY]);

/* Repeats what one of them says of its processors, d, as the stamp "disturbed" or "processors-shared". What was
 * so in fewer than half of the rounds spoils no answer, nor do processors that only the runs themselves shared,
 * with their own threads and with the kernel that flushed a file, and not computing alone. Both are notes
 * then, else warnings. Nothing to say: no stamp. */
void bt_evidence_stamp(json_t *to, const struct balance_rounds *e, const struct bt_machine *m,
                       const struct disturbance *d);

#endif
