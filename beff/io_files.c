/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/io_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "beff/io_data.h"
#include "base/lock.h"

#define PROBE_BYTES (INT64_C(4) << 20)
#define PROBE_S     0.3

void beffio_files_path(const struct beffio_files *f, int partition, enum beffio_type type, int rank,
                       char *out)
{
    char end[16] = "";
    if (type == BEFFIO_SEPARATE) snprintf(end, sizeof end, ".%03d", rank);
    snprintf(out, BEFFIO_PATH_MAX, "%s/%s_data_i%02d_%03d_%d%s", f->dir, f->prefix, partition,
             f->procs[partition], (int)type, end);
}

/* Whether this rank makes and removes a file of the type in the partition. */
static bool is_mine(const struct beffio_files *f, int partition, int type)
{
    return f->rank == 0 || (type == BEFFIO_SEPARATE && f->rank < f->procs[partition]);
}

/* --- removing ----------------------------------------------------------------------------- */

static void remove_all(struct beffio_files *f)
{
    char path[BEFFIO_PATH_MAX];
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            if (!atomic_exchange(&f->made[p][t], false)) continue;
            beffio_files_path(f, p, (enum beffio_type)t, f->rank, path);
            unlink(path);
        }
}

/* A launcher gives its processes about a second between asking them to end and ending them, and a
 * call that flushes gigabytes takes longer. So a thread waits for the request and takes the names
 * away while the calls go on; the space is free when the process is gone. */
