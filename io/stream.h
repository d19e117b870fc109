/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_STREAM_H
#define IO_STREAM_H
/* Floor 1. Stores of values that this thread will not read again soon: they go to memory in whole
 * lines and neither load the old content nor push other data out of the caches. Where the processor
 * has no such stores they are ordinary ones. */
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>

/* to: 8-byte aligned. Stores to consecutive addresses become whole lines. */
static inline void stream_double(double *to, double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    _mm_stream_si64((long long *)(void *)to, bits);
}

/* After the last store of this thread: others that learn of it later see all of them. */
static inline void stream_end(void)
{
    _mm_sfence();
}
#else
static inline void stream_double(double *to, double x)
{
    *to = x;
}

static inline void stream_end(void)
{
}
#endif

#endif
