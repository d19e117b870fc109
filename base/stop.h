/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STOP_H
#define BASE_STOP_H
/* Layer 0. Being asked to stop: the first SIGINT, SIGTERM or SIGHUP sets a flag, a second one ends the
 * process at once. A SIGHUP that is ignored already, as nohup has it, stays so. */
#include <stdbool.h>

/* Installs the handlers; once, from main. Local. Returns 0 or ERR_IO. */
int stop_install(void);

/* hook: called by the handler of the first signal, at once and before a second one can end the
 * process; async-signal-safe. NULL: nothing is. Local. */
void stop_hook(void (*hook)(void));

/* Whether a signal asked for an end since stop_install. Local; safe in any thread. */
bool stop_requested(void);

/* The signal that asked, 0 when none did. Local. */
int stop_signal(void);

/* Starts a thread that calls look every 50 ms, for what has to be done while the work waits in a
 * call: launchers end their processes a second after they have asked. block: these signals go to
 * this thread alone, for a thread that waits for a disk runs no handler. One at a time. Returns 0 or
 * ERR_NOMEM. Local. */
int stop_watch_begin(void (*look)(void *arg), void *arg, bool block);

/* Ends it, and what it had blocked; nothing where none was begun. Local. */
void stop_watch_end(void);

#endif
