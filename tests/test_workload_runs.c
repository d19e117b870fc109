/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accesses as runs: whatever the sequence, its runs give it back; what is written reads back; what is wrong in a
 * file is refused with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/text.h"
#include "companions/workload/accessfile.h"
#include "companions/workload/accessopen.h"
#include "companions/workload/random.h"

enum { CALLS = 300, FILES = 3, TRIES = 3000 };

/* What happens next: regular with jumps, so that runs begin, go on and end. */
static struct workload_run next_call(struct random *r, const struct workload_run *before, int no)
{
    struct workload_run one = {
        .file = (int32_t)random_below(r, FILES),
        .call = (int16_t)random_below(r, WORKLOAD_RUN_CALLS),
        .flags = WORKLOAD_RUN_RDWR,
        .offset = random_below(r, random_below(r, 2) ? 10 : WORKLOAD_BYTES_MAX / 2),
        .bytes = random_below(r, 3) ? 8 : random_below(r, 1 << 20),
        .n = 1};
    if (no > 0 && random_below(r, 8)) one = *before;
    if (no > 0 && random_below(r, 4)) one.offset = before->offset + one.bytes;
    if (one.call >= WORKLOAD_RUN_FSYNC) one.bytes = 0;
    one.order = no + (no > 0 && random_below(r, 100) == 0 ? 0 : before->step);
    return one;
}

/* A sequence, and its runs as the library makes them: each file and function has its last one. */
static int64_t make(struct random *r, struct workload_run *call, struct workload_run *run)
{
    int last[FILES][WORKLOAD_RUN_CALLS] = {{0}};
    int64_t n = 0;
    struct workload_run before = {0};
    for (int i = 0; i < CALLS; i++) {
        call[i] = next_call(r, &before, i);
        call[i].order = i;
        before = call[i];
        int *at = &last[call[i].file][call[i].call];
        if (*at > 0 && workload_run_join(&run[*at - 1], &call[i])) continue;
        run[n] = call[i];
        *at = (int)++n;
    }
    return n;
}

static void expect_same(const struct workload_run *call, const struct workload_run *run, int64_t n)
{
    struct workload_step *step;
    int64_t calls;
    assert_int_equal(workload_runs_expand(run, n, &step, &calls), 0);
    assert_int_equal(calls, CALLS);
    for (int i = 0; i < CALLS; i++) {
        const struct workload_run *of = &run[step[i].run];
        assert_int_equal(step[i].order, i);
        assert_true(step[i].offset == call[i].offset && of->bytes == call[i].bytes &&
                    of->file == call[i].file && of->call == call[i].call);
    }
    free(step);
}

static void runs_give_back_every_sequence(void **state)
{
    static struct workload_run call[CALLS], run[CALLS];
    int64_t sum = 0;
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        struct random r = random_begin(1993, (uint64_t)i);
        const int64_t n = make(&r, call, run);
        for (int64_t k = 0; k < n; k++)
            assert_true(workload_run_sound(&run[k], FILES));
        expect_same(call, run, n);
        sum += n;
    }
    assert_true(sum < (int64_t)TRIES * CALLS * 3 / 4); /* they are runs */
}

static void what_is_regular_is_one_run(void **state)
{
    struct workload_run run = {.flags = WORKLOAD_RUN_RDWR, .bytes = 8, .n = 1, .order = 3};
    (void)state;
    for (int i = 1; i < 1000; i++) {
        const struct workload_run one = {
            .flags = WORKLOAD_RUN_RDWR, .bytes = 8, .offset = 24 * i, .n = 1, .order = 3 + 2 * i};
        assert_true(workload_run_join(&run, &one));
    }
    assert_true(run.n == 1000 && run.stride == 24 && run.step == 2);
}

static char *written(const struct workload_run *run, int64_t n)
{
    const struct workload_accessfile head = {
        .processes_n = 2, .files_n = FILES, .runs_n = n, .lost_n = 1, .lost_bytes = 5};
    struct text t;
    char *out = NULL;
    assert_int_equal(text_begin(&t), 0);
    workload_accessfile_head(&head, t.to);
    for (int f = 0; f < FILES; f++)
        workload_accessfile_name(f, "a \"name\"\n", t.to);
    for (int64_t r = 0; r < n; r++)
        workload_accessfile_run(1, &run[r], t.to);
    assert_int_equal(text_end(&t, &out), 0);
    return out;
}

/* --- how files are opened -------------------------------------------------------------------- */

