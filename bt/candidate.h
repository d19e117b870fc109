/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_CANDIDATE_H
#define BT_CANDIDATE_H
/* Layer 3, free of MPI calls. A writer with its settings (io/setting.h), as one run has them, and the
 * label under which results show it. All functions are local. */
#include <jansson.h>

#include "io/setting.h"

struct bt_candidate {
    char writer[64];
    struct io_tuning tuning;
    int hints_n;
    const char *const *hint; /* "KEY=VALUE", borrowed */
};

#define BT_LABEL_MAX 256

/* The options that make a candidate out of its writer, but for --io: an array of texts, "--buffer",
 * "4Mi". New reference. */
json_t *bt_candidate_options(const struct bt_candidate *c);

/* "posix --buffer 4Mi", of a writer and its options as above, and of a candidate. */
void bt_label(const char *writer, const json_t *options, char out[BT_LABEL_MAX]);
void bt_candidate_label(const struct bt_candidate *c, char out[BT_LABEL_MAX]);

#endif
