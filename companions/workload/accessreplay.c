/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/accessreplay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/units.h"
#include "companions/workload/accessopen.h"
#include "companions/workload/accessroom.h"
#include "companions/workload/again.h"

/* One rank's part. */
struct access_run {
    struct workload_context *c;
    const struct workload_accessfile *a;
    struct workload_access_room room;
    struct workload_step *step; /* [steps], owned */
    int64_t steps;
    struct workload_access_opens opens;
    unsigned char *memory, *direct; /* slots; data past the page cache; owned */
    int64_t *read_step;             /* [slots] whose data lie there, -1; owned */
};

/* --- what is needed ------------------------------------------------------------------------- */

/* That this rank may have as many files open as its runs need. */
static int descriptors_check(const struct workload_context *c, const struct workload_accessfile *a,
                             const char *name)
{
    struct workload_access_opens opens;
    int rc = workload_access_opens_make(a, &opens);
    if (rc == 0) rc = workload_access_opens_allow(opens.n, name, c->rank);
    workload_access_opens_free(&opens);
    return rc;
}

int workload_access_check(const struct workload_context *c, const struct nodes *n,
                          const struct workload_accessfile *a, const char *name, double *needed)
{
    const struct workload_access_room room = workload_access_room(a, c->buffer_bytes);
    char mine[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX];
    int64_t free_bytes = 0;
    int rc = 0;
    *needed = 0;
    if (a->calls_n == 0)
        rc = err_set(ERR_USAGE, "%s: holds no access, nothing can be replayed", name);
    else if (a->processes_n > c->size)
        rc = err_set(ERR_USAGE, "%s: accesses of %d processes, %d %s started: start %d", name,
                     a->processes_n, c->size, c->size == 1 ? "was" : "were", a->processes_n);
    else if (room.direct_bytes > c->buffer_bytes)
        rc = err_set(ERR_USAGE,
                     "%s: process %d writes %s past the page cache (O_DIRECT), which must lie "
                     "ready in memory: "
                     "raise --buffer",
                     name, c->rank, units_bytes((double)room.direct_bytes, text));
    if (rc == 0) rc = descriptors_check(c, a, name);
    TRY(par_agree(c->comm, rc));
    TRY(nodes_memory(n, workload_access_room_bytes(&room), needed, &free_bytes));
    if (*needed > (double)free_bytes)
        rc = err_set(ERR_USAGE,
                     "%s: %" PRId64
                     " calls of process %d take %s of memory for their list and data, %s are free "
                     "on its node: lower --buffer, or start fewer processes on a node",
                     name, room.calls, c->rank,
                     units_bytes((double)workload_access_room_bytes(&room), mine),
                     units_bytes((double)free_bytes, text));
    return par_agree(c->comm, rc);
}

/* --- before the clock ----------------------------------------------------------------------- */

static int files_make(struct workload_context *c, const struct nodes *n,
                      const struct workload_accessfile *a)
{
    for (int f = 0; f < a->files_n; f++) {
        TRY(workload_context_file(c, f, num_max(a->file[f].length_bytes, 1), a->file[f].read));
        if (a->file[f].read) TRY(workload_files_drop(&c->files, n, f));
    }
    return 0;
}

/* What the calls of a run are made on. */
static struct workload_access_open *open_of(const struct access_run *t, int64_t run)
{
    return &t->opens.open[t->opens.of_run[run]];
}

static int memory_make(struct access_run *t)
{
    const struct workload_access_room *room = &t->room;
    TRY(workload_access_opens_make(t->a, &t->opens));
    t->read_step = mem_new(room->slots, sizeof *t->read_step, "%" PRId64 " buffers", room->slots);
    if (!t->read_step) return ERR_NOMEM;
    for (int64_t i = 0; i < room->slots; i++)
        t->read_step[i] = -1;
    t->memory = buffer_new((size_t)(room->slots * room->slot_bytes));
    t->direct = buffer_new((size_t)room->direct_bytes);
    if (!t->memory || !t->direct)
        return mem_error("%" PRId64 " buffers of %" PRId64 " bytes: lower --buffer", room->slots,
                         room->slot_bytes);
    TRY(workload_runs_expand(t->a->run, t->a->mine_n, &t->step, &t->steps));
    TRY(workload_access_opens_plan(t->a, t->c->rank, t->step, t->steps, &t->opens));
    unsigned char *to = t->direct;
    for (int64_t i = 0; i < t->steps; i++) {
        const struct workload_run *r = &t->a->run[t->step[i].run];
        if (!workload_run_writes(r) || !(r->flags & WORKLOAD_RUN_DIRECT)) continue;
        workload_data_copy(&t->c->data, to, t->step[i].offset, r->bytes);
        to += workload_access_on_pages(r->bytes);
    }
    return 0;
}

