/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/accessopen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"

#define BESIDE 256 /* descriptors of MPI, of locks and notes */

/* A run as the descriptor that it needs. */
struct need {
    int32_t file;
    int flags;
    int64_t run;
};

static int by_file(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->flags > y->flags) - (x->flags < y->flags);
}

int workload_access_opens_make(const struct workload_accessfile *a, struct workload_access_opens *o)
{
    struct need *need = mem_new(a->mine_n, sizeof *need, "%" PRId64 " runs", a->mine_n);
    *o = (struct workload_access_opens){0};
    o->of_run = mem_new(a->mine_n, sizeof *o->of_run, "%" PRId64 " runs", a->mine_n);
    if (!need || !o->of_run) {
        free(need);
        return ERR_NOMEM;
    }
    for (int64_t i = 0; i < a->mine_n; i++)
        need[i] = (struct need){.file = a->run[i].file, .flags = a->run[i].flags, .run = i};
    qsort(need, (size_t)a->mine_n, sizeof *need, by_file);
    for (int64_t i = 0; i < a->mine_n; i++)
        o->n += i == 0 || by_file(&need[i - 1], &need[i]) != 0;
    o->open = mem_new(o->n, sizeof *o->open, "descriptors of %" PRId64 " files", o->n);
    int64_t n = 0;
    for (int64_t i = 0; o->open && i < a->mine_n; i++) {
        if (i == 0 || by_file(&need[i - 1], &need[i]) != 0)
            o->open[n++] = (struct workload_access_open){
                .file = need[i].file, .flags = need[i].flags, .shorten = -1, .fd = -1};
        o->of_run[need[i].run] = n - 1;
    }
    free(need);
    return o->open ? 0 : ERR_NOMEM;
}

/* --- what can be left as it was ---------------------------------------------------------------- */

#define SPECIAL (WORKLOAD_RUN_TRUNC | WORKLOAD_RUN_APPEND)

/* What may be left out, least first. */
static const int way[] = {0, WORKLOAD_RUN_TRUNC, WORKLOAD_RUN_APPEND, SPECIAL};
enum { WAYS = sizeof way / sizeof way[0] };

/* A file of one process, if that opens it in each way. */
struct course {
    struct span {
        int64_t begin, end;
    } * span; /* [n] what was written, in order and apart from each other; owned */
    int64_t n, room;
    struct {
        int64_t length,
            began; /* the file's, now and at the beginning, where all of it holds data */
        bool bad;  /* a call would not do what it did */
    } in[WAYS];
};

