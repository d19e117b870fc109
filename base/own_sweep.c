/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/own_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/own_note.h"
#include "base/temp.h"

#define TEXT_BYTES 65536

/* --- removing ------------------------------------------------------------------------------- */

/* A folder in the directory, or with "." itself, to be read from its beginning; NULL: it cannot be. */
static DIR *folder_open(int dir_fd, const char *name)
{
    const int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0) close(fd);
    return dir;
}

void own_remove_folder(int dir_fd, const char *name)
{
    DIR *dir = folder_open(dir_fd, name);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlinkat(dirfd(dir), e->d_name, 0) < 0)
            unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR); /* an empty one */
    if (dir) closedir(dir);
    unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Removes a regular file or folder of this user, whatever its identity. */
static void remove_any(int dir_fd, const char *name)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid()) return;
    if (S_ISREG(st.st_mode)) unlinkat(dir_fd, name, 0);
    if (S_ISDIR(st.st_mode)) own_remove_folder(dir_fd, name);
}

/* Removes an empty file that nobody holds. While it is held here, nobody takes it. */
static void remove_lock(int dir_fd, const char *name)
{
    struct stat st;
    const int fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && own_still_named(fd, dir_fd, name, &st))
        unlinkat(dir_fd, name, 0);
    close(fd);
}

/* Whether name begins so. */
static bool begins(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

/* Whether name is that of a file that an MPI-IO library keeps beside data for the shared file pointer, and
 * leaves there when a process is ended: .DATA.shfp.N of ROMIO, DATA-N-N.lock and DATA.locktest.N of OMPIO. */
static bool is_pointer(const char *name, const char *data)
{
    static const char digits[] = "0123456789";
    const size_t length = strlen(data);
    if (name[0] == '.' && strncmp(name + 1, data, length) == 0)
        return strncmp(name + 1 + length, ".shfp.", 6) == 0;
    if (strncmp(name, data, length) != 0) return false;
    if (strncmp(name + length, ".locktest.", 10) == 0)
        return name[length + 10] && !name[length + 10 + strspn(name + length + 10, digits)];
    if (name[length] != '-') return false;
    const char *at = name + length + 1;
    const size_t first = strspn(at, digits);
    if (first == 0 || at[first] != '-') return false;
    const size_t second = strspn(at + first + 1, digits);
    return second > 0 && strcmp(at + first + 1 + second, ".lock") == 0;
}

/* Removes the files of the directory that are of that name in this sense. */
static void remove_named(int dir_fd, bool (*is)(const char *name, const char *of), const char *of)
{
    DIR *dir = folder_open(dir_fd, ".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is(e->d_name, of)) remove_any(dir_fd, e->d_name);
    if (dir) closedir(dir);
}

void own_remove_pointers(int dir_fd, const char *data)
{
    remove_named(dir_fd, is_pointer, data);
}

/* Removes a regular file of this user in whose beginning the mark stands. */
static void remove_text(int dir_fd, const char *name, const char *mark)
{
    struct stat st;
    const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = fd >= 0 ? malloc(TEXT_BYTES) : NULL;
    const ssize_t n = text && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
                          ? pread(fd, text, TEXT_BYTES, 0)
                          : 0;
    if (n > 0 && memmem(text, (size_t)n, mark, strlen(mark))) unlinkat(dir_fd, name, 0);
    free(text);
    if (fd >= 0) close(fd);
}

static void remove_line(int dir_fd, const struct own_line *l)
{
    struct identity now;
    if (l->kind == OWN_FILE || l->kind == OWN_FOLDER) {
        const bool there = identity_at(dir_fd, l->name, &now);
        const bool same = there && identity_same(l->id, now);
        if (same) remove_any(dir_fd, l->name);
        if (l->kind == OWN_FILE && (same || !there)) own_remove_pointers(dir_fd, l->name);
    }
    if (l->kind == OWN_TEXT) remove_text(dir_fd, l->name, l->mark);
    if (l->kind == OWN_LOCK) remove_lock(dir_fd, l->name);
    if (l->kind == OWN_TEMPS) remove_named(dir_fd, temp_is_of, l->name);
}

/* --- sweeping ------------------------------------------------------------------------------- */

/* Whether a note other than key's has this line as well, and its maker may be alive. */
static bool noted_by_another(int dir_fd, const char *dir_name, const char *key, const char *line)
{
    char other[OWN_KEY_DIGITS + 1];
    bool found = false;
    struct own_note n;
    DIR *dir = folder_open(dir_fd, ".");
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        if (!own_is_note(e->d_name, other) || strcmp(other, key) == 0) continue;
        if (!own_note_open(dir_fd, e->d_name, &n)) continue;
        if (n.lines && !own_maker_dead(&n.maker, n.free_now, dir_name))
            for (const char *its; !found && (its = own_note_next(&n));)
                found = strcmp(its, line) == 0;
        own_note_close(&n);
    }
    if (dir) closedir(dir);
    return found;
}

static void sweep_note(int dir_fd, const char *dir, const char *name, const char *key, uint64_t job)
{
    struct own_note n;
    struct own_line l;
    char begin[64];
    bool whole = true;
    if (!own_note_open(dir_fd, name, &n)) return;
    const bool go = n.lines
                        ? (job && n.maker.job == job) || own_maker_dead(&n.maker, n.free_now, dir)
                        : n.is_empty && n.free_now == 1;
    if (go) {
        for (char *line; (line = own_note_next(&n));) {
            /* By their name alone they may be those of who went on where this one had ended. */
            const bool kept = begins(line, "temps ") && noted_by_another(dir_fd, dir, key, line);
            if (!kept && own_line_read(line, &l)) remove_line(dir_fd, &l);
            whole = whole && !kept;
        }
        snprintf(begin, sizeof begin, OWN_PREFIX "%s-", key);
        remove_named(dir_fd, begins, begin);
        /* Of a maker that lives, what could not be removed, such as its lock, stays noted. */
        if (n.free_now != 0 && whole) unlinkat(dir_fd, name, 0);
    }
    own_note_close(&n);
}

void own_sweep_but(int dir_fd, const char *dir_name, uint64_t job, const char *but)
{
    char key[OWN_KEY_DIGITS + 1];
    DIR *dir = folder_open(dir_fd, ".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (own_is_note(e->d_name, key) && strcmp(key, but) != 0)
            sweep_note(dir_fd, dir_name, e->d_name, key, job);
    if (dir) closedir(dir);
}

void own_sweep(const char *dir, uint64_t job)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    own_sweep_but(fd, dir, job, "");
    close(fd);
}
