/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/cursor.h"

#include <stddef.h>

static void next_extent(struct io_cursor *c)
{
    if (!io_walk_next(&c->walk, &c->left)) c->left.length_bytes = 0;
}

void io_cursor_start(struct io_cursor *c, const struct io_view *v)
{
    io_walk_start(&c->walk, v);
    next_extent(c);
}

bool io_cursor_before(const struct io_cursor *c, int64_t end)
{
    return c->left.length_bytes > 0 && c->left.offset_bytes < end;
}

bool io_cursor_take(struct io_cursor *c, int64_t end, struct io_extent *piece)
{
    if (!io_cursor_before(c, end)) return false;
    *piece = c->left;
    int64_t room = end - piece->offset_bytes;
    if (piece->length_bytes > room) piece->length_bytes = room;
    c->left.offset_bytes += piece->length_bytes;
    c->left.buffer_bytes += piece->length_bytes;
    c->left.length_bytes -= piece->length_bytes;
    if (c->left.length_bytes == 0) next_extent(c);
    return true;
}

int64_t io_cursor_skip(struct io_cursor *c, int64_t end, int64_t *pieces)
{
    struct io_extent e;
    int64_t bytes = 0, count = 0;
    while (io_cursor_take(c, end, &e)) {
        bytes += e.length_bytes;
        count++;
    }
    if (pieces) *pieces = count;
    return bytes;
}
