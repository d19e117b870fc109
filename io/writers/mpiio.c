/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mpilib.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/sys.h"
#include "io/cursor.h"
#include "io/writers/fd.h"
#include "io/writers/guard.h"
#include "io/writers/hint.h"

int io_mpiio_judge(const struct io_context *ctx, bool failed, const char *call, const char *why)
{
    const int errnum = io_guard_errnum();
    if (!failed && errnum == 0) return 0;
    /* ROMIO, where it writes strided pieces by reading what is between them, fails without giving
     * up its lock, and other ranks wait for it for ever. Closing any descriptor of a file gives up
     * this process's locks of it. */
    const int fd = open(ctx->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) close(fd);
    if (errnum == IO_GUARD_ENDED)
        return err_set(
            ERR_IO,
            "%s on %s: the file ends before the bytes asked for: it was truncated meanwhile", call,
            ctx->path);
    if (errnum) return err_set_errno(ERR_IO, errnum, "%s on %s", call, ctx->path);
    return err_set(ERR_IO, "%s on %s: %s", call, ctx->path, why);
}

int io_mpiio_check(const struct io_context *ctx, int mpi_rc, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    if (mpi_rc != MPI_SUCCESS) MPI_Error_string(mpi_rc, text, &len);
    return io_mpiio_judge(ctx, mpi_rc != MPI_SUCCESS, call, text);
}

static int set_view(const struct io_mpiio *m, const struct io_context *ctx)
{
    static char representation[] = "native";
    MPI_Datatype file_type = MPI_BYTE;
    int rc = m->mine_bytes > 0 ? io_mpiio_view_type(ctx->view, &file_type) : 0;
    TRY(par_agree(ctx->comm, rc));
    int mpi_rc = MPI_File_set_view(m->fh, 0, MPI_BYTE, file_type, representation, ctx->info);
    if (file_type != MPI_BYTE) MPI_Type_free(&file_type);
    return io_mpiio_check(ctx, mpi_rc, "MPI_File_set_view");
}

int io_mpiio_open(struct io_mpiio *m, const struct io_context *ctx, bool viewed)
{
    int64_t longest = 0;
    for (int r = 0; r < ctx->size; r++) {
        const int64_t bytes = io_view_bytes(&ctx->all_views[r]);
        if (bytes > longest) longest = bytes;
    }
    *m = (struct io_mpiio){.fh = MPI_FILE_NULL,
                           .viewed = viewed,
                           .mine_bytes = io_view_bytes(ctx->view),
                           .pieces_n = (longest - 1) / ctx->tuning.call_bytes + 1};
    /* Opening is collective, but libraries let it fail on one rank alone, and then closing hangs on
     * the others: so everybody tries to open the file without the library first. */
    int fd, rc = io_fd_open(ctx, &fd);
    int close_rc = io_fd_close(ctx, &fd);
    TRY(par_agree(ctx->comm, rc < 0 ? rc : close_rc));
    io_guard_begin(ctx);
    io_guard_opening(-1);
    int mpi_rc = par_file_open(ctx->comm, ctx->path, ctx->plan ? MPI_MODE_RDONLY : MPI_MODE_WRONLY,
                               ctx->info, &m->fh);
    rc = par_agree(ctx->comm, io_mpiio_check(ctx, mpi_rc, "MPI_File_open"));
    /* Closing is collective: a handle that only some ranks have is abandoned. */
    if (rc < 0) m->fh = MPI_FILE_NULL;
    if (rc == 0 && viewed) {
        io_guard_at("MPI_File_set_view");
        rc = set_view(m, ctx);
    }
    io_guard_at(NULL);
    return rc;
}

struct io_mpiio_piece io_mpiio_piece(const struct io_mpiio *m, const struct io_context *ctx,
                                     int64_t i)
{
    struct io_mpiio_piece p = {i * ctx->tuning.call_bytes, ctx->tuning.call_bytes};
    if (p.start > m->mine_bytes) p.start = m->mine_bytes;
    if (p.bytes > m->mine_bytes - p.start) p.bytes = m->mine_bytes - p.start;
    return p;
}

