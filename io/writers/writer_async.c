/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes while the caller computes: each aggregator has one thread that empties staged dumps into
 * the file with pwrite, or reads ahead with pread (io/writers/background.h). The thread makes no MPI calls and leaves no messages: its
 * failures are faults in its jobs. Where the data must become durable, and go through the page
 * cache, it also starts them on their way to the device, so that the flush at the end finds little
 * to do. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/err.h"
#include "base/sys.h"
#include "base/watch.h"
#include "io/writers/background.h"
#include "io/writers/busy.h"

struct async_engine {
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job was posted or finished, or the end was asked for */
    int next, waiting_n;    /* posted jobs that the thread has not begun */
    bool stop;
};

static void async_read(struct io_background *b, struct io_job *job)
{
    const struct io_want want = {job->data, job->bytes, job->start, job->need_bytes};
    io_fd_get(b->fd, want, io_background_align(b), &job->requests_n, &job->fault);
}

/* Pieces of at most buffer_bytes, so that a failed run ends soon. */
static void async_write(struct io_background *b, struct io_job *job)
{
    const double since_s = watch_now();
    const int64_t step = b->ctx->tuning.buffer_bytes / IO_BLOCK_BYTES * IO_BLOCK_BYTES;
    const unsigned flags =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    int rc = 0;
    for (int64_t done = 0; done < job->bytes && rc == 0; done += step) {
        const int64_t bytes = job->bytes - done < step ? job->bytes - done : step;
        const struct io_piece piece = {job->data + done, bytes, job->start + done};
        rc = io_fd_put(b->fd, piece, io_background_align(b), &job->requests_n, &job->fault);
    }
    const struct io_piece tail = {job->tail, job->tail_bytes, job->tail_start};
    if (rc == 0) rc = io_fd_put(b->tail_fd, tail, 1, &job->requests_n, &job->fault);
    const bool flush = rc == 0 && job->bytes > 0 && !b->direct && b->ctx->sync != IO_SYNC_NONE;
    if (flush && sync_file_range(b->fd, job->start, job->bytes, flags) != 0 && errno == EIO)
        job->fault = (struct io_fd_fault){EIO, job->bytes, job->start};
    io_busy_add(b->ctx->busy, since_s, watch_now());
}

static void *async_thread(void *arg)
{
    struct io_background *b = arg;
    struct async_engine *e = b->engine_state;
    sys_cpus_unbind();
    pthread_mutex_lock(&e->lock);
    for (;;) {
        while (e->waiting_n == 0 && !e->stop)
            pthread_cond_wait(&e->changed, &e->lock);
        if (e->stop) break;
        struct io_job *job = &b->job[e->next];
        pthread_mutex_unlock(&e->lock);
        if (b->ctx->plan)
            async_read(b, job);
        else
            async_write(b, job);
        pthread_mutex_lock(&e->lock);
        job->finished = true;
        e->next = (e->next + 1) % b->slots_n;
        e->waiting_n--;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* Signals go to the threads that compute. */
static int async_start(struct io_background *b)
{
    struct async_engine *e = b->engine_state;
    sigset_t all, before;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&e->thread, NULL, async_thread, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    e->running = errnum == 0;
    return errnum == 0 ? 0
                       : err_set_errno(ERR_NOMEM, errnum,
                                       "cannot start a thread for writing (ulimit -v, -u)");
}

static int async_post(struct io_background *b, struct io_job *job)
{
    struct async_engine *e = b->engine_state;
    (void)job; /* jobs are posted in the order of the ring */
    pthread_mutex_lock(&e->lock);
    e->waiting_n++;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return 0;
}

static bool async_finished(struct io_background *b, struct io_job *job, bool wait)
{
    struct async_engine *e = b->engine_state;
    pthread_mutex_lock(&e->lock);
    while (wait && !job->finished)
        pthread_cond_wait(&e->changed, &e->lock);
    const bool finished = job->finished;
    pthread_mutex_unlock(&e->lock);
    return finished;
}

/* Finishes the job in progress and drops the ones behind it. */
static void async_stop(struct io_background *b)
{
    struct async_engine *e = b->engine_state;
    if (!e->running) return;
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    e->running = false;
}

static int async_open(void *state, const struct io_context *ctx)
{
    static const struct io_engine engine = {sizeof(struct async_engine), async_start, async_post,
                                            async_finished, async_stop};
    return io_background_open(state, ctx, &engine);
}

const struct io_writer io_writer_async = {
    .name = "async",
    .help = "aggregators write in threads of their own while the ranks compute; --direct bypasses "
            "the page cache",
    .caps =
        IO_CAP_SERIAL_FILE | IO_CAP_AGGREGATORS | IO_CAP_BUFFER | IO_CAP_STAGING | IO_CAP_DIRECT,
    .state_size = sizeof(struct io_background),
    .open = async_open,
    .buffer = io_background_slot_buffer,
    .write = io_background_slot_write,
    .read = io_background_slot_read,
    .done = io_background_slot_done,
    .drain = io_background_slot_drain,
    .sync = io_background_slot_sync,
    .close = io_background_slot_close,
    .describe = io_background_slot_describe,
};
