/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/timeline.h"

#include <math.h>

#include "base/json.h"
#include "base/num.h"

/* The bins of all, as wide as the widest of a process. */
struct bins {
    double begin_s, width_s;
    int n; /* at most PROFILE_BINS */
};

static struct bins bins_of_all(const struct profile_map *const *process, int processes_n)
{
    struct bins all = {.begin_s = INFINITY};
    double end_s = -INFINITY;
    for (int r = 0; r < processes_n; r++)
        if (process[r]) {
            all.begin_s = fmin(all.begin_s, process[r]->bins_s);
            all.width_s = fmax(all.width_s, process[r]->bin_s);
            end_s = fmax(end_s, process[r]->last_s);
        }
    if (all.width_s == 0) return (struct bins){0};
    while (end_s - all.begin_s >= PROFILE_BINS * all.width_s)
        all.width_s *= 2;
    all.n = end_s > all.begin_s ? (int)((end_s - all.begin_s) / all.width_s) + 1 : 1;
    return all;
}

/* Where the middle of a process's bin lies. That of its last one may lie behind the end of all. */
static int bin_of(const struct bins *all, const struct profile_map *m, int b)
{
    const double at = (m->bins_s + (b + 0.5) * m->bin_s - all->begin_s) / all->width_s;
    return at >= all->n ? all->n - 1 : (int)at;
}

/* A row: the processes from first to end. per: bins of a column. */
static json_t *row_json(const struct profile_map *const *process, int first, int end,
                        const struct bins *all, int per)
{
    int64_t bytes[2][TIMELINE_COLUMNS_MAX] = {{0}};
    int seen_n = 0;
    for (int r = first; r < end; r++) {
        seen_n += process[r] != NULL;
        for (int b = 0; process[r] && b < PROFILE_BINS; b++)
            for (int d = 0; d < 2; d++) {
                int64_t *const to = &bytes[d][bin_of(all, process[r], b) / per];
                *to = num_sum(*to, (int64_t)process[r]->bin_bytes[d][b]);
            }
    }
    json_t *list[2] = {json_array(), json_array()};
    for (int d = 0; d < 2; d++)
        for (int c = 0; c * per < all->n; c++)
            json_array_append_new(list[d], json_integer(bytes[d][c]));
    return json_pack("{s:i s:i s:i s:o s:o}", "first_rank", first, "ranks_n", end - first,
                     "ranks_seen_n", seen_n, "read_bytes", list[0], "written_bytes", list[1]);
}

static json_t *rows_json(const struct profile_map *const *process, int n, const struct bins *all)
{
    const int ranks_n = (int)num_quotient_up(n, TIMELINE_ROWS_MAX),
              per = (int)num_quotient_up(all->n, TIMELINE_COLUMNS_MAX);
    json_t *list = json_array();
    for (int r = 0; all->n > 0 && r < n; r += ranks_n)
        json_array_append_new(list,
                              row_json(process, r, r + ranks_n < n ? r + ranks_n : n, all, per));
    return json_pack("{s:o s:o}", "bin_s", js_real(per * all->width_s), "rows", list);
}

json_t *timeline_json(const struct profile_map *const *process, int n, int ranks_n, double zero_s)
{
    const struct bins all = bins_of_all(process, n);
    double bytes[2][PROFILE_BINS] = {{0}}, inside[PROFILE_BINS] = {0};
    int seen_n = 0;
    for (int r = 0; r < n; r++) {
        seen_n += process[r] && r < ranks_n;
        for (int b = 0; process[r] && b < PROFILE_BINS; b++) {
            const int to = bin_of(&all, process[r], b);
            for (int d = 0; d < 2; d++)
                bytes[d][to] += (double)process[r]->bin_bytes[d][b];
            if (r < ranks_n) inside[to] += 1e-9 * (double)process[r]->bin_ns[b];
        }
    }
    json_t *read = json_array(), *written = json_array(), *share = json_array();
    for (int b = 0; b < all.n; b++) {
        json_array_append_new(read, js_real(bytes[0][b]));
        json_array_append_new(written, js_real(bytes[1][b]));
        json_array_append_new(share, js_real(seen_n > 0 ? inside[b] / all.width_s / seen_n : 0));
    }
    return json_pack("{s:o s:o s:o s:o s:o s:o}", "begin_s", js_real(all.begin_s - zero_s), "bin_s",
                     js_real(all.width_s), "read_bytes", read, "written_bytes", written,
                     "inside_share", share, "by_rank", rows_json(process, n, &all));
}
