/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/units.h"
#include "companions/workload/access.h"
#include "companions/workload/again.h"

/* Memory that a call has read into. */
struct read_slot {
    int64_t call;   /* whose data lie there, -1 */
    int64_t posted; /* its number among the requests, from 1 on; 0: it was none */
};

/* One process's part in one point. */
struct point_run {
    struct workload_context *c;
    const struct workload_point *p;
    struct workload_content *file;
    MPI_Comm comm; /* of the point */
    struct nodes nodes;
    struct workload_plan plan;
    char path[WORKLOAD_PATH_MAX];
    struct workload_handle handle;
    struct workload_achieved achieved; /* of this process */
    /* Reading calls take in turn the slots into which nothing is being read. Writing calls send what
     * lies ready in c->data; where a call has several pieces in the file, it has a slot of its own
     * that was filled before. */
    unsigned char *memory; /* owned */
    struct workload_slots slots;
    struct read_slot *read; /* [read slot]; owned */
    unsigned char *floating;
    struct workload_view view;
    bool holes;
};

/* --- what is needed ------------------------------------------------------------------------- */

static bool point_reads(const struct workload_point *p)
{
    bool reads = p->list_n == 0 && p->read_frac > 0;
    for (int i = 0; i < p->list_n; i++)
        reads = reads || !workload_kind_of(p->list[i].kind).write;
    for (int r = 0; r < p->ranks_n; r++)
        for (int i = 0; i < p->rank[r].list_n; i++)
            reads = reads || !workload_kind_of(p->rank[r].list[i].kind).write;
    return reads;
}

void workload_replay_needs(const struct workload *w, int rank, int64_t bytes[WORKLOAD_FILES_MAX],
                           bool read[WORKLOAD_FILES_MAX])
{
    memset(bytes, 0, WORKLOAD_FILES_MAX * sizeof bytes[0]);
    memset(read, 0, WORKLOAD_FILES_MAX * sizeof read[0]);
    for (int i = 0; i < w->points_n; i++) {
        const struct workload_point *p = &w->point[i];
        const int64_t need =
            !w->separate || rank < p->process_num ? workload_point_length(p, w->separate, rank) : 0;
        if (need > bytes[p->file]) bytes[p->file] = need;
        read[p->file] = read[p->file] || point_reads(p);
    }
}

/* Whether any call of the point is of a kind. */
static bool point_requests_all(const struct workload_point *p)
{
    bool any = p->list_n == 0 && p->request && p->coll_frac > 0 && p->sync_frac < 1;
    for (int i = 0; i < p->list_n; i++) {
        const struct workload_kind k = workload_kind_of(p->list[i].kind);
        any = any || (k.collective && k.sync == WORKLOAD_REQUEST);
    }
    return any;
}

int workload_replay_check(const struct workload_context *c, const struct workload *w,
                          const char *name)
{
    for (int i = 0; i < w->points_n; i++) {
        const struct workload_point *p = &w->point[i];
        char fewer[64] = ""; /* <calls> and <rank> are those of so many processes */
        if (p->list_n == 0 && p->ranks_n == 0)
            snprintf(fewer, sizeof fewer, ", or give --set processNum=%d", c->size);
        if (p->process_num > c->size)
            return err_set(ERR_USAGE,
                           "%s:%d:%d: processNum=\"%" PRId64 "\", %d process%s started: start "
                           "%" PRId64 "%s",
                           name, p->line, p->column, p->process_num, c->size,
                           c->size == 1 ? " was" : "es were", p->process_num, fewer);
        if (c->romio && point_requests_all(p))
            return err_set(ERR_USAGE,
                           "%s:%d:%d: iread_all and iwrite_all crash in this MPI library's ROMIO: "
                           "take nonblockingCollective=\"split\", or the component ompio",
                           name, p->line, p->column);
    }
    return 0;
}

/* Whether what a point writes with holes fits into the buffer, as the point finds when its turn comes. Local. */
static int check_holes(const struct workload_context *c, const struct workload *w, int no,
                       const char *name)
{
    const struct workload_point *p = &w->point[no];
    struct workload_plan plan = {.n = 0};
    struct workload_slots slots;
    char at[WORKLOAD_PATH_MAX];
    if (!workload_point_holes(p) || c->rank >= p->process_num) return 0;
    int rc = workload_plan_make(w, no, c->rank, &plan);
    if (rc == 0) rc = workload_plan_slots(&plan, true, c->buffer_bytes, c->depth, &slots);
    workload_plan_free(&plan);
    if (rc == ERR_USAGE) {
        snprintf(at, sizeof at, "%.200s:%d:%d: ", name, p->line, p->column);
        err_prefix(at);
    }
    return rc;
}

