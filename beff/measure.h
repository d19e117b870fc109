/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_MEASURE_H
#define BEFF_MEASURE_H
/* Floor 2. The measurement: every pattern by every method at every size, repeated. Order:
 * repetition, size, pattern, method. Source: [RK01] section 4. */
#include <mpi.h>

#include "base/progress.h"
#include "beff/cube.h"
#include "beff/loop.h"
#include "beff/pattern.h"

struct beff_measure_spec {
    struct beff_loop_rule rule;
    int64_t lmax_bytes;
    int room;                    /* of the buffers, in largest messages: beff_traffic.h */
    int reps_n;                  /* 1..BEFF_REPS_MAX */
    bool method[BEFF_METHODS_N]; /* those to be used, at least one; sendrecv for the ping-pong */
    double limit_s;              /* what is left out when a run would take longer: beff_loop.h */
    enum progress_mode progress; /* shown by rank 0 of comm */
};

/* What was measured, the same on all ranks. */
struct beff_measured {
    struct beff_cube cube;
    int64_t size_bytes[BEFF_SIZES_N];
    enum beff_effort effort[BEFF_REPS_MAX][BEFF_SIZES_N];
    double wall_s[BEFF_REPS_MAX][BEFF_SIZES_N]; /* with everything between the loops */
    double elapsed_s;
    bool reduced; /* something was left out */
};

/* Measures. Collective over comm, of which plan describes all ranks. [out] m: to be freed by
 * beff_measured_free, also after an error. Returns 0, ERR_NOMEM, ERR_MPI, ERR_VERIFY when a message
 * arrived wrong, or ERR_INTERRUPT. */
int beff_measure(MPI_Comm comm, const struct beff_plan *plan, const struct beff_measure_spec *spec,
                 struct beff_measured *m);
void beff_measured_free(struct beff_measured *m);

#endif
