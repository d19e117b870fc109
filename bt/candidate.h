/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_CANDIDATE_H
#define BT_CANDIDATE_H
/* Layer 3, free of MPI calls. A candidate is a writer with its settings, and a space is what --io
 * auto searches: each writer as it stands, with one of the settings that it obeys at another value,
 * and with a few pairs of them. All functions are local; every rank makes the same space. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/file.h"

#define BT_GROUP 16 /* ranks that write at a time, where nothing is said */

struct bt_candidate {
    char writer[64];
    int group; /* ranks that may write at a time */
    struct io_tuning tuning;
    int hints_n;
    const char *const *hint; /* "KEY=VALUE", borrowed */
};

#define BT_VALUE_MAX 64
#define BT_LABEL_MAX 256

/* The i-th setting, "--buffer" or "--hint cb_nodes"; NULL behind the last. Static text. */
const char *bt_setting_at(int i);

/* Its value in a candidate: "4Mi", "yes", "default". Whether the writer obeys it. */
void bt_setting_value(const struct bt_candidate *c, int i, char out[BT_VALUE_MAX]);
bool bt_setting_obeyed(const struct bt_candidate *c, int i);

/* The one setting, of those that the writer obeys, in which two candidates of a writer differ; -1
 * when there is none or more than one, or the writers are two. */
int bt_candidate_differ(const struct bt_candidate *a, const struct bt_candidate *b);

/* The options that make a candidate out of its writer, but for --io: an array of texts, "--buffer",
 * "4Mi". New reference. */
json_t *bt_candidate_options(const struct bt_candidate *c);

/* "posix --buffer 4Mi", of a writer and its options as above, and of a candidate. */
void bt_label(const char *writer, const json_t *options, char out[BT_LABEL_MAX]);
void bt_candidate_label(const struct bt_candidate *c, char out[BT_LABEL_MAX]);

/* What the values depend on. */
struct bt_surroundings {
    int ranks;
    int64_t nodes;
    int64_t dump_bytes, dumps_n;
    unsigned readers; /* of hints (io/hint.h): those in force on the target's file system */
    bool striped;     /* FILE can be given a striping (io/striping.h) */
    unsigned fixed;   /* capabilities whose settings are the user's and stay */
};

enum bt_candidate_kind {
    BT_AS_IT_STANDS, /* the writer with the settings of the command line */
    BT_ONE_SETTING,  /* one at another value */
    BT_PAIR,         /* two */
    BT_KNOWN,        /* what an earlier search found, where it is none of these */
};

struct bt_space {
    int n;
    struct bt_candidate *candidate; /* [n] */
    enum bt_candidate_kind *kind;   /* [n] */
    char (*text)[BT_VALUE_MAX];     /* of hints; owned, as is what follows */
    int texts_n;
    const char **list; /* of hints */
    int lists_n;
};
#define BT_SPACE_MAX 256

/* Makes the space of n writers. [out] space, to be freed by bt_space_free, also after an error.
 * Returns 0 or ERR_NOMEM. */
int bt_space_make(struct bt_space *space, const struct bt_candidate *writer, int n,
                  const struct bt_surroundings *around);
void bt_space_free(struct bt_space *space);

/* Whether the i-th is a writer as it stands with which others are compared. */
bool bt_space_yardstick(const struct bt_space *space, int i);

/* The number of the candidate that does the same; where there is none it is added as BT_KNOWN. -1
 * when the space is full. */
int bt_space_take(struct bt_space *space, const struct bt_candidate *c);

#endif
