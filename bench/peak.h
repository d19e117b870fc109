/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H
/* What one core can do at most: chains of arithmetic that stay in registers, and a triad over
 * arrays. One unit per instruction set of the kernels, compiled as they are. */
#include <stdbool.h>
#include <stdint.h>

struct peak_unit {
    const char *isa;
    const char *arithmetic; /* "fma", or "multiply, add" where there is none */
    int width_bits;
    bool (*supported)(void);

    /* Runs the chains for a number of rounds. seed: any value in [0.5, 2]; the result depends on
     * it. */
    double (*chains)(int64_t rounds, double seed);
    double flop_per_round;

    /* a[i] = b[i] + s c[i] for i < n. */
    void (*triad)(double *a, const double *b, const double *c, double s, int64_t n);
};

/* The units of this binary, best first; NULL after the last. */
const struct peak_unit *peak_unit_at(int i);

#endif
