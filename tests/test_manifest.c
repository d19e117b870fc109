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
#include "io/target/journal.h"
#include "io/target/manifest.h"
#include "skip.h"

enum { N = 9, MANY = 500 };

static char path[64], journal[80], away[96];
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
    snprintf(journal, sizeof journal, "%s.journal", path);
    snprintf(away, sizeof away, "%s.away", journal);
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
    (void)state;
    unlink(journal);
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

/* With what the journal adds. */
static json_t *in_between(void)
{
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    if (json_is_true(json_object_get(root, "journal"))) {
        assert_int_equal(io_journal_merge(path, root), 1);
        assert_null(json_object_get(root, "journal"));
    }
    return root;
}

/* A dump is complete when the next one is added, as under a writer in the background. */
static void at_every_moment_file_and_journal_name_the_complete_dumps(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    assert_int_equal(io_manifest_begin(m, false), 0);
    for (int d = 0; d < 150; d++) {
        add(m, d, false, false);
        io_manifest_mark_complete(m, d);
        if (d == 70) io_manifest_mark_durable(m);
        assert_int_equal(io_manifest_update(m, d % 50 == 0), 0);
        json_t *root = in_between();
        const json_t *list = json_object_get(root, "dumps");
        assert_int_equal(complete_on_disk(root), d);
        assert_int_equal(json_array_size(list), d + 1);
        for (size_t p = 0; p < json_array_size(list); p++) {
            const json_t *one = json_array_get(list, p);
            assert_int_equal(json_integer_value(json_object_get(one, "step")), 5 * p + 5);
            assert_int_equal(json_is_true(json_object_get(one, "durable")), d >= 70 && p < 70);
        }
        json_decref(root);
    }
    io_manifest_mark_complete(m, 150); /* no dump is new */
    assert_int_equal(io_manifest_update(m, false), 0);
    json_t *before = in_between();
    assert_int_equal(complete_on_disk(before), 150);
    assert_int_equal(io_manifest_end(m), 0);
    assert_int_equal(access(journal, F_OK), -1);
    json_t *after = on_disk();
    assert_null(json_object_get(after, "journal"));
    assert_int_equal(json_array_size(json_object_get(after, "dumps")), 150);
    for (size_t d = 0; d < 150; d++)
        assert_true(json_equal(dump_of(before, d), dump_of(after, d)));
    json_decref(before);
    json_decref(after);
    io_manifest_free(m);
}

/* Of this process so far, in bytes ("wchar") or calls ("syscw"); -1 where the system does not count. */
static int64_t written(const char *what)
{
    char line[128], format[32];
    long long count = -1;
    FILE *f = fopen("/proc/self/io", "r");
    snprintf(format, sizeof format, "%s: %%lld", what);
    while (f && count < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, format, &count) != 1) count = -1;
    if (f) fclose(f);
    return count;
}

static void a_dump_costs_one_small_write_however_many_there_are(void **state)
{
    (void)state;
    if (written("wchar") < 0) SKIP_NOT_PERMITTED("reading /proc/self/io");
    struct io_manifest *m = made();
    assert_int_equal(io_manifest_begin(m, false), 0);
    const int64_t bytes = written("wchar"), calls = written("syscw");
    for (int d = 0; d < MANY; d++) {
        add(m, d, true, false);
        if (io_manifest_update(m, false) < 0) fail();
    }
    assert_int_equal(written("wchar") - bytes, 512 * MANY);
    assert_int_equal(written("syscw") - calls, MANY);
    assert_int_equal(io_manifest_end(m), 0);
    io_manifest_free(m);
}

/* The room that is proved before a run holds the journal and the last form together. */
static void a_journal_is_no_longer_than_the_text_that_it_becomes(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    struct stat noted, text;
    assert_int_equal(io_manifest_begin(m, false), 0);
    for (int d = 0; d < MANY; d++) {
        add(m, d, true, false);
        if (io_manifest_update(m, false) < 0) fail();
    }
    assert_int_equal(stat(journal, &noted), 0);
    assert_int_equal(io_manifest_end(m), 0);
    assert_int_equal(stat(path, &text), 0);
    assert_in_range(noted.st_size, 1, text.st_size);
    io_manifest_free(m);
}

static size_t load(char *text, size_t room)
{
    FILE *f = fopen(journal, "r");
    const size_t bytes = fread(text, 1, room, f);
    fclose(f);
    return bytes;
}

static void store(const char *text, size_t bytes)
{
    FILE *f = fopen(journal, "w");
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
}

