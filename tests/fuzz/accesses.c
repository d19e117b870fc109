/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accesses of a program: what is read lies in its files, can be put in order, is written as what it was, and finds
 * its data within the memory that is planned for it. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "companions/workload/accessroom.h"
#include "tests/fuzz/fuzz.h"

enum { PROCESSES = 3, CALLS_MAX = 1 << 16, BUFFER_BYTES = 1 << 19 };

static void look_at(const struct workload_accessfile *a)
{
    struct workload_step *step;
    int64_t calls;
    if (a->mine_calls > CALLS_MAX) return;
    FUZZ_CHECK(workload_runs_expand(a->run, a->mine_n, &step, &calls) == 0);
    FUZZ_CHECK(calls == a->mine_calls);
    for (int64_t i = 0; i < calls; i++) {
        const struct workload_run *r = &a->run[step[i].run];
        FUZZ_CHECK(step[i].offset >= 0);
        FUZZ_CHECK(r->bytes == 0 || step[i].offset + r->bytes <= a->file[r->file].length_bytes);
        FUZZ_CHECK(i == 0 || step[i - 1].order <= step[i].order);
    }
    free(step);
}

/* As the replay takes it, call by call. */
static void look_at_room(const struct workload_accessfile *a)
{
    const struct workload_access_room room = workload_access_room(a, BUFFER_BYTES);
    const int64_t all = workload_access_room_bytes(&room);
    int64_t reads = 0, direct = 0;
    for (int64_t i = 0; i < a->mine_n; i++) {
        const struct workload_run *r = &a->run[i];
        const int64_t taken = workload_access_on_pages(r->bytes);
        FUZZ_CHECK(taken >= r->bytes && taken - r->bytes < 4096 && taken % 4096 == 0);
        if (workload_run_reads(r)) {
            reads += r->n;
            FUZZ_CHECK(room.slots >= 1 && taken <= room.slot_bytes);
        } else if (workload_run_writes(r)) {
            FUZZ_CHECK(r->bytes <= room.longest_write);
            if (r->flags & WORKLOAD_RUN_DIRECT) direct = num_sum(direct, num_product(r->n, taken));
        }
    }
    FUZZ_CHECK(direct == room.direct_bytes && room.slots <= reads && room.calls == a->mine_calls);
    FUZZ_CHECK(room.slots <= 1 || room.slots * room.slot_bytes <= BUFFER_BYTES);
    FUZZ_CHECK(all > 0 && all >= room.direct_bytes && all >= room.longest_write);
    FUZZ_CHECK(all == NUM_ENDLESS || all >= room.slots * room.slot_bytes + room.direct_bytes);
}

/* The runs of one process and all that is beside them, written and read again. */
static void write_again(const struct workload_accessfile *a, int process)
{
    struct workload_accessfile head = *a, again;
    struct text t;
    char *out = NULL;
    head.runs_n = a->mine_n;
    FUZZ_CHECK(text_begin(&t) == 0);
    workload_accessfile_head(&head, t.to);
    for (int f = 0; f < a->files_n; f++)
        workload_accessfile_name(f, a->file[f].name, t.to);
    for (int64_t r = 0; r < a->mine_n; r++)
        workload_accessfile_run(process, &a->run[r], t.to);
    FUZZ_CHECK(text_end(&t, &out) == 0);
    FUZZ_CHECK(workload_accessfile_read("a.jsonl", out, strlen(out), process, &again) == 0);
    FUZZ_CHECK(again.mine_n == a->mine_n && again.mine_calls == a->mine_calls);
    for (int64_t r = 0; r < a->mine_n; r++)
        FUZZ_CHECK(memcmp(&again.run[r], &a->run[r], sizeof again.run[r]) == 0);
    workload_accessfile_free(&again);
    free(out);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct workload_accessfile a;
    for (int process = 0; process < PROCESSES; process++) {
        const int rc = workload_accessfile_read("a.jsonl", (const char *)bytes, size, process, &a);
        fuzz_message(rc);
        if (rc < 0) return;
        look_at(&a);
        look_at_room(&a);
        if (process < a.processes_n) write_again(&a, process);
        workload_accessfile_free(&a);
    }
}
