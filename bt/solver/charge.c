/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/solver/charge.h"

#include "base/simulation.h"
#include "bt/solver/priv.h"

void bt_charge_forward(const struct bt_solver *s, int dir, int64_t batches)
{
    simulation_compute(s->charge->forward_s[dir] * (double)batches);
}

void bt_charge_backward(const struct bt_solver *s, int dir, int64_t batches)
{
    simulation_compute(s->charge->backward_s[dir] * (double)batches);
}
