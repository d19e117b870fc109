/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/sys.h"
#include "companions/beffio/call.h"

#define BLOCK_BYTES  (INT64_C(4) << 20)
#define SAMPLE_BYTES (INT64_C(4) << 10)

/* A file that is read back. */
struct reader {
    int fd;
    const char *path;
    uint64_t *block;
    struct beffio_findings *f;
};

static int read_fully(const struct reader *r, int64_t offset, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n =
            pread(r->fd, (char *)r->block + done, (size_t)(bytes - done), (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return err_set_errno(ERR_IO, errno, "reading %s to check it", r->path);
        if (n == 0) {
            const char *full = sys_full_words(r->path, bytes - done);
            return err_set(ERR_IO,
                           "%s ends at offset %" PRId64 " and should go on: what the MPI library "
                           "took without an error was not written, or the file was cut since%s%s",
                           r->path, offset + done, full, beffio_advice(full));
        }
        done += n;
    }
    return 0;
}

/* Bytes from .. to - 1 of a region. */
static int check_span(const struct reader *r, const struct beffio_expect *e, int64_t from,
                      int64_t to)
{
    const int64_t begin = beffio_expect_offset(e);
    for (int64_t at = from; at < to; at += BLOCK_BYTES) {
        const int64_t bytes = to - at < BLOCK_BYTES ? to - at : BLOCK_BYTES;
        if (stop_requested()) return err_set(ERR_INTERRUPT, "interrupted");
        TRY(read_fully(r, begin + at, bytes));
        beffio_compare(e, at, r->block, bytes, r->f);
    }
    return 0;
}

/* All patterns of a type; of a region that all ranks share each one looks at its part, in whole
 * words. */
static int check_file(const struct beffio_bench *b, const struct reader *r, enum beffio_type type,
                      enum beffio_access access, bool sample)
{
    for (int no = beffio_type_first(type); no < beffio_type_end(type); no++) {
        if (b->layout.calls[no] == 0) continue;
        const struct beffio_expect e = beffio_expect(&b->layout, no, b->rank, access);
        int64_t from = 0, to = beffio_expect_bytes(&e);
        if (e.procs > 1) {
            const double words = (double)(to / BEFFIO_WORD_BYTES);
            from = (int64_t)(words * b->rank / b->procs) * BEFFIO_WORD_BYTES;
            if (b->rank < b->procs - 1)
                to = (int64_t)(words * (b->rank + 1) / b->procs) * BEFFIO_WORD_BYTES;
        }
        const bool ends = sample && to - from > 2 * SAMPLE_BYTES;
        TRY(check_span(r, &e, from, ends ? from + SAMPLE_BYTES : to));
        if (ends) TRY(check_span(r, &e, to - SAMPLE_BYTES, to));
    }
    return 0;
}

int beffio_check_type(const struct beffio_bench *b, enum beffio_type type,
                      enum beffio_access access, bool sample, struct beffio_findings *f)
{
    char path[BEFFIO_PATH_MAX];
    beffio_files_path(b->files, b->index, type, b->rank, path);
    struct reader r = {.path = path, .f = f, .block = malloc(BLOCK_BYTES)};
    int rc = r.block ? 0 : mem_error("checking");
    r.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r.fd < 0) rc = err_set_errno(ERR_IO, errno, "cannot open %s to check it", path);
    if (rc == 0) rc = check_file(b, &r, type, access, sample);
    free(r.block);
    if (r.fd >= 0) close(r.fd);
    return par_agree(b->comm, rc);
}

int beffio_findings_sum(const struct beffio_bench *b, const struct beffio_findings *f,
                        struct beffio_findings *all)
{
    int64_t mine[2] = {f->checked_bytes, f->wrong_n}, sum[2];
    int first = f->wrong_n > 0 ? b->rank : b->procs, lowest;
    *all = *f;
    TRY_MPI(MPI_Allreduce(mine, sum, 2, MPI_INT64_T, MPI_SUM, b->comm));
    TRY_MPI(MPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, b->comm));
    if (lowest < b->procs) TRY_MPI(MPI_Bcast(all, (int)sizeof *all, MPI_BYTE, lowest, b->comm));
    TRY_MPI(MPI_Allreduce(f->wrong_by_pattern, all->wrong_by_pattern, BEFFIO_PATTERNS, MPI_INT64_T,
                          MPI_SUM, b->comm));
    all->checked_bytes = sum[0];
    all->wrong_n = sum[1];
    return 0;
}
