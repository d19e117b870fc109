/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/phase.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/units.h"
#include "base/watch.h"
#include "companions/workload/access.h"
#include "companions/workload/accesses.h"
#include "io/target/place.h"

#define IOVECS_MAX     1024
#define TRIES_MAX      12
#define FILE_BYTES_MAX (INT64_C(1) << 62)
#define MEMORY_SHARE   0.5 /* of what is free: how far the search for the amount goes */

/* One process's part in one measurement. */
struct phase_run {
    struct workload_context *c;
    const struct workload_phase *p;
    struct workload_shape shape;
    struct workload_content *file;
    struct nodes nodes;
    char path[WORKLOAD_PATH_MAX];
    struct workload_need need;
    struct workload_accesses a;
    int64_t calls_most;         /* of the busiest process */
    bool reads, writes, direct; /* direct: writes out of the ready content */
    int64_t slots;              /* of memory: there are, of a.slots_n */
    unsigned char *memory;      /* owned */
    /* Memory of a call, where it is strided: calls of equal records have equal types, those of flash
     * repeat with each dump. One more where the last call is shorter. Owned. */
    MPI_Datatype *type;
    int64_t types_n;
    bool last_is_short;
    struct workload_handle handle; /* of MPI-IO */
    int fd;                        /* of POSIX, -1: not open */
};

/* --- places --------------------------------------------------------------------------------- */

static void call_range(const struct phase_run *t, int64_t c, int64_t *from, int64_t *to)
{
    workload_accesses_range(&t->a, t->p, c, from, to);
}

static int64_t call_bytes(const struct phase_run *t, int64_t c)
{
    return workload_accesses_bytes(&t->a, t->p, c);
}

/* --- memory --------------------------------------------------------------------------------- */

static int64_t slot_of_call(const struct phase_run *t, int64_t c)
{
    return c / t->a.calls_in_slot; /* one access in a call where a slot holds several calls */
}

static unsigned char *slot_at(const struct phase_run *t, int64_t slot)
{
    return t->memory + slot % t->slots * t->a.slot_bytes;
}

/* Where access i lies in its slot when memory is contiguous: behind those before it in the call. */
static int64_t in_slot(const struct phase_run *t, int64_t i)
{
    const int64_t from = i / t->p->group * t->p->group;
    if (t->p->memory.strided)
        return (i - from) * workload_memory_slot_bytes(&t->shape, &t->p->memory, t->c->rank);
    return t->a.access[i].view_offset - t->a.access[from].view_offset;
}

/* What is done with each contiguous piece: its place in memory and in the file. Returns the index
 * of a wrong byte, -1: none. */
typedef int64_t piece_fn(struct phase_run *t, unsigned char *at, int64_t offset, int64_t bytes);

static int64_t each_piece(struct phase_run *t, int64_t i, unsigned char *slot, piece_fn *f)
{
    const struct workload_access *a = &t->a.access[i];
    const struct workload_memory *m = &t->p->memory;
    const int64_t pieces = workload_memory_pieces(&t->shape, m, t->c->rank, a->number);
    int64_t offset = a->in.offset;
    for (int64_t k = 0; k < pieces; k++) {
        const struct workload_extent e =
            workload_memory_piece(&t->shape, m, t->c->rank, a->number, k);
        const int64_t wrong = f(t, slot + in_slot(t, i) + e.offset, offset, e.bytes);
        if (wrong >= 0) return offset + wrong;
        offset += e.bytes;
    }
    return -1;
}

static int64_t fill_piece(struct phase_run *t, unsigned char *at, int64_t offset, int64_t bytes)
{
    workload_data_copy(&t->c->data, at, offset, bytes);
    return -1;
}

/* What changes between reading and writing back: the generation, in each eighth byte of the file.
 */
static int64_t modify_piece(struct phase_run *t, unsigned char *at, int64_t offset, int64_t bytes)
{
    for (int64_t b = 7 - offset % 8; b < bytes; b += 8)
        at[b] = workload_generation_byte(t->file->generation);
    return -1;
}

static int64_t check_piece(struct phase_run *t, unsigned char *at, int64_t offset, int64_t bytes)
{
    const struct workload_allowed a = {t->file->oldest, t->file->generation, false};
    return workload_data_check(&t->c->data, at, offset, bytes, a);
}

