/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESSROOM_H
#define WORKLOAD_ACCESSROOM_H
/* Layer 2, free of MPI. The memory that a replay of accesses (accessreplay.h) takes on a rank. Reading calls
 * take slots in turn. Writing calls send what lies ready for all of them; those past the page cache need
 * memory on a page, so that each has its own that was filled before. All functions are local. */
#include "companions/workload/accessfile.h"

/* NUM_ENDLESS: more than there can be. */
struct workload_access_room {
    int64_t calls, runs, slots, slot_bytes, longest_write, direct_bytes;
};

/* Bytes as they lie in memory for a call that goes past the page cache. */
int64_t workload_access_on_pages(int64_t bytes);

/* For the runs of this rank. buffer_bytes: for what is read, one slot at least. */
struct workload_access_room workload_access_room(const struct workload_accessfile *a,
                                                 int64_t buffer_bytes);

/* All of it, with the list of calls. */
int64_t workload_access_room_bytes(const struct workload_access_room *room);

#endif
