/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beffio/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "beffio/data.h"

#define PROBE_BYTES (INT64_C(4) << 20)
#define PROBE_S     0.3
#define NOTE_HEAD   "nht1-beffio: a run that removes its files\n"

/* The data file of a rank in a partition of so many processes. */
static void name_of(const struct beffio_files *f, int partition, int procs, enum beffio_type type,
                    int rank, char out[BEFFIO_NAME_MAX])
{
    char end[16] = "";
    if (type == BEFFIO_SEPARATE) snprintf(end, sizeof end, ".%03d", rank);
    snprintf(out, BEFFIO_NAME_MAX, "%s_data_i%02d_%03d_%d%s", f->prefix, partition, procs,
             (int)type, end);
}

void beffio_files_path(const struct beffio_files *f, int partition, enum beffio_type type, int rank,
                       char *out)
{
    char name[BEFFIO_NAME_MAX];
    name_of(f, partition, f->procs[partition], type, rank, name);
    snprintf(out, BEFFIO_PATH_MAX, "%s/%s", f->dir, name);
}

/* Whether this rank makes and removes a file of the type in the partition. */
static bool is_mine(const struct beffio_files *f, int partition, int type)
{
    return f->rank == 0 || (type == BEFFIO_SEPARATE && f->rank < f->procs[partition]);
}

/* --- made and removed ----------------------------------------------------------------------- */

/* Makes a file that is not there. A signal that came meanwhile has found nothing to remove. */
static int made_open(struct beffio_files *f, struct beffio_made *m)
{
    m->fd = openat(f->dir_fd, m->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (m->fd < 0) return err_set_errno(ERR_IO, errno, "cannot make %s/%s", f->dir, m->name);
    atomic_store(&m->there, true);
    return 0;
}

/* Takes the name away, unless somebody put another file there; also from the handler of a signal.
 * Returns 0 or an errno value. */
static int made_unlink(const struct beffio_files *f, struct beffio_made *m)
{
    struct stat mine, there;
    if (!atomic_exchange(&m->there, false)) return 0;
    if (fstat(m->fd, &mine) == 0 && fstatat(f->dir_fd, m->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        (mine.st_ino != there.st_ino || mine.st_dev != there.st_dev))
        return 0;
    return unlinkat(f->dir_fd, m->name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

static void made_close(struct beffio_made *m)
{
    if (m->fd >= 0) close(m->fd);
    m->fd = -1;
}

static void remove_made(struct beffio_files *f)
{
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++)
            (void)made_unlink(f, &f->made[p][t]);
    (void)made_unlink(f, &f->note);
}

/* --- being asked to stop -------------------------------------------------------------------- */

/* A handler can reach nothing but a file-scope variable. */
static struct beffio_files *removable;

static void on_stop(void)
{
    struct beffio_files *f = removable;
    if (!f) return;
    remove_made(f);
    if (f->lock_fd >= 0 && !atomic_exchange(&f->unlocked, true)) unlinkat(f->dir_fd, f->lock, 0);
}

/* ROMIO keeps its shared file pointer in a hidden file beside the data, which stays there when the
 * process is ended. */
static void remove_pointers(const struct beffio_files *f, const char *data)
{
    char begin[BEFFIO_NAME_MAX + 16];
    const int n = snprintf(begin, sizeof begin, ".%s.shfp.", data);
    const int fd = openat(f->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0) close(fd);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir));)
        if (strncmp(e->d_name, begin, (size_t)n) == 0) unlinkat(f->dir_fd, e->d_name, 0);
    closedir(dir);
}

/* Once asked to stop, while the work waits: what was made while the handler ran, and what the library
 * left. */
static void clean(void *arg)
{
    struct beffio_files *f = arg;
    if (!stop_requested()) return;
    on_stop();
    if (f->rank != 0 || f->pointers_removed) return;
    for (int p = 0; p < f->partitions_n; p++)
        if (f->made[p][BEFFIO_SHARED].name[0]) remove_pointers(f, f->made[p][BEFFIO_SHARED].name);
    f->pointers_removed = true;
}

