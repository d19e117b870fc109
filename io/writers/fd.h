/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_FD_H
#define IO_FD_H
/* Layer 1. For writers that write and read with POSIX calls: one descriptor per rank, whole extents.
 * All functions are local and leave a message that names the call, the file and the reason. */
#include <stdint.h>

#include "io/writers/writer.h"

/* Opens the data file for writing and checks that it is the one that was preallocated: a rank that
 * sees another length looks at another file system. With ctx->plan for reading, and it must be long
 * enough. [out] fd: -1 on failure. */
int io_fd_open(const struct io_context *ctx, int *fd);

/* A write or read that failed: at which offset, how long it was, why. */
struct io_fd_fault {
    int errnum; /* 0: none */
    int64_t bytes, offset;
};
#define IO_FD_ENDED (-1) /* errnum: the file ended there */

/* What to write where. */
struct io_piece {
    const char *data;
    int64_t bytes, offset;
};

/* As io_fd_write, for threads: leaves no message but a fault, and counts calls in *requests_n.
 * After a short write it goes on at a multiple of align. Returns 0 or ERR_IO. */
int io_fd_put(int fd, struct io_piece piece, int64_t align, int64_t *requests_n,
              struct io_fd_fault *fault);

/* What to read from where. */
struct io_want {
    char *to;
    int64_t bytes, offset;
    int64_t need; /* the first of these bytes; the file may end behind them */
};

/* As io_fd_put, for reading. */
int io_fd_get(int fd, struct io_want want, int64_t align, int64_t *requests_n,
              struct io_fd_fault *fault);

/* The message for a fault: of a read where ctx->plan is set. Returns ERR_IO. */
int io_fd_failed(const struct io_context *ctx, const struct io_fd_fault *fault);

/* Writes bytes bytes of buf at an offset of the file: goes on after short writes and interrupts,
 * and cuts what is too long for one call. Counts each call in ctx->requests_n. */
int io_fd_write(const struct io_context *ctx, int fd, const void *buf, int64_t bytes,
                int64_t offset);

/* The same for reading; ERR_INTERRUPT when a signal has asked for an end (base/stop.h). */
int io_fd_read(const struct io_context *ctx, int fd, char *to, int64_t bytes, int64_t offset);

/* fsync. fd -1 is allowed and does nothing. */
int io_fd_sync(const struct io_context *ctx, int fd);

/* Closes and sets *fd to -1; -1 is allowed and does nothing. */
int io_fd_close(const struct io_context *ctx, int *fd);

/* The error of reading that a signal ended (base/stop.h). Returns ERR_INTERRUPT. */
int io_fd_interrupted(const struct io_context *ctx);

/* A descriptor as a source of io/writers/gather.h; pieces go to ctx->part, after an error no more. */
struct io_fd_source {
    const struct io_context *ctx;
    int fd, rc;
};
int io_fd_source_get(void *state, int64_t start, int64_t bytes, const char **data);

/* The slots of these names for a writer whose state begins with the descriptor, an int; write takes
 * the view extent by extent. io/writers/pick.h has the one for read. */
int io_fd_slot_open(void *state, const struct io_context *ctx);
int io_fd_slot_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf);
int io_fd_slot_sync(void *state, const struct io_context *ctx);
int io_fd_slot_close(void *state, const struct io_context *ctx);

#endif
