/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_CHECK_H
#define BEFFIO_CHECK_H
/* Layer 2. Reading the data files back by POSIX calls, outside the clock and independent of the
 * views by which they were written: where each byte belongs follows from the layout alone. */
#include "companions/beffio/bench.h"

/* Compares the files of a type with what access left there. Collective over b->comm: ranks share
 * the files among them. sample: only the two ends of each rank's part of each pattern; reading that
 * little leaves the cache as it is for the access that follows. [in,out] f adds up, of this rank.
 * Returns 0, also when data are wrong, or ERR_IO, ERR_NOMEM, ERR_INTERRUPT. */
int beffio_check_type(const struct beffio_bench *b, enum beffio_type type,
                      enum beffio_access access, bool sample, struct beffio_findings *f);

/* Sums findings over the ranks of the partition. Collective over b->comm. [out] all: wrong_n and
 * checked_bytes of all; the first wrong word is that of the lowest rank that has one, on all
 * ranks. */
int beffio_findings_sum(const struct beffio_bench *b, const struct beffio_findings *f,
                        struct beffio_findings *all);

#endif
