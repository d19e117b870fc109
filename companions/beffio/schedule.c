/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/schedule.h"

#include <math.h>
#include <stddef.h>

#include "base/num.h"

/* Sum of U of the time-driven accesses of 2.1: 64 writing, 22 rewriting type 0, 64 reading. */
#define U_SUM_2_1     150
#define U_SUM_THREE   (3 * BEFFIO_U_SUM)
#define BATCH_AIM_S   0.5
#define BATCHES_LEAST 16 /* of a pattern that is limited by time */

static const struct {
    const char *name;
    double valid_s;
} definition_table[BEFFIO_DEFINITIONS] = {{"0.5", 600}, {"1.x", 900}, {"2.1", 1800}};

const char *beffio_access_name(enum beffio_access access)
{
    static const char *const name[BEFFIO_ACCESSES] = {"write", "rewrite", "read"};
    return name[access];
}

const char *beffio_definition_name(enum beffio_definition d)
{
    return definition_table[d].name;
}

double beffio_valid_time_s(enum beffio_definition d)
{
    return definition_table[d].valid_s;
}

double beffio_partition_time_s(const struct beffio_schedule *s, int index)
{
    if (s->definition != BEFFIO_2_1) return s->halves && index > 0 ? s->t_s / 2 : s->t_s;
    const double share = s->t_s / s->partitions_n;
    return share >= 1 ? floor(share) : share;
}

double beffio_pattern_time_s(const struct beffio_schedule *s, int index, int u)
{
    const bool short_rewrite = s->definition == BEFFIO_2_1 && !s->all_rewrites;
    return beffio_partition_time_s(s, index) * u / (short_rewrite ? U_SUM_2_1 : U_SUM_THREE);
}

static int share_of(int n, double factor)
{
    return 1 << (int)(0.5 + factor * log2(n));
}

int beffio_default_partitions(int n, int procs[3])
{
    const int small = n <= 3 ? 1 : share_of(n, 0.35);
    const int wanted[3] = {small, n == 4 ? 3 : share_of(n, 0.70), n};
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (count == 0 || wanted[i] > procs[count - 1]) procs[count++] = wanted[i];
    return count;
}

void beffio_halves(struct beffio_schedule *s, int n)
{
    s->halves = true;
    s->partitions_n = n > 1 ? 2 : 1;
    s->procs[0] = n;
    if (n > 1) s->procs[1] = n / 2;
}

int64_t beffio_next_batch(int64_t done, double elapsed_s, double limit_s, int64_t left,
                          bool per_call)
{
    if (done == 0) return 1;
    const double more = (limit_s - elapsed_s) / (elapsed_s > 0 ? elapsed_s : 1e-9) * (double)done;
    if (!(more >= 1) || left < 1) return 0;
    if (per_call) return 1;
    const double part = limit_s / BATCHES_LEAST / (elapsed_s > 0 ? elapsed_s : 1e-9) * (double)done;
    const double most = fmin(fmin((double)done, more), fmax(part, 1));
    return num_min((int64_t)most, left);
}

int64_t beffio_next_counted(int64_t last, double last_s, int64_t left)
{
    if (last == 0) return num_min(1, left);
    const double fit = BATCH_AIM_S / (last_s > 1e-9 ? last_s : 1e-9) * (double)last;
    const int64_t next = fit < (double)(2 * last) ? (int64_t)fit : 2 * last;
    return num_min(next < 1 ? 1 : next, left);
}

#define MB (INT64_C(1) << 20)

int64_t beffio_room_bytes(const struct beffio_room *r)
{
    int64_t room = r->free_bytes / 100 * 95;
    if (r->in_memory) room = num_min(r->free_bytes, r->memory_bytes) / 2;
    return num_min(room, r->limit_bytes > 0 ? r->limit_bytes : r->free_bytes / 10);
}

int64_t beffio_probe_bytes(int64_t free_bytes, int64_t nodes_n)
{
    return num_min(512 * MB, free_bytes / 100 / nodes_n);
}

