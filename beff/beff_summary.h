/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_SUMMARY_H
#define BEFF_SUMMARY_H
/* Floor 2, free of MPI. The numbers of a report, from the measured values. All functions are local.
 * Source: [RK01] section 4 and table 1. */
#include "beff/beff_cube.h"
#include "beff/beff_pattern.h"

struct beff_summary {
    int n;                           /* processes */
    struct beff_mean all;            /* b_eff; bytes/s as all bandwidths here */
    struct beff_mean at_lmax, at_1b; /* the same for one size */
    double area_ratio; /* b_eff as share of b_eff at L_max: mean height under the curve */
    double latency_s, rings_latency_s;         /* of a message, from 1 B: rings and random, rings */
    double ping_pong_s, ping_pong_bytes_per_s; /* NaN without the ping-pong */
    struct beff_mean method[BEFF_METHODS_N], method_last;
    struct beff_mean rep[BEFF_REPS_MAX];
    struct beff_mean size[BEFF_SIZES_N];
    struct beff_mean size_method[BEFF_SIZES_N][BEFF_METHODS_N];
    double memory_s;       /* to communicate the total memory: bytes / b_eff */
    double memory_mixed_s; /* as the paper counts: memory in 2^20, b_eff in 10^6 bytes */
};

/* total_bytes: memory of all processes. */
void beff_summary_make(const struct beff_cube *c, const struct beff_plan *plan,
                       const int64_t *size_bytes, int64_t total_bytes, struct beff_summary *out);

/* Index of the ping-pong pattern, -1 when it is not there. */
int beff_ping_pong(const struct beff_plan *plan);

#endif
