/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listing folders, and working in them. Functions of the C library that list folders by its own calls are made
 * of those here (scandir, glob), or told (fts, nftw, getdents64). */
#include "companions/profile/preload/declared.h"

#include "companions/profile/preload/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "companions/profile/preload/follow.h"
#include "companions/profile/preload/next.h"
#include "companions/profile/preload/posix.h"

#define CALLER __builtin_return_address(0)

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "entries of folders are the same");

/* Entries that are nowhere but in the notes, of a folder that the program has open. */
struct listing {
    struct listing *next;
    DIR *folder;
    struct dirent *entry; /* owned */
    int entries_n, at;
};

static struct listing *listings; /* locked by count_lock */

/* ------------------------------------------------------------------ what stands for names */

/* The last part is a folder that can be asked itself: whether it is there stands elsewhere. */
static bool is_kept_folder(const char *whole, const char *path)
{
    struct stat st;
    (*count_inside())++;
    const bool kept = lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && access(whole, F_OK) == 0;
    (*count_inside())--;
    return kept;
}

/* Whether a name is seen from a folder that is nothing but a stand-in. */
static bool is_away(int at, const char *name)
{
    return name[0] != '/' && paths_away(at);
}

/* Whether it is the stand-in of a name that tells what is there. What is no file tells so itself, once it is made. */
static bool stands_in(const char *whole)
{
    return paths_find_special(whole) ? paths_unmade(whole) : paths_find(whole) != NULL;
}

bool folders_instead(int at, const char *name, bool follow, char whole[PROFILE_PATH_MAX],
                     char path[PROFILE_PATH_MAX])
{
    if (!count_dropping() || !follow_on() || !name || !name[0] ||
        !(paths_maybe(name) || is_away(at, name)))
        return false;
    const int kept = errno;
    const bool known = paths_whole(at, name, follow, whole) == 0 && stands_in(whole);
    errno = kept;
    if (!known) return false;
    paths_stand_in(whole, path);
    const bool folder = is_kept_folder(whole, path);
    errno = kept;
    const size_t length = strlen(path);
    if (name[strlen(name) - 1] == '/' && length + 1 < PROFILE_PATH_MAX)
        memcpy(path + length, "/", 2); /* only a folder has such a name */
    return !folder;
}

bool folders_asked(int at, const char *name, bool follow, char whole[PROFILE_PATH_MAX],
                   char path[PROFILE_PATH_MAX])
{
    if (folders_instead(at, name, follow, whole, path)) return true;
    if (!count_dropping() || !follow_on() || !name || !name[0] || !is_away(at, name)) return false;
    const int kept = errno;
    const bool known = paths_whole(at, name, follow, whole) == 0;
    errno = kept;
    if (known) memcpy(path, whole, PROFILE_PATH_MAX);
    return known;
}

/* ------------------------------------------------------------------ entries */

/* A folder holds what the program has made in it until now, not what the real run has left. */
static bool is_there(DIR *folder, const char *name)
{
    char whole[PROFILE_PATH_MAX], path[PROFILE_PATH_MAX];
    if (!count_dropping() || !paths_maybe(name) ||
        paths_whole(dirfd(folder), name, false, whole) < 0 || !stands_in(whole))
        return true;
    paths_stand_in(whole, path);
    (*count_inside())++;
    const bool there = access(path, F_OK) == 0;
    (*count_inside())--;
    return there;
}

/* Whether a name is below a folder, or else in it. */
static bool is_in(const char *name, const char *folder, bool below)
{
    const size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(name, folder, length) == 0 && name[length] == '/' &&
           (below || !strchr(name + length + 1, '/'));
}

/* Does something with each note of a name in a folder, or below it; until it returns false. */
static void each_note(const char *folder, bool below,
                      bool (*act)(const struct profile_before *, void *), void *arg)
{
    DIR *d = opendir(count_dir());
    bool more = true;
    for (struct dirent *e; d && more && (e = readdir(d));) {
        struct profile_before note;
        if (strncmp(e->d_name, "file-", 5) != 0 || strchr(e->d_name, '.')) continue;
        if (paths_read_note(dirfd(d), e->d_name, &note) && is_in(note.name, folder, below))
            more = act(&note, arg);
    }
    if (d) closedir(d);
}

static bool stop_at_any(const struct profile_before *note, void *any)
{
    char path[PROFILE_PATH_MAX];
    paths_stand_in(note->name, path);
    *(bool *)any = access(path, F_OK) == 0;
    return !*(bool *)any;
}

