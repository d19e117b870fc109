/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

int bt_block_new(struct bt_solver *s)
{
    const int64_t zero[3] = {0, 0, 0};
    int64_t lo[3], hi[3];
    for (int q = 0; q < 3; q++) {
        lo[q] = bt_min64(-2, -s->skip[q]);
        hi[q] = bt_max64(s->ni[q] + 2, s->d.count[q] - s->skip[q]);
    }
    /* Places outside the domain are read with coefficient zero: they must be finite. */
    TRY(bt_field_new(&s->u, lo, hi, 1.0));
    TRY(bt_field_new(&s->r, zero, s->ni, 0.0));
    return bt_field_new(&s->h, zero, s->ni, 0.0);
}

void bt_block_free(struct bt_solver *s)
{
    bt_field_free(&s->u);
    bt_field_free(&s->r);
    bt_field_free(&s->h);
}
