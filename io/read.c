/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/conf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/nodes.h"
#include "base/num.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/watch.h"
#include "io/context.h"
#include "io/writers/fd.h"
#include "io/target/manifest.h"
#include "io/target/parts.h"
#include "io/target/target.h"

struct io_reading {
    const struct io_writer *writer;
    void *state; /* the writer's */
    bool writer_open;
    struct io_context ctx;
    struct io_found {
        char path[IO_PATH_MAX]; /* links resolved */
        char manifest[IO_PATH_MAX + 8];
        struct io_past past;
        int64_t bytes, boxes_n; /* length of the file itself; parts beside it */
    } found;
    struct io_box *box;           /* [found.boxes_n] */
    struct io_manifest *manifest; /* rank 0 */
    int64_t next;                 /* of the plan */
    const struct io_array *to;    /* of the dump that is being read */
    int failed;                   /* the agreed code */
    struct io_read_stats stats;
};

/* ------------------------------------------------------------------ what is there */

/* Rank 0: file and manifest. */
static int look_for(const char *path, struct io_found *f, struct io_manifest **m)
{
    struct stat st;
    if (strlen(path) >= sizeof f->path) return err_set(ERR_USAGE, "the path to read is too long");
    if (stat(path, &st) != 0) return err_set_errno(ERR_IO, errno, "cannot read %s", path);
    if (!S_ISREG(st.st_mode)) return err_set(ERR_USAGE, "%s is not a regular file", path);
    if (!realpath(path, f->path)) return err_set_errno(ERR_IO, errno, "cannot read %s", path);
    snprintf(f->manifest, sizeof f->manifest, "%s.json", f->path);
    const char *name = io_path_base(f->path);
    if (access(f->manifest, F_OK) != 0)
        return err_set(ERR_USAGE, "%s has no manifest %s that says what is in it", path,
                       f->manifest);
    TRY(io_manifest_load(m, f->manifest, name, &f->past));
    f->bytes = (int64_t)st.st_size;
    f->boxes_n = io_manifest_parts_n(*m);
    return 0;
}

/* On every rank what rank 0 finds. [out] box: to be freed, after an error too; m: rank 0's. */
static int find_dumps(MPI_Comm comm, const char *path, struct io_found *f, struct io_box **box,
                      struct io_manifest **m)
{
    int rank;
    *m = NULL;
    *box = NULL;
    memset(f, 0, sizeof *f);
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY(par_agree(comm, rank == 0 ? look_for(path, f, m) : 0));
    TRY_MPI(MPI_Bcast(f, sizeof *f, MPI_BYTE, 0, comm));
    *box = mem_new(f->boxes_n + 1, sizeof **box, "a list of parts");
    TRY(par_agree_memory(comm, *box != NULL));
    for (int64_t i = 0; rank == 0 && i < f->boxes_n; i++)
        (*box)[i] = io_manifest_part(*m, i);
    return par_check(MPI_Bcast(*box, (int)(6 * f->boxes_n), MPI_INT64_T, 0, comm), "MPI_Bcast");
}

/* Whether what is there is what was asked for. The same on every rank. */
static int check_match(const struct io_read_spec *s, const struct io_found *f,
                       const struct io_box *box, const struct io_writer *w)
{
    const struct io_past *p = &f->past;
    const bool in_parts = f->boxes_n > 0 && f->bytes == 0;
    int64_t bytes = 0;
    if (p->n != s->n || p->layout != s->layout)
        return err_set(ERR_USAGE,
                       "%s holds dumps of N = %" PRId64 " in layout %s, not of N = %" PRId64
                       " in layout %s",
                       f->path, p->n, io_layout_name(p->layout), s->n, io_layout_name(s->layout));
    if (p->body.format != w->format)
        return err_set(ERR_USAGE, "%s has format %s, which writer %s does not read", f->path,
                       io_format_name(p->body.format), w->name);
    if (!(w->caps & (IO_CAP_SERIAL_FILE | IO_CAP_PARTS)))
        return err_set(ERR_USAGE, "writer %s leaves nothing that could be read", w->name);
    if (!(w->caps & IO_CAP_PARTS)) {
        char word[CONF_WORD_MAX];
        if (!in_parts) return 0;
        return err_set(
            ERR_USAGE,
            "%s is empty, its dumps are in %s.rank00000 and so on: read them as perrank, "
            "or make one file of them with nht1-verify --merge %s",
            f->path, io_path_base(f->path), conf_file_word(f->path, word));
    }
    for (int64_t i = 0; i < f->boxes_n; i++)
        bytes += io_view_bytes(&(struct io_view){p->n, p->layout, box[i]});
    if (bytes == io_dump_bytes(p->layout, p->n)) return 0;
    return err_set(ERR_USAGE,
                   f->boxes_n > 0 ? "the parts in the manifest of %s do not make a dump"
                                  : "%s is in one file and not in parts of ranks: read it as posix",
                   f->path);
}

