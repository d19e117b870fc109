/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H
/* Serial. A report out of results: each kind of result has a part that adds its sections to the
 * page. To add a kind: a line in load.c's list of kinds, a function as below in a file of its own,
 * and a line in report.c's list of parts. All functions are local. */
#include "report/load.h"
#include "report/page.h"
#include "report/runs.h"

struct report {
    const struct docs *docs;
    struct runs runs; /* those of nht1-bt among the results */
    double level;     /* of confidence intervals, 0.95 */
    struct page *page;
};

/* Add sections; nothing when there is no result of the kind. Return 0 or ERR_NOMEM. */
int part_verdict(struct report *r);
int part_bt(struct report *r);
int part_beff(struct report *r);
int part_beffio(struct report *r);
int part_balance(struct report *r);
int part_system(struct report *r);

/* What the headline is about: the first group, and its fastest writer at the best processor count.
 * NULL when there is none. */
const struct group *report_main_group(const struct report *r);
const struct cell *report_main_cell(const struct report *r);

/* Whether a cell misses the goal without that being the cost of writing: ranks share cores, whose
 * T_C is that of fewer ranks; computing itself was far slower than T_C; or it would be within the
 * goal but for what came up with the data dropped. */
bool report_is_undecided(const struct report *r, const struct cell *c);

/* Builds the whole page. r->docs and r->level are given; page: [out] freed by report_free. title:
 * NULL for one made of the system's name. */
int report_build(struct report *r, const char *title);
void report_free(struct report *r);

#endif
