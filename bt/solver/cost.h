/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SOLVER_COST_H
#define BT_SOLVER_COST_H
/* Layer 2, free of MPI and io/. A model of the time of one step (docs/performance.md), for bench/model.c,
 * which fits it, and for --dry-run, which recommends ranks x threads by it:
 *
 *   step      work + exchange + pipe
 *   work      c cells + l lines, per phase; cells count the lanes that are padding. Threads share the
 *             batches of a group, or of a whole direction, and wait for the last of them
 *   exchange  messages (2 overhead) + bytes copy, and latency + bytes / bandwidth, of what goes along y and z
 *             only what is left after the inner batches of xi
 *   pipe      trip + (groups - 1) each - work, where ranks share the lines:
 *   busy      work of a group + 4 overhead + 2 starts of a team
 *   trip      busy + (parts - 1) (busy + 2 latency + bytes of a group / bandwidth), up the chain and down
 *   each      busy, or what the link takes, or trip / window where no more groups than that may be under way
 *
 * Ranks fill the nodes in their order. What leaves a node shares the node's link with all that its other
 * ranks send at the same time. */
#include <stdbool.h>
#include <stdint.h>

#include "bt/solver/decomp.h"

enum bt_cost_phase { BT_COST_RHS, BT_COST_XI, BT_COST_ETA, BT_COST_ZETA, BT_COST_PHASES };

struct bt_cost_link {
    double latency_s, s_per_byte;
};

struct bt_cost_machine {
    double cell_s[BT_COST_PHASES], line_s[BT_COST_PHASES]; /* a padded cell, a line */
    double copy_s_per_byte;                                /* of a halo, both copies */
    double busy;                                           /* times slower when all cores work */
    double overhead_s; /* of a core, for a message sent or received */
    double
        team_s; /* two threads start a parallel region and end it; log2(threads) times as long for more */
    double remote; /* share by which work is slower whose data lie on another socket */
    struct bt_cost_link network; /* from node to node; bytes: of a node's link */
    struct bt_cost_link inside;  /* from rank to rank of a node */
    int64_t lanes, group; /* group: batches in a message of the pipeline, 0: the solver's choice */
};

/* The processor and the network that docs/performance.md predicts with, 25 GB/s and 0.5 us inside a node. */
extern const struct bt_cost_machine bt_cost_reference;

/* The largest block of a decomposition: what everybody waits for. */
struct bt_cost_block {
    int64_t n[3];       /* interior cells */
    int64_t full[3];    /* with boundary planes */
    int parts[3];       /* of the grid of ranks */
    int64_t size;       /* N */
    int64_t node_ranks; /* ranks on a node */
    double leaves[3];   /* share of a node's messages along x, y, z that leave the node */
};

/* node_ranks: ranks on every node, at least 1. Local. */
struct bt_cost_block bt_cost_block(const struct bt_decomp *d, int64_t node_ranks);

/* Padded cells and lines of a phase, and the messages and bytes of a halo that a rank in the middle sends. */
double bt_cost_cells(const struct bt_cost_block *b, enum bt_cost_phase ph, int64_t lanes);
double bt_cost_lines(const struct bt_cost_block *b, enum bt_cost_phase ph, int64_t lanes);
double bt_cost_halo(const struct bt_cost_block *b, double *bytes);

struct bt_cost {
    double work_s, exchange_s, pipe_s, step_s;
};

/* One step with so many threads a rank, on so many sockets. Local. */
struct bt_cost bt_cost_step(const struct bt_cost_machine *m, const struct bt_cost_block *b,
                            int64_t threads, int64_t sockets);

/* A way to fill all cores of the nodes. */
struct bt_cost_split {
    const char *per; /* one rank per "node", "socket" or "core" */
    int64_t ranks, threads;
    char grid[40];
    struct bt_cost cost;
};

/* The ways for N^3 cells on nodes of so many cores on so many sockets, from the fewest ranks on: as many as are
 * different and leave no rank without a cell. decomp: as for bt_decomp_make; a grid of numbers leaves one way
 * at most. [out] best: the fastest, or one of fewer ranks that takes at most 2 % longer. Returns how
 * many. Local. */
enum { BT_COST_SPLITS = 3 };
int bt_cost_splits(const struct bt_cost_machine *m, const char *decomp, int64_t n, int64_t nodes,
                   int64_t cores, int64_t sockets, struct bt_cost_split out[BT_COST_SPLITS],
                   int *best);

#endif
