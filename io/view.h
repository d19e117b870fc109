/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_VIEW_H
#define IO_VIEW_H
/* Layer 1. Which bytes of a dump are mine. A dump is the array U_m(i,j,k), m = 0..4, i,j,k =
 * 0..N-1, of 8-byte values in one of three serial formats (docs/format.md):
 *
 *   mijk     [k][j][i][m], m fastest                            40 N^3 bytes
 *   ijkm     [m][k][j][i], i fastest                            40 N^3 bytes
 *   records  for each k: marker, [m][j][i], marker              N (40 N^2 + 8) bytes
 *
 * where a marker is the payload's length, 40 N^2, as a 4-byte integer in the machine's byte order.
 * A rank owns the cells of one box. A view lists the bytes of those cells as ascending, disjoint
 * extents, adjoining ones merged. The leading marker of a record belongs to the rank that owns
 * (i,j) = (0,0) of that plane, the trailing one to the rank that owns (N-1,N-1). Over all ranks the
 * extents tile the dump exactly once.
 * A rank's staging buffer holds its bytes in the order of its extents, without gaps: what a writer
 * sees is a stream of bytes and where they go. */
#include <stdbool.h>
#include <stdint.h>

enum io_layout { IO_MIJK, IO_IJKM, IO_RECORDS };
#define IO_NCOMP         5
#define IO_WORD_BYTES    8
#define IO_MARKER_BYTES  4
#define IO_RECORDS_N_MAX 7327 /* largest N whose payload of 40 N^2 bytes fits into a marker */

struct io_box {
    int64_t lo[3]; /* global index of the first cell along x, y, z */
    int64_t n[3];  /* cells along x, y, z; >= 0 */
};

struct io_view {
    int64_t n; /* N */
    enum io_layout layout;
    struct io_box box;
};

/* Name of a layout and its inverse (ERR_USAGE for an unknown name). Local. */
const char *io_layout_name(enum io_layout layout);
int io_layout_parse(const char *name, enum io_layout *out);

/* Bytes of one dump of the whole array; offset of dump d is d times this. */
int64_t io_dump_bytes(enum io_layout layout, int64_t n);

/* Bytes of one dump that are mine, markers included: the size of the staging buffer. */
int64_t io_view_bytes(const struct io_view *v);

/* Of the markers before and behind each record in my planes, the bytes that are mine: IO_MARKER_BYTES
 * or 0. Local. */
struct io_markers {
    int64_t lead, trail;
};
struct io_markers io_view_markers(const struct io_view *v);

/* One contiguous piece: file offset within the dump, length, offset in the staging buffer. */
struct io_extent {
    int64_t offset_bytes, length_bytes, buffer_bytes;
};

/* Walks the extents in ascending order. Local.
 *   struct io_walk w; struct io_extent e;
 *   for (io_walk_start(&w, view); io_walk_next(&w, &e);) ... */
struct io_walk {
    const struct io_view *view;
    int64_t outer, row;     /* position: slow index (k, or m k), row inside it */
    int64_t buffer_bytes;   /* staged so far */
    struct io_extent ahead; /* next raw extent, kept back until it cannot be merged further */
    bool ahead_valid;
};
void io_walk_start(struct io_walk *w, const struct io_view *v);
bool io_walk_next(struct io_walk *w, struct io_extent *e);

/* Number of extents, i.e. write requests of a rank that writes run by run. */
int64_t io_view_extents(const struct io_view *v);

/* A box of values in memory: that of component m at the box's cell (i,j,k) is
 * u[k sk + j sj + m sm + i], strides in values, i,j,k from 0 inside the box. */
struct io_field {
    const double *u;
    int64_t sm, sj, sk;
};

/* The same to put values into. */
struct io_array {
    double *u;
    int64_t sm, sj, sk;
};

/* Rows of a box: those with j0 <= j < j1 in plane k. */
struct io_rows {
    int64_t k, j0, j1;
};

/* Copies rows of a box into the staging buffer in file order, markers included. Different rows may
 * be copied by different threads. Local. buf: [out] of io_view_bytes(v) bytes what belongs to
 * these rows; 8-byte aligned or not. */
void io_view_stage_rows(const struct io_view *v, const struct io_field *from, struct io_rows rows,
                        void *buf);

/* The same, and adds the rows to the digest of the dump (base/digest.h) in the same pass. Local. False, and nothing is done,
 * where there is no such way: on this processor, in this layout, or for this alignment of buf. */
bool io_view_take_rows(const struct io_view *v, const struct io_field *from, struct io_rows rows,
                       void *buf, uint64_t *digest);

/* The same for the whole box, by all threads. Local. */
void io_view_stage(const struct io_view *v, const struct io_field *from, void *buf);

/* The inverse, for a part of a staging buffer: the bytes [start, start + bytes) of it, which lie at
 * data, become values. Markers are passed over. A value may be cut in two, but with layout mijk
 * start and bytes are multiples of IO_WORD_BYTES. By all threads, where it is worth it. Local. */
void io_view_unstage(const struct io_view *v, const void *data, int64_t start, int64_t bytes,
                     const struct io_array *to);

/* The same for a part of a dump: of its bytes [start, start + bytes), which lie at data, those that are
 * mine become values. */
void io_view_pick(const struct io_view *v, const void *data, int64_t start, int64_t bytes,
                  const struct io_array *to);

#endif