int workload_replay_memory(const struct workload_context *c, const struct nodes *n,
                           const struct workload *w, const char *name, double *needed)
{
    char mine[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    int64_t most = 0, free_bytes = 0;
    int worst = 0;
    *needed = 0;
    for (int i = 0; i < w->points_n; i++) {
        const int64_t bytes = workload_plan_memory(w, i, c->rank, c->buffer_bytes, c->depth);
        if (bytes > most) worst = i;
        most = num_max(most, bytes);
    }
    const struct workload_point *p = &w->point[worst];
    int rc = nodes_memory(n, most, needed, &free_bytes);
    if (rc == 0 && *needed > (double)free_bytes)
        rc = err_set(ERR_USAGE,
                     "%.200s:%d:%d: uniqueBytes=\"%" PRId64 "\" in %" PRId64
                     " calls of a process takes %s of memory for their list and "
                     "data; with %d to a node that makes %s, %s are free: lower uniqueBytes, "
                     "change sizeMean, lower --buffer or --depth, or start fewer processes on a "
                     "node",
                     name, p->line, p->column, p->unique_bytes, workload_point_calls(p),
                     units_bytes((double)most, mine), n->node_size, units_bytes(*needed, all),
                     units_bytes((double)free_bytes, room));
    for (int i = 0; i < w->points_n && rc == 0; i++)
        rc = check_holes(c, w, i, name);
    return par_agree(c->comm, rc);
}

/* --- buffers -------------------------------------------------------------------------------- */

/* The piece of a call, contiguous in the file, that begins so far behind the call's beginning: its
 * place in the file. bytes: [out] its length. */
static int64_t piece_at(const struct point_run *t, const struct workload_call *call, int64_t done,
                        int64_t *bytes)
{
    const int64_t at = call->offset + done;
    *bytes = t->view.block_bytes - at % t->view.block_bytes;
    if (*bytes > call->bytes - done) *bytes = call->bytes - done;
    return workload_view_place(&t->view, at);
}

static struct workload_allowed allowed(const struct point_run *t)
{
    return (struct workload_allowed){WORKLOAD_LAID_OUT, t->file->generation, t->file->floating};
}

static bool is_write(const struct workload_call *c)
{
    return workload_kind_of(c->kind).write;
}

static bool is_shared(const struct workload_call *c)
{
    return workload_kind_of(c->kind).position == WORKLOAD_SHARED;
}

static int point_buffers_make(struct point_run *t)
{
    const struct workload_plan *plan = &t->plan;
    struct workload_slots *s = &t->slots;
    TRY(workload_plan_slots(plan, t->holes, t->c->buffer_bytes, t->c->depth, s));
    t->memory = calloc((size_t)(s->read + s->write), (size_t)s->bytes);
    t->read = calloc((size_t)s->read + 1, sizeof *t->read);
    t->floating = calloc((size_t)plan->longest_bytes + 1, 1);
    if (!t->memory || !t->read || !t->floating)
        return mem_error("%" PRId64 " buffers of %" PRId64 " bytes: lower --buffer",
                         s->read + s->write, s->bytes);
    memset(t->floating, WORKLOAD_FLOATING, (size_t)plan->longest_bytes);
    for (int64_t i = 0; i < t->slots.read; i++)
        t->read[i].call = -1;
    unsigned char *slot = t->memory + t->slots.read * t->slots.bytes;
    for (int64_t i = 0; t->holes && i < plan->n; i++) {
        if (!is_write(&plan->call[i])) continue;
        for (int64_t done = 0, n; done < plan->call[i].bytes; done += n) {
            const int64_t at = piece_at(t, &plan->call[i], done, &n);
            workload_data_copy(&t->c->data, slot + done, at, n);
        }
        slot += t->slots.bytes;
    }
    return 0;
}

/* --- the calls ------------------------------------------------------------------------------ */

static int point_open(void *part)
{
    static const int64_t whole = 0;
    struct point_run *t = part;
    TRY(workload_handle_open(&t->handle, t->comm, t->path, t->c->info, t->c->depth));
    t->handle.pointer_late = t->c->pointer_late;
    if (t->holes)
        TRY(workload_handle_view(&t->handle, t->view.begin, 1, &whole, &t->view.block_bytes,
                                 t->view.tile_bytes));
    return par_agree(t->comm, workload_handle_seek(&t->handle, false, t->plan.begin));
}

/* The next slot into which nothing is being read. There is one: slots are more than requests in
 * flight, or as many as reads. */
static int64_t next_slot(const struct point_run *t, int64_t slot)
{
    do
        slot = (slot + 1) % t->slots.read;
    while (t->read[slot].posted > t->handle.posted - t->handle.n);
    return slot;
}

/* All calls; after an error, or asked to stop, a process still makes the calls in which others wait for it, empty ones. */
static int point_access(void *part, double *think_s)
{
    struct point_run *t = part;
    int rc = 0;
    int64_t slot = -1, writes = 0; /* slot: the last one read into */
    struct workload_stand stand = {.begin = t->plan.begin};
    for (int64_t i = 0; i < t->plan.n; i++) {
        const struct workload_call *call = &t->plan.call[i];
        const struct workload_kind k = workload_kind_of(call->kind);
        struct workload_transfer x = {.kind = call->kind,
                                      .offset = call->offset,
                                      .bytes = rc == 0 ? call->bytes : 0,
                                      .type = MPI_DATATYPE_NULL};
        const bool shared_seek = call->seek != WORKLOAD_NO_SEEK && k.position == WORKLOAD_SHARED;
        if (rc < 0 && !k.collective && !shared_seek) continue;
        if (!k.write) {
            slot = next_slot(t, slot);
            x.buffer = t->memory + slot * t->slots.bytes;
            t->read[slot] = (struct read_slot){.call = i};
        } else if (t->holes) {
            x.buffer = t->memory + (t->slots.read + writes) * t->slots.bytes;
        } else if (k.position == WORKLOAD_SHARED) {
            x.buffer = t->floating;
        } else {
            /* Nobody writes into it: writing calls take a buffer that is const. */
            x.buffer = t->c->data.master + call->offset % WORKLOAD_PERIOD_BYTES;
        }
        writes += k.write;
        int one = 0;
        if (call->seek != WORKLOAD_NO_SEEK && !shared_seek)
            one = workload_handle_seek(&t->handle, false, call->seek);
        if (shared_seek) {
            one = workload_handle_wait(&t->handle);
            /* Rank 0 moves the pointer at once; ROMIO's ordered calls of others may still be about
             * to take their places from it. */
            MPI_Barrier(t->comm);
            const int seek = workload_handle_seek(&t->handle, true, call->seek);
            if (one == 0) one = seek;
        }
        const int64_t posted = t->handle.posted;
        const int made = workload_handle_call(&t->handle, &x);
        if (one == 0) one = made;
        if (!k.write && t->handle.posted > posted) t->read[slot].posted = t->handle.posted;
        if (rc == 0) rc = one;
        workload_achieved_count(&t->achieved, &t->view, &stand, call);
        /* Flushing is collective as well: all do it, whoever has failed. Nothing may be in flight
         * then. */
        if (t->c->sync_call && k.write && k.collective) {
            const int ended = workload_handle_wait(&t->handle);
            const int sync = workload_handle_sync(&t->handle);
            if (rc == 0) rc = ended < 0 ? ended : sync;
        }
        if (rc == 0 && t->c->think && t->p->think_s > 0)
            *think_s += workload_think(t->p->think_s, false);
        if (rc == 0 && stop_requested()) rc = err_set(ERR_INTERRUPT, "interrupted");
    }
    const int last = workload_handle_wait(&t->handle);
    return rc == 0 ? last : rc;
}

static int point_sync(void *part)
{
    return workload_handle_sync(&((struct point_run *)part)->handle);
}

static int point_close(void *part)
{
    return workload_handle_close(&((struct point_run *)part)->handle);
}

/* --- checking the data ---------------------------------------------------------------------- */

/* What the last calls have read and still lies in memory. */
static int point_check_reads(struct point_run *t, struct workload_findings *f)
{
    for (int64_t s = 0; s < t->slots.read; s++) {
        if (t->read[s].call < 0) continue;
        if (stop_requested()) return err_set(ERR_INTERRUPT, "interrupted");
        const struct workload_call *call = &t->plan.call[t->read[s].call];
        const unsigned char *got = t->memory + s * t->slots.bytes;
        int64_t wrong = -1; /* offset in the file; with the shared pointer in the call */
        if (is_shared(call))
            wrong = workload_data_check_anywhere(&t->c->data, got, call->bytes, allowed(t));
        for (int64_t done = 0, n; !is_shared(call) && wrong < 0 && done < call->bytes; done += n) {
            const int64_t at = piece_at(t, call, done, &n);
            wrong = workload_data_check(&t->c->data, got + done, at, n, allowed(t));
            if (wrong >= 0) wrong += at;
        }
        workload_findings_add(f, call->bytes, wrong, t->path, is_shared(call) ? -1 : 0,
                              "wrong data read");
    }
    return 0;
}

static int point_check_writes(struct point_run *t, struct workload_findings *f, bool shared_only)
{
    const int now = t->file->generation;
    const struct workload_allowed a = {now, now, t->file->floating};
    int rc = 0;
    const int fd = open(t->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "cannot open %s", t->path);
    for (int64_t i = 0; rc == 0 && i < t->plan.n; i++) {
        const struct workload_call *call = &t->plan.call[i];
        if (!is_write(call) || is_shared(call)) continue;
        for (int64_t done = 0, n; rc == 0 && done < call->bytes; done += n) {
            const int64_t at = piece_at(t, call, done, &n);
            rc = workload_findings_read(f, &t->c->data, fd, t->path, at, n, a);
        }
    }
    /* Where nothing but the shared pointer was moved, its bytes lie at the beginning. */
    if (rc == 0 && shared_only && t->c->rank == 0)
        rc = workload_findings_read(f, &t->c->data, fd, t->path, 0, t->p->unique_bytes,
                                    (struct workload_allowed){0, -1, true});
    close(fd);
    return rc;
}

/* --- a point -------------------------------------------------------------------------------- */

/* What the calls of all processes do together, so that all of them decide the same. */
struct call_kinds {
    int read, write, shared_write, other, seek; /* any */
};

/* Whether a byte is moved twice. Collective over t->comm. [out] again. */
static int moves_again(const struct point_run *t, bool *again)
{
    const struct workload_plan *plan = &t->plan;
    int64_t n = 0, shared = 0;
    int sought = false;
    /* Each process has a file of its own, or pieces of its own of the view. */
    const int64_t file = t->holes || t->c->files.separate ? t->c->rank : 0;
    struct workload_piece *piece = mem_new(plan->n + 1, sizeof *piece, "the calls by their places");
    int rc = par_agree_memory(t->comm, piece != NULL);
    for (int64_t i = 0; rc == 0 && i < plan->n; i++) {
        const struct workload_call *c = &plan->call[i];
        if (is_shared(c)) {
            shared += c->bytes;
            sought |= c->seek != WORKLOAD_NO_SEEK;
        } else if (c->bytes > 0) {
            piece[n++] = (struct workload_piece){file, c->offset, c->offset + c->bytes};
        }
    }
    /* The shared pointer goes on from the beginning. */
    if (rc == 0)
        rc = par_check(MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT64_T, MPI_SUM, t->comm),
                       "MPI_Allreduce");
    if (rc == 0 && t->c->rank == 0 && shared > 0)
        piece[n++] = (struct workload_piece){0, 0, shared};
    if (rc == 0) rc = workload_moves_again(t->comm, piece, n, again);
    if (sought) *again = true; /* to anywhere; of all processes */
    free(piece);
    return rc;
}

