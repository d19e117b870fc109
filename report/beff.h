/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_BEFF_H
#define REPORT_BEFF_H
/* Serial. The sections about nht1-beff: one result at a time. All functions are local and take part
 * of the page as it is; what fails for want of memory is noticed by page_ok. */
#include <jansson.h>

#include "report/report.h"

#define BEFF_MB 1e6

/* Figures of one result; key: tells its files from other results' ("", "-2"). */
void beff_fig_sizes(struct report *r, const json_t *root, const char *key);
void beff_fig_methods(struct report *r, const json_t *root, const char *key);
void beff_fig_patterns(struct report *r, const json_t *root, const char *key);

/* Results in one table, in the columns of table 1 of [RK01], with the published ones below. */
void beff_table_results(struct report *r);

#endif
