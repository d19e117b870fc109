/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_REPORT_H
#define BT_REPORT_H
/* Layer 3. What a person sees: the heading before the runs, the table and what it means after
 * them. Text of at most 100 columns. For rank 0. */
#include <stdio.h>

#include "bt/judge.h"

/* The writers with what each does, for --io help. */
void bt_report_writers(FILE *to);

/* Problem, system and file, before the runs. */
void bt_report_heading(const struct bt_job *job, FILE *to);

/* Stamps and notices of the whole job. */
void bt_report_notes(const struct bt_judged *judged, FILE *to);

/* T_C, the ranked table, the meaning in words, the phases on demand, and the notes; without a run that
 * came to its end only what was read back. */
void bt_report_results(const struct bt_judged *judged, FILE *to);

#endif
