/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_DECOMP_H
#define BT_DECOMP_H
/* Layer 2. How the N^3 cells are shared by the ranks: a PX x PY x PZ grid of blocks, remainders
 * spread so that extents differ by one at most. Rank r sits at (px, py, pz) with
 * r = px + PX (py + PY pz). */
#include <stdint.h>

struct bt_decomp {
    int64_t n;        /* N */
    int p[3];         /* PX, PY, PZ */
    int at[3];        /* this rank's place */
    int64_t lo[3];    /* first global index along x, y, z */
    int64_t count[3]; /* cells along x, y, z; >= 1 */
};

/* Splits n^3 cells over size ranks as text says: auto, 1d (= 1d:z), 1d:x, 1d:y, 1d:z, 3d (the most
 * cubic factorisation) or PXxPYxPZ; auto is the one expected to be fastest. Local; the same on
 * every rank but for at, lo and count. ERR_USAGE when the text is not understood, does not multiply
 * to size, or leaves a rank without a cell. */
int bt_decomp_make(const char *text, int64_t n, int size, int rank, struct bt_decomp *d);

/* The same, where the text stands after another option than --decomp: messages name that one. */
int bt_decomp_of_option(const char *option, const char *text, int64_t n, int size, int rank,
                        struct bt_decomp *d);

/* First global index of part p of parts along an axis of n cells; part 'parts' gives n. */
int64_t bt_decomp_first(int64_t n, int parts, int p);

/* Rank at a place of the grid. */
int bt_decomp_rank(const struct bt_decomp *d, const int at[3]);

/* "2x1x4". out: at least 40 bytes. */
void bt_decomp_name(const struct bt_decomp *d, char *out);

#endif
