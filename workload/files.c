/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/stop.h"
#include "base/units.h"

static void path_of(const struct workload_files *f, int rank, int index,
                    char out[WORKLOAD_PATH_MAX])
{
    char number[16] = "", own[16] = "";
    if (index > 0) snprintf(number, sizeof number, ".%d", index);
    if (f->separate) snprintf(own, sizeof own, ".%05d", rank);
    snprintf(out, WORKLOAD_PATH_MAX, "%s%s%s", f->name, number, own);
}

void workload_files_path(const struct workload_files *f, int index, char out[WORKLOAD_PATH_MAX])
{
    path_of(f, f->rank, index, out);
}

/* Removes a file that was made, if it is still the one of this name. */
static void remove_made(struct workload_files *f, int index)
{
    char path[WORKLOAD_PATH_MAX];
    struct stat st;
    if (!atomic_exchange(&f->made[index], false)) return;
    workload_files_path(f, index, path);
    if (lstat(path, &st) == 0 && st.st_dev == f->id[index].device &&
        st.st_ino == f->id[index].inode)
        unlink(path);
}

/* From here on a file is one that this run has made. */
static int remember(struct workload_files *f, int index, int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return err_set_errno(ERR_IO, errno, "fstat %s", path);
    atomic_store(&f->made[index], false);
    f->id[index] = (struct workload_file_id){st.st_dev, st.st_ino};
    atomic_store(&f->made[index], true);
    return 0;
}

static void remove_all(struct workload_files *f)
{
    for (int i = 0; i < WORKLOAD_FILES_MAX; i++)
        remove_made(f, i);
}

/* Removes the lock file of a rank 0 that has died: nobody holds it. */
static void remove_left_lock(const struct workload_files *f)
{
    const int fd = open(f->lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    struct stat st;
    const bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
    if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(f->lock);
    close(fd);
}

/* Once the job is asked to stop, while a call goes on. All ranks take the names away, for the request
 * may be there because rank 0 has died. */
static void clean(void *arg)
{
    struct workload_files *f = arg;
    if (!stop_requested()) return;
    if (!f->keep) remove_all(f);
    if (f->rank > 0) remove_left_lock(f);
    if (f->lock_fd >= 0 && !atomic_exchange(&f->unlocked, true)) unlink(f->lock);
}

static int begin_here(struct workload_files *f)
{
    const char *slash = strrchr(f->name, '/'), *base = slash ? slash + 1 : f->name;
    if (!base[0] || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return err_set(ERR_USAGE, "--out %s is a directory: name a file in it", f->name);
    if (strlen(f->name) > WORKLOAD_PATH_MAX - 64)
        return err_set(ERR_USAGE, "the path given with --out is too long");
    if (strchr(f->name, ':'))
        return err_set(ERR_USAGE,
                       "--out %s has a ':', which MPI-IO libraries take for a file system's name",
                       f->name);
    snprintf(f->lock, sizeof f->lock, "%s.lock", f->name);
    if (f->rank == 0) TRY(lock_take(f->lock, &f->lock_fd));
    return stop_watch_begin(clean, f, false);
}

int workload_files_begin(struct workload_files *f, MPI_Comm comm)
{
    f->lock_fd = -1;
    atomic_init(&f->unlocked, false);
    for (int i = 0; i < WORKLOAD_FILES_MAX; i++)
        atomic_init(&f->made[i], false);
    return par_agree(comm, begin_here(f));
}

void workload_files_end(struct workload_files *f)
{
    stop_watch_end();
    /* Another rank than 0 removes what is rank 0's only where a launcher ends them all. */
    if (!f->keep && (f->rank == 0 || f->separate || stop_requested())) remove_all(f);
    if (f->lock_fd >= 0) lock_release(f->lock, &f->lock_fd);
}

/* --- making --------------------------------------------------------------------------------- */

/* All space is taken before the clock starts, so that a disk that fills up is found out here: some
 * MPI-IO libraries end the program when they meet it. */
static int make_here(struct workload_files *f, int index, int64_t bytes)
{
    char path[WORKLOAD_PATH_MAX], need[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX] = "?";
    struct stat st;
    struct statvfs fs;
    workload_files_path(f, index, path);
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(ERR_USAGE, "%s is not a regular file: choose another --out", path);
    remove_made(f, index);
    if (f->force && unlink(path) != 0 && errno != ENOENT)
        return err_set_errno(ERR_IO, errno, "cannot remove %s", path);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 && errno == EEXIST)
        return err_set(ERR_USAGE, "%s exists: choose another --out, or --force to write over it",
                       path);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot make %s: choose another --out", path);
    const int rc = remember(f, index, fd, path);
    int errnum = bytes > 0 ? posix_fallocate(fd, 0, (off_t)bytes) : 0;
    if (errnum == EOPNOTSUPP || errnum == EINVAL)
        errnum = ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
    close(fd);
    if (errnum == 0) return rc;
    if (statvfs(path, &fs) == 0) units_bytes((double)fs.f_bavail * (double)fs.f_frsize, room);
    return err_set_errno(
        ERR_IO, errnum,
        "%s: no room for %s, %s are free: free space, choose another --out, or ask for less data",
        path, units_bytes((double)bytes, need), room);
}

static int can_open(struct workload_files *f, int index)
{
    char path[WORKLOAD_PATH_MAX];
    workload_files_path(f, index, path);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(ERR_IO, errno, "cannot open %s: all nodes must share the directory",
                             path);
    const int rc = remember(f, index, fd, path);
    close(fd);
    return rc;
}

int workload_files_make(struct workload_files *f, MPI_Comm comm, int index, int64_t bytes)
{
    const bool mine = f->rank == 0 || f->separate;
    const int rc = par_agree(comm, mine ? make_here(f, index, bytes) : 0);
    return rc < 0 ? rc : par_agree(comm, can_open(f, index));
}

/* --- content and cache ---------------------------------------------------------------------- */

static int write_range(const char *path, int64_t from, int64_t to, const struct workload_data *data)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot open %s", path);
    int rc = 0;
    while (rc == 0 && from < to) {
        const int64_t n = to - from < data->longest_bytes ? to - from : data->longest_bytes;
        const ssize_t done = pwrite(fd, workload_data_at(data, from), (size_t)n, (off_t)from);
        if (done <= 0 && errno != EINTR)
            rc = err_set_errno(ERR_IO, done < 0 ? errno : ENOSPC, "writing to %s", path);
        if (done > 0) from += done;
        if (stop_requested()) rc = err_set(ERR_INTERRUPT, "interrupted");
    }
    if (rc == 0 && fdatasync(fd) != 0) rc = err_set_errno(ERR_IO, errno, "flushing %s", path);
    if (close(fd) != 0 && rc == 0) rc = err_set_errno(ERR_IO, errno, "closing %s", path);
    return rc;
}

