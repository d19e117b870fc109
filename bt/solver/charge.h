/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SOLVER_CHARGE_H
#define BT_SOLVER_CHARGE_H
/* Layer 2, private to the solver. In a simulation computing can be charged instead of done: the fields
 * have no memory, and what would be computed lets simulated time pass. How much is measured once for
 * every shape of a block by each build, on the machine that simulates, and kept in a table, a store (base/store.h):
 *
 *   { "schema": "nht1-kernels/1", "entries": [
 *       { "cpu": "...", "kernel": "4/avx2", "build": "0.1.0", "shape": "25x26x26 of 408 by 16x16x16, groups 3 3 3",
 *         "n": 408, "ranks": 4096, "grid": "16x16x16", "lanes": 4, "forward_s": [x, y, z], "backward_s": [x, y, z], "pack_s": ..., "unpack_s": ...,
 *         "utc": "2001-01-31T12:00:00Z" } ] } */
#include <jansson.h>
#include <stdint.h>

struct bt_solver;

/* Seconds of one rank. */
struct bt_charge {
    double forward_s[3], backward_s[3]; /* a batch of a direction; x: with its right-hand sides */
    double pack_s, unpack_s;            /* all messages of a halo exchange */
    char utc[32];                       /* when that was measured; "": a rank without cells */
};

/* Finds what this rank's block costs, or has one rank of each shape that is not in the table measure it
 * there. Collective. The solver has everything but memory for its fields, and gets s->charge. table: file name. */
int bt_charge_new(struct bt_solver *s, const char *table);

/* The table, of which all entries are costs. Returns as store_read. Local. */
int bt_charge_table(const char *path, json_t **root);

/* The costs of one of its entries. Local. */
void bt_charge_read(const json_t *entry, struct bt_charge *c);

/* Lets the time pass of eliminating or back-substituting so many batches. Local. */
void bt_charge_forward(const struct bt_solver *s, int dir, int64_t batches);
void bt_charge_backward(const struct bt_solver *s, int dir, int64_t batches);

#endif