static int write_was_short(const struct io_context *ctx, const char *call, int64_t bytes,
                           int64_t done)
{
    char free_there[48] = "";
    const int64_t room = sys_free_bytes(ctx->path);
    if (room >= 0) snprintf(free_there, sizeof free_there, " (%" PRId64 " bytes free there)", room);
    return err_set(ERR_IO, "%s took %" PRId64 " of %" PRId64 " bytes of %s%s%s", call, done, bytes,
                   ctx->path, free_there, sys_full_words(ctx->path, bytes));
}

/* What a call says, [out] done: the bytes that it took. Without bytes a library may leave the
 * status as it was: status NULL. */
static int outcome(const struct io_context *ctx, int mpi_rc, const char *call,
                   const MPI_Status *status, int64_t *done)
{
    MPI_Count count = 0;
    *done = 0;
    TRY(io_mpiio_check(ctx, mpi_rc, call));
    if (status) TRY_MPI(MPI_Get_elements_x(status, MPI_BYTE, &count));
    *done = (int64_t)count;
    return 0;
}

int io_mpiio_write_piece(const struct io_mpiio *m, const struct io_context *ctx, int64_t dump,
                         const char *buf, struct io_mpiio_piece p)
{
    struct io_cursor c;
    struct io_extent e;
    const int64_t start = dump * (m->viewed ? m->mine_bytes : ctx->dump_bytes);
    io_cursor_start(&c, ctx->view);
    while (io_cursor_take(&c, ctx->dump_bytes, &e) && e.buffer_bytes < p.start + p.bytes) {
        int64_t from = e.buffer_bytes, to = e.buffer_bytes + e.length_bytes, done;
        if (from < p.start) from = p.start;
        if (to > p.start + p.bytes) to = p.start + p.bytes;
        for (; from < to; from += done) {
            MPI_Status status;
            const int64_t at = m->viewed ? from : from - e.buffer_bytes + e.offset_bytes;
            const int64_t bytes =
                to - from < ctx->tuning.call_bytes ? to - from : ctx->tuning.call_bytes;
            ++*ctx->requests_n;
            io_guard_at("MPI_File_write_at");
            int mpi_rc = MPI_File_write_at(m->fh, (MPI_Offset)(start + at), buf + from, (int)bytes,
                                           MPI_BYTE, &status);
            io_guard_at(NULL);
            TRY(outcome(ctx, mpi_rc, "MPI_File_write_at", &status, &done));
            if (done <= 0 || done > bytes)
                return write_was_short(ctx, "MPI_File_write_at", bytes, done);
        }
    }
    return 0;
}

int io_mpiio_wrote(const struct io_mpiio *m, const struct io_context *ctx, int mpi_rc,
                   const char *call, const MPI_Status *status, int64_t dump, const char *buf,
                   struct io_mpiio_piece p)
{
    int64_t done;
    TRY(outcome(ctx, mpi_rc, call, p.bytes > 0 ? status : NULL, &done));
    if (done == p.bytes) return 0;
    if (done <= 0 || done > p.bytes) return write_was_short(ctx, call, p.bytes, done);
    return io_mpiio_write_piece(m, ctx, dump, buf, p);
}

/* Which dump could not be read, and what to do, before the message of a call that says why. */
static int cannot_read(const struct io_context *ctx, int64_t dump)
{
    char text[ERR_MESSAGE_MAX / 2];
    snprintf(text, sizeof text,
             "cannot read dump %" PRId64
             " of %.256s (the first is 0), which begins at byte %" PRId64
             "; take another and see the system's log: ",
             dump, ctx->path, dump * ctx->dump_bytes);
    err_prefix(text);
    return ERR_IO;
}

