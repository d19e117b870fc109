/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_REPORT_H
#define BEFF_REPORT_H
/* Layer 2. The outputs of a run: words and tables for people (text.c), texts that scripts read (sum.c),
 * both in MB/s of 10^6 bytes, and JSON (result.c). All functions are local, for rank 0. */
#include <jansson.h>
#include <stdio.h>

#include "companions/beff/job.h"

/* What will be measured. */
void beff_text_heading(const struct beff_job *job, FILE *to);

/* The result, its parts, and its stamps. */
void beff_text_result(const struct beff_job *job, FILE *to);

/* By size, by repetition and by pattern. */
void beff_text_details(const struct beff_job *job, FILE *to);

/* What the texts for people and those for scripts share: system and memory; the stamps. */
void beff_text_system(const struct beff_job *job, FILE *to);
void beff_text_notes(const struct beff_job *job, FILE *to);

/* The summary (.sum), with the lines, columns and words of release 3.6 (tests/samples), and the
 * protocol (.prot) with its sections: every measurement, as MB/s of a process. What the release does
 * not say comes behind the last line, headed "Added by nht1-beff:". job is a struct beff_job. */
#define BEFF_SUM_MARK "\nSECTION-HEAD-BEGIN\n\nnht1-beff " /* how both begin */
void beff_sum_write(const void *job, FILE *to);
void beff_sum_protocol(const void *job, FILE *to);

/* The complete result (docs/schema/nht1-beff-1.json); status: of the exit. New reference. */
json_t *beff_result_json(const void *job, int status);

#endif
