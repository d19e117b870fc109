/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H
/* Layer 0. Files that belong to the running program lie beside it, in a build and in an installation: their
 * paths. Whether they exist is for the caller to check. Local. */
#include <limits.h>

/* [out] path: that of name, relative to the folder of the running program. Returns 0 or ERR_IO. */
int beside_path(char path[PATH_MAX], const char *name);

/* [out] path: that of a library, a name without folder: ../lib/nht1/NAME where that can be read, else
 * LIBDIR/nht1/NAME in a build whose LIBDIR is elsewhere. Returns 0 or ERR_IO. */
int beside_library(char path[PATH_MAX], const char *name);

/* The command that starts ranks of the MPI library that this program was built with, as the build has
 * noted it, else "mpirun". Static text. */
const char *beside_launcher(void);

#endif
