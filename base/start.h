/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_START_H
#define BASE_START_H
/* Layer 0. What every program does when it starts and ends, and the frame of those without MPI
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

/* Whether the stack may grow to what programs and libraries take: beyond its limit they would crash
 * without a word. Returns 0 or ERR_USAGE. */
int start_stack(void);

/* Whether all that was printed to standard output has arrived. Returns 0 or ERR_IO, with
 * the reason of the first write that failed. */
int start_printed(void);

/* Answers the command lines --help-json (the table of options, of which manual pages and completions
 * are made), --help and --version: before MPI is started, which takes its time, can fail, and need not
 * be possible where programs are built. The last two are left to the caller where a launcher gave
 * this process a rank, since only one of a job may answer. status: [out] of the exit. Returns whether
 * one of them was asked for and has been answered. */
bool start_answer(const struct conf_program *p, int argc, char **argv, int *status);

/* How many processes the launcher of MPI jobs that started this one says it has started, 1 without
 * one; a batch system by itself is none. What Open MPI's says goes before PMI_SIZE, which it hands on from a shell. rank: [out] the number of this one, where it is told. */
int start_launched(int *rank);

/* Body of main() without MPI: start_clean, start_stack, the command line, run for CONF_RUN, start_printed.
 * opts: [out] what p->options fill. run: the work; its code, or an exit status of its own, > 0; an
 * error without a message is one that it has told itself. Returns the exit status; errors are
 * printed with the program's name before them. */
int start_program(const struct conf_program *p, int argc, char **argv, void *opts,
                  int (*run)(const void *opts, const struct conf_list *args));

#endif
