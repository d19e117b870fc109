/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_ACCESSES_H
#define PROFILE_ACCESSES_H
/* Layer 3. The accesses of a program one by one, as runs of offsets, from what its processes have left
 * (record.h) to a file (companions/workload/accessfile.h). */
#include "companions/profile/merge.h"
#include "companions/workload/accessfile.h"

/* Writes the file. [out] head: how many there are and what is missing, without runs and names. Returns 0,
 * ERR_IO or ERR_NOMEM. Local. */
int profile_accesses_save(const struct profile_run *run, const char *path,
                          struct workload_accessfile *head);

#endif
