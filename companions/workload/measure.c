/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"

#define CHUNK_BYTES (INT64_C(1) << 20)

/* --- what all measurements of a run share ---------------------------------------------------- */

int workload_content_next(const struct workload_content *file)
{
    const int last = file->generation;
    return (last < WORKLOAD_LAID_OUT ? WORKLOAD_LAID_OUT : last) + 1;
}

int workload_context_file(struct workload_context *c, int index, int64_t bytes, bool lay_out)
{
    struct workload_content *file = &c->content[index];
    const int made = file->length_bytes == bytes && workload_files_made(&c->files, index);
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

/* --- what was found wrong ------------------------------------------------------------------- */

void workload_findings_add(struct workload_findings *f, int64_t bytes, int64_t wrong,
                           const char *path, int64_t offset, const char *what)
{
    f->checked_bytes += bytes;
    if (wrong < 0) return;
    if (f->wrong_n++ == 0)
        snprintf(f->first, sizeof f->first, "%s at byte %" PRId64 " of %.120s", what,
                 offset < 0 ? offset : offset + wrong, path);
}

int workload_findings_read(struct workload_findings *f, const struct workload_data *d, int fd,
                           const char *path, int64_t offset, int64_t bytes,
                           struct workload_allowed allowed)
{
    unsigned char *got =
        mem_new(bytes < CHUNK_BYTES ? bytes + 1 : CHUNK_BYTES, 1, "checking %s", path);
    if (!got) return ERR_NOMEM;
    int rc = 0;
    for (int64_t done = 0; rc == 0 && done < bytes;) {
        if (stop_requested()) {
            rc = err_set(ERR_INTERRUPT, "interrupted");
            break;
        }
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

/* --- one measurement ------------------------------------------------------------------------ */

int workload_measure(const struct workload_context *c, const struct nodes *n, int index,
                     const struct workload_steps *steps, void *part, struct workload_measured *m)
{
    struct workload_times *t = &m->times;
    struct workload_marks marks = {0};
    TRY(workload_files_cached(&c->files, n, index, &m->cached_before, NULL));

    TRY_MPI(MPI_Barrier(n->comm));
    const double setup = watch_now();
    int rc = steps->open(part);
    t->setup_s = watch_now() - setup;

    if (rc == 0) {
        TRY_MPI(MPI_Barrier(n->comm));
        marks.begun = watch_now();
        marks.first = watch_now();
        rc = steps->access(part, &t->think_s);
        if (m->writes && c->sync_end) {
            const double before = watch_now();
            const int sync = steps->sync(part);
            t->sync_s = watch_now() - before;
            if (rc == 0) rc = sync;
        }
        marks.last = watch_now();
        TRY_MPI(MPI_Barrier(n->comm));
        marks.ended = watch_now();
    }

    const double cleanup = watch_now();
    const int closed = steps->close(part);
    t->cleanup_s = watch_now() - cleanup;
    /* The file went with the request: what was written cannot be checked any more. */
    if (rc == 0) rc = closed;
    if (stop_requested()) rc = err_set(ERR_INTERRUPT, "interrupted");
    TRY(par_agree(n->comm, rc));
    TRY(workload_files_cached(&c->files, n, index, &m->cached_after, &m->dirty_after));
    return workload_times_gather(n->comm, &c->clock, &marks, t);
}

int workload_measured_sum(struct workload_measured *m, const struct workload_context *c,
                          MPI_Comm comm)
{
    struct workload_findings *f = &m->findings;
    int rank, size, from;
    int64_t sum[3] = {f->checked_bytes, f->wrong_n, m->bytes};
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    const int mine = f->wrong_n > 0 ? rank : size;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_INT64_T, MPI_SUM, comm));
    TRY_MPI(MPI_Allreduce(&mine, &from, 1, MPI_INT, MPI_MIN, comm));
    f->checked_bytes = sum[0];
    f->wrong_n = sum[1];
    m->bytes = sum[2];
    if (from < size) TRY_MPI(MPI_Bcast(f->first, sizeof f->first, MPI_CHAR, from, comm));
    const double s = workload_times_aggregate(&m->times);
    m->bytes_per_s = s > 0 ? (double)m->bytes / s : 0;
    m->enough = workload_times_enough(&m->times, &c->clock);
    return 0;
}

static json_t *share(double part)
{
    return part >= 0 ? js_real(part) : json_null();
}

json_t *workload_measured_json(const struct workload_measured *m)
{
    const struct workload_findings *f = &m->findings;
    return json_pack("{sI so so so so sb sI sI so sb}", "bytes", (json_int_t)m->bytes,
                     "bytes_per_s", js_real(m->bytes_per_s), "times",
                     workload_times_json(&m->times), "cached_share_before", share(m->cached_before),
                     "cached_share_after", share(m->cached_after), "moves_again", (int)m->again,
                     "checked_bytes", (json_int_t)f->checked_bytes, "wrong_n",
                     (json_int_t)f->wrong_n, "first_wrong",
                     f->first[0] ? js_text(f->first) : json_null(), "completed", (int)m->done);
}
