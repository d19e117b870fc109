/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_SUM_H
#define BEFFIO_SUM_H
/* Floor 2. The texts that scripts read, as the released program prints them: the summary (.sum),
 * the protocol (.prot) with a line per pattern, and the last line of both and of the terminal. For
 * rank 0. MB are 10^6 bytes in rates, and MByte 2^20 in memory sizes.
 *
 *    of PEs     size (l) methode ...             the heading of a partition
 *   N PEs POS L ACCESS v0 v1 v2 v3 v4            POS 1..7: 1k 1k+8 32k 32k+8 1M 1M+8 M; MB/s per
 * type N PEs total-ACCESS v0 v1 v2 v3 v4 N PEs bw_pat2= w r d MB/s                    pattern 2:
 * write, rewrite, read weighted average bandwidth for ACCESS : V MB/s on N processes b_eff_io = V
 * MB/s on N processes ...        the last line */
#include <stdio.h>

#include "beffio/job.h"

/* For struct program_output: job is a struct beffio_job. */
void beffio_sum_write(const void *job, FILE *to);
void beffio_sum_protocol(const void *job, FILE *to);

/* " b_eff_io = ... MB/s on ...": value, what is counted, and both stamps. */
void beffio_sum_last_line(const struct beffio_job *job, FILE *to);

/* "creation and removal of files counted", or not. */
const char *beffio_sum_counted(const struct beffio_schedule *s);

#endif
