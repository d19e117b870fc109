/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_TARGET_H
#define PROFILE_TARGET_H
/* Layer 3. A file that nht1-profile writes in the end, under a name that the program it runs may use as well: what the program
 * has written there stays. Local. */
#include <stdbool.h>
#include <sys/stat.h>

struct profile_target {
    const char *name; /* borrowed */
    bool there;
    struct stat before;
    char *other; /* owned */
};

/* Before the program is started. name: NULL, "-" and what is a stream (base/json.h) name none. */
void profile_target_begin(struct profile_target *t, const char *name);

/* all: [n_all] the files that are written, of which this is number no. [out] name: what to write now: the file, or where it has come or changed since then another one, NAME-2.END,
 * which a line on standard error tells, option in it; lives as long as t. Returns 0, ERR_NOMEM or ERR_IO. */
int profile_target_take(struct profile_target *all, int n_all, int no, const char *option,
                        const char **name);

void profile_target_end(struct profile_target *t);

#endif
