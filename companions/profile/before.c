/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/before.h"

#include <dirent.h>
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

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/resident.h"
#include "companions/profile/record.h"

#define NUMBERS_MAX 10000 /* of names to set files aside */

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
        const char *hash = strrchr(e->d_name, '-');
        const bool noted =
            strncmp(e->d_name, "file-", 5) == 0 || strncmp(e->d_name, "special-", 8) == 0;
        if (!noted || strlen(hash) != 17) continue;
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

/* The note, as it is before a run has written anything, and what stands for the file that was there. */
static int copy_one(const char *path, const struct profile_before *note, void *to)
{
    char name[PATH_MAX];
    struct profile_before begin = *note;
    struct profile_stand_in stand_in = {.magic = PROFILE_STAND_IN_MAGIC, .size = note->before_size};
    begin.written = 0;
    memcpy(stand_in.name, note->name, sizeof note->name);
    snprintf(name, sizeof name, "%.3800s%s", (const char *)to, strrchr(path, '/'));
    TRY(write_new(name, &begin, sizeof begin));
    if (note->before_size < 0) return 0;
    snprintf(name, sizeof name, "%.3800s/now-%s", (const char *)to, strrchr(path, '-') + 1);
    if (!note->directory) TRY(write_new(name, &stand_in, sizeof stand_in));
    const mode_t least = note->directory ? 0700 : 0600;
    const struct timespec when[] = {{.tv_nsec = UTIME_OMIT},
                                    {.tv_sec = note->before_s, .tv_nsec = note->before_ns}};
    if ((note->directory && mkdir(name, least) < 0) ||
        chmod(name, ((mode_t)note->before_mode & 0777) | least) < 0 ||
        utimensat(AT_FDCWD, name, when, 0) < 0)
        return err_set_errno(ERR_IO, errno, "%s", name);
    return 0;
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

/* A file that the program has opened for writing and not written to, as Fortran opens what it only reads, is as it was; and one that is
 * still empty, such as one to hold a lock on. A time of whole seconds proves nothing. */
static bool is_as_it_was(const struct profile_before *note)
{
    struct stat st;
    if (lstat(note->name, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != note->before_size)
        return false;
    return st.st_size == 0 || (note->changed_ns != 0 && st.st_ctim.tv_sec == note->changed_s &&
                               st.st_ctim.tv_nsec == note->changed_ns);
}

static int refuse_changed(const char *path, const struct profile_before *note, void *unused)
{
    (void)path;
    (void)unused;
    if (!note->written || note->before_size < 0 || note->created || is_as_it_was(note)) return 0;
    return err_set(ERR_INVALID,
                   "%.300s was there before the first run and is written: remove it, or give "
                   "--between COMMAND, which restores it",
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

/* What a run has created, one after the other. */
struct created {
    struct before_entry *entry;
    int n;
};

static int created_add(struct created *c, const char *name, bool folder)
{
    struct before_entry *more = realloc(c->entry, ((size_t)c->n + 1) * sizeof *more);
    if (more) c->entry = more;
    if (!more || !(more[c->n].name = strdup(name))) return mem_error("names of files");
    more[c->n].folder = folder;
    more[c->n++].top_bytes = strlen(name);
    return 0;
}

static int add_created(const char *path, const struct profile_before *note, void *to)
{
    struct stat st;
    (void)path;
    if (!note->written || (note->before_size >= 0 && !note->created)) return 0;
    if (lstat(note->name, &st) < 0) return 0;
    const bool folder = S_ISDIR(st.st_mode) && note->directory,
               special = !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode);
    const bool is = note->special ? special : folder || S_ISREG(st.st_mode);
    return is ? created_add(to, note->name, folder) : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct before_entry *)a)->name, ((const struct before_entry *)b)->name);
}

/* Deepest first: a folder after what lies in it. */
static int longer(const void *a, const void *b)
{
    const size_t p = strlen(((const struct before_entry *)a)->name),
                 q = strlen(((const struct before_entry *)b)->name);
    return (p < q) - (p > q);
}