static void *watch(void *arg)
{
    struct beffio_files *f = arg;
    const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
    while (!atomic_load(&f->ended)) {
        if (stop_requested()) {
            remove_all(f);
            if (f->rank == 0 && !atomic_exchange(&f->unlocked, true)) unlink(f->lock);
        }
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static int watch_begin(struct beffio_files *f)
{
    if (f->keep) return 0;
    const int errnum = pthread_create(&f->watcher, NULL, watch, f);
    f->watching = errnum == 0;
    return errnum == 0 ? 0 : err_set_errno(ERR_NOMEM, errnum, "cannot start a thread");
}

static int remove_one(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return err_set_errno(ERR_IO, errno, "cannot remove %s", path);
}

int beffio_files_remove(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type,
                        double *s)
{
    char path[BEFFIO_PATH_MAX];
    *s = 0;
    if (f->keep) return 0;
    TRY_MPI(MPI_Barrier(comm));
    const double begun = watch_now();
    int rc = 0;
    if (is_mine(f, partition, type) && atomic_exchange(&f->made[partition][type], false)) {
        beffio_files_path(f, partition, type, f->rank, path);
        rc = remove_one(path);
    }
    TRY_MPI(MPI_Barrier(comm));
    *s = watch_now() - begun;
    return par_agree(comm, rc);
}

void beffio_files_end(struct beffio_files *f)
{
    if (f->watching) {
        atomic_store(&f->ended, true);
        pthread_join(f->watcher, NULL);
        f->watching = false;
    }
    if (!f->keep) remove_all(f);
    if (atomic_load(&f->unlocked) && f->lock_fd >= 0) {
        close(f->lock_fd);
        f->lock_fd = -1;
    }
    lock_release(f->lock, &f->lock_fd);
}

/* --- what is there before ------------------------------------------------------------------- */

static int check_text(const struct beffio_files *f)
{
    if (!f->prefix[0] || strchr(f->prefix, '/'))
        return err_set(ERR_USAGE, "-f '%s': a name without '/' is expected", f->prefix);
    if (strchr(f->prefix, ':') || strchr(f->dir, ':'))
        return err_set(ERR_USAGE,
                       "'%s/%s' has a ':', which MPI-IO libraries take for a file "
                       "system's name: choose another -p or -f",
                       f->dir, f->prefix);
    if (strlen(f->dir) + strlen(f->prefix) > BEFFIO_PATH_MAX - 64)
        return err_set(ERR_USAGE, "the names given with -p and -f are too long");
    return 0;
}

static int check_dir(const struct beffio_files *f)
{
    struct stat st;
    if (stat(f->dir, &st) != 0)
        return err_set_errno(ERR_IO, errno, "cannot use the directory %s: make it or change -p",
                             f->dir);
    if (!S_ISDIR(st.st_mode)) return err_set(ERR_IO, "%s is not a directory: change -p", f->dir);
    if (access(f->dir, R_OK | W_OK | X_OK) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot write into the directory %s: change -p", f->dir);
}

/* An empty file, or one that begins as ours do. */
static bool is_ours(const char *path, int rank, int pattern)
{
    uint64_t word[2];
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ours && st.st_size > 0)
        ours = pread(fd, word, sizeof word, 0) == (ssize_t)sizeof word &&
               beffio_is_ours(word, rank, pattern);
    close(fd);
    return ours;
}

static int check_old(const struct beffio_files *f, int partition, int type)
{
    char path[BEFFIO_PATH_MAX];
    struct stat st = {.st_mode = 0};
    beffio_files_path(f, partition, (enum beffio_type)type, f->rank, path);
    if (lstat(path, &st) != 0 && errno == ENOENT) return 0;
    if (f->force && S_ISREG(st.st_mode)) return 0;
    const int rank = type == BEFFIO_SEPARATE ? f->rank : 0;
    if (is_ours(path, rank, beffio_type_first((enum beffio_type)type))) return 0;
    return err_set(ERR_USAGE,
                   "%s exists and was not written by this program: choose another -f or -p, remove "
                   "it, or, for a regular file, give --force to overwrite it",
                   path);
}

static int check_all_old(const struct beffio_files *f)
{
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++)
            if (is_mine(f, p, t)) TRY(check_old(f, p, t));
    return 0;
}

static int lock(struct beffio_files *f)
{
    if (f->rank != 0) return 0;
    const int rc = lock_take(f->lock, &f->lock_fd);
    if (rc == 0) return 0;
    err_clear();
    return err_set(rc,
                   "%s cannot be locked: another run uses these names, or the file is not a "
                   "lock of this program: wait, or choose another -f or -p",
                   f->lock);
}

int beffio_files_begin(struct beffio_files *f, MPI_Comm comm)
{
    f->lock_fd = -1;
    f->watching = false;
    atomic_init(&f->ended, false);
    atomic_init(&f->unlocked, false);
    for (int p = 0; p < BEFFIO_PARTITIONS_MAX; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++)
            atomic_init(&f->made[p][t], false);
    TRY(par_agree(comm, check_text(f)));
    snprintf(f->lock, sizeof f->lock, "%s/%s.lock", f->dir, f->prefix);
    TRY(par_agree(comm, check_dir(f)));
    TRY(par_agree(comm, lock(f)));
    TRY(par_agree(comm, check_all_old(f)));
    return par_agree(comm, watch_begin(f));
}

/* --- making --------------------------------------------------------------------------------- */

static int make_one(struct beffio_files *f, int partition, enum beffio_type type)
{
    char path[BEFFIO_PATH_MAX];
    beffio_files_path(f, partition, type, f->rank, path);
    TRY(remove_one(path));
    if (stop_requested()) return err_set(ERR_INTERRUPT, "interrupted");
    atomic_store(&f->made[partition][type], true);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot make %s", path);
    if (close(fd) != 0) return err_set_errno(ERR_IO, errno, "closing %s", path);
    return 0;
}

static int can_open(const struct beffio_files *f, int partition, enum beffio_type type)
{
    char path[BEFFIO_PATH_MAX];
    beffio_files_path(f, partition, type, f->rank, path);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(ERR_IO, errno,
                             "cannot open %s: -p must name a directory that all nodes share", path);
    close(fd);
    return 0;
}

int beffio_files_make(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type)
{
    TRY(par_agree(comm, is_mine(f, partition, type) ? make_one(f, partition, type) : 0));
    return par_agree(comm, can_open(f, partition, type));
}

/* --- probing -------------------------------------------------------------------------------- */

static int probe_write(int fd, const char *path, int64_t most_bytes, double *rate)
{
    char *block = malloc(PROBE_BYTES);
    if (!block) return err_set(ERR_NOMEM, "no memory for a probe of %s", path);
    memset(block, 0x5a, PROBE_BYTES);
    const double begun = watch_now();
    int64_t done = 0;
    while (done + PROBE_BYTES <= most_bytes && watch_now() - begun < PROBE_S) {
        const ssize_t n = write(fd, block, PROBE_BYTES);
        if (n <= 0) break;
        done += n;
    }
    const bool flushed = fdatasync(fd) == 0;
    *rate = flushed ? (double)done / (watch_now() - begun) : 0;
    free(block);
    return 0;
}

int beffio_files_probe(const struct beffio_files *f, int64_t most_bytes, double *rate)
{
    char path[BEFFIO_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s_probe.%03d", f->dir, f->prefix, f->rank);
    *rate = 0;
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot make %s", path);
    unlink(path); /* gone when closed, whatever happens meanwhile */
    const int rc = probe_write(fd, path, most_bytes, rate);
    close(fd);
    return rc;
}
