/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_RING_H
#define BEFF_RING_H
/* Floor 2, free of MPI. How n processes in a row are cut into rings of about a standard size. All
 * functions are local. Source: [RK01] section 4, "On communication patterns". */
#include <stdbool.h>
#include <stddef.h>

/* Where the paper and release 3.6 of its program differ, both are available. */
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

/* "ring-2*2&+1": two rings of two, the others (one here) have one more; "fix": there are no others.
 * Returns out. */
const char *beff_ring_name(const struct beff_rings *r, char out[BEFF_NAME_MAX]);

#endif
