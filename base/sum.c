/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A double is mantissa * 2^e with a mantissa below 2^53 and e >= -1074. Its lowest bit stands at
 * position e + 1120 of the accumulator, so it spans at most three bins of 32 bits. One addition
 * changes a bin by less than 2^33; CARRY_AFTER of them stay below 2^62. */
enum { BIN_BITS = 32, POSITION_0 = 1120, CARRY_AFTER = 1 << 29 };
static const uint64_t LOW = UINT64_C(0xffffffff);
static const int64_t BIN_UNIT = INT64_C(1) << BIN_BITS;

void sum_clear(struct sum *s)
{
    memset(s, 0, sizeof *s);
}

void sum_add(struct sum *s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7ff) {
        s->special++;
        return;
    }
    if (exponent > 0) {
        mantissa |= UINT64_C(1) << 52;
        exponent--; /* a normal number's unit is 2^(exponent - 1075) */
    }
    /* Adds sign * mantissa * 2^(position - 1120). */
    const int64_t sign = bits >> 63 ? -1 : 1;
    const int position = exponent - 1074 + POSITION_0, b = position / BIN_BITS;
    const uint64_t lo = (mantissa & LOW) << position % BIN_BITS;
    const uint64_t hi = (mantissa >> BIN_BITS) << position % BIN_BITS;
    s->bin[b] += sign * (int64_t)(lo & LOW);
    s->bin[b + 1] += sign * (int64_t)((lo >> BIN_BITS) + (hi & LOW));
    s->bin[b + 2] += sign * (int64_t)(hi >> BIN_BITS);
    if (++s->pending >= CARRY_AFTER) sum_carry(s);
}

void sum_carry(struct sum *s)
{
    for (int b = 0; b < SUM_BINS - 1; b++) {
        /* Largest carry with carry * 2^32 <= bin. */
        const int64_t carry = s->bin[b] / BIN_UNIT - (s->bin[b] % BIN_UNIT < 0);
        s->bin[b] -= carry * BIN_UNIT;
        s->bin[b + 1] += carry;
    }
    s->pending = 0;
}

static uint64_t bin_at(const struct sum *s, int b)
{
    return b < 0 ? 0 : (uint64_t)s->bin[b];
}

/* The value of a carried, non-negative accumulator whose highest bin in use is top: its 64 leading
 * bits, the lowest of them standing for everything below too, so that the conversion to double
 * rounds once. A result below 2^-1022 has too few bits to be rounded at all. */
static double leading_value(const struct sum *s, int top)
{
    uint64_t hi = bin_at(s, top) << BIN_BITS | bin_at(s, top - 1);
    uint64_t next = bin_at(s, top - 2);
    int up = __builtin_clzll(hi);
    uint64_t lead = hi << up | next >> (BIN_BITS - up);
    uint64_t below = next & ((UINT64_C(1) << (BIN_BITS - up)) - 1);
    for (int b = top - 3; b >= 0; b--) {
        below |= bin_at(s, b);
    }
    if (below) lead |= 1;
    return ldexp((double)lead, BIN_BITS * (top - 1) - POSITION_0 - up);
}

double sum_value(const struct sum *s)
{
    if (s->special) return NAN;
    struct sum t = *s;
    sum_carry(&t);
    const bool negative = t.bin[SUM_BINS - 1] < 0;
    for (int b = 0; negative && b < SUM_BINS; b++)
        t.bin[b] = -t.bin[b];
    if (negative) sum_carry(&t);
    int top = SUM_BINS - 1;
    while (top >= 0 && t.bin[top] == 0)
        top--;
    if (top < 0) return 0.0;
    const double value = leading_value(&t, top);
    return negative ? -value : value;
}
