/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_size.h"

#include <math.h>

int64_t beff_size_lmax(enum beff_definition definition, int64_t memory_bytes)
{
    const int64_t mib = (int64_t)1 << 20;
    const int64_t counted = definition == BEFF_36 ? memory_bytes / mib * mib : memory_bytes;
    const int64_t lmax = counted / 128;
    return lmax < BEFF_LMAX_CAP ? lmax : BEFF_LMAX_CAP;
}

double beff_size_growth(int64_t lmax_bytes, int i)
{
    if (i < BEFF_FIXED_N) return 2.0;
    return pow((double)lmax_bytes / BEFF_FIXED_MAX, 1.0 / (BEFF_SIZES_N - BEFF_FIXED_N));
}

void beff_sizes(int64_t lmax_bytes, int64_t out[BEFF_SIZES_N])
{
    double size_bytes = BEFF_FIXED_MAX;
    for (int i = 0; i < BEFF_FIXED_N; i++)
        out[i] = (int64_t)1 << i;
    for (int i = BEFF_FIXED_N; i < BEFF_SIZES_N; i++) {
        size_bytes *= beff_size_growth(lmax_bytes, i);
        out[i] = (int64_t)(size_bytes + 0.5);
    }
}
