/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SOLVER_PRIV_H
#define BT_SOLVER_PRIV_H
/* Layer 2, private to the solver: its parts and what they share.
 *
 * Indices. A rank owns count[q] cells along direction q = 0, 1, 2 (x, y, z), the first with global
 * index lo[q]. Interior cells (global 1..N-2) are the only ones that change. All fields are indexed
 * from the rank's first interior cell: ni[q] of them, 0..ni[q]-1; the cell owned first has index
 * -skip[q], skip = 1 where the rank owns the boundary plane 0, else 0. U has two more cells on each
 * side, R and H have interior cells only. */
#include <mpi.h>

#include "bt/solver/charge.h"
#include "bt/solver/decomp.h"
#include "bt/solver/exact.h"
#include "bt/solver/field.h"
#include "bt/solver/kernel.h"
#include "bt/solver/problem.h"
#include "bt/solver/solver.h"

/* One message of the halo exchange: planes first .. first+count-1 along its axis. */
struct bt_halo_message {
    int peer;
    int axis;
    int64_t first, count;
    double *buffer;
    int64_t values;
};

/* Up to two peers on each side of three axes, when extents are down to one cell. */
#define BT_HALO_MAX 12
struct bt_halo {
    int sends, recvs;
    struct bt_halo_message send[BT_HALO_MAX], recv[BT_HALO_MAX]; /* by axis: x, y, z */
    MPI_Request send_request[BT_HALO_MAX], recv_request[BT_HALO_MAX];
    int got; /* messages that have come and are in U */
};

/* The pipeline of one direction that is divided among ranks. Batches travel in groups: a group's
 * carries (E and the right-hand side of this rank's last cells) go up to the next rank, its
 * increments come back down. */
#define BT_PIPE_DEPTH 4
struct bt_pipe_end {
    int peer; /* rank, or -1 at the end of the chain */
    int64_t values;
    double *buffer[BT_PIPE_DEPTH];
    MPI_Request request[BT_PIPE_DEPTH];
};
struct bt_chain {
    bool divided;
    int64_t group; /* batches in a message */
    int64_t groups;
    int64_t window;       /* groups that may be between elimination and back substitution */
    int64_t store_values; /* of pipe_store: [window][group][n][BT_STORE] vectors */
    struct bt_pipe_end carry_in, carry_out, w_in, w_out;
};

/* Working memory of one thread. */
struct bt_scratch {
    double *store;        /* [n][BT_STORE] vectors, undivided directions */
    double *u, *r;        /* packed lines, [n + 2 rounded up][5] vectors */
    double *prim;         /* k and p of three rows: prim_row */
    double rhs_s;         /* right-hand sides of this sweep, timed batches only */
    int64_t rhs_n, timed; /* batches, and how many of them were timed */
};

struct bt_solver {
    MPI_Comm comm;
    struct bt_problem problem;
    struct bt_decomp d;
    const struct bt_kernel *kernel;
    struct bt_coef coef;
    struct bt_exact exact;
    int skip[3];
    int64_t ni[3];
    bool active; /* has interior cells */
    struct bt_field u, r, h;
    bool forced;                          /* h is there */
    double zero[BT_CARRY * BT_LANES_MAX]; /* what comes in at the end of a line */
    double *lin[3]; /* linear stencils: [5][lin_stride] along x, [l][5] along y and z */
    int64_t lin_stride;
    int64_t prim_stride;
    struct bt_halo halo;
    struct bt_chain chain[3];
    double *pipe_store; /* of the divided direction being swept */
    int threads;
    int64_t near_bytes;         /* bt_plan_near of the smallest second-level cache of all ranks */
    struct bt_scratch *scratch; /* [threads] */
    /* Batches of xi in the order in which they are swept, first the inner ones, whose right-hand sides need no
     * halo along y and z. NULL and 0: as they are numbered, no halo exchange behind them. */
    int32_t *order;
    int64_t inner;
    struct bt_charge
        *charge; /* computing is charged, and fields have no memory; NULL: it is done */
    int64_t memory_bytes;
    double phase_s[BT_PHASES];
};

