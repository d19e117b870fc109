/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SPACE_H
#define BT_SPACE_H
/* Layer 4, free of MPI calls. What --io auto searches: each writer with the settings of the command line, with one of the
 * settings that it obeys at another value (io_setting_values), and with a few pairs of them. All
 * functions are local; every rank makes the same space. */
#include <stdbool.h>

#include "bt/candidate.h"

enum bt_candidate_kind {
    BT_AS_IT_STANDS, /* the writer with the settings of the command line */
    BT_ONE_SETTING,  /* one at another value */
    BT_PAIR,         /* two */
    BT_KNOWN,        /* what an earlier search found, where it is none of these */
};

struct bt_space {
    int n;
    struct bt_candidate *candidate;    /* [n] */
    enum bt_candidate_kind *kind;      /* [n] */
    char (*text)[IO_SETTING_TEXT_MAX]; /* of hints; owned, as is what follows */
    int texts_n;
    const char **list; /* of hints */
    int lists_n;
};
#define BT_SPACE_MAX 256

/* Makes the space of n writers. [out] space, to be freed by bt_space_free, also after an error.
 * Returns 0 or ERR_NOMEM. */
int bt_space_make(struct bt_space *space, const struct bt_candidate *writer, int n,
                  const struct io_surroundings *around);
void bt_space_free(struct bt_space *space);

/* The one setting, of those that the writer obeys, in which two candidates of a writer differ; NULL
 * when there is none or more than one, or the writers are two. Static. */
const struct io_setting *bt_space_differ(const struct bt_candidate *a,
                                         const struct bt_candidate *b);

/* Whether the i-th is a writer with the settings of the command line, with which others are compared. */
bool bt_space_yardstick(const struct bt_space *space, int i);

/* How much the i-th asks for beyond plain writing by the first yardstick of the list, posix: 1 for
 * another writer, 1 for each of its options, and, what counts more than all these, another file format.
 * Of candidates that are tied the one with the smallest is the one to take. */
int bt_space_cost(const struct bt_space *space, int i);

/* The number of the candidate that does the same; where there is none it is added as BT_KNOWN. -1
 * when the space is full. */
int bt_space_take(struct bt_space *space, const struct bt_candidate *c);

#endif
