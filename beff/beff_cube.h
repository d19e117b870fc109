/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_CUBE_H
#define BEFF_CUBE_H
/* Floor 2, free of MPI. All measured values of a run, and the averages over them. All functions are
 * local. Source: [RK01] section 4.
 *
 *     b_eff = logavg( logavg over rings, logavg over random patterns ) of
 *             mean over the 21 sizes of
 *             maximum over methods of
 *             maximum over repetitions of the bandwidth
 *
 * logavg is the geometric mean. */
#include <stdbool.h>
#include <stdint.h>

#include "beff/beff_size.h"

#define BEFF_METHODS_N 3
#define BEFF_REPS_MAX  100

/* One measurement: a pattern, by one method, at one size, in one repetition. */
struct beff_cell {
    int64_t loop;     /* iterations, 0: not measured */
    double time_s;    /* of the slowest process */
    double bandwidth; /* bytes/s of the pattern as a whole, by the definition in force */
    /* Bytes/s that a process sends, over the processes that take part. */
    double process_min, process_mean, process_max;
};

struct beff_cube {
    int reps_n, patterns_n, random_n; /* patterns: rings, then random ones, then for insight */
    struct beff_cell *cell;           /* [rep][size][method][pattern], pattern fastest */
};

/* Returns 0 or ERR_NOMEM. To be freed by beff_cube_free. */
int beff_cube_make(int reps_n, int patterns_n, int random_n, struct beff_cube *out);
void beff_cube_free(struct beff_cube *c);
struct beff_cell *beff_cell_at(const struct beff_cube *c, int rep, int size, int method,
                               int pattern);

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

/* Geometric mean of n positive numbers, NaN when one is not. */
double beff_geometric_mean(const double *x, int n);

/* How much of the time to spare: what a run of the fastest repetition's times would have taken,
 * against what was measured; both in seconds of the loops, slowest process. Repetitions that left
 * something out do not count. */
struct beff_elapsed {
    double measured_s, undisturbed_s;
};
struct beff_elapsed beff_elapsed(const struct beff_cube *c);

#endif
