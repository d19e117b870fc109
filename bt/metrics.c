/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/metrics.h"

#include <math.h>
#include <stdio.h>

#define WORD_BYTES 8

static double dump_bytes(int64_t n)
{
    const double side = (double)n;
    return (double)(BT_NCOMP * WORD_BYTES) * side * side * side;
}

double bt_metric_r_io(int64_t n, int64_t steps, int64_t interval, double t_t_s)
{
    if (interval <= 0 || !(t_t_s > 0)) return NAN;
    return dump_bytes(n) * (double)steps / ((double)interval * t_t_s);
}

double bt_metric_r_io_dumps(int64_t n, int64_t dumps, double t_t_s)
{
    return t_t_s > 0 ? dump_bytes(n) * (double)dumps / t_t_s : NAN;
}

double bt_metric_zeta(double t_t_s, double t_c_s)
{
    return t_c_s > 0 ? t_t_s / t_c_s - 1 : NAN;
}

double bt_metric_implied_rate(double bytes, double t_t_s, double t_c_s)
{
    return t_t_s > t_c_s ? bytes / (t_t_s - t_c_s) : NAN;
}

bool bt_metric_is_official_case(const struct bt_problem *p)
{
    const struct bt_reference *ref = bt_reference_find(p->n, p->steps, p->dt);
    return ref && p->n == 102 && p->steps == 200 && p->interval == 5;
}

void bt_metric_words(double zeta, char *out, size_t size)
{
    const double percent = 100 * zeta, goal = 100 * BT_BALANCE_GOAL;
    if (isnan(zeta))
        snprintf(out, size, "Balance unknown: there is no compute-only time T_C to compare with.");
    else if (zeta < 0)
        snprintf(out, size,
                 "zeta is below 0: the run with I/O was %.1f %% faster than the best compute-only "
                 "time known, so that time is not the best: measure it again with --tc measure.",
                 -percent);
    else if (zeta <= BT_BALANCE_GOAL)
        snprintf(out, size,
                 "Balanced: writing cost %.1f %% of the best compute time (NAS's goal: at most "
                 "%.0f %%).",
                 percent, goal);
    else
        snprintf(out, size,
                 "Not balanced: writing cost %.1f %% of the best compute time (NAS's goal: at most "
                 "%.0f %%); I/O is too slow for this computation.",
                 percent, goal);
}
