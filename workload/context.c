/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/par.h"

#define CHUNK_BYTES (INT64_C(1) << 20)

void workload_findings_add(struct workload_findings *f, int64_t bytes, int64_t wrong,
                           const char *path, int64_t offset, const char *what)
{
    f->checked_bytes += bytes;
    if (wrong < 0) return;
    if (f->wrong_n++ == 0)
        snprintf(f->first, sizeof f->first, "%s at byte %" PRId64 " of %.120s", what,
                 offset < 0 ? offset : offset + wrong, path);
}

int workload_findings_sum(struct workload_findings *f, MPI_Comm comm)
{
    int rank, size, from;
    int64_t sum[2] = {f->checked_bytes, f->wrong_n};
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    const int mine = f->wrong_n > 0 ? rank : size;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, comm));
    TRY_MPI(MPI_Allreduce(&mine, &from, 1, MPI_INT, MPI_MIN, comm));
    f->checked_bytes = sum[0];
    f->wrong_n = sum[1];
    if (from == size) return 0;
    return par_check(MPI_Bcast(f->first, sizeof f->first, MPI_CHAR, from, comm), "MPI_Bcast");
}

int workload_findings_read(struct workload_findings *f, const struct workload_data *d, int fd,
                           const char *path, int64_t offset, int64_t bytes,
                           struct workload_allowed allowed)
{
    unsigned char *got = malloc((size_t)(bytes < CHUNK_BYTES ? bytes + 1 : CHUNK_BYTES));
    if (!got) return err_set(ERR_NOMEM, "no memory to check %s", path);
    int rc = 0;
    for (int64_t done = 0; rc == 0 && done < bytes;) {
        const int64_t want = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
        const ssize_t n = pread(fd, got, (size_t)want, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) rc = err_set_errno(ERR_IO, errno, "reading %s", path);
        if (n == 0) workload_findings_add(f, want, 0, path, offset + done, "end of file");
        if (n <= 0) break;
        workload_findings_add(f, n, workload_data_check(d, got, offset + done, n, allowed), path,
                              offset + done, "wrong data written");
        done += n;
    }
    free(got);
    return rc;
}

int workload_content_next(const struct workload_content *file)
{
    const int next = file->generation % WORKLOAD_GENERATIONS + 1;
    return next == WORKLOAD_LAID_OUT ? next + 1 : next;
}

int workload_context_file(struct workload_context *c, int index, int64_t bytes, bool lay_out)
{
    struct workload_content *file = &c->content[index];
    const int made = file->length_bytes == bytes && atomic_load(&c->files.made[index]);
    int all = made || (c->rank > 0 && !c->files.separate);
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, c->comm));
    if (!all) {
        TRY(workload_files_make(&c->files, c->comm, index, bytes));
        *file = (struct workload_content){.length_bytes = bytes};
    }
    if (!lay_out || file->laid_out) return 0;
    TRY(par_agree(c->comm, workload_data_make(&c->data, WORKLOAD_LAID_OUT, CHUNK_BYTES)));
    TRY(workload_files_lay_out(&c->files, c->comm, index, 0, bytes, &c->data));
    file->laid_out = true;
    file->generation = file->oldest = WORKLOAD_LAID_OUT;
    return 0;
}