bool folders_empty(const char *whole)
{
    bool any = false;
    (*count_inside())++;
    DIR *d = opendir(whole);
    for (struct dirent *e; d && !any && (e = readdir(d));)
        any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && is_there(d, e->d_name);
    if (d) closedir(d);
    if (!any) each_note(whole, true, stop_at_any, &any);
    (*count_inside())--;
    return !any;
}

/* An entry for what stands for a name that the real run has not left. */
static bool add_entry(const struct profile_before *note, void *to)
{
    struct listing *l = to;
    struct stat st, real;
    char path[PROFILE_PATH_MAX];
    const char *last = strrchr(note->name, '/') + 1;
    paths_stand_in(note->name, path);
    if (lstat(path, &st) < 0 || lstat(note->name, &real) == 0 || strlen(last) > NAME_MAX)
        return true;
    struct dirent *more = realloc(l->entry, (size_t)(l->entries_n + 1) * sizeof *more);
    if (!more) {
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_MEMORY), note->name);
        return false;
    }
    l->entry = more;
    struct dirent *e = &more[l->entries_n++];
    *e = (struct dirent){.d_ino = st.st_ino,
                         .d_off = INT64_MAX,
                         .d_reclen = sizeof *e,
                         .d_type = S_ISDIR(st.st_mode) ? DT_DIR : DT_REG};
    memcpy(e->d_name, last, strlen(last) + 1);
    return true;
}

/* The next of them after the folder's own have come to their end, NULL: none. */
static struct dirent *next_made(DIR *folder)
{
    char whole[PROFILE_PATH_MAX];
    struct dirent *found = NULL;
    const int kept = errno;
    if (!count_dropping() || paths_whole(dirfd(folder), ".", false, whole) < 0 ||
        !paths_maybe_in(whole)) {
        errno = kept;
        return NULL;
    }
    count_lock();
    struct listing *l = listings;
    while (l && l->folder != folder)
        l = l->next;
    if (!l && (l = calloc(1, sizeof *l))) {
        *l = (struct listing){.next = listings, .folder = folder};
        listings = l;
        each_note(whole, false, add_entry, l);
    }
    if (l && l->at < l->entries_n) found = &l->entry[l->at++];
    count_unlock();
    errno = kept;
    return found;
}

/* The folder is closed, or read again from its beginning. */
static void forget(DIR *folder)
{
    if (!count_dropping() || !follow_on()) return;
    count_lock();
    struct listing **at = &listings;
    while (*at && (*at)->folder != folder)
        at = &(*at)->next;
    struct listing *l = *at;
    if (l) {
        *at = l->next;
        free(l->entry);
        free(l);
    }
    count_unlock();
}

struct dirent *readdir(DIR *folder)
{
    REAL(struct dirent *, readdir, DIR *);
    struct dirent *e = NULL;
    bool there = true;
    if (!follow_on()) return real(folder);
    do {
        const int before = errno; /* by which the end is told from an error */
        errno = 0;
        e = real(folder);
        if (!e && errno == 0) {
            errno = before;
            return next_made(folder);
        }
        if (e) errno = before;
        const int kept = errno;
        if (e) there = !paths_hidden(dirfd(folder), e->d_name) && is_there(folder, e->d_name);
        errno = kept;
    } while (e && !there);
    return e;
}

struct dirent64 *readdir64(DIR *folder)
{
    return (struct dirent64 *)(void *)readdir(folder);
}

static int read_into(DIR *folder, struct dirent *into, struct dirent **got)
{
    const int kept = errno;
    errno = 0;
    const struct dirent *e = readdir(folder);
    const int why = e ? 0 : errno;
    errno = kept;
    if (e) memcpy(into, e, e->d_reclen < sizeof *e ? e->d_reclen : sizeof *e);
    *got = e ? into : NULL;
    return why;
}

int readdir_r(DIR *folder, struct dirent *into, struct dirent **got)
{
    return read_into(folder, into, got);
}

int readdir64_r(DIR *folder, struct dirent64 *into, struct dirent64 **got)
{
    return read_into(folder, (struct dirent *)(void *)into, (struct dirent **)(void *)got);
}

void rewinddir(DIR *folder)
{
    REAL(void, rewinddir, DIR *);
    forget(folder);
    real(folder);
}

int closedir(DIR *folder)
{
    REAL(int, closedir, DIR *);
    forget(folder);
    return real(folder);
}

DIR *opendir(const char *name)
{
    REAL(DIR *, opendir, const char *);
    char whole[PROFILE_PATH_MAX], path[PROFILE_PATH_MAX];
    return real(folders_asked(AT_FDCWD, name, true, whole, path) ? path : name);
}

/* ------------------------------------------------------------------ whole folders at once */

