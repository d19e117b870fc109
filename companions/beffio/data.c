/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/num.h"

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

/* A wrong word of the chunk that begins at offset. */
static void found_wrong(struct beffio_findings *f, const struct beffio_origin *o, int64_t offset,
                        int64_t word, uint64_t expected, uint64_t found)
{
    f->wrong_by_pattern[o->pattern]++;
    if (f->wrong_n++ > 0) return;
    f->o = *o;
    f->offset_bytes = offset + word * BEFFIO_WORD_BYTES;
    f->expected = expected;
    f->found = found;
}

void beffio_stamp_ends(uint64_t *buf, const struct beffio_place *p, const struct beffio_origin *o,
                       int64_t call)
{
    const int64_t words = p->chunk_bytes / BEFFIO_WORD_BYTES, n = p->chunks_per_call;
    const uint64_t key = key_of(o);
    for (int64_t c = 0; c < n; c++) {
        const int64_t last = (c + 1) * words - 1;
        if (words > 1) buf[last] = digest_hash(key, (uint64_t)last);
        buf[c * words] = stamp_of(o, call * n + c);
    }
}

void beffio_check_ends(const uint64_t *buf, const struct beffio_place *p,
                       const struct beffio_origin *o, int64_t call, struct beffio_findings *f)
{
    const int64_t words = p->chunk_bytes / BEFFIO_WORD_BYTES, n = p->chunks_per_call;
    const uint64_t key = key_of(o);
    for (int64_t c = 0; c < n; c++) {
        const int64_t first = c * words, last = first + words - 1, chunk = call * n + c;
        const int64_t offset = beffio_chunk_offset(p, o->rank, chunk);
        const uint64_t begin = stamp_of(o, chunk), end = digest_hash(key, (uint64_t)last);
        if (buf[first] != begin) found_wrong(f, o, offset, 0, begin, buf[first]);
        if (words > 1 && buf[last] != end) found_wrong(f, o, offset, words - 1, end, buf[last]);
    }
}

void beffio_compare(const struct beffio_expect *e, int64_t at, const uint64_t *buf, int64_t bytes,
                    struct beffio_findings *f)
{
    const int64_t words = e->place.chunk_bytes / BEFFIO_WORD_BYTES;
    const int64_t end = (at + bytes) / BEFFIO_WORD_BYTES;
    for (int64_t w = at / BEFFIO_WORD_BYTES; w < end;) {
        /* The rest of one rank's chunk. */
        const int64_t turn = w / words, chunk = turn / e->procs, begin = turn * words;
        const int64_t stop = num_min(begin + words, end);
        struct beffio_origin o = e->o;
        if (e->procs > 1) o.rank = (int)(turn % e->procs);
        const uint64_t key = key_of(&o);
        const int64_t first = chunk % e->place.chunks_per_call * words;
        for (; w < stop; w++, buf++) {
            const uint64_t expected =
                w == begin ? stamp_of(&o, chunk) : digest_hash(key, (uint64_t)(first + w - begin));
            if (*buf != expected)
                found_wrong(f, &o, beffio_chunk_offset(&e->place, o.rank, chunk), w - begin,
                            expected, *buf);
        }
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

void beffio_findings_words(const struct beffio_findings *f, char *out, size_t size)
{
    const uint64_t rank = f->found >> 40, pattern = f->found >> 34 & 63,
                   access = f->found >> 32 & 3;
    const int used = snprintf(out, size,
                              "pattern %d, data of rank %d, offset %" PRId64
                              ": expected %016" PRIx64 ", found %016" PRIx64,
                              f->o.pattern, f->o.rank, f->offset_bytes, f->expected, f->found);
    if (used < 0 || (size_t)used >= size) return;
    out += used;
    size -= (size_t)used;
    if (f->found == POISON)
        snprintf(out, size, ", which is not from the file: nothing was read");
    else if (f->found == 0)
        snprintf(out, size, ", nothing was written there");
    else if (rank < 1 << 20 && pattern < BEFFIO_PATTERNS && access < BEFFIO_ACCESSES)
        snprintf(out, size, ", the stamp of rank %" PRIu64 ", pattern %" PRIu64 ", %s, chunk %u",
                 rank, pattern, beffio_access_name((enum beffio_access)access), (unsigned)f->found);
}
