/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/watch.h"

#include <stdatomic.h>
#include <time.h>

double watch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void watch_utc(char out[32])
{
    static _Atomic double ahead_s; /* the time of day of watch_now's zero; 0: not asked yet */
    double ahead = atomic_load(&ahead_s);
    if (ahead <= 0) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        const double first = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - watch_now();
        if (atomic_compare_exchange_strong(&ahead_s, &ahead, first)) ahead = first;
    }
    const time_t now = (time_t)(ahead + watch_now());
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
