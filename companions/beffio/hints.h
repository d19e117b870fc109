/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_HINTS_H
#define BEFFIO_HINTS_H
/* Layer 2, pure: no MPI. The file of hints, option -i. A line is
 *
 *   processes access type chunk key value
 *
 *   processes   all, or a number: only in the partition of that size
 *   access      all, write, rewrite or read
 *   type        all, scatter, shared, separated, segmented or seg_coll
 *   chunk       on_open: for opening; Lmax, 1024, 1032, 32768, 32776, 1048576 or 1048584: for the
 *               patterns of that chunk size; all: for both
 *   key, value  of the hint; the value is the rest of the line
 *
 * Lines that are empty or begin with '#' are passed over. Later lines win. All functions are
 * local. */
#include <stdbool.h>
#include <stdint.h>

#include "companions/beffio/pattern.h"
#include "companions/beffio/schedule.h"

struct beffio_hint {
    int procs;  /* 0: all */
    int access; /* -1: all */
    int type;   /* -1: all */
    int chunk;  /* BEFFIO_ON_OPEN, a position 1..7, or BEFFIO_EVERYWHERE */
    char *key, *value;
};
enum { BEFFIO_ON_OPEN = 0, BEFFIO_EVERYWHERE = -1 };

struct beffio_hints {
    int n;
    struct beffio_hint *hint;
};

/* Reads the text of a hints file. name: for messages. [out] h, to be freed by beffio_hints_free
 * also after an error. Returns 0, ERR_USAGE with name, line and what is allowed, or ERR_NOMEM. */
int beffio_hints_parse(struct beffio_hints *h, const char *name, const char *text);
void beffio_hints_free(struct beffio_hints *h);

/* Where hints apply. pos: BEFFIO_ON_OPEN, or the position 1..7 of the pattern's chunk size. */
struct beffio_spot {
    int procs;
    enum beffio_access access;
    enum beffio_type type;
    int pos;
};

/* Whether a hint applies at a spot. */
bool beffio_hint_applies(const struct beffio_hint *h, const struct beffio_spot *at);

#endif
