/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_THINK_H
#define WORKLOAD_THINK_H
/* Floor 2, free of MPI. The time that a program computes between its accesses. */
#include <stdbool.h>
#include <time.h>

#include "base/watch.h"

/* Lets so many seconds pass, idle or busy. Local. Returns how many passed. */
static inline double workload_think(double s, bool busy)
{
    const double begun = watch_now();
    double now = begun;
    while ((now = watch_now()) - begun < s) {
        const double left = s - (now - begun);
        const struct timespec nap = {.tv_sec = (time_t)left,
                                     .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        if (!busy) nanosleep(&nap, NULL);
    }
    return now - begun;
}

#endif
