/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/plain.h"

#define TRIES 1000

void profile_target_begin(struct profile_target *t, const char *name)
{
    *t = (struct profile_target){.name = name};
    t->there = name && !js_is_stream(name) && stat(name, &t->before) == 0;
}

static bool unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int profile_target_take(struct profile_target *all, int n_all, int no, const char *option,
                        const char **name)
{
    struct profile_target *t = &all[no];
    struct stat now;
    *name = t->name;
    if (!t->name || js_is_stream(t->name) || stat(t->name, &now) < 0 ||
        (t->there && unchanged(&t->before, &now)))
        return 0;
    const char *slash = strrchr(t->name, '/'), *last = slash ? slash + 1 : t->name;
    const char *dot = strrchr(last, '.');
    const int stem = dot && dot > last ? (int)(dot - t->name) : (int)strlen(t->name);
    for (int n = 2; n < TRIES; n++) {
        free(t->other);
        if (asprintf(&t->other, "%.*s-%d%s", stem, t->name, n, t->name + stem) < 0) {
            t->other = NULL;
            return mem_error("the name of a file");
        }
        bool taken = lstat(t->other, &now) == 0;
        for (int i = 0; i < n_all; i++)
            taken = taken || (all[i].name && strcmp(all[i].name, t->other) == 0);
        if (taken) continue;
        *name = t->other;
        plain_line(
            stderr,
            "nht1-profile: %s: %s has been written while the program ran, and stays; this is "
            "written to %s",
            option, t->name, t->other);
        return 0;
    }
    return err_set(
        ERR_IO,
        "%s: %s has been written while the program ran, and so many others of its name are there",
        option, t->name);
}

void profile_target_end(struct profile_target *t)
{
    free(t->other);
    t->other = NULL;
}
