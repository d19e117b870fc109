/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/before.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
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

static int copy_one(const char *path, const struct profile_before *note, void *to)
{
    char name[PATH_MAX];
    struct profile_before begin = *note;
    begin.size = note->before_size;
    snprintf(name, sizeof name, "%s/%s", (const char *)to, strrchr(path, '/') + 1);
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "%s", name);
    const ssize_t n = write(fd, &begin, sizeof begin);
    if (close(fd) == 0 && n == (ssize_t)sizeof begin) return 0;
    return err_set_errno(ERR_IO, errno, "%s", name);
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

static int remove_created(const char *path, const struct profile_before *note, void *unused)
{
    struct stat st;
    (void)path;
    (void)unused;
    if (!note->written || (note->before_size >= 0 && !note->created)) return 0;
    if (lstat(note->name, &st) < 0 || !S_ISREG(st.st_mode)) return 0;
    if (unlink(note->name) < 0) return err_set_errno(ERR_IO, errno, "%s", note->name);
    return 0;
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

int before_copy(const char *from, const char *to)
{
    return each(from, copy_one, (void *)(uintptr_t)to);
}

int before_restore(const char *dir)
{
    TRY(each(dir, refuse_changed, NULL));
    return each(dir, remove_created, NULL);
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
