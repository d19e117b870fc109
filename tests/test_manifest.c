/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manifest's text: the same that jansson would write, made once for each dump; and what lies on
 * disk between two dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/digest.h"
#include "io/target/manifest.h"
#include "skip.h"

enum { N = 9, MANY = 500 };

static char path[64];
static int64_t json_calls;

static void *count_malloc(size_t size)
{
    json_calls++;
    return malloc(size);
}

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/nht1-manifest-XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static struct io_manifest *made(void)
{
    const struct io_spec spec = {.layout = IO_MIJK,
                                 .n = N,
                                 .dumps_n = MANY,
                                 .steps_n = 5 * MANY,
                                 .dt = 0.0003,
                                 .interval = 5,
                                 .sync = IO_SYNC_END,
                                 .writer = "with \"complete\": true, \"durable\": false",
                                 .kernel = "1/generic"};
    struct io_manifest *m = NULL;
    assert_int_equal(io_manifest_new(&m, path, "dumps.bin", &spec), 0);
    return m;
}

/* Words that differ in every digit, and from dump to dump. */
static void add(struct io_manifest *m, int d, bool complete, bool durable)
{
    uint64_t words[3 * N + IO_NCOMP];
    assert_int_equal(sizeof words / sizeof words[0], digest_words(N));
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
        words[w] = (UINT64_C(0x0123456789abcdef) + (uint64_t)d) * (2 * w + 1);
    assert_int_equal(io_manifest_add(m, 5 * d + 5, complete, durable, words), 0);
}

/* What lies on disk: parsed, and the same bytes as jansson's. */
static json_t *on_disk(void)
{
    static char text[MANY * 1024];
    FILE *f = fopen(path, "r");
    const size_t bytes = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[bytes] = '\0';
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    char *again = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    assert_true(bytes > 0 && text[bytes - 1] == '\n');
    text[bytes - 1] = '\0';
    assert_string_equal(text, again);
    free(again);
    return root;
}

static const json_t *dump_of(const json_t *root, size_t d)
{
    return json_array_get(json_object_get(root, "dumps"), d);
}

static void text_is_that_of_the_library(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    for (int d = 0; d <= 4; d++) {
        assert_int_equal(io_manifest_write(m, false), 0);
        json_t *root = on_disk();
        assert_int_equal(json_array_size(json_object_get(root, "dumps")), d);
        if (d > 0) {
            const json_t *last = dump_of(root, (size_t)d - 1);
            const char *m_words =
                json_string_value(json_object_get(json_object_get(last, "digest"), "m"));
            assert_int_equal(json_integer_value(json_object_get(last, "step")), 5 * d);
            assert_int_equal(json_is_true(json_object_get(last, "complete")), d != 2);
            assert_int_equal(json_is_true(json_object_get(last, "durable")), d == 3);
            char first[17];
            snprintf(first, sizeof first, "%016llx",
                     (unsigned long long)((UINT64_C(0x0123456789abcdef) + (uint64_t)(d - 1)) *
                                          (2 * (3 * N) + 1)));
            assert_memory_equal(m_words, first, 16);
            assert_int_equal(strlen(m_words), 16 * IO_NCOMP);
        }
        json_decref(root);
        add(m, d, d != 1, d == 2);
    }
    io_manifest_free(m);
}

static int64_t complete_on_disk(const json_t *root)
{
    const json_t *list = json_object_get(root, "dumps");
    size_t d = 0;
    while (d < json_array_size(list) &&
           json_is_true(json_object_get(json_array_get(list, d), "complete")))
        d++;
    for (size_t rest = d; rest < json_array_size(list); rest++)
        assert_true(json_is_false(json_object_get(json_array_get(list, rest), "complete")));
    return (int64_t)d;
}

static void complete_dumps_become_durable(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    for (int d = 0; d < 5; d++)
        add(m, d, d % 3 != 1, d == 2);
    io_manifest_mark_durable(m);
    io_manifest_mark_durable(m);
    add(m, 5, true, false);
    assert_int_equal(io_manifest_write(m, true), 0);
    json_t *root = on_disk();
    for (size_t d = 0; d < 6; d++) {
        const bool durable = d < 5 && d % 3 != 1;
        assert_int_equal(json_is_true(json_object_get(dump_of(root, d), "durable")), durable);
    }
    assert_non_null(strstr(json_string_value(json_object_get(root, "writer")), "false"));
    json_decref(root);
    io_manifest_free(m);
}

/* A dump costs its own text: nothing is built from the ones before it. */
static void earlier_dumps_are_not_made_again(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    json_malloc_t malloc_before;
    json_free_t free_before;
    json_get_alloc_funcs(&malloc_before, &free_before);
    json_set_alloc_funcs(count_malloc, free);
    for (int d = 0; d < MANY; d++) {
        add(m, d, true, true);
        if (io_manifest_write(m, false) < 0) fail();
    }
    json_set_alloc_funcs(malloc_before, free_before);
    assert_int_equal(json_calls, 0);
    json_t *root = on_disk();
    assert_int_equal(json_array_size(json_object_get(root, "dumps")), MANY);
    json_decref(root);
    io_manifest_free(m);
}

