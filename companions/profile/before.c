/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/before.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/resident.h"
#include "base/sys.h"
#include "companions/profile/record.h"

/* Reads a note. Returns whether it is one. */
static bool read_note(const char *path, struct profile_before *note)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    const ssize_t n = read(fd, note, sizeof *note);
    close(fd);
    return n == (ssize_t)sizeof *note && note->name[0] == '/' &&
           memchr(note->name, '\0', sizeof note->name) != NULL;
}

/* Does something with each note in a folder. */
static int each(const char *dir, int (*act)(const char *, const struct profile_before *, void *),
                void *arg)
{
    char path[PATH_MAX];
    struct profile_before note;
    DIR *d = opendir(dir);
    int rc = 0;
    if (!d) return err_set_errno(ERR_IO, errno, "%s", dir);
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        const size_t length = sizeof "file-0123456789abcdef" - 1;
        if (strncmp(e->d_name, "file-", 5) != 0 || strlen(e->d_name) != length) continue;
        snprintf(path, sizeof path, "%.3800s/%s", dir, e->d_name);
        if (read_note(path, &note)) rc = act(path, &note, arg);
    }
    closedir(d);
    return rc;
}

/* Writes a new file in a folder. */
static int write_new(const char *path, const void *from, size_t bytes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "%s", path);
    const ssize_t n = write(fd, from, bytes);
    if (close(fd) == 0 && n == (ssize_t)bytes) return 0;
    return err_set_errno(ERR_IO, errno, "%s", path);
}

/* The note, and what stands for the file that was there before. */
static int copy_one(const char *path, const struct profile_before *note, void *to)
{
    char name[PATH_MAX];
    struct profile_before begin = *note;
    struct profile_stand_in stand_in = {.magic = PROFILE_STAND_IN_MAGIC, .size = note->before_size};
    const char *hash = strrchr(path, '-') + 1;
    begin.written = 0;
    memcpy(stand_in.name, note->name, sizeof note->name);
    snprintf(name, sizeof name, "%.3800s/file-%s", (const char *)to, hash);
    TRY(write_new(name, &begin, sizeof begin));
    if (note->before_size < 0) return 0;
    snprintf(name, sizeof name, "%.3800s/now-%s", (const char *)to, hash);
    if (!note->directory) return write_new(name, &stand_in, sizeof stand_in);
    return mkdir(name, 0700) == 0 ? 0 : err_set_errno(ERR_IO, errno, "%s", name);
}

int before_copy(const char *from, const char *to)
{
    char path[PATH_MAX], names[PROFILE_NAMES_BYTES];
    snprintf(path, sizeof path, "%.3800s/names", from);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        const ssize_t n = read(fd, names, sizeof names);
        close(fd);
        if (n != (ssize_t)sizeof names) return err_set(ERR_IO, "%s: too short", path);
        snprintf(path, sizeof path, "%.3800s/names", to);
        TRY(write_new(path, names, sizeof names));
    }
    return each(from, copy_one, (void *)(uintptr_t)to);
}

static int refuse_changed(const char *path, const struct profile_before *note, void *unused)
{
    (void)path;
    (void)unused;
    if (!note->written || note->before_size < 0 || note->created) return 0;
    return err_set(ERR_INVALID,
                   "zeta cannot be measured by --repeat: %.300s was there before the first run and "
                   "is written: remove it, or give --between COMMAND, which restores it",
                   note->name);
}

/* Names of files or folders. */
struct list {
    char **name; /* owned, and what it points to */
    int n;
};

static int list_add(struct list *l, const char *name)
{
    char **more = realloc(l->name, ((size_t)l->n + 1) * sizeof *more);
    if (more) l->name = more;
    if (!more || !(more[l->n] = strdup(name))) return mem_error("names of files");
    l->n++;
    return 0;
}

static int add_temporary(const char *path, const struct profile_before *note, void *to)
{
    (void)path;
    return note->before_size < 0 && note->gone ? list_add(to, note->name) : 0;
}

static int in_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int before_temporary(const char *dir, char ***names, int *n)
{
    struct list l = {0};
    const int rc = each(dir, add_temporary, &l);
    if (l.n > 0) qsort(l.name, (size_t)l.n, sizeof *l.name, in_order);
    *names = l.name;
    *n = l.n;
    return rc;
}

static int remove_created(const char *path, const struct profile_before *note, void *to)
{
    struct list *made = to;
    struct stat st;
    (void)path;
    if (!note->written || (note->before_size >= 0 && !note->created)) return 0;
    if (lstat(note->name, &st) < 0) return 0;
    if (S_ISDIR(st.st_mode) && note->directory) return list_add(made, note->name);
    if (S_ISREG(st.st_mode) && unlink(note->name) < 0)
        return err_set_errno(ERR_IO, errno, "%s", note->name);
    return 0;
}

static int longer(const void *a, const void *b)
{
    const size_t p = strlen(*(char *const *)a), q = strlen(*(char *const *)b);
    return (p < q) - (p > q);
}

int before_restore(const char *dir)
{
    struct list made = {0};
    TRY(each(dir, refuse_changed, NULL));
    int rc = each(dir, remove_created, &made);
    if (made.n > 0) qsort(made.name, (size_t)made.n, sizeof *made.name, longer);
    for (int i = 0; i < made.n; i++) {
        if (rc == 0 && rmdir(made.name[i]) < 0)
            rc = err_set_errno(ERR_IO, errno, "%s", made.name[i]);
        free(made.name[i]);
    }
    free(made.name);
    return rc;
}

/* Of files that were written. */
struct where {
    bool flushed;
    int64_t bytes, memory_bytes, behind_bytes;
};

static int look_where(const char *path, const struct profile_before *note, void *to)
{
    struct where *w = to;
    struct sys_fs fs;
    struct resident r;
    (void)path;
    if (!note->written || sys_path_fs(note->name, &fs) < 0 || resident_ask(note->name, &r) < 0) {
        err_clear();
        return 0;
    }
    w->bytes = num_sum(w->bytes, r.file_bytes);
    if (fs.in_memory)
        w->memory_bytes = num_sum(w->memory_bytes, r.file_bytes);
    else if (r.dirty_bytes >= 0 || !w->flushed)
        w->behind_bytes =
            num_sum(w->behind_bytes, r.dirty_bytes >= 0 ? r.dirty_bytes : r.cached_bytes);
    return 0;
}

bool before_in_memory(const char *dir, bool flushed)
{
    struct where w = {.flushed = flushed};
    if (each(dir, look_where, &w) < 0) err_clear();
    return 2 * w.memory_bytes > w.bytes ||
           (double)w.behind_bytes > RESIDENT_BEHIND * (double)w.bytes;
}
