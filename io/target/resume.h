/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_RESUME_H
#define IO_RESUME_H
/* Layer 1. Going on with a file that an earlier run left. For io/open.c: rank 0 takes the target,
 * then all ranks read the last of the dumps that the manifest calls complete into the caller's array,
 * and compare digests. If it is right the run goes on at once: the dumps before it are kept
 * and compared at the end. Otherwise, or where the caller has no array, all dumps are read and
 * compared. What is kept then is the longest row of dumps, from the first on, whose content is
 * right; the claims of the others are withdrawn before anything is written. */
#include "io/file_state.h"

/* Compares the manifest that io_target_take has found with the spec. Rank 0. [out] claimed_n: dumps
 * to be looked at, those that the manifest calls complete and the file is long enough for. */
int io_resume_take(struct io_file *f, int64_t *claimed_n);

/* Reads the last of these dumps, from the device, into spec.resume_to. Sets
 * f->resumed.dumps_n if it is right, else leaves 0: all dumps have to be checked where that one is
 * wrong, spec.resume_seen asks for it, or the file was made of parts that are removed with their run. Collective.
 * claimed_n: [in,out] of rank 0, then everybody's. */
int io_resume_last(struct io_file *f, int64_t *claimed_n);

/* Reads, if the last dump was not enough, all dumps until one is wrong, and takes the manifest over
 * with the claims that hold; when all of them do, the parts of perrank that the file was made of go.
 * Tells everybody: f->stats.dumps_n, f->ctx.first_dump, f->resumed. Collective. Room is proved. */
int io_resume(struct io_file *f, int64_t claimed_n);

#endif
