/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/temp.h"
#include "io/writers/writer.h"
#include "io/target/journal.h"
#include "io/target/parts.h"

const char *io_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ------------------------------------------------------------------ names */

static int check_text(const char *path)
{
    TRY(conf_name_ends("--out", path ? path : ""));
    if (strchr(path, ':')) {
        return err_set(ERR_USAGE,
                       "'%s' has a ':', which MPI-IO libraries take for a file system's name: "
                       "choose another --out",
                       path);
    }
    if (strlen(path) >= IO_PATH_MAX)
        return err_set(ERR_USAGE, "the path given with --out is too long");
    return 0;
}

/* The file that a symbolic link leads to takes the link's place, so that two names of one file have
 * one lock and one manifest. */
static int resolve(struct io_target *t, const char *path)
{
    struct stat st;
    TRY(check_text(path));
    snprintf(t->path, sizeof t->path, "%s", path);
    t->linked = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    if (t->linked && !realpath(path, t->path)) {
        return err_set_errno(ERR_IO, errno, "%s is a symbolic link to nothing that can be used",
                             path);
    }
    snprintf(t->manifest, sizeof t->manifest, "%s.json", t->path);
    snprintf(t->journal, sizeof t->journal, "%s.journal", t->manifest);
    snprintf(t->lock, sizeof t->lock, "%s.lock", t->path);
    snprintf(t->stem, sizeof t->stem, "%s.nht1", t->path);
    return check_text(t->path);
}

static void folder_of(const char *path, char out[IO_PATH_MAX])
{
    const int length = (int)(io_path_base(path) - path);
    snprintf(out, IO_PATH_MAX, "%.*s", length > 0 ? length : 1, length > 0 ? path : ".");
}

bool io_file_takes(const char *path, const char *writer, const char *name)
{
    char file[CONF_NAME_MAX], other[CONF_NAME_MAX], base[CONF_NAME_MAX + 8];
    conf_name_full(path, file);
    conf_name_full(name, other);
    const size_t folder = (size_t)(io_path_base(file) - file), length = strlen(file);
    if (strncmp(file, other, folder) != 0 || strchr(other + folder, '/')) return false;
    snprintf(base, sizeof base, "%s.json", file + folder);
    if (temp_is_of(other + folder, base)) return true;
    snprintf(base, sizeof base, "%s.nht1", file + folder);
    if (temp_is_of(other + folder, base)) return true;
    if (strncmp(file, other, length) != 0) return false;
    const char *rest = other + length;
    if (!rest[0] || strcmp(rest, ".json") == 0 || strcmp(rest, ".lock") == 0 ||
        strcmp(rest, ".json.journal") == 0)
        return true;
    const size_t digits = strncmp(rest, ".rank", 5) == 0 ? strspn(rest + 5, "0123456789") : 0;
    return writer && (io_writer_caps(writer) & IO_CAP_PARTS) && digits >= 5 && !rest[5 + digits];
}

/* ------------------------------------------------------------------ what exists already */

static int check_directory(const char *path)
{
    char dir[IO_PATH_MAX];
    struct stat st;
    folder_of(path, dir);
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

/* Only a regular file can be written to; nothing there is fine. */
static int look_at_file(struct io_target *t)
{
    struct stat st;
    t->fresh = stat(t->path, &st) != 0;
    if (t->fresh && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return err_set_errno(ERR_IO, errno, "cannot look at %s", t->path);
    if (t->fresh) return 0;
    if (!S_ISREG(st.st_mode)) {
        return err_set(ERR_USAGE, "%s is %s: name a file with --out", t->path,
                       kind_name(st.st_mode));
    }
    t->old_bytes = (int64_t)st.st_size;
    return 0;
}

/* From here on a killed run leaves nothing but a file of dumps and its manifest that the next run of any
 * program in this directory does not remove. */
static int begin_note(struct io_target *t)
{
    char folder[PATH_MAX];
    (void)own_split(t->path, folder);
    own_sweep(folder, 0);
    TRY(own_begin(&t->own, folder, 0, false));
    TRY(own_temps(t->own, io_path_base(t->manifest)));
    TRY(own_temps(t->own, io_path_base(t->stem)));
    return own_lock(t->own, io_path_base(t->lock));
}

int io_target_take(struct io_target *t, const char *path, const struct io_lock *held)
{
    memset(t, 0, sizeof *t);
    TRY(resolve(t, path));
    TRY(look_at_file(t));
    TRY(check_directory(t->path));
    if (!held) TRY(begin_note(t));
    t->locked = own_locked(held ? held->own : t->own);
    /* Once more: another run may have ended between the question and our lock. */
    TRY(look_at_file(t));
    const char *name = io_path_base(t->path);
    t->kind = io_manifest_identify(t->manifest, name);
    if (t->kind == IO_MANIFEST_BLOCKED)
        return err_set(ERR_USAGE, "%s is in the way of a manifest: remove it or change --out",
                       t->manifest);
    t->journal_foreign = !io_journal_may_be(t->manifest);
    /* A manifest of ours that is damaged is one of which nothing is known. */
    if (t->kind == IO_MANIFEST_OURS && io_manifest_load(&t->old, t->manifest, name, &t->past) < 0)
        err_clear();
    if (t->old) t->parts_n = io_manifest_parts_n(t->old);
    if (t->fresh || access(t->path, W_OK) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot write to %s", t->path);
}

void io_target_release(struct io_target *t)
{
    io_manifest_free(t->old);
    t->old = NULL;
    own_end(t->own);
    t->own = NULL;
}

/* ------------------------------------------------------------------ removing */

void io_target_sweep(const struct io_target *t)
{
    char folder[IO_PATH_MAX];
    struct stat st;
    folder_of(t->path, folder);
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!temp_is_of(e->d_name, io_path_base(t->manifest)) &&
            !temp_is_of(e->d_name, io_path_base(t->stem)))
            continue;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir) closedir(dir);
}

static int remove_name(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return err_set_errno(ERR_IO, errno, "cannot remove %s", path);
}

bool io_file_is_of_run(const char *path, const char *run_id)
{
    struct io_target t;
    const bool is = resolve(&t, path) == 0 && io_manifest_is_of_run(t.manifest, run_id);
    err_clear();
    return is;
}

/* The manifest is removed last, so that what a process killed in between leaves is known to be ours. */
int io_target_remove(const struct io_target *t)
{
    io_target_sweep(t);
    TRY(io_parts_remove(t, 0));
    TRY(remove_name(t->path));
    if (!t->journal_foreign) TRY(remove_name(t->journal));
    return remove_name(t->manifest);
}
