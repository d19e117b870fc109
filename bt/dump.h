/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_DUMP_H
#define BT_DUMP_H
/* Layer 3. Takes a dump out of the solver: the state in file order, and its digest. Both are made
 * of a few rows at a time, so that the state comes from memory once. */
#include <stdint.h>

#include "bt/solver/solver.h"
#include "io/view.h"

struct bt_dump {
    int64_t n;                /* N */
    int threads;              /* that share the work */
    uint64_t *digest;         /* digest_words(N): of this rank's cells, after bt_dump_take */
    uint64_t *part;           /* [threads][digest_words(N)] */
    double stage_s, digest_s; /* spent on each so far, by the first thread */
};

/* [out] d for a grid of n^3, to be freed by bt_dump_free, also after an error. Local. ERR_NOMEM. */
int bt_dump_new(struct bt_dump *d, int64_t n);
void bt_dump_free(struct bt_dump *d);

/* Takes the state x. staged: [out] io_view_bytes(v) bytes; NULL (v is not used then) for the digest
 * alone. Local, threaded. */
void bt_dump_take(struct bt_dump *d, const struct bt_state *x, const struct io_view *v,
                  void *staged);

#endif
