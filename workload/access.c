/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/access.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/err.h"
#include "base/par.h"
#include "io/guard.h"
#include "io/mpiio.h"

void workload_flight_begin(struct workload_flight *f, MPI_File file, const char *path, int depth)
{
    *f = (struct workload_flight){.file = file, .path = path, .depth = depth, .split = -1};
}

int workload_check(int mpi_rc, const char *call, const char *path)
{
    return io_mpiio_check(&(struct io_context){.path = path}, mpi_rc, call);
}

/* "MPI_File_write_at" */
static const char *function(int kind, char out[64])
{
    snprintf(out, 64, "MPI_File_%s", workload_kind_name(workload_kind_of(kind)));
    return out;
}

/* Some libraries return success and a count of zero on a full disk. */
static int check(const struct workload_flight *f, int kind, int mpi_rc, MPI_Status *status,
                 int64_t bytes)
{
    char call[64];
    MPI_Count done = 0;
    struct statvfs fs;
    TRY(workload_check(mpi_rc, function(kind, call), f->path));
    TRY_MPI(MPI_Get_elements_x(status, MPI_BYTE, &done));
    if (done == bytes) return 0;
    const bool full = workload_kind_of(kind).write && statvfs(f->path, &fs) == 0 &&
                      (int64_t)(fs.f_bavail * fs.f_frsize) < bytes;
    return err_set(ERR_IO, "%s on %s moved %" PRId64 " of %" PRId64 " bytes%s", call, f->path,
                   (int64_t)done, bytes, full ? ": the file system is full" : "");
}

static int end_split(struct workload_flight *f)
{
    const int kind = f->split;
    void *const b = f->split_buffer;
    MPI_Status st;
    int rc = MPI_SUCCESS;
    if (kind < 0) return 0;
    f->split = -1;
    const struct workload_kind k = workload_kind_of(kind);
    switch ((int)k.position * 2 + k.write) {
    case WORKLOAD_EXPLICIT * 2:
        rc = MPI_File_read_at_all_end(f->file, b, &st);
        break;
    case WORKLOAD_EXPLICIT * 2 + 1:
        rc = MPI_File_write_at_all_end(f->file, b, &st);
        break;
    case WORKLOAD_INDIVIDUAL * 2:
        rc = MPI_File_read_all_end(f->file, b, &st);
        break;
    case WORKLOAD_INDIVIDUAL * 2 + 1:
        rc = MPI_File_write_all_end(f->file, b, &st);
        break;
    case WORKLOAD_SHARED * 2:
        rc = MPI_File_read_ordered_end(f->file, b, &st);
        break;
    default:
        rc = MPI_File_write_ordered_end(f->file, b, &st);
        break;
    }
    return check(f, kind, rc, &st, f->split_bytes);
}

static int end_oldest(struct workload_flight *f)
{
    MPI_Status st;
    const int at = f->oldest;
    f->oldest = (f->oldest + 1) % f->depth;
    f->n--;
    return check(f, f->kind[at], MPI_Wait(&f->request[at], &st), &st, f->bytes[at]);
}

int workload_flight_end(struct workload_flight *f)
{
    int rc = end_split(f);
    while (f->n > 0) {
        const int one = end_oldest(f);
        if (rc == 0) rc = one;
    }
    io_guard_at(NULL);
    return rc;
}

