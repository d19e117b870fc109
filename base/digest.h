/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H
/* Layer 0. Digest of one dump: sums mod 2^64 of a hash of each value's bits and
 * place, kept per i-plane, j-plane, k-plane and component, so that it does not depend on layout,
 * writer or decomposition, and the planes that disagree locate a wrong value.
 *
 *   g = ((k N + j) N + i) 5 + m                     place of U_m(i,j,k), whatever the layout
 *   x = bits(U) + (g + 1) 0x9e3779b97f4a7c15        all arithmetic mod 2^64
 *   x = (x ^ x >> 32) 0xd6e8feb86659fd93
 *   x = (x ^ x >> 29) 0xbf58476d1ce4e5b9
 *   h = x ^ x >> 32
 *
 * A digest is 3 N + 5 words: [0,N) by i, [N,2N) by j, [2N,3N) by k, [3N,3N+5) by m. Digests of
 * disjoint parts of a dump are added word by word. */
#include <stddef.h>
#include <stdint.h>

#define DIGEST_STEP     UINT64_C(0x9e3779b97f4a7c15)
#define DIGEST_FACTOR_1 UINT64_C(0xd6e8feb86659fd93)
#define DIGEST_FACTOR_2 UINT64_C(0xbf58476d1ce4e5b9)
enum { DIGEST_SHIFT_1 = 32, DIGEST_SHIFT_2 = 29, DIGEST_SHIFT_3 = 32 };

static inline uint64_t digest_hash(uint64_t bits, uint64_t place)
{
    uint64_t x = bits + (place + 1) * DIGEST_STEP;
    x = (x ^ x >> DIGEST_SHIFT_1) * DIGEST_FACTOR_1;
    x = (x ^ x >> DIGEST_SHIFT_2) * DIGEST_FACTOR_2;
    return x ^ x >> DIGEST_SHIFT_3;
}

/* Number of words of a digest for an n^3 grid. */
static inline int64_t digest_words(int64_t n)
{
    return 3 * n + 5;
}

/* Adds a row of values U_m(i0 .. i0+len-1, j, k) to a digest. Local; vectorised.
 * w: [in,out] digest_words(n) words. row: len consecutive values along i. Global indices. */
void digest_row(uint64_t *w, int64_t n, int64_t i0, int64_t len, int64_t j, int64_t k, int m,
                const double *row);

/* The sum of the hashes of 8 bytes each at their offsets, the last ones filled up with zeros: whether
 * memory has changed. Local. */
uint64_t digest_bytes(const void *bytes, size_t count);

#endif
