/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beffio/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/stop.h"
#include "base/watch.h"
#include "beffio/schedule.h"
#include "io/mpiio.h"

/* Instead of a number of calls, what rank 0 tells the others. */
enum { DONE = 0, FAILED = -1, STOPPED = -2 };

#define BUFFER_ALIGN 4096

/* OMPIO adds up what all ranks write in an ordered call in an int: from 2 GiB on its shared pointer
 * is anywhere, and so are the data, without an error (Open MPI 4.1.4). Chunks of 2 / n GB are what
 * [RK01, 5.4] provides for such a library. */
#define ORDERED_BYTES_MOST INT32_MAX
#define ORDERED_STEP_BYTES 8192

int beffio_bench_begin(struct beffio_bench *b)
{
    int64_t most = 0;
    for (int no = 0; no < BEFFIO_PATTERNS; no++) {
        const int64_t bytes = beffio_pattern(no, b->layout.m_part_bytes).call_bytes;
        if (bytes > most) most = bytes;
    }
    void *buf = NULL;
    int rc = 0;
    if (posix_memalign(&buf, BUFFER_ALIGN, (size_t)most) != 0)
        rc = err_set(ERR_NOMEM, "no memory for a buffer of %lld bytes: give a smaller -MB",
                     (long long)most);
    b->buf = buf;
    return par_agree(b->comm, rc);
}

void beffio_bench_free(struct beffio_bench *b)
{
    free(b->buf);
    json_decref(b->library);
    b->buf = NULL;
    b->library = NULL;
}

/* What limits the calls of a pattern. */
struct limit {
    bool timed;    /* else by their number */
    double time_s; /* from the start of the pattern */
    int64_t calls_most;
};

static struct limit limit_of(const struct beffio_bench *b, enum beffio_access access, int no)
{
    const struct beffio_pattern p = beffio_layout_pattern(&b->layout, no);
    const bool free_running = access == BEFFIO_WRITE && p.type <= BEFFIO_SEPARATE;
    if (!free_running) return (struct limit){.calls_most = b->layout.calls[no]};
    if (p.u == 0) return (struct limit){.calls_most = 1};
    return (struct limit){
        .timed = true,
        .time_s = beffio_pattern_time_s(b->schedule, p.u),
        .calls_most = beffio_most_calls(b->procs, b->layout.m_part_bytes, b->share_bytes, no)};
}

/* A pattern in the works. */
struct work {
    struct beffio_bench *b;
    struct beffio_file *file;
    struct beffio_origin origin;
    struct beffio_place place;
    struct limit limit;
    struct beffio_pattern_time *t;
    double begun;
    int64_t done, last; /* calls; of the last batch */
    double last_s;
    int rc; /* of this rank */
};

/* How many calls come next; rank 0 alone. */
static int64_t decide(struct work *w, int worst)
{
    const int64_t left = w->limit.calls_most - w->done;
    if (worst < 0) return FAILED;
    if (stop_requested()) return STOPPED;
    if (!w->limit.timed) return beffio_next_counted(w->last, w->last_s, left);
    const double elapsed = watch_now() - w->begun;
    const int64_t next = beffio_next_batch(w->done, elapsed, w->limit.time_s, left, w->b->per_call);
    w->t->capped =
        next == 0 && left == 0 && beffio_next_batch(w->done, elapsed, w->limit.time_s, 1, true) > 0;
    return next;
}

/* Waits for all ranks, learns whether one failed, and has rank 0 decide: what a barrier and a
 * broadcast would cost, and no call of MPI more or less on any rank. */
static int agree_next(struct work *w, int64_t *next)
{
    int worst = 0;
    TRY_MPI(MPI_Reduce(&w->rc, &worst, 1, MPI_INT, MPI_MIN, 0, w->b->comm));
    if (w->b->rank == 0) *next = decide(w, worst);
    TRY_MPI(MPI_Bcast(next, 1, MPI_INT64_T, 0, w->b->comm));
    return 0;
}

/* A rank that failed goes on in calls that the others make with it. */
static void batch(struct work *w, int64_t calls)
{
    const bool writes = w->origin.access != BEFFIO_READ;
    const bool collective = beffio_file_collective(w->file);
    for (int64_t c = 0; c < calls && (w->rc == 0 || collective); c++) {
        if (writes) beffio_stamp(w->b->buf, &w->place, &w->origin, w->done + c);
        const int rc = beffio_file_call(w->file, w->b->buf);
        if (w->rc == 0) w->rc = rc;
    }
    w->done += calls;
    w->last = calls;
}