static int buffers_make(struct phase_run *t)
{
    const int64_t room = t->c->buffer_bytes;
    t->direct = workload_phase_direct(t->p, &t->shape);
    if (t->direct) return 0;
    t->slots = t->a.slots_n;
    if (t->reads && t->slots > room / t->a.slot_bytes) t->slots = room / t->a.slot_bytes;
    if (t->slots < 1) t->slots = 1;
    t->memory = mem_new(t->slots, (size_t)t->a.slot_bytes,
                        "%" PRId64 " buffers of %" PRId64 " bytes: lower --buffer", t->slots,
                        t->a.slot_bytes);
    if (!t->memory) return ERR_NOMEM;
    for (int64_t i = 0; !t->reads && i < t->a.n; i++)
        each_piece(t, i, slot_at(t, slot_of_call(t, i / t->p->group)), fill_piece);
    return 0;
}

/* Describes the memory of a call; its origin is the slot. */
static int type_make(struct phase_run *t, int64_t c, MPI_Datatype *out)
{
    int64_t from, to, pieces = 0, n = 0;
    call_range(t, c, &from, &to);
    const struct workload_memory *m = &t->p->memory;
    for (int64_t i = from; i < to; i++)
        pieces = num_sum(pieces,
                         workload_memory_pieces(&t->shape, m, t->c->rank, t->a.access[i].number));
    if (pieces > INT32_MAX)
        return err_set(ERR_USAGE,
                       "a call has more pieces than MPI can describe: raise memory-block, or lower "
                       "group or record");
    int64_t *at = mem_new(pieces + 1, sizeof *at, "%" PRId64 " pieces", pieces);
    int64_t *bytes = mem_new(pieces + 1, sizeof *bytes, "%" PRId64 " pieces", pieces);
    int rc = at && bytes ? 0 : ERR_NOMEM;
    for (int64_t i = from; rc == 0 && i < to; i++) {
        const int64_t k_n = workload_memory_pieces(&t->shape, m, t->c->rank, t->a.access[i].number);
        for (int64_t k = 0; k < k_n; k++, n++) {
            const struct workload_extent e =
                workload_memory_piece(&t->shape, m, t->c->rank, t->a.access[i].number, k);
            at[n] = in_slot(t, i) + e.offset;
            bytes[n] = e.bytes;
        }
    }
    if (rc == 0) rc = workload_type_pieces((int)pieces, at, bytes, out);
    free(at);
    free(bytes);
    return rc;
}

static int types_make(struct phase_run *t)
{
    if (!t->p->memory.strided || t->p->method == WORKLOAD_POSIX || t->a.calls == 0) return 0;
    const int64_t period = t->p->pattern == WORKLOAD_RANDOM  ? t->a.calls
                           : t->p->pattern == WORKLOAD_FLASH ? t->a.calls_in_slot
                                                             : 1;
    const int64_t n = period < t->a.calls ? period : t->a.calls;
    int64_t from, to;
    call_range(t, t->a.calls - 1, &from, &to);
    t->last_is_short = to - from < t->p->group && t->a.calls > n;
    t->type = mem_new(n + 1, sizeof *t->type, "%" PRId64 " types", n);
    if (!t->type) return ERR_NOMEM;
    for (; t->types_n < n; t->types_n++)
        TRY(type_make(t, t->types_n, &t->type[t->types_n]));
    if (!t->last_is_short) return 0;
    t->type[n] = MPI_DATATYPE_NULL;
    return type_make(t, t->a.calls - 1, &t->type[n]);
}

static void part_free(struct phase_run *t)
{
    for (int64_t k = 0; k < t->types_n; k++)
        MPI_Type_free(&t->type[k]);
    if (t->type && t->last_is_short && t->type[t->types_n] != MPI_DATATYPE_NULL)
        MPI_Type_free(&t->type[t->types_n]);
    free(t->type);
    workload_accesses_free(&t->a);
    free(t->memory);
    nodes_free(&t->nodes);
}

/* --- the file ------------------------------------------------------------------------------- */

