/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_PATTERN_H
#define WORKLOAD_PATTERN_H
/* Layer 2, free of MPI. The eight spatial patterns of file access [A]: which bytes of the file the
 * access i of rank p of P touches. Pure functions; n is how often a pattern is repeated, r the
 * record. One access is contiguous in the file.
 *
 * simple-strided    (i P + p) r, r bytes. Most codes that deal out a list.
 * nested-strided    Blocks of a 3-D array on a grid of PX x PY ranks, rows of r bytes: the inner
 *                   stride, PX r, leads to the next row of a rank's block (`inner` rows), the outer
 *                   one to the next plane (n of them).
 * random-strided    Turns go round the ranks; each takes 1 to 2 r - 1 bytes. Sizes follow from the
 *                   seed; in two rounds running a rank's two turns make 2 r, so that all ranks get
 *                   the same and a turn's place follows without adding up all before it. With an
 *                   odd number of rounds the last has turns of r.
 * sequential        i r: every process the whole file, one record after the other.
 * segmented         p n r + i r: a process its own segment.
 * tiled             n dense 2-D data sets, a tile of `rows` x `columns` elements per rank, next to
 *                   each other or overlapping by so many rows and columns; an access is a row.
 * flash             The checkpoint of the FLASH I/O kernel: `variables` x all blocks of all ranks x
 *                   cells^3 doubles; then, with `plot`, the plotfile, the first so many variables
 * as floats. A rank has `blocks`, the next one more, the next two, and so round
 *                   (`vary` of them). An access is one variable of all blocks of a rank. n dumps.
 * mesh              Vertices of an unstructured mesh, `values` doubles each, packed: n vertices per
 *                   rank, at the places of a seeded partition.
 *
 * packed: the same records in the same order, but those of a rank one after the other, in a part of
 * the file that is its own: contiguous in the file.
 */
#include <stdbool.h>
#include <stdint.h>

enum workload_pattern {
    WORKLOAD_SIMPLE,
    WORKLOAD_NESTED,
    WORKLOAD_RANDOM,
    WORKLOAD_SEQUENTIAL,
    WORKLOAD_SEGMENTED,
    WORKLOAD_TILED,
    WORKLOAD_FLASH,
    WORKLOAD_MESH,
    WORKLOAD_PATTERNS
};

/* "simple-strided" ...; for people "Simple Strided". Static text. */
const char *workload_pattern_name(enum workload_pattern p);
const char *workload_pattern_title(enum workload_pattern p);

struct workload_shape {
    enum workload_pattern pattern;
    int procs;
    int64_t n;            /* repetitions, at least 1 */
    int64_t record_bytes; /* of patterns 1 to 5 */
    uint64_t seed;
    bool packed;
    int64_t inner; /* nested: rows in a plane */
    int64_t rows, columns, element_bytes, overlap_rows, overlap_columns; /* tiled */
    int64_t blocks, vary, cells, guard, variables, plot;                 /* flash */
    int64_t values;                                                      /* mesh */
};

struct workload_extent {
    int64_t offset, bytes;
};

/* Counts and bytes below that do not fit into an int64_t are NUM_ENDLESS (base/num.h). Where the
 * length of the file and the bytes of all are less than that, all places fit. */

/* Number of accesses of each rank. Local. */
int64_t workload_shape_accesses(const struct workload_shape *s);

/* Access i of a rank, 0 <= i < accesses. Local. */
struct workload_extent workload_shape_extent(const struct workload_shape *s, int rank, int64_t i);

/* Length of the file; the accesses of all ranks cover it. Local. */
int64_t workload_shape_length(const struct workload_shape *s);

/* Bytes of the first i accesses of a rank; of all of a rank; of all of all. Local. */
int64_t workload_shape_first_bytes(const struct workload_shape *s, int rank, int64_t i);
int64_t workload_shape_rank_bytes(const struct workload_shape *s, int rank);
int64_t workload_shape_bytes(const struct workload_shape *s);

/* Whether the accesses of a rank, in ascending order, follow each other without gaps in the file. Local. */
bool workload_shape_gapless(const struct workload_shape *s);

/* Whether several ranks access the same bytes. Local. */
bool workload_shape_overlaps(const struct workload_shape *s);

/* The accesses of a rank repeat: access i + *accesses lies *bytes behind access i. Where they do
 * not, the period is all of them. Local. */
void workload_shape_period(const struct workload_shape *s, int rank, int64_t *accesses,
                           int64_t *bytes);

/* --- memory ---------------------------------------------------------------------------------
 * Where the bytes of an access lie in memory. A slot holds `group` accesses; a piece is contiguous.
 * Contiguous memory: one piece. Strided memory: pieces of block_bytes, each followed by a gap of
 * the same size. FLASH's own: blocks of (cells + 2 guard)^3 cells with all variables side by side
 * in each, so that a variable is one double in each cell, guard cells left out; all accesses of a
 * dump are in one slot, the floats of the plotfile contiguous behind the blocks. */
struct workload_memory {
    bool strided;
    int64_t block_bytes; /* of the pieces, patterns other than flash */
};

/* The longest access of a rank. Local. */
int64_t workload_shape_longest(const struct workload_shape *s, int rank);

int64_t workload_memory_group(const struct workload_shape *s, const struct workload_memory *m);
int64_t workload_memory_slot_bytes(const struct workload_shape *s, const struct workload_memory *m,
                                   int rank);
int64_t workload_memory_pieces(const struct workload_shape *s, const struct workload_memory *m,
                               int rank, int64_t i);

/* Piece k of access i: offset in the slot. Pieces follow each other in the file. Local. */
struct workload_extent workload_memory_piece(const struct workload_shape *s,
                                             const struct workload_memory *m, int rank, int64_t i,
                                             int64_t k);

#endif
