/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_TIMELINE_H
#define PROFILE_PRELOAD_TIMELINE_H
/* Layer 3. Bytes and the time inside I/O of a process over time, in bins of equal width; and when it was inside I/O. */
#include <stdint.h>

#include "companions/profile/record.h"

#pragma GCC visibility push(hidden)

/* Begins the timeline of a process that has none, at a time of the clock. */
void timeline_begin(struct profile_map *m, double now_s);

/* Enters a call, spread over the bins that it took: the bins' bytes are together those of all calls. When the
 * run outgrows the bins, each two become one. */
void timeline_add(struct profile_map *m, int write, int64_t bytes, double from_s, double to_s);

/* Enters the time of a call into the bursts, of which room >= 2 are there. Where they are full the closest become one. */
void timeline_burst(struct profile_map *m, int room, uint64_t from_ns, uint64_t to_ns);

#pragma GCC visibility pop

#endif
