/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own_all.h"
#include "base/par.h"
#include "base/watch.h"
#include "companions/beffio/data.h"

#define PROBE_BYTES (INT64_C(4) << 20)
#define PROBE_S     0.3

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

void beffio_files_end(struct beffio_files *f)
{
    own_end(f->own);
    f->own = NULL;
}

/* --- what is there before ------------------------------------------------------------------- */

static int dir_check(const struct beffio_files *f)
{
    struct stat st;
    if (strchr(f->prefix, ':') || strchr(f->dir, ':'))
        return err_set(ERR_USAGE,
                       "'%s/%s' has a ':', which MPI-IO libraries take for a file "
                       "system's name: choose another -p or -f",
                       f->dir, f->prefix);
    if (stat(f->dir, &st) != 0)
        return err_set_errno(ERR_IO, errno, "cannot use the directory %s: make it or change -p",
                             f->dir);
    if (!S_ISDIR(st.st_mode)) return err_set(ERR_IO, "%s is not a directory: change -p", f->dir);
    if (access(f->dir, R_OK | W_OK | X_OK) == 0) return 0;
    return err_set_errno(ERR_IO, errno, "cannot write into the directory %s: change -p", f->dir);
}

/* Whether a file was written by this program: it is empty or begins as ours do. */
static bool is_ours(const char *path, int rank, enum beffio_type type)
{
    uint64_t word[2];
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ours && st.st_size > 0)
        ours = pread(fd, word, sizeof word, 0) == (ssize_t)sizeof word &&
               beffio_is_ours(word, rank, beffio_type_first(type));
    close(fd);
    return ours;
}

/* Existing files with the names of this rank's files must be ones that this program has made. */
static int old_check(const struct beffio_files *f)
{
    char path[BEFFIO_PATH_MAX];
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            struct stat st = {.st_mode = 0};
            if (!is_mine(f, p, t)) continue;
            beffio_files_path(f, p, (enum beffio_type)t, f->rank, path);
            if (lstat(path, &st) != 0 && errno == ENOENT) continue;
            if (f->force && S_ISREG(st.st_mode)) continue;
            if (is_ours(path, f->rank, (enum beffio_type)t)) continue;
            return err_set(ERR_USAGE,
                           "%s exists and was not written by this program: choose another -f or "
                           "-p, remove it, or, for a regular file, give --force to overwrite it",
                           path);
        }
    return 0;
}

int beffio_files_begin(struct beffio_files *f, MPI_Comm comm)
{
    char lock[BEFFIO_NAME_MAX], why[ERR_MESSAGE_MAX];
    const int how = (f->keep ? OWN_KEEP : 0) | (f->untouched ? OWN_NO_SWEEP : 0);
    f->own = NULL;
    TRY(par_agree(comm, dir_check(f)));
    snprintf(lock, sizeof lock, "%s.lock", f->prefix);
    const int rc = own_begin_all(&f->own, comm, f->dir, lock, how);
    if (rc == 0) return par_agree(comm, old_check(f));
    snprintf(why, sizeof why, "%s", err_message());
    err_clear();
    return err_set(rc, "%s (-f and -p name the files)", why);
}

static int old_remove(const struct beffio_files *f)
{
    char path[BEFFIO_PATH_MAX];
    for (int p = 0; p < f->partitions_n; p++)
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            if (!is_mine(f, p, t)) continue;
            beffio_files_path(f, p, (enum beffio_type)t, f->rank, path);
            if (unlink(path) != 0 && errno != ENOENT)
                return err_set_errno(ERR_IO, errno, "cannot remove %s", path);
        }
    return 0;
}

int beffio_files_clear(const struct beffio_files *f, MPI_Comm comm)
{
    return par_agree(comm, old_remove(f));
}

/* --- making and removing -------------------------------------------------------------------- */

int beffio_files_make(struct beffio_files *f, MPI_Comm comm, int partition, enum beffio_type type,
                      double *s)
{
    char name[BEFFIO_NAME_MAX], path[BEFFIO_PATH_MAX];
    int rc = 0;
    TRY_MPI(MPI_Barrier(comm));
    const double begun = watch_now();
    if (is_mine(f, partition, (int)type)) {
        name_of(f, partition, f->procs[partition], type, f->rank, name);
        rc = own_make(f->own, name);
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
    char name[BEFFIO_NAME_MAX];
    *s = 0;
    if (f->keep) return 0;
    name_of(f, partition, f->procs[partition], type, f->rank, name);
    TRY_MPI(MPI_Barrier(comm));
    const double begun = watch_now();
    const int rc = own_remove(f->own, name);
    TRY_MPI(MPI_Barrier(comm));
    *s = watch_now() - begun;
    return par_agree(comm, rc);
}

/* --- probing -------------------------------------------------------------------------------- */

/* A file without a name, or, where there is no such thing, one of this run. Returns its descriptor. */
static int probe_open(const struct beffio_files *f, char name[BEFFIO_NAME_MAX])
{
    char path[BEFFIO_PATH_MAX];
    const int nameless = open(f->dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    name[0] = '\0';
    if (nameless >= 0) return nameless;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
        return err_set_errno(ERR_IO, errno, "cannot make a file in %s", f->dir);
    snprintf(name, BEFFIO_NAME_MAX, "%s_probe.%03d", f->prefix, f->rank);
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    TRY(own_make(f->own, name));
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 ? fd : err_set_errno(ERR_IO, errno, "cannot open %s", path);
}

int beffio_files_probe(const struct beffio_files *f, int64_t *bytes, double *rate)
{
    char name[BEFFIO_NAME_MAX];
    *rate = 0;
    const int fd = probe_open(f, name);
    if (fd < 0) return fd;
    char *block = malloc(PROBE_BYTES);
    if (!block) {
        close(fd);
        return mem_error("a probe of %s", f->dir);
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
    return name[0] ? own_remove(f->own, name) : 0;
}