/* What the processes of the point do. Collective over t->comm. */
static int replay_point(struct point_run *t, const struct workload *w, int no,
                        struct workload_outcome *o)
{
    static const struct workload_steps steps = {point_open, point_access, point_sync, point_close};
    struct call_kinds all = {0};
    TRY_MPI(MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN));
    TRY(nodes_split(t->comm, &t->nodes));
    TRY(par_agree(t->comm, workload_plan_make(w, no, t->c->rank, &t->plan)));
    for (int64_t i = 0; i < t->plan.n; i++) {
        const struct workload_call *c = &t->plan.call[i];
        all.read |= !is_write(c);
        all.write |= is_write(c);
        all.shared_write |= is_write(c) && is_shared(c);
        all.other |= !(is_write(c) && is_shared(c));
        all.seek |= c->seek != WORKLOAD_NO_SEEK;
    }
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 5, MPI_INT, MPI_MAX, t->comm));
    if (all.write) t->file->generation = workload_content_next(t->file);
    if (all.shared_write) t->file->floating = true;
    o->m.reads = all.read;
    o->m.writes = all.write;
    TRY(moves_again(t, &o->m.again));
    TRY(par_agree(t->comm,
                  workload_data_make(&t->c->data, t->file->generation, t->plan.longest_bytes)));
    TRY(par_agree(t->comm, point_buffers_make(t)));
    TRY(workload_measure(t->c, &t->nodes, t->p->file, &steps, t, &o->m));

    const bool only_shared = all.shared_write && !all.other && !all.seek;
    int checked = t->c->check ? point_check_reads(t, &o->m.findings) : 0;
    if (checked == 0 && t->c->check && all.write)
        checked = point_check_writes(t, &o->m.findings, only_shared);
    /* What was found wrong until it was interrupted is told as well. */
    checked = par_agree(t->comm, checked);
    o->achieved = t->achieved;
    for (int i = 0; i < WORKLOAD_KINDS; i++)
        o->m.bytes += o->achieved.bytes[i];
    int64_t most[3] = {o->m.bytes, -o->m.bytes, t->handle.most};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT64_T, MPI_MAX, t->comm));
    o->bytes_max = most[0];
    o->bytes_min = -most[1];
    o->in_flight_most = (int)most[2];
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &o->achieved, (int)(sizeof o->achieved / sizeof(int64_t)),
                          MPI_INT64_T, MPI_SUM, t->comm));
    const int summed = workload_measured_sum(&o->m, t->c, t->comm);
    return checked < 0 ? checked : summed;
}

