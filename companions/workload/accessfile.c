/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/accessfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"

#define RUNS_MAX  (INT64_C(1) << 30)
#define FILES_MAX (INT64_C(1) << 24)
#define ORDER_MAX (INT64_C(1) << 60)

static const char *const call_name[WORKLOAD_RUN_CALLS] = {"read",   "write", "pread",
                                                          "pwrite", "fsync", "fdatasync"};
static const char *const mode_name[] = {"rdonly", "wronly", "rdwr"};

/* --- runs ----------------------------------------------------------------------------------- */

/* Whether first, first + step, ... of n numbers are all from 0 to most. */
static bool within(int64_t first, int64_t step, int64_t n, int64_t most)
{
    int64_t way, last;
    return first >= 0 && first <= most && !__builtin_mul_overflow(n - 1, step, &way) &&
           !__builtin_add_overflow(first, way, &last) && last >= 0 && last <= most;
}

const char *workload_run_call_name(int call)
{
    return call_name[call];
}

bool workload_run_sound(const struct workload_run *r, int files_n)
{
    const int mode = r->flags & 3;
    return r->file >= 0 && r->file < files_n && r->call >= 0 && r->call < WORKLOAD_RUN_CALLS &&
           r->flags >= 0 && r->flags < WORKLOAD_RUN_FLAGS && mode <= WORKLOAD_RUN_RDWR &&
           !(workload_run_writes(r) && mode == WORKLOAD_RUN_RDONLY) &&
           !(workload_run_reads(r) && mode == WORKLOAD_RUN_WRONLY) &&
           !((r->flags & WORKLOAD_RUN_TRUNC) && mode == WORKLOAD_RUN_RDONLY) && r->n >= 1 &&
           r->n <= WORKLOAD_CALLS_MAX && r->bytes >= 0 && r->bytes <= WORKLOAD_BYTES_MAX &&
           (r->bytes == 0 || workload_run_writes(r) || workload_run_reads(r)) &&
           within(r->offset, r->stride, r->n, WORKLOAD_BYTES_MAX - r->bytes) &&
           within(r->order, r->step, r->n, ORDER_MAX) && (r->n == 1 || r->step > 0);
}

