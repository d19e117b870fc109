/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_BT_H
#define REPORT_BT_H
/* Serial. The sections about nht1-bt: one group of runs at a time. All functions are local and take
 * part of the page as it is; what fails for want of memory is noticed by page_ok. */
#include "report/report.h"

/* What is known of a group over processor counts: one row per count, ascending. */
#define SCALING_MAX 64
struct scaling {
    int n;
    double processors[SCALING_MAX], t_c_s[SCALING_MAX]; /* T_C NaN where unknown */
    double alone_s[SCALING_MAX];                        /* runs_alone */
    const struct cell *best[SCALING_MAX];               /* fastest writer */
};
void scaling_of(const struct runs *runs, const struct group *g, struct scaling *out);

/* Figures 1 to 5 of [F93] for a group; key: tells its files from other groups' ("", "-2"). */
void fig_groups(struct report *r, const struct group *g, const char *key);
void fig_times(struct report *r, const struct group *g, const char *key);
void fig_systems(struct report *r, const struct group *g, const char *key);
void fig_rate(struct report *r, const struct group *g, const char *key);
void fig_overhead(struct report *r, const struct group *g, const char *key);

/* Cells that write with this many processors, fastest first. out: [out] at least FIG_WRITERS_MAX
 * numbers of cells. Returns how many. */
#define FIG_WRITERS_MAX 40
int fig_writers(const struct runs *runs, const struct group *g, int64_t processors, int *out);

/* The next cell of a table: verified, official, page cache, oversubscribed. */
void fig_counts_as(struct table *t, const struct cell *c);

/* Tables and figures of the writers at a processor count: ranked, by phases, dump by dump. */
void fig_ranking(struct report *r, const struct group *g, int64_t processors, const char *key);
void fig_phases(struct report *r, const struct group *g, int64_t processors, const char *key);
void fig_timelines(struct report *r, const struct group *g, int64_t processors, const char *key);

#endif
