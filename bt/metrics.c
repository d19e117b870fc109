/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/metrics.h"

#include <math.h>

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
