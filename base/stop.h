/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STOP_H
#define BASE_STOP_H
/* Floor 0. Being asked to stop: the first SIGINT or SIGTERM sets a flag, a second one ends the
 * process at once. */
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

#endif
