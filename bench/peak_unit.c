/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One instruction set's chains of arithmetic. Compiled once per entry of the Makefile's ISAS with
 * PEAK_ISA set to its name. Chains are independent, and more than latency times pipes of any
 * processor asks for, but few enough to stay in registers. */
#include "bench/peak.h"

#include "base/isa.h"

#if defined __AVX512F__ || defined __FMA__ || defined __FP_FAST_FMA
#include "bt/solver/lanes.h"
#define CHAINS     12
#define ARITHMETIC "fma"
#define OPERATIONS (2.0 * CHAINS * LANES)

/* Every chain tends to add / (1 - mul): no overflow, no denormal numbers. */
static inline void round_of(vd x[CHAINS], vd mul, vd add)
{
    for (int c = 0; c < CHAINS; c++)
        x[c] = vfma(x[c], mul, add);
}
#else
#include <string.h>
#define LANES      2
#define CHAINS     14
#define ARITHMETIC "multiply, add"
#define OPERATIONS ((double)CHAINS * LANES)
typedef double vd __attribute__((vector_size(16)));

static inline vd vset(double x)
{
    return x - (vd){0};
}

/* Half of the chains multiply by one nearly, half add. */
static inline void round_of(vd x[CHAINS], vd mul, vd add)
{
    for (int c = 0; c < CHAINS; c += 2) {
        x[c] = x[c] * mul;
        x[c + 1] = x[c + 1] + add;
    }
}
#endif

static double chains(int64_t rounds, double seed)
{
    vd x[CHAINS], sum = vset(0);
    const vd mul = vset(1.0 - 1e-9 * seed), add = vset(1e-9 * seed);
    for (int c = 0; c < CHAINS; c++)
        x[c] = vset(seed + c);
    /* Without -ffast-math nothing may be combined across rounds. */
    for (int64_t r = 0; r < rounds; r++)
        round_of(x, mul, add);
    for (int c = 0; c < CHAINS; c++)
        sum = sum + x[c];
    return sum[0] + sum[LANES - 1];
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, double s,
                  int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}

extern const struct peak_unit ISA_JOIN(peak_unit_, PEAK_ISA);
const struct peak_unit ISA_JOIN(peak_unit_, PEAK_ISA) = {
    .isa = ISA_TEXT(PEAK_ISA),
    .arithmetic = ARITHMETIC,
    .width_bits = 8 * (int)sizeof(vd),
    .supported = isa_supported,
    .chains = chains,
    .flop_per_round = OPERATIONS,
    .triad = triad,
};
