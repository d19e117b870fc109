/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/stop.h"
#include "base/sys.h"

_Static_assert(sizeof(off_t) == 8, "file offsets need 64 bits");

int io_fd_open(const struct io_context *ctx, int *fd)
{
    struct stat st;
    const bool reads = ctx->plan != NULL;
    const bool container = ctx->body.format != IO_RAW;
    const int64_t planned = container ? ctx->body.file_bytes : ctx->dumps_n * ctx->dump_bytes;
    /* Nobody waits at a pipe that somebody has put in the file's place; it has no size, either. */
    *fd = open(ctx->path, (reads ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || fcntl(*fd, F_SETFL, 0) < 0)
        return err_set_errno(ERR_IO, errno, "open %s for %s", ctx->path,
                             reads ? "reading" : "writing");
    if (fstat(*fd, &st) != 0) return err_set_errno(ERR_IO, errno, "fstat %s", ctx->path);
    const int64_t bytes = (int64_t)st.st_size;
    if (reads ? bytes >= planned : bytes == planned) return 0;
    if (reads && container)
        return err_set(ERR_IO,
                       "%s has %" PRId64 " bytes and not the %" PRId64
                       " of its manifest: it was truncated",
                       ctx->path, bytes, planned);
    if (reads)
        return err_set(ERR_IO,
                       "%s ends at byte %" PRId64 ", and its dump %" PRId64
                       " (the first is 0) at byte %" PRId64
                       ": it was truncated, take an earlier dump",
                       ctx->path, bytes, ctx->dumps_n - 1, planned);
    return err_set(ERR_IO,
                   "%s has %" PRId64 " bytes here and %" PRId64
                   " bytes where it was created: is the directory on a shared file system?",
                   ctx->path, bytes, planned);
}

static int read_failed(const struct io_context *ctx, const struct io_fd_fault *fault)
{
    const int64_t dump = fault->offset / ctx->dump_bytes;
    if (fault->errnum == IO_FD_ENDED)
        return err_set(ERR_IO,
                       "%s ends at byte %" PRId64 ", in its dump %" PRId64
                       " (the first is 0): it was truncated, take an earlier dump",
                       ctx->path, fault->offset, dump);
    return err_set_errno(
        ERR_IO, fault->errnum,
        "cannot read dump %" PRId64
        " of %s (the first is 0), take another and see the system's log: pread of %" PRId64
        " bytes at offset %" PRId64,
        dump, ctx->path, fault->bytes, fault->offset);
}

int io_fd_failed(const struct io_context *ctx, const struct io_fd_fault *fault)
{
    const int errnum = fault->errnum;
    const int64_t bytes = fault->bytes, offset = fault->offset;
    if (ctx->plan) return read_failed(ctx, fault);
    int64_t room = errnum == ENOSPC ? sys_free_bytes(ctx->path) : -1;
    if (room >= 0) {
        return err_set_errno(ERR_IO, errnum,
                             "pwrite of %" PRId64 " bytes at offset %" PRId64 " of %s (%" PRId64
                             " bytes free there)",
                             bytes, offset, ctx->path, room);
    }
    return err_set_errno(ERR_IO, errnum, "pwrite of %" PRId64 " bytes at offset %" PRId64 " of %s",
                         bytes, offset, ctx->path);
}

int io_fd_put(int fd, struct io_piece p, int64_t align, int64_t *requests_n,
              struct io_fd_fault *fault)
{
    while (p.bytes > 0) {
        const int64_t bytes = p.bytes < IO_CALL_BYTES ? p.bytes : IO_CALL_BYTES;
        ssize_t done = pwrite(fd, p.data, (size_t)bytes, (off_t)p.offset);
        ++*requests_n;
        if (done < 0 && errno == EINTR) continue;
        if (done > 0 && done < bytes) done = (ssize_t)(done / align * align);
        /* A file system that writes nothing and reports no error would be retried for ever. */
        if (done <= 0) {
            *fault = (struct io_fd_fault){done < 0 ? errno : EIO, bytes, p.offset};
            return ERR_IO;
        }
        p.data += done;
        p.offset += done;
        p.bytes -= done;
    }
    return 0;
}

int io_fd_write(const struct io_context *ctx, int fd, const void *buf, int64_t bytes,
                int64_t offset)
{
    struct io_fd_fault fault;
    const struct io_piece piece = {buf, bytes, offset};
    int rc = io_fd_put(fd, piece, 1, ctx->requests_n, &fault);
    return rc < 0 ? io_fd_failed(ctx, &fault) : 0;
}

int io_fd_get(int fd, struct io_want w, int64_t align, int64_t *requests_n,
              struct io_fd_fault *fault)
{
    const int64_t end = w.offset + w.need;
    while (w.offset < end) {
        const int64_t bytes = w.bytes < IO_CALL_BYTES ? w.bytes : IO_CALL_BYTES;
        const ssize_t got = pread(fd, w.to, (size_t)bytes, (off_t)w.offset);
        ++*requests_n;
        if (got < 0 && errno == EINTR) continue;
        const int64_t done = w.offset + got < end ? got / align * align : got;
        if (done <= 0) {
            const int errnum = got < 0 ? errno : got == 0 ? IO_FD_ENDED : EIO;
            *fault = (struct io_fd_fault){errnum, bytes, w.offset};
            return ERR_IO;
        }
        w.to += done;
        w.offset += done;
        w.bytes -= done;
    }
    return 0;
}

int io_fd_interrupted(const struct io_context *ctx)
{
    return err_set(ERR_INTERRUPT, "interrupted while %s was read", ctx->path);
}

int io_fd_read(const struct io_context *ctx, int fd, char *to, int64_t bytes, int64_t offset)
{
    struct io_fd_fault fault;
    const struct io_want want = {to, bytes, offset, bytes};
    if (stop_requested()) return io_fd_interrupted(ctx);
    int rc = io_fd_get(fd, want, 1, ctx->requests_n, &fault);
    return rc < 0 ? io_fd_failed(ctx, &fault) : 0;
}

int io_fd_source_get(void *state, int64_t start, int64_t bytes, const char **data)
{
    struct io_fd_source *s = state;
    *data = s->ctx->part;
    if (s->rc == 0) s->rc = io_fd_read(s->ctx, s->fd, s->ctx->part, bytes, start);
    return s->rc;
}

int io_fd_sync(const struct io_context *ctx, int fd)
{
    if (fd < 0) return 0;
    while (fsync(fd) != 0) {
        if (errno != EINTR) return err_set_errno(ERR_IO, errno, "fsync %s", ctx->path);
    }
    return 0;
}

int io_fd_close(const struct io_context *ctx, int *fd)
{
    int old = *fd;
    *fd = -1;
    /* Linux has closed the descriptor even after EINTR. */
    if (old < 0 || close(old) == 0 || errno == EINTR) return 0;
    return err_set_errno(ERR_IO, errno, "close %s", ctx->path);
}

int io_fd_slot_open(void *state, const struct io_context *ctx)
{
    return io_fd_open(ctx, state);
}

int io_fd_slot_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    const int *fd = state;
    const int64_t start = dump * ctx->dump_bytes;
    struct io_fd_fault fault;
    struct io_walk w;
    struct io_extent e;
    for (io_walk_start(&w, ctx->view); io_walk_next(&w, &e);) {
        const struct io_piece piece = {(const char *)buf + e.buffer_bytes, e.length_bytes,
                                       start + e.offset_bytes};
        if (io_fd_put(*fd, piece, 1, ctx->requests_n, &fault) < 0) return io_fd_failed(ctx, &fault);
    }
    return 0;
}

int io_fd_slot_sync(void *state, const struct io_context *ctx)
{
    const int *fd = state;
    return io_fd_sync(ctx, *fd);
}

int io_fd_slot_close(void *state, const struct io_context *ctx)
{
    return io_fd_close(ctx, state);
}
