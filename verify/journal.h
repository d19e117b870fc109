/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_JOURNAL_H
#define VERIFY_JOURNAL_H
/* Serial. Reads the journal FILE.json.journal of a run that lasts or was killed, docs/format.md section 4.1,
 * for verify/manifest.c. Nothing is changed: a run may be writing to it. */
#include "verify/manifest.h"

/* Adds the dumps of the journal beside the manifest at path, and what it claims. m: [in,out] as read from the
 * manifest, dumps included. Returns 1, 0 when there is no journal of that run, ERR_USAGE when it
 * contradicts the manifest, ERR_IO, ERR_NOMEM. */
int journal_read(const char *path, struct manifest *m);

#endif
