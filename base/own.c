/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/own_files.h"
#include "base/own_note.h"
#include "base/own_sweep.h"
#include "base/stop.h"

struct own {
    int dir_fd, note_fd, lock_fd;
    uint64_t job;
    int64_t maker;
    bool keep, watched;
    atomic_bool left; /* something that was made could not be removed: the note must stay */
    atomic_bool unlocked;
    atomic_int making; /* a file has its passing name: the note must stay */
    unsigned number;
    char key[OWN_KEY_DIGITS + 1];
    char note[NAME_MAX + 1], lock[NAME_MAX + 1];
    char dir[PATH_MAX];
    char shown[PATH_MAX + 1]; /* before names in it: "", or it and a slash */
    struct own_files made;
};

uint64_t own_job(void)
{
    uint64_t any = 0;
    struct own_maker me;
    if (getrandom(&any, sizeof any, GRND_NONBLOCK) != (ssize_t)sizeof any) {
        own_maker_of((int64_t)getpid(), &me);
        any ^= (uint64_t)me.pid << 32 ^ (uint64_t)me.start;
    }
    return any ? any : 1;
}

/* --- the note ------------------------------------------------------------------------------- */

static int cannot_note(const struct own *o, int errnum)
{
    return err_set_errno(ERR_IO, errnum, "%s%s, the note of this program's files", o->shown,
                         o->note);
}

static int note_put(struct own *o, const char *text)
{
    const size_t bytes = strlen(text);
    struct stat st;
    size_t done = 0;
    ssize_t now;
    while (done < bytes && ((now = write(o->note_fd, text + done, bytes - done)) > 0 ||
                            (now < 0 && errno == EINTR)))
        done += now > 0 ? (size_t)now : 0;
    if (done == bytes) return 0;
    const int errnum = now < 0 ? errno : ENOSPC;
    /* Half a line would become the beginning of the next one. */
    if (done > 0 &&
        (fstat(o->note_fd, &st) != 0 || ftruncate(o->note_fd, st.st_size - (off_t)done) != 0))
        return cannot_note(o, errno);
    return cannot_note(o, errnum);
}

/* Makes the note, held. A sweep that met it while it was empty has taken it away: once more then. */
static int note_make(struct own *o)
{
    char text[512];
    struct own_maker m;
    struct stat st;
    own_maker_of(o->maker, &m);
    for (;;) {
        snprintf(o->key, sizeof o->key, "%016" PRIx64, own_job());
        snprintf(o->note, sizeof o->note, OWN_PREFIX "%s" OWN_SUFFIX, o->key);
        o->note_fd = openat(o->dir_fd, o->note,
                            O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (o->note_fd < 0 && errno == EEXIST) continue;
        if (o->note_fd < 0)
            return err_set_errno(ERR_IO, errno, "cannot make a file in the directory %s", o->dir);
        const bool held = flock(o->note_fd, LOCK_EX) == 0;
        m.held = held && o->maker == getpid();
        m.job = o->job;
        own_head_write(&m, text, sizeof text);
        const int rc = note_put(o, text);
        const bool still = own_still_named(o->note_fd, o->dir_fd, o->note, &st);
        if (rc == 0 && still) return 0;
        if (still) unlinkat(o->dir_fd, o->note, 0);
        close(o->note_fd);
        o->note_fd = -1;
        if (rc < 0) return rc;
    }
}

static int note_add(struct own *o, const struct own_line *l)
{
    char text[OWN_LINE_MAX];
    if (!own_is_name(l->name))
        return err_set(ERR_IO, "%s%s: a file cannot have this name", o->shown, l->name);
    if (o->note_fd < 0) TRY(note_make(o));
    own_line_write(l, text);
    return note_put(o, text);
}

/* --- begin and end -------------------------------------------------------------------------- */

int own_begin_as(struct own **out, const char *dir, uint64_t job, int64_t maker)
{
    struct own *o = *out = mem_new(1, sizeof *o, "a note of files");
    if (!o) return ERR_NOMEM;
    o->note_fd = o->lock_fd = -1;
    o->job = job;
    o->maker = maker;
    snprintf(o->dir, sizeof o->dir, "%s", dir);
    if (strcmp(dir, ".") != 0)
        snprintf(o->shown, sizeof o->shown, "%s/", strcmp(dir, "/") == 0 ? "" : dir);
    own_files_begin(&o->made);
    o->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->dir_fd < 0) return err_set_errno(ERR_IO, errno, "cannot use the directory %s", dir);
    return 0;
}

int own_begin(struct own **out, const char *dir, uint64_t job, bool keep)
{
    const int rc = own_begin_as(out, dir, job, (int64_t)getpid());
    if (*out) (*out)->keep = keep;
    return rc;
}

static void close_all(struct own *o)
{
    own_files_end(&o->made);
    if (o->note_fd >= 0) close(o->note_fd);
    if (o->dir_fd >= 0) close(o->dir_fd);
    free(o);
}

void own_detach(struct own *o)
{
    if (o) close_all(o);
}