void beffio_files_end(struct beffio_files *f)
{
    if (f->dir_fd < 0) return;
    if (!f->keep) remove_made(f);
    stop_watch_end();
    stop_hook(NULL);
    removable = NULL;
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++)
            made_close(&f->made[p][t]);
    made_close(&f->note);
    if (atomic_load(&f->unlocked) && f->lock_fd >= 0) { /* another run may have made a new one */
        close(f->lock_fd);
        f->lock_fd = -1;
    }
    char path[BEFFIO_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", f->dir, f->lock);
    lock_release(path, &f->lock_fd);
    close(f->dir_fd);
    f->dir_fd = -1;
}

/* --- what is there before ------------------------------------------------------------------- */

static int dir_open(struct beffio_files *f)
{
    if (strchr(f->prefix, ':') || strchr(f->dir, ':'))
        return err_set(ERR_USAGE,
                       "'%s/%s' has a ':', which MPI-IO libraries take for a file "
                       "system's name: choose another -p or -f",
                       f->dir, f->prefix);
    f->dir_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dir_fd < 0 && errno == ENOTDIR)
        return err_set(ERR_IO, "%s is not a directory: change -p", f->dir);
    if (f->dir_fd < 0)
        return err_set_errno(ERR_IO, errno, "cannot use the directory %s: make it or change -p",
                             f->dir);
    if (access(f->dir, R_OK | W_OK | X_OK) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot write into the directory %s: change -p", f->dir);
}

static int names_lock(struct beffio_files *f)
{
    char path[BEFFIO_PATH_MAX];
    if (f->rank != 0) return 0;
    snprintf(path, sizeof path, "%s/%s", f->dir, f->lock);
    const int rc = lock_take(path, &f->lock_fd);
    if (rc == 0) return 0;
    err_clear();
    return err_set(rc,
                   "%s cannot be locked: another run uses these names, or the file is not a "
                   "lock of this program: wait, or choose another -f or -p",
                   path);
}

/* Whether a file was written by this program: it is empty or begins as ours do. hole: also when
 * nothing was written to its beginning. */
static bool is_ours(const struct beffio_files *f, const char *name, int rank, enum beffio_type type,
                    bool hole)
{
    uint64_t word[2];
    struct stat st;
    const int fd = openat(f->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ours && st.st_size > 0)
        ours = pread(fd, word, sizeof word, 0) == (ssize_t)sizeof word &&
               (beffio_is_ours(word, rank, beffio_type_first(type)) ||
                (hole && (word[0] | word[1]) == 0));
    close(fd);
    return ours;
}

/* Partitions of the run that was ended before it could remove its files. */
struct leftovers {
    int n;
    int index[BEFFIO_PARTITIONS_MAX], procs[BEFFIO_PARTITIONS_MAX];
};