/* ------------------------------------------------------------------ reading */

/* A writer that can read; one that leaves a serial file and cannot has posix do it. */
static const struct io_writer *reader_of(const struct io_writer *w)
{
    return w && !w->read && (w->caps & IO_CAP_SERIAL_FILE) ? io_writer_find("posix") : w;
}

static int check_spec(const struct io_read_spec *s, struct io_spec *as)
{
    *as = (struct io_spec){.path = s->path,
                           .writer = s->writer,
                           .layout = s->layout,
                           .n = s->n,
                           .box = s->box,
                           .dumps_n = 1,
                           .steps_n = 1,
                           .interval = 1,
                           .tuning = s->tuning,
                           .hints_n = s->hints_n,
                           .hints = s->hints};
    if (as->tuning.buffer_bytes == 0) as->tuning.buffer_bytes = IO_READ_BYTES;
    return io_spec_check(as);
}

/* Opens the file for a plan of dumps. */
static int begin_plan(struct io_reading *r, const int64_t *dumps, int64_t dumps_n)
{
    struct io_context *c = &r->ctx;
    const int64_t complete_n = r->found.past.complete_n;
    double since_s;
    c->plan = dumps;
    c->plan_n = dumps_n;
    c->dumps_n = r->next = 0;
    if (dumps_n < 1) return err_set(ERR_USAGE, "%s: there is no dump to be read", c->path);
    for (int64_t i = 0; i < dumps_n; i++) {
        if (dumps[i] < 0 || dumps[i] >= complete_n)
            return err_set(ERR_USAGE,
                           "dump %" PRId64
                           " of %s (the first is 0) cannot be read: its manifest calls the first "
                           "%" PRId64 " complete",
                           dumps[i], c->path, complete_n);
        c->dumps_n = num_max(c->dumps_n, dumps[i] + 1);
    }
    memset(r->state, 0, r->writer->state_size);
    r->writer_open = true;
    since_s = watch_now();
    const int rc = r->writer->open(r->state, c);
    r->stats.data_s += watch_now() - since_s;
    return par_agree(c->comm, rc);
}

static int open_plan(struct io_reading *r, MPI_Comm comm, const struct io_read_spec *s,
                     const struct io_spec *as)
{
    struct io_context *c = &r->ctx;
    struct io_tuning *t = &c->tuning;
    TRY(io_context_make(c, comm, as));
    TRY(find_dumps(c->comm, s->path, &r->found, &r->box, &r->manifest));
    TRY(check_match(s, &r->found, r->box, c->inner ? c->inner : r->writer));
    c->path = r->found.path;
    c->body = r->found.past.body;
    c->boxes = r->box;
    c->boxes_n = r->found.boxes_n;
    c->durable_n = r->found.past.complete_n;
    c->requests_n = &r->stats.requests_n;
    c->inner = reader_of(c->inner);
    /* No more at a time than there is, and no value is cut in two. */
    t->buffer_bytes =
        num_min(t->buffer_bytes, io_dump_bytes(s->layout, s->n)) / IO_WORD_BYTES * IO_WORD_BYTES;
    t->call_bytes = num_min(t->call_bytes, t->buffer_bytes);
    r->state = calloc(1, r->writer->state_size + 1);
    c->part = buffer_new((size_t)t->buffer_bytes);
    TRY(par_agree(c->comm, r->state && c->part ? 0 : mem_error("reading")));
    return begin_plan(r, s->dumps, s->dumps_n);
}

int io_read_open_with(struct io_reading **out, MPI_Comm comm, const struct io_read_spec *spec,
                      const struct io_writer *writer)
{
    const double since_s = watch_now();
    struct io_spec as;
    *out = NULL;
    TRY(par_agree(comm, check_spec(spec, &as)));
    struct io_reading *r = mem_new(1, sizeof *r, "reading");
    int rc = par_agree_memory(comm, r != NULL);
    if (rc < 0) {
        free(r);
        return rc;
    }
    r->writer = reader_of(writer);
    r->ctx = (struct io_context){IO_CONTEXT_NONE};
    rc = open_plan(r, comm, spec, &as);
    if (rc < 0) {
        r->failed = rc;
        io_read_close(r);
        return rc;
    }
    r->stats.open_s = watch_now() - since_s;
    *out = r;
    return 0;
}

