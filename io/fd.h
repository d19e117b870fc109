/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_FD_H
#define IO_FD_H
/* Floor 1. For writers that write with POSIX calls: one descriptor per rank, whole extents. All
 * functions are local and leave a message that names the call, the file and the reason. */
#include <stdint.h>

#include "io/writer.h"

/* Opens the data file for writing and checks that it is the one that was preallocated: a rank that
 * sees another length looks at another file system. [out] fd: -1 on failure. */
int io_fd_open(const struct io_context *ctx, int *fd);

/* A write that failed: at which offset, how long it was, why. */
struct io_fd_fault {
    int errnum; /* 0: none */
    int64_t bytes, offset;
};

/* What to write where. */
struct io_piece {
    const char *data;
    int64_t bytes, offset;
};

/* As io_fd_write, for threads: leaves no message but a fault, and counts calls in *requests_n.
 * After a short write it goes on at a multiple of align. Returns 0 or ERR_IO. */
int io_fd_put(int fd, struct io_piece piece, int64_t align, int64_t *requests_n,
              struct io_fd_fault *fault);

/* The message for a fault. Returns ERR_IO. */
int io_fd_failed(const struct io_context *ctx, const struct io_fd_fault *fault);

/* Writes bytes bytes of buf at an offset of the file: goes on after short writes and interrupts,
 * and cuts what is too long for one call. Counts each call in ctx->requests_n. */
int io_fd_write(const struct io_context *ctx, int fd, const void *buf, int64_t bytes,
                int64_t offset);

/* fsync. fd -1 is allowed and does nothing. */
int io_fd_sync(const struct io_context *ctx, int fd);

/* Closes and sets *fd to -1; -1 is allowed and does nothing. */
int io_fd_close(const struct io_context *ctx, int *fd);

/* The slots of these names for a writer whose state begins with the descriptor, an int; write takes
 * the view extent by extent. */
int io_fd_slot_open(void *state, const struct io_context *ctx);
int io_fd_slot_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf);
int io_fd_slot_sync(void *state, const struct io_context *ctx);
int io_fd_slot_close(void *state, const struct io_context *ctx);

/* Bytes that the file system of path has free for everybody, -1 when it cannot say. */
int64_t io_free_bytes(const char *path);

#endif