#define T WORKLOAD_RUN_TRUNC
#define A WORKLOAD_RUN_APPEND
enum { READ = WORKLOAD_RUN_READ, WRITE = WORKLOAD_RUN_WRITE, PWRITE = WORKLOAD_RUN_PWRITE };

/* What the runs of one file, of 10 bytes a call, are about, and how process 0 opens it. */
static const struct opened {
    const char *what;
    struct {
        int process, call, flags; /* besides O_RDWR */
        int64_t offset, n;        /* one behind the other; n 0: no further run */
    } run[3];
    int left_out; /* by all descriptors that have it */
    int64_t shorten;
} opened[] = {
    {"truncated and written", {{0, WRITE, T, 0, 9}}, 0, -1},
    {"read, then truncated", {{0, READ, 0, 0, 1}, {0, WRITE, T, 0, 2}}, T, -1},
    {"truncated, written, read", {{0, WRITE, T, 0, 9}, {0, READ, T, 30, 2}}, 0, -1},
    {"written from behind, read",
     {{0, PWRITE, T, 50, 3}, {0, PWRITE, T, 0, 5}, {0, READ, T, 30, 4}},
     0,
     -1},
    {"a hole is read", {{0, PWRITE, T, 50, 1}, {0, READ, T, 0, 1}}, T, -1},
    {"appended", {{0, WRITE, A, 100, 2}, {0, WRITE, A, 120, 3}}, 0, 100},
    {"appended by pieces with a gap", {{0, WRITE, A, 100, 2}, {0, WRITE, A, 150, 3}}, A, -1},
    {"appended and read", {{0, WRITE, A, 100, 2}, {0, READ, A, 90, 3}}, 0, 100},
    {"appended to what is new", {{0, WRITE, T | A, 0, 2}}, 0, -1},
    {"a positioned write that appends", {{0, PWRITE, A, 0, 2}}, A, -1},
    {"two append", {{0, WRITE, A, 100, 2}, {1, WRITE, A, 120, 3}}, 0, 100},
    {"two append, one writes", {{0, WRITE, A, 100, 2}, {1, PWRITE, 0, 300, 1}}, A, -1},
    {"two append, another's shortening", {{1, WRITE, A, 100, 2}, {1, WRITE, A, 120, 1}}, 0, -1},
    {"two truncate and write", {{0, PWRITE, T, 0, 2}, {1, PWRITE, T, 50, 1}}, 0, -1},
    {"two truncate, one reads", {{0, PWRITE, T, 0, 2}, {1, READ, T, 0, 1}}, T, -1},
};

static void files_are_opened_as_they_were_where_calls_find_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++) {
        const struct opened *c = &opened[i];
        struct workload_accessfile head = {.processes_n = 2, .files_n = 1}, a;
        struct workload_access_opens o;
        struct workload_step *step = NULL;
        struct text t;
        char *text;
        int64_t steps, shorten = -1;
        while (head.runs_n < 3 && c->run[head.runs_n].n > 0)
            head.runs_n++;
        assert_int_equal(text_begin(&t), 0);
        workload_accessfile_head(&head, t.to);
        workload_accessfile_name(0, "f", t.to);
        for (int r = 0; r < head.runs_n; r++)
            workload_accessfile_run(
                c->run[r].process,
                &(struct workload_run){.call = (int16_t)c->run[r].call,
                                       .flags = (int16_t)(c->run[r].flags | WORKLOAD_RUN_RDWR),
                                       .offset = c->run[r].offset,
                                       .bytes = 10,
                                       .stride = 10,
                                       .n = c->run[r].n,
                                       .order = 1000 * r,
                                       .step = 1},
                t.to);
        assert_int_equal(text_end(&t, &text), 0);
        assert_int_equal(workload_accessfile_read("a.jsonl", text, strlen(text), 0, &a), 0);
        assert_int_equal(workload_runs_expand(a.run, a.mine_n, &step, &steps), 0);
        assert_int_equal(workload_access_opens_make(&a, &o), 0);
        assert_int_equal(workload_access_opens_plan(&a, 0, step, steps, &o), 0);
        for (int64_t k = 0; k < o.n; k++) {
            assert_int_equal(o.open[k].left_out, o.open[k].flags & c->left_out);
            if (o.open[k].shorten >= 0) shorten = o.open[k].shorten;
        }
        assert_int_equal(shorten, c->shorten);
        workload_access_opens_free(&o);
        workload_accessfile_free(&a);
        free(step);
        free(text);
    }
}