/* The places of this rank as a view: one period of them, which repeats itself. */
static int set_view(struct phase_run *t)
{
    int64_t accesses, period;
    workload_shape_period(&t->shape, t->c->rank, &accesses, &period);
    int64_t *at = mem_new(accesses + 1, sizeof *at, "a view");
    int64_t *bytes = mem_new(accesses + 1, sizeof *bytes, "a view");
    const int64_t begin = t->a.access[0].in.offset;
    int rc = at && bytes ? 0 : ERR_NOMEM;
    for (int64_t i = 0; rc == 0 && i < accesses; i++) {
        at[i] = t->a.access[i].in.offset - begin;
        bytes[i] = t->a.access[i].in.bytes;
    }
    if (rc == 0 && accesses > INT32_MAX)
        rc = err_set(ERR_USAGE, "the view has more pieces than MPI can describe: access offsets");
    rc = par_agree(t->c->comm, rc);
    if (rc == 0) rc = workload_handle_view(&t->handle, begin, (int)accesses, at, bytes, period);
    free(at);
    free(bytes);
    return rc;
}

static int open_file(void *part)
{
    struct phase_run *t = part;
    if (t->p->method == WORKLOAD_POSIX) {
        t->fd = open(t->path, O_RDWR | O_CLOEXEC);
        const int rc = t->fd < 0 ? err_set_errno(ERR_IO, errno, "opening %s", t->path) : 0;
        return par_agree(t->c->comm, workload_files_gone(t->path, rc));
    }
    TRY(workload_handle_open(&t->handle, t->c->comm, t->path, t->c->info, 1));
    return t->p->view ? set_view(t) : 0;
}

static int sync_file(void *part)
{
    struct phase_run *t = part;
    if (t->p->method != WORKLOAD_POSIX) return workload_handle_sync(&t->handle);
    return fsync(t->fd) == 0 ? 0 : err_set_errno(ERR_IO, errno, "flushing %s", t->path);
}

static int close_file(void *part)
{
    struct phase_run *t = part;
    if (t->p->method != WORKLOAD_POSIX) return workload_handle_close(&t->handle);
    const int fd = t->fd;
    t->fd = -1;
    return fd < 0 || close(fd) == 0 ? 0 : err_set_errno(ERR_IO, errno, "closing %s", t->path);
}

/* --- the accesses --------------------------------------------------------------------------- */

/* Transfers all of iov at an offset, in as many calls as it takes. */
static int posix_pieces(struct phase_run *t, bool write, struct iovec *iov, int n, int64_t offset)
{
    while (n > 0) {
        const ssize_t done =
            write ? pwritev(t->fd, iov, n, (off_t)offset) : preadv(t->fd, iov, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0)
            return err_set_errno(ERR_IO, errno, "%s on %s", write ? "pwritev" : "preadv", t->path);
        if (done == 0) return err_set(ERR_IO, "%s ends at byte %" PRId64, t->path, offset);
        offset += done;
        size_t left = (size_t)done;
        for (; n > 0 && left >= iov->iov_len; n--)
            left -= iov++->iov_len;
        if (n > 0) {
            iov->iov_base = (char *)iov->iov_base + left;
            iov->iov_len -= left;
        }
    }
    return 0;
}

static int posix_access(struct phase_run *t, bool write, int64_t i, unsigned char *slot)
{
    const struct workload_access *a = &t->a.access[i];
    const struct workload_memory *m = &t->p->memory;
    struct iovec iov[IOVECS_MAX];
    if (t->direct) {
        iov[0] = (struct iovec){t->c->data.master + a->in.offset % WORKLOAD_PERIOD_BYTES,
                                (size_t)a->in.bytes};
        return posix_pieces(t, write, iov, 1, a->in.offset);
    }
    const int64_t pieces = workload_memory_pieces(&t->shape, m, t->c->rank, a->number);
    int64_t offset = a->in.offset;
    for (int64_t k = 0; k < pieces;) {
        int n = 0;
        int64_t bytes = 0;
        for (; n < IOVECS_MAX && k < pieces; n++, k++) {
            const struct workload_extent e =
                workload_memory_piece(&t->shape, m, t->c->rank, a->number, k);
            iov[n] = (struct iovec){slot + in_slot(t, i) + e.offset, (size_t)e.bytes};
            bytes += e.bytes;
        }
        TRY(posix_pieces(t, write, iov, n, offset));
        offset += bytes;
    }
    return 0;
}