/* --- the calls ------------------------------------------------------------------------------ */

static int access_open(void *part)
{
    static const int mode[] = {O_RDONLY, O_WRONLY, O_RDWR};
    struct access_run *t = part;
    char path[WORKLOAD_PATH_MAX];
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < t->opens.n; i++) {
        struct workload_access_open *f = &t->opens.open[i];
        const int flags = f->flags & ~f->left_out;
        workload_files_path(&t->c->files, f->file, path);
        if (f->shorten >= 0 && truncate(path, (off_t)f->shorten) != 0)
            rc = err_set_errno(ERR_IO, errno, "cannot shorten %s", path);
        f->fd =
            open(path, mode[flags & 3] | O_CLOEXEC | (flags & WORKLOAD_RUN_DIRECT ? O_DIRECT : 0) |
                           (flags & WORKLOAD_RUN_SYNC ? O_SYNC : 0) |
                           (flags & WORKLOAD_RUN_DSYNC ? O_DSYNC : 0) |
                           (flags & WORKLOAD_RUN_TRUNC ? O_TRUNC : 0) |
                           (flags & WORKLOAD_RUN_APPEND ? O_APPEND : 0));
        if (f->fd < 0)
            rc = err_set_errno(ERR_IO, errno, "cannot open %s%s", path,
                               f->flags & WORKLOAD_RUN_DIRECT ? " past the page cache (O_DIRECT)"
                                                              : "");
        rc = workload_files_gone(path, rc);
    }
    return par_agree(t->c->comm, rc);
}

/* One call, again for the rest where it has moved less. buffer: not changed where it writes. */
static int access_move(struct access_run *t, const struct workload_step *s, unsigned char *buffer)
{
    const struct workload_run *r = &t->a->run[s->run];
    struct workload_access_open *const f = open_of(t, s->run);
    const int fd = f->fd;
    const bool pointer = r->call == WORKLOAD_RUN_READ || r->call == WORKLOAD_RUN_WRITE;
    char path[WORKLOAD_PATH_MAX];
    const bool append = workload_run_writes(r) && (f->flags & ~f->left_out & WORKLOAD_RUN_APPEND);
    if (pointer && f->at != s->offset && !append) {
        /* Offsets are below WORKLOAD_BYTES_MAX, so that this cannot fail on a regular file. */
        lseek(fd, (off_t)s->offset, SEEK_SET);
        f->at = s->offset;
    }
    for (int64_t done = 0;;) {
        const size_t left = (size_t)(r->bytes - done);
        const off_t at = (off_t)(s->offset + done);
        ssize_t n;
        switch (r->call) {
        case WORKLOAD_RUN_READ:
            n = read(fd, buffer + done, left);
            break;
        case WORKLOAD_RUN_WRITE:
            n = write(fd, buffer + done, left);
            break;
        case WORKLOAD_RUN_PREAD:
            n = pread(fd, buffer + done, left, at);
            break;
        case WORKLOAD_RUN_PWRITE:
            n = pwrite(fd, buffer + done, left, at);
            break;
        case WORKLOAD_RUN_FSYNC:
            n = fsync(fd);
            break;
        default:
            n = fdatasync(fd);
        }
        if (n < 0 && errno == EINTR) continue;
        const int error = errno;
        if (n > 0) {
            done += n;
            if (append)
                f->at = f->shared ? -1 : s->offset + done;
            else if (pointer)
                f->at += n;
        }
        if (n >= 0 && done == r->bytes) return 0;
        if (n > 0) continue;
        workload_files_path(&t->c->files, r->file, path);
        if (n == 0) return err_set(ERR_IO, "%s ends at byte %" PRId64, path, s->offset + done);
        return err_set_errno(ERR_IO, error, "%s on %s at byte %" PRId64,
                             workload_run_call_name(r->call), path, s->offset + done);
    }
}