/* What a read of bytes bytes of dump came to; [out] done. */
static int read_outcome(const struct io_context *ctx, int mpi_rc, const char *call,
                        const MPI_Status *status, int64_t bytes, int64_t dump, int64_t *done)
{
    int rc = outcome(ctx, mpi_rc, call, bytes > 0 ? status : NULL, done);
    if (rc == 0 && bytes > 0 && (*done <= 0 || *done > bytes))
        rc = err_set(ERR_IO, "%s gave %" PRId64 " of %" PRId64 " bytes", call, *done, bytes);
    return rc < 0 ? cannot_read(ctx, dump) : 0;
}

int io_mpiio_read(const struct io_mpiio *m, const struct io_context *ctx, char *to, int64_t bytes,
                  int64_t at)
{
    static const char call[] = "MPI_File_read_at";
    int64_t done;
    if (stop_requested()) return io_fd_interrupted(ctx);
    for (; bytes > 0; to += done, at += done, bytes -= done) {
        MPI_Status status;
        const int64_t part = bytes < ctx->tuning.call_bytes ? bytes : ctx->tuning.call_bytes;
        ++*ctx->requests_n;
        io_guard_at(call);
        int mpi_rc = MPI_File_read_at(m->fh, (MPI_Offset)at, to, (int)part, MPI_BYTE, &status);
        io_guard_at(NULL);
        TRY(read_outcome(ctx, mpi_rc, call, &status, part,
                         at / (m->viewed ? m->mine_bytes : ctx->dump_bytes), &done));
    }
    return 0;
}

int io_mpiio_got(const struct io_mpiio *m, const struct io_context *ctx, int mpi_rc,
                 const char *call, const MPI_Status *status, int64_t dump, char *data,
                 struct io_mpiio_piece p)
{
    int64_t done;
    TRY(read_outcome(ctx, mpi_rc, call, status, p.bytes, dump, &done));
    if (done == p.bytes) return 0;
    const int64_t dump_bytes = m->viewed ? m->mine_bytes : ctx->dump_bytes;
    return io_mpiio_read(m, ctx, data, p.bytes, dump * dump_bytes + p.start);
}

int io_mpiio_sync(void *state, const struct io_context *ctx)
{
    struct io_mpiio *m = state;
    if (m->fh == MPI_FILE_NULL) return 0;
    io_guard_at("MPI_File_sync");
    int rc = io_mpiio_check(ctx, MPI_File_sync(m->fh), "MPI_File_sync");
    io_guard_at(NULL);
    return rc;
}

int io_mpiio_close(void *state, const struct io_context *ctx)
{
    struct io_mpiio *m = state;
    int rc = 0;
    io_guard_at("MPI_File_close");
    if (m->fh != MPI_FILE_NULL) rc = io_mpiio_check(ctx, MPI_File_close(&m->fh), "MPI_File_close");
    io_guard_at(NULL);
    io_guard_end(ctx);
    return rc;
}

int io_mpiio_report(MPI_File fh, json_t *into)
{
    MPI_Info info;
    TRY_MPI(MPI_File_get_info(fh, &info));
    return io_mpiio_report_info(info, into);
}

/* Some libraries echo keys that they do not know, others leave out what they obey. */
int io_mpiio_report_info(MPI_Info info, json_t *into)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int keys = 0, there, rc = 0;
    json_t *hints = json_object();
    json_object_set_new(into, "mpiio_component", js_text(mpilib_component()));
    json_object_set_new(into, "hints_reported", hints);
    if (info == MPI_INFO_NULL) return 0;
    TRY_MPI_TO(done, rc, MPI_Info_get_nkeys(info, &keys));
    for (int i = 0; i < keys; i++) {
        TRY_MPI_TO(done, rc, MPI_Info_get_nthkey(info, i, key));
        TRY_MPI_TO(done, rc, MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there));
        json_object_set_new(hints, key, js_text(value));
    }
done:
    MPI_Info_free(&info);
    return rc;
}

int io_mpiio_describe(void *state, const struct io_context *ctx, json_t *into)
{
    const struct io_mpiio *m = state;
    (void)ctx;
    return io_mpiio_report(m->fh, into);
}