/* Call c; a process without calls left makes an empty one where all have to take part. */
static int transfer(struct phase_run *t, bool write, int64_t c, unsigned char *slot)
{
    if (t->p->method == WORKLOAD_POSIX) return posix_access(t, write, c, slot);
    struct workload_kind k = {.position = WORKLOAD_EXPLICIT,
                              .write = write,
                              .collective = t->p->method == WORKLOAD_COLLECTIVE};
    struct workload_transfer x = {
        .kind = workload_kind_index(k), .type = MPI_DATATYPE_NULL, .buffer = slot};
    if (c < t->a.calls) {
        const struct workload_access *a = &t->a.access[c * t->p->group];
        const bool is_short = t->last_is_short && c == t->a.calls - 1;
        x.offset = t->p->view ? a->view_offset : a->in.offset;
        x.bytes = call_bytes(t, c);
        if (t->type) x.type = t->type[is_short ? t->types_n : c % t->types_n];
        if (t->direct) x.buffer = t->c->data.master + a->in.offset % WORKLOAD_PERIOD_BYTES;
    }
    return workload_handle_call(&t->handle, &x);
}

/* All calls; after an error, or asked to stop, a process still makes the calls in which others wait for it, empty ones. */
static int access_file(void *part, double *think_s)
{
    struct phase_run *t = part;
    const bool collective = t->p->method == WORKLOAD_COLLECTIVE;
    const int64_t calls = collective ? t->calls_most : t->a.calls;
    int rc = 0;
    for (int64_t c = 0; c < calls && (rc == 0 || collective); c++) {
        const int64_t mine = rc == 0 ? c : t->a.calls;
        unsigned char *slot =
            t->direct ? NULL : slot_at(t, mine < t->a.calls ? slot_of_call(t, mine) : 0);
        int64_t from, to;
        int one = t->reads ? transfer(t, false, mine, slot) : 0;
        if (t->reads && t->writes && mine < t->a.calls) {
            call_range(t, mine, &from, &to);
            for (int64_t i = from; i < to; i++)
                each_piece(t, i, slot, modify_piece);
        }
        if (t->writes) {
            const int written = transfer(t, true, mine, slot);
            if (one == 0) one = written;
        }
        if (t->writes && t->c->sync_call && (collective || t->p->method == WORKLOAD_POSIX)) {
            const int sync = sync_file(t);
            if (one == 0) one = sync;
        }
        if (rc == 0) rc = one;
        if (rc == 0 && t->p->think_s > 0)
            *think_s += workload_think(t->p->think_s, t->p->think_busy);
        if (rc == 0 && stop_requested()) rc = err_set(ERR_INTERRUPT, "interrupted");
    }
    const int ended = t->p->method == WORKLOAD_POSIX ? 0 : workload_handle_wait(&t->handle);
    return rc == 0 ? ended : rc;
}

/* --- checking the data ---------------------------------------------------------------------- */

/* What was read last and still lies in memory. What was changed is checked in the file. */
static int check_reads(struct phase_run *t, struct workload_findings *f)
{
    for (int64_t c = 0; c < t->a.calls; c++) {
        const int64_t slot = slot_of_call(t, c);
        int64_t from, to;
        if (stop_requested()) return err_set(ERR_INTERRUPT, "interrupted");
        if (slot < t->a.slots_n - t->slots) continue;
        call_range(t, c, &from, &to);
        for (int64_t i = from; i < to; i++)
            workload_findings_add(f, t->a.access[i].in.bytes,
                                  each_piece(t, i, slot_at(t, slot), check_piece), t->path, 0,
                                  "wrong data read");
    }
    return 0;
}

static int check_writes(struct phase_run *t, struct workload_findings *f)
{
    const struct workload_allowed a = {t->file->generation, t->file->generation, false};
    const int fd = open(t->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return workload_files_gone(t->path,
                                   err_set_errno(ERR_IO, errno, "cannot open %s", t->path));
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < t->a.n; i++)
        rc = workload_findings_read(f, &t->c->data, fd, t->path, t->a.access[i].in.offset,
                                    t->a.access[i].in.bytes, a);
    close(fd);
    return rc;
}

/* --- one measurement ------------------------------------------------------------------------ */

