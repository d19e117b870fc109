/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a path may be written: everything that is asked before anything is touched. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "io/create.h"
#include "base/lock.h"
#include "io/parts.h"

const char *io_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int check_text(const char *path)
{
    if (!path || !path[0]) return err_set(ERR_USAGE, "no file to write to: name one with --out");
    if (strchr(path, ':')) {
        return err_set(ERR_USAGE,
                       "'%s' has a ':', which MPI-IO libraries take for a file system's name: "
                       "choose another --out",
                       path);
    }
    if (strlen(path) >= IO_PATH_MAX) {
        return err_set(ERR_USAGE, "the path given with --out is too long");
    }
    const char *base = io_path_base(path);
    if (!base[0] || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        return err_set(ERR_USAGE, "%s is a directory: name a file with --out", path);
    }
    return 0;
}

static int check_directory(const char *path)
{
    char dir[IO_PATH_MAX];
    struct stat st;
    int len = (int)(io_path_base(path) - path);
    snprintf(dir, sizeof dir, "%.*s", len, path);
    if (len == 0) snprintf(dir, sizeof dir, ".");
    if (stat(dir, &st) != 0) {
        return err_set_errno(ERR_IO, errno,
                             "cannot use the directory %s of %s: make it or change "
                             "--out",
                             dir, path);
    }
    if (!S_ISDIR(st.st_mode)) return err_set(ERR_IO, "%s is not a directory: change --out", dir);
    if (access(dir, W_OK | X_OK) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot write into the directory %s: change --out", dir);
}

/* The file that a symbolic link leads to takes the link's place, so that two names of one file have
 * one lock and one manifest. */
static int resolve(struct io_target *t, const char *path)
{
    struct stat st;
    snprintf(t->path, sizeof t->path, "%s", path);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && !realpath(path, t->path)) {
        return err_set_errno(ERR_IO, errno, "%s is a symbolic link to nothing that can be used",
                             path);
    }
    snprintf(t->manifest, sizeof t->manifest, "%s.json", t->path);
    snprintf(t->lock, sizeof t->lock, "%s.lock", t->path);
    return check_text(t->path);
}

static const char *kind_name(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } kinds[] = {{S_IFDIR, "a directory"},
                 {S_IFIFO, "a FIFO"},
                 {S_IFCHR, "a device"},
                 {S_IFBLK, "a device"},
                 {S_IFSOCK, "a socket"}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if ((mode & S_IFMT) == kinds[k].type) return kinds[k].name;
    }
    return "no regular file";
}

/* Whatever its directory allows, only a regular file can be written to. */
static int check_regular(const struct io_target *t)
{
    struct stat st;
    if (stat(t->path, &st) != 0 || S_ISREG(st.st_mode)) return 0;
    return err_set(ERR_USAGE, "%s is %s: name a file with --out", t->path, kind_name(st.st_mode));
}

/* Looks at the old file; nothing there is fine. */
static int check_kind(struct io_target *t)
{
    struct stat st;
    t->fresh = stat(t->path, &st) != 0;
    if (t->fresh && errno == ENOENT) return 0;
    if (t->fresh) return err_set_errno(ERR_IO, errno, "cannot look at %s", t->path);
    TRY(check_regular(t));
    t->old_bytes = (int64_t)st.st_size;
    t->given_bytes = (int64_t)st.st_blocks * 512;
    return 0;
}

static int check_manifest(const struct io_target *t, enum io_manifest_kind kind, bool force)
{
    if (kind == IO_MANIFEST_BLOCKED) {
        return err_set(ERR_USAGE, "%s is in the way of a manifest: remove it or change --out",
                       t->manifest);
    }
    if (kind != IO_MANIFEST_FOREIGN || force) return 0;
    return err_set(ERR_USAGE,
                   "%s exists and is not a manifest of %s: choose another --out, or --force to "
                   "overwrite it",
                   t->manifest, io_path_base(t->path));
}

static int check_owner(const struct io_target *t, bool through_link, bool force)
{
    enum io_manifest_kind kind = io_manifest_look(t->manifest, io_path_base(t->path));
    TRY(check_manifest(t, kind, force));
    bool takes_empty = t->old_bytes == 0 && !through_link;
    if (force || t->fresh || kind == IO_MANIFEST_OURS || takes_empty) return 0;
    return err_set(ERR_USAGE,
                   "%s exists and was not written by this program (it has no manifest %s): choose "
                   "another --out, or --force to overwrite it",
                   t->path, t->manifest);
}

static int lock(struct io_target *t)
{
    TRY(lock_take(t->lock, &t->lock_fd));
    t->locked = t->lock_fd >= 0;
    return 0;
}

static int take(struct io_target *t, const char *path, bool force)
{
    TRY(check_text(path));
    TRY(resolve(t, path));
    TRY(check_regular(t));
    TRY(check_directory(t->path));
    TRY(check_kind(t));
    TRY(lock(t));
    /* Once more: another run may have come and gone before the lock was ours. */
    TRY(check_kind(t));
    TRY(check_owner(t, strcmp(path, t->path) != 0, force));
    t->parts_n = io_manifest_parts_n(t->manifest, io_path_base(t->path));
    return 0;
}

int io_target_take(struct io_target *t, const char *path, bool force)
{
    memset(t, 0, sizeof *t);
    t->lock_fd = -1;
    t->allocated = "none";
    int rc = take(t, path, force);
    if (rc == 0 && !t->fresh && access(t->path, W_OK) != 0) {
        rc = err_set_errno(ERR_IO, errno, "cannot write to %s", t->path);
    }
    if (rc < 0) io_target_release(t);
    return rc;
}

void io_target_release(struct io_target *t)
{
    lock_release(t->lock, &t->lock_fd);
}

/* Whether a name is what js_write calls its file until it is renamed: BASE.XXXXXXXX.tmp. */
static bool is_leftover(const char *name, const char *base)
{
    const size_t len = strlen(base);
    if (strncmp(name, base, len) != 0 || name[len] != '.') return false;
    const char *digits = name + len + 1;
    return strspn(digits, "0123456789abcdef") == 8 && strcmp(digits + 8, ".tmp") == 0;
}

static void sweep_name(int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) return;
    unlinkat(dir, name, 0);
}

void io_target_sweep(const struct io_target *t)
{
    char folder[IO_PATH_MAX];
    const char *base = io_path_base(t->manifest);
    snprintf(folder, sizeof folder, "%.*s", (int)(base - t->manifest), t->manifest);
    DIR *dir = opendir(folder[0] ? folder : ".");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (is_leftover(e->d_name, base)) sweep_name(dirfd(dir), e->d_name);
    }
    if (dir) closedir(dir);
}

static int remove_name(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return err_set_errno(ERR_IO, errno, "cannot remove %s", path);
}

bool io_target_is_of(const char *path, const char *run_id)
{
    struct io_target t;
    const bool is = resolve(&t, path) == 0 && io_manifest_is_of(t.manifest, run_id);
    err_clear();
    return is;
}

int io_target_remove(const char *path, const char *run_id)
{
    struct io_target t;
    int rc = 0;
    TRY(io_target_take(&t, path, false));
    io_target_sweep(&t);
    if (!run_id || io_manifest_is_of(t.manifest, run_id)) {
        rc = io_parts_drop(&t);
        if (rc == 0) rc = remove_name(t.path);
        if (rc == 0) rc = remove_name(t.manifest);
    }
    io_target_release(&t);
    return rc;
}