/* Finds for each entry the outermost folder that was created, too. */
static void find_tops(struct created *c)
{
    char part[PROFILE_PATH_MAX];
    const struct before_entry key = {.name = part};
    if (c->n > 0) qsort(c->entry, (size_t)c->n, sizeof *c->entry, by_name);
    for (int i = 0; i < c->n; i++) {
        snprintf(part, sizeof part, "%s", c->entry[i].name);
        for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
            *slash = '\0';
            const struct before_entry *found =
                bsearch(&key, c->entry, (size_t)c->n, sizeof key, by_name);
            *slash = '/';
            if (!found || !found->folder) continue;
            c->entry[i].top_bytes = (size_t)(slash - part);
            break;
        }
    }
    if (c->n > 0) qsort(c->entry, (size_t)c->n, sizeof *c->entry, longer);
}

static int find_created(const char *dir, struct created *c)
{
    const int rc = each(dir, add_created, c);
    find_tops(c);
    return rc;
}

static void created_free(struct created *c)
{
    for (int i = 0; i < c->n; i++)
        free(c->entry[i].name);
    free(c->entry);
}

/* Removes an entry; from: where it lies. Returns whether it is gone, else with errno: a folder that others have put something
 * into stays. */
static bool remove_entry(const struct before_entry *e, const char *from)
{
    return (e->folder ? rmdir(from) : unlink(from)) == 0 || errno == ENOENT;
}

static bool is_top(const struct before_entry *e)
{
    return e->name[e->top_bytes] == '\0';
}

/* Where an entry lies while it is set aside. A name that would be too long is cut, and told apart by a number made of it. */
static int aside_path(const struct before_aside *a, const struct before_entry *e,
                      char out[PATH_MAX])
{
    char number[24] = "";
    size_t kept = e->top_bytes, last = kept;
    while (last > 0 && e->name[last - 1] != '/')
        last--;
    if (kept - last + strlen(a->end) > NAME_MAX) {
        uint64_t hash = 0;
        for (size_t i = last; i < e->top_bytes; i++)
            hash = digest_hash(hash, (unsigned char)e->name[i]);
        snprintf(number, sizeof number, "~%016" PRIx64, hash);
        kept = last + NAME_MAX - strlen(a->end) - strlen(number);
    }
    const int n = snprintf(out, PATH_MAX, "%.*s%s%s%s", (int)kept, e->name, number, a->end,
                           e->name + e->top_bytes);
    if (n < PATH_MAX) return 0;
    return err_set_errno(ERR_IO, ENAMETOOLONG, "%s", e->name);
}

/* Gives a file another name, in place of nothing. */
static int move(const char *from, const char *to)
{
    struct stat st;
    const bool there = lstat(to, &st) == 0;
    if (!there && rename(from, to) == 0) return 0;
    return err_set_errno(ERR_IO, there ? EEXIST : errno, "%s, which is to become %s", from, to);
}

/* Gives the first n of them their own names again. */
static int move_back(const struct before_aside *a, int n)
{
    char path[PATH_MAX];
    int rc = 0;
    for (int i = 0; i < n; i++) {
        if (!is_top(&a->entry[i])) continue;
        TRY(aside_path(a, &a->entry[i], path));
        const int one = move(path, a->entry[i].name);
        if (rc == 0) rc = one;
    }
    return rc;
}

/* Whether something has one of the names already under which they would be set aside. */
static bool is_taken(const struct before_aside *a)
{
    char path[PATH_MAX];
    struct stat st;
    bool taken = false;
    for (int i = 0; i < a->n && !taken; i++) {
        if (!is_top(&a->entry[i])) continue;
        if (aside_path(a, &a->entry[i], path) == 0)
            taken = lstat(path, &st) == 0;
        else
            err_clear(); /* told when it is to be moved */
    }
    return taken;
}

