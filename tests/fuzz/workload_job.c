/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job files in both spellings, and what nht1-workload plans of each phase before it makes a file, for
 * a few processes. The first byte of the input chooses: 'i' for INI. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "tests/fuzz/fuzz.h"
#include "companions/workload/accesses.h"

enum { LIST_BYTES = 1 << 18, MEMORY_BYTES = 1 << 22, BUFFER_BYTES = 1 << 19, PHASES_MAX = 20 };

/* Every piece of a call lies in its slot, and all together are the access. */
static void look_at_memory(const struct workload_phase *p, const struct workload_shape *s, int rank,
                           const struct workload_access *a, int64_t slot_bytes)
{
    const int64_t pieces = workload_memory_pieces(s, &p->memory, rank, a->number);
    int64_t bytes = 0;
    FUZZ_CHECK(pieces >= 1);
    for (int64_t k = 0; k < pieces; k++) {
        /* Some of many: the first and the last. */
        if (pieces > 2000 && k == 1000) k = pieces - 1000;
        const struct workload_extent e = workload_memory_piece(s, &p->memory, rank, a->number, k);
        FUZZ_CHECK(e.offset >= 0 && e.bytes >= 1 && e.bytes <= slot_bytes - e.offset);
        bytes += e.bytes;
    }
    FUZZ_CHECK(pieces > 2000 ? bytes < a->in.bytes : bytes == a->in.bytes);
}

static void look_at(const struct workload_phase *p, const struct workload_shape *s, int rank,
                    const struct workload_need *need)
{
    struct workload_accesses a;
    int64_t accesses, period, sum = 0;
    FUZZ_CHECK(workload_accesses_make(p, s, rank, &a) == 0);
    FUZZ_CHECK(a.all >= 1 && a.n >= 1 && a.n <= a.all && a.calls >= 1);
    FUZZ_CHECK(a.all * (int64_t)sizeof *a.access <= need->list);
    FUZZ_CHECK(need->ready == 0 || a.slots_n * a.slot_bytes == need->ready);
    workload_shape_period(s, rank, &accesses, &period);
    FUZZ_CHECK(accesses >= 1 && accesses <= a.all && period >= 1 && period <= need->file);
    for (int64_t c = 0; c < a.calls; c++) {
        int64_t from, to;
        workload_accesses_range(&a, p, c, &from, &to);
        FUZZ_CHECK(from >= 0 && from < to && to <= a.n && to - from <= p->group);
        const int64_t bytes = workload_accesses_bytes(&a, p, c);
        FUZZ_CHECK(bytes >= to - from && bytes <= need->data && c / a.calls_in_slot < a.slots_n);
        sum += bytes;
    }
    const int64_t own_slot = workload_memory_slot_bytes(s, &p->memory, rank);
    for (int64_t i = 0; i < a.all; i++) {
        const struct workload_extent e = a.access[i].in;
        FUZZ_CHECK(e.offset >= 0 && e.bytes >= 1 && e.bytes <= need->file - e.offset);
        FUZZ_CHECK(!p->view || i == 0 || e.offset >= a.access[i - 1].in.offset);
        if (i < 20 || i > a.all - 20) look_at_memory(p, s, rank, &a.access[i], own_slot);
    }
    FUZZ_CHECK(a.n < a.all || sum == workload_shape_rank_bytes(s, rank));
    workload_accesses_free(&a);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    static const int procs[] = {1, 3, 8};
    struct workload_jobfile j;
    if (size == 0) return;
    char *text = malloc(size);
    memcpy(text, bytes + 1, size - 1);
    const int rc = workload_jobfile_read("j.conf", text, size - 1, bytes[0] == 'i', NULL, &j);
    fuzz_message(rc);
    free(text);
    if (rc < 0) return;
    for (int i = 0; i < j.n && i < PHASES_MAX; i++) {
        const struct workload_phase *p = &j.phase[i];
        for (int k = 0; k < 3 && p->pause_s <= 0; k++) {
            const int64_t n = workload_phase_repetitions(p, procs[k]);
            const struct workload_shape s = workload_phase_shape(p, procs[k], n);
            for (int rank = 0; rank < procs[k];
                 rank += rank == 0 ? (procs[k] > 1 ? procs[k] - 1 : 1) : 1) {
                const struct workload_need need = workload_phase_need(p, &s, rank, BUFFER_BYTES);
                FUZZ_CHECK(need.file >= 1 && need.list >= 1 && need.data >= 1);
                /* The program refuses what does not fit, and so does this one. */
                if (need.file < NUM_ENDLESS && need.list <= LIST_BYTES &&
                    workload_need_memory(&need) <= MEMORY_BYTES)
                    look_at(p, &s, rank, &need);
            }
        }
    }
    workload_jobfile_free(&j);
}