/* Of what is being written then, each sector may have come to the disk or not. */
static void power_lost_while_a_dump_is_entered_harms_no_other(void **state)
{
    (void)state;
    enum { ROOM = 1 << 17, SECTOR = 512, LARGE = 60, WORDS = 3 * LARGE + IO_NCOMP };
    static char old[ROOM], new[ROOM];
    const struct io_spec spec = {.layout = IO_MIJK,
                                 .n = LARGE,
                                 .dumps_n = 40,
                                 .steps_n = 40,
                                 .dt = 0.0003,
                                 .interval = 1,
                                 .writer = "w",
                                 .kernel = "1/generic"};
    struct io_manifest *m = NULL;
    uint64_t any = 1, words[WORDS];
    int lost = 0, kept = 0;
    assert_int_equal(io_manifest_new(&m, path, "dumps.bin", &spec), 0);
    assert_int_equal(io_manifest_begin(m, false), 0);
    size_t before = load(old, ROOM);
    for (int d = 0; d < 30; d++) {
        for (size_t w = 0; w < WORDS; w++)
            words[w] = any = any * UINT64_C(6364136223846793005) + 1442695040888963407;
        assert_int_equal(io_manifest_add(m, d + 1, true, false, words), 0);
        io_manifest_mark_complete(m, d + 1);
        assert_int_equal(io_manifest_update(m, false), 0);
        const size_t bytes = load(new, ROOM);
        assert_memory_equal(old, new, before);
        json_t *whole = in_between();
        assert_int_equal(complete_on_disk(whole), d + 1);
        for (int try = 0; try < 20; try++) {
            memset(old + before, 0, bytes - before);
            for (size_t at = before; at < bytes; at += SECTOR) {
                any = any * UINT64_C(6364136223846793005) + 1442695040888963407;
                if (any >> 40 & 1) memcpy(old + at, new + at, SECTOR);
            }
            store(old, bytes);
            json_t *root = in_between();
            const int64_t n = complete_on_disk(root);
            assert_in_range(n, d, d + 1);
            n == d ? lost++ : kept++;
            for (size_t e = 0; e < (size_t)n; e++)
                assert_true(json_equal(dump_of(root, e), dump_of(whole, e)));
            json_decref(root);
        }
        json_decref(whole);
        store(new, bytes);
        memcpy(old, new, bytes);
        before = bytes;
    }
    assert_true(lost > 100 && kept > 10);
    io_manifest_free(m);
}

/* As when a run was killed after the manifest of the next one had taken its place. */
static void the_journal_of_another_run_says_nothing(void **state)
{
    (void)state;
    struct io_manifest *first = made(), *next = made();
    struct io_manifest *m;
    struct io_past past;
    assert_int_equal(io_manifest_begin(first, false), 0);
    add(first, 0, true, false);
    io_manifest_mark_complete(first, 1);
    assert_int_equal(io_manifest_update(first, false), 0);
    assert_int_equal(io_manifest_load(&m, path, "dumps.bin", &past), 0);
    assert_int_equal(past.complete_n, 1);
    io_manifest_free(m);
    assert_int_equal(rename(journal, away), 0);
    assert_int_equal(io_manifest_begin(next, false), 0);
    assert_int_equal(rename(away, journal), 0);
    assert_int_equal(io_manifest_load(&m, path, "dumps.bin", &past), 0);
    assert_int_equal(past.complete_n, 0);
    io_manifest_free(m);
    assert_int_equal(unlink(journal), 0); /* and none at all */
    assert_int_equal(io_manifest_load(&m, path, "dumps.bin", &past), 0);
    assert_int_equal(past.complete_n, 0);
    io_manifest_free(m);
    io_manifest_free(first);
    io_manifest_free(next);
}

static void a_run_that_goes_on_keeps_the_dumps_of_the_journal(void **state)
{
    (void)state;
    const struct io_spec spec = {.n = N, .sync = IO_SYNC_NONE, .writer = "posix"};
    struct io_manifest *m = made();
    struct io_past past;
    assert_int_equal(io_manifest_begin(m, false), 0);
    for (int d = 0; d < 3; d++) {
        add(m, d, false, false);
        io_manifest_mark_complete(m, d);
        assert_int_equal(io_manifest_update(m, false), 0);
    }
    io_manifest_free(m); /* killed */
    assert_int_equal(io_manifest_load(&m, path, "dumps.bin", &past), 0);
    assert_int_equal(past.complete_n, 2);
    assert_int_equal(io_manifest_resume(m, past.complete_n, &spec, false), 0);
    assert_int_equal(io_manifest_begin(m, false), 0);
    add(m, 2, false, false);
    io_manifest_mark_complete(m, 3);
    io_manifest_mark_durable(m);
    assert_int_equal(io_manifest_update(m, false), 0);
    json_t *root = in_between();
    assert_int_equal(complete_on_disk(root), 3);
    assert_true(json_is_true(json_object_get(dump_of(root, 0), "durable")));
    json_decref(root);
    assert_int_equal(io_manifest_end(m), 0);
    root = on_disk();
    assert_int_equal(complete_on_disk(root), 3);
    json_decref(root);
    io_manifest_free(m);
}

static void a_manifest_that_somebody_removed_comes_back(void **state)
{
    (void)state;
    struct io_manifest *m = made();
    assert_int_equal(io_manifest_begin(m, false), 0);
    for (int d = 0; d < 40; d++) {
        add(m, d, true, true);
        assert_int_equal(io_manifest_update(m, false), 0);
        if (d == 20) assert_int_equal(unlink(path), 0);
        if (d == 30) assert_int_equal(unlink(journal), 0);
    }
    assert_int_equal(io_manifest_end(m), 0);
    json_t *root = on_disk();
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
        MANIFEST_TEST(at_every_moment_file_and_journal_name_the_complete_dumps),
        MANIFEST_TEST(a_dump_costs_one_small_write_however_many_there_are),
        MANIFEST_TEST(a_journal_is_no_longer_than_the_text_that_it_becomes),
        MANIFEST_TEST(power_lost_while_a_dump_is_entered_harms_no_other),
        MANIFEST_TEST(the_journal_of_another_run_says_nothing),
        MANIFEST_TEST(a_run_that_goes_on_keeps_the_dumps_of_the_journal),
        MANIFEST_TEST(a_manifest_that_somebody_removed_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
