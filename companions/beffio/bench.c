/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/bench.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/stop.h"
#include "base/watch.h"
#include "companions/beffio/schedule.h"
#include "io/writers/mpiio.h"

/* Sent by rank 0 in the place of a number of calls. */
enum { DONE = 0, FAILED = -1, STOPPED = -2 };

#define ORDERED_STEP_BYTES 8192

int64_t beffio_ordered_most(int procs, bool ompio)
{
    const int64_t most = ompio ? INT32_MAX / procs : BEFFIO_POST_BYTES;
    return most < BEFFIO_POST_BYTES ? most : BEFFIO_POST_BYTES;
}

int beffio_bench_begin(struct beffio_bench *b)
{
    int64_t most = 0;
    if (b->buf) return 0;
    for (int no = 0; no < BEFFIO_PATTERNS; no++) {
        const int64_t bytes = beffio_pattern(no, b->layout.m_part_bytes).call_bytes;
        if (bytes > most) most = bytes;
    }
    b->buf = buffer_at((size_t)most, b->buffer_offset, &b->memory);
    TRY(par_agree(
        b->comm,
        b->buf ? 0 : mem_error("a buffer of %lld bytes: give a smaller -MB", (long long)most)));
    const int at = buffer_offset_of(b->buf);
    int most_of[2] = {-at, at};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most_of, 2, MPI_INT, MPI_MAX, b->comm));
    b->offset_bytes[0] = -most_of[0];
    b->offset_bytes[1] = most_of[1];
    return 0;
}

void beffio_bench_free(struct beffio_bench *b)
{
    free(b->memory);
    json_decref(b->library);
    b->memory = NULL;
    b->buf = NULL;
    b->library = NULL;
}

bool beffio_bench_single_read(const struct beffio_bench *b, enum beffio_access access, int no)
{
    return access == BEFFIO_READ && no >= beffio_type_first(BEFFIO_SEGMENTED) &&
           b->layout.calls[no] == 1;
}

/* A pattern in the works. */
struct work {
    struct beffio_bench *b;
    struct beffio_file *file;
    struct beffio_origin origin, written; /* of what is moved; of what lies in the file */
    struct beffio_place place;
    bool released;
    bool timed;    /* limited by time_s from its start on, and by calls_most for want of space; */
    double time_s; /* else by their number */
    int64_t calls_most; /* 0: nothing to fill up */
    struct beffio_pattern_time *t;
    double begun;
    int64_t done, last; /* calls; of the last batch */
    double last_s;
    int rc; /* of this rank */
};

/* The number of calls in the next batch; on rank 0. */
static int64_t decide(struct work *w, int worst)
{
    const int64_t left = w->calls_most - w->done;
    if (worst < 0) return FAILED;
    if (stop_requested()) return STOPPED;
    if (!w->timed) return beffio_next_counted(w->last, w->last_s, left);
    const double elapsed = watch_now() - w->begun;
    const int64_t next =
        beffio_next_batch(w->done, elapsed, w->time_s, left, w->b->schedule->per_call);
    w->t->capped =
        next == 0 && left == 0 && beffio_next_batch(w->done, elapsed, w->time_s, 1, true) > 0;
    return next;
}

/* Makes calls until an error, or, where others make them with this rank, through all of them. */
static void batch(struct work *w, int64_t calls)
{
    const bool writes = w->origin.access != BEFFIO_READ;
    const bool together = beffio_file_collective(w->file);
    for (int64_t c = 0; c < calls && (w->rc == 0 || together); c++) {
        if (writes && w->released)
            beffio_stamp_ends(w->b->buf, &w->place, &w->origin, w->done + c);
        else if (writes)
            beffio_stamp(w->b->buf, &w->place, &w->origin, w->done + c);
        int rc = beffio_file_call(w->file, w->b->buf);
        if (!writes && w->released && rc == 0)
            beffio_check_ends(w->b->buf, &w->place, &w->written, w->done + c,
                              &w->b->findings[BEFFIO_READ]);
        if (!together && !w->timed && stop_requested()) rc = err_set(ERR_INTERRUPT, "interrupted");
        if (w->rc == 0) w->rc = rc;
    }
    w->done += calls;
    w->last = calls;
}

/* What stands inside the clock: the view, batches of calls, the sync. Calls that each rank makes by
 * itself, so many, go on without a word between ranks. After a batch rank 0 waits for all, learns
 * whether one failed, and decides: what a barrier and a broadcast would cost, and no call of MPI
 * more or less on any rank. [out] end: DONE, FAILED or STOPPED. */
