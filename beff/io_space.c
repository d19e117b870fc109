/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/io_space.h"

#include <stddef.h>

#define MB (INT64_C(1) << 20)

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t beffio_room_bytes(const struct beffio_room *r)
{
    int64_t room = r->free_bytes / 100 * 95;
    if (r->in_memory) room = smaller(r->free_bytes, r->memory_bytes) / 2;
    return r->limit_bytes > 0 ? smaller(room, r->limit_bytes) : room;
}

static int64_t calls_at(const struct beffio_schedule *s, const struct beffio_layout *l, int no,
                        double rate)
{
    const struct beffio_pattern p = beffio_pattern(no, l->m_part_bytes);
    const double bytes = rate * beffio_pattern_time_s(s, p.u);
    const double calls = bytes / ((double)l->procs * (double)p.call_bytes);
    return calls < 1 ? 1 : (int64_t)calls;
}

void beffio_expected(const struct beffio_schedule *s, int procs, int64_t m_part_bytes, double rate,
                     struct beffio_layout *l)
{
    *l = (struct beffio_layout){.procs = procs, .m_part_bytes = m_part_bytes};
    for (int no = 0; no < beffio_type_end(BEFFIO_SEPARATE); no++)
        l->calls[no] = rate > 0 ? calls_at(s, l, no, rate) : 1;
    beffio_layout_segments(l);
}

int64_t beffio_least_bytes(int procs, int64_t m_part_bytes)
{
    struct beffio_layout l;
    beffio_expected(NULL, procs, m_part_bytes, 0, &l);
    return beffio_layout_bytes(&l) + 2 * procs * MB;
}

int64_t beffio_room_share(const struct beffio_schedule *s, int64_t m_part_bytes, int64_t room,
                          bool together, int64_t share[BEFFIO_PARTITIONS_MAX])
{
    int64_t sum = 0, most = 0;
    for (int i = 0; i < s->partitions_n; i++) {
        const int64_t least = beffio_least_bytes(s->procs[i], m_part_bytes);
        share[i] = least;
        sum += least;
        if (least > most) most = least;
    }
    const int64_t needed = together ? sum : most;
    if (needed > room) return needed - room;
    for (int i = 0; i < s->partitions_n; i++)
        share[i] = together ? share[i] + (room - sum) / s->partitions_n : room;
    return 0;
}

int64_t beffio_most_calls(int procs, int64_t m_part_bytes, int64_t share_bytes, int no)
{
    const struct beffio_pattern p = beffio_pattern(no, m_part_bytes);
    const int64_t spare = share_bytes - beffio_least_bytes(procs, m_part_bytes);
    const double part = (double)spare * p.u / BEFFIO_U_SUM;
    const double calls = part / ((double)procs * (double)p.call_bytes);
    return calls > 0 ? 1 + (int64_t)calls : 1;
}

double beffio_run_time_s(const struct beffio_schedule *s)
{
    return s->definition == BEFFIO_2_1 ? s->t_s : s->t_s * s->partitions_n;
}