static int access_all(void *part, double *think_s)
{
    struct access_run *t = part;
    unsigned char *direct = t->direct;
    int64_t reads = 0;
    (void)think_s;
    for (int64_t i = 0; i < t->steps; i++) {
        const struct workload_step *s = &t->step[i];
        const struct workload_run *r = &t->a->run[s->run];
        unsigned char *buffer = t->memory;
        if (stop_requested()) return err_set(ERR_INTERRUPT, "interrupted");
        if (workload_run_reads(r)) {
            const int64_t slot = reads++ % t->room.slots;
            buffer = t->memory + slot * t->room.slot_bytes;
            t->read_step[slot] = i;
        } else if (workload_run_writes(r) && r->flags & WORKLOAD_RUN_DIRECT) {
            buffer = direct;
            direct += workload_access_on_pages(r->bytes);
        } else if (workload_run_writes(r)) {
            buffer = t->c->data.master + s->offset % WORKLOAD_PERIOD_BYTES;
        }
        TRY(access_move(t, s, buffer));
        if (t->c->sync_call && workload_run_writes(r) && fsync(open_of(t, s->run)->fd) != 0)
            return err_set_errno(ERR_IO, errno, "flushing file %d", r->file);
    }
    return 0;
}

/* Flushes what this rank has written, each file once. */
static int access_sync(void *part)
{
    struct access_run *t = part;
    int32_t last = -1;
    for (int64_t i = 0; i < t->opens.n; i++) {
        const struct workload_access_open *f = &t->opens.open[i];
        if (f->file == last || (f->flags & 3) == WORKLOAD_RUN_RDONLY ||
            !t->a->file[f->file].written)
            continue;
        if (fsync(f->fd) != 0) return err_set_errno(ERR_IO, errno, "flushing file %d", f->file);
        last = f->file;
    }
    return 0;
}

static int access_close(void *part)
{
    struct access_run *t = part;
    int rc = 0;
    for (int64_t i = 0; i < t->opens.n; i++) {
        struct workload_access_open *f = &t->opens.open[i];
        if (f->fd >= 0 && close(f->fd) != 0 && rc == 0)
            rc = err_set_errno(ERR_IO, errno, "closing file %d", f->file);
        f->fd = -1;
    }
    return rc;
}

/* --- checking the data ---------------------------------------------------------------------- */

static int check(struct access_run *t, struct workload_findings *found)
{
    const int now = t->c->data.generation;
    char path[WORKLOAD_PATH_MAX];
    for (int64_t slot = 0; slot < t->room.slots; slot++) {
        if (t->read_step[slot] < 0) continue;
        if (stop_requested()) return err_set(ERR_INTERRUPT, "interrupted");
        const struct workload_step *s = &t->step[t->read_step[slot]];
        const struct workload_run *r = &t->a->run[s->run];
        const int64_t wrong =
            workload_data_check(&t->c->data, t->memory + slot * t->room.slot_bytes, s->offset,
                                r->bytes, (struct workload_allowed){WORKLOAD_LAID_OUT, now, false});
        workload_files_path(&t->c->files, r->file, path);
        workload_findings_add(found, r->bytes, wrong, path, s->offset, "wrong data read");
    }
    int fd = -1, file = -1, rc = 0;
    for (int64_t i = 0; rc == 0 && i < t->steps; i++) {
        const struct workload_run *r = &t->a->run[t->step[i].run];
        const struct workload_access_open *o = open_of(t, t->step[i].run);
        if (!workload_run_writes(r)) continue;
        if (o->shared && (o->flags & ~o->left_out & WORKLOAD_RUN_APPEND)) continue;
        if (r->file != file) {
            if (fd >= 0) close(fd);
            file = r->file;
            workload_files_path(&t->c->files, file, path);
            fd = open(path, O_RDONLY | O_CLOEXEC);
            if (fd < 0)
                return workload_files_gone(path,
                                           err_set_errno(ERR_IO, errno, "cannot open %s", path));
        }
        rc = workload_findings_read(found, &t->c->data, fd, path, t->step[i].offset, r->bytes,
                                    (struct workload_allowed){now, now, false});
    }
    if (fd >= 0) close(fd);
    return rc;
}

/* --- a replay ------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct workload_piece) <= sizeof(struct workload_step),
               "the room that is asked for (accessroom.c)");

/* Whether a byte is moved twice. Collective over t->c->comm. [out] again. */
static int moves_again(const struct access_run *t, bool *again)
{
    int64_t n = 0;
    struct workload_piece *piece = mem_new(t->steps + 1, sizeof *piece, "the accesses in order");
    int rc = par_agree_memory(t->c->comm, piece != NULL);
    for (int64_t i = 0; rc == 0 && i < t->steps; i++) {
        const struct workload_run *r = &t->a->run[t->step[i].run];
        const int64_t at = t->step[i].offset;
        if (r->bytes > 0) piece[n++] = (struct workload_piece){r->file, at, at + r->bytes};
    }
    if (rc == 0) rc = workload_moves_again(t->c->comm, piece, n, again);
    free(piece);
    return rc;
}

