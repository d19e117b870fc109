/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a dump costs before it is written: one rank's share of the state is put into file order and hashed
 * (bt/dump.c), in pairs with a plain copy of as many bytes from memory to memory, in random order. As many
 * threads as OpenMP has. Told is the median of the pairs' ratios: as it comes, small classes in the caches, and
 * after the caches were filled with something else. Besides, what the digest alone takes of values that lie
 * in the first cache, nothing put anywhere, and what copying the rows takes as they lie, in their order and
 * unhashed: no way of staging is faster than either. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/program.h"
#include "base/stat.h"
#include "base/version.h"
#include "base/watch.h"
#include "bt/dump.h"
#include "bt/solver/field.h"
#include "bt/solver/problem.h"

/* As many values as stay in the first cache, with the sums of their planes. */
enum { HASHED = 1024 };
enum { PAIRS_LEAST = 15, PAIRS_MOST = 2001, GHOST = 2, OTHER_BYTES = 64 << 20, LINE = 64 };

struct options {
    const char *json;
    int64_t ranks;
    double seconds;
};

#define AT(member) CONF_AT(struct options, member)

static const struct conf_option options[] = {
    {.name = "ranks",
     .arg = "R",
     .def = "2",
     CONF_RANGE(1, 12),
     .help = "The share is that of the first of R ranks, in slabs along z.",
     AT(ranks)},
    {.name = "seconds",
     .arg = "S",
     .def = "2",
     CONF_RANGE(0.001, 1e6),
     .help = "For each class.",
     AT(seconds)},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the result to FILE instead of standard output.",
     AT(json),
     .output = true},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "staging",
    .version = nht1_build,
    .summary = "Staging with digests beside a copy in memory, classes S to B.",
    .examples = "  OMP_NUM_THREADS=1 staging --ranks 2\n",
    .options = options,
};

struct bench {
    struct bt_field field;
    struct bt_state state;
    struct io_view view;
    struct bt_dump dump;
    char *staged, *from, *other;
    int64_t bytes;
    int inner; /* of each kind in a pair, so that the clock's resolution is nothing */
    double copy_s[PAIRS_MOST], take_s[PAIRS_MOST], ratio[PAIRS_MOST];
    double bound[PAIRS_MOST]; /* of the ratio: the digest alone over the copy */
    double rows[PAIRS_MOST];  /* and its rows alone */
};

static int make(struct bench *b, int64_t n, int64_t ranks)
{
    const int64_t nk = (n + ranks - 1) / ranks;
    const int64_t lo[3] = {-GHOST, -GHOST, -GHOST}, hi[3] = {n + GHOST, n + GHOST, nk + GHOST};
    TRY(bt_field_new(&b->field, lo, hi, 1.25));
    const struct bt_field *f = &b->field;
    b->state = (struct bt_state){f->p, f->sm, f->sj, f->sk, {0, 0, 0}, {n, n, nk}};
    b->view = (struct io_view){n, IO_MIJK, {{0, 0, 0}, {n, n, nk}}};
    b->bytes = io_view_bytes(&b->view);
    b->staged = buffer_new((size_t)b->bytes);
    b->from = buffer_new((size_t)b->bytes);
    if (!b->staged || !b->from) return mem_error("N = %d", (int)n);
    b->other = buffer_new(OTHER_BYTES);
    if (!b->other) return mem_error("filling the caches");
    b->inner = b->bytes < (1 << 20) ? (int)((1 << 20) / b->bytes) : 1;
    for (int64_t i = 0; i < f->bytes / 8; i++)
        f->block[i] = 1.0 + 1e-9 * (double)i;
    return bt_dump_new(&b->dump, n);
}

/* Of the process, so that others on the machine count little. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Nothing of what will be measured is left in the caches. */
static void fill_caches(struct bench *b)
{
    for (int64_t i = 0; i < OTHER_BYTES; i += LINE)
        b->other[i]++;
}

static double copy(struct bench *b, bool cold)
{
    if (cold) fill_caches(b);
    const int inner = cold ? 1 : b->inner;
    const double t0 = cpu_s();
    for (int i = 0; i < inner; i++) {
        const int64_t part = (b->bytes + b->dump.threads - 1) / b->dump.threads;
#pragma omp parallel num_threads(b->dump.threads)
        {
            const int64_t at = omp_get_thread_num() * part;
            const int64_t end = at + part < b->bytes ? at + part : b->bytes;
            if (at < end) memcpy(b->staged + at, b->from + at, (size_t)(end - at));
        }
        __asm__ volatile("" ::: "memory");
    }
    return (cpu_s() - t0) / inner;
}

static double take(struct bench *b, bool cold)
{
    if (cold) fill_caches(b);
    const int inner = cold ? 1 : b->inner;
    const double t0 = cpu_s();
    for (int i = 0; i < inner; i++)
        bt_dump_take(&b->dump, &b->state, &b->view, b->staged);
    return (cpu_s() - t0) / inner;
}

