/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for LD_PRELOAD: a clock that a test holds. What the program itself asks for CLOCK_MONOTONIC
 * (base/watch.c; of Python, time.monotonic) goes on by NHT1_CLOCK_US microseconds (default 1) whenever it
 * asks, or, where that is 0, as the machine's does, and by a second for each byte of the file NHT1_CLOCK,
 * where one is named. Of its threads the first one alone moves it: others look as often as the machine has
 * them look. CLOCK_REALTIME, the time of day, goes back by an hour whenever the program asks. Libraries, MPI's
 * among them, have the machine's clock, and whoever sleeps, sleeps. */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PARTS_MAX = 16, BEGIN_S = 1000 };
static struct {
    uintptr_t begin, end;
} code[PARTS_MAX]; /* of the program */
static int parts;
static const char *file;
static int64_t step_us = 1;
static atomic_int_fast64_t asked, of_day_asked;

/* The program comes first; the code of a Python may lie in a library. */
static int look(struct dl_phdr_info *info, size_t size, void *first)
{
    (void)size;
    if (*(bool *)first || strstr(info->dlpi_name, "libpython"))
        for (int i = 0; i < info->dlpi_phnum && parts < PARTS_MAX; i++)
            if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
                code[parts].begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                code[parts].end = code[parts].begin + info->dlpi_phdr[i].p_memsz;
                parts++;
            }
    *(bool *)first = false;
    return 0;
}

__attribute__((constructor)) static void set_up(void)
{
    const char *us = getenv("NHT1_CLOCK_US");
    bool first = true;
    dl_iterate_phdr(look, &first);
    file = getenv("NHT1_CLOCK");
    if (us) step_us = atoll(us);
}

static time_t passed_s(void)
{
    struct stat st;
    return file && stat(file, &st) == 0 ? (time_t)st.st_size : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    const uintptr_t from = (uintptr_t)__builtin_return_address(0);
    bool ours = false;
    for (int i = 0; i < parts; i++)
        ours = ours || (from >= code[i].begin && from < code[i].end);
    const bool of_day = ours && clock == CLOCK_REALTIME;
    ours = ours && clock == CLOCK_MONOTONIC;
    if (!ours || step_us == 0) {
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
        const int rc = real(clock, t);
        if (of_day) t->tv_sec -= 3600 * (time_t)atomic_fetch_add(&of_day_asked, 1);
        if (!ours || rc != 0) return rc;
        t->tv_sec += passed_s();
        return 0;
    }
    if (gettid() == getpid()) atomic_fetch_add(&asked, 1);
    const int64_t us = atomic_load(&asked) * step_us;
    t->tv_sec = (time_t)(BEGIN_S + passed_s() + us / 1000000);
    t->tv_nsec = (long)(us % 1000000 * 1000);
    return 0;
}