static int time_pattern(struct work *w, int64_t *end)
{
    const bool at_once = !w->timed && !beffio_file_collective(w->file);
    int64_t next = at_once ? w->calls_most : 1;
    TRY_MPI(MPI_Barrier(w->b->comm));
    w->begun = watch_now();
    w->rc = beffio_file_view(w->file, w->origin.pattern, &w->place);
    w->t->view_s = watch_now() - w->begun;
    while (next > 0) {
        int worst = 0;
        const double begun = watch_now();
        batch(w, next);
        const double called = watch_now();
        w->last_s = called - begun;
        if (w->released) /* a barrier after each call */
            TRY_MPI(MPI_Allreduce(&w->rc, &worst, 1, MPI_INT, MPI_MIN, w->b->comm));
        else
            TRY_MPI(MPI_Reduce(&w->rc, &worst, 1, MPI_INT, MPI_MIN, 0, w->b->comm));
        const double met = watch_now();
        if (w->b->rank == 0) next = decide(w, worst);
        TRY_MPI(MPI_Bcast(&next, 1, MPI_INT64_T, 0, w->b->comm));
        w->t->calls_s += called - begun;
        w->t->barrier_s += met - called;
        w->t->last_s = w->last_s / (double)w->last;
        w->t->last_wait_s = watch_now() - called;
        w->t->wait_s += w->t->last_wait_s;
        w->t->batches_n++;
    }
    if (next == DONE && w->origin.access != BEFFIO_READ) {
        const double begun = watch_now();
        const int rc = beffio_file_sync(w->file);
        if (w->rc == 0) w->rc = rc;
        TRY_MPI(MPI_Barrier(w->b->comm));
        w->t->sync_s = watch_now() - begun;
    }
    w->t->s = watch_now() - w->begun;
    *end = next;
    return 0;
}

/* One pattern: the buffer is made ready, the calls are timed, and what the last call of a read left
 * in the buffer is checked. It was written by the last access that writes. */
static int measure_pattern(struct beffio_bench *b, struct beffio_file *file, int no)
{
    const enum beffio_access access = file->access;
    const struct beffio_pattern p = beffio_layout_pattern(&b->layout, no);
    struct work w = {.b = b,
                     .file = file,
                     .origin = {b->rank, no, access},
                     .written = {b->rank, no, BEFFIO_REWRITE},
                     .released = b->schedule->definition == BEFFIO_2_1,
                     .place = beffio_place(&b->layout, no),
                     .calls_most = b->layout.calls[no],
                     .t = &b->result[access].pattern[no]};
    const int64_t bytes = w.place.chunks_per_call * w.place.chunk_bytes;
    int64_t end = DONE;
    if (access == BEFFIO_WRITE && p.type <= BEFFIO_SEPARATE) {
        w.timed = p.u > 0;
        w.time_s = beffio_pattern_time_s(b->schedule, b->index, p.u);
        w.calls_most = !w.timed ? 1 : beffio_most_calls(&b->layout, b->share_bytes, no, b->evenly);
    }
    *w.t = (struct beffio_pattern_time){0};
    if (w.calls_most < 1) return 0;
    if (access == BEFFIO_READ)
        beffio_poison(b->buf, bytes);
    else
        beffio_fill(b->buf, bytes, &w.origin);
    TRY(par_agree(b->comm, time_pattern(&w, &end)));
    TRY(par_agree(b->comm, end == STOPPED ? err_set(ERR_INTERRUPT, "interrupted") : w.rc));
    b->layout.calls[no] = w.done;
    w.place.calls_n = w.done;
    b->measured.pattern[access][no] =
        (struct beffio_amount){b->procs * beffio_place_bytes(&w.place), w.t->s};
    if (access == BEFFIO_READ && w.done > 0) {
        const struct beffio_expect e = {.o = w.written, .procs = 1, .place = w.place};
        beffio_compare(&e, (w.done - 1) * bytes, b->buf, bytes, &b->findings[BEFFIO_READ]);
    }
    return 0;
}

/* A step of a file from barrier to barrier. */
static int step_timed(struct beffio_bench *b, struct beffio_file *f,
                      int (*step)(struct beffio_file *), double *s)
{
    TRY_MPI(MPI_Barrier(b->comm));
    const double begun = watch_now();
    const int rc = step(f);
    TRY_MPI(MPI_Barrier(b->comm));
    *s = watch_now() - begun;
    return par_agree(b->comm, rc);
}

/* Share of the file to be read that lies in a host's memory: the most of all hosts. */
static int cached_before(const struct beffio_bench *b, const struct beffio_file *f, double *share)
{
    const bool asks = b->leads_node || f->type == BEFFIO_SEPARATE;
    struct resident r;
    double most = -1;
    const int rc = b->drop_cache && asks ? resident_drop(f->path) : 0;
    if (rc < 0) err_prefix("--drop-cache: ");
    TRY(par_agree(b->comm, rc));
    if (asks && resident_ask(f->path, &r) == 0 && r.file_bytes > 0)
        most = (double)r.cached_bytes / (double)r.file_bytes;
    err_clear();
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, b->comm));
    *share = most < 0 ? NAN : most;
    return 0;
}