int workload_replay_point(struct workload_context *c, const struct workload *w, int no,
                          struct workload_outcome *o)
{
    const struct workload_point *p = &w->point[no];
    struct point_run t = {.c = c,
                          .p = p,
                          .file = &c->content[p->file],
                          .nodes = {.node = MPI_COMM_NULL},
                          .handle = {.file = MPI_FILE_NULL},
                          .view = workload_point_view(p, c->rank),
                          .holes = workload_point_holes(p)};
    *o = (struct workload_outcome){.asked = p};
    TRY(par_agree(c->comm, stop_requested() ? err_set(ERR_INTERRUPT, "interrupted") : 0));
    workload_files_path(&c->files, p->file, t.path);
    TRY_MPI(
        MPI_Comm_split(c->comm, c->rank < p->process_num ? 0 : MPI_UNDEFINED, c->rank, &t.comm));
    int rc = 0;
    if (t.comm != MPI_COMM_NULL) {
        rc = replay_point(&t, w, no, o);
        nodes_free(&t.nodes);
        MPI_Comm_free(&t.comm);
    }
    free(t.memory);
    free(t.read);
    free(t.floating);
    workload_plan_free(&t.plan);
    rc = par_agree(c->comm, rc);
    /* Processes that took no part learn what the file contains now. */
    int64_t content[2] = {t.file->generation, t.file->floating};
    TRY_MPI(MPI_Bcast(content, 2, MPI_INT64_T, 0, c->comm));
    t.file->generation = (int)content[0];
    t.file->floating = content[1] != 0;
    o->m.done = rc == 0;
    return rc;
}

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *numbers_json(const struct workload_point *p)
{
    json_t *o = json_object();
    for (int i = 0; i < WORKLOAD_NUMBERS; i++) {
        const double x = workload_point_number(p, i);
        json_object_set_new(o, workload_numbers[i].name,
                            workload_numbers[i].whole ? json_integer((json_int_t)x) : js_real(x));
    }
    return o;
}

json_t *workload_outcome_json(const struct workload_outcome *o)
{
    const struct workload_point achieved = workload_achieved_point(&o->achieved, o->asked);
    json_t *calls = json_array();
    for (int i = 0; i < WORKLOAD_KINDS; i++)
        if (o->achieved.calls[i] > 0)
            json_array_append_new(calls, json_pack("{ss sI sI}", "function", workload_kind_name(i),
                                                   "n", (json_int_t)o->achieved.calls[i], "bytes",
                                                   (json_int_t)o->achieved.bytes[i]));
    json_t *one =
        json_pack("{si so so so sI sI si}", "file", o->asked->file, "asked", numbers_json(o->asked),
                  "achieved", numbers_json(&achieved), "calls", calls, "bytes_min_of_rank",
                  (json_int_t)o->bytes_min, "bytes_max_of_rank", (json_int_t)o->bytes_max,
                  "in_flight_most_n", o->in_flight_most);
    json_object_update_new(one, workload_measured_json(&o->m));
    return one;
}
