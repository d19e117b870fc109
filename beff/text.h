/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_TEXT_H
#define BEFF_TEXT_H
/* Floor 2. What a run says in words and tables. All functions are local, for rank 0. Bandwidths are
 * in MB/s of 10^6 bytes. */
#include <stdio.h>

#include "beff/cube.h"
#include "beff/job.h"

/* What is going to be measured, before it is. */
void beff_report_heading(const struct beff_job *job, FILE *to);

/* The result, what it is made of, and what is to be kept in mind. */
void beff_report_result(const struct beff_job *job, const struct beff_summary *s, FILE *to);

/* By size, by repetition and by pattern. */
void beff_report_details(const struct beff_job *job, const struct beff_summary *s, FILE *to);

/* The summary as a text of its own: heading, one table with a row for the whole and one per
 * process, and the closing line "b_eff = ...". */
void beff_report_sum(const struct beff_job *job, const struct beff_summary *s, FILE *to);

/* Every measurement. */
void beff_report_protocol(const struct beff_job *job, const struct beff_summary *s, FILE *to);

#endif
