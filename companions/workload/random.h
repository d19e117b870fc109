/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_RANDOM_H
#define WORKLOAD_RANDOM_H
/* Layer 2, free of MPI. Reproducible random numbers: a stream is a counter that is mixed, so that
 * any number of streams follow from one seed, the same on every machine. */
#include <stdint.h>

struct random {
    uint64_t key, count;
};

/* Two words to one, every bit of which depends on all (the finaliser of a 64-bit hash, twice). */
static inline uint64_t random_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a + (b + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 2; i++) {
        x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
        x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    }
    return x ^ x >> 32;
}

static inline struct random random_begin(uint64_t seed, uint64_t stream)
{
    return (struct random){.key = random_mix(seed, stream)};
}

/* From 0 to n - 1, n >= 1. */
static inline int64_t random_below(struct random *r, int64_t n)
{
    const uint64_t x = random_mix(r->key, r->count++);
    return (int64_t)((unsigned __int128)x * (uint64_t)n >> 64);
}

#endif
