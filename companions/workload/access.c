/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/access.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sys.h"
#include "companions/workload/files.h"
#include "io/writers/guard.h"
#include "io/writers/mpiio.h"

/* --- the file ------------------------------------------------------------------------------- */

/* What a function that moves no data has returned. */
static int check_call(const struct workload_handle *f, int mpi_rc, const char *call)
{
    io_guard_at(NULL);
    return io_mpiio_check(&f->context, mpi_rc, call);
}

int workload_handle_open(struct workload_handle *f, MPI_Comm comm, const char *path, MPI_Info info,
                         int depth)
{
    static const char call[] = IO_GUARD_OPENING;
    *f = (struct workload_handle){.file = MPI_FILE_NULL,
                                  .context = {.comm = comm, .path = path, .info = info},
                                  .depth = depth,
                                  .split = -1};
    TRY_MPI(MPI_Comm_rank(comm, &f->context.rank));
    io_guard_begin(&f->context);
    io_guard_at(call);
    const int mpi_rc = par_file_open(comm, path, MPI_MODE_RDWR, info, &f->file);
    return par_agree(comm, workload_files_gone(path, check_call(f, mpi_rc, call)));
}

int workload_handle_view(struct workload_handle *f, int64_t begin, int n, const int64_t *offset,
                         const int64_t *bytes, int64_t period)
{
    static const char call[] = "MPI_File_set_view";
    static char native[] = "native";
    MPI_Datatype pieces = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    int rc = workload_type_pieces(n, offset, bytes, &pieces);
    if (rc == 0)
        rc = par_check(MPI_Type_create_resized(pieces, 0, (MPI_Aint)period, &type),
                       "MPI_Type_create_resized");
    if (rc == 0) rc = par_check(MPI_Type_commit(&type), "MPI_Type_commit");
    rc = par_agree(f->context.comm, rc);
    if (rc == 0) {
        io_guard_at(call);
        const int mpi_rc =
            MPI_File_set_view(f->file, (MPI_Offset)begin, MPI_BYTE, type, native, f->context.info);
        rc = par_agree(f->context.comm, check_call(f, mpi_rc, call));
    }
    if (pieces != MPI_DATATYPE_NULL) MPI_Type_free(&pieces);
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    return rc;
}

int workload_handle_sync(struct workload_handle *f)
{
    static const char call[] = "MPI_File_sync";
    io_guard_at(call);
    return check_call(f, MPI_File_sync(f->file), call);
}

int workload_handle_close(struct workload_handle *f)
{
    static const char call[] = "MPI_File_close";
    int rc = 0;
    if (f->file != MPI_FILE_NULL) {
        io_guard_at(call);
        rc = check_call(f, MPI_File_close(&f->file), call);
    }
    io_guard_end(&f->context);
    return rc;
}

/* --- the calls ------------------------------------------------------------------------------ */

/* The outcome of a transfer. Some libraries return success and a count of zero on a full disk, and
 * leave a status as it was where there are no bytes to transfer. */
static int check(const struct workload_handle *f, int kind, int mpi_rc, MPI_Status *status,
                 int64_t bytes)
{
    const char *call = workload_kind_call(kind), *path = f->context.path;
    MPI_Count done = 0;
    TRY(io_mpiio_check(&f->context, mpi_rc, call));
    if (bytes > 0) TRY_MPI(MPI_Get_elements_x(status, MPI_BYTE, &done));
    if (done == bytes) return 0;
    const char *full = workload_kind_of(kind).write ? sys_full_words(path, bytes) : "";
    return err_set(ERR_IO, "%s on %s moved %" PRId64 " of %" PRId64 " bytes%s", call, path,
                   (int64_t)done, bytes, full);
}

