/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/writers/pick.h"

/* Bytes that are read and converted at a time: checking must not need much memory of its own. */
#define PART_BYTES (INT64_C(8) << 20)

int io_reread_open(const char *path, bool from_device, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) return err_set_errno(ERR_IO, errno, "open %s for reading", path);
    while (from_device && fsync(*fd) != 0) {
        if (errno == EINTR) continue;
        const int rc = err_set_errno(ERR_IO, errno, "fsync %s", path);
        close(*fd);
        *fd = -1;
        return rc;
    }
    if (from_device) posix_fadvise(*fd, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

void io_reread_values(const struct io_view *v, const struct io_array *at, uint64_t *words)
{
    const struct io_box *b = &v->box;
#pragma omp parallel for reduction(+ : words[:digest_words(v->n)]) schedule(static)
    for (int64_t k = 0; k < b->n[2]; k++)
        for (int64_t j = 0; j < b->n[1]; j++)
            for (int m = 0; m < IO_NCOMP; m++)
                digest_row(words, v->n, b->lo[0], b->n[0], b->lo[1] + j, b->lo[2] + k, m,
                           at->u + k * at->sk + j * at->sj + m * at->sm);
}

static void to_rows(void *state, const struct io_view *v, const char *data, int64_t start,
                    int64_t bytes)
{
    io_view_unstage(v, data, start, bytes, state);
}

static void pick_rows(void *state, const struct io_view *v, const char *data, int64_t start,
                      int64_t bytes)
{
    io_view_pick(v, data, start, bytes, state);
}

int io_reread_digest(const struct io_reread *from, const struct io_view *v, uint64_t *words)
{
    const bool packed = from->packed;
    const int64_t ni = v->box.n[0], nj = v->box.n[1], nk = v->box.n[2];
    const int64_t plane_bytes = IO_NCOMP * IO_WORD_BYTES * ni * nj;
    const int64_t most = packed ? nk : num_min(nk, PART_BYTES / (plane_bytes + 1) + 1);
    const bool chunked = from->body->data_offset < 0;
    int64_t requests_n = 0;
    struct io_container container = {0};
    struct io_context ctx = {
        .path = from->path,
        .dump_bytes = packed ? io_view_bytes(v) : io_dump_bytes(v->layout, v->n),
        .requests_n = &requests_n,
        .plan = &from->dump,
        .tuning = {.call_bytes = PART_BYTES},
    };
    const int64_t start = from->body->data_offset + from->dump * ctx.dump_bytes;
    char *buf = malloc((size_t)PART_BYTES);
    double *u = malloc((size_t)(plane_bytes * most) + 1);
    struct io_array rows = {u, ni, IO_NCOMP * ni, IO_NCOMP * ni * nj};
    const struct io_taker to = {&rows, to_rows, pick_rows};
    int rc = buf && u ? 0 : mem_error("reading a dump");
    ctx.part = buf;
    if (rc == 0 && chunked) rc = io_container_open(&container, from->path, from->body->format);
    for (int64_t k = 0; rc == 0 && k < nk; k += most) {
        struct io_view planes = *v;
        planes.box.lo[2] += k;
        planes.box.n[2] = num_min(most, nk - k);
        struct io_pick p = {.get = io_body_swapped(from->body) ? io_pick_fd_swapped : io_pick_fd,
                            .source = &from->fd,
                            .ctx = &ctx,
                            .buf = buf,
                            .room = PART_BYTES,
                            .view = &planes,
                            .to = &to};
        const int64_t bytes = io_view_bytes(&planes);
        ctx.view = &planes;
        io_container_select(&container, &planes);
        if (packed) rc = io_pick_add(&p, (struct io_extent){start, bytes, 0});
        if (chunked)
            rc = io_container_read(&container, &ctx, from->dump, &to);
        else if (rc == 0)
            rc = packed ? io_pick_end(&p) : io_pick_view(&p, start, 0, bytes);
        if (rc == 0) io_reread_values(&planes, &rows, words);
    }
    io_container_close(&container);
    free(u);
    free(buf);
    return rc;
}