/* What the library says about the file that it opened; on the rank that keeps the results. */
static int keep_report(struct beffio_bench *b, const struct beffio_file *f)
{
    if (!b->keeps) return 0;
    json_t *o = json_pack("{si ss ss}", "procs", b->procs, "access", beffio_access_name(f->access),
                          "type", beffio_type_name(f->type));
    if (!o) return mem_error("the record of hints");
    if (!b->library) b->library = json_array();
    json_array_append_new(b->library, o);
    return io_mpiio_report(f->fh, o);
}

/* Before the first ordered call: chunks that the library can take in one post. */
static int ordered_limit(struct beffio_bench *b, const struct beffio_file *f)
{
    if (f->type != BEFFIO_SHARED || !f->shared_pointer || f->access != BEFFIO_WRITE) return 0;
    int64_t most = b->rank == 0 ? beffio_ordered_most(b->procs, mpilib_may_be_ompio()) : 0;
    if (f->post_bytes < most) most = f->post_bytes;
    TRY_MPI(MPI_Bcast(&most, 1, MPI_INT64_T, 0, b->comm));
    if (b->layout.m_part_bytes > most)
        b->layout.shared_m_part_bytes = most / ORDERED_STEP_BYTES * ORDERED_STEP_BYTES;
    return 0;
}

static int measure_type(struct beffio_bench *b, struct beffio_file *f)
{
    struct beffio_type_time *t = &b->result[f->access].type[f->type];
    *t = (struct beffio_type_time){.cached_share = NAN};
    if (f->access == BEFFIO_WRITE)
        TRY(beffio_files_make(b->files, b->comm, b->index, f->type,
                              &b->measured.create_s[f->type]));
    if (f->access == BEFFIO_READ) TRY(cached_before(b, f, &t->cached_share));
    TRY(step_timed(b, f, beffio_file_open, &t->open_s));
    int rc = par_agree(b->comm, keep_report(b, f));
    if (rc == 0) rc = par_agree(b->comm, ordered_limit(b, f));
    for (int no = beffio_type_first(f->type); rc == 0 && no < beffio_type_end(f->type); no++) {
        rc = measure_pattern(b, f, no);
        if (rc == 0 && b->progress) progress_update(b->progress, ++*b->progress_done);
    }
    const int closed = step_timed(b, f, beffio_file_close, &t->close_s);
    TRY(rc);
    TRY(closed);
    struct beffio_amount sum = {.s = t->open_s + t->close_s};
    for (int no = beffio_type_first(f->type); no < beffio_type_end(f->type); no++) {
        sum.bytes += b->measured.pattern[f->access][no].bytes;
        sum.s += b->measured.pattern[f->access][no].s;
    }
    b->measured.type[f->access][f->type] = sum;
    return 0;
}

static int measure_types(struct beffio_bench *b, enum beffio_access access)
{
    char path[BEFFIO_PATH_MAX];
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        struct beffio_file f = {.comm = b->comm,
                                .rank = b->rank,
                                .procs = b->procs,
                                .type = (enum beffio_type)t,
                                .access = access,
                                .shared_pointer = b->shared_pointer,
                                .unique = b->unique,
                                .hints = b->hints,
                                .path = path,
                                .post_bytes =
                                    b->post_bytes > 0 ? b->post_bytes : BEFFIO_POST_BYTES};
        beffio_files_path(b->files, b->index, (enum beffio_type)t, b->rank, path);
        TRY(measure_type(b, &f));
        if (access == BEFFIO_WRITE && t == BEFFIO_SEPARATE) beffio_layout_segments(&b->layout);
    }
    return 0;
}

int beffio_bench_access(struct beffio_bench *b, enum beffio_access access)
{
    if (access != BEFFIO_READ || b->shift == 0) return measure_types(b, access);
    /* With another number a rank does all that the one of that number has done. */
    const MPI_Comm comm = b->comm;
    const int rank = b->rank;
    b->rank = (rank + b->shift) % b->procs;
    TRY_MPI(MPI_Comm_split(comm, 0, b->rank, &b->comm));
    const int set = par_check(MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN), "errors");
    const int rc = set < 0 ? set : measure_types(b, access);
    const int freed = par_check(MPI_Comm_free(&b->comm), "MPI_Comm_free");
    b->comm = comm;
    b->rank = rank;
    TRY(rc);
    return freed;
}
