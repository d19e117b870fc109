/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_DATA_H
#define BEFFIO_DATA_H
/* Layer 2, pure. What is written and how what is read is checked. All functions are local.
 *
 * Data are words of 8 bytes. A process fills its buffer of one call once per pattern; before each
 * call it changes one word per chunk:
 *
 *   word 0 of a chunk   the stamp: rank (24 bits), pattern (6), access (2), chunk number (32)
 *   word w of a chunk   hash of rank, pattern and access, and of the word's place in the call
 *
 * so that data of another rank, pattern, access or place in the file are found out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "companions/beffio/pattern.h"
#include "companions/beffio/schedule.h"

/* Whose data: who wrote them, in which pattern and access. */
struct beffio_origin {
    int rank, pattern;
    enum beffio_access access;
};

/* Fills the buffer of a call, but for its stamps. */
void beffio_fill(uint64_t *buf, int64_t bytes, const struct beffio_origin *o);

/* Stamps the buffer for one call, numbered from 0. */
void beffio_stamp(uint64_t *buf, const struct beffio_place *p, const struct beffio_origin *o,
                  int64_t call);

/* What no call of any access leaves in a buffer: put there before a read. */
void beffio_poison(uint64_t *buf, int64_t bytes);

/* What a run of bytes should be. In a shared region chunks of ranks 0 to procs - 1 take turns; in
 * one of a single rank (procs 1) all are of o.rank. */
struct beffio_expect {
    struct beffio_origin o; /* rank: of a region of one rank */
    int procs;
    struct beffio_place place;
};

struct beffio_findings {
    int64_t checked_bytes, wrong_n; /* wrong words */
    int64_t wrong_by_pattern[BEFFIO_PATTERNS];
    /* The first wrong word, of this process. */
    struct beffio_origin o;
    int64_t offset_bytes; /* in its file */
    uint64_t expected, found;
};

/* Stamps the buffer for one call, the last word of each chunk as well; and compares the first and the last
 * word of each chunk of a call. o: who wrote it. [in,out] f adds up. */
void beffio_stamp_ends(uint64_t *buf, const struct beffio_place *p, const struct beffio_origin *o,
                       int64_t call);
void beffio_check_ends(const uint64_t *buf, const struct beffio_place *p,
                       const struct beffio_origin *o, int64_t call, struct beffio_findings *f);

/* The region that a pattern fills in a file: of all ranks for types 0 and 1, else of one. access:
 * of the data. */
struct beffio_expect beffio_expect(const struct beffio_layout *l, int no, int rank,
                                   enum beffio_access access);

/* Length of that region, and where it begins in its file. */
int64_t beffio_expect_bytes(const struct beffio_expect *e);
int64_t beffio_expect_offset(const struct beffio_expect *e);

/* Compares bytes bytes that begin at byte at of the region, both multiples of 8. [in,out] f adds
 * up. */
void beffio_compare(const struct beffio_expect *e, int64_t at, const uint64_t *buf, int64_t bytes,
                    struct beffio_findings *f);

/* Whether the first two words of a file are such that this program wrote the file: chunk 0 of a
 * rank and pattern, in any access. */
bool beffio_is_ours(const uint64_t word[2], int rank, int pattern);

/* Says in words what is wrong at the first wrong word. */
void beffio_findings_words(const struct beffio_findings *f, char *out, size_t size);

#endif
