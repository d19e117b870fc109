/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_BEFORE_H
#define PROFILE_BEFORE_H
/* Layer 3. What the files that a program writes were before it wrote them, as the ranks of a run have noted
 * (struct profile_before). All functions are local. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies the notes of a run to the folder of another one. Returns 0, ERR_IO or ERR_NOMEM. */
int before_copy(const char *from, const char *to);

/* Files, folders, FIFOs and their like that a run has created, under other names until the next one has succeeded: with .before-N
 * at the end of their names, before which comes -2, -3 ... where that is taken; those in a created folder in that, under its name. */
struct before_aside {
    struct before_entry {
        char *name;
        bool folder;
        size_t top_bytes; /* of the name: up to the outermost folder that was created as well */
    } * entry;
    int n;
    char end[48];
};

/* Makes the state before the run that has left its notes in a folder again: sets aside what it has created. number: N.
 * [out] a: to be given to one of the next three. Returns 0, ERR_IO, ERR_NOMEM, or ERR_INVALID where it wrote into a
 * file that existed before, of which there is no copy; then everything has its name. */
int before_set_aside(const char *dir, int64_t number, struct before_aside *a);

/* The next run has succeeded: removes what was set aside, but for what others have put into its folders. Returns 0, or ERR_IO:
 * something stays, all else is gone. */
int before_aside_remove(struct before_aside *a);

/* It has not: removes what that has created, by the notes in the folder, and returns to what was set aside its names.
 * Returns 0, ERR_NOMEM or ERR_IO: what cannot get its name keeps the other one. */
int before_aside_return(struct before_aside *a, const char *dir);

void before_aside_free(struct before_aside *a);

/* The names of files that the program has made and that are gone in the end, in order. [out] names: to be
 * freed, with its n strings. Returns 0, ERR_IO or ERR_NOMEM. */
int before_temporary(const char *dir, char ***names, int *n);

/* Whether what a run has written, by its notes, had still to reach a device when it had ended, as far as this
 * host knows: most of it in a file system in memory, or more than a twentieth not yet written out. flushed: the program has flushed files,
 * which counts where the system does not tell. */
bool before_in_memory(const char *dir, bool flushed);

#endif
