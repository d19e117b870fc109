/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/certificate.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"

/* What a function of the trace is called when its calls are told. */
static const char *verb_of(int function)
{
    static const char *const other[PROFILE_OTHERS] = {
        "opened",     "set views of", "flushed", "set the size of", "moved its pointer in",
        "waited for", "closed"};
    if (function >= WORKLOAD_KINDS) return other[function - WORKLOAD_KINDS];
    return workload_kind_of(function).write ? "wrote" : "read";
}

/* The same file in the other run: nearly always under the same number. */
static const struct profile_file *same_file(const struct profile_map *m, int f,
                                            const struct profile_file *file)
{
    for (int i = 0; i < m->files_n; i++) {
        const struct profile_file *at = &m->file[(f + i) % m->files_n];
        if (at->comm_size == file->comm_size && strcmp(at->name, file->name) == 0) return at;
    }
    return NULL;
}

/* Calls of a direction, or of one other function. */
static struct profile_traced sum_of(const struct profile_trace *t, int function)
{
    struct profile_traced sum = t->of[function];
    if (function >= WORKLOAD_KINDS) return sum;
    const bool write = workload_kind_of(function).write;
    sum = (struct profile_traced){0};
    for (int k = 0; k < WORKLOAD_KINDS; k++)
        if (workload_kind_of(k).write == write) {
            sum.n += t->of[k].n;
            sum.bytes += t->of[k].bytes;
        }
    return sum;
}

/* The difference between two traces of a file, as a sentence. */
static void tell(struct certificate *c, int rank, const char *name, int function,
                 const struct profile_trace *with, const struct profile_trace *without)
{
    const struct profile_traced a = sum_of(with, function), b = sum_of(without, function);
    const char *verb = verb_of(function);
    if (a.n != b.n)
        snprintf(c->difference, sizeof c->difference,
                 "rank %d %s %.300s %" PRIu64 " times in one run and %" PRIu64 " in the other",
                 rank, verb, name, a.n, b.n);
    else if (a.bytes != b.bytes)
        snprintf(c->difference, sizeof c->difference,
                 "rank %d %s %" PRIu64 " bytes of %.300s in one run and %" PRIu64 " in the other",
                 rank, verb, a.bytes, name, b.bytes);
    else
        snprintf(c->difference, sizeof c->difference,
                 "rank %d %s %.300s by other functions in one run than in the other", rank, verb,
                 name);
}

static void compare_file(struct certificate *c, int rank, const struct profile_file *with,
                         const struct profile_trace *without, bool writes_only)
{
    const struct profile_trace *a = &with->trace;
    for (int f = 0; f < PROFILE_TRACED; f++) {
        const bool write = f < WORKLOAD_KINDS && workload_kind_of(f).write;
        if (writes_only && !write) continue;
        c->calls_n = num_sum(c->calls_n, (int64_t)a->of[f].n);
        c->bytes = num_sum(c->bytes, (int64_t)a->of[f].bytes);
        if (c->difference[0]) continue;
        if (a->of[f].n != without->of[f].n || a->of[f].bytes != without->of[f].bytes)
            tell(c, rank, with->name, f, a, without);
    }
    c->files_n++;
    if (writes_only || a->threads != 1 || without->threads != 1) return;
    c->ordered_n++;
    if (!c->difference[0] && a->digest != without->digest)
        snprintf(c->difference, sizeof c->difference,
                 "rank %d accessed %.300s in another order or at other places in one run than in "
                 "the other",
                 rank, with->name);
}

static void compare_rank(struct certificate *c, const struct profile_map *with,
                         const struct profile_map *without, bool writes_only)
{
    static const struct profile_trace none;
    for (int f = 0; f < with->files_n; f++) {
        const struct profile_file *there = same_file(without, f, &with->file[f]);
        compare_file(c, with->rank, &with->file[f], there ? &there->trace : &none, writes_only);
    }
    for (int f = 0; f < without->files_n && !c->difference[0]; f++)
        if (!same_file(with, f, &without->file[f]))
            snprintf(c->difference, sizeof c->difference,
                     "rank %d opened %.300s without its writes only", without->rank,
                     without->file[f].name);
}

void certificate_make(struct certificate *c, const struct profile_run *with,
                      const struct profile_run *without, bool writes_only)
{
    *c = (struct certificate){.agree = false};
    if (with->size != without->size)
        snprintf(c->difference, sizeof c->difference,
                 "the program had %d ranks in one run and %d in "
                 "the other",
                 with->size, without->size);
    for (int r = 0; r < with->size && !c->difference[0]; r++) {
        const struct profile_map *a = with->rank[r], *b = without->rank[r];
        if (!a || !b)
            snprintf(c->difference, sizeof c->difference, "rank %d left no trace", r);
        else if (a->files_lost + b->files_lost > 0)
            snprintf(c->difference, sizeof c->difference,
                     "rank %d opened more files than can be followed", r);
        else
            compare_rank(c, a, b, writes_only);
        c->ranks_n++;
    }
    c->agree = !c->difference[0];
}

json_t *certificate_json(const struct certificate *c)
{
    return json_pack("{s:b s:i s:i s:i s:I s:I s:o}", "agree", c->agree, "ranks_n", c->ranks_n,
                     "files_n", c->files_n, "ordered_files_n", c->ordered_n, "calls_n",
                     (json_int_t)c->calls_n, "bytes", (json_int_t)c->bytes, "difference",
                     c->agree ? json_null() : js_text(c->difference));
}
