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

#include "base/err.h"
#include "base/names.h"
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

int own_remove_folder(int dir_fd, const char *name)
{
    DIR *dir = folder_open(dir_fd, name);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlinkat(dirfd(dir), e->d_name, 0) < 0)
            unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR); /* an empty one */
    if (dir) closedir(dir);
    return unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Removes a regular file or folder of this user, whatever its identity. */
static void remove_any(int dir_fd, const char *name)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid()) return;
    if (S_ISREG(st.st_mode)) unlinkat(dir_fd, name, 0);
    if (S_ISDIR(st.st_mode)) (void)own_remove_folder(dir_fd, name);
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

/* Whether one of the names has so many bytes of this text. */
static bool listed(const struct names *t, const char *text, const char *end)
{
    return end > text && names_find(t, text, (size_t)(end - text)) >= 0;
}

/* Goes back over digits, one at least, that end there, and the character before them, which must be that one.
 * NULL: they are not there. */
static const char *back_over(const char *begin, const char *end, char before)
{
    const char *at = end;
    while (at > begin && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at < end && at > begin && at[-1] == before ? at - 1 : NULL;
}

/* Whether name is that of a file that an MPI-IO library keeps beside one of these files for the shared file
 * pointer, and leaves there when a process is ended: .DATA.shfp.N of ROMIO, DATA-N-N.lock and DATA.locktest.N
 * of OMPIO. */
static bool is_pointer(const char *name, const struct names *data)
{
    static const char hidden[] = ".shfp.", test[] = ".locktest", lock[] = ".lock";
    const char *const end = name + strlen(name);
    if (name[0] == '.')
        for (const char *at = name + 1; (at = strstr(at, hidden)); at++)
            if (listed(data, name + 1, at)) return true;
    const char *at = back_over(name, end, '.');
    if (at && at - name >= (int)sizeof test - 1 &&
        memcmp(at - (sizeof test - 1), test, sizeof test - 1) == 0)
        return listed(data, name, at - (sizeof test - 1));
    if (end - name < (int)sizeof lock - 1 || strcmp(end - (sizeof lock - 1), lock) != 0)
        return false;
    at = back_over(name, end - (sizeof lock - 1), '-');
    if (at) at = back_over(name, at, '-');
    return at && listed(data, name, at);
}

static bool is_temp(const char *name, const struct names *stems)
{
    return listed(stems, name, name + temp_stem_of(name));
}

/* Removes the files of the directory that are of these names in this sense, which takes one look at each. */
static void remove_named(int dir_fd, bool (*is)(const char *name, const struct names *of),
                         const struct names *of)
{
    DIR *dir = of->n > 0 ? folder_open(dir_fd, ".") : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is(e->d_name, of)) remove_any(dir_fd, e->d_name);
    if (dir) closedir(dir);
}

void own_remove_pointers(int dir_fd, const struct names *data)
{
    remove_named(dir_fd, is_pointer, data);
}

/* Removes the files whose names begin so. */
static void remove_beginning(int dir_fd, const char *begin)
{
    DIR *dir = folder_open(dir_fd, ".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strncmp(e->d_name, begin, strlen(begin)) == 0) remove_any(dir_fd, e->d_name);
    if (dir) closedir(dir);
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

/* --- sweeping ------------------------------------------------------------------------------- */

/* What is removed once all lines of a note were read: files beside those that were noted. */
struct beside {
    struct names data;   /* whose pointers are to go */
    struct names temps;  /* stems of temporary files */
    struct names others; /* lines about temporary files in notes whose makers may be alive */
};

/* Whether there is memory for another name. */
static bool put(struct names *t, const char *name)
{
    if (names_put(t, name, 0) == 0) return true;
    err_clear();
    return false;
}

/* Removes what a line is about, or puts it down. Returns whether the line is done with. */
static bool remove_line(int dir_fd, char *line, struct beside *b)
{
    struct own_line l;
    struct identity now;
    char stem[TEMP_STEM_MAX];
    /* By their name alone they may be those of who went on where this one had ended. */
    if (names_find(&b->others, line, strlen(line)) >= 0) return false;
    if (!own_line_read(line, &l)) return true;
    if (l.kind == OWN_FILE || l.kind == OWN_FOLDER) {
        const bool there = identity_at(dir_fd, l.name, &now);
        const bool same = there && identity_same(l.id, now);
        if (same) remove_any(dir_fd, l.name);
        if (l.kind == OWN_FILE && (same || !there)) return put(&b->data, l.name);
    }
    if (l.kind == OWN_TEXT) remove_text(dir_fd, l.name, l.mark);
    if (l.kind == OWN_LOCK) remove_lock(dir_fd, l.name);
    if (l.kind != OWN_TEMPS) return true;
    temp_stem(l.name, stem);
    return put(&b->temps, stem);
}

/* The lines about temporary files in notes other than key's whose makers may be alive. Returns whether
 * there is memory for them. */
static const char temps[] = "temps ";
static bool others_read(int dir_fd, const char *dir_name, const char *key, struct names *lines)
{
    char other[OWN_KEY_DIGITS + 1];
    struct own_note n;
    bool room = true;
    DIR *dir = folder_open(dir_fd, ".");
    for (struct dirent *e; dir && room && (e = readdir(dir));) {
        if (!own_is_note(e->d_name, other) || strcmp(other, key) == 0) continue;
        if (!own_note_open(dir_fd, e->d_name, &n)) continue;
        if (n.lines && !own_maker_dead(&n.maker, n.free_now, dir_name))
            for (const char *its; room && (its = own_note_next(&n));)
                if (strncmp(its, temps, strlen(temps)) == 0) room = put(lines, its);
        own_note_close(&n);
    }
    if (dir) closedir(dir);
    return room;
}

/* Removes what the lines of a note are about. Returns whether that was all of it. */
static bool remove_lines(int dir_fd, const char *dir, const char *key, struct own_note *n)
{
    struct beside b = {0};
    bool whole = !n->lines || !strstr(n->lines, temps) || others_read(dir_fd, dir, key, &b.others);
    if (whole)
        for (char *line; (line = own_note_next(n));)
            whole = remove_line(dir_fd, line, &b) && whole;
    own_remove_pointers(dir_fd, &b.data);
    remove_named(dir_fd, is_temp, &b.temps);
    names_free(&b.data);
    names_free(&b.temps);
    names_free(&b.others);
    return whole;
}

static void sweep_note(int dir_fd, const char *dir, const char *name, const char *key, uint64_t job)
{
    struct own_note n;
    char begin[64];
    if (!own_note_open(dir_fd, name, &n)) return;
    const bool go = n.lines
                        ? (job && n.maker.job == job) || own_maker_dead(&n.maker, n.free_now, dir)
                        : n.is_empty && n.free_now == 1;
    if (go) {
        const bool whole = remove_lines(dir_fd, dir, key, &n);
        snprintf(begin, sizeof begin, OWN_PREFIX "%s-", key);
        remove_beginning(dir_fd, begin);
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
