/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

void io_part_path(const char *path, int64_t rank, char *out)
{
    snprintf(out, IO_PLACE_PATH_MAX, "%s.rank%05" PRId64, path, rank);
}

int io_part_check(const char *path, int64_t rank, int64_t ours_n, bool force)
{
    char part[IO_PLACE_PATH_MAX];
    struct stat st;
    io_part_path(path, rank, part);
    if (lstat(part, &st) != 0) {
        return errno == ENOENT ? 0 : err_set_errno(ERR_IO, errno, "cannot look at %s", part);
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(ERR_USAGE, "%s is in the way of a rank's file: remove it or change --out",
                       part);
    }
    if (rank < ours_n || force || st.st_size == 0) return 0;
    return err_set(ERR_USAGE,
                   "%s exists and was not written by this program (no manifest %s.json lists it): "
                   "choose another --out, or --force to overwrite it",
                   part, path);
}

struct identity *io_parts_identities(const struct io_target *t)
{
    char part[IO_PLACE_PATH_MAX];
    struct identity *id = calloc((size_t)t->parts_n + 1, sizeof *id);
    if (!id) return NULL;
    identity_of_path(t->path, &id[0]);
    for (int64_t r = 0; r < t->parts_n; r++) {
        io_part_path(t->path, r, part);
        identity_of_path(part, &id[r + 1]);
    }
    return id;
}

int io_parts_remove(const struct io_target *t, int64_t kept_n)
{
    char part[IO_PLACE_PATH_MAX];
    struct stat st;
    for (int64_t r = kept_n; r < t->parts_n; r++) {
        io_part_path(t->path, r, part);
        if (lstat(part, &st) != 0 || !S_ISREG(st.st_mode)) continue;
        if (unlink(part) != 0) return err_set_errno(ERR_IO, errno, "cannot remove %s", part);
    }
    return 0;
}