/* The file as the temporal pattern wants to find it. */
static int prepare(struct phase_run *t)
{
    struct workload_context *c = t->c;
    const int64_t length = workload_shape_length(&t->shape);
    if (t->p->temporal == WORKLOAD_WRITE) {
        TRY(workload_files_make(&c->files, c->comm, 0, length));
        *t->file =
            (struct workload_content){.length_bytes = length, .generation = t->file->generation};
    } else if (!t->file->laid_out || t->file->length_bytes < length) {
        TRY(workload_context_file(c, 0, length, true));
    }
    if (t->p->temporal == WORKLOAD_READ) TRY(workload_files_drop(&c->files, &t->nodes, 0));
    const bool whole = t->p->fraction >= 1 && length == t->file->length_bytes;
    const int oldest = t->file->oldest;
    if (t->writes) t->file->generation = workload_content_next(t->file);
    /* Until the next phase, what is read may be older than what was written. */
    t->file->oldest = whole && t->writes && !t->reads ? t->file->generation : oldest;
    if (t->p->temporal == WORKLOAD_WRITE) t->file->laid_out = whole;
    return 0;
}

static int measure(struct phase_run *t, struct workload_phase_result *r)
{
    static const struct workload_steps steps = {open_file, access_file, sync_file, close_file};
    struct workload_context *c = t->c;
    int64_t longest = 1;
    TRY(par_agree(c->comm, stop_requested() ? err_set(ERR_INTERRUPT, "interrupted") : 0));
    TRY(prepare(t));
    for (int64_t k = 0; k < t->a.calls; k++)
        if (call_bytes(t, k) > longest) longest = call_bytes(t, k);
    TRY(par_agree(c->comm, workload_data_make(&c->data, t->file->generation, longest)));
    TRY(par_agree(c->comm, buffers_make(t)));
    TRY(par_agree(c->comm, types_make(t)));
    TRY(workload_measure(c, &t->nodes, 0, &steps, t, &r->m));

    /* What was found wrong until it was interrupted is told as well. */
    const int checked = par_agree(c->comm, !c->check   ? 0
                                           : t->writes ? check_writes(t, &r->m.findings)
                                                       : check_reads(t, &r->m.findings));
    if (t->reads && t->writes && t->p->fraction >= 1 &&
        workload_shape_length(&t->shape) == t->file->length_bytes)
        t->file->oldest = t->file->generation;
    int64_t sum[2] = {t->a.n, t->a.calls};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, c->comm));
    r->accesses = sum[0];
    r->calls = sum[1];
    r->m.bytes = workload_phase_amount(t->p, &t->shape, c->rank).bytes;
    const int summed = workload_measured_sum(&r->m, c, c->comm);
    return checked < 0 ? checked : summed;
}

void workload_phase_place(const struct workload_phase *p, const char *name)
{
    char title[64], at[400];
    snprintf(at, sizeof at, "%.200s:%d: %s: ", name, p->line, workload_phase_title(p, title));
    err_prefix(at);
}

