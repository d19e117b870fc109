/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_VIRTUAL_H
#define PROFILE_PRELOAD_VIRTUAL_H
/* Layer 3. What a program finds of the files it writes while its writes are dropped: the real run has
 * left these files and they stay as they are, but which of them exist and how long they are is what the
 * program's own calls would have made. Free of MPI; threads may call at the same time.
 *
 * DIR/file-HASH is a struct profile_before (record.h): the real run notes there what it found, and
 * nht1-profile copies these into the folder of the run without writes, which goes on from there. All
 * processes of a node map the same file. */
#include <stdbool.h>
#include <stdint.h>

#include "companions/profile/record.h"

/* No name of these is to stand before one of the program's. */
#pragma GCC visibility push(hidden)

/* The state of a file by its name, mapped and kept; made of what there is now where nobody has noted
 * it. NULL: it cannot be kept, errno. */
struct profile_before *virtual_of(const char *dir, const char *name);

/* The file is at least so long now. -1: not known, nothing is changed. */
void virtual_grow(struct profile_before *state, int64_t end);

/* The file to be opened for a name: it itself where the real run has left it, else a stand-in in the
 * folder of the counters. Returns whether it is a stand-in. */
bool virtual_path(const char *dir, const struct profile_before *state, char path[4096]);

#pragma GCC visibility pop

#endif
