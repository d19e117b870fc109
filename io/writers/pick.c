/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/pick.h"

#include <string.h>

#include "base/err.h"
#include "io/writers/fd.h"

/* Handed over as it was read, or else so that what is contiguous in the staging buffer comes together:
 * the later pieces move up to the first. */
int io_pick_end(struct io_pick *p)
{
    char *run = p->buf;
    int64_t start = 0, bytes = 0; /* of the run, in the staging buffer */
    if (p->pieces_n == 0) return 0;
    TRY(p->get(p, p->buf, p->end - p->start, p->start));
    if (p->in_dump && p->to->pick) {
        p->to->pick(p->to->state, p->view, p->buf, p->start - p->base, p->end - p->start);
        p->pieces_n = 0;
        return 0;
    }
    for (int i = 0; i < p->pieces_n; i++) {
        const struct io_extent *e = &p->piece[i];
        char *data = p->buf + (e->offset_bytes - p->start);
        if (bytes > 0 && e->buffer_bytes != start + bytes) {
            p->to->take(p->to->state, p->view, run, start, bytes);
            bytes = 0;
        }
        if (bytes == 0) {
            run = data;
            start = e->buffer_bytes;
        } else {
            memmove(run + bytes, data, (size_t)e->length_bytes);
        }
        bytes += e->length_bytes;
    }
    p->to->take(p->to->state, p->view, run, start, bytes);
    p->pieces_n = 0;
    return 0;
}

int io_pick_add(struct io_pick *p, struct io_extent e)
{
    while (e.length_bytes > 0) {
        if (e.offset_bytes - p->end >= IO_PICK_GAP_BYTES || e.offset_bytes - p->start >= p->room ||
            p->pieces_n == IO_PICK_PIECES)
            TRY(io_pick_end(p));
        if (p->pieces_n == 0) p->start = e.offset_bytes;
        struct io_extent *last = &p->piece[p->pieces_n > 0 ? p->pieces_n - 1 : 0], piece = e;
        if (piece.length_bytes > p->start + p->room - e.offset_bytes)
            piece.length_bytes = p->start + p->room - e.offset_bytes;
        if (p->pieces_n > 0 && e.offset_bytes == p->end &&
            e.buffer_bytes == last->buffer_bytes + last->length_bytes)
            last->length_bytes += piece.length_bytes;
        else
            p->piece[p->pieces_n++] = piece;
        p->end = e.offset_bytes + piece.length_bytes;
        e.offset_bytes += piece.length_bytes;
        e.buffer_bytes += piece.length_bytes;
        e.length_bytes -= piece.length_bytes;
    }
    return 0;
}

bool io_pick_next(struct io_cursor *c, int64_t most_bytes, struct io_extent *range)
{
    const int64_t start = c->left.offset_bytes;
    int64_t end = start;
    struct io_extent e;
    while (c->left.length_bytes > 0 && c->left.offset_bytes < start + most_bytes &&
           c->left.offset_bytes - end < IO_PICK_GAP_BYTES) {
        io_cursor_take(c, start + most_bytes, &e);
        end = e.offset_bytes + e.length_bytes;
    }
    *range = (struct io_extent){.offset_bytes = start, .length_bytes = end - start};
    return end > start;
}

int io_pick_fd(const struct io_pick *p, char *to, int64_t bytes, int64_t offset)
{
    const int *fd = p->source;
    return io_fd_read(p->ctx, *fd, to, bytes, offset);
}

int io_pick_fd_swapped(const struct io_pick *p, char *to, int64_t bytes, int64_t offset)
{
    TRY(io_pick_fd(p, to, bytes, offset));
    for (int64_t at = 0; at + IO_WORD_BYTES <= bytes; at += IO_WORD_BYTES) {
        uint64_t word;
        memcpy(&word, to + at, sizeof word);
        word = __builtin_bswap64(word);
        memcpy(to + at, &word, sizeof word);
    }
    return 0;
}

int io_pick_view(struct io_pick *p, int64_t base, int64_t from, int64_t bytes)
{
    struct io_walk w;
    struct io_extent e;
    p->in_dump = true;
    p->base = base;
    for (io_walk_start(&w, p->view); io_walk_next(&w, &e) && e.buffer_bytes < from + bytes;) {
        const int64_t skip = e.buffer_bytes < from ? from - e.buffer_bytes : 0;
        const int64_t past = from + bytes - e.buffer_bytes;
        const int64_t end = e.length_bytes < past ? e.length_bytes : past;
        if (skip >= end) continue;
        TRY(io_pick_add(p, (struct io_extent){base + e.offset_bytes + skip, end - skip,
                                              e.buffer_bytes + skip}));
    }
    return io_pick_end(p);
}

int io_pick_dump(int (*get)(const struct io_pick *p, char *to, int64_t bytes, int64_t offset),
                 const void *source, const struct io_context *ctx, int64_t dump,
                 const struct io_taker *to)
{
    struct io_pick p = {.get = get,
                        .source = source,
                        .ctx = ctx,
                        .buf = ctx->part,
                        .room = ctx->tuning.buffer_bytes,
                        .view = ctx->view,
                        .to = to};
    return io_pick_view(&p, dump * ctx->dump_bytes, 0, io_view_bytes(ctx->view));
}

int io_pick_slot_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to)
{
    return io_pick_dump(io_pick_fd, state, ctx, dump, to);
}
