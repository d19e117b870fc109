/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SOLVER_H
#define BT_SOLVER_H
/* Layer 2. NAS BT on a block decomposition: state, one time step, norms, and the state as a dump.
 * U is bitwise the same for every decomposition, rank count, thread count and instruction set with
 * fused multiply-add (docs/design.md). That holds for finite values: the bits of a run that
 * overflowed to NaN are not promised. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bt/solver/decomp.h"
#include "bt/solver/problem.h"

struct bt_solver;

/* Seconds of this rank spent in each part of the steps so far. The right-hand side is made batch by
 * batch inside the xi sweep; the two are told apart by timing a sample of the batches. */
enum bt_phase {
    BT_PHASE_EXCHANGE,
    BT_PHASE_RHS,
    BT_PHASE_XI,
    BT_PHASE_ETA,
    BT_PHASE_ZETA,
    BT_PHASE_PIPE_WAIT,
    BT_PHASES
};
extern const char *const bt_phase_name[BT_PHASES];

/* Version of the arithmetic: changes whenever the bits of U may change. */
#define BT_KERNEL_VERSION "4"

/* Makes a solver. Collective over comm (duplicated inside). isa: "auto" or the name of an
 * instruction set of bt_solver_isas; NULL means the environment variable NHT1_ISA, else auto. Ranks
 * agree on one that all of them have. [out] s, to be freed by bt_solver_free. The memory is first
 * touched by the threads that use it. ERR_NOMEM, ERR_USAGE for an unknown or unsupported isa. */
int bt_solver_new(struct bt_solver **s, MPI_Comm comm, const struct bt_problem *p,
                  const struct bt_decomp *d, const char *isa);
void bt_solver_free(struct bt_solver *s);

/* The same for a simulation (base/simulation.h) that charges the time of computing, from a table of that
 * name, instead of computing: steps take their time, and there is no solution. NULL: it computes. */
int bt_solver_new_charged(struct bt_solver **s, MPI_Comm comm, const struct bt_problem *p,
                          const struct bt_decomp *d, const char *isa, const char *charge);

/* Names of the instruction sets in this binary, "avx512 avx2 generic". */
const char *bt_solver_isas(void);

/* Whether bt_solver_new would take isa on this processor: ERR_USAGE where not. */
int bt_solver_isa_check(const char *isa);

/* The instruction set in use, and bytes of memory held by this rank's solver. Local. */
const char *bt_solver_isa(const struct bt_solver *s);
int64_t bt_solver_memory_bytes(const struct bt_solver *s);

/* When the kernels were timed whose times this rank charges; "": it computes, or has no cells. Local. */
const char *bt_solver_charged_utc(const struct bt_solver *s);

/* Initial condition, [BT] section 7. The forcing term is made by bt_solver_new. Local. */
void bt_solver_reset(struct bt_solver *s);

/* One time step, [BT] section 9. Collective. */
int bt_solver_step(struct bt_solver *s);

/* Error norms of the present state, [BT] section 10. Collective; the same bits on every rank and
 * for every decomposition. */
int bt_solver_error_norms(struct bt_solver *s, double xce[BT_NCOMP]);

/* Residual norms (without the factor dt). Collective. */
int bt_solver_residual_norms(struct bt_solver *s, double xcr[BT_NCOMP]);

/* Seconds by phase since the last bt_solver_phases_clear. Borrowed. Local. */
const double *bt_solver_phases_s(const struct bt_solver *s);
void bt_solver_phases_clear(struct bt_solver *s);

/* The state as a 4-D array: value of component m at local cell (i,j,k) is u[k sk + j sj + m sm +
 * i], strides in values. Borrowed, valid until the next step. Local. */
struct bt_state {
    const double *u;
    int64_t sm, sj, sk;
    int64_t lo[3], n[3]; /* global index of cell (0,0,0); cells along x, y, z */
};
struct bt_state bt_solver_state(const struct bt_solver *s);

/* The same array to be written to, for a run that goes on from a dump: every cell of this rank gets
 * its value, and the next step starts from there (U is all the state there is; halo values are
 * exchanged by the step). [out] where: strides and extents, may be NULL. Borrowed. Local. */
double *bt_solver_state_edit(struct bt_solver *s, struct bt_state *where);

#endif
