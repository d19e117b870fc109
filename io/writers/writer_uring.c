/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As async, with the kernel in the place of the thread: an aggregator hands the pieces of a staged
 * dump to io_uring and looks for what has arrived at its next call. Built where liburing is found;
 * a kernel may still refuse it (containers often do), which is found out when it is asked for.
 *
 * Writes through the page cache are given to the kernel's workers: done at once they would copy on
 * the caller's time. When a piece arrived is known at the next call only, so the time under way is
 * an upper bound of the time of writing. */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "io/writers/background.h"
#include "io/writers/busy.h"

#define URING_PIECES 32 /* of a job at most, and one for the tail of the file */

/* A request; after a short write or read the rest is submitted again. */
struct request {
    char *data;
    int64_t bytes, offset;
    struct io_job *job;
    int fd;
    bool under_way;
};

struct uring_engine {
    struct io_uring ring;
    bool running;
    int requests_n, under_way_n;
    struct request *request; /* [requests_n] */
};

static int uring_start(struct io_background *b)
{
    struct uring_engine *e = b->engine_state;
    e->requests_n = b->slots_n * (URING_PIECES + 1);
    e->request = mem_new(e->requests_n, sizeof *e->request, "requests to io_uring");
    if (!e->request) return ERR_NOMEM;
    int rc = io_uring_queue_init((unsigned)e->requests_n, &e->ring, 0);
    if (rc < 0)
        return err_set_errno(ERR_IO, -rc,
                             "the kernel refuses io_uring, asked for to write %s (see "
                             "kernel.io_uring_disabled, or the container's rules): take --io async",
                             b->ctx->path);
    e->running = true;
    return 0;
}

static bool uring_usable(char *why)
{
    struct io_uring ring;
    if (io_uring_queue_init(2, &ring, 0) < 0) {
        snprintf(why, IO_WRITER_WHY,
                 "the kernel refuses io_uring (see kernel.io_uring_disabled, or the container's "
                 "rules)");
        return false;
    }
    io_uring_queue_exit(&ring);
    return true;
}

/* Gives a request to the kernel with the next submit. There is room for all that can be under way.
 */
static void enqueue(struct io_background *b, struct request *r)
{
    struct uring_engine *e = b->engine_state;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&e->ring);
    ERR_ASSERT(sqe);
    /* A request longer than one call can transfer ends short, and its rest is submitted again. */
    const unsigned bytes = (unsigned)(r->bytes < IO_CALL_BYTES ? r->bytes : IO_CALL_BYTES);
    if (b->ctx->plan)
        io_uring_prep_read(sqe, r->fd, r->data, bytes, (uint64_t)r->offset);
    else
        io_uring_prep_write(sqe, r->fd, r->data, bytes, (uint64_t)r->offset);
    if (!b->direct) sqe->flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(sqe, r);
    if (!r->under_way) {
        e->under_way_n++;
        r->job->todo++;
    }
    r->under_way = true;
    r->job->requests_n++;
}

static void add_request(struct io_background *b, struct request r)
{
    struct uring_engine *e = b->engine_state;
    int at = 0;
    while (at < e->requests_n && e->request[at].under_way)
        at++;
    ERR_ASSERT(at < e->requests_n);
    e->request[at] = r;
    enqueue(b, &e->request[at]);
}

/* The kernel may accept fewer requests than were submitted. */
static int submit(struct io_background *b)
{
    struct uring_engine *e = b->engine_state;
    int rc;
    do {
        rc = io_uring_submit(&e->ring);
    } while (rc == -EINTR || rc == -EAGAIN || (rc > 0 && io_uring_sq_ready(&e->ring) > 0));
    return rc < 0 ? err_set_errno(ERR_IO, -rc, "io_uring_submit for %s", b->ctx->path) : 0;
}

/* Long jobs have longer pieces rather than more of them. */
static int uring_post(struct io_background *b, struct io_job *job)
{
    int64_t step = b->ctx->tuning.buffer_bytes;
    if (step * URING_PIECES < job->bytes) step = job->bytes / URING_PIECES + IO_BLOCK_BYTES;
    step = step / IO_BLOCK_BYTES * IO_BLOCK_BYTES;
    job->start_s = watch_now();
    for (int64_t done = 0; done < job->bytes; done += step) {
        const int64_t bytes = job->bytes - done < step ? job->bytes - done : step;
        add_request(
            b, (struct request){job->data + done, bytes, job->start + done, job, b->fd, false});
    }
    if (job->tail_bytes > 0)
        add_request(b, (struct request){job->tail, job->tail_bytes, job->tail_start, job,
                                        b->tail_fd, false});
    job->finished = job->todo == 0;
    return job->finished ? 0 : submit(b);
}

