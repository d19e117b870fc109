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
