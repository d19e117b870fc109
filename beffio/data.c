/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beffio/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"

#define POISON UINT64_C(0xfedcba9876543210)

static uint64_t stamp_of(const struct beffio_origin *o, int64_t chunk)
{
    return (uint64_t)o->rank << 40 | (uint64_t)o->pattern << 34 | (uint64_t)o->access << 32 |
           (uint64_t)(uint32_t)chunk;
}

static uint64_t key_of(const struct beffio_origin *o)
{
    return digest_hash(stamp_of(o, 0), (uint64_t)o->rank);
}

void beffio_fill(uint64_t *buf, int64_t bytes, const struct beffio_origin *o)
{
    const uint64_t key = key_of(o);
    for (int64_t w = 0; w < bytes / BEFFIO_WORD_BYTES; w++)
        buf[w] = digest_hash(key, (uint64_t)w);
}

void beffio_stamp(uint64_t *buf, const struct beffio_place *p, const struct beffio_origin *o,
                  int64_t call)
{
    const int64_t words = p->chunk_bytes / BEFFIO_WORD_BYTES, n = p->chunks_per_call;
    for (int64_t c = 0; c < n; c++)
        buf[c * words] = stamp_of(o, call * n + c);
}

void beffio_poison(uint64_t *buf, int64_t bytes)
{
    for (int64_t w = 0; w < bytes / BEFFIO_WORD_BYTES; w++)
        buf[w] = POISON;
}

struct beffio_expect beffio_expect(const struct beffio_layout *l, int no, int rank,
                                   enum beffio_access access)
{
    const bool shared = beffio_pattern(no, l->m_part_bytes).type <= BEFFIO_SHARED;
    return (struct beffio_expect){.o = {.rank = rank, .pattern = no, .access = access},
                                  .procs = shared ? l->procs : 1,
                                  .place = beffio_place(l, no)};
}

int64_t beffio_expect_bytes(const struct beffio_expect *e)
{
    return e->procs * beffio_place_bytes(&e->place);
}

int64_t beffio_expect_offset(const struct beffio_expect *e)
{
    return e->procs > 1 ? e->place.base_bytes : beffio_chunk_offset(&e->place, e->o.rank, 0);
}

static void note(const struct beffio_origin *o, int64_t offset, const uint64_t pair[2],
                 struct beffio_findings *f)
{
    f->wrong_by_pattern[o->pattern]++;
    if (f->wrong_n++ > 0) return;
    f->o = *o;
    f->offset_bytes = offset;
    f->expected = pair[0];
    f->found = pair[1];
}

/* Words from .. to - 1 of a chunk. */
struct span {
    int64_t chunk, from, to;
};

/* Compares a span of one rank. */
static void compare_chunk(const struct beffio_expect *e, int rank, const struct span *span,
                          const uint64_t *buf, struct beffio_findings *f)
{
    struct beffio_origin o = e->o;
    o.rank = rank;
    const int64_t words = e->place.chunk_bytes / BEFFIO_WORD_BYTES, chunk = span->chunk;
    const int64_t first = chunk % e->place.chunks_per_call * words;
    const uint64_t key = key_of(&o);
    for (int64_t w = span->from; w < span->to; w++) {
        const uint64_t pair[2] = {w == 0 ? stamp_of(&o, chunk)
                                         : digest_hash(key, (uint64_t)(first + w)),
                                  buf[w - span->from]};
        if (pair[0] != pair[1])
            note(&o, beffio_chunk_offset(&e->place, rank, chunk) + w * BEFFIO_WORD_BYTES, pair, f);
    }
}

void beffio_compare(const struct beffio_expect *e, int64_t at, const uint64_t *buf, int64_t bytes,
                    struct beffio_findings *f)
{
    const int64_t words = e->place.chunk_bytes / BEFFIO_WORD_BYTES;
    const int64_t end = (at + bytes) / BEFFIO_WORD_BYTES;
    for (int64_t w = at / BEFFIO_WORD_BYTES; w < end;) {
        const int64_t turn = w / words, stop = (turn + 1) * words < end ? (turn + 1) * words : end;
        const int rank = e->procs > 1 ? (int)(turn % e->procs) : e->o.rank;
        const struct span span = {turn / e->procs, w % words, w % words + stop - w};
        compare_chunk(e, rank, &span, buf, f);
        buf += stop - w;
        w = stop;
    }
    f->checked_bytes += bytes;
}

bool beffio_is_ours(const uint64_t word[2], int rank, int pattern)
{
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        const struct beffio_origin o = {rank, pattern, (enum beffio_access)a};
        if (word[0] == stamp_of(&o, 0) && word[1] == digest_hash(key_of(&o), 1)) return true;
    }
    return false;
}

/* What a word says about itself, when it looks like a stamp of this program. */
static void describe_word(uint64_t word, char *out, size_t size)
{
    const uint64_t rank = word >> 40, pattern = word >> 34 & 63, access = word >> 32 & 3;
    out[0] = '\0';
    if (word == POISON)
        snprintf(out, size, ", which is not from the file: nothing was read");
    else if (word == 0)
        snprintf(out, size, ", nothing was written there");
    else if (rank < 1 << 20 && pattern < BEFFIO_PATTERNS && access < BEFFIO_ACCESSES)
        snprintf(out, size, ", the stamp of rank %" PRIu64 ", pattern %" PRIu64 ", %s, chunk %u",
                 rank, pattern, beffio_access_name((enum beffio_access)access), (unsigned)word);
}

void beffio_findings_words(const struct beffio_findings *f, char *out, size_t size)
{
    char about[128];
    describe_word(f->found, about, sizeof about);
    snprintf(out, size,
             "pattern %d, data of rank %d, offset %" PRId64 ": expected %016" PRIx64
             ", found %016" PRIx64 "%s",
             f->o.pattern, f->o.rank, f->offset_bytes, f->expected, f->found, about);
}