static int replay(struct access_run *t, const struct nodes *n, struct workload_access_result *r)
{
    static const struct workload_steps steps = {access_open, access_all, access_sync, access_close};
    const struct workload_accessfile *a = t->a;
    struct workload_context *c = t->c;
    int largest = 0;
    TRY(files_make(c, n, a));
    /* Files that were laid out hold the first generation, what is written now the second. */
    for (int f = 0; f < a->files_n; f++) {
        if (a->file[f].length_bytes > a->file[largest].length_bytes) largest = f;
        if (a->file[f].written) c->content[f].generation = WORKLOAD_LAID_OUT + 1;
        r->m.reads = r->m.reads || a->file[f].read;
        r->m.writes = r->m.writes || a->file[f].written;
    }
    TRY(par_agree(c->comm,
                  workload_data_make(&c->data, WORKLOAD_LAID_OUT + 1, t->room.longest_write)));
    TRY(par_agree(c->comm, memory_make(t)));
    TRY(moves_again(t, &r->m.again));
    TRY(workload_measure(c, n, largest, &steps, t, &r->m));
    /* What was found wrong until it was interrupted is told as well. */
    const int checked = par_agree(c->comm, c->check ? check(t, &r->m.findings) : 0);
    for (int64_t i = 0; i < a->mine_n; i++) {
        r->calls[a->run[i].call] += a->run[i].n;
        r->bytes[a->run[i].call] += a->run[i].n * a->run[i].bytes;
        r->m.bytes += a->run[i].n * a->run[i].bytes;
    }
    for (int64_t i = 0; i < t->opens.n; i++)
        r->otherwise_n += t->opens.open[i].left_out != 0;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &r->otherwise_n, 1, MPI_INT64_T, MPI_SUM, c->comm));
    /* Ranks without a process take no part. */
    int64_t most[2] = {r->m.bytes, c->rank < a->processes_n ? -r->m.bytes : -INT64_MAX};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, c->comm));
    r->bytes_max = most[0];
    r->bytes_min = -most[1];
    TRY_MPI(
        MPI_Allreduce(MPI_IN_PLACE, r->calls, WORKLOAD_RUN_CALLS, MPI_INT64_T, MPI_SUM, c->comm));
    TRY_MPI(
        MPI_Allreduce(MPI_IN_PLACE, r->bytes, WORKLOAD_RUN_CALLS, MPI_INT64_T, MPI_SUM, c->comm));
    const int summed = workload_measured_sum(&r->m, c, c->comm);
    return checked < 0 ? checked : summed;
}

int workload_access_replay(struct workload_context *c, const struct nodes *n,
                           const struct workload_accessfile *a, struct workload_access_result *r)
{
    struct access_run t = {.c = c, .a = a, .room = workload_access_room(a, c->buffer_bytes)};
    *r = (struct workload_access_result){0};
    TRY(par_agree(c->comm, stop_requested() ? err_set(ERR_INTERRUPT, "interrupted") : 0));
    const int rc = replay(&t, n, r);
    free(t.step);
    workload_access_opens_free(&t.opens);
    free(t.memory);
    free(t.direct);
    free(t.read_step);
    r->m.done = rc == 0;
    return rc;
}

/* --- JSON ----------------------------------------------------------------------------------- */

json_t *workload_access_json(const struct workload_accessfile *a,
                             const struct workload_access_result *r)
{
    json_t *calls = json_array();
    for (int i = 0; i < WORKLOAD_RUN_CALLS; i++)
        if (r->calls[i] > 0)
            json_array_append_new(
                calls, json_pack("{ss sI sI}", "function", workload_run_call_name(i), "n",
                                 (json_int_t)r->calls[i], "bytes", (json_int_t)r->bytes[i]));
    json_t *one = json_pack(
        "{si si so sI sI sI sI sI sI sI}", "processes_n", a->processes_n, "files_n", a->files_n,
        "calls", calls, "bytes_min_of_rank", (json_int_t)r->bytes_min, "bytes_max_of_rank",
        (json_int_t)r->bytes_max, "unplaced_n", (json_int_t)a->unplaced_n, "unplaced_bytes",
        (json_int_t)a->unplaced_bytes, "lost_n", (json_int_t)a->lost_n, "lost_bytes",
        (json_int_t)a->lost_bytes, "opened_otherwise_n", (json_int_t)r->otherwise_n);
    json_object_update_new(one, workload_measured_json(&r->m));
    return one;
}
