/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/err.h"
#include "base/num.h"
#include "base/own_all.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/units.h"
#include "io/target/place.h"
#include "io/target/target.h"

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

int workload_files_gone(const char *path, int rc)
{
    struct stat st;
    if (rc != ERR_IO || !stop_requested() || lstat(path, &st) == 0) return rc;
    err_clear();
    return err_set(ERR_INTERRUPT, "interrupted");
}

static int name_check(const struct workload_files *f)
{
    if (strlen(f->name) > WORKLOAD_PATH_MAX - 64)
        return err_set(ERR_USAGE, "the path given with --out is too long");
    if (strchr(f->name, ':'))
        return err_set(ERR_USAGE,
                       "--out %s has a ':', which MPI-IO libraries take for a file system's name",
                       f->name);
    return 0;
}

int workload_files_begin(struct workload_files *f, MPI_Comm comm)
{
    char dir[PATH_MAX], lock[WORKLOAD_PATH_MAX];
    f->own = NULL;
    TRY(par_agree(comm, name_check(f)));
    snprintf(lock, sizeof lock, "%.4000s.lock", own_split(f->name, dir));
    return own_begin_all(&f->own, comm, dir, lock, f->keep ? OWN_KEEP : 0);
}

int workload_files_look(const struct workload_files *f, const struct nodes *n)
{
    char dir[PATH_MAX];
    int rc = name_check(f);
    own_split(f->name, dir);
    if (rc == 0 && f->rank == 0) own_sweep(dir, 0);
    if (rc == 0 && access(dir, W_OK | X_OK) != 0)
        rc = err_set_errno(ERR_IO, errno, "cannot make files in %s", dir);
    return par_agree(n->comm, rc);
}

void workload_files_end(struct workload_files *f)
{
    own_end(f->own);
    f->own = NULL;
}

bool workload_files_made(const struct workload_files *f, int index)
{
    char path[WORKLOAD_PATH_MAX];
    workload_files_path(f, index, path);
    return own_has(f->own, io_path_base(path));
}

/* --- making --------------------------------------------------------------------------------- */

/* All space is taken before the clock starts, so that a disk that fills up is found out here: some
 * MPI-IO libraries end the program when they meet it. */
static int take_place(struct workload_files *f, const char *path, const char *stem, int64_t bytes)
{
    struct io_place place;
    int rc = io_place_prove(&place, path, stem, bytes, false, NULL);
    /* Old blocks that are used again are the old file's until they are taken. */
    const bool second = place.second != NULL;
    const struct identity id = place.id;
    if (rc == 0 && second) rc = own_expect(f->own, io_path_base(path), id);
    if (rc == 0) rc = io_place_take(&place);
    if (rc == 0 && !second) rc = own_expect(f->own, io_path_base(path), id);
    if (rc == 0) return workload_files_gone(path, own_adopt(f->own, io_path_base(path), id));
    io_place_undo(&place);
    return rc;
}

/* Whether nothing lies at the path that has to stay. */
static int may_replace(const struct workload_files *f, const char *path)
{
    struct stat st, read;
    const bool there = lstat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return err_set(ERR_USAGE, "%s is not a regular file: choose another --out", path);
    if (there && !f->force)
        return err_set(ERR_USAGE, "%s exists: choose another --out, or --force to write over it",
                       path);
    if (there && stat(f->description, &read) == 0 && read.st_dev == st.st_dev &&
        read.st_ino == st.st_ino)
        return err_set(ERR_USAGE, "%s is what this run was read from: choose another --out", path);
    return 0;
}

static int make_here(struct workload_files *f, int index, int64_t bytes)
{
    char path[WORKLOAD_PATH_MAX], stem[WORKLOAD_PATH_MAX + 8];
    workload_files_path(f, index, path);
    snprintf(stem, sizeof stem, "%s.nht1", path);
    TRY(own_remove(f->own, io_path_base(path)));
    TRY(may_replace(f, path));
    int rc = own_temps(f->own, io_path_base(stem));
    if (rc == 0) rc = take_place(f, path, stem, bytes);
    own_temps_end(f->own);
    return rc;
}