/* The index of a kind, written as its four properties. */
#define KIND(position, collective, sync, write)                                                    \
    (((WORKLOAD_##position * 2 + (collective)) * 3 + WORKLOAD_##sync) * 2 + (write))

/* One call of MPI: all that exist. */
static int call(MPI_File f, const struct workload_transfer *t, int n, MPI_Datatype type,
                MPI_Request *r, MPI_Status *st)
{
    void *const b = t->buffer;
    const MPI_Offset at = t->offset;
    switch (t->kind) {
    case KIND(EXPLICIT, 0, BLOCKING, 0):
        return MPI_File_read_at(f, at, b, n, type, st);
    case KIND(EXPLICIT, 0, BLOCKING, 1):
        return MPI_File_write_at(f, at, b, n, type, st);
    case KIND(EXPLICIT, 0, REQUEST, 0):
        return MPI_File_iread_at(f, at, b, n, type, r);
    case KIND(EXPLICIT, 0, REQUEST, 1):
        return MPI_File_iwrite_at(f, at, b, n, type, r);
    case KIND(EXPLICIT, 1, BLOCKING, 0):
        return MPI_File_read_at_all(f, at, b, n, type, st);
    case KIND(EXPLICIT, 1, BLOCKING, 1):
        return MPI_File_write_at_all(f, at, b, n, type, st);
    case KIND(EXPLICIT, 1, REQUEST, 0):
        return MPI_File_iread_at_all(f, at, b, n, type, r);
    case KIND(EXPLICIT, 1, REQUEST, 1):
        return MPI_File_iwrite_at_all(f, at, b, n, type, r);
    case KIND(EXPLICIT, 1, SPLIT, 0):
        return MPI_File_read_at_all_begin(f, at, b, n, type);
    case KIND(EXPLICIT, 1, SPLIT, 1):
        return MPI_File_write_at_all_begin(f, at, b, n, type);
    case KIND(INDIVIDUAL, 0, BLOCKING, 0):
        return MPI_File_read(f, b, n, type, st);
    case KIND(INDIVIDUAL, 0, BLOCKING, 1):
        return MPI_File_write(f, b, n, type, st);
    case KIND(INDIVIDUAL, 0, REQUEST, 0):
        return MPI_File_iread(f, b, n, type, r);
    case KIND(INDIVIDUAL, 0, REQUEST, 1):
        return MPI_File_iwrite(f, b, n, type, r);
    case KIND(INDIVIDUAL, 1, BLOCKING, 0):
        return MPI_File_read_all(f, b, n, type, st);
    case KIND(INDIVIDUAL, 1, BLOCKING, 1):
        return MPI_File_write_all(f, b, n, type, st);
    case KIND(INDIVIDUAL, 1, REQUEST, 0):
        return MPI_File_iread_all(f, b, n, type, r);
    case KIND(INDIVIDUAL, 1, REQUEST, 1):
        return MPI_File_iwrite_all(f, b, n, type, r);
    case KIND(INDIVIDUAL, 1, SPLIT, 0):
        return MPI_File_read_all_begin(f, b, n, type);
    case KIND(INDIVIDUAL, 1, SPLIT, 1):
        return MPI_File_write_all_begin(f, b, n, type);
    case KIND(SHARED, 0, BLOCKING, 0):
        return MPI_File_read_shared(f, b, n, type, st);
    case KIND(SHARED, 0, BLOCKING, 1):
        return MPI_File_write_shared(f, b, n, type, st);
    case KIND(SHARED, 0, REQUEST, 0):
        return MPI_File_iread_shared(f, b, n, type, r);
    case KIND(SHARED, 0, REQUEST, 1):
        return MPI_File_iwrite_shared(f, b, n, type, r);
    case KIND(SHARED, 1, BLOCKING, 0):
        return MPI_File_read_ordered(f, b, n, type, st);
    case KIND(SHARED, 1, BLOCKING, 1):
        return MPI_File_write_ordered(f, b, n, type, st);
    case KIND(SHARED, 1, SPLIT, 0):
        return MPI_File_read_ordered_begin(f, b, n, type);
    case KIND(SHARED, 1, SPLIT, 1):
        return MPI_File_write_ordered_begin(f, b, n, type);
    default:
        return MPI_ERR_ARG;
    }
}

int workload_flight_call(struct workload_flight *f, const struct workload_transfer *t)
{
    const struct workload_kind k = workload_kind_of(t->kind);
    const int64_t whole = 0;
    MPI_Datatype type = t->type, made = MPI_DATATYPE_NULL;
    MPI_Status st;
    char name[64];
    int n = 1;
    io_guard_at("MPI-IO");
    /* Whatever has failed before, a collective call is made, so that no other process waits. */
    int before = end_split(f);
    if (k.sync == WORKLOAD_REQUEST && f->n == f->depth) {
        const int one = end_oldest(f);
        if (before == 0) before = one;
    }
    if (type == MPI_DATATYPE_NULL && t->bytes <= INT_MAX) {
        type = MPI_BYTE;
        n = (int)t->bytes;
    } else if (type == MPI_DATATYPE_NULL) {
        TRY(workload_type_pieces(1, &whole, &t->bytes, &made));
        type = made;
    }
    const int at = (f->oldest + f->n) % f->depth;
    const int rc = call(f->file, t, n, type, &f->request[at], &st);
    if (made != MPI_DATATYPE_NULL) MPI_Type_free(&made);
    if (k.sync == WORKLOAD_BLOCKING) {
        const int now = check(f, t->kind, rc, &st, t->bytes);
        return before < 0 ? before : now;
    }
    TRY(workload_check(rc, function(t->kind, name), f->path));
    if (k.sync == WORKLOAD_SPLIT) {
        f->split = t->kind;
        f->split_buffer = t->buffer;
        f->split_bytes = t->bytes;
        return before;
    }
    f->bytes[at] = t->bytes;
    f->kind[at] = t->kind;
    f->n++;
    if (f->n > f->most) f->most = f->n;
    return before;
}

/* Block lengths are int in MPI 3: longer pieces are cut. */
int workload_type_pieces(int n, const int64_t *displacement, const int64_t *bytes,
                         MPI_Datatype *out)
{
    const int64_t most = 1 << 30;
    int64_t parts = 0;
    for (int i = 0; i < n; i++)
        parts += (bytes[i] + most - 1) / most;
    if (parts > INT_MAX) return err_set(ERR_USAGE, "a call of more pieces than MPI can describe");
    MPI_Aint *at = malloc(((size_t)parts + 1) * sizeof *at);
    int *length = malloc(((size_t)parts + 1) * sizeof *length);
    int rc = at && length ? 0 : err_set(ERR_NOMEM, "no memory for %d pieces", n);
    int p = 0;
    for (int i = 0; rc == 0 && i < n; i++)
        for (int64_t done = 0; done < bytes[i]; done += most) {
            const int64_t left = bytes[i] - done;
            at[p] = (MPI_Aint)(displacement[i] + done);
            length[p++] = (int)(left < most ? left : most);
        }
    if (rc == 0)
        rc = par_check(MPI_Type_create_hindexed(p, length, at, MPI_BYTE, out),
                       "MPI_Type_create_hindexed");
    if (rc == 0) rc = par_check(MPI_Type_commit(out), "MPI_Type_commit");
    free(at);
    free(length);
    return rc;
}
