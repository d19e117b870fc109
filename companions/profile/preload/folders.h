/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_FOLDERS_H
#define PROFILE_PRELOAD_FOLDERS_H
/* Layer 3. What folders hold for the program: without the profiler's own folder and, while writes are dropped, what
 * it has made in them until then, not what the real run has left. Free of MPI. */
#include <stdbool.h>

#include "companions/profile/preload/paths.h"

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

/* What stands for a name while writes are dropped, if the real run has changed it. [out] whole: its whole path;
 * path: what stands for it. */
bool folders_instead(int at, const char *name, bool follow, char whole[PROFILE_PATH_MAX],
                     char path[PROFILE_PATH_MAX]);

/* The same for a call that only asks; there also the name itself, where the program works in a folder that is
 * nothing but a stand-in and its relative names would lead elsewhere. */
bool folders_asked(int at, const char *name, bool follow, char whole[PROFILE_PATH_MAX],
                   char path[PROFILE_PATH_MAX]);

/* Whether a folder holds nothing while writes are dropped. */
bool folders_empty(const char *whole);

#pragma GCC visibility pop

#endif