struct file_request {
    struct workload_files *f;
    int index;
    int64_t bytes;
};

static int make_mine(void *arg)
{
    const struct file_request *m = arg;
    return make_here(m->f, m->index, m->bytes);
}

/* Opens a file that rank 0 may have made. */
static int open_made(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd >= 0) return 0;
    return workload_files_gone(
        path,
        err_set_errno(ERR_IO, errno, "cannot open %s: all nodes must share the directory", path));
}

static int can_open(const struct workload_files *f, int index)
{
    char path[WORKLOAD_PATH_MAX];
    int fd;
    workload_files_path(f, index, path);
    TRY(open_made(path, &fd));
    close(fd);
    return 0;
}

int workload_files_make(struct workload_files *f, MPI_Comm comm, int index, int64_t bytes)
{
    struct file_request mine = {f, index, bytes};
    int rc = 0;
    if (f->separate)
        rc = par_in_turn(comm, make_mine, &mine);
    else if (f->rank == 0)
        rc = make_here(f, index, bytes);
    rc = par_agree(comm, rc);
    return rc < 0 ? rc : par_agree(comm, can_open(f, index));
}

int workload_files_names(const struct workload_files *f, MPI_Comm comm, int files_n,
                         const int64_t bytes[])
{
    char path[WORKLOAD_PATH_MAX];
    int rc = 0;
    for (int i = 0; i < files_n; i++) {
        int64_t longest = bytes[i];
        TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT64_T, MPI_MAX, comm));
        if (longest == 0 || rc < 0 || (f->rank > 0 && !f->separate)) continue;
        workload_files_path(f, i, path);
        rc = may_replace(f, path);
    }
    return par_agree(comm, rc);
}

/* Of files in memory, which have to fit there together with what the processes need. */
static int memory_check(const struct workload_files *f, double files, double processes)
{
    char need[2][UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    struct sys_memory memory;
    sys_memory(&memory);
    if (files + processes <= (double)memory.free_bytes) return 0;
    return err_set(ERR_IO,
                   "%s: the file system is in memory, where files of %s and the processes of this "
                   "node, %s, have %s: lower data or --buffer, or choose another --out",
                   f->name, units_bytes(files, need[0]), units_bytes(processes, need[1]),
                   units_bytes((double)memory.free_bytes, has));
}

int workload_files_room(const struct workload_files *f, const struct nodes *n, int files_n,
                        const int64_t bytes[], double memory)
{
    char path[WORKLOAD_PATH_MAX];
    int64_t lacks = 0;
    int rc = 0;
    for (int i = 0; rc == 0 && i < files_n && (f->rank == 0 || f->separate); i++) {
        workload_files_path(f, i, path);
        rc = io_place_lacks(path, bytes[i], &lacks);
    }
    TRY(par_agree(n->comm, rc));
    double all = (double)lacks;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, n->node));
    rc = n->node_rank == 0 ? io_place_free(f->name, num_round(all)) : 0;
    if (rc == 0 && all > 0 && memory > 0) rc = memory_check(f, all, memory);
    return par_agree(n->comm, rc);
}

/* --- content and cache ---------------------------------------------------------------------- */

static int write_range(const char *path, int64_t from, int64_t to, const struct workload_data *data)
{
    int fd, rc = 0;
    TRY(open_made(path, &fd));
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
        if (n->node_rank == 0 || f->separate) rc = workload_files_gone(path, resident_drop(path));
        rc = par_agree(n->comm, rc);
        if (rc < 0) return rc;
    }
    return 0;
}

int workload_files_cached(const struct workload_files *f, const struct nodes *n, int index,
                          double *share, double *dirty)
{
    char path[WORKLOAD_PATH_MAX];
    struct cache c;
    path_of(f, 0, index, path);
    TRY(cache_ask(n, path, false, false, &c));
    const bool known = c.known && c.file_bytes > 0;
    *share = known ? (double)c.cached_bytes / (double)c.file_bytes : -1;
    if (dirty)
        *dirty = known && c.dirty_bytes >= 0 ? (double)c.dirty_bytes / (double)c.file_bytes : -1;
    return 0;
}
