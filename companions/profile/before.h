/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_BEFORE_H
#define PROFILE_BEFORE_H
/* Layer 3. What the files that a program writes were before it wrote them, as the ranks of a run have noted
 * (struct profile_before). All functions are local. */
#include <stdbool.h>

/* Copies the notes of a run to the folder of another one. Returns 0, ERR_IO or ERR_NOMEM. */
int before_copy(const char *from, const char *to);

/* Restores the files to what they were before the run that has left its notes in a folder: removes those that it
 * created. Returns 0, ERR_IO, or ERR_INVALID where it wrote into a file that existed before, of which there is
 * no copy: then nothing is removed. */
int before_restore(const char *dir);

/* The names of files that the program has made and that are gone in the end, in order. [out] names: to be
 * freed, with its n strings. Returns 0, ERR_IO or ERR_NOMEM. */
int before_temporary(const char *dir, char ***names, int *n);

/* Whether what a run has written, by its notes, had still to reach a device when it had ended, as far as this
 * host knows: most of it in a file system in memory, or more than a twentieth not yet written out. flushed: the program has flushed files,
 * which counts where the system does not tell. */
bool before_in_memory(const char *dir, bool flushed);

#endif
