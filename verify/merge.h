/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_MERGE_H
#define VERIFY_MERGE_H
/* Serial. Makes the dump file FILE from the files FILE.rank00000 ... that the writer perrank left,
 * by the boxes in the manifest FILE.json, docs/format.md section 4. */

/* Assembles the complete dumps of FILE under another name, and gives it the name FILE when it is
 * whole. A FILE that has content already is left alone. Local. Returns 0, ERR_USAGE when the
 * manifest tells of no parts, ERR_IO, ERR_NOMEM. */
int merge_file(const char *path);

#endif