int workload_files_lay_out(const struct workload_files *f, MPI_Comm comm, int index, int64_t from,
                           int64_t to, const struct workload_data *data)
{
    char path[WORKLOAD_PATH_MAX];
    int rank = 0, size = 1;
    workload_files_path(f, index, path);
    if (!f->separate) {
        TRY_MPI(MPI_Comm_rank(comm, &rank));
        TRY_MPI(MPI_Comm_size(comm, &size));
    }
    const int64_t begin = from + (int64_t)((__int128)(to - from) * rank / size);
    const int64_t end = from + (int64_t)((__int128)(to - from) * (rank + 1) / size);
    return par_agree(comm, begin < end ? write_range(path, begin, end, data) : 0);
}

int workload_files_drop(const struct workload_files *f, const struct nodes *n, int index)
{
    char path[WORKLOAD_PATH_MAX];
    int rc = 0;
    workload_files_path(f, index, path);
    /* What another node wrote must be on the device before anybody's pages can go. */
    for (int turn = 0; turn < 2; turn++) {
        if (n->node_rank == 0 || f->separate) rc = resident_drop(path);
        rc = par_agree(n->comm, rc);
        if (rc < 0) return rc;
    }
    return 0;
}

int workload_files_cached(const struct workload_files *f, const struct nodes *n, int index,
                          double *share)
{
    char path[WORKLOAD_PATH_MAX];
    struct cache c;
    path_of(f, 0, index, path);
    TRY(cache_ask(n, path, false, &c));
    *share = c.known && c.file_bytes > 0 ? (double)c.cached_bytes / (double)c.file_bytes : -1;
    return 0;
}