static int by_order(const void *a, const void *b)
{
    const struct workload_step *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

int workload_runs_expand(const struct workload_run *run, int64_t runs_n,
                         struct workload_step **step, int64_t *calls)
{
    int64_t n = 0;
    bool sorted = true;
    for (int64_t r = 0; r < runs_n; r++)
        n += run[r].n;
    *calls = 0;
    *step = mem_new(n, sizeof **step, "%" PRId64 " accesses", n);
    if (!*step) return ERR_NOMEM;
    for (int64_t r = 0; r < runs_n; r++)
        for (int64_t i = 0; i < run[r].n; i++) {
            struct workload_step *s = &(*step)[(*calls)++];
            *s = (struct workload_step){.order = run[r].order + i * run[r].step,
                                        .offset = run[r].offset + i * run[r].stride,
                                        .run = r};
            sorted = sorted && (*calls == 1 || s[-1].order < s->order);
        }
    if (!sorted) qsort(*step, (size_t)n, sizeof **step, by_order);
    return 0;
}

/* --- writing -------------------------------------------------------------------------------- */

void workload_accessfile_head(const struct workload_accessfile *a, FILE *to)
{
    fprintf(to,
            "{\"schema\": \"" WORKLOAD_ACCESSES_SCHEMA "1\", \"processes_n\": %d, \"files_n\": %d, "
            "\"runs_n\": %" PRId64 ", \"unplaced_n\": %" PRId64 ", \"unplaced_bytes\": %" PRId64
            ", \"lost_n\": %" PRId64 ", \"lost_bytes\": %" PRId64 "}\n",
            a->processes_n, a->files_n, a->runs_n, a->unplaced_n, a->unplaced_bytes, a->lost_n,
            a->lost_bytes);
}

void workload_accessfile_name(int file, const char *name, FILE *to)
{
    json_t *text = js_text(name);
    char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    fprintf(to, "{\"file\": %d, \"name\": %s}\n", file, quoted ? quoted : "\"?\"");
    free(quoted);
    json_decref(text);
}

void workload_accessfile_run(int process, const struct workload_run *r, FILE *to)
{
    fprintf(to,
            "{\"process\": %d, \"file\": %d, \"call\": \"%s\", \"flags\": \"%s%s%s%s%s%s\", "
            "\"offset\": %" PRId64 ", \"bytes\": %" PRId64 ", \"stride\": %" PRId64
            ", \"n\": %" PRId64 ", \"order\": %" PRId64 ", \"step\": %" PRId64 "}\n",
            process, r->file, call_name[r->call], mode_name[r->flags & 3],
            r->flags & WORKLOAD_RUN_DIRECT ? "+direct" : "",
            r->flags & WORKLOAD_RUN_SYNC ? "+sync" : "",
            r->flags & WORKLOAD_RUN_DSYNC ? "+dsync" : "",
            r->flags & WORKLOAD_RUN_TRUNC ? "+trunc" : "",
            r->flags & WORKLOAD_RUN_APPEND ? "+append" : "", r->offset, r->bytes, r->stride, r->n,
            r->order, r->step);
}

/* --- reading -------------------------------------------------------------------------------- */

/* Index of a word among n, or -1. */
static int index_of(const char *word, size_t length, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (strlen(list[i]) == length && memcmp(list[i], word, length) == 0) return i;
    return -1;
}

/* "rdwr+direct" as bits; -1: it is none. */
static int flags_of(const char *text)
{
    static const char *const more[] = {"direct", "sync", "dsync", "trunc", "append"};
    size_t length = strcspn(text, "+");
    int flags = index_of(text, length, mode_name, 3);
    for (const char *at = text + length; flags >= 0 && *at == '+'; at += 1 + length) {
        length = strcspn(at + 1, "+");
        const int k = index_of(at + 1, length, more, 5);
        if (k < 0 || (flags & WORKLOAD_RUN_DIRECT << k)) return -1;
        flags |= WORKLOAD_RUN_DIRECT << k;
    }
    return flags;
}

/* That an object has no members but those that were read. */
static int members_check(const json_t *o, const char *where, size_t n)
{
    if (json_object_size(o) == n) return 0;
    return err_set(ERR_USAGE, "%s: %zu members, %zu are expected", where, json_object_size(o), n);
}

static int head_read(const json_t *o, const char *where, struct workload_accessfile *a)
{
    const char *schema;
    int64_t processes_n, files_n;
    TRY(js_get_text(o, where, "schema", &schema));
    if (strcmp(schema, WORKLOAD_ACCESSES_SCHEMA "1") != 0)
        return err_set(ERR_USAGE,
                       "%s: schema %.40s, " WORKLOAD_ACCESSES_SCHEMA
                       "1 is expected: no accesses of nht1-profile, or of another version",
                       where, schema);
    TRY(js_get_int(o, where, "processes_n", 0, WORKLOAD_PROCESSES_MAX, &processes_n));
    TRY(js_get_int(o, where, "files_n", 0, FILES_MAX, &files_n));
    TRY(js_get_int(o, where, "runs_n", 0, RUNS_MAX, &a->runs_n));
    TRY(js_get_int(o, where, "unplaced_n", 0, INT64_MAX, &a->unplaced_n));
    TRY(js_get_int(o, where, "unplaced_bytes", 0, INT64_MAX, &a->unplaced_bytes));
    TRY(js_get_int(o, where, "lost_n", 0, INT64_MAX, &a->lost_n));
    TRY(js_get_int(o, where, "lost_bytes", 0, INT64_MAX, &a->lost_bytes));
    TRY(members_check(o, where, 8));
    a->processes_n = (int)processes_n;
    a->files_n = (int)files_n;
    return 0;
}

static int name_read(const json_t *o, const char *where, int file, struct workload_accessfile *a)
{
    const char *name;
    int64_t no;
    TRY(js_get_int(o, where, "file", file, file, &no));
    TRY(js_get_text(o, where, "name", &name));
    TRY(members_check(o, where, 2));
    if ((file & (file - 1)) == 0) { /* full: twice as many */
        struct workload_accessed *more =
            mem_grow(a->file, file ? 2 * (int64_t)file : 1, sizeof *more, "names of files");
        if (!more) return ERR_NOMEM;
        a->file = more;
    }
    a->file[file] = (struct workload_accessed){.name = strdup(name),
                                               .process_min = INT64_MAX,
                                               .process_max = -1,
                                               .append_begin = INT64_MAX};
    a->named_n = file + 1;
    return a->file[file].name ? 0 : mem_error("the name of a file");
}

static int run_keep(const struct workload_run *r, const char *where, struct workload_accessfile *a)
{
    if (a->mine_calls + r->n > WORKLOAD_CALLS_MAX)
        return err_set(ERR_USAGE, "%s: more than %" PRId64 " calls of a process", where,
                       WORKLOAD_CALLS_MAX);
    if ((a->mine_n & (a->mine_n - 1)) == 0) { /* full: twice as many */
        struct workload_run *more =
            mem_grow(a->run, a->mine_n ? 2 * a->mine_n : 1, sizeof *more, "runs of accesses");
        if (!more) return ERR_NOMEM;
        a->run = more;
    }
    a->run[a->mine_n++] = *r;
    a->mine_calls += r->n;
    return 0;
}

/* Notes what a run of a process does with a file. */
static void accessed(struct workload_accessed *f, const struct workload_run *r, int process)
{
    const int64_t last = r->offset + (r->n - 1) * r->stride;
    const int64_t end = r->bytes > 0 ? num_max(r->offset, last) + r->bytes : 0;
    f->process_min = num_min(f->process_min, process);
    f->process_max = num_max(f->process_max, process);
    f->flags |= r->flags;
    f->length_bytes = num_max(f->length_bytes, end);
    if (workload_run_reads(r)) {
        f->read = true;
        f->read_end = num_max(f->read_end, end);
    } else if (workload_run_writes(r) && !(r->flags & WORKLOAD_RUN_APPEND)) {
        f->written = true;
        f->write_end = num_max(f->write_end, end);
    } else if (workload_run_writes(r)) {
        f->written = true;
        f->append_begin = num_min(f->append_begin, num_min(r->offset, last));
        f->append_end = num_max(f->append_end, end);
        f->append_bytes = num_sum(f->append_bytes, num_product(r->n, r->bytes));
        f->append_odd =
            f->append_odd || r->call != WORKLOAD_RUN_WRITE || (r->n > 1 && r->stride < r->bytes);
    }
}

static int run_read(const json_t *o, const char *where, int process, struct workload_accessfile *a)
{
    const char *call, *flags;
    int64_t who, file;
    struct workload_run r;
    if (a->processes_n == 0 || a->files_n == 0)
        return err_set(ERR_USAGE, "%s: there are no processes or no files", where);
    TRY(js_get_int(o, where, "process", 0, a->processes_n - 1, &who));
    TRY(js_get_int(o, where, "file", 0, a->files_n - 1, &file));
    TRY(js_get_text(o, where, "call", &call));
    TRY(js_get_text(o, where, "flags", &flags));
    TRY(js_get_int(o, where, "offset", 0, WORKLOAD_BYTES_MAX, &r.offset));
    TRY(js_get_int(o, where, "bytes", 0, WORKLOAD_BYTES_MAX, &r.bytes));
    TRY(js_get_int(o, where, "stride", -WORKLOAD_BYTES_MAX, WORKLOAD_BYTES_MAX, &r.stride));
    TRY(js_get_int(o, where, "n", 1, WORKLOAD_CALLS_MAX, &r.n));
    TRY(js_get_int(o, where, "order", 0, ORDER_MAX, &r.order));
    TRY(js_get_int(o, where, "step", 0, ORDER_MAX, &r.step));
    TRY(members_check(o, where, 10));
    r.file = (int32_t)file;
    r.call = (int16_t)index_of(call, strlen(call), call_name, WORKLOAD_RUN_CALLS);
    if (r.call < 0)
        return err_set(ERR_USAGE,
                       "%s: call %.40s: read, write, pread, pwrite, fsync or fdatasync is expected",
                       where, call);
    r.flags = (int16_t)flags_of(flags);
    if (r.flags < 0)
        return err_set(ERR_USAGE,
                       "%s: flags %.40s: rdonly, wronly or rdwr is expected, and +direct, +sync, "
                       "+dsync, +trunc or +append behind it",
                       where, flags);
    if (!workload_run_sound(&r, a->files_n))
        return err_set(ERR_USAGE,
                       "%s: no run of accesses: it leaves the file, its order does not ascend, or "
                       "its call contradicts its flags or its bytes",
                       where);
    accessed(&a->file[file], &r, (int)who);
    a->calls_n = num_sum(a->calls_n, r.n);
    a->bytes = num_sum(a->bytes, num_product(r.n, r.bytes));
    if (a->bytes == NUM_ENDLESS)
        return err_set(ERR_USAGE, "%s: more than 2^63 bytes in all", where);
    return who == process ? run_keep(&r, where, a) : 0;
}

/* Line no, from 0: the head, a file, or a run. */
static int line_read(const json_t *o, const char *where, int64_t no, int process,
                     struct workload_accessfile *a)
{
    if (no == 0) return head_read(o, where, a);
    if (no <= a->files_n) return name_read(o, where, (int)no - 1, a);
    if (no > a->files_n + a->runs_n)
        return err_set(ERR_USAGE, "%s: more runs than the %" PRId64 " of the first line", where,
                       a->runs_n);
    return run_read(o, where, process, a);
}

static int read_lines(const char *name, const char *text, size_t bytes, int process,
                      struct workload_accessfile *a)
{
    const char *const end = text + bytes;
    int64_t no = 0;
    char where[320];
    for (const char *at = text; at < end; no++) {
        json_error_t e;
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        snprintf(where, sizeof where, "%.250s:%" PRId64, name, no + 1);
        json_t *o = json_loadb(at, length, JSON_REJECT_DUPLICATES, &e);
        const int rc = json_is_object(o) ? line_read(o, where, no, process, a)
                       : o               ? err_set(ERR_USAGE, "%s: no JSON object", where)
                                         : err_set(ERR_USAGE, "%s:%d: %s", where, e.column, e.text);
        json_decref(o);
        TRY(rc);
        at += length + 1;
    }
    if (no == 0) return err_set(ERR_USAGE, "%.250s: is empty", name);
    if (no == 1 + a->files_n + a->runs_n) return 0;
    return err_set(ERR_USAGE,
                   "%.250s:%" PRId64 ": ends before its %d files and %" PRId64 " runs are complete",
                   name, no, a->files_n, a->runs_n);
}

int workload_accessfile_read(const char *name, const char *text, size_t bytes, int process,
                             struct workload_accessfile *a)
{
    *a = (struct workload_accessfile){0};
    const int rc = read_lines(name, text, bytes, process, a);
    if (rc < 0) workload_accessfile_free(a);
    return rc;
}

void workload_accessfile_free(struct workload_accessfile *a)
{
    for (int f = 0; f < a->named_n; f++)
        free(a->file[f].name);
    free(a->file);
    free(a->run);
    *a = (struct workload_accessfile){0};
}