void beffio_expected(const struct beffio_schedule *s, int index, int procs, int64_t m_part_bytes,
                     double rate, struct beffio_layout *l)
{
    *l = (struct beffio_layout){.procs = procs, .m_part_bytes = m_part_bytes};
    for (int no = 0; no < beffio_type_end(BEFFIO_SEPARATE); no++) {
        const struct beffio_pattern p = beffio_pattern(no, m_part_bytes);
        l->calls[no] = 1;
        if (!s || !(rate > 0)) continue;
        const double bytes = rate * beffio_pattern_time_s(s, index, p.u);
        const double calls = bytes / ((double)procs * (double)p.call_bytes);
        if (calls >= 1) l->calls[no] = num_round(floor(calls));
    }
    beffio_layout_segments(l);
}

int64_t beffio_least_bytes(int procs, int64_t m_part_bytes)
{
    struct beffio_layout l;
    beffio_expected(NULL, 0, procs, m_part_bytes, 0, &l);
    return num_sum(beffio_layout_bytes(&l), num_product(2 * MB, procs));
}

int64_t beffio_room_share(const struct beffio_schedule *s, int64_t m_part_bytes, int64_t room,
                          bool together, int64_t share[BEFFIO_PARTITIONS_MAX])
{
    int64_t sum = 0, most = 0;
    for (int i = 0; i < s->partitions_n; i++) {
        const int64_t least = beffio_least_bytes(s->procs[i], m_part_bytes);
        share[i] = least;
        sum = num_sum(sum, least);
        if (least > most) most = least;
    }
    const int64_t needed = together ? sum : most;
    if (needed > room) return needed - room;
    for (int i = 0; i < s->partitions_n; i++)
        share[i] = together ? share[i] + (room - sum) / s->partitions_n : room;
    return 0;
}

/* Bytes of all files when pattern no is called so often and those after it once. */
static int64_t bytes_with(const struct beffio_layout *l, int no, int64_t calls)
{
    struct beffio_layout all = *l;
    for (int q = no; q < beffio_type_end(BEFFIO_SEPARATE); q++)
        all.calls[q] = q == no ? calls : 1;
    beffio_layout_segments(&all);
    return beffio_layout_bytes(&all);
}

/* U of a pattern and of those of types 3 and 4 that repeat its calls. */
static int weight_of(int no)
{
    const struct beffio_pattern p = beffio_pattern(no, BEFFIO_WORD_BYTES);
    return p.type == BEFFIO_SEPARATE ? 3 * p.u : p.u;
}

int64_t beffio_most_calls(const struct beffio_layout *l, int64_t share_bytes, int no, bool evenly)
{
    const int64_t least = bytes_with(l, no, 1);
    int64_t limit = share_bytes, low = 1, high = 2;
    int rest = 0;
    for (int q = no; q < beffio_type_end(BEFFIO_SEPARATE); q++)
        rest += weight_of(q);
    if (evenly && limit > least && rest > 0)
        limit = least + (int64_t)((double)(limit - least) * weight_of(no) / rest);
    while (bytes_with(l, no, high) <= limit && high < INT64_MAX / 4)
        low = high, high *= 2;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (bytes_with(l, no, middle) <= limit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t beffio_room_left(const struct beffio_schedule *s, int64_t m_part_bytes, int64_t room,
                         int64_t used_bytes, int index, bool evenly)
{
    int64_t left = room - used_bytes;
    for (int i = index + 1; i < s->partitions_n; i++)
        left -= beffio_least_bytes(s->procs[i], m_part_bytes);
    const int64_t least = beffio_least_bytes(s->procs[index], m_part_bytes);
    if (left < least) return least;
    return evenly ? least + (left - least) / (s->partitions_n - index) : left;
}

double beffio_run_time_s(const struct beffio_schedule *s)
{
    double sum = 0;
    if (s->definition == BEFFIO_2_1) return s->t_s;
    for (int i = 0; i < s->partitions_n; i++)
        sum += beffio_partition_time_s(s, i);
    return sum;
}
