/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_PATTERN_H
#define BEFF_PATTERN_H
/* Layer 2, free of MPI. Who sends to whom. Every rank computes every pattern as a whole from the
 * number of processes and a seed, so all ranks have the same patterns without a message, and keeps
 * its own part. All functions are local. Source: [RK01] section 4, "On
 * communication patterns".
 *
 * A pattern is made of slots: in slot s of an iteration a process sends one message to one process
 * and receives one from another; either side may be missing. What goes out in a slot of the sender
 * arrives in the same slot of the receiver. In a ring, slot 0 goes to the right and slot 1 to the
 * left. When both neighbours are the same process (a ring of two) the paper sends both messages;
 * release 3.6 has one slot only. */
#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stdint.h>

/* Where the paper and release 3.6 of its program differ, both are available. In the order of the
 * choices of --definition. */
enum beff_definition { BEFF_PAPER, BEFF_36 };

#define BEFF_RINGS_N  6 /* ring patterns */
#define BEFF_NAME_MAX 48

/* The rings of one pattern: first_n of size first, then others of size second (or none). Processes
 * stand in a row; the first `first` of them are the first ring, and so on. */
struct beff_rings {
    int n;                /* processes */
    int first_n, first;   /* rings at the beginning, and how many processes each has */
    int second_n, second; /* rings at the end; second_n is 0 when all have one size */
};

/* The standard ring size of ring pattern i, 0..5, of n processes: 2, 4, 8, max(16, n/4),
 * max(32, n/2), n, none larger than n. */
int beff_ring_standard(int i, int n);

/* Cuts n >= 2 processes into rings of about the standard size: every ring has at least two
 * processes and no two differ by more than one. */
struct beff_rings beff_rings_of(enum beff_definition definition, int n, int standard);

/* The ring of the process at a position 0..n-1. [out] start: position of its first process.
 * Returns its size. */
int beff_ring_at(const struct beff_rings *r, int position, int *start);

/* "ring-2*2&+1": two rings, the first of them of two processes, others of one more ("&-1": one
 * less, "fix": all have as many). Returns out. */
const char *beff_ring_name(const struct beff_rings *r, char out[BEFF_NAME_MAX]);

/* --- orders in which processes stand in a row --- */

/* Random orders that follow from a seed. NULL when there is no memory; freed by gsl_rng_free. */
gsl_rng *beff_shuffle_begin(uint64_t seed);

/* order: [out] n numbers 0..n-1, every order equally likely (Fisher and Yates; GSL). Each call
 * gives the next one of the seed's sequence. */
void beff_shuffle_next(gsl_rng *rng, int n, int *order);

/* 0, n-1, 1, n-2, 2, ...: the worst ring where neighbouring ranks are near each other. */
void beff_order_worst(int n, int *order);

/* --- patterns --- */

#define BEFF_SLOTS_MAX    6 /* two per direction of a three-dimensional grid */
#define BEFF_CALLS_MAX    2
#define BEFF_NONE         (-1) /* no process on this side of a slot */
#define BEFF_RANDOM_MAX   100
#define BEFF_ANALYSIS_MAX 13

enum beff_kind {
    BEFF_RING,     /* the six ring patterns */
    BEFF_RANDOM,   /* one ring through all processes in random order */
    BEFF_ANALYSIS, /* for insight only, not in b_eff */
};

struct beff_slot {
    int to, from; /* ranks, or BEFF_NONE */
    int call; /* MPI_Alltoallv carries one message per pair: a second one goes in another call */
};

/* One rank's part of a pattern, and what all ranks know of it. */
struct beff_pattern {
    char name[BEFF_NAME_MAX];
    enum beff_kind kind;
    struct beff_rings rings; /* kind BEFF_RING */
    int dims[3];             /* of a grid, 0 for patterns that are none */
    bool ping_pong;          /* two processes, MPI_Send and MPI_Recv only */
    int slots_n;             /* of this rank; 0 when it takes no part */
    int sends_n;             /* messages that this rank sends per iteration */
    struct beff_slot slot[BEFF_SLOTS_MAX];
    int calls_n;        /* MPI_Alltoallv calls per iteration, on every rank */
    int slots_max;      /* of any rank */
    int processes_n;    /* that take part */
    int64_t messages_n; /* of all processes per iteration */
};

/* A grid of processes for the Cartesian patterns: at position p, row-major with the last dimension
 * fastest, stands rank order[p]. */
struct beff_grid {
    int dims[3]; /* 1 for a dimension that is not there */
    int *order;  /* borrowed, product of dims entries */
};

struct beff_plan_spec {
    enum beff_definition definition;
    int n, rank;              /* n >= 2 */
    int random_n;             /* 1..BEFF_RANDOM_MAX */
    uint64_t seed;            /* of the random patterns */
    bool analysis;            /* with the patterns for insight */
    struct beff_grid grid[2]; /* of two and of three dimensions; only with analysis */
};

/* Rings first, random patterns next, then those for insight. */
struct beff_plan {
    int n, rank, patterns_n, random_n;
    struct beff_pattern *pattern;
    uint64_t digest; /* of who sends to whom in all patterns on all ranks */
};

/* Makes all patterns. [out] plan: to be freed by beff_plan_free. Returns 0 or ERR_NOMEM. */
int beff_plan_make(const struct beff_plan_spec *spec, struct beff_plan *plan);
void beff_plan_free(struct beff_plan *plan);

/* "ring", "random" or "analysis". */
const char *beff_kind_name(enum beff_kind kind);

/* How many processes a grid of dims_n dimensions takes of m <= n, given what MPI_Dims_create makes
 * of m: whether it is good enough, else a smaller m is to be tried. last: the last extent. */
bool beff_grid_suits(int m, int last);

#endif
