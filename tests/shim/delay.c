/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for LD_PRELOAD: a slower file system, by a known amount. Each pwrite of a dump first computes for
 * NHT1_DELAY_US microseconds of the processor's time, so that it costs the same share of a run on a machine that
 * others use as well; the short ones of the journal do not. For bench/verdicts. With NHT1_DELAY_IN_TURN,
 * bytes of a call, it is the calls of that size, those of pread too, and the ranks of Open MPI or MPICH take turns:
 * of their n-th calls one is slow. With NHT1_DELAY_LINK_US each link is slow, by which nht1-profile notes a name, with NHT1_DELAY_FSYNC_US each fsync
 * of rank 0. */
#include <dlfcn.h>
#include <stdbool.h>
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

static long number(const char *name, const char *other, long none)
{
    const char *text = getenv(name) ? getenv(name) : getenv(other);
    return text ? atol(text) : none;
}

/* calls_n: of this kind and size so far. */
static bool my_turn(long calls_n)
{
    const long rank = number("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0);
    return calls_n % number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1) == rank;
}

static void compute(const char *how_long)
{
    const char *text = getenv(how_long);
    for (const double end = now_us() + (text ? atof(text) : 0); now_us() < end;) {
    }
}

static void delay(size_t count, size_t in_turn, long *calls_n)
{
    if (in_turn ? count == in_turn && my_turn((*calls_n)++) : count >= DUMP_BYTES)
        compute("NHT1_DELAY_US");
}

static size_t turns(void)
{
    const char *text = getenv("NHT1_DELAY_IN_TURN");
    return text ? (size_t)atol(text) : 0;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    static long calls_n;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    delay(count, turns(), &calls_n);
    return real(fd, bytes, count, offset);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    static long calls_n;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pread");
    if (turns()) delay(count, turns(), &calls_n);
    return real(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    return pwrite(fd, bytes, count, offset);
}

ssize_t pread64(int fd, void *bytes, size_t count, off_t offset)
{
    return pread(fd, bytes, count, offset);
}

int fsync(int fd)
{
    static int (*real)(int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    if (number("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0) == 0) compute("NHT1_DELAY_FSYNC_US");
    return real(fd);
}

int link(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "link");
    compute("NHT1_DELAY_LINK_US");
    return real(from, to);
}
