/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/metrics.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"

#define POINT_BYTES 40.0 /* 5 components of 8 bytes */

double metric_r_io(int64_t n, int64_t dumps, double t_t_s)
{
    const double side = (double)n;
    return t_t_s > 0 ? POINT_BYTES * side * side * side * (double)dumps / t_t_s : NAN;
}

double metric_zeta(double t_t_s, double t_c_s)
{
    return t_c_s > 0 ? t_t_s / t_c_s - 1 : NAN;
}

double metric_implied_rate(double bytes, double t_t_s, double t_c_s)
{
    return t_t_s > t_c_s ? bytes / (t_t_s - t_c_s) : NAN;
}

double metric_coffee_min(double memory_bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? memory_bytes / bytes_per_s / 60 : NAN;
}

void metric_words(double zeta, char *out, size_t size)
{
    if (isnan(zeta))
        num_print(out, size, "Balance unknown: no compute-only time T_C to compare with.");
    else if (zeta < 0)
        num_print(out, size,
                  "zeta is below 0 (%.1f %%): T_C is not the best time of this system; measure it "
                  "again with --tc measure.",
                  100 * zeta);
    else if (zeta <= METRIC_GOAL)
        num_print(out, size,
                  "Balanced: writing costs %.1f %% of the computing time, within NAS's goal of "
                  "10 %%.",
                  100 * zeta);
    else
        num_print(out, size,
                  "Not balanced: writing costs %.1f %% of the computing time, NAS's goal is at "
                  "most 10 %%; I/O is too slow for this computation.",
                  100 * zeta);
}