int io_read_open(struct io_reading **r, MPI_Comm comm, const struct io_read_spec *spec)
{
    const struct io_writer *writer = spec->writer ? io_writer_find(spec->writer) : NULL;
    int rc = writer ? 0 : io_writer_unknown(spec->writer ? spec->writer : "");
    *r = NULL;
    TRY(par_agree(comm, rc));
    return io_read_open_with(r, comm, spec, writer);
}

/* Where the caller wants the cells of a view, maybe some of its own alone. */
static struct io_array place_of(const struct io_reading *r, const struct io_view *v)
{
    const struct io_array *to = r->to;
    const int64_t *lo = v->box.lo, *mine = r->ctx.view->box.lo;
    const int64_t first =
        (lo[0] - mine[0]) + (lo[1] - mine[1]) * to->sj + (lo[2] - mine[2]) * to->sk;
    return (struct io_array){to->u + first, to->sm, to->sj, to->sk};
}

static void unstage_piece(void *state, const struct io_view *v, const char *data, int64_t start,
                          int64_t bytes)
{
    struct io_reading *r = state;
    const double since_s = watch_now();
    const struct io_array to = place_of(r, v);
    io_view_unstage(v, data, start, bytes, &to);
    r->stats.data_s -= watch_now() - since_s;
}

static void unstage_sample(void *state, const struct io_view *v, const char *data, int64_t start,
                           int64_t bytes)
{
    struct io_reading *r = state;
    const double since_s = watch_now();
    const struct io_array to = place_of(r, v);
    io_view_pick(v, data, start, bytes, &to);
    r->stats.data_s -= watch_now() - since_s;
}

int io_read_dump(struct io_reading *r, int64_t d, const struct io_array *to)
{
    const double since_s = watch_now();
    if (r->failed < 0) return r->failed;
    if (r->next >= r->ctx.plan_n || r->ctx.plan[r->next] != d)
        return err_set(ERR_INVALID, "dump %" PRId64 " of %s is not the next to be read", d,
                       r->ctx.path);
    r->next++;
    r->to = to;
    int rc =
        r->writer->read(r->state, &r->ctx, d, &(struct io_taker){r, unstage_piece, unstage_sample});
    const double read_s = watch_now();
    r->failed = par_agree(r->ctx.comm, rc);
    r->stats.read_s += read_s - since_s;
    r->stats.data_s += read_s - since_s;
    r->stats.agree_s += watch_now() - read_s;
    if (r->failed == 0) r->stats.bytes += io_view_bytes(r->ctx.view);
    return r->failed;
}

int io_read_go_on(struct io_reading *r, const int64_t *dumps, int64_t dumps_n)
{
    const double since_s = watch_now();
    if (r->failed < 0) return r->failed;
    if (r->next < r->ctx.plan_n)
        return err_set(ERR_INVALID, "not all dumps of %s that were to be read have been",
                       r->ctx.path);
    r->writer_open = false;
    const int rc = r->writer->close(r->state, &r->ctx);
    r->stats.data_s += watch_now() - since_s;
    r->failed = par_agree(r->ctx.comm, rc);
    if (r->failed == 0) r->failed = begin_plan(r, dumps, dumps_n);
    r->stats.open_s += watch_now() - since_s;
    return r->failed;
}

int io_read_right(struct io_reading *r, int64_t d, const uint64_t *digest, int64_t *step,
                  bool *right)
{
    return io_manifest_has(r->ctx.comm, r->manifest, r->found.past.n, d, digest, step, right);
}

const struct io_read_stats *io_read_stats(const struct io_reading *r)
{
    return &r->stats;
}

int io_read_close(struct io_reading *r)
{
    if (!r) return 0;
    int rc = r->writer_open ? r->writer->close(r->state, &r->ctx) : 0;
    rc = r->failed < 0 ? r->failed : par_agree(r->ctx.comm, rc);
    io_context_free(&r->ctx);
    io_manifest_free(r->manifest);
    free(r->ctx.part);
    free(r->state);
    free(r->box);
    free(r);
    return rc;
}