static void what_is_written_reads_back(void **state)
{
    static struct workload_run call[CALLS], run[CALLS];
    struct random r = random_begin(7, 7);
    struct workload_accessfile a;
    (void)state;
    const int64_t n = make(&r, call, run);
    char *text = written(run, n);
    assert_int_equal(workload_accessfile_read("a.jsonl", text, strlen(text), 1, &a), 0);
    assert_int_equal(a.mine_n, n);
    assert_true(a.calls_n == CALLS && a.lost_n == 1 && a.lost_bytes == 5);
    assert_string_equal(a.file[2].name, "a \"name\"\n");
    expect_same(call, a.run, n);
    workload_accessfile_free(&a);
    assert_int_equal(workload_accessfile_read("a.jsonl", text, strlen(text), 0, &a), 0);
    assert_true(a.mine_n == 0 && a.calls_n == CALLS);
    workload_accessfile_free(&a);
    free(text);
}

#define HEAD(runs)                                                                                 \
    "{\"schema\": \"nht1-accesses/1\", \"processes_n\": 1, \"files_n\": 1, \"runs_n\": " #runs     \
    ", \"unplaced_n\": 0, \"unplaced_bytes\": 0, \"lost_n\": 0, \"lost_bytes\": 0}\n"              \
    "{\"file\": 0, \"name\": \"x\"}\n"
#define RUN(call, flags, offset, bytes, stride, n, order, step)                                    \
    "{\"process\": 0, \"file\": 0, \"call\": \"" call "\", \"flags\": \"" flags                    \
    "\", \"offset\": " #offset ", \"bytes\": " #bytes ", \"stride\": " #stride ", \"n\": " #n      \
    ", \"order\": " #order ", \"step\": " #step "}\n"
#define GOOD RUN("pwrite", "rdwr+direct", 0, 8, 8, 4, 0, 1)

static void what_is_wrong_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } list[] = {
        {"", "a.jsonl: is empty"},
        {"[]\n", "a.jsonl:1: no JSON object"},
        {"{\"schema\": \"nht1-accesses/2\"}\n", "a.jsonl:1: schema nht1-accesses/2"},
        {HEAD(1) "{\"process\"\n", "a.jsonl:3:"},
        {HEAD(1), "a.jsonl:2: ends before"},
        {HEAD(1) GOOD GOOD, "a.jsonl:4: more runs"},
        {HEAD(1) RUN("pwrote", "rdwr", 0, 8, 8, 4, 0, 1), "a.jsonl:3: call pwrote"},
        {HEAD(1) RUN("pwrite", "rdwr+fast", 0, 8, 8, 4, 0, 1), "a.jsonl:3: flags rdwr+fast"},
        {HEAD(1) RUN("pwrite", "rdwr+sync+sync", 0, 8, 8, 4, 0, 1), "a.jsonl:3: flags"},
        {HEAD(1) RUN("pwrite", "rdonly", 0, 8, 8, 4, 0, 1), "contradict"},
        {HEAD(1) RUN("fsync", "rdwr", 0, 8, 0, 1, 0, 1), "contradict"},
        {HEAD(1) RUN("pwrite", "rdwr", 0, 8, -8, 4, 0, 1), "leaves the file"},
        {HEAD(1) RUN("pwrite", "rdwr", 0, 8, 1152921504606846976, 1000, 0, 1), "leaves the file"},
        {HEAD(1) RUN("pwrite", "rdwr", 0, 8, 8, 4, 0, 0), "ascend"},
        {HEAD(1) GOOD "x", "a.jsonl:4:"},
        {HEAD(1) RUN("pwrite", "rdwr", -1, 8, 8, 4, 0, 1), "a.jsonl:3: \"offset\""},
        {HEAD(1) RUN("pwrite", "rdwr", 0, 8, 8, 0, 0, 1), "a.jsonl:3: \"n\""},
    };
    struct workload_accessfile a;
    (void)state;
    assert_int_equal(workload_accessfile_read("a.jsonl", HEAD(1) GOOD, strlen(HEAD(1) GOOD), 0, &a),
                     0);
    assert_true(a.file[0].length_bytes == 32 && a.file[0].written && !a.file[0].read);
    assert_int_equal(a.run[0].flags, WORKLOAD_RUN_RDWR | WORKLOAD_RUN_DIRECT);
    workload_accessfile_free(&a);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const int rc =
            workload_accessfile_read("a.jsonl", list[i].text, strlen(list[i].text), 0, &a);
        if (rc != ERR_USAGE || !strstr(err_message(), list[i].says))
            fail_msg("%s: %d, %s", list[i].says, rc, err_message());
        err_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_give_back_every_sequence),
        cmocka_unit_test(what_is_regular_is_one_run),
        cmocka_unit_test(files_are_opened_as_they_were_where_calls_find_the_same),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