/* What a phase cannot have. needed, free_bytes: memory of the node. Returns 0 or ERR_USAGE. Local. */
static int need_check(const struct workload_phase *p, const struct workload_shape *s,
                      const struct workload_need *need, const struct nodes *n, double needed,
                      int64_t free_bytes)
{
    char data[32] = "auto", list[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    if (p->data_bytes > 0) snprintf(data, sizeof data, "%" PRId64, p->data_bytes);
    if (need->file > FILE_BYTES_MAX)
        return err_set(ERR_USAGE,
                       "data %s, record %" PRId64 ": %" PRId64
                       " repetitions on %d processes make a file of more than 2^62 bytes: lower "
                       "data or record",
                       data, s->record_bytes, s->n, s->procs);
    if (needed <= (double)free_bytes) return 0;
    return err_set(
        ERR_USAGE,
        "data %s, record %" PRId64 ": %" PRId64
        " accesses of a process take %s of memory for their list; with data, and %d to a "
        "node, that makes %s, %s are free: lower data, raise record, lower "
        "--buffer or start fewer processes on a node",
        data, s->record_bytes, workload_shape_accesses(s), units_bytes((double)need->list, list),
        n->node_size, units_bytes(needed, all), units_bytes((double)free_bytes, room));
}

/* share: of the buffer, by data that must lie ready. Returns 0 or ERR_USAGE. Local. */
static int ready_check(const struct workload_phase *p, double share)
{
    if (share <= 1) return 0;
    if (p->memory.strided)
        return err_set(ERR_USAGE,
                       "data with gaps must lie ready in memory, here %.3g times the buffer: raise "
                       "--buffer or lower data",
                       share);
    return err_set(ERR_USAGE,
                   "calls of %" PRId64
                   " accesses with gaps in the file between them: their data must lie ready in "
                   "memory, here %.3g times the buffer: raise --buffer, lower data or give group 1",
                   p->group, share);
}

static double buffer_share(const struct workload_context *c, const struct workload_need *need)
{
    return (double)need->ready / (double)c->buffer_bytes;
}

int workload_phases_check(const struct workload_context *c, const struct nodes *n,
                          const struct workload_jobfile *j, const char *name, double *needed)
{
    struct workload_need worst = {0};
    struct workload_shape shape = {0};
    /* unready: the first phase whose data do not fit into the buffer. */
    const struct workload_phase *worst_p = NULL, *unready = NULL;
    double unready_share = 0;
    int64_t free_bytes;
    *needed = 0;
    for (int i = 0; i < j->n; i++) {
        const struct workload_phase *p = &j->phase[i];
        if (p->pause_s > 0) continue;
        const struct workload_shape s =
            workload_phase_shape(p, c->size, workload_phase_repetitions(p, c->size));
        const struct workload_need need = workload_phase_need(p, &s, c->rank, c->buffer_bytes);
        const bool endless = need.file > FILE_BYTES_MAX;
        const double share = buffer_share(c, &need);
        if (!unready && share > 1) {
            unready = p;
            unready_share = share;
        }
        if (worst_p && !endless && workload_need_memory(&need) <= workload_need_memory(&worst))
            continue;
        worst_p = p;
        worst = need;
        shape = s;
        if (endless) break;
    }
    int rc = nodes_memory(n, workload_need_memory(&worst), needed, &free_bytes);
    if (rc == 0 && worst_p) rc = need_check(worst_p, &shape, &worst, n, *needed, free_bytes);
    if (rc == ERR_USAGE && worst_p) workload_phase_place(worst_p, name);
    if (rc == 0 && unready) {
        rc = ready_check(unready, unready_share);
        workload_phase_place(unready, name);
    }
    return par_agree(c->comm, rc);
}

const struct workload_phase *workload_phases_longest(const struct workload_jobfile *j, int procs,
                                                     int64_t *bytes)
{
    const struct workload_phase *longest = NULL;
    *bytes = 0;
    for (int i = 0; i < j->n; i++) {
        const struct workload_phase *p = &j->phase[i];
        if (p->pause_s > 0) continue;
        const struct workload_shape s =
            workload_phase_shape(p, procs, workload_phase_repetitions(p, procs));
        if (workload_shape_length(&s) <= *bytes) continue;
        longest = p;
        *bytes = workload_shape_length(&s);
    }
    return longest;
}

/* Shares of what there is for data that must lie ready and of a node's memory: that of the process
 * or node where it is largest. */
struct shares {
    double buffer, memory;
};

static int part_make(struct phase_run *t, struct workload_context *c,
                     const struct workload_phase *p, int64_t n, struct shares *share)
{
    double needed;
    int64_t free_bytes;
    *t = (struct phase_run){.c = c,
                            .p = p,
                            .shape = workload_phase_shape(p, c->size, n),
                            .file = &c->content[0],
                            .reads = workload_phase_reads(p),
                            .writes = workload_phase_writes(p),
                            .handle = {.file = MPI_FILE_NULL},
                            .fd = -1};
    workload_files_path(&c->files, 0, t->path);
    t->need = workload_phase_need(p, &t->shape, c->rank, c->buffer_bytes);
    TRY(nodes_split(c->comm, &t->nodes));
    TRY(nodes_memory(&t->nodes, workload_need_memory(&t->need), &needed, &free_bytes));
    *share = (struct shares){buffer_share(c, &t->need), needed / fmax((double)free_bytes, 1)};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, share, 2, MPI_DOUBLE, MPI_MAX, c->comm));
    int rc = need_check(p, &t->shape, &t->need, &t->nodes, needed, free_bytes);
    if (rc == 0) rc = workload_accesses_make(p, &t->shape, c->rank, &t->a);
    TRY(par_agree(c->comm, rc));
    return par_check(MPI_Allreduce(&t->a.calls, &t->calls_most, 1, MPI_INT64_T, MPI_MAX, c->comm),
                     "MPI_Allreduce");
}

