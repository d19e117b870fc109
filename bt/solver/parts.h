/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SOLVER_PARTS_H
#define BT_SOLVER_PARTS_H
/* Layer 2. The parts of a time step one at a time, for tests. A step is rhs, sweep 0, 1, 2, add. */
#include "bt/solver/solver.h"

/* R = dt (L(U) + H). Collective. */
int bt_solver_rhs(struct bt_solver *s);

/* The line solves along dir 0 = xi, 1 = eta, 2 = zeta, in this order, R overwritten: by primitive
 * increments ([BTF] section 1) over t2^2 after xi, over t2 after eta, and by the conservative
 * increments of the step after zeta. Collective. */
int bt_solver_sweep(struct bt_solver *s, int dir);

/* U += R. Local. */
void bt_solver_add(struct bt_solver *s);

/* R, and dt H: interior cells only, lo being the global index of the first one; n[q] may be 0. */
struct bt_state bt_solver_rhs_state(const struct bt_solver *s);
struct bt_state bt_solver_forcing(const struct bt_solver *s);

#endif
