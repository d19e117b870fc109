/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/digest.h"

#include <stdbool.h>
#include <string.h>

/* The row is hashed by one loop that the compiler vectorises, compiled once per instruction set.
 * Integers only: all give the same words. */
#if defined(__x86_64__) && defined(__GNUC__) && defined(__gnu_linux__)
#ifdef __clang__ /* does not know the preference, and warns */
#define FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))
#else
#define FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define FOR_OTHERS __attribute__((target_clones("avx2", "default")))
#define HAS_AVX512 (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#else
#define FOR_AVX512
#define FOR_OTHERS
#define HAS_AVX512 0
#endif

enum { NCOMP = 5 };

/* Adds the hash of row[i] to plane[i] and returns the sum of the hashes. */
static inline __attribute__((always_inline)) uint64_t
hash_values(uint64_t *restrict plane, const double *restrict row, int64_t len, uint64_t place)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < len; i++) {
        uint64_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        uint64_t h = digest_hash(bits, place + NCOMP * (uint64_t)i);
        plane[i] += h;
        sum += h;
    }
    return sum;
}

FOR_AVX512 static uint64_t hash_wide(uint64_t *plane, const double *row, int64_t len,
                                     uint64_t place)
{
    return hash_values(plane, row, len, place);
}

FOR_OTHERS static uint64_t hash_row(uint64_t *plane, const double *row, int64_t len, uint64_t place)
{
    return hash_values(plane, row, len, place);
}

void digest_row(uint64_t *w, int64_t n, int64_t i0, int64_t len, int64_t j, int64_t k, int m,
                const double *row)
{
    uint64_t place = (uint64_t)(((k * n + j) * n + i0) * NCOMP + m);
    const bool wide = HAS_AVX512;
    const uint64_t sum =
        wide ? hash_wide(w + i0, row, len, place) : hash_row(w + i0, row, len, place);
    w[n + j] += sum;
    w[2 * n + k] += sum;
    w[3 * n + m] += sum;
}

uint64_t digest_bytes(const void *bytes, size_t count)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < count; at += 8) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)bytes + at, count - at < 8 ? count - at : 8);
        sum += digest_hash(bits, at);
    }
    return sum;
}
