/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_BEHIND_H
#define PROFILE_BEHIND_H
/* Layer 3. Processes on this node that a command has left behind: started by it, they run on when it has ended. They
 * are known by a variable in the environment that it was started with, or by what the library has left of them in the folder of
 * counters (PROFILE_HERE), so that children which this process had before, and what others leave to it, are not among them. All
 * functions are local. */
#include <stdbool.h>

/* A command is about to be started with this variable, "NAME=VALUE" or its beginning; borrowed. folder: of its
 * counters; copied. What it leaves behind becomes a child of this process. */
void behind_begin(const char *variable, const char *folder);

/* Waits until this child can be waited for, most_s seconds at most, INFINITY: as long as it takes; those left behind
 * meanwhile leave no zombies. Returns whether it can. */
bool behind_reap(int child, double most_s);

enum behind { BEHIND_NONE, BEHIND_ENDED, BEHIND_RUNS };

/* Waits until all of them have ended, or a signal comes, wait_s seconds at most. Returns whether there were any, and one
 * still runs, as far as the kernel tells; [out] pid: its number. */
enum behind behind_wait(double wait_s, int *pid);

/* Ends them all, with what they have started: asks (SIGTERM), and kills what has not gone after some seconds. */
void behind_end(void);

#endif
