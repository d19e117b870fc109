/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_BEHIND_H
#define PROFILE_BEHIND_H
/* Layer 3. Processes on this node that a command has left behind: started by it, they run on when it has ended. All
 * functions are local; none may be called while a child of this process is waited for by its number. */
#include <stdbool.h>

/* A command is about to be started: what it leaves behind becomes a child of this process, and no other child is meant by
 * the functions below. */
void behind_begin(void);

/* Waits until this child can be waited for; those left behind meanwhile leave no zombies. */
void behind_reap(int child);

/* Waits until all of them have ended, or a signal comes, wait_s seconds at most. Returns whether one still runs, as
 * far as the kernel tells; [out] name: what it runs, pid: its number. */
bool behind_runs(double wait_s, char name[32], int *pid);

/* Ends them all, with what they have started: asks (SIGTERM), and kills what has not gone after some seconds. */
void behind_end(void);

#endif
