/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_PATTERN_H
#define BEFFIO_PATTERN_H
/* Layer 2, pure: no MPI, no files. The 43 patterns of b_eff_io and where each puts its bytes
 * [RK01, table 2].
 *
 * Files of one partition of n processes, a file per type (per process for type 2). A call of a
 * process moves L bytes, contiguous in memory, as L / l chunks of l bytes on disk:
 *
 *   type 0, 1   |r0|r1|..|rn-1|r0|r1|..|rn-1|...   chunks of all ranks in turn, pattern by pattern
 *   type 2      |r|r|r|...                          one file per process
 *   type 3, 4   |r0 r0 r0 ... fill|r1 r1 ...|...    a segment of L_SEG bytes per process
 *
 * All functions are local. Sizes are bytes; kB and MB of the sources are 2^10 and 2^20. */
#include <stdbool.h>
#include <stdint.h>

enum beffio_type {
    BEFFIO_SCATTER,   /* 0: strided collective, several chunks per call */
    BEFFIO_SHARED,    /* 1: the same order of chunks, one per call, shared file pointer */
    BEFFIO_SEPARATE,  /* 2: a file per process, not collective */
    BEFFIO_SEGMENTED, /* 3: a segment of one file per process, not collective */
    BEFFIO_SEG_COLL,  /* 4: as 3, collective */
    BEFFIO_TYPES
};

enum {
    BEFFIO_PATTERNS = 43,
    BEFFIO_POSITIONS = 7, /* chunk sizes of the table of results: 1k 1k+8 32k 32k+8 1M 1M+8 M */
    BEFFIO_U_SUM = 64,    /* sum of the weights U over all patterns */
    BEFFIO_WORD_BYTES = 8 /* all sizes are multiples of it */
};

struct beffio_pattern {
    enum beffio_type type;
    int64_t
        chunk_bytes; /* l, contiguous on disk; 0 for a fill-up: whatever is left of the segment */
    int64_t call_bytes; /* L, contiguous in memory, of one call of one process; a multiple of l */
    int u;              /* weight, in units of scheduled time; 0: made once, not weighted */
    int pos;            /* 1..7: line of the table of results; 8: pattern 2; 0: none */
    bool fill;          /* fills the segment up */
};

/* Pattern no of 0..42 with the sizes that it has for a given M_PART. */
struct beffio_pattern beffio_pattern(int no, int64_t m_part_bytes);

/* First pattern of a type, and the one behind its last. */
int beffio_type_first(enum beffio_type type);
int beffio_type_end(enum beffio_type type);

/* "scatter", "shared", "separate", "segmented", "seg_coll": as in hints and results. */
const char *beffio_type_name(enum beffio_type type);

/* Chunk size of a position 1..7, its name "1k", "1k+8", .. "M", and where it stands on the
 * pseudo-logarithmic axis of the published figures. */
int64_t beffio_position_bytes(int pos, int64_t m_part_bytes);
const char *beffio_position_name(int pos);
int beffio_position_x(int pos);

/* M_PART = max(2 MB, memory / 128), in steps of 8 kB. cap: at most 1 GB, as release 2.1 has it for
 * want of wider integers. memory_bytes: of one process. */
int64_t beffio_m_part_bytes(int64_t memory_bytes, bool cap);

/* How often each pattern is made, and with it where everything lies. */
struct beffio_layout {
    int procs;                      /* n, ranks of the partition */
    int64_t m_part_bytes;           /* a multiple of 8 */
    int64_t shared_m_part_bytes;    /* M_PART of type 1 where it is smaller; 0: it is not */
    int64_t calls[BEFFIO_PATTERNS]; /* of each process; 0: not known yet, or nothing to fill up */
    int64_t segment_bytes;          /* L_SEG; 0: not known yet */
};

/* Pattern no with the sizes that it has in a layout. */
struct beffio_pattern beffio_layout_pattern(const struct beffio_layout *l, int no);

/* The chunks of one pattern: chunk s of rank r, s counted over all calls of r, begins at
 * base_bytes + r rank_step_bytes + s step_bytes of its file. */
struct beffio_place {
    int64_t chunk_bytes, chunks_per_call, calls_n;
    int64_t base_bytes, rank_step_bytes, step_bytes;
};

/* Place of a pattern, given the calls of all patterns of its type before it. The chunk of a fill-up
 * is what the patterns before it left of the segment. */
struct beffio_place beffio_place(const struct beffio_layout *l, int no);

/* Offset of a chunk in its file. */
static inline int64_t beffio_chunk_offset(const struct beffio_place *p, int rank, int64_t chunk)
{
    return p->base_bytes + rank * p->rank_step_bytes + chunk * p->step_bytes;
}

/* Bytes that one process moves in a pattern. */
static inline int64_t beffio_place_bytes(const struct beffio_place *p)
{
    return p->calls_n * p->chunks_per_call * p->chunk_bytes;
}

/* Length of the file of a type once everything is written; for type 2 of each of its n files. */
int64_t beffio_file_bytes(const struct beffio_layout *l, enum beffio_type type);

/* The length of all files of the partition together. */
int64_t beffio_layout_bytes(const struct beffio_layout *l);

/* Sets calls and segment of types 3 and 4 from the calls of types 0 to 2: one call of pattern 25,
 * then r = min(r0 (L0 / l0), 10 r1, r2) for each chunk size, with r0, r1, r2 of types 0, 1, 2 (for
 * 1 MB of type 0 pattern 3, not 2); L_SEG rounded up to a multiple of 1 MB. */
void beffio_layout_segments(struct beffio_layout *l);

#endif