int before_set_aside(const char *dir, int64_t number, struct before_aside *a)
{
    struct created c = {0};
    char path[PATH_MAX];
    TRY(each(dir, refuse_changed, NULL));
    int rc = find_created(dir, &c);
    a->entry = c.entry;
    a->n = c.n;
    snprintf(a->end, sizeof a->end, PROFILE_ASIDE "%lld", (long long)number);
    for (int i = 2; i < NUMBERS_MAX && is_taken(a); i++) /* by what had to stay */
        snprintf(a->end, sizeof a->end, "-%d" PROFILE_ASIDE "%lld", i, (long long)number);
    int moved = 0;
    for (; rc == 0 && moved < a->n; moved++) {
        const struct before_entry *e = &a->entry[moved];
        if (!is_top(e)) continue;
        rc = aside_path(a, e, path);
        if (rc == 0) rc = move(e->name, path);
        if (rc < 0) break;
    }
    if (rc == 0) return 0;
    if (move_back(a, moved) < 0) { /* the first message is the one that counts */
        snprintf(path, sizeof path, "some files keep names that end in %s: ", a->end);
        err_prefix(path);
    }
    before_aside_free(a);
    return rc;
}

int before_aside_remove(struct before_aside *a)
{
    char path[PATH_MAX], first[PATH_MAX] = "";
    int why = 0, n = 0;
    for (int i = 0; i < a->n; i++) {
        const struct before_entry *e = &a->entry[i];
        if (aside_path(a, e, path) < 0)
            err_clear(); /* too long below its folder, which stays with it */
        else if (!remove_entry(e, path) && is_top(e) && n++ == 0) {
            why = errno;
            snprintf(first, sizeof first, "%s", path);
        }
    }
    before_aside_free(a);
    if (n == 0) return 0;
    return err_set(ERR_IO, "%.800s, of the run before, stays%s: %s", first,
                   n > 1 ? ", and so do others" : "", strerror(why));
}

int before_aside_return(struct before_aside *a, const char *dir)
{
    struct created c = {0};
    const char *stays = NULL;
    int why = 0;
    int rc = access(dir, F_OK) == 0 ? find_created(dir, &c) : 0;
    for (int i = 0; i < c.n; i++)
        if (!remove_entry(&c.entry[i], c.entry[i].name) && !stays) {
            why = errno;
            stays = c.entry[i].name;
        }
    const int back = move_back(a, a->n); /* as many as can be, also where something is in the way */
    if (rc == 0) rc = back;
    if (rc == 0 && stays) rc = err_set_errno(ERR_IO, why, "%s", stays);
    created_free(&c);
    before_aside_free(a);
    return rc;
}

void before_aside_free(struct before_aside *a)
{
    struct created c = {a->entry, a->n};
    created_free(&c);
    a->entry = NULL;
    a->n = 0;
}

/* Of files that were written. */
struct where {
    bool flushed;
    int64_t bytes, memory_bytes, behind_bytes;
};

static int look_where(const char *path, const struct profile_before *note, void *to)
{
    struct where *w = to;
    struct stat st;
    struct resident r;
    (void)path;
    if (!note->written || note->special || stat(note->name, &st) != 0) return 0;
    /* What is not known may be in memory. */
    if (resident_ask(note->name, &r) < 0) {
        r.cached_bytes = (int64_t)st.st_size;
        r.dirty_bytes = -1;
        err_clear();
    }
    w->bytes = num_sum(w->bytes, (int64_t)st.st_size);
    if (r.in_memory)
        w->memory_bytes = num_sum(w->memory_bytes, (int64_t)st.st_size);
    else if (r.dirty_bytes >= 0)
        w->behind_bytes = num_sum(w->behind_bytes, r.dirty_bytes);
    else if (!w->flushed || r.never_flushed)
        w->behind_bytes = num_sum(w->behind_bytes, r.cached_bytes);
    return 0;
}

bool before_in_memory(const char *dir, bool flushed)
{
    struct where w = {.flushed = flushed};
    if (each(dir, look_where, &w) < 0) err_clear();
    return 2 * w.memory_bytes > w.bytes ||
           (double)w.behind_bytes > RESIDENT_BEHIND * (double)w.bytes;
}
