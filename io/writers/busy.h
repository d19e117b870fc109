/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_BUSY_H
#define IO_BUSY_H
/* Layer 1. When data were on their way, and how much of that time the caller computed: intervals of
 * the one clock (base/watch.h), added by writers, also by their threads. Local, all functions. */
#include <stdint.h>

struct io_interval {
    double start_s, end_s;
};

struct io_busy;

/* An empty record, NULL when there is no memory. */
struct io_busy *io_busy_new(void);
void io_busy_free(struct io_busy *b);

/* Adds an interval; intervals may overlap. May be called by any thread. Without memory the interval
 * is forgotten: it is a statistic. */
void io_busy_add(struct io_busy *b, double start_s, double end_s);

/* Seconds of whole that are covered by at least one interval (returned), and [out] apart_s, may be
 * NULL: those among them outside of the calls_n calls, which ascend and do not overlap. */
double io_busy_seconds(struct io_busy *b, struct io_interval whole, const struct io_interval *calls,
                       int64_t calls_n, double *apart_s);

#endif
