/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_OPENED_H
#define PROFILE_OPENED_H
/* Layer 3. What the shell has opened for the command to read: each of several runs is to find it as the first one has. All
 * functions are local. */
#include <stdbool.h>

/* Notes it, before the first run; but for what is no input: standard output and error, and pipes from 3 on that hold tokens, open
 * for reading and writing or make's. Reads nothing. Returns 0, ERR_IO or ERR_NOMEM. */
int opened_begin(void);

/* Makes it ready again for another run: files that the first one has read, opened anew at the place where they were, which
 * changes nothing for the shell; of a pipe whose writers had gone before the first run, another one with the same bytes as
 * that descriptor of this process. all: also files that it has not read, for what is no run of the program; the next
 * opened_again(false) takes that back. Returns 0 or ERR_IO. */
int opened_again(bool all);

/* After a run with writes, the first one in any case: 0, or ERR_INVALID where other runs would not find the same: of a pipe, a socket or a
 * terminal what that run has read of it, if anything, is gone, or a file has been written since. */
int opened_spent(void);

void opened_end(void);

#endif
