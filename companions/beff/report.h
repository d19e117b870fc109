/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_REPORT_H
#define BEFF_REPORT_H
/* Layer 2. What a run leaves: words and tables (text.c), in MB/s of 10^6 bytes, and JSON (result.c).
 * All functions are local, for rank 0. */
#include <jansson.h>
#include <stdio.h>

#include "companions/beff/job.h"

/* What is going to be measured, before it is. */
void beff_text_heading(const struct beff_job *job, FILE *to);

/* The result, what it is made of, and what is to be kept in mind. */
void beff_text_result(const struct beff_job *job, FILE *to);

/* By size, by repetition and by pattern. */
void beff_text_details(const struct beff_job *job, FILE *to);

/* The summary (.sum), with the lines, columns and words of release 3.6 (tests/samples). What the
 * release does not say comes behind its last line, headed "Added by nht1-beff:". */
#define BEFF_SUM_MARK "\nSECTION-HEAD-BEGIN\n\nnht1-beff " /* how it begins */
void beff_text_sum(const void *job, FILE *to);

/* Every measurement, one section per size. */
void beff_text_protocol(const void *job, FILE *to);

/* The complete result (docs/schema/nht1-beff-1.json); status: of the exit. New reference. */
json_t *beff_result_json(const void *job, int status);

#endif
