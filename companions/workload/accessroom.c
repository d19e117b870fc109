/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/accessroom.h"

#include "base/buffer.h"
#include "base/num.h"
#include "companions/workload/accessopen.h"
#include "companions/workload/data.h"

/* Of a run, and of a descriptor for it where each has its own (accessopen.h). */
#define RUN_BYTES (sizeof(struct workload_access_open) + 3 * sizeof(int64_t))

int64_t workload_access_on_pages(int64_t bytes)
{
    return num_product(num_sum(bytes, BUFFER_ALIGN_BYTES - 1) / BUFFER_ALIGN_BYTES,
                       BUFFER_ALIGN_BYTES);
}

struct workload_access_room workload_access_room(const struct workload_accessfile *a,
                                                 int64_t buffer_bytes)
{
    struct workload_access_room room = {.calls = a->mine_calls, .runs = a->mine_n};
    int64_t reads = 0;
    for (int64_t i = 0; i < a->mine_n; i++) {
        const struct workload_run *r = &a->run[i];
        const int64_t on_pages = workload_access_on_pages(r->bytes);
        if (workload_run_reads(r)) {
            reads += r->n;
            room.slot_bytes = num_max(room.slot_bytes, on_pages);
        } else if (workload_run_writes(r)) {
            room.longest_write = num_max(room.longest_write, r->bytes);
            if (r->flags & WORKLOAD_RUN_DIRECT)
                room.direct_bytes = num_sum(room.direct_bytes, num_product(r->n, on_pages));
        }
    }
    const int64_t most = room.slot_bytes > 0 ? buffer_bytes / room.slot_bytes : 0;
    room.slots = num_min(reads, most);
    if (reads > 0 && room.slots == 0) room.slots = 1;
    return room;
}

int64_t workload_access_room_bytes(const struct workload_access_room *room)
{
    /* The calls in their order, and for a while by their places. */
    const int64_t list = num_sum(num_product(room->calls, 2 * sizeof(struct workload_step)),
                                 num_product(room->runs, RUN_BYTES));
    const int64_t reading = num_product(room->slots, num_sum(room->slot_bytes, sizeof(int64_t)));
    const int64_t writing =
        num_sum(num_sum(room->longest_write, WORKLOAD_PERIOD_BYTES), room->direct_bytes);
    return num_sum(list, num_sum(reading, writing));
}