/* Reads a folder into an array, as scandir does; closes it. */
static int scan(DIR *d, struct dirent ***out, int (*filter)(const struct dirent *),
                int (*compare)(const struct dirent **, const struct dirent **))
{
    struct dirent **entry = NULL;
    int n = 0, room = 0;
    const int kept = errno;
    if (!d) return -1;
    errno = 0;
    for (struct dirent *e; (e = readdir(d));) {
        const bool wanted = !filter || filter(e);
        errno = 0;
        if (!wanted) continue;
        if (n == room) {
            room = room ? 2 * room : 16;
            struct dirent **more = realloc(entry, (size_t)room * sizeof(struct dirent *));
            if (!more) break;
            entry = more;
        }
        if (!(entry[n] = malloc(e->d_reclen))) break;
        memcpy(entry[n++], e, e->d_reclen);
    }
    const int why = errno;
    closedir(d);
    if (why) {
        while (n > 0)
            free(entry[--n]);
        free(entry);
        errno = why;
        return -1;
    }
    if (n > 1 && compare)
        qsort(entry, (size_t)n, sizeof *entry, (int (*)(const void *, const void *))compare);
    *out = entry;
    errno = kept;
    return n;
}

int scandir(const char *name, struct dirent ***out, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    REAL(int, scandir, const char *, struct dirent ***, int (*)(const struct dirent *),
         int (*)(const struct dirent **, const struct dirent **));
    return follow_on() ? scan(opendir(name), out, filter, compare)
                       : real(name, out, filter, compare);
}

int scandir64(const char *name, struct dirent64 ***out, int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **))
    __attribute__((alias("scandir")));

int scandirat(int at, const char *name, struct dirent ***out, int (*filter)(const struct dirent *),
              int (*compare)(const struct dirent **, const struct dirent **))
{
    REAL(int, scandirat, int, const char *, struct dirent ***, int (*)(const struct dirent *),
         int (*)(const struct dirent **, const struct dirent **));
    if (!follow_on()) return real(at, name, out, filter, compare);
    const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d) close(fd);
    return scan(d, out, filter, compare);
}

int scandirat64(int at, const char *name, struct dirent64 ***out,
                int (*filter)(const struct dirent64 *),
                int (*compare)(const struct dirent64 **, const struct dirent64 **))
    __attribute__((alias("scandirat")));

static struct dirent *glob_read(void *folder)
{
    return readdir(folder);
}

static void *glob_open(const char *name)
{
    return opendir(name);
}

static void glob_close(void *folder)
{
    closedir(folder);
}

/* Patterns are matched by the C library, on folders and files as the functions here show them. */
int glob(const char *pattern, int how, int (*failed)(const char *, int), glob_t *paths)
{
    REAL(int, glob, const char *, int, int (*)(const char *, int), glob_t *);
    if (!follow_on() || (how & GLOB_ALTDIRFUNC)) return real(pattern, how, failed, paths);
    paths->gl_opendir = glob_open;
    paths->gl_readdir = glob_read;
    paths->gl_closedir = glob_close;
    paths->gl_stat = stat;
    paths->gl_lstat = lstat;
    const int rc = real(pattern, how | GLOB_ALTDIRFUNC, failed, paths);
    paths->gl_flags &= ~GLOB_ALTDIRFUNC;
    return rc;
}

int glob64(const char *pattern, int how, int (*failed)(const char *, int), glob64_t *paths)
    __attribute__((alias("glob")));

/* Whether a name is there, or as long, as the real run has left it. */
static bool stop_at_other(const struct profile_before *note, void *other)
{
    char path[PROFILE_PATH_MAX];
    struct stat now, left;
    paths_stand_in(note->name, path);
    const bool there = lstat(path, &now) == 0;
    bool same = there == (lstat(note->name, &left) == 0);
    if (same && there && S_ISREG(now.st_mode)) {
        struct profile_stand_in *s = paths_map(path);
        same = s && s->size == left.st_size;
        paths_unmap(s);
    }
    *(bool *)other = !same;
    return same;
}

/* A folder is listed past the functions here: told where that shows what the real run has left, and not what the
 * program has made until now. */
static void listed(const void *caller, int at, const char *name)
{
    char whole[PROFILE_PATH_MAX];
    bool other = false;
    if (!count_dropping() || !follow_on() || !follow_is_process() || follow_is_mpi(caller)) return;
    const int kept = errno;
    if (paths_whole(at, name, true, whole) == 0) {
        (*count_inside())++;
        each_note(whole, true, stop_at_other, &other);
        (*count_inside())--;
    }
    if (other) count_unseen(profile_unseen_word(PROFILE_UNSEEN_LISTED), whole);
    errno = kept;
}