/* [out] next: DONE, FAILED or STOPPED. */
static int loop(struct work *w, int64_t *next)
{
    *next = w->limit.calls_most < 1 ? DONE : 1;
    while (*next > 0) {
        const double begun = watch_now();
        batch(w, *next);
        const double called = watch_now();
        w->last_s = called - begun;
        TRY(agree_next(w, next));
        w->t->calls_s += called - begun;
        w->t->wait_s += watch_now() - called;
        w->t->batches_n++;
    }
    return 0;
}

static int sync_all(struct work *w)
{
    const double begun = watch_now();
    const int rc = beffio_file_sync(w->file);
    TRY_MPI(MPI_Barrier(w->b->comm));
    w->t->sync_s = watch_now() - begun;
    return rc;
}

/* What stands inside the clock. [out] end: why the loop ended. */
static int timed(struct work *w, int64_t *end)
{
    TRY_MPI(MPI_Barrier(w->b->comm));
    w->begun = watch_now();
    w->rc = beffio_file_view(w->file, w->origin.pattern, &w->place);
    w->t->view_s = watch_now() - w->begun;
    TRY(loop(w, end));
    if (*end == DONE && w->origin.access != BEFFIO_READ) {
        const int rc = sync_all(w);
        if (w->rc == 0) w->rc = rc;
    }
    w->t->s = watch_now() - w->begun;
    return 0;
}

static void buffer_ready(const struct work *w)
{
    const int64_t bytes = w->place.chunks_per_call * w->place.chunk_bytes;
    if (w->origin.access == BEFFIO_READ)
        beffio_poison(w->b->buf, bytes);
    else
        beffio_fill(w->b->buf, bytes, &w->origin);
}

/* The last call of a timed read left its data in the buffer. They were written by the last access
 * that writes. */
static void buffer_check(const struct work *w)
{
    struct beffio_expect e = {.o = w->origin, .procs = 1, .place = w->place};
    const int64_t bytes = w->place.chunks_per_call * w->place.chunk_bytes;
    e.o.access = BEFFIO_REWRITE;
    if (w->origin.access == BEFFIO_READ && w->done > 0)
        beffio_compare(&e, (w->done - 1) * bytes, w->b->buf, bytes, &w->b->findings[BEFFIO_READ]);
}

static int pattern_end(const struct work *w, int64_t end)
{
    int rc = w->rc;
    if (end == STOPPED) rc = err_set(ERR_INTERRUPT, "interrupted");
    return par_agree(w->b->comm, rc);
}

static int pattern(struct beffio_bench *b, struct beffio_file *file, int no)
{
    const enum beffio_access access = file->access;
    struct work w = {.b = b,
                     .file = file,
                     .origin = {b->rank, no, access},
                     .place = beffio_place(&b->layout, no),
                     .limit = limit_of(b, access, no),
                     .t = &b->result[access].pattern[no]};
    int64_t end = DONE;
    *w.t = (struct beffio_pattern_time){0};
    if (w.limit.calls_most < 1) return 0; /* nothing to fill up */
    buffer_ready(&w);
    TRY(par_agree(b->comm, timed(&w, &end)));
    TRY(pattern_end(&w, end));
    b->layout.calls[no] = w.done;
    w.place.calls_n = w.done;
    b->measured.pattern[access][no] =
        (struct beffio_amount){b->procs * beffio_place_bytes(&w.place), w.t->s};
    buffer_check(&w);
    return 0;
}

/* Opening and closing are from barrier to barrier. */
static int open_timed(struct beffio_bench *b, struct beffio_file *f, double *s)
{
    TRY_MPI(MPI_Barrier(b->comm));
    const double begun = watch_now();
    const int rc = beffio_file_open(f);
    TRY_MPI(MPI_Barrier(b->comm));
    *s = watch_now() - begun;
    return par_agree(b->comm, rc);
}

static int close_timed(struct beffio_bench *b, struct beffio_file *f, double *s)
{
    TRY_MPI(MPI_Barrier(b->comm));
    const double begun = watch_now();
    const int rc = beffio_file_close(f);
    TRY_MPI(MPI_Barrier(b->comm));
    *s = watch_now() - begun;
    return par_agree(b->comm, rc);
}

