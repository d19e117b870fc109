/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_SUM_H
#define BASE_SUM_H
/* Layer 0. Exact sums of doubles: every addend is split into integers that are added into 32-bit
 * wide bins of 64-bit counters, so the order of addition, and with it the number of ranks and
 * threads, cannot change the result. Accumulators are plain arrays of int64_t:
 * those of several ranks are added element by element with MPI_SUM. */
#include <stdint.h>

#define SUM_BINS 70 /* 2^-1074 .. 2^1023 in steps of 2^32, and room for carries */

struct sum {
    int64_t bin[SUM_BINS]; /* value = sum over b of bin[b] 2^(32 b - 1120) */
    int64_t pending;       /* additions since the last carry; carried before bins can overflow */
    int64_t special;       /* number of NaN and infinite addends */
};

void sum_clear(struct sum *s);

/* Adds one value exactly. Local. */
void sum_add(struct sum *s, double x);

/* Carries, so that accumulators of up to 2^20 ranks can be added without overflow. Local. */
void sum_carry(struct sum *s);

/* The sum, rounded once, to nearest up to one unit in the last place, the same bits for the same
 * multiset of addends; NaN when an addend was not finite. Local. */
double sum_value(const struct sum *s);

#endif
