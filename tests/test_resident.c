/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a file is in memory: by both ways of asking, before and after it has left. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/resident.h"
#include "skip.h"

enum { PAGES = 256 };

static char path[4096];

static int setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    err_clear();
    snprintf(path, sizeof path, "%s/nht1-resident-XXXXXX", parent && *parent ? parent : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

/* Writes pages pages and, when asked, brings them to the device. */
static void fill(int pages, int flushed)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *data = malloc(page);
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_non_null(data);
    assert_true(fd >= 0);
    memset(data, 7, page);
    for (int p = 0; p < pages; p++) {
        assert_int_equal(write(fd, data, page), (ssize_t)page);
    }
    if (flushed) assert_int_equal(fsync(fd), 0);
    close(fd);
    free(data);
}

/* Whether the system lets go of the pages of the file; memory file systems do not. */
static int dropped(void)
{
    return resident_drop(path) == 0;
}

static void what_was_written_is_in_memory(void **state)
{
    (void)state;
    const int64_t bytes = PAGES * (int64_t)sysconf(_SC_PAGESIZE);
    struct resident r, m;
    fill(PAGES, 0);
    assert_int_equal(resident_ask(path, &r), 0);
    assert_int_equal(resident_ask_mincore(path, &m), 0);
    assert_int_equal(r.file_bytes, bytes);
    assert_int_equal(r.cached_bytes, bytes);
    assert_int_equal(m.cached_bytes, bytes);
    assert_string_equal(m.how, "mincore");
    assert_int_equal(m.dirty_bytes, -1);
    assert_true(r.dirty_bytes >= -1 && r.dirty_bytes <= bytes);
}

static void what_was_flushed_is_not_dirty(void **state)
{
    (void)state;
    struct resident r;
    fill(PAGES, 1);
    assert_int_equal(resident_ask(path, &r), 0);
    if (strcmp(r.how, "cachestat") != 0) SKIP_NOT_PERMITTED("cachestat, of Linux 6.5");
    assert_int_equal(r.dirty_bytes, 0);
}

/* Of a part of the file no more than the part can be there, of a hole behind it nothing. */
static void a_part_is_asked_about_alone(void **state)
{
    (void)state;
    const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    struct resident r;
    fill(PAGES, 0);
    assert_int_equal(truncate(path, 2 * bytes), 0);
    assert_int_equal(resident_ask_range(path, page / 2, 3 * page, &r), 0);
    assert_int_equal(r.cached_bytes, 3 * page);
    assert_int_equal(r.file_bytes, 2 * bytes);
    assert_int_equal(resident_ask_range(path, bytes - page, 2 * page, &r), 0);
    assert_int_equal(r.cached_bytes, page);
    assert_int_equal(resident_ask_range(path, bytes, bytes, &r), 0);
    assert_int_equal(r.cached_bytes, 0);
}

static void what_was_dropped_is_gone(void **state)
{
    (void)state;
    struct resident r, m;
    fill(PAGES, 0);
    if (!dropped()) SKIP_NOT_HERE("files of this file system cannot be dropped from memory");
    assert_int_equal(resident_ask(path, &r), 0);
    if (r.cached_bytes == r.file_bytes)
        SKIP_NOT_HERE("files of this file system do not leave memory");
    assert_int_equal(resident_ask_mincore(path, &m), 0);
    assert_int_equal(r.cached_bytes, 0);
    assert_int_equal(m.cached_bytes, 0);
}

static void an_empty_file_and_none(void **state)
{
    (void)state;
    struct resident r;
    assert_int_equal(resident_ask(path, &r), 0);
    assert_int_equal(r.file_bytes, 0);
    assert_int_equal(r.cached_bytes, 0);
    assert_int_equal(resident_ask_mincore(path, &r), 0);
    assert_int_equal(resident_ask("/nonexistent/file", &r), ERR_IO);
    assert_non_null(strstr(err_message(), "/nonexistent/file"));
}

static void a_pipe_in_its_place_is_not_waited_for(void **state)
{
    (void)state;
    struct resident r;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60); /* which ends a test that waits */
    assert_int_equal(resident_drop(path), ERR_IO);
    resident_ask_mincore(path, &r);
    alarm(0);
}

/* Batch systems limit it (ulimit -v). */
static void little_address_space_is_enough(void **state)
{
    (void)state;
    struct resident r;
    struct rlimit before, little;
#ifdef __SANITIZE_ADDRESS__
    SKIP_NOT_HERE("the sanitizer takes all of the address space");
#endif
    fill(PAGES, 0);
    assert_int_equal(truncate(path, INT64_C(1) << 31), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    little = before;
    little.rlim_cur = 512 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    const int rc = resident_ask_mincore(path, &r);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(rc, 0);
    assert_int_equal(r.cached_bytes, PAGES * (int64_t)sysconf(_SC_PAGESIZE));
}

#define RESIDENT_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RESIDENT_TEST(what_was_written_is_in_memory),
        RESIDENT_TEST(what_was_flushed_is_not_dirty),
        RESIDENT_TEST(a_part_is_asked_about_alone),
        RESIDENT_TEST(what_was_dropped_is_gone),
        RESIDENT_TEST(an_empty_file_and_none),
        RESIDENT_TEST(a_pipe_in_its_place_is_not_waited_for),
        RESIDENT_TEST(little_address_space_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
