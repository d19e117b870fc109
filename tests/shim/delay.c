/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for LD_PRELOAD: a slower file system, by a known amount. Each pwrite of a dump first computes for
 * NHT1_DELAY_US microseconds of the processor's time, so that it costs the same share of a run on a machine that
 * others use as well; the short ones of the journal do not. For bench/verdicts. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define DUMP_BYTES 16384 /* of one rank at least; an entry of the journal is shorter */

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    static double delay_us;
    if (!real) {
        const char *text = getenv("NHT1_DELAY_US");
        delay_us = text ? atof(text) : 0;
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    }
    for (const double end = now_us() + delay_us; count >= DUMP_BYTES && now_us() < end;) {
    }
    return real(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    return pwrite(fd, bytes, count, offset);
}