static int note_read(const struct beffio_files *f, struct leftovers *l)
{
    char text[1024] = "";
    struct stat st;
    *l = (struct leftovers){0};
    if (f->rank != 0) return 0;
    const int fd = openat(f->dir_fd, f->note.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return 0;
    const bool read_it = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                         read(fd, text, sizeof text - 1) >= 0;
    if (fd >= 0) close(fd);
    const size_t head = strlen(NOTE_HEAD);
    /* A process that is killed at once leaves it empty. */
    if (!read_it || (text[0] && strncmp(text, NOTE_HEAD, head) != 0))
        return err_set(ERR_USAGE,
                       "%s/%s is in the way: this program keeps a note of its files there: choose "
                       "another -f or -p, or remove it",
                       f->dir, f->note.name);
    for (char *at = text[0] ? text + head : text; at && *at && l->n < BEFFIO_PARTITIONS_MAX;) {
        if (sscanf(at, "%d %d", &l->index[l->n], &l->procs[l->n]) == 2 && l->index[l->n] >= 0 &&
            l->index[l->n] < BEFFIO_PARTITIONS_MAX && l->procs[l->n] > 0)
            l->n++;
        at = strchr(at, '\n');
        if (at) at++;
    }
    return 0;
}

/* Removes the files that a note names, its own process's files dealt out over ranks. */
static void leftovers_remove(const struct beffio_files *f, const struct leftovers *l, int size)
{
    char name[BEFFIO_NAME_MAX];
    for (int i = 0; i < l->n; i++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            const enum beffio_type type = (enum beffio_type)t;
            const int files = type == BEFFIO_SEPARATE ? l->procs[i] : 1;
            for (int r = f->rank; r < files; r += size) {
                name_of(f, l->index[i], l->procs[i], type, r, name);
                if (is_ours(f, name, r, type, true)) unlinkat(f->dir_fd, name, 0);
                if (type == BEFFIO_SHARED) remove_pointers(f, name);
            }
        }
    if (f->rank == 0) unlinkat(f->dir_fd, f->note.name, 0);
}

/* Files that lie where this rank will make its own have to be this program's. */
static int old_check(const struct beffio_files *f)
{
    char name[BEFFIO_NAME_MAX];
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            struct stat st = {.st_mode = 0};
            if (!is_mine(f, p, t)) continue;
            name_of(f, p, f->procs[p], (enum beffio_type)t, f->rank, name);
            if (fstatat(f->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
                continue;
            if (f->force && S_ISREG(st.st_mode)) continue;
            if (is_ours(f, name, f->rank, (enum beffio_type)t, false)) continue;
            return err_set(ERR_USAGE,
                           "%s/%s exists and was not written by this program: choose another -f or "
                           "-p, remove it, or, for a regular file, give --force to overwrite it",
                           f->dir, name);
        }
    return 0;
}

/* Before room is looked for: an old file's blocks are free for this run. */
static int old_remove(const struct beffio_files *f)
{
    char name[BEFFIO_NAME_MAX];
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            if (!is_mine(f, p, t)) continue;
            name_of(f, p, f->procs[p], (enum beffio_type)t, f->rank, name);
            if (unlinkat(f->dir_fd, name, 0) != 0 && errno != ENOENT)
                return err_set_errno(ERR_IO, errno, "cannot remove %s/%s", f->dir, name);
        }
    return 0;
}

static int note_write(struct beffio_files *f)
{
    char text[512] = NOTE_HEAD;
    if (f->rank != 0 || f->keep) return 0;
    for (int p = 0; p < f->partitions_n; p++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%02d %03d\n", p, f->procs[p]);
    }
    TRY(made_open(f, &f->note));
    const size_t bytes = strlen(text);
    if (write(f->note.fd, text, bytes) == (ssize_t)bytes) return 0;
    return err_set_errno(ERR_IO, errno, "cannot write %s/%s", f->dir, f->note.name);
}

int beffio_files_begin(struct beffio_files *f, MPI_Comm comm)
{
    struct leftovers left;
    int size;
    f->lock_fd = f->dir_fd = f->note.fd = -1;
    f->pointers_removed = false;
    atomic_init(&f->unlocked, false);
    atomic_init(&f->note.there, false);
    for (int p = 0; p < BEFFIO_PARTITIONS_MAX; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            f->made[p][t].fd = -1;
            f->made[p][t].name[0] = '\0';
            atomic_init(&f->made[p][t].there, false);
        }
    TRY_MPI(MPI_Comm_size(comm, &size));
    snprintf(f->lock, sizeof f->lock, "%s.lock", f->prefix);
    snprintf(f->note.name, sizeof f->note.name, "%s.run", f->prefix);
    TRY(par_agree(comm, dir_open(f)));
    TRY(par_agree(comm, names_lock(f)));
    TRY(par_agree(comm, note_read(f, &left)));
    if (!f->untouched) {
        TRY_MPI(MPI_Bcast(&left, (int)sizeof left, MPI_BYTE, 0, comm));
        leftovers_remove(f, &left, size);
        TRY_MPI(MPI_Barrier(comm));
    }
    TRY(par_agree(comm, old_check(f)));
    if (!f->untouched) {
        TRY(par_agree(comm, old_remove(f)));
        TRY(par_agree(comm, note_write(f)));
    }
    if (f->keep) return 0;
    removable = f;
    stop_hook(on_stop);
    return par_agree(comm, stop_watch_begin(clean, f, true));
}

/* --- making and removing -------------------------------------------------------------------- */

int beffio_files_make(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type,
                      double *s)
{
    struct beffio_made *m = &f->made[partition][type];
    char path[BEFFIO_PATH_MAX];
    int rc = 0;
    TRY_MPI(MPI_Barrier(comm));
    const double begun = watch_now();
    if (is_mine(f, partition, (int)type)) {
        name_of(f, partition, f->procs[partition], type, f->rank, m->name);
        rc = made_open(f, m);
        if (rc == 0 && stop_requested()) {
            (void)made_unlink(f, m); /* the signal may have come before it was there */
            rc = err_set(ERR_INTERRUPT, "interrupted");
        }
    }
    TRY_MPI(MPI_Barrier(comm));
    *s = watch_now() - begun;
    TRY(par_agree(comm, rc));
    /* Every rank can open its file: libraries do not return when opening fails on some only. */
    beffio_files_path(f, partition, type, f->rank, path);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        rc = err_set_errno(ERR_IO, errno,
                           "cannot open %s: -p must name a directory that all nodes share", path);
    else
        close(fd);
    return par_agree(comm, rc);
}

int beffio_files_remove(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type,
                        double *s)
{
    struct beffio_made *m = &f->made[partition][type];
    *s = 0;
    if (f->keep) return 0;
    TRY_MPI(MPI_Barrier(comm));
    const double begun = watch_now();
    const int errnum = made_unlink(f, m);
    made_close(m); /* gives the space back, and is what takes time */
    TRY_MPI(MPI_Barrier(comm));
    *s = watch_now() - begun;
    return par_agree(
        comm,
        errnum == 0 ? 0 : err_set_errno(ERR_IO, errnum, "cannot remove %s/%s", f->dir, m->name));
}

/* --- probing -------------------------------------------------------------------------------- */

/* A file without a name, or, where there is no such thing, one that loses its name at once. */
static int probe_open(const struct beffio_files *f)
{
    char name[BEFFIO_NAME_MAX];
    const int nameless = openat(f->dir_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (nameless >= 0) return nameless;
    snprintf(name, sizeof name, "%s_probe.%03d", f->prefix, f->rank);
    if (is_ours(f, name, 0, BEFFIO_SCATTER, false)) unlinkat(f->dir_fd, name, 0);
    const int fd = openat(f->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot make %s/%s", f->dir, name);
    unlinkat(f->dir_fd, name, 0);
    return fd;
}

int beffio_files_probe(const struct beffio_files *f, int64_t *bytes, double *rate)
{
    *rate = 0;
    const int fd = probe_open(f);
    if (fd < 0) return fd;
    char *block = malloc(PROBE_BYTES);
    if (!block) {
        close(fd);
        return err_set(ERR_NOMEM, "no memory for a probe of %s", f->dir);
    }
    memset(block, 0x5a, PROBE_BYTES);
    const double begun = watch_now();
    int64_t done = 0;
    while (done + PROBE_BYTES <= *bytes && watch_now() - begun < PROBE_S) {
        const ssize_t n = write(fd, block, PROBE_BYTES);
        if (n <= 0) break;
        done += n;
    }
    if (fdatasync(fd) == 0) *rate = (double)done / (watch_now() - begun);
    *bytes = done;
    free(block);
    close(fd);
    return 0;
}