/* ------------------------------------------------------------------ caches */

/* The i-th file: FILE itself, then its parts. out: IO_PLACE_PATH_MAX bytes. */
static const char *file_name(const struct io_found *f, int64_t i, char *out)
{
    if (i > 0)
        io_part_path(f->path, i - 1, out);
    else
        snprintf(out, IO_PLACE_PATH_MAX, "%s", f->path);
    return out;
}

static const char system_caches[] = "/proc/sys/vm/drop_caches";

int io_read_may_drop_system(MPI_Comm comm)
{
    int rc = 0;
    if (access(system_caches, W_OK) != 0)
        rc = err_set_errno(
            ERR_USAGE, errno,
            "--read-drop-system: only root may drop the system's caches, by way of %s",
            system_caches);
    return par_agree(comm, rc);
}

static int drop_system(void)
{
    const int fd = open(system_caches, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, "1\n", 2) == 2;
    const int errnum = errno;
    if (fd >= 0) close(fd);
    if (done) return 0;
    return err_set_errno(ERR_IO, errnum, "the system's caches cannot be dropped by way of %s",
                         system_caches);
}

int io_read_drop(MPI_Comm comm, const char *path, bool system)
{
    char name[IO_PLACE_PATH_MAX];
    struct io_found f;
    struct io_box *box;
    struct io_manifest *m;
    struct nodes nodes = {.node = MPI_COMM_NULL};
    int rc;
    TRY_TO(out, rc, find_dumps(comm, path, &f, &box, &m));
    TRY_TO(out, rc, nodes_split(comm, &nodes));
    /* Pages that are not on the device yet, whoever wrote them, cannot be dropped. */
    for (int64_t i = nodes.rank; rc == 0 && i <= f.boxes_n; i += nodes.size)
        rc = resident_drop(file_name(&f, i, name));
    TRY_TO(out, rc, par_agree(comm, rc));
    for (int64_t i = nodes.node_rank; rc == 0 && i <= f.boxes_n; i += nodes.node_size)
        rc = resident_drop(file_name(&f, i, name));
    if (rc == 0 && system && nodes.node_rank == 0) rc = drop_system();
    rc = par_agree(comm, rc);
out:
    nodes_free(&nodes);
    io_manifest_free(m);
    free(box);
    return rc;
}

/* Bytes of a range of a file that are in this node's memory, -1 when the system does not tell. */
static int64_t cached_here(const char *path, int64_t start, int64_t bytes)
{
    struct resident r;
    if (resident_ask_range(path, start, bytes, &r) == 0) return r.cached_bytes;
    err_clear();
    return -1;
}

int io_read_cached(MPI_Comm comm, const char *path, const int64_t *dumps, int64_t dumps_n,
                   struct io_read_cached *c)
{
    char name[IO_PLACE_PATH_MAX];
    struct io_found f;
    struct io_box *box;
    struct io_manifest *m;
    struct nodes nodes = {.node = MPI_COMM_NULL};
    int64_t sum[2] = {0}; /* in memory; answers that did not come */
    int rc;
    *c = (struct io_read_cached){0};
    TRY_TO(out, rc, find_dumps(comm, path, &f, &box, &m));
    TRY_TO(out, rc, nodes_split(comm, &nodes));
    const bool parts = f.boxes_n > 0 && f.bytes == 0;
    const int64_t files_n = parts ? f.boxes_n : 1;
    c->bytes = dumps_n * io_dump_bytes(f.past.layout, f.past.n);
    for (int64_t i = nodes.node_rank; i < files_n; i += nodes.node_size) {
        const struct io_view v = {f.past.n, f.past.layout, box[i]};
        const int64_t in_dump = parts ? io_view_bytes(&v) : io_dump_bytes(v.layout, v.n);
        const int64_t first = num_max(0, f.past.body.data_offset);
        file_name(&f, parts ? i + 1 : 0, name);
        for (int64_t d = 0; d < dumps_n && in_dump > 0; d++) {
            const int64_t cached = cached_here(name, first + dumps[d] * in_dump, in_dump);
            sum[cached < 0] += cached < 0 ? 1 : cached;
        }
    }
    TRY_MPI_TO(out, rc, MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, comm));
    c->known = sum[1] == 0;
    c->cached_bytes = c->known ? sum[0] : 0;
out:
    nodes_free(&nodes);
    io_manifest_free(m);
    free(box);
    return rc;
}
