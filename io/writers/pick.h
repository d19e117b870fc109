/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PICK_H
#define IO_PICK_H
/* Layer 1. For readers: pieces of a file that lie close to each other are read together, in one
 * range, and picked out of it. A call costs as much as copying a few KiB, and a device gives whole
 * pages: so gaps shorter than a page are read as well.
 *
 *     file      ..[piece]...[piece]..........[piece][piece]...      dots: of other ranks
 *     read        [-----------------]        [------------]
 *
 * Local, all functions. */
#include "io/cursor.h"
#include "io/writers/writer.h"

#define IO_PICK_GAP_BYTES 4096
#define IO_PICK_PIECES    1024 /* read together at most */

struct io_pick {
    /* Reads a range of the file: io_pick_fd, or a writer's own. */
    int (*get)(const struct io_pick *p, char *to, int64_t bytes, int64_t offset);
    const void *source;           /* the get's own; of io_pick_fd the descriptor, an int */
    const struct io_context *ctx; /* the get's own */
    char *buf;                    /* [room] */
    int64_t room;
    const struct io_view *view; /* of whose staging buffer the pieces are parts */
    const struct io_taker *to;
    int64_t start, end; /* the range to be read */
    bool in_dump;       /* which has the pieces where a dump at base has them */
    int64_t base;
    struct io_extent piece[IO_PICK_PIECES];
    int pieces_n;
};

/* Adds a piece, behind the last one: where it is in the file, how long, where it belongs in the
 * staging buffer. */
int io_pick_add(struct io_pick *p, struct io_extent e);

/* Reads what was added and has not been read. */
int io_pick_end(struct io_pick *p);

/* Both for the bytes [from, from + bytes) of the view's staging buffer, from a dump at base. A taker
 * that picks gets the ranges as they were read. */
int io_pick_view(struct io_pick *p, int64_t base, int64_t from, int64_t bytes);

/* Takes from a cursor what is to be read next, of at most so many bytes, [out] range: offset and length
 * in the dump. Returns false at the end. For those who read in other ways than by a get. */
bool io_pick_next(struct io_cursor *c, int64_t most_bytes, struct io_extent *range);

/* A get: io_fd_read. */
int io_pick_fd(const struct io_pick *p, char *to, int64_t bytes, int64_t offset);

/* The same of values of the other byte order, in ranges of whole ones. */
int io_pick_fd_swapped(const struct io_pick *p, char *to, int64_t bytes, int64_t offset);

/* A read slot (io/writers/writer.h): my bytes of a dump of a serial file, by this get. */
int io_pick_dump(int (*get)(const struct io_pick *p, char *to, int64_t bytes, int64_t offset),
                 const void *source, const struct io_context *ctx, int64_t dump,
                 const struct io_taker *to);

/* The same by io_pick_fd, for a writer whose state begins with the descriptor, an int (io/writers/fd.h). */
int io_pick_slot_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to);

#endif
