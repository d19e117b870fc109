/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_OWN_SWEEP_H
#define BASE_OWN_SWEEP_H
/* Layer 0. Removing temporary files, of this process and of dead ones whose notes (base/own_note.h) are
 * found. For base/own.c, beside own_sweep of base/own.h. All functions are local, and dir_fd is the open
 * directory in which the names are. */
#include <stdint.h>

#include "base/names.h"

/* A folder with the files in it. Returns 0, or -1 with errno where it is still there. */
int own_remove_folder(int dir_fd, const char *name);

/* The files that an MPI-IO library keeps beside these data files for the shared file pointer, and leaves there
 * when a process is ended. */
void own_remove_pointers(int dir_fd, const struct names *data);

/* As own_sweep of the directory dir, open as dir_fd, but for the note of that key; "": of all. */
void own_sweep_but(int dir_fd, const char *dir, uint64_t job, const char *but);

#endif
