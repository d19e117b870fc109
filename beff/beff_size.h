/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_SIZE_H
#define BEFF_SIZE_H
/* Floor 2, free of MPI. The message sizes. All functions are local. Source: [RK01] section 4. */
#include <stdint.h>

#include "beff/beff_ring.h"

#define BEFF_SIZES_N    21
#define BEFF_FIXED_N    13                   /* 1 B to 4096 B, powers of two */
#define BEFF_FIXED_MAX  4096                 /* the last of them, bytes */
#define BEFF_LMAX_CAP   ((int64_t)128 << 20) /* where int has less than 64 bits */
#define BEFF_MEMORY_MIN ((int64_t)1 << 20)   /* memory per process that gives sizes that differ */
#define BEFF_LMAX_MIN   (BEFF_MEMORY_MIN / 128)

/* The largest message: the 128th part of a process's memory, at most 128 MiB. Release 3.6 counts
 * whole MiB of memory. memory_bytes: >= BEFF_MEMORY_MIN. */
int64_t beff_size_lmax(enum beff_definition definition, int64_t memory_bytes);

/* The sizes in bytes: 1, 2, 4, ... 4096, then eight steps of one factor up to lmax_bytes. */
void beff_sizes(int64_t lmax_bytes, int64_t out[BEFF_SIZES_N]);

/* The factor from size i - 1 to size i, i in 1..20: 2 up to 4096 B, then (lmax / 4096)^(1/8). */
double beff_size_growth(int64_t lmax_bytes, int i);

#endif