/* A measurement with n repetitions; ERR_USAGE when its data do not fit into the buffer or memory. [out] r,
 * as it was where one was complete before and this one fails. */
static int try_amount(struct workload_context *c, const struct workload_phase *p, int64_t n,
                      struct workload_phase_result *r, struct shares *share)
{
    struct phase_run t;
    int rc = part_make(&t, c, p, n, share);
    struct workload_phase_result one = {
        .m = {.reads = t.reads, .writes = t.writes, .again = workload_shape_overlaps(&t.shape)},
        .phase = p,
        .n = n,
        .file_bytes = workload_shape_length(&t.shape),
        .tries = r->tries + 1};
    if (rc == 0) rc = ready_check(p, share->buffer);
    if (rc == 0) rc = measure(&t, &one);
    close_file(&t);
    part_free(&t);
    one.m.done = rc == 0;
    const bool keep = rc < 0 && r->m.done;
    workload_times_free(keep ? &one.m.times : &r->m.times);
    if (!keep) {
        *r = one;
        return rc;
    }
    r->limit = NULL;
    if (one.m.findings.wrong_n > 0) r->m.findings = one.m.findings;
    return rc;
}

/* The longest file that may be tried, and what it is that limits it. */
struct longest {
    int64_t bytes;
    const char *limit;
};

static struct longest longest_file(const struct workload_context *c, const struct workload_phase *p)
{
    struct longest l = {p->limit_bytes, "bytes"};
    const int64_t left = sys_free_bytes(c->files.name), allowed = sys_file_limit();
    /* What the file takes now is given back. */
    const double room = 0.9 * ((double)left + (double)c->content[0].length_bytes);
    if (left >= 0 && room < (double)l.bytes) l = (struct longest){(int64_t)room, "space"};
    if (allowed < l.bytes) l = (struct longest){allowed, "file size"};
    return l;
}

/* The next amount: as much more as the last one was short of, within the limits. Returns n when a
 * limit is met and named. */
static int64_t next_amount(const struct workload_phase *p, const struct workload_phase_result *r,
                           int procs, struct longest longest, struct shares share, double spent_s,
                           const char **limit)
{
    const double s = workload_times_aggregate(&r->m.times);
    double factor = 1.3 * fmax(WORKLOAD_TIME_S / fmax(s, 1e-6),
                               r->m.times.b_s / fmax(s, 1e-9) / WORKLOAD_B_SHARE);
    factor = fmin(fmax(factor, 2), 16);
    const double by_bytes = (double)longest.bytes / (double)r->file_bytes;
    const double by_buffer = share.buffer > 0 ? 1 / share.buffer : INFINITY;
    const double by_memory = MEMORY_SHARE / share.memory;
    const double by_time = (p->time_limit_s - spent_s) / fmax(s, 1e-6);
    *limit = NULL;
    if (by_bytes < factor) *limit = longest.limit;
    if (by_buffer < fmin(factor, by_bytes)) *limit = "buffer";
    factor = fmin(factor, fmin(by_bytes, by_buffer));
    if (by_memory < factor) *limit = "memory";
    factor = fmin(factor, by_memory);
    if (by_time < factor) *limit = "time";
    factor = fmin(factor, by_time);
    if (factor < 1.05) return r->n;
    int64_t n = (int64_t)((double)r->n * factor);
    /* Accesses of random sizes may come out longer. */
    for (; n > r->n; n -= n / 32 + 1) {
        const struct workload_shape shape = workload_phase_shape(p, procs, n);
        if (workload_shape_length(&shape) <= longest.bytes) break;
        *limit = longest.limit;
    }
    return n > r->n ? n : r->n;
}