/* The digest of as many bytes, by each thread of its part. */
static double hash(const struct bench *b)
{
    static double row[HASHED] = {1};
    const int64_t rows = (b->bytes / b->dump.threads / 8 + HASHED - 1) / HASHED * b->inner;
    const double values = (double)(b->bytes / 8 / b->dump.threads) * b->inner;
    const double t0 = cpu_s();
#pragma omp parallel num_threads(b->dump.threads)
    {
        uint64_t words[3 * HASHED + 5] = {0};
        for (int64_t r = 0; r < rows; r++)
            digest_row(words, HASHED, 0, HASHED, 0, 0, 0, row);
        __asm__ volatile("" : : "r"(words) : "memory");
    }
    return (cpu_s() - t0) * values / ((double)rows * HASHED) / b->inner;
}

/* The rows one after the other into the buffer, by each thread those of its planes. */
static double gather(struct bench *b, bool cold)
{
    if (cold) fill_caches(b);
    const int inner = cold ? 1 : b->inner;
    const struct bt_state *x = &b->state;
    const size_t row = (size_t)x->n[0] * sizeof *x->u;
    const double t0 = cpu_s();
    for (int i = 0; i < inner; i++) {
#pragma omp parallel for num_threads(b->dump.threads) schedule(static)
        for (int64_t k = 0; k < x->n[2]; k++) {
            char *to = b->staged + (size_t)(k * x->n[1] * BT_NCOMP) * row;
            for (int64_t j = 0; j < x->n[1]; j++)
                for (int m = 0; m < BT_NCOMP; m++, to += row)
                    memcpy(to, x->u + k * x->sk + j * x->sj + m * x->sm, row);
        }
        __asm__ volatile("" ::: "memory");
    }
    return (cpu_s() - t0) / inner;
}

/* Medians of a way of measuring: seconds of copying and of taking; the ratio of the two, and those of the digest alone
 * and of the rows alone over copying. */
struct middle {
    int pairs_n;
    double copy_s, take_s, ratio, bound, rows;
};

static int measure(struct bench *b, double seconds, bool cold, struct middle *to)
{
    const double end_s = watch_now() + seconds;
    unsigned any = 1;
    int n = 0;
    (void)copy(b, cold);
    (void)take(b, cold);
    while (n < PAIRS_MOST && (n < PAIRS_LEAST || watch_now() < end_s)) {
        any = any * 1664525 + 1013904223;
        const bool first = any >> 31;
        if (first) b->copy_s[n] = copy(b, cold);
        b->take_s[n] = take(b, cold);
        if (!first) b->copy_s[n] = copy(b, cold);
        b->ratio[n] = b->take_s[n] / b->copy_s[n];
        b->bound[n] = hash(b) / b->copy_s[n];
        b->rows[n] = gather(b, cold) / b->copy_s[n];
        n++;
    }
    to->pairs_n = n;
    TRY(stat_median(b->copy_s, n, &to->copy_s));
    TRY(stat_median(b->take_s, n, &to->take_s));
    TRY(stat_median(b->ratio, n, &to->ratio));
    TRY(stat_median(b->bound, n, &to->bound));
    return stat_median(b->rows, n, &to->rows);
}

static json_t *middle_json(const struct middle *m)
{
    return json_pack("{si sf sf sf sf sf}", "pairs_n", m->pairs_n, "copy_s", m->copy_s, "take_s",
                     m->take_s, "ratio", m->ratio, "bound", m->bound, "rows", m->rows);
}

static int one(const struct options *o, char class, int64_t n, json_t *results)
{
    static struct bench b;
    struct middle warm, cold;
    memset(&b, 0, sizeof b);
    int rc = make(&b, n, o->ranks);
    if (rc == 0) rc = measure(&b, o->seconds, false, &warm);
    if (rc == 0) rc = measure(&b, o->seconds, true, &cold);
    if (rc == 0)
        json_array_append_new(results,
                              json_pack("{ss# sI sI so so}", "class", &class, 1, "n", (json_int_t)n,
                                        "bytes", (json_int_t)b.bytes, "warm", middle_json(&warm),
                                        "cold", middle_json(&cold)));
    bt_dump_free(&b.dump);
    bt_field_free(&b.field);
    free(b.staged);
    free(b.from);
    free(b.other);
    return rc;
}

static int run(void *setup)
{
    const struct options *o = setup;
    json_t *results = json_array();
    omp_set_dynamic(0);
    int rc = one(o, 'S', 12, results);
    if (rc == 0) rc = one(o, 'W', 24, results);
    if (rc == 0) rc = one(o, 'A', 64, results);
    if (rc == 0) rc = one(o, 'B', 102, results);
    json_t *all = json_pack("{si sI so}", "threads", omp_get_max_threads(), "ranks",
                            (json_int_t)o->ranks, "results", results);
    if (rc == 0) rc = js_result(o->json ? o->json : "-", all);
    json_decref(all);
    return rc;
}

static const struct program frame = {
    .conf = &program, .single = true, .setup_bytes = sizeof(struct options), .run = run};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
