/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_IO_SCHEDULE_H
#define BEFF_IO_SCHEDULE_H
/* Floor 2, pure. When what is measured, for how long, and on which partitions. All functions are
 * local and depend on nothing but their arguments. */
#include <stdbool.h>
#include <stdint.h>

#include "beff/io_pattern.h"

enum beffio_access { BEFFIO_WRITE, BEFFIO_REWRITE, BEFFIO_READ, BEFFIO_ACCESSES };

/* "write", "rewrite", "read". */
const char *beffio_access_name(enum beffio_access access);

/* Which publication defines time and value. */
enum beffio_definition {
    BEFFIO_0_5, /* [RK00]: bytes over time, weighted by U */
    BEFFIO_1_X, /* [RK01]: 25 % write, 25 % rewrite, 50 % read */
    BEFFIO_2_1, /* the released program: square root of write times read */
    BEFFIO_DEFINITIONS
};

/* "0.5", "1.x", "2.1". */
const char *beffio_definition_name(enum beffio_definition d);

enum { BEFFIO_PARTITIONS_MAX = 10 };

struct beffio_schedule {
    enum beffio_definition definition;
    double t_s;        /* as given: per partition; all together with 2.1 */
    bool all_rewrites; /* with 2.1: rewriting types 1 to 4 has its share of the time */
    bool per_call;     /* decide after each call, not after a batch of them */
    int partitions_n;
    int procs[BEFFIO_PARTITIONS_MAX]; /* processes of each partition, in order of execution */
};

/* T that a definition asks for: 600 and 900 s per partition, 1800 s for all partitions. */
double beffio_valid_time_s(enum beffio_definition d);

/* Scheduled time of one partition; with 2.1 whole seconds of the share, as released, unless that
 * leaves none. */
double beffio_partition_time_s(const struct beffio_schedule *s);

/* Scheduled time of a pattern of weight u in one partition: T / 3 * U / 64; with 2.1 T_n U / 150,
 * because rewriting counts type 0 alone, or T_n U / 192. */
double beffio_pattern_time_s(const struct beffio_schedule *s, int u);

/* The default partitions of n processes: 2^[0.5 + 0.35 log2 n], 2^[0.5 + 0.70 log2 n] and n itself,
 * [] cutting off; 1, 2, 3 for n = 3 and 2, 3, 4 for n = 4. [out] procs, ascending and different.
 * Returns how many. */
int beffio_default_partitions(int n, int procs[3]);

/* Whether a partition is measured from writing to reading before the next one begins; with 2.1 all
 * partitions are written, then rewritten, then read. */
static inline bool beffio_partition_by_partition(enum beffio_definition d)
{
    return d != BEFFIO_2_1;
}

/* How many calls come next in a pattern that is limited by time: after done > 0 calls in elapsed_s,
 * as many as were made already, but no more than fit, at the rate so far, into limit_s. With
 * per_call one, as long as it fits. 0: end. The first call is always made. left: calls that space
 * allows still. */
int64_t beffio_next_batch(int64_t done, double elapsed_s, double limit_s, int64_t left,
                          bool per_call);

/* The same for a pattern that is limited by a number of calls: batches grow until one takes about
 * half a second, so that a signal or an error on another rank is noticed. left: calls still to
 * make; [in] last, last_s: the previous batch. Returns 1..left, or 0 when left is 0. */
int64_t beffio_next_counted(int64_t last, double last_s, int64_t left);

#endif
