/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H
/* Serial. The quantities of [F93] section 2.3 and what a report derives from them. Times in
 * seconds, sizes in bytes, rates in bytes/s; NaN for what cannot be computed. All functions are
 * local. */
#include <stddef.h>
#include <stdint.h>

#define METRIC_GOAL   0.10 /* NAS's goal for zeta */
#define METRIC_SPREAD 0.05 /* of zeta without any file: more is worth a word */
#define METRIC_SLOW   2.0 /* times T_C: more for the steps alone, and the computing was disturbed */

/* R_IO of D dumps of N^3 points, 5 doubles each: 40 N^3 D / T_T. Without a last dump D is N_S /
 * I_W, rounded down. */
double metric_r_io(int64_t n, int64_t dumps, double t_t_s);

/* zeta = T_T / T_C - 1. */
double metric_zeta(double t_t_s, double t_c_s);

/* The rate at which the extra time T_T - T_C would have taken the bytes; NaN when there is none. */
double metric_implied_rate(double bytes, double t_t_s, double t_c_s);

/* Minutes for the whole memory at a rate: the coffee-cup rule asks for about 10 [RK01]. */
double metric_coffee_min(double memory_bytes, double bytes_per_s);

/* What a zeta says, in words: out, at most size bytes, NUL included. */
void metric_words(double zeta, char *out, size_t size);

#endif
