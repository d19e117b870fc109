/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_CUBE_H
#define BEFF_CUBE_H
/* Layer 2, free of MPI. The message sizes, all measured values of a run, the averages over them and
 * the numbers of a report. All functions are local. Source: [RK01] section 4 and table 1.
 *
 *     b_eff = logavg( logavg over rings, logavg over random patterns ) of
 *             mean over the 21 sizes of
 *             maximum over methods of
 *             maximum over repetitions of the bandwidth
 *
 * logavg is the geometric mean. */
#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "companions/beff/pattern.h"

#define BEFF_SIZES_N    21
#define BEFF_FIXED_N    13                   /* 1 B to 4096 B, powers of two */
#define BEFF_FIXED_MAX  4096                 /* the last of them, bytes */
#define BEFF_LMAX_CAP   ((int64_t)128 << 20) /* where int has less than 64 bits */
#define BEFF_MEMORY_MIN ((int64_t)1 << 20)   /* memory per process that gives sizes that differ */
#define BEFF_LMAX_MIN   (BEFF_MEMORY_MIN / 128)

/* The largest message: the 128th part of a process's memory, at most 128 MiB. Release 3.6 counts
 * whole MiB of memory. memory_bytes: >= BEFF_MEMORY_MIN. */
int64_t beff_size_lmax(enum beff_definition definition, int64_t memory_bytes);

/* The sizes in bytes: 1, 2, 4, ... 4096, then eight steps of one factor up to lmax_bytes. */
void beff_sizes(int64_t lmax_bytes, int64_t out[BEFF_SIZES_N]);

/* The factor from size i - 1 to size i, i in 1..20: 2 up to 4096 B, then (lmax / 4096)^(1/8). */
double beff_size_growth(int64_t lmax_bytes, int i);

/* --- values and averages --- */

#define BEFF_METHODS_N 3
#define BEFF_REPS_MAX  100

/* One measurement: one pattern, by one method, at one size, in one repetition. */
struct beff_cell {
    int64_t loop;     /* iterations, 0: not measured */
    double time_s;    /* of the slowest process */
    double bandwidth; /* bytes/s of the pattern as a whole, by the definition in force */
    /* Bytes/s that a process sends, over the processes that take part. */
    double process_min, process_mean, process_max;
};

/* One process's part of a measurement; those of all come together as maxima of time_s, high and low
 * and as sum of sum. */
struct beff_share {
    double time_s;
    double high, low; /* bytes/s that the process sends, and their negative */
    double sum;       /* the same */
};

/* Of a process that takes no part: it counts neither for time nor for bandwidth. */
static const struct beff_share BEFF_NO_SHARE = {0, -DBL_MAX, -DBL_MAX, 0};

/* The part of the process that p was made for: loop iterations of messages of so many bytes took it
 * time_s. */
struct beff_share beff_share_of(const struct beff_pattern *p, int64_t bytes, int64_t loop,
                                double time_s);

/* b(pattern, size, method, repetition) and what belongs to it, from the parts of all. The paper
 * divides all bytes by the time of the slowest process; release 3.6 multiplies the bandwidth of the
 * slowest process by their number, for rings: rings of two and of three in one pattern make a
 * difference. */
struct beff_cell beff_cell_of(enum beff_definition definition, const struct beff_pattern *p,
                              int64_t bytes, int64_t loop, const struct beff_share *all);

struct beff_cube {
    int reps_n, patterns_n, random_n; /* patterns: rings, then random ones, then for insight */
    struct beff_cell *cell;           /* [rep][size][method][pattern], pattern fastest */
};

/* Returns 0 or ERR_NOMEM. To be freed by beff_cube_free. */
int beff_cube_make(int reps_n, int patterns_n, int random_n, struct beff_cube *out);
void beff_cube_free(struct beff_cube *c);
struct beff_cell *beff_cell_at(const struct beff_cube *c, int rep, int size, int method,
                               int pattern);

/* Seconds of one iteration, 0: not measured. */
static inline double beff_iteration_s(const struct beff_cell *cell)
{
    return cell->loop > 0 ? cell->time_s / (double)cell->loop : 0;
}

/* Which values an average is over. BEFF_ALL: the maximum over repetitions, over methods, the mean
 * over sizes. */
#define BEFF_ALL (-1)
struct beff_pick {
    int rep, method, size;
};
static const struct beff_pick BEFF_EVERYTHING = {BEFF_ALL, BEFF_ALL, BEFF_ALL};

/* The value of one pattern, bytes/s. Where the picked method or repetition was not measured at a
 * size, to save time, the maximum over all stands in. NaN when nothing was measured. */
double beff_value(const struct beff_cube *c, int pattern, struct beff_pick pick);

/* Geometric means over the patterns, bytes/s; NaN when a value is not positive. */
struct beff_mean {
    double rings, random, both;
};
struct beff_mean beff_logavg(const struct beff_cube *c, struct beff_pick pick);

/* The same with the maximum over methods taken last, over the means over sizes. */
struct beff_mean beff_logavg_method_last(const struct beff_cube *c);

/* How much the run was disturbed: the seconds of its loops, slowest process, and what they would
 * have taken had each repetition been as fast as the fastest. Repetitions that left
 * something out do not count. */
struct beff_elapsed {
    double measured_s, undisturbed_s;
};
struct beff_elapsed beff_elapsed(const struct beff_cube *c);

/* The numbers of a report. */
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
