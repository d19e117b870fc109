/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_EXPORT_H
#define VERIFY_EXPORT_H
/* Serial. The dumps of a file that has been checked, for programs that show flows. Beside FILE:
 *
 *   xdmf     FILE.xdmf            where in FILE each value lies: nothing is copied
 *   vti      FILE.0000.vti ...    a dump each, for VTK
 *            FILE.pvd             which of them belongs to which time
 *   plot3d   FILE.xyz             the grid
 *            FILE.0000.q ...      a dump each: the five components
 *            FILE.p3d             which of them belongs to which time
 *
 * docs/viewing.md describes them. Memory: a few planes. */
#include <stdio.h>

#include "verify/check.h"

/* Whether FILE followed by suffix is the name of a file that an export of FILE in this format may
 * make. Local. */
bool export_makes(const char *format, const char *suffix);

/* Exports the complete dumps in which nothing was found wrong, and tells about it. A file that is
 * no earlier export is not replaced. Catches SIGINT and SIGTERM: what is not whole then is removed.
 * Local. o->export: not NULL. Returns 0, ERR_USAGE (a file is in the way), ERR_IO, ERR_NOMEM or
 * ERR_INTERRUPT. */
int export_dumps(const struct check *c, const struct check_options *o, FILE *tell);

#endif