#define WALK(name, type, ...) int name(const char *folder, type act, __VA_ARGS__)
WALK(ftw, __ftw_func_t, int n)
{
    REAL(int, ftw, const char *, __ftw_func_t, int);
    listed(CALLER, AT_FDCWD, folder);
    return real(folder, act, n);
}
WALK(ftw64, __ftw64_func_t, int n)
{
    REAL(int, ftw64, const char *, __ftw64_func_t, int);
    listed(CALLER, AT_FDCWD, folder);
    return real(folder, act, n);
}
WALK(nftw, __nftw_func_t, int n, int how)
{
    REAL(int, nftw, const char *, __nftw_func_t, int, int);
    listed(CALLER, AT_FDCWD, folder);
    return real(folder, act, n, how);
}
WALK(nftw64, __nftw64_func_t, int n, int how)
{
    REAL(int, nftw64, const char *, __nftw64_func_t, int, int);
    listed(CALLER, AT_FDCWD, folder);
    return real(folder, act, n, how);
}

FTS *fts_open(char *const *folder, int how, int (*compare)(const FTSENT **, const FTSENT **))
{
    REAL(FTS *, fts_open, char *const *, int, int (*)(const FTSENT **, const FTSENT **));
    for (char *const *f = folder; *f; f++)
        listed(CALLER, AT_FDCWD, *f);
    return real(folder, how, compare);
}

FTS64 *fts64_open(char *const *folder, int how,
                  int (*compare)(const FTSENT64 **, const FTSENT64 **))
{
    REAL(FTS64 *, fts64_open, char *const *, int, int (*)(const FTSENT64 **, const FTSENT64 **));
    for (char *const *f = folder; *f; f++)
        listed(CALLER, AT_FDCWD, *f);
    return real(folder, how, compare);
}

ssize_t getdents64(int fd, void *into, size_t bytes)
{
    REAL(ssize_t, getdents64, int, void *, size_t);
    listed(CALLER, fd, ".");
    return real(fd, into, bytes);
}

/* ------------------------------------------------------------------ working in folders */

int chdir(const char *name)
{
    REAL(int, chdir, const char *);
    char whole[PROFILE_PATH_MAX], path[PROFILE_PATH_MAX];
    const int rc = real(folders_asked(AT_FDCWD, name, true, whole, path) ? path : name);
    if (rc == 0) paths_moved();
    return rc;
}

int fchdir(int fd)
{
    REAL(int, fchdir, int);
    const int rc = real(fd);
    if (rc == 0) paths_moved();
    return rc;
}

char *getcwd(char *into, size_t n)
{
    REAL(char *, getcwd, char *, size_t);
    char whole[PROFILE_PATH_MAX];
    char *got = real(into, n);
    if (!got || !count_dropping() || !follow_on() || strlen(got) >= sizeof whole) return got;
    memcpy(whole, got, strlen(got) + 1);
    if (!paths_of_stand_in(whole)) return got;
    if (!into) {
        free(got);
        return strdup(whole);
    }
    if (strlen(whole) >= n) {
        errno = ERANGE;
        return NULL;
    }
    memcpy(into, whole, strlen(whole) + 1);
    return into;
}

char *__getcwd_chk(char *into, size_t n, size_t room);
char *__getcwd_chk(char *into, size_t n, size_t room)
{
    if (n > room) abort();
    return getcwd(into, n);
}

char *get_current_dir_name(void)
{
    REAL(char *, get_current_dir_name, void);
    return count_dropping() && follow_on() ? getcwd(NULL, 0) : real();
}

char *realpath(const char *name, char *into)
{
    REAL(char *, realpath, const char *, char *);
    char whole[PROFILE_PATH_MAX], path[PROFILE_PATH_MAX];
    if (folders_asked(AT_FDCWD, name, true, whole, path)) {
        (*count_inside())++;
        const bool there = access(path, F_OK) == 0;
        (*count_inside())--;
        if (!there) return NULL;
        return into ? memcpy(into, whole, strlen(whole) + 1) : strdup(whole);
    }
    char *const own = into ? NULL : malloc(PROFILE_PATH_MAX);
    if (!into && !own) return NULL;
    char *const got = real(name, into ? into : own);
    if (!got) free(own);
    return got;
}

char *__realpath_chk(const char *name, char *into, size_t room);
char *__realpath_chk(const char *name, char *into, size_t room)
{
    if (room < PROFILE_PATH_MAX) abort();
    return realpath(name, into);
}

char *canonicalize_file_name(const char *name)
{
    return realpath(name, NULL);
}