static int patterns(struct beffio_bench *b, struct beffio_file *f)
{
    for (int no = beffio_type_first(f->type); no < beffio_type_end(f->type); no++) {
        TRY(pattern(b, f, no));
        if (b->progress_done) progress_update(b->progress, ++*b->progress_done);
    }
    return 0;
}

static void type_sum(struct beffio_bench *b, const struct beffio_file *f)
{
    struct beffio_type_time *t = &b->result[f->access].type[f->type];
    struct beffio_amount sum = {.s = t->open_s + t->close_s};
    for (int no = beffio_type_first(f->type); no < beffio_type_end(f->type); no++) {
        sum.bytes += b->measured.pattern[f->access][no].bytes;
        sum.s += b->measured.pattern[f->access][no].s;
    }
    t->s = sum.s;
    b->measured.type[f->access][f->type] = sum;
}

/* Share of this rank's file that lies in its host's memory. */
static double cached_share(const char *path)
{
    struct resident r;
    if (resident_ask(path, &r) == 0 && r.file_bytes > 0)
        return (double)r.cached_bytes / (double)r.file_bytes;
    err_clear();
    return NAN;
}

/* What the library says about the file that it opened; on rank 0. */
static int describe(struct beffio_bench *b, const struct beffio_file *f)
{
    if (b->rank != 0) return 0;
    json_t *o = json_pack("{si ss ss}", "procs", b->procs, "access", beffio_access_name(f->access),
                          "type", beffio_type_name(f->type));
    if (!o) return err_set(ERR_NOMEM, "no memory for the record of hints");
    if (!b->library) b->library = json_array();
    json_array_append_new(b->library, o);
    return io_mpiio_report(f->fh, o);
}

static bool is_ompio(const struct beffio_bench *b)
{
    const json_t *last = json_array_get(b->library, json_array_size(b->library) - 1);
    const char *name = json_string_value(json_object_get(last, "mpiio_component"));
    return name && strstr(name, "ompio");
}

static int64_t post_bytes(const struct beffio_bench *b)
{
    return b->post_bytes > 0 ? b->post_bytes : BEFFIO_POST_BYTES;
}

/* Before the first ordered call: chunks that the library can take in one post. */
static int ordered_limit(struct beffio_bench *b, const struct beffio_file *f)
{
    int64_t most = f->post_bytes;
    if (f->type != BEFFIO_SHARED || !f->shared_pointer || f->access != BEFFIO_WRITE) return 0;
    if (b->rank == 0 && is_ompio(b) && ORDERED_BYTES_MOST / b->procs < most)
        most = ORDERED_BYTES_MOST / b->procs;
    TRY_MPI(MPI_Bcast(&most, 1, MPI_INT64_T, 0, b->comm));
    if (b->layout.m_part_bytes > most)
        b->layout.shared_m_part_bytes = most / ORDERED_STEP_BYTES * ORDERED_STEP_BYTES;
    return 0;
}

static int type_measure(struct beffio_bench *b, struct beffio_file *f)
{
    struct beffio_type_time *t = &b->result[f->access].type[f->type];
    *t = (struct beffio_type_time){.cached_share = NAN};
    if (f->access == BEFFIO_WRITE) TRY(beffio_files_make(b->files, b->comm, b->index, f->type));
    if (f->access == BEFFIO_READ) t->cached_share = cached_share(f->path);
    TRY(open_timed(b, f, &t->open_s));
    int rc = par_agree(b->comm, describe(b, f));
    if (rc == 0) rc = par_agree(b->comm, ordered_limit(b, f));
    if (rc == 0) rc = patterns(b, f);
    const int closed = close_timed(b, f, &t->close_s);
    TRY(rc);
    TRY(closed);
    type_sum(b, f);
    return 0;
}

int beffio_bench_access(struct beffio_bench *b, enum beffio_access access)
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
                                .post_bytes = post_bytes(b)};
        beffio_files_path(b->files, b->index, (enum beffio_type)t, b->rank, path);
        const int rc = type_measure(b, &f);
        TRY(rc);
        if (access == BEFFIO_WRITE && t == BEFFIO_SEPARATE) beffio_layout_segments(&b->layout);
    }
    return 0;
}
