/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/own.h"
#include "base/sys.h"
#include "base/temp.h"
#include "base/units.h"

#define MARK_MAX 256

int target_check(const char *path, const void *mark, size_t bytes)
{
    struct stat st;
    char begin[MARK_MAX];
    ERR_ASSERT(bytes <= sizeof begin);
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_set_errno(ERR_IO, errno, "cannot look at %s", path);
    bool ours = false;
    if (S_ISREG(st.st_mode)) {
        const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        ours = fd >= 0 && read(fd, begin, bytes) == (ssize_t)bytes;
        ours = ours && memcmp(begin, mark, bytes) == 0;
        if (fd >= 0) close(fd);
    }
    if (ours && access(path, W_OK) == 0) return 0;
    if (ours) return err_set_errno(ERR_IO, errno, "--export: cannot write to %s", path);
    return err_set(
        ERR_USAGE,
        "--export: %s exists and is not an earlier export, so it is not replaced; move it away "
        "or remove it",
        path);
}

int target_room(const char *option, const char *path, double bytes)
{
    char needs[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    struct sys_fs fs;
    TRY(sys_path_fs(path, &fs));
    if (fs.free_bytes < 0 || bytes <= (double)fs.free_bytes) return 0;
    return err_set(ERR_IO, "%s: %s are needed beside %s, and its file system has %s free", option,
                   units_bytes(bytes, needs), path, units_bytes((double)fs.free_bytes, has));
}

int target_open(struct target *t, const char *path)
{
    char folder[PATH_MAX];
    const char *name = own_split(path, folder);
    *t = (struct target){.fd = -1, .path = path};
    own_sweep(folder, 0);
    int rc = own_begin(&t->own, folder, 0, false);
    if (rc == 0) rc = own_temps(t->own, name);
    if (rc == 0) rc = t->fd = temp_open(path, &t->temp);
    if (rc < 0) {
        own_end(t->own);
        t->own = NULL;
    }
    return rc < 0 ? rc : 0;
}

int target_put(const struct target *t, const void *from, int64_t bytes, int64_t offset)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t put = pwrite(t->fd, (const char *)from + done, (size_t)(bytes - done),
                                   (off_t)(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return err_set_errno(ERR_IO, put < 0 ? errno : EIO, "%s: writing at offset %" PRId64,
                                 t->path, offset + done);
        done += put;
    }
    return 0;
}

int target_close(struct target *t, int rc)
{
    if (t->fd < 0) return rc;
    if (rc == 0 && fsync(t->fd) < 0) rc = err_set_errno(ERR_IO, errno, "%s: flushing", t->path);
    if (close(t->fd) < 0 && rc == 0) rc = err_set_errno(ERR_IO, errno, "%s: closing", t->path);
    if (rc == 0 && t->gone && unlink(t->gone) < 0 && errno != ENOENT)
        rc = err_set_errno(ERR_IO, errno, "%s: cannot be removed", t->gone);
    if (rc == 0 && rename(t->temp, t->path) < 0)
        rc = err_set_errno(ERR_IO, errno, "%s: cannot be replaced", t->path);
    if (rc < 0) unlink(t->temp);
    free(t->temp);
    own_end(t->own);
    *t = (struct target){.fd = -1};
    return rc;
}
