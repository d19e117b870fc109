/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_SCHEDULE_H
#define BEFFIO_SCHEDULE_H
/* Layer 2, pure. When what is measured, for how long, and on which partitions. All functions are
 * local and depend on nothing but their arguments. */
#include <stdbool.h>
#include <stdint.h>

#include "companions/beffio/pattern.h"

enum beffio_access { BEFFIO_WRITE, BEFFIO_REWRITE, BEFFIO_READ, BEFFIO_ACCESSES };

/* "write", "rewrite", "read". */
const char *beffio_access_name(enum beffio_access access);

/* Which publication defines time and value. This and other enumerations of options are in the order
 * of their choices. */
enum beffio_definition {
    BEFFIO_0_5, /* [RK00]: bytes over time, weighted by U */
    BEFFIO_1_X, /* [RK01]: 25 % write, 25 % rewrite, 50 % read */
    BEFFIO_2_1, /* the released program: square root of write times read */
    BEFFIO_DEFINITIONS
};

/* "0.5", "1.x", "2.1". */
const char *beffio_definition_name(enum beffio_definition d);

enum { BEFFIO_PARTITIONS_MAX = 10 };

/* Whether making and removing files counts as access to them. */
enum beffio_count { BEFFIO_COUNT_DEFINITION, BEFFIO_COUNT_NONE, BEFFIO_COUNT_ALL };

struct beffio_schedule {
    enum beffio_definition definition;
    double t_s;        /* as given: per partition; all together with 2.1 */
    bool all_rewrites; /* with 2.1: rewriting types 1 to 4 has its share of the time */
    bool per_call;     /* decide after each call, not after a batch of them */
    enum beffio_count count;
    bool halves; /* 0.5 as published: partitions after the first one have half of the time */
    int partitions_n;
    int procs[BEFFIO_PARTITIONS_MAX]; /* processes of each partition, in order of execution */
};

/* Whether it counts under a definition in this run: as the released program has it under 2.1, which
 * makes files when it opens them and removes them when it closes them. */
static inline bool beffio_counts(const struct beffio_schedule *s, enum beffio_definition d)
{
    return s->count == BEFFIO_COUNT_ALL || (s->count == BEFFIO_COUNT_DEFINITION && d == BEFFIO_2_1);
}

/* T that a definition asks for: 600 and 900 s per partition, 1800 s for all partitions. */
double beffio_valid_time_s(enum beffio_definition d);

/* Scheduled time of a partition; with 2.1 whole seconds of the share, as released, unless that
 * leaves none. index: 0..partitions_n - 1. */
double beffio_partition_time_s(const struct beffio_schedule *s, int index);

/* Scheduled time of a pattern of weight u in one partition: T / 3 * U / 64; with 2.1 T_n U / 150,
 * because rewriting counts type 0 alone, or T_n U / 192. */
double beffio_pattern_time_s(const struct beffio_schedule *s, int index, int u);

/* The default partitions of n processes: 2^[0.5 + 0.35 log2 n], 2^[0.5 + 0.70 log2 n] and n itself,
 * [] cutting off; 1, 2, 3 for n = 3 and 2, 3, 4 for n = 4. [out] procs, ascending and different.
 * Returns how many. */
int beffio_default_partitions(int n, int procs[3]);

/* The partitions and times of release 0.5: all processes for T, then half of them for T / 2
 * [RK00]. Sets partitions, their number and halves. */
void beffio_halves(struct beffio_schedule *s, int n);

/* Whether a partition is measured from writing to reading before the next one begins; with 2.1 all
 * partitions are written, then rewritten, then read. */
static inline bool beffio_partition_by_partition(enum beffio_definition d)
{
    return d != BEFFIO_2_1;
}

/* How many calls come next in a pattern that is limited by time: after done > 0 calls in elapsed_s,
 * as many as were made already, but no more than fit, at the rate so far, into limit_s, nor into a
 * sixteenth of it: where writing slows down, from the cache's speed to the disk's, the last batch
 * takes that much longer than planned. With per_call one, as long as it fits. 0: end. The first
 * call is always made. left: calls that space allows still. */
int64_t beffio_next_batch(int64_t done, double elapsed_s, double limit_s, int64_t left,
                          bool per_call);

/* The same for collective calls that are limited by their number: batches grow until one takes
 * about half a second, so that a signal or an error on another rank is noticed. left: calls still
 * to make; [in] last, last_s: the previous batch. Returns 1..left, or 0 when left is 0. */
int64_t beffio_next_counted(int64_t last, double last_s, int64_t left);

/* --- space: how much a run will write, and where writing has to end for want of it --- */

/* What a run may take: what the user says (limit_bytes), or a tenth of what is free, because the
 * file system is as a rule other people's, too; never more than 95 % of it, or half of the free
 * memory where files lie in memory. */
struct beffio_room {
    int64_t free_bytes, memory_bytes; /* of the file system; available memory */
    bool in_memory;
    int64_t limit_bytes; /* 0: the user said nothing */
};
int64_t beffio_room_bytes(const struct beffio_room *r);

/* Most that a probe of the file system writes on one node, and on all of them together. */
int64_t beffio_probe_bytes(int64_t free_bytes, int64_t nodes_n);

/* Layout of a partition of procs processes that writes at rate bytes per second of all of them for
 * time_s; at rate 0, or with no time, the smallest possible: one call of each pattern. s: NULL: no
 * time. [out] l. */
void beffio_expected(const struct beffio_schedule *s, int index, int procs, int64_t m_part_bytes,
                     double rate, struct beffio_layout *l);

/* Bytes that the smallest layout takes, with what rounding of the segments may add. */
int64_t beffio_least_bytes(int procs, int64_t m_part_bytes);

/* The room of each partition. together: the files of all partitions exist at the same time.
 * [out] share: per partition, at least its least bytes. Returns 0, or the bytes that are missing
 * for the smallest layouts. */
int64_t beffio_room_share(const struct beffio_schedule *s, int64_t m_part_bytes, int64_t room,
                          bool together, int64_t share[BEFFIO_PARTITIONS_MAX]);

/* Most calls of a pattern of types 0 to 2, so that all files of the partition together stay within
 * its share: what the patterns before it left, one call of each of those after it, and what types 3
 * and 4 then take in their turn. So only a share that is used up ends a pattern. evenly: the room is
 * dealt out by U among this pattern and those after it, for a share that is known to be too small.
 * l: calls of the patterns before. At least 1. */
int64_t beffio_most_calls(const struct beffio_layout *l, int64_t share_bytes, int no, bool evenly);

/* The share of a partition when it begins, where the files of all exist at the same time: what is
 * left but for the smallest layouts of those after it; evenly: of the rest, its part. used_bytes:
 * of all files before. */
int64_t beffio_room_left(const struct beffio_schedule *s, int64_t m_part_bytes, int64_t room,
                         int64_t used_bytes, int index, bool evenly);

/* Seconds that a run is scheduled to take without checking, at least. */
double beffio_run_time_s(const struct beffio_schedule *s);

#endif
