/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_METRICS_H
#define BT_METRICS_H
/* Layer 3, free of MPI and of everything in io/. The quantities of the application I/O benchmark as
 * pure functions of times and sizes. Source: [F93] section 2.3. All functions are local; a result
 * that cannot be computed is NaN. */
#include <stdbool.h>
#include <stdint.h>

#include "bt/solver/problem.h"

/* R_IO in bytes/s: 5 w N^3 N_S / (I_W T_T), w = 8 bytes. interval: I_W; t_t_s: T_T in seconds. */
double bt_metric_r_io(int64_t n, int64_t steps, int64_t interval, double t_t_s);

/* R_IO in bytes/s from a count of dumps: 5 w N^3 D / T_T, for runs whose D is not N_S / I_W. */
double bt_metric_r_io_dumps(int64_t n, int64_t dumps, double t_t_s);

/* zeta = T_T / T_C - 1, dimensionless. */
double bt_metric_zeta(double t_t_s, double t_c_s);

/* The rate in bytes/s at which the file system would have taken the bytes in T_T - T_C seconds; NaN
 * when T_T is not above T_C. */
double bt_metric_implied_rate(double bytes, double t_t_s, double t_c_s);

/* Whether N, N_S, dt and I_W are those of the official case: N = 102, 200 steps, the published dt,
 * a dump every 5 steps. */
bool bt_metric_is_official_case(const struct bt_problem *p);

#endif
