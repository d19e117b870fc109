/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_INSIGHT_H
#define BEFF_INSIGHT_H
/* Layer 2. Measurements outside of b_eff, for insight: other ways to move the messages of the ring
 * of all processes, how many short messages a system moves, and what HPCC prints. Each number is
 * the best of a few repetitions of the slowest process. */
#include <mpi.h>

#include "companions/beff/cube.h"
#include "companions/beff/pattern.h"

/* Ways to send to both neighbours and to receive from both. */
enum beff_way {
    BEFF_PERSISTENT,    /* MPI_Send_init and MPI_Recv_init, once; MPI_Startall, MPI_Waitall */
    BEFF_NEIGHBOURHOOD, /* MPI_Neighbor_alltoallv */
    BEFF_PUT,           /* MPI_Put between two MPI_Win_fence */
    BEFF_WAYS_N
};

#define BEFF_WINDOW       64 /* messages that are on their way before any is waited for */
#define BEFF_RATE_SIZES_N 4
#define BEFF_NO_PUT_MAX   256

struct beff_insight {
    bool done;
    double bytes_per_s[BEFF_WAYS_N][BEFF_SIZES_N]; /* of all processes; NaN: not measured */
    char no_put[BEFF_NO_PUT_MAX];                  /* why put was left out, "" otherwise */
    int64_t rate_bytes[BEFF_RATE_SIZES_N];
    double messages_per_s[BEFF_RATE_SIZES_N]; /* of all processes */
    /* As HPCC counts: time of a message of 8 B, bandwidth of a process with 2 000 000 B, in the
     * ring in the order of ranks and as geometric mean over random rings. NaN: not measured. */
    double natural_latency_s, random_latency_s;
    double natural_bytes_per_s, random_bytes_per_s;
};

/* "persistent", "neighbourhood", "put". */
const char *beff_way_name(int way);

/* Measures. Collective over row, a periodic one-dimensional topology of which plan describes the
 * patterns. size_bytes: the sizes of b_eff. [out] in. Without one-sided communication, which some networks
 * do not have, put is left out. Returns 0, ERR_NOMEM, ERR_MPI, ERR_VERIFY
 * when a message arrived wrong, or ERR_INTERRUPT. */
int beff_insight_measure(MPI_Comm row, const struct beff_plan *plan,
                         const int64_t size_bytes[BEFF_SIZES_N], struct beff_insight *in);

#endif
