/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_RESUME_H
#define IO_RESUME_H
/* Layer 1. Going on with a file that an earlier run left. For io/open.c: rank 0 takes the target,
 * then all ranks read what the manifest calls complete and compare digests. What is kept is the
 * longest row of dumps, from the first on, whose content is right; the claims of the others are
 * withdrawn before anything is written. */
#include "io/file_state.h"

/* Compares the manifest that io_target_take has found with the spec. Rank 0. [out] claimed_n: dumps
 * to be looked at, those that the manifest calls complete and the file is long enough for. */
int io_resume_take(struct io_file *f, int64_t *claimed_n);

/* Reads the dumps, from the device, until one is wrong, and takes the manifest over with the claims
 * that hold; when all of them do, the parts of perrank that the file was made of go. Tells
 * everybody: f->stats.dumps_n, f->ctx.first_dump, f->resumed. Collective. claimed_n: of rank 0; room
 * is proved. */
int io_resume(struct io_file *f, int64_t claimed_n);

#endif
