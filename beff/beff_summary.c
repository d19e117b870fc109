/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_summary.h"

#include <math.h>

enum { LAST = BEFF_SIZES_N - 1 };

int beff_ping_pong(const struct beff_plan *plan)
{
    for (int p = 0; p < plan->patterns_n; p++)
        if (plan->pattern[p].ping_pong) return p;
    return -1;
}

static struct beff_pick pick(int rep, int method, int size)
{
    return (struct beff_pick){rep, method, size};
}

static void tables(const struct beff_cube *c, struct beff_summary *s)
{
    for (int r = 0; r < c->reps_n; r++)
        s->rep[r] = beff_logavg(c, pick(r, BEFF_ALL, BEFF_ALL));
    for (int m = 0; m < BEFF_METHODS_N; m++)
        s->method[m] = beff_logavg(c, pick(BEFF_ALL, m, BEFF_ALL));
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        s->size[i] = beff_logavg(c, pick(BEFF_ALL, BEFF_ALL, i));
        for (int m = 0; m < BEFF_METHODS_N; m++)
            s->size_method[i][m] = beff_logavg(c, pick(BEFF_ALL, m, i));
    }
    s->method_last = beff_logavg_method_last(c);
}

void beff_summary_make(const struct beff_cube *c, const struct beff_plan *plan,
                       const int64_t *size_bytes, int64_t total_bytes, struct beff_summary *out)
{
    const int pair = beff_ping_pong(plan);
    const double n = plan->n, first_bytes = (double)size_bytes[0];
    *out = (struct beff_summary){.n = plan->n};
    tables(c, out);
    out->all = beff_logavg(c, BEFF_EVERYTHING);
    out->at_1b = out->size[0];
    out->at_lmax = out->size[LAST];
    out->area_ratio = out->all.both / out->at_lmax.both;
    out->latency_s = first_bytes * n / out->at_1b.both;
    out->rings_latency_s = first_bytes * n / out->at_1b.rings;
    out->ping_pong_s = out->ping_pong_bytes_per_s = NAN;
    if (pair >= 0) {
        out->ping_pong_s = first_bytes / beff_value(c, pair, pick(BEFF_ALL, 0, 0));
        out->ping_pong_bytes_per_s = beff_value(c, pair, pick(BEFF_ALL, 0, LAST));
    }
    out->memory_s = (double)total_bytes / out->all.both;
    out->memory_mixed_s = (double)total_bytes / 1048576.0 / (out->all.both / 1e6);
}
