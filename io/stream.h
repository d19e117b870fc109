/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_STREAM_H
#define IO_STREAM_H
/* Layer 1. Stores of values that this thread will not read again soon: they go to memory in whole
 * lines and neither load the old content nor push other data out of the caches. Where the processor
 * has no such stores they are ordinary ones. */
#include <stdint.h>
#include <string.h>

/* From here on a buffer is larger than what a core keeps in its own caches. */
#define STREAM_BYTES (8 << 20)

#if defined(__x86_64__)
#include <emmintrin.h>

/* to: 8-byte aligned. Stores to consecutive addresses become whole lines. */
static inline void stream_double(double *to, double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    _mm_stream_si64((long long *)(void *)to, bits);
}

/* The same for two values, which lie at a and b in any alignment; to: 16-byte aligned. */
static inline void stream_pair(double *to, const char *a, const char *b)
{
    const __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)a);
    const __m128i high = _mm_loadl_epi64((const __m128i *)(const void *)b);
    _mm_stream_si128((__m128i *)(void *)to, _mm_unpacklo_epi64(low, high));
}

/* To be called after the last store of this thread: threads that synchronise with it later see all of them. */
static inline void stream_end(void)
{
    _mm_sfence();
}
#else
static inline void stream_double(double *to, double x)
{
    *to = x;
}

static inline void stream_pair(double *to, const char *a, const char *b)
{
    memcpy(to, a, sizeof *to);
    memcpy(to + 1, b, sizeof *to);
}

static inline void stream_end(void)
{
}
#endif

#endif
