/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_TEXT_H
#define BEFF_TEXT_H
/* Floor 2. What a run says in words and tables. All functions are local, for rank 0. Bandwidths are
 * in MB/s of 10^6 bytes. */
#include <stdio.h>

#include "beff/cube.h"
#include "beff/job.h"

/* What is going to be measured, before it is. */
void beff_text_heading(const struct beff_job *job, FILE *to);

/* The result, what it is made of, and what is to be kept in mind. */
void beff_text_result(const struct beff_job *job, FILE *to);

/* By size, by repetition and by pattern. */
void beff_text_details(const struct beff_job *job, FILE *to);

/* The summary as a text of its own, in the columns of release 3.6: number of processes, b_eff,
 * Lmax, b_eff at Lmax of rings and random patterns, of rings, latencies of rings and random
 * patterns, of rings, of the ping-pong, and its bandwidth, in one row for the whole and one per
 * process; last, b_eff = V MB/s = P * N PEs with M MB/PE on SYSTEM. */
void beff_text_sum(const void *job, FILE *to);

/* Every measurement. */
void beff_text_protocol(const void *job, FILE *to);

#endif