/* The first span that ends there or behind. */
static int64_t span_at(const struct course *c, int64_t offset)
{
    int64_t low = 0, high = c->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (c->span[middle].end < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int span_add(struct course *c, int64_t begin, int64_t end)
{
    const int64_t at = span_at(c, begin);
    int64_t next = at;
    for (; next < c->n && c->span[next].begin <= end; next++) {
        begin = num_min(begin, c->span[next].begin);
        end = num_max(end, c->span[next].end);
    }
    if (next == at && c->n == c->room) {
        const int64_t room = c->room ? 2 * c->room : 8;
        struct span *more = mem_grow(c->span, room, sizeof *more, "what was written to a file");
        if (!more) return ERR_NOMEM;
        c->span = more;
        c->room = room;
    }
    if (next < c->n)
        memmove(&c->span[at + 1], &c->span[next], (size_t)(c->n - next) * sizeof *c->span);
    c->span[at] = (struct span){.begin = begin, .end = end};
    c->n += 1 - (next - at);
    return 0;
}

/* Whether all of that was written. */
static bool spans_hold(const struct course *c, int64_t begin, int64_t end)
{
    const int64_t at = begin < end ? span_at(c, begin + 1) : c->n;
    return begin >= end || (at < c->n && c->span[at].begin <= begin && end <= c->span[at].end);
}

/* Length of a file at the beginning. */
static int64_t begins_with(const struct workload_accessed *f, int left_out)
{
    const int flags = f->flags & ~left_out;
    if (flags & WORKLOAD_RUN_TRUNC) return 0;
    return (flags & WORKLOAD_RUN_APPEND) && f->append_bytes > 0 ? f->append_begin : f->length_bytes;
}

/* Follows a call of the only process of a file. Returns 0 or ERR_NOMEM. */
static int follow(struct course *c, const struct workload_run *r, int64_t offset)
{
    const int64_t end = offset + r->bytes;
    if (r->bytes == 0) return 0;
    for (int w = 0; w < WAYS; w++) {
        const bool appends = (r->flags & ~way[w] & WORKLOAD_RUN_APPEND) != 0;
        if (workload_run_reads(r)) {
            if (!spans_hold(c, num_max(offset, c->in[w].began), end)) c->in[w].bad = true;
            continue;
        }
        if (appends && (r->call != WORKLOAD_RUN_WRITE || offset != c->in[w].length))
            c->in[w].bad = true;
        c->in[w].length = num_max(c->in[w].length, end);
    }
    return workload_run_reads(r) ? 0 : span_add(c, offset, end);
}

/* What is left out where several processes use a file, whose calls have no order among them. */
static int shared_left_out(const struct workload_accessed *f)
{
    const bool appends = f->append_bytes > 0, truncates = (f->flags & WORKLOAD_RUN_TRUNC) != 0;
    int out = 0;
    /* What is appended lies in one piece, and nothing is written or read behind its beginning. */
    if (appends && (f->append_odd || f->append_end - f->append_begin != f->append_bytes ||
                    f->write_end > f->append_begin || f->read_end > f->append_begin))
        out |= WORKLOAD_RUN_APPEND;
    if (truncates && (f->read || (appends && !out && f->append_begin > 0)))
        out |= WORKLOAD_RUN_TRUNC;
    return out;
}

int workload_access_opens_plan(const struct workload_accessfile *a, int process,
                               const struct workload_step *step, int64_t steps,
                               struct workload_access_opens *o)
{
    struct course *course = mem_new(a->files_n, sizeof *course, "%d files", a->files_n);
    if (!course) return ERR_NOMEM;
    for (int f = 0; f < a->files_n; f++)
        for (int w = 0; w < WAYS; w++)
            course[f].in[w].length = course[f].in[w].began = begins_with(&a->file[f], way[w]);
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < steps; i++) {
        const struct workload_run *r = &a->run[step[i].run];
        if ((a->file[r->file].flags & SPECIAL) && (workload_run_reads(r) || workload_run_writes(r)))
            rc = follow(&course[r->file], r, step[i].offset);
    }
    for (int64_t i = 0; rc == 0 && i < o->n; i++) {
        struct workload_access_open *at = &o->open[i];
        const struct workload_accessed *f = &a->file[at->file];
        int w = 0;
        if (!(f->flags & SPECIAL)) continue;
        at->shared = f->process_min < f->process_max;
        while (w < WAYS - 1 && course[at->file].in[w].bad)
            w++;
        const int out = at->shared ? shared_left_out(f) : way[w];
        const int64_t begin = begins_with(f, out);
        at->left_out = at->flags & out;
        if (!(f->flags & ~out & WORKLOAD_RUN_TRUNC) && begin < f->length_bytes &&
            f->process_min == process)
            at->shorten = begin;
    }
    for (int f = 0; f < a->files_n; f++)
        free(course[f].span);
    free(course);
    return rc;
}

void workload_access_opens_free(struct workload_access_opens *o)
{
    free(o->open);
    free(o->of_run);
    *o = (struct workload_access_opens){0};
}

int workload_access_opens_allow(int64_t n, const char *name, int process)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    const rlim_t needed = (rlim_t)n + BESIDE;
    if (limit.rlim_cur >= needed) return 0;
    limit.rlim_cur = needed;
    if (needed <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0) return 0;
    return err_set(ERR_USAGE,
                   "%s: process %d has %" PRId64 " files open at a time, %" PRId64
                   " are allowed here: raise the limit (ulimit -Hn)",
                   name, process, n,
                   limit.rlim_max > BESIDE ? (int64_t)limit.rlim_max - BESIDE : 0);
}
