/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_GNUPLOT_H
#define REPORT_GNUPLOT_H
/* Serial. Starts gnuplot: the one named by NHT1_GNUPLOT, else the one on the PATH. Local. */
#include <stdbool.h>

/* Whether it can be started. */
bool gnuplot_found(void);

/* Runs a script in a directory and waits, at most a minute. Returns 0, ERR_INVALID with what
 * gnuplot says, ERR_TIMEOUT, or ERR_IO when no process could be made. */
int gnuplot_run(const char *directory, const char *script);

#endif
