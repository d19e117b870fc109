/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/certificate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"

/* What a function of the trace is called when its calls are told. */
static const char *verb_of(int function)
{
    static const char *const other[PROFILE_OTHERS] = {
        "opened",     "set views of", "flushed", "set the size of", "moved its pointer in",
        "waited for", "closed",       "renamed", "removed"};
    if (function >= WORKLOAD_KINDS) return other[function - WORKLOAD_KINDS];
    return workload_kind_of(function).write ? "wrote" : "read";
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

/* What ranks, or processes of one program, did with a file; with a folder all of them, as any may be the first one that makes
 * it, while others find it made. */
struct entry {
    int rank; /* -1: processes that are no ranks, of which all of a program are one; or a folder */
    const char *program; /* of these; else "" */
    size_t
        name; /* length of the part of the file's name that counts: of temporary files the folder that stays */
    const struct profile_file *file;
    struct profile_trace trace;
};

/* Of two names of one length, without what mkstemp has chosen. */
static int by_lasting_name(const struct entry *p, const struct entry *q)
{
    const size_t length = p->name, at = (size_t)p->file->chosen, behind = at + 6;
    if (p->file->chosen != q->file->chosen) return p->file->chosen - q->file->chosen;
    if (at == 0 || behind > length) return memcmp(p->file->name, q->file->name, length);
    const int order = memcmp(p->file->name, q->file->name, at);
    return order != 0 ? order
                      : memcmp(p->file->name + behind, q->file->name + behind, length - behind);
}

static int by_key(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    int order = (p->rank > q->rank) - (p->rank < q->rank);
    if (order == 0) order = strcmp(p->program, q->program);
    if (order == 0) order = (p->file->temporary > 0) - (q->file->temporary > 0);
    if (order == 0) order = (p->name > q->name) - (p->name < q->name);
    if (order == 0) order = by_lasting_name(p, q);
    if (order == 0) order = p->file->interface - q->file->interface;
    if (order == 0) order = p->file->comm_size - q->file->comm_size;
    return order;
}

static void add_trace(struct profile_trace *to, const struct profile_trace *t)
{
    for (int f = 0; f < PROFILE_TRACED; f++) {
        to->of[f].n += t->of[f].n;
        to->of[f].bytes += t->of[f].bytes;
    }
    to->digest += t->digest;
    to->read_sum += t->read_sum;
    if (t->threads > to->threads) to->threads = t->threads;
}

static size_t length_of(const struct profile_file *file)
{
    return file->temporary > 0 ? (size_t)file->temporary : strlen(file->name);
}

/* All entries of a run in order, each once. To be freed. */
static int entries_of(const struct profile_run *run, struct entry **list, int *n)
{
    int64_t room = 0;
    for (int r = 0; r < run->size; r++)
        room += run->rank[r] ? run->rank[r]->files_n : 0;
    *n = 0;
    *list = mem_new(room + 1, sizeof **list, "%lld files", (long long)room);
    if (!*list) return ERR_NOMEM;
    for (int r = 0; r < run->size; r++)
        for (int f = 0; run->rank[r] && f < run->rank[r]->files_n; f++) {
            const struct profile_file *file = &run->rank[r]->file[f];
            const bool own = file->interface != PROFILE_FOLDER;
            struct entry *e = &(*list)[(*n)++];
            *e = (struct entry){.rank = own && r < run->mpi_n ? r : -1,
                                .program = r < run->mpi_n || !own ? "" : run->rank[r]->program,
                                .name = length_of(file),
                                .file = file,
                                .trace = file->trace};
            if (!own) e->trace.threads = 2; /* in no order */
        }
    qsort(*list, (size_t)*n, sizeof **list, by_key);
    int kept = 0;
    for (int i = 0; i < *n; i++)
        if (kept > 0 && by_key(&(*list)[kept - 1], &(*list)[i]) == 0)
            add_trace(&(*list)[kept - 1].trace, &(*list)[i].trace);
        else
            (*list)[kept++] = (*list)[i];
    *n = kept;
    return 0;
}

static const char *who(const struct entry *e, char out[300])
{
    if (e->file->interface == PROFILE_FOLDER)
        snprintf(out, 300, "the program");
    else if (e->rank < 0)
        snprintf(out, 300, "%.255s", e->program);
    else
        snprintf(out, 300, "rank %d", e->rank);
    return out;
}

/* The difference between two traces of a file, as a sentence. */
static void tell(struct certificate *c, const struct entry *with, int function,
                 const struct profile_trace *without)
{
    const struct profile_traced a = sum_of(&with->trace, function), b = sum_of(without, function);
    const char *verb = verb_of(function), *name = with->file->name;
    char w[300];
    who(with, w);
    if (a.n != b.n)
        snprintf(c->difference, sizeof c->difference,
                 "%s %s %.300s %" PRIu64 " times in one run and %" PRIu64 " in the other", w, verb,
                 name, a.n, b.n);
    else if (a.bytes != b.bytes)
        snprintf(c->difference, sizeof c->difference,
                 "%s %s %" PRIu64 " bytes of %.300s in one run and %" PRIu64 " in the other", w,
                 verb, a.bytes, name, b.bytes);
    else
        snprintf(c->difference, sizeof c->difference,
                 "%s %s %.300s by other functions in one run than in the other", w, verb, name);
}

static void compare_file(struct certificate *c, const struct entry *with,
                         const struct profile_trace *without, bool writes_only)
{
    const struct profile_trace *a = &with->trace;
    const char *name = with->file->name;
    char w[300];
    for (int f = 0; f < PROFILE_TRACED; f++) {
        const bool write = f < WORKLOAD_KINDS && workload_kind_of(f).write;
        if (writes_only && !write) continue;
        c->calls_n = num_sum(c->calls_n, (int64_t)a->of[f].n);
        c->bytes = num_sum(c->bytes, (int64_t)a->of[f].bytes);
        if (c->difference[0]) continue;
        if (a->of[f].n != without->of[f].n || a->of[f].bytes != without->of[f].bytes)
            tell(c, with, f, without);
    }
    c->files_n++;
    if (writes_only) return;
    if (!c->difference[0] && a->read_sum != without->read_sum)
        snprintf(
            c->difference, sizeof c->difference,
            "%s read other data from %.300s in one run than in the other; does it read what it "
            "writes over or removes later?",
            who(with, w), name);
    if (a->threads != 1 || without->threads != 1) return;
    c->ordered_n++;
    if (!c->difference[0] && a->digest != without->digest)
        snprintf(c->difference, sizeof c->difference,
                 "%s accessed %.300s in another order or at other places in one run than in the "
                 "other",
                 who(with, w), name);
}

/* Both lists have the same order. */
static void compare(struct certificate *c, const struct entry *a, int a_n, const struct entry *b,
                    int b_n, bool writes_only)
{
    static const struct profile_trace none;
    char w[300];
    for (int i = 0, k = 0; i < a_n || k < b_n;) {
        const int order = i == a_n ? 1 : k == b_n ? -1 : by_key(&a[i], &b[k]);
        if (order > 0) {
            if (!c->difference[0])
                snprintf(c->difference, sizeof c->difference,
                         "%s opened %.300s without its writes only", who(&b[k], w),
                         b[k].file->name);
            k++;
        } else {
            compare_file(c, &a[i], order == 0 ? &b[k].trace : &none, writes_only);
            i++;
            k += order == 0;
        }
    }
}

int certificate_make(struct certificate *c, const struct profile_run *with,
                     const struct profile_run *without, bool writes_only)
{
    struct entry *a = NULL, *b = NULL;
    int a_n = 0, b_n = 0;
    *c = (struct certificate){.ranks_n = with->size};
    if (with->mpi_n != without->mpi_n)
        snprintf(c->difference, sizeof c->difference,
                 "the program had %d ranks in one run and %d in the other", with->mpi_n,
                 without->mpi_n);
    else if (with->size != without->size)
        snprintf(c->difference, sizeof c->difference,
                 "%d processes had I/O in one run and %d in the other", with->size - with->mpi_n,
                 without->size - without->mpi_n);
    for (int r = 0; r < with->size && !c->difference[0]; r++) {
        const struct profile_map *x = with->rank[r], *y = without->rank[r];
        if (!x || !y)
            snprintf(c->difference, sizeof c->difference, "rank %d left no trace", r);
        else if (x->files_lost + y->files_lost > 0)
            snprintf(c->difference, sizeof c->difference,
                     "%s %d opened more files than can be followed", profile_process_word(with, r),
                     r);
    }
    int rc = entries_of(with, &a, &a_n);
    if (rc == 0) rc = entries_of(without, &b, &b_n);
    if (rc == 0) compare(c, a, a_n, b, b_n, writes_only);
    free(a);
    free(b);
    c->agree = rc == 0 && !c->difference[0];
    return rc;
}

json_t *certificate_json(const struct certificate *c)
{
    return json_pack("{s:b s:i s:i s:i s:I s:I s:o}", "agree", c->agree, "ranks_n", c->ranks_n,
                     "files_n", c->files_n, "ordered_files_n", c->ordered_n, "calls_n",
                     (json_int_t)c->calls_n, "bytes", (json_int_t)c->bytes, "difference",
                     c->agree ? json_null() : js_text(c->difference));
}