/* Parsed alone: while a run lasts there may be places in it. */
static json_t *in_between(void)
{
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    return root;
}

/* A dump is complete when the next one is added, as under a writer in the background. */
static void at_every_moment_the_file_names_the_complete_dumps(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    for (int d = 0; d < 150; d++) {
        add(m, d, false, false);
        io_manifest_mark_complete(m, d);
        if (d == 70) io_manifest_mark_durable(m);
        assert_int_equal(io_manifest_update(m, d % 2 == 0), 0);
        json_t *root = in_between();
        const json_t *list = json_object_get(root, "dumps");
        assert_int_equal(complete_on_disk(root), d);
        assert_true(json_array_size(list) <= 2 * (size_t)d + 2);
        for (size_t p = 0; p < json_array_size(list); p++) {
            const json_t *one = json_array_get(list, p);
            assert_int_equal(json_integer_value(json_object_get(one, "step")), 5 * p + 5);
            assert_int_equal(json_is_true(json_object_get(one, "durable")), d >= 70 && p < 70);
        }
        json_decref(root);
    }
    json_t *before = in_between();
    assert_int_equal(io_manifest_end(m, false), 0);
    json_t *after = on_disk();
    assert_int_equal(json_array_size(json_object_get(after, "dumps")), 150);
    for (size_t d = 0; d < 150; d++)
        assert_true(json_equal(dump_of(before, d), dump_of(after, d)));
    json_decref(before);
    json_decref(after);
    io_manifest_free(m);
}

/* Bytes that this process has written so far, -1 where the system does not count. */
static int64_t written(void)
{
    char line[128];
    long long bytes = -1;
    FILE *f = fopen("/proc/self/io", "r");
    while (f && bytes < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "wchar: %lld", &bytes) != 1) bytes = -1;
    if (f) fclose(f);
    return bytes;
}

static void a_dump_costs_the_same_after_many(void **state)
{
    (void)state;
    if (written() < 0) SKIP_NOT_PERMITTED("reading /proc/self/io");
    struct io_manifest *m = made();
    struct stat st;
    const int64_t before = written();
    for (int d = 0; d < MANY; d++) {
        add(m, d, true, false);
        if (io_manifest_update(m, false) < 0) fail();
    }
    assert_int_equal(io_manifest_end(m, false), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_in_range((written() - before) / st.st_size, 1, 5); /* 250 if always replaced */
    io_manifest_free(m);
}

static size_t load(char *text, size_t room)
{
    FILE *f = fopen(path, "r");
    const size_t bytes = fread(text, 1, room, f);
    fclose(f);
    return bytes;
}

/* Of what is being written then, each sector may have come to the disk or not. */
static void power_lost_while_a_dump_is_entered_harms_no_other(void **state)
{
    (void)state;
    enum { ROOM = 1 << 17, SECTOR = 512 };
    static char old[ROOM], new[ROOM];
    struct io_manifest *m = made();
    uint64_t any = 1;
    int entered = 0;
    for (int d = 0; d < 60; d++) {
        add(m, d, true, true);
        const size_t bytes = load(old, ROOM);
        assert_int_equal(io_manifest_update(m, false), 0);
        if (load(new, ROOM) != bytes || memcmp(old, new, SECTOR) != 0) continue; /* replaced */
        entered++;
        json_t *whole = in_between();
        for (int try = 0; try < 20; try++) {
            for (size_t at = 0; at < bytes; at += SECTOR) {
                any = any * UINT64_C(6364136223846793005) + 1442695040888963407;
                if (any >> 40 & 1)
                    memcpy(new + at, old + at, bytes - at < SECTOR ? bytes - at : SECTOR);
            }
            json_t *root = json_loadb(new, bytes, JSON_REJECT_DUPLICATES, NULL);
            assert_non_null(root);
            for (int e = 0; e < d; e++)
                assert_true(json_equal(dump_of(root, (size_t)e), dump_of(whole, (size_t)e)));
            json_decref(root);
            load(new, ROOM);
        }
        json_decref(whole);
    }
    assert_true(entered > 30);
    io_manifest_free(m);
}

static void a_manifest_that_somebody_removed_comes_back(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    for (int d = 0; d < 40; d++) {
        add(m, d, true, true);
        assert_int_equal(io_manifest_update(m, false), 0);
        if (d == 20 || d == 38) assert_int_equal(unlink(path), 0);
    }
    json_t *root = in_between();
    assert_int_equal(complete_on_disk(root), 40);
    json_decref(root);
    io_manifest_free(m);
}

#define MANIFEST_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MANIFEST_TEST(text_is_that_of_the_library),
        MANIFEST_TEST(complete_dumps_become_durable),
        MANIFEST_TEST(earlier_dumps_are_not_made_again),
        MANIFEST_TEST(at_every_moment_the_file_names_the_complete_dumps),
        MANIFEST_TEST(a_dump_costs_the_same_after_many),
        MANIFEST_TEST(power_lost_while_a_dump_is_entered_harms_no_other),
        MANIFEST_TEST(a_manifest_that_somebody_removed_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
