/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_WATCH_H
#define BASE_WATCH_H
/* Layer 0. The one clock. */

/* Seconds since an arbitrary start, monotonic (CLOCK_MONOTONIC), resolution about 1 ns. Local. */
double watch_now(void);

/* The time of day as "2001-01-31T12:00:00Z": that of the first call, and from then on what has passed by
 * watch_now. Of two calls the later one never gives the earlier time, whoever sets the clock meanwhile. Local. */
void watch_utc(char out[32]);

#endif