static int end_split(struct workload_handle *f)
{
    const int kind = f->split;
    void *const b = f->split_buffer;
    MPI_Status st;
    int rc = MPI_SUCCESS;
    if (kind < 0) return 0;
    f->split = -1;
    io_guard_at(workload_kind_call(kind));
    switch (kind) {
    case WORKLOAD_KIND(EXPLICIT, 1, SPLIT, 0):
        rc = MPI_File_read_at_all_end(f->file, b, &st);
        break;
    case WORKLOAD_KIND(EXPLICIT, 1, SPLIT, 1):
        rc = MPI_File_write_at_all_end(f->file, b, &st);
        break;
    case WORKLOAD_KIND(INDIVIDUAL, 1, SPLIT, 0):
        rc = MPI_File_read_all_end(f->file, b, &st);
        break;
    case WORKLOAD_KIND(INDIVIDUAL, 1, SPLIT, 1):
        rc = MPI_File_write_all_end(f->file, b, &st);
        break;
    case WORKLOAD_KIND(SHARED, 1, SPLIT, 0):
        rc = MPI_File_read_ordered_end(f->file, b, &st);
        break;
    default:
        rc = MPI_File_write_ordered_end(f->file, b, &st);
        break;
    }
    return check(f, kind, rc, &st, f->split_bytes);
}

int workload_handle_seek(struct workload_handle *f, bool shared, int64_t offset)
{
    const char *call = shared ? "MPI_File_seek_shared" : "MPI_File_seek";
    const int before = f->moving && !shared ? workload_handle_wait(f) : end_split(f);
    io_guard_at(call);
    const int rc =
        check_call(f,
                   shared ? MPI_File_seek_shared(f->file, (MPI_Offset)offset, MPI_SEEK_SET)
                          : MPI_File_seek(f->file, (MPI_Offset)offset, MPI_SEEK_SET),
                   call);
    if (f->n > 0) io_guard_at(workload_kind_call(f->kind[f->oldest]));
    return before < 0 ? before : rc;
}

static int end_oldest(struct workload_handle *f)
{
    MPI_Status st;
    const int at = f->oldest;
    f->oldest = (f->oldest + 1) % f->depth;
    f->n--;
    io_guard_at(workload_kind_call(f->kind[at]));
    return check(f, f->kind[at], MPI_Wait(&f->request[at], &st), &st, f->bytes[at]);
}

int workload_handle_wait(struct workload_handle *f)
{
    int rc = end_split(f);
    f->moving = false;
    while (f->n > 0) {
        const int one = end_oldest(f);
        if (rc == 0) rc = one;
    }
    io_guard_at(NULL);
    return rc;
}

