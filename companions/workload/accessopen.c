/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/accessopen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/mem.h"

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
    struct {
        int64_t length;  /* the file's */
        int64_t covered; /* so many bytes from its beginning hold data */
        bool bad;        /* a call would not do what it did */
    } in[WAYS];
};

/* Length of a file at the beginning. */
static int64_t begins_with(const struct workload_accessed *f, int left_out)
{
    const int flags = f->flags & ~left_out;
    if (flags & WORKLOAD_RUN_TRUNC) return 0;
    return (flags & WORKLOAD_RUN_APPEND) && f->append_bytes > 0 ? f->append_begin : f->length_bytes;
}

/* Follows a call of the only process of a file. */
static void follow(struct course *c, const struct workload_run *r, int64_t offset)
{
    const int64_t end = offset + r->bytes;
    for (int w = 0; w < WAYS; w++) {
        const bool appends = (r->flags & ~way[w] & WORKLOAD_RUN_APPEND) != 0;
        if (r->bytes == 0) continue;
        if (workload_run_reads(r)) {
            c->in[w].bad = c->in[w].bad || end > c->in[w].covered;
            continue;
        }
        if (appends && (r->call != WORKLOAD_RUN_WRITE || offset != c->in[w].length))
            c->in[w].bad = true;
        if (offset <= c->in[w].covered && end > c->in[w].covered) c->in[w].covered = end;
        if (end > c->in[w].length) c->in[w].length = end;
    }
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
            course[f].in[w].length = course[f].in[w].covered = begins_with(&a->file[f], way[w]);
    for (int64_t i = 0; i < steps; i++) {
        const struct workload_run *r = &a->run[step[i].run];
        if (workload_run_reads(r) || workload_run_writes(r))
            follow(&course[r->file], r, step[i].offset);
    }
    for (int64_t i = 0; i < o->n; i++) {
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
    free(course);
    return 0;
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