/* --- making and removing -------------------------------------------------------------------- */

bool own_has(const struct own *o, const char *name)
{
    return own_files_find(&o->made, name) != NULL;
}

/* Takes the name away, unless somebody put another file there; also from the handler of a signal.
 * Returns 0 or an errno value. */
static int made_unlink(const struct own *o, struct own_file *m)
{
    struct stat st;
    struct identity now;
    if (!atomic_exchange(&m->there, false)) return 0;
    if (m->fd >= 0 ? !own_still_named(m->fd, o->dir_fd, m->name, &st)
                   : !identity_at(o->dir_fd, m->name, &now) || !identity_same(m->id, now))
        return 0;
    const int rc = m->kind == OWN_FOLDER ? own_remove_folder(o->dir_fd, m->name)
                                         : unlinkat(o->dir_fd, m->name, 0);
    if (rc == 0 || errno == ENOENT) return 0;
    const int errnum = errno;
    atomic_store(&m->there, true);
    return errnum;
}

static bool asked_to_stop(const struct own *o)
{
    return o->watched && !o->keep && stop_requested();
}

/* From here on the name is one to be removed. */
static int add_made(struct own *o, const char *name, int fd, enum own_kind kind)
{
    struct own_file *m = own_files_new(&o->made, name, fd, kind);
    if (!m) return ERR_NOMEM;
    atomic_store(&m->there, true);
    if (!asked_to_stop(o)) return 0;
    (void)made_unlink(o, m); /* the signal came before it was there */
    return err_set(ERR_INTERRUPT, "interrupted");
}

