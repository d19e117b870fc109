/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_START_H
#define BASE_START_H
/* Layer 0. What every program does at its start and its end, and the frame of those without MPI
 * (base/program.h has that of the others). Local. */
#include <stdbool.h>

#include "base/conf.h"

/* First of all in main, before MPI is started: what a process inherits from who started it, and
 * what would harm it, is put right. Descriptors 0 to 2 that are closed are taken by /dev/null, so
 * that no data file becomes standard output; reading from and writing to them still fail. A limit
 * on file sizes is an error of the call (EFBIG) and no signal. An ignored SIGCHLD, with which nobody
 * can wait for a child, is no longer ignored. stdout becomes a stream that remembers the errno of the
 * first write that fails, for start_printed. */
void start_clean(void);

/* Whether all that was printed to standard output has arrived. Returns 0 or ERR_IO, with
 * the reason of the first write that failed. */
int start_printed(void);

/* Answers the command line --help-json: prints the table of options as JSON, of which manual pages
 * and completions are made. It comes before MPI is started, which need not be possible where
 * programs are built. status: [out] of the exit. Returns whether that was asked for. */
bool start_table(const struct conf_program *p, int argc, char **argv, int *status);

/* Body of main() without MPI: start_clean, the command line, run for CONF_RUN, start_printed.
 * opts: [out] what p->options fill. run: the work; its code, or an exit status of its own, > 0; an
 * error without a message is one that it has told itself. Returns the exit status; errors are
 * printed with the program's name before them. */
int start_program(const struct conf_program *p, int argc, char **argv, void *opts,
                  int (*run)(const void *opts, const struct conf_list *args));

#endif