int workload_phase_measure(struct workload_context *c, const struct workload_phase *p,
                           struct workload_phase_result *r)
{
    int64_t n = workload_phase_repetitions(p, c->size);
    struct shares share;
    const double begun = watch_now();
    *r = (struct workload_phase_result){.phase = p};
    TRY(try_amount(c, p, n, r, &share));
    while (p->data_bytes == 0 && !r->m.enough && r->m.findings.wrong_n == 0 &&
           r->tries < TRIES_MAX) {
        n = next_amount(p, r, c->size, longest_file(c, p), share, watch_now() - begun, &r->limit);
        /* Clocks and limits differ; one decides for all. */
        int64_t next[2] = {n, r->limit != NULL};
        TRY_MPI(MPI_Bcast(next, 2, MPI_INT64_T, 0, c->comm));
        const char *limit = r->limit ? r->limit : "time";
        if (next[0] == r->n) {
            r->limit = limit;
            break;
        }
        TRY(try_amount(c, p, next[0], r, &share));
        if (next[1] && !r->m.enough) r->limit = limit;
        if (next[1]) break;
    }
    return 0;
}

/* By the names of their directives, what makes a phase another measurement and the result has no other
 * member for: those that hold for it and were given, or that its pattern has beside the record. */
static json_t *settings_json(const struct workload_phase *p)
{
#define OF(pattern, name, member)                                                                  \
    {                                                                                              \
        pattern, name, offsetof(struct workload_shape, member)                                     \
    }
    static const struct {
        enum workload_pattern pattern;
        const char *name;
        size_t at;
    } own[] = {OF(WORKLOAD_NESTED, "inner", inner),
               OF(WORKLOAD_TILED, "rows", rows),
               OF(WORKLOAD_TILED, "element", element_bytes),
               OF(WORKLOAD_TILED, "overlap-rows", overlap_rows),
               OF(WORKLOAD_TILED, "overlap-columns", overlap_columns),
               OF(WORKLOAD_FLASH, "vary", vary),
               OF(WORKLOAD_FLASH, "cells", cells),
               OF(WORKLOAD_FLASH, "guard", guard),
               OF(WORKLOAD_FLASH, "variables", variables),
               OF(WORKLOAD_FLASH, "plot", plot)};
#undef OF
    json_t *o = json_object();
    int rc = 0;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        int64_t value;
        memcpy(&value, (const char *)&p->shape + own[i].at, sizeof value);
        if (own[i].pattern == p->pattern)
            rc |= json_object_set_new(o, own[i].name, json_integer(value));
    }
    if (p->data_bytes > 0) rc |= json_object_set_new(o, "data", json_integer(p->data_bytes));
    if (p->group_given) rc |= json_object_set_new(o, "group", json_integer(p->group));
    if (p->memory.strided && p->pattern != WORKLOAD_FLASH)
        rc |= json_object_set_new(o, "memory-block", json_integer(p->memory.block_bytes));
    if (p->think_s > 0) rc |= json_object_set_new(o, "think", js_real(p->think_s));
    if (p->think_s > 0 && p->think_busy)
        rc |= json_object_set_new(o, "think-kind", json_string("busy"));
    if (rc == 0) return o;
    json_decref(o);
    return NULL;
}

json_t *workload_phase_json(const struct workload_phase_result *r)
{
    const struct workload_phase *p = r->phase;
    const bool contiguous =
        p->shape.packed || p->pattern == WORKLOAD_SEQUENTIAL || p->pattern == WORKLOAD_SEGMENTED;
    char title[64];
    json_t *o = json_pack(
        "{ss ss ss ss ss sb ss sI sI sI sI sI so so si sb so}", "title",
        workload_phase_title(p, title), "pattern", workload_pattern_name(p->pattern), "temporal",
        workload_temporal_name(p->temporal), "method", workload_method_name(p->method), "access",
        p->view ? "view" : "offsets", "memory_strided", (int)p->memory.strided, "file",
        contiguous ? "contiguous" : "strided", "record_bytes", (json_int_t)p->shape.record_bytes,
        "repetitions_n", (json_int_t)r->n, "accesses_n", (json_int_t)r->accesses, "calls_n",
        (json_int_t)r->calls, "file_bytes", (json_int_t)r->file_bytes, "fraction",
        js_real(p->fraction), "settings", settings_json(p), "tries_n", r->tries, "enough",
        (int)r->m.enough, "limit_met", r->limit ? json_string(r->limit) : json_null());
    json_object_update_new(o, workload_measured_json(&r->m));
    return o;
}
