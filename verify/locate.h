/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_LOCATE_H
#define VERIFY_LOCATE_H
/* Serial. Where a dump differs from what was written, and how: from the difference of two digests.
 *
 * Every word of a digest is the sum of the hashes of one plane of values. A wrong value with hash h
 * instead of h' changes one word by i, one by j, one by k and one by m, all by h - h'. So the words
 * that disagree give the planes, and equal differences pair planes of the three directions to
 * cells. A guess at what happened (this bit flipped, these two cells swapped, dump 6 in place of
 * dump 7) is proved by computing what it does to the words: they agree after it is undone, which
 * does not happen by chance. */
#include <stdint.h>

#include "verify/finding.h"
#include "verify/manifest.h"

struct locate {
    const struct shape_file *file;
    const struct shape *shape;
    const struct manifest *manifest;
    int64_t dump;
    const uint64_t *digest; /* digest_words(n) words, computed from the file */
    int64_t zeros_n;        /* values of the dump with all bits zero */
};

/* True when the digest of the dump is the manifest's. Local. */
bool locate_agrees(const struct locate *l);

/* Adds findings that say where and, if it can be found out, how the dump differs; at least one.
 * Local. ERR_NOMEM, ERR_IO. */
int locate_explain(const struct locate *l, struct findings *f);

/* "dump 7 (step 40)", or "dump 7" when the step is not known, in buf. Local. Returns buf. */
#define LOCATE_NAME 64
const char *locate_name(const struct manifest *m, int64_t dump, char buf[LOCATE_NAME]);

#endif
