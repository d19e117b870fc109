/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_REPORT_H
#define BEFFIO_REPORT_H
/* Layer 2. What a run leaves: words and tables for people (text.c), texts that scripts read (sum.c)
 * and JSON (result.c). All functions are for rank 0. MB are 10^6 bytes in rates, and MByte 2^20 in
 * memory sizes. */
#include <jansson.h>
#include <stdio.h>

#include "companions/beffio/job.h"

/* Before measuring: system, files, schedule; warnings. */
void beffio_text_heading(const struct beffio_job *job, FILE *to);

/* The plan of a dry run: the patterns, and what each partition is to take. */
void beffio_text_plan(const struct beffio_job *job, FILE *to);

/* After measuring: tables, values, validity, the last line. */
void beffio_text_results(const struct beffio_job *job, FILE *to);

/* The summary (.sum), with the lines, columns and words of release 2.1 (tests/samples), and the
 * protocol with a line per pattern (.prot); job is a struct beffio_job. What the release does not
 * say comes behind its last line, headed "Added by nht1-beffio:". */
void beffio_sum_write(const void *job, FILE *to);
void beffio_sum_protocol(const void *job, FILE *to);

/* " b_eff_io = ... MB/s on ...", as released. valid: as judged above that line. */
void beffio_sum_last_line(const struct beffio_job *job, bool valid, FILE *to);

/* The result so far (docs/schema/nht1-beffio-1.json), and the plan of a dry run with the keys that
 * studies read; job is a struct beffio_job. New reference. */
json_t *beffio_result_json(const void *job, int status);
json_t *beffio_result_plan(const void *job, int status);

#endif
