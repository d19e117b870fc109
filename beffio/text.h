/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_TEXT_H
#define BEFFIO_TEXT_H
/* Floor 2. What people read. All functions are for rank 0. MB are 10^6 bytes. */
#include <stdio.h>

#include "beffio/job.h"

/* Before measuring: system, files, schedule; warnings. */
void beffio_text_heading(const struct beffio_job *job, FILE *to);

/* The plan of a dry run: the patterns, and what each partition is to take. */
void beffio_text_plan(const struct beffio_job *job, FILE *to);

/* After measuring: tables, values, validity, the last line. */
void beffio_text_results(const struct beffio_job *job, FILE *to);

#endif
