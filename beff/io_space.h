/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_IO_SPACE_H
#define BEFF_IO_SPACE_H
/* Floor 2, pure. How much a run will write, and where writing has to end for want of space. All
 * functions are local. */
#include <stdbool.h>
#include <stdint.h>

#include "beff/io_pattern.h"
#include "beff/io_schedule.h"

/* What a file system gives to a run: 95 % of what is free; half of the free memory where files lie
 * in memory. limit_bytes: given by the user, 0: none. */
struct beffio_room {
    int64_t free_bytes, memory_bytes; /* of the file system; available memory */
    bool in_memory;
    int64_t limit_bytes;
};
int64_t beffio_room_bytes(const struct beffio_room *r);

/* Layout of a partition that writes at rate bytes per second of all its processes for the scheduled
 * time; at rate 0 the smallest possible: one call of each pattern. [out] l. */
void beffio_expected(const struct beffio_schedule *s, int procs, int64_t m_part_bytes, double rate,
                     struct beffio_layout *l);

/* Bytes that the smallest layout takes, with what rounding of the segments may add. */
int64_t beffio_least_bytes(int procs, int64_t m_part_bytes);

/* The room of each partition. together: the files of all partitions exist at the same time.
 * [out] share: per partition, at least its least bytes. Returns 0, or the bytes that are missing
 * for the smallest layouts. */
int64_t beffio_room_share(const struct beffio_schedule *s, int64_t m_part_bytes, int64_t room,
                          bool together, int64_t share[BEFFIO_PARTITIONS_MAX]);

/* Most calls of a pattern of types 0 to 2, so that all files of the partition together stay within
 * its share: the room beyond the smallest layout is dealt out by U; types 3 and 4 write no more per
 * pattern than type 2. At least 1. */
int64_t beffio_most_calls(int procs, int64_t m_part_bytes, int64_t share_bytes, int no);

/* Seconds that a run is scheduled to take without checking, at least. */
double beffio_run_time_s(const struct beffio_schedule *s);

#endif
