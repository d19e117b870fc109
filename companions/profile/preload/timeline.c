/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/timeline.h"

#include <stdbool.h>

/* A power of two, so that times over widths are exact. */
#define FIRST_BIN_S (1.0 / 64)

void timeline_begin(struct profile_map *m, double now_s)
{
    m->bins_s = now_s;
    m->bin_s = FIRST_BIN_S;
}

static void double_bins(struct profile_map *m)
{
    for (int b = 0; b < PROFILE_BINS; b++) {
        const bool there = 2 * b + 1 < PROFILE_BINS;
        for (int d = 0; d < 2; d++)
            m->bin_bytes[d][b] = there ? m->bin_bytes[d][2 * b] + m->bin_bytes[d][2 * b + 1] : 0;
        m->bin_ns[b] = there ? m->bin_ns[2 * b] + m->bin_ns[2 * b + 1] : 0;
    }
    m->bin_s *= 2;
}

void timeline_add(struct profile_map *m, int write, int64_t bytes, double from_s, double to_s)
{
    const double to = to_s > m->bins_s ? to_s - m->bins_s : 0;
    const double began = from_s > m->bins_s ? from_s - m->bins_s : 0;
    const double from = began < to ? began : to;
    int64_t entered = 0;
    while (to >= PROFILE_BINS * m->bin_s)
        double_bins(m);
    const int first = (int)(from / m->bin_s), last = (int)(to / m->bin_s);
    for (int b = first; b <= last; b++) {
        const double begin = b == first ? from : b * m->bin_s;
        const double end = b == last ? to : (b + 1) * m->bin_s;
        const int64_t until =
            b == last ? bytes : (int64_t)((double)bytes * ((end - from) / (to - from)));
        if (bytes > 0) m->bin_bytes[write][b] += (uint64_t)(until - entered);
        entered = until;
        m->bin_ns[b] += end > begin ? (uint64_t)(1e9 * (end - begin)) : 0;
    }
}

#define FIRST_GAP_NS 1000

/* Bursts with less than the gap between them become one, with wider and wider gaps until they are half of them. */
static void join_close(struct profile_map *m, int room)
{
    while (m->bursts_n > room / 2) {
        int n = 0;
        m->burst_gap_ns = m->burst_gap_ns ? 2 * m->burst_gap_ns : FIRST_GAP_NS;
        for (int b = 1; b < m->bursts_n; b++)
            if (m->burst[b].begin_ns <= m->burst[n].end_ns + m->burst_gap_ns)
                m->burst[n] = profile_burst_joined(&m->burst[n], &m->burst[b]);
            else
                m->burst[++n] = m->burst[b];
        m->bursts_n = n + 1;
    }
}

void timeline_burst(struct profile_map *m, int room, uint64_t from_ns, uint64_t to_ns)
{
    struct profile_burst now = {.begin_ns = from_ns, .end_ns = to_ns, .inside_ns = to_ns - from_ns};
    /* Threads do not end in the order in which they began. */
    while (m->bursts_n > 0 && from_ns <= m->burst[m->bursts_n - 1].end_ns + m->burst_gap_ns) {
        now = profile_burst_joined(&m->burst[--m->bursts_n], &now);
        from_ns = now.begin_ns;
    }
    if (m->bursts_n == room) join_close(m, room);
    m->burst[m->bursts_n++] = now;
}
