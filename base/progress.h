/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H
/* Layer 0. One line on the terminal that says how far the work is and how long it will take. One
 * process shows it (rank 0). Under mpirun every process has pipes for standard output and error,
 * whatever the user sees; so the line goes to the terminal itself (/dev/tty), and only when the
 * launcher runs in its foreground with standard error on it: not in a pipe, a batch job, a
 * background job. All functions are local and take NULL, which shows nothing. */
#include <stdint.h>

enum progress_mode {
    PROGRESS_AUTO,   /* on a terminal in the foreground, after 2 s of work */
    PROGRESS_ALWAYS, /* on standard error, at once */
    PROGRESS_NEVER,
};

struct progress;

/* The mode of an option's value "auto", "always" or "never". */
enum progress_mode progress_mode_of(const char *text);

/* Starts the clock of the work. label: what is going on, borrowed until progress_end. unit: what is
 * counted, "step", borrowed too. total: how many, > 0. Returns NULL when nothing is to be shown. */
struct progress *progress_begin(enum progress_mode mode, const char *label, const char *unit,
                                int64_t total);

/* Shows that done of the total are finished; cheap, writes at most five times a second. */
void progress_update(struct progress *p, int64_t done);

/* The rate that the next lines show, in bytes/s; 0: none. */
void progress_rate(struct progress *p, double bytes_per_s);

/* Clears the line and frees p. */
void progress_end(struct progress *p);

#endif
