/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_CURSOR_H
#define IO_CURSOR_H
/* Layer 1. A place in a rank's sequence of extents, for writers that take it in parts. A staging
 * buffer is in file order, so a rank's part of any range of the dump is one piece of its buffer:
 * it starts at the cursor's left.buffer_bytes. Local, all functions. A cursor may be copied. */
#include "io/view.h"

struct io_cursor {
    struct io_walk walk;
    struct io_extent left; /* what is left of the current extent; length 0 at the end */
};

/* Stands at the first byte of the view, which is borrowed. */
void io_cursor_start(struct io_cursor *c, const struct io_view *v);

/* Whether there is anything before offset end of the dump. */
bool io_cursor_before(const struct io_cursor *c, int64_t end);

/* Takes the next piece before offset end. Returns false when there is none. */
bool io_cursor_take(struct io_cursor *c, int64_t end, struct io_extent *piece);

/* Takes everything before offset end. Returns its bytes; [out] pieces, may be NULL: in how many. */
int64_t io_cursor_skip(struct io_cursor *c, int64_t end, int64_t *pieces);

#endif