/* One call of MPI: all that exist. */
static int call(MPI_File f, const struct workload_transfer *t, int n, MPI_Datatype type,
                MPI_Request *r, MPI_Status *st)
{
    void *const b = t->buffer;
    const MPI_Offset at = t->offset;
    switch (t->kind) {
    case WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0):
        return MPI_File_read_at(f, at, b, n, type, st);
    case WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 1):
        return MPI_File_write_at(f, at, b, n, type, st);
    case WORKLOAD_KIND(EXPLICIT, 0, REQUEST, 0):
        return MPI_File_iread_at(f, at, b, n, type, r);
    case WORKLOAD_KIND(EXPLICIT, 0, REQUEST, 1):
        return MPI_File_iwrite_at(f, at, b, n, type, r);
    case WORKLOAD_KIND(EXPLICIT, 1, BLOCKING, 0):
        return MPI_File_read_at_all(f, at, b, n, type, st);
    case WORKLOAD_KIND(EXPLICIT, 1, BLOCKING, 1):
        return MPI_File_write_at_all(f, at, b, n, type, st);
    case WORKLOAD_KIND(EXPLICIT, 1, REQUEST, 0):
        return MPI_File_iread_at_all(f, at, b, n, type, r);
    case WORKLOAD_KIND(EXPLICIT, 1, REQUEST, 1):
        return MPI_File_iwrite_at_all(f, at, b, n, type, r);
    case WORKLOAD_KIND(EXPLICIT, 1, SPLIT, 0):
        return MPI_File_read_at_all_begin(f, at, b, n, type);
    case WORKLOAD_KIND(EXPLICIT, 1, SPLIT, 1):
        return MPI_File_write_at_all_begin(f, at, b, n, type);
    case WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 0):
        return MPI_File_read(f, b, n, type, st);
    case WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 1):
        return MPI_File_write(f, b, n, type, st);
    case WORKLOAD_KIND(INDIVIDUAL, 0, REQUEST, 0):
        return MPI_File_iread(f, b, n, type, r);
    case WORKLOAD_KIND(INDIVIDUAL, 0, REQUEST, 1):
        return MPI_File_iwrite(f, b, n, type, r);
    case WORKLOAD_KIND(INDIVIDUAL, 1, BLOCKING, 0):
        return MPI_File_read_all(f, b, n, type, st);
    case WORKLOAD_KIND(INDIVIDUAL, 1, BLOCKING, 1):
        return MPI_File_write_all(f, b, n, type, st);
    case WORKLOAD_KIND(INDIVIDUAL, 1, REQUEST, 0):
        return MPI_File_iread_all(f, b, n, type, r);
    case WORKLOAD_KIND(INDIVIDUAL, 1, REQUEST, 1):
        return MPI_File_iwrite_all(f, b, n, type, r);
    case WORKLOAD_KIND(INDIVIDUAL, 1, SPLIT, 0):
        return MPI_File_read_all_begin(f, b, n, type);
    case WORKLOAD_KIND(INDIVIDUAL, 1, SPLIT, 1):
        return MPI_File_write_all_begin(f, b, n, type);
    case WORKLOAD_KIND(SHARED, 0, BLOCKING, 0):
        return MPI_File_read_shared(f, b, n, type, st);
    case WORKLOAD_KIND(SHARED, 0, BLOCKING, 1):
        return MPI_File_write_shared(f, b, n, type, st);
    case WORKLOAD_KIND(SHARED, 0, REQUEST, 0):
        return MPI_File_iread_shared(f, b, n, type, r);
    case WORKLOAD_KIND(SHARED, 0, REQUEST, 1):
        return MPI_File_iwrite_shared(f, b, n, type, r);
    case WORKLOAD_KIND(SHARED, 1, BLOCKING, 0):
        return MPI_File_read_ordered(f, b, n, type, st);
    case WORKLOAD_KIND(SHARED, 1, BLOCKING, 1):
        return MPI_File_write_ordered(f, b, n, type, st);
    case WORKLOAD_KIND(SHARED, 1, SPLIT, 0):
        return MPI_File_read_ordered_begin(f, b, n, type);
    case WORKLOAD_KIND(SHARED, 1, SPLIT, 1):
        return MPI_File_write_ordered_begin(f, b, n, type);
    default:
        return MPI_ERR_ARG;
    }
}

int workload_handle_call(struct workload_handle *f, const struct workload_transfer *t)
{
    const struct workload_kind k = workload_kind_of(t->kind);
    const int64_t whole = 0;
    MPI_Datatype type = t->type, made = MPI_DATATYPE_NULL;
    MPI_Status st;
    int n = 1;
    /* Whatever has failed before, a collective call is made, so that no other process waits. */
    int before =
        f->moving && k.position == WORKLOAD_INDIVIDUAL ? workload_handle_wait(f) : end_split(f);
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
    io_guard_at(workload_kind_call(t->kind));
    const int rc = call(f->file, t, n, type, &f->request[at], &st);
    if (k.sync == WORKLOAD_BLOCKING && f->n == 0) io_guard_at(NULL);
    if (made != MPI_DATATYPE_NULL) MPI_Type_free(&made);
    if (k.sync == WORKLOAD_BLOCKING) {
        const int now = check(f, t->kind, rc, &st, t->bytes);
        return before < 0 ? before : now;
    }
    TRY(io_mpiio_check(&f->context, rc, workload_kind_call(t->kind)));
    if (k.sync == WORKLOAD_SPLIT) {
        f->split = t->kind;
        f->split_buffer = t->buffer;
        f->split_bytes = t->bytes;
        return before;
    }
    f->bytes[at] = t->bytes;
    f->kind[at] = t->kind;
    f->n++;
    f->posted++;
    f->moving |= f->pointer_late && k.collective && k.position == WORKLOAD_INDIVIDUAL;
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
    MPI_Aint *at = mem_new(parts + 1, sizeof *at, "%d pieces", n);
    int *length = mem_new(parts + 1, sizeof *length, "%d pieces", n);
    int rc = at && length ? 0 : ERR_NOMEM;
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
