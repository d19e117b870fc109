/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_SHAPE_H
#define VERIFY_SHAPE_H
/* Serial, knows nothing of the writers. The shape of a dump file: size of the grid, layout, byte
 * order, number of dumps; where in the file a value lies. Follows docs/format.md sections 1 and 2.
 *
 *   file   dump 0 | dump 1 | ...
 *   dump   plane 0 | plane 1 | ...          all planes of a file have the same length
 *   plane  mijk     plane k:        [j][i][m]                          40 N^2 bytes
 *          ijkm     plane m N + k:  [j][i], component m alone           8 N^2 bytes
 *          records  plane k:        marker, [m][j][i], marker          40 N^2 + 8 bytes */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bt/solver/problem.h"

/* A file in a format of a library has no offsets of its own: verify/container.h makes it look like
 * a raw one. */
enum shape_format { SHAPE_RAW, SHAPE_HDF5, SHAPE_NETCDF, SHAPE_FORMATS };
enum shape_layout { SHAPE_MIJK, SHAPE_IJKM, SHAPE_RECORDS, SHAPE_LAYOUTS };
enum shape_endian { SHAPE_LITTLE, SHAPE_BIG, SHAPE_ENDIANS };
#define SHAPE_UNKNOWN (-1) /* of layout and endian; N and dumps_n are 0 when unknown */

struct shape {
    int64_t n;       /* N */
    int layout;      /* enum shape_layout or SHAPE_UNKNOWN */
    int endian;      /* enum shape_endian or SHAPE_UNKNOWN */
    int64_t dumps_n; /* dumps that the file should hold */
};

/* Place of one value U_m(i,j,k); all indices from 0. */
struct place {
    int64_t i, j, k;
    int m;
};

/* Names as in the manifest and on the command line, and their inverse (SHAPE_UNKNOWN when the name
 * is NULL or none of them). Local. */
const char *shape_format_name(int format);
const char *shape_layout_name(int layout);
const char *shape_endian_name(int endian);
int shape_format_find(const char *name);
int shape_layout_find(const char *name);
int shape_endian_find(const char *name);

/* Planes per dump, bytes of a plane, of a dump; components in a plane (5 or 1); bytes of one record
 * marker (4 or 0). Local. */
int64_t shape_planes(const struct shape *s);
int64_t shape_plane_bytes(const struct shape *s);
int64_t shape_dump_bytes(const struct shape *s);
int shape_plane_comps(const struct shape *s);
int shape_marker_bytes(const struct shape *s);

/* Offset in the file of a value of a dump. Local. */
int64_t shape_offset(const struct shape *s, int64_t dump, const struct place *at);

/* The running number of a value in a dump, whatever the layout: the place that the digest hashes.
 * Local. */
uint64_t shape_rank(int64_t n, const struct place *at);

/* Turns 4 or 8 bytes of the file's byte order into a number. Local. */
uint32_t shape_u32(const struct shape *s, const void *bytes);
uint64_t shape_u64(const struct shape *s, const void *bytes);

/* An open file and its name, for messages; all borrowed. */
struct shape_file {
    int fd;
    const char *path;
    struct container *container; /* verify/container.h; NULL: a raw file */
    int (*read)(struct container *c, void *to, int64_t bytes, int64_t offset); /* of a container */
};

/* Opens a regular file for reading; anything else is refused, a FIFO without being waited for. Local.
 * what: "" or what it is, "listing ", for messages. [out] f, fd -1 after an error; bytes: its length,
 * may be NULL. Returns 0 or ERR_IO. */
int shape_open(struct shape_file *f, const char *what, const char *path, int64_t *bytes);

/* Reads all these bytes, or the bits of one value of a dump. Local. Return 0, or ERR_IO with a
 * message when they cannot be read or the file ends before them; of a container also ERR_VERIFY. */
int shape_read_bytes(const struct shape_file *f, void *to, int64_t bytes, int64_t offset);
int shape_read(const struct shape_file *f, const struct shape *s, int64_t dump,
               const struct place *at, uint64_t *bits);

/* The double that has these bits, and its inverse. */
static inline double shape_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t shape_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
