/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/accesses.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "companions/workload/data.h"

#define FIRST_BYTES (INT64_C(4) << 20) /* with which the search for the amount begins */
#define PIECE_BYTES 96 /* what a piece of a call or view takes: here, and in MPI, roughly */

/* --- how much ------------------------------------------------------------------------------- */

int64_t workload_phase_repetitions(const struct workload_phase *p, int procs)
{
    const struct workload_shape one = workload_phase_shape(p, procs, 1);
    const int64_t bytes = p->data_bytes > 0 ? p->data_bytes : num_min(FIRST_BYTES, p->limit_bytes);
    return num_max(bytes / num_max(workload_shape_bytes(&one), 1), 1);
}

/* Accesses that are made of so many: the first ones. */
static int64_t first_accesses(const struct workload_phase *p, int64_t all)
{
    return p->fraction < 1 ? num_min((int64_t)ceil(p->fraction * (double)all), all) : all;
}

bool workload_phase_reads(const struct workload_phase *p)
{
    return p->temporal != WORKLOAD_WRITE && p->temporal != WORKLOAD_REWRITE;
}

bool workload_phase_writes(const struct workload_phase *p)
{
    return p->temporal != WORKLOAD_READ && p->temporal != WORKLOAD_REREAD;
}

bool workload_phase_direct(const struct workload_phase *p, const struct workload_shape *s)
{
    return !workload_phase_reads(p) && !p->memory.strided &&
           (p->group == 1 || workload_shape_gapless(s));
}

struct workload_amount workload_phase_amount(const struct workload_phase *p,
                                             const struct workload_shape *s, int rank)
{
    const int64_t n = first_accesses(p, workload_shape_accesses(s));
    const int times = workload_phase_reads(p) + workload_phase_writes(p);
    return (struct workload_amount){.accesses = n,
                                    .calls = num_quotient_up(n, p->group),
                                    .bytes =
                                        num_product(times, workload_shape_first_bytes(s, rank, n))};
}

/* Pieces in memory of the calls that are described to MPI one by one. */
static int64_t memory_pieces(const struct workload_phase *p, const struct workload_shape *s,
                             int rank, int64_t all)
{
    if (!p->memory.strided || p->method == WORKLOAD_POSIX) return 0;
    if (p->pattern == WORKLOAD_FLASH)
        return num_product(workload_memory_group(s, &p->memory),
                           workload_memory_pieces(s, &p->memory, rank, 0));
    const int64_t pieces = num_quotient_up(workload_shape_longest(s, rank), p->memory.block_bytes);
    return num_product(pieces, p->pattern == WORKLOAD_RANDOM ? all : 2 * p->group);
}

struct workload_need workload_phase_need(const struct workload_phase *p,
                                         const struct workload_shape *s, int rank,
                                         int64_t buffer_bytes)
{
    const int64_t all = workload_shape_accesses(s), bytes = workload_shape_bytes(s);
    const int64_t group = num_min(p->group, all);
    const int64_t calls = num_quotient_up(first_accesses(p, all), p->group);
    const int64_t slot = num_product(workload_memory_slot_bytes(s, &p->memory, rank), group);
    const int64_t slots = num_quotient_up(calls, workload_memory_group(s, &p->memory));
    struct workload_need need = {.file = workload_shape_length(s)};
    if (bytes == NUM_ENDLESS) need.file = NUM_ENDLESS;
    need.list = num_product(all, sizeof(struct workload_access));
    need.list = num_sum(need.list, num_product(memory_pieces(p, s, rank, all), PIECE_BYTES));
    if (p->view && need.file < NUM_ENDLESS) {
        int64_t accesses, period;
        workload_shape_period(s, rank, &accesses, &period);
        need.list = num_sum(need.list, num_product(accesses, PIECE_BYTES));
    }
    if (workload_phase_reads(p))
        need.data = num_product(num_min(slots, num_max(buffer_bytes / num_max(slot, 1), 1)), slot);
    else if (!workload_phase_direct(p, s))
        need.data = need.ready = num_product(slots, slot);
    /* What is sent and compared: a period and the longest call. */
    const int64_t longest = num_product(workload_shape_longest(s, rank), group);
    need.data = num_sum(need.data, num_sum(longest, WORKLOAD_PERIOD_BYTES));
    return need;
}

int64_t workload_need_memory(const struct workload_need *n)
{
    return num_sum(n->list, n->data);
}

/* --- the list ------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const struct workload_access *x = a, *y = b;
    return (x->in.offset > y->in.offset) - (x->in.offset < y->in.offset);
}

int workload_accesses_make(const struct workload_phase *p, const struct workload_shape *s, int rank,
                           struct workload_accesses *a)
{
    const int64_t all = workload_shape_accesses(s);
    const struct workload_amount made = workload_phase_amount(p, s, rank);
    int64_t bytes = 0;
    *a = (struct workload_accesses){.all = all, .n = made.accesses, .calls = made.calls};
    a->access = mem_new(all, sizeof *a->access, "a list of %" PRId64 " accesses", all);
    if (!a->access) return ERR_NOMEM;
    for (int64_t i = 0; i < all; i++)
        a->access[i] =
            (struct workload_access){.in = workload_shape_extent(s, rank, i), .number = i};
    /* The places of a view ascend. */
    if (p->view && p->pattern == WORKLOAD_MESH)
        qsort(a->access, (size_t)all, sizeof *a->access, by_offset);
    for (int64_t i = 0; i < all; i++) {
        a->access[i].view_offset = bytes;
        bytes += a->access[i].in.bytes;
    }
    a->calls_in_slot = workload_memory_group(s, &p->memory);
    a->slots_n = num_quotient_up(a->calls, a->calls_in_slot);
    a->slot_bytes =
        num_product(workload_memory_slot_bytes(s, &p->memory, rank), num_min(p->group, all));
    return 0;
}

void workload_accesses_free(struct workload_accesses *a)
{
    free(a->access);
    *a = (struct workload_accesses){.access = NULL};
}

void workload_accesses_range(const struct workload_accesses *a, const struct workload_phase *p,
                             int64_t c, int64_t *from, int64_t *to)
{
    *from = c * p->group;
    *to = num_min(p->group, a->n - *from) + *from;
}

int64_t workload_accesses_bytes(const struct workload_accesses *a, const struct workload_phase *p,
                                int64_t c)
{
    int64_t from, to;
    workload_accesses_range(a, p, c, &from, &to);
    const struct workload_access *first = &a->access[from], *last = &a->access[to - 1];
    return last->view_offset + last->in.bytes - first->view_offset;
}
