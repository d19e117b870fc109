/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_TEXT_H
#define BEFFIO_TEXT_H
/* Floor 2. What people read, and what existing scripts read. All functions are for rank 0. MB are
 * 10^6 bytes in rates, and MByte 2^20 in memory sizes, as the released program has it. */
#include <stdio.h>

#include "beffio/job.h"

/* Before measuring: system, files, schedule; warnings. */
void beffio_text_heading(const struct beffio_job *job, FILE *to);

/* The plan of a dry run: the patterns, and what each partition is to take. */
void beffio_text_plan(const struct beffio_job *job, FILE *to);

/* After measuring: tables, values, validity, the last line. */
void beffio_text_results(const struct beffio_job *job, FILE *to);

/* " b_eff_io = ... MB/s on ...": the last line of all texts. */
void beffio_text_last_line(const struct beffio_job *job, FILE *to);

/* The protocol, a line per pattern. */
void beffio_text_protocol(const struct beffio_job *job, FILE *to);

/* The summary with the columns of the released program's .sum file. */
void beffio_text_sum(const struct beffio_job *job, FILE *to);

/* System, host, release and machine in one line. out: [out] size bytes. */
void beffio_sum_uname(char *out, size_t size);

/* Head of protocol and summary. */
void beffio_text_head(const struct beffio_job *job, FILE *to);

#endif