/* block.c: memory for the fields, set to constants. Local. */
int bt_block_new(struct bt_solver *s);
void bt_block_free(struct bt_solver *s);

/* exchange.c: plan and buffers; fills the two planes around this rank's block with their owners'
 * values. bt_exchange is collective, and so are its halves: after bt_exchange_begin the planes along x are
 * there and the others under way, after bt_exchange_end, which counts its own time, all are; U must not change in
 * between. Without a bt_exchange_begin before, bt_exchange_end does nothing. */
int bt_exchange_new(struct bt_solver *s);
void bt_exchange_free(struct bt_solver *s);
int bt_exchange(struct bt_solver *s);
int bt_exchange_begin(struct bt_solver *s);
int bt_exchange_end(struct bt_solver *s);
/* Its copies between U and messages alone, and zeros into the messages. Local. */
void bt_exchange_pack(struct bt_solver *s);
void bt_exchange_unpack(struct bt_solver *s);
void bt_exchange_clear(struct bt_solver *s);

/* rhs.c: R = dt (L(U) + H) on rows j0 .. j0+rows-1 of plane k, by one thread. Local. */
void bt_rhs_strip(struct bt_solver *s, struct bt_scratch *t, int64_t k, int64_t j0, int64_t rows);
/* A strip's two steps: k and p of row j of plane k, of which a thread keeps those of three rows in turn; and
 * what the kernel needs for row j, once those of rows j-1, j and j+1 are there. Local. */
void bt_rhs_prim(const struct bt_solver *s, const struct bt_scratch *t, int64_t k, int64_t j);
struct bt_rhs_row bt_rhs_row_at(const struct bt_solver *s, const struct bt_scratch *t, int64_t k,
                                int64_t j);
/* On the whole block, threaded. Local; halos must be up to date. */
void bt_rhs_all(struct bt_solver *s);
int bt_rhs_new(struct bt_solver *s);
void bt_rhs_free(struct bt_solver *s);

/* sweep.c: the line solves of directions first .. end-1, in place in R. With BT_SWEEP_RHS the
 * right-hand side of a batch of xi is made just before it is needed, and the halo exchange, of which only the
 * planes along x need have come, is ended when the first batch needs the others; with BT_SWEEP_ADD the result
 * of zeta is added to U instead of stored in R. Collective. */
enum { BT_SWEEP_RHS = 1, BT_SWEEP_ADD = 2 };
int bt_sweep(struct bt_solver *s, int first, int end, unsigned flags);
int bt_sweep_new(struct bt_solver *s);
void bt_sweep_free(struct bt_solver *s);

/* pipe.c: the same for a direction divided among ranks. */
int bt_pipe_sweep(struct bt_solver *s, int dir, unsigned flags);
int bt_pipe_new(struct bt_solver *s, int dir);
int bt_pipe_store_new(struct bt_solver *s);
void bt_pipe_free(struct bt_chain *c);
/* Zeros into the messages. Local. */
void bt_pipe_clear(struct bt_chain *c);

/* batch.c: batches of a direction, and the first of eta or zeta that is gathered from what whole
 * vectors leave over; the order of those of xi; one batch through elimination and back substitution. */
int bt_batch_new(struct bt_solver *s);
/* Inner batches first on all ranks or on none: where one had none, its neighbours' halos would come later for
 * nothing. Collective. */
int bt_batch_agree(struct bt_solver *s);
void bt_batch_free(struct bt_solver *s);
int64_t bt_batch_count(const struct bt_solver *s, int dir);
int64_t bt_batch_gathered(const struct bt_solver *s, int dir);
void bt_batch_forward(struct bt_solver *s, struct bt_scratch *t, int dir, unsigned flags, int64_t b,
                      double *store, const double *in, double *out);
void bt_batch_backward(struct bt_solver *s, struct bt_scratch *t, int dir, unsigned flags,
                       int64_t b, const double *store, const double *w_in, double *w_out);

#endif