/* Gives what bears the passing name, open as made, its own, if that is free. Returns 0 or an errno value. */
static int rename_new(int dir_fd, const char *from, int made, const char *to, enum own_kind kind)
{
    struct stat st;
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (kind == OWN_FILE && linkat(dir_fd, from, dir_fd, to, 0) == 0) {
        /* Where a link has an inode number of its own, as with sshfs, it could not be told from a file of others. */
        const bool same = own_still_named(made, dir_fd, to, &st);
        unlinkat(dir_fd, same ? from : to, 0);
        if (same) return 0;
    } else if (kind == OWN_FILE && errno == EEXIST) {
        return errno;
    }
    /* Neither is to be had here: what is replaced is made new. */
    const int fd = kind == OWN_FILE
                       ? openat(dir_fd, to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                       : mkdirat(dir_fd, to, 0700);
    if (fd < 0) return errno;
    const int errnum = renameat(dir_fd, from, dir_fd, to) == 0 ? 0 : errno;
    if (errnum && (kind == OWN_FOLDER || own_still_named(fd, dir_fd, to, &st)))
        unlinkat(dir_fd, to, kind == OWN_FILE ? 0 : AT_REMOVEDIR);
    if (kind == OWN_FILE) close(fd);
    return errnum;
}

static int new_fd(struct own *o, const char *name, enum own_kind kind)
{
    if (kind == OWN_FILE)
        return openat(o->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (mkdirat(o->dir_fd, name, 0700) != 0) return -1;
    const int fd = openat(o->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int errnum = errno;
    if (fd < 0) unlinkat(o->dir_fd, name, AT_REMOVEDIR);
    errno = errnum;
    return fd;
}

static int make_file(struct own *o, const char *name, enum own_kind kind)
{
    char passing[64] = "";
    struct identity id;
    int rc = 0, errnum = 0;
    if (!o->keep && o->note_fd < 0) TRY(note_make(o));
    if (!o->keep) snprintf(passing, sizeof passing, OWN_PREFIX "%s-%u", o->key, o->number++);
    atomic_fetch_add(&o->making, 1);
    if (asked_to_stop(o)) {
        atomic_fetch_sub(&o->making, 1);
        return err_set(ERR_INTERRUPT, "interrupted");
    }
    const int fd = new_fd(o, o->keep ? name : passing, kind);
    if (fd < 0) errnum = errno;
    if (fd >= 0 && !o->keep) {
        identity_of_fd(fd, &id);
        rc = note_add(o, &(struct own_line){.kind = kind, .id = id, .name = name});
        if (rc == 0) errnum = rename_new(o->dir_fd, passing, fd, name, kind);
        if (rc < 0 || errnum) unlinkat(o->dir_fd, passing, kind == OWN_FILE ? 0 : AT_REMOVEDIR);
    }
    if (errnum) rc = err_set_errno(ERR_IO, errnum, "cannot make %s%s", o->shown, name);
    if (rc == 0)
        rc = add_made(o, name, fd, kind);
    else if (fd >= 0)
        close(fd);
    atomic_fetch_sub(&o->making, 1);
    return rc;
}

int own_make(struct own *o, const char *name)
{
    return make_file(o, name, OWN_FILE);
}

int own_make_folder(struct own *o, const char *name)
{
    return make_file(o, name, OWN_FOLDER);
}

int own_temps(struct own *o, const char *name)
{
    atomic_fetch_add(&o->making, 1);
    return note_add(o, &(struct own_line){.kind = OWN_TEMPS, .name = name});
}

void own_temps_end(struct own *o)
{
    atomic_fetch_sub(&o->making, 1);
}

int own_expect(struct own *o, const char *name, struct identity id)
{
    if (asked_to_stop(o)) return err_set(ERR_INTERRUPT, "interrupted");
    return o->keep ? 0 : note_add(o, &(struct own_line){.kind = OWN_FILE, .id = id, .name = name});
}

int own_expect_text(struct own *o, const char *name, const char *mark)
{
    const struct own_line l = {.kind = OWN_TEXT, .mark = mark, .name = name};
    return o->keep ? 0 : note_add(o, &l);
}

int own_adopt(struct own *o, const char *name, struct identity id)
{
    struct identity now;
    const int fd = openat(o->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        const int errnum = errno;
        /* Nobody would know of it once the note is gone. */
        if (!o->keep && identity_at(o->dir_fd, name, &now) && identity_same(id, now))
            unlinkat(o->dir_fd, name, 0);
        return err_set_errno(ERR_IO, errnum, "cannot open %s%s", o->shown, name);
    }
    if (identity_of_fd(fd, &now) && identity_same(id, now)) {
        const int rc = add_made(o, name, fd, OWN_FILE);
        if (rc == ERR_NOMEM && !o->keep) unlinkat(o->dir_fd, name, 0);
        return rc;
    }
    close(fd);
    return err_set(ERR_IO, "%s%s: another program has created this file meanwhile", o->shown, name);
}

int own_remove(struct own *o, const char *name)
{
    struct own_file *m = own_files_find(&o->made, name);
    if (!m) return 0;
    const int errnum = made_unlink(o, m);
    if (errnum == 0) own_files_free(&o->made, m);
    return errnum ? err_set_errno(ERR_IO, errnum, "cannot remove %s%s", o->shown, name) : 0;
}

const char *own_split(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, PATH_MAX, "%.*s", (int)(slash - path) + (slash == path), path);
    else
        snprintf(folder, PATH_MAX, ".");
    return slash ? slash + 1 : path;
}

int own_lock(struct own *o, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2];
    TRY(note_add(o, &(struct own_line){.kind = OWN_LOCK, .name = name}));
    snprintf(path, sizeof path, "%s%s", o->shown, name);
    TRY(lock_take(path, &o->lock_fd));
    snprintf(o->lock, sizeof o->lock, "%s", name);
    return 0;
}

bool own_locked(const struct own *o)
{
    return o && o->lock_fd >= 0;
}

/* --- being asked to stop -------------------------------------------------------------------- */

/* A handler can reach nothing but a file-scope variable. */
static struct own *removable;

static void file_unlink(struct own_file *m, void *arg)
{
    struct own *o = arg;
    if (made_unlink(o, m) != 0) o->left = true;
}

static void remove_made(struct own *o)
{
    o->left = false;
    if (!o->keep) own_files_each(&o->made, file_unlink, o);
}

static void on_stop(void)
{
    struct own *o = removable;
    if (!o) return;
    remove_made(o);
    if (o->lock_fd >= 0 && !atomic_exchange(&o->unlocked, true)) unlinkat(o->dir_fd, o->lock, 0);
    if (o->note[0] && atomic_load(&o->making) == 0 && !o->left) unlinkat(o->dir_fd, o->note, 0);
}

/* Without memory for it what a library keeps beside it may be left. */
static void file_name(struct own_file *m, void *data)
{
    if (names_put(data, m->name, 0) < 0) err_clear();
}

/* Once asked to stop, while the work waits: what was made while the handler ran, what the library left,
 * and what others of the job made, which may have died. */
static void sweep_on_stop(void *arg)
{
    struct own *o = arg;
    struct names data = {0};
    if (!stop_requested()) return;
    if (!o->keep) own_files_each(&o->made, file_name, &data);
    own_remove_pointers(o->dir_fd, &data);
    names_free(&data);
    on_stop();
    own_sweep_but(o->dir_fd, o->dir, o->job, o->key);
}

int own_watch(struct own *o)
{
    removable = o;
    o->watched = true;
    stop_hook(on_stop);
    return stop_watch_begin(sweep_on_stop, o, true);
}

void own_end(struct own *o)
{
    char path[PATH_MAX + NAME_MAX + 2];
    if (!o) return;
    if (o->watched) {
        stop_watch_end();
        stop_hook(NULL);
        removable = NULL;
    }
    remove_made(o);
    /* Another run may have made a new lock since this one's name was taken away. */
    if (atomic_load(&o->unlocked) && o->lock_fd >= 0) {
        close(o->lock_fd);
        o->lock_fd = -1;
    }
    snprintf(path, sizeof path, "%s%s", o->shown, o->lock);
    lock_release(path, &o->lock_fd);
    if (o->note_fd >= 0 && !o->left) unlinkat(o->dir_fd, o->note, 0);
    close_all(o);
}
