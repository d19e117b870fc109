/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/published.h"

#include <stddef.h>
#include <string.h>

/* system, program, N, processors, dumps, T_C, T_T, R_IO, zeta */
static const struct published rows[] = {
    {PUBLISHED_YMP, "CrayBT", 64, 8, 40, 117.9, 141.7, 2442810, 0.202, PUBLISHED_ODD},
    {PUBLISHED_YMP, "CrayBT", 102, 1, 40, 3554, 3740, 453993, 0.052, PUBLISHED_PLAIN},
    {PUBLISHED_YMP, "CrayBT", 102, 2, 40, 1816, 1857, 914342, 0.023, PUBLISHED_PLAIN},
    {PUBLISHED_YMP, "CrayBT", 102, 4, 40, 930.6, 975.3, 1740934, 0.048, PUBLISHED_PLAIN},
    {PUBLISHED_YMP, "CrayBT", 102, 6, 40, 645.0, 774.5, 2192295, 0.201, PUBLISHED_PLAIN},
    {PUBLISHED_YMP, "CrayBT", 102, 8, 40, 506.4, 694.8, 2443772, 0.372, PUBLISHED_PLAIN},
    {PUBLISHED_CM2, "SampleBT", 12, 32768, 6, 60.25, 81.85, 5067, 0.359, PUBLISHED_PLAIN},
    {PUBLISHED_CM2, "SampleBT", 64, 32768, 40, 5526, 5621, 74618, 0.017, PUBLISHED_PLAIN},
    {PUBLISHED_CM2, "RNRBT", 64, 32768, 40, 3754, 3901, 107519, 0.039, PUBLISHED_PLAIN},
    {PUBLISHED_CM2, "RNRBT", 102, 32768, 40, 63426, 64769, 26215, 0.021, PUBLISHED_SCALED},
    {PUBLISHED_IPSC, "SampleBT", 12, 16, 6, 37.96, 39.82, 10415, 0.049, PUBLISHED_PLAIN},
    {PUBLISHED_IPSC, "SampleBT", 64, 64, 40, 6663, 9262, 45285, 0.390, PUBLISHED_PLAIN},
    {PUBLISHED_IPSC, "RNRBT_3D", 12, 8, 6, 9.694, 10.20, 40659, 0.052, PUBLISHED_PLAIN},
    {PUBLISHED_IPSC, "RNRBT_3D", 64, 32, 40, 1381, 1567, 267665, 0.135, PUBLISHED_PLAIN},
    {PUBLISHED_IPSC, "RNRBT_3D", 64, 64, 40, 753.0, 1036, 404856, 0.376, PUBLISHED_PLAIN},
    {PUBLISHED_IPSC, "RNRBT_3D", 64, 128, 40, 435.6, 779.9, 537800, 0.719, PUBLISHED_ODD},
    {PUBLISHED_IPSC, "RNRBT_3D", 102, 128, 40, 1566, 2663, 637602, 0.701, PUBLISHED_PLAIN},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const struct published *published_rows(int *n)
{
    *n = ROWS;
    return rows;
}

const struct published *published_best(const char *system, int64_t n)
{
    const struct published *best = NULL;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].n == n && strcmp(rows[i].system, system) == 0 &&
            (!best || rows[i].t_t_s < best->t_t_s))
            best = &rows[i];
    return best;
}