/* The outcome of a request: done, failed, or to be submitted again. Returns whether it has ended. */
static bool end_request(struct io_background *b, struct request *r, int result)
{
    const int64_t align = r->fd == b->fd ? io_background_align(b) : 1;
    const bool again = result == -EINTR || result == -EAGAIN, reads = b->ctx->plan != NULL;
    const struct io_job *job = r->job;
    int64_t done = again ? 0 : result;
    if (reads && done > 0 && r->offset + done >= job->start + job->need_bytes) return true;
    if (done > 0 && done < r->bytes) done = done / align * align;
    if (done <= 0 && !again) {
        const int errnum = result < 0 ? -result : reads && result == 0 ? IO_FD_ENDED : EIO;
        r->job->fault = (struct io_fd_fault){errnum, r->bytes, r->offset};
        return true;
    }
    r->data += done;
    r->offset += done;
    r->bytes -= done;
    return r->bytes == 0;
}

static void arrived(struct io_background *b, struct io_uring_cqe *cqe)
{
    struct uring_engine *e = b->engine_state;
    struct request *r = io_uring_cqe_get_data(cqe);
    const int result = cqe->res;
    io_uring_cqe_seen(&e->ring, cqe);
    if (!end_request(b, r, result)) {
        enqueue(b, r);
        if (submit(b) == 0) return;
        r->job->fault = (struct io_fd_fault){EIO, r->bytes, r->offset};
        r->job->finished = true;
        return;
    }
    r->under_way = false;
    e->under_way_n--;
    if (--r->job->todo > 0) return;
    r->job->finished = true;
    io_busy_add(b->ctx->busy, r->job->start_s, watch_now());
}

static bool uring_finished(struct io_background *b, struct io_job *job, bool wait)
{
    struct uring_engine *e = b->engine_state;
    struct io_uring_cqe *cqe;
    while (io_uring_peek_cqe(&e->ring, &cqe) == 0)
        arrived(b, cqe);
    while (wait && !job->finished) {
        int rc = io_uring_wait_cqe(&e->ring, &cqe);
        if (rc == 0) arrived(b, cqe);
        if (rc == 0 || rc == -EINTR) continue;
        job->fault = (struct io_fd_fault){-rc, job->bytes, job->start};
        job->finished = true;
    }
    return job->finished;
}

/* Waits until the kernel no longer uses the slots' memory, which is freed next. Requests that a failed
 * submission has left in the queue are not waited for: they never complete. */
static void uring_stop(struct io_background *b)
{
    struct uring_engine *e = b->engine_state;
    struct io_uring_cqe *cqe;
    while (e->running && e->under_way_n > (int)io_uring_sq_ready(&e->ring)) {
        int rc = io_uring_wait_cqe(&e->ring, &cqe);
        if (rc == 0) arrived(b, cqe);
        if (rc < 0 && rc != -EINTR) break;
    }
    if (e->running) io_uring_queue_exit(&e->ring);
    e->running = false;
    free(e->request);
}

static int uring_open(void *state, const struct io_context *ctx)
{
    static const struct io_engine engine = {sizeof(struct uring_engine), uring_start, uring_post,
                                            uring_finished, uring_stop};
    return io_background_open(state, ctx, &engine);
}

static int uring_describe(void *state, const struct io_context *ctx, json_t *into)
{
    json_object_set_new(into, "overlap_basis", json_string("under way"));
    return io_background_slot_describe(state, ctx, into);
}

const struct io_writer io_writer_uring = {
    .name = "uring",
    .help = "as async, with io_uring instead of threads",
    .caps =
        IO_CAP_SERIAL_FILE | IO_CAP_AGGREGATORS | IO_CAP_BUFFER | IO_CAP_STAGING | IO_CAP_DIRECT,
    .needs = IO_NEED_URING,
    .state_size = sizeof(struct io_background),
    .usable = uring_usable,
    .open = uring_open,
    .buffer = io_background_slot_buffer,
    .write = io_background_slot_write,
    .read = io_background_slot_read,
    .done = io_background_slot_done,
    .drain = io_background_slot_drain,
    .sync = io_background_slot_sync,
    .close = io_background_slot_close,
    .describe = uring_describe,
};
