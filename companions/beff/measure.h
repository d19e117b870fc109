/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_MEASURE_H
#define BEFF_MEASURE_H
/* Layer 2. The measurement: every pattern by every method at every size, repeated. Order:
 * repetition, size, pattern, method. Source: [RK01] section 4. */
#include <mpi.h>

#include "companions/beff/cube.h"
#include "companions/beff/loop.h"
#include "companions/beff/options.h"
#include "companions/beff/pattern.h"

/* What was measured, the same on all ranks. */
struct beff_measured {
    struct beff_cube cube;
    int64_t size_bytes[BEFF_SIZES_N];
    enum beff_effort effort[BEFF_REPS_MAX][BEFF_SIZES_N];
    double wall_s[BEFF_REPS_MAX][BEFF_SIZES_N]; /* with everything between the loops */
    double elapsed_s;
    int offset_bytes[2]; /* from a page where buffers begin: least and most of all ranks */
    bool reduced;        /* something was left out */
};

/* Whether a pattern is measured by a method: by those of --methods, the ping-pong always and only
 * by sendrecv. Local. */
bool beff_measure_wants(const struct beff_setup *setup, int method, const struct beff_pattern *p);

/* Measures with messages of up to lmax_bytes. Collective over comm, of which plan describes all
 * ranks; rank 0 shows the progress. [out] m: to be freed by beff_measured_free, also after an
 * error. Returns 0, ERR_NOMEM, ERR_MPI, ERR_VERIFY when a message arrived wrong, or ERR_INTERRUPT.
 */
int beff_measure(MPI_Comm comm, const struct beff_plan *plan, const struct beff_setup *setup,
                 int64_t lmax_bytes, struct beff_measured *m);
void beff_measured_free(struct beff_measured *m);

#endif
