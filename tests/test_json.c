/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON files: replaced as a whole, errors that say where, words as hexadecimal text. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
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
#include "base/json.h"

static char dir[64], path[128];

static int make_dir(void **state)
{
    (void)state;
    err_clear();
    strcpy(dir, "/tmp/test_json_XXXXXX");
    if (!mkdtemp(dir)) return -1;
    snprintf(path, sizeof path, "%s/f.json", dir);
    return 0;
}

static int files_in_dir(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static void put(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void refuses(const char *text, const char *message)
{
    json_t *j;
    put(text);
    err_clear();
    assert_int_equal(js_read(path, &j), ERR_USAGE);
    assert_null(j);
    assert_memory_equal(err_message(), path, strlen(path));
    if (!strstr(err_message(), message)) fail_msg("%s", err_message());
}

static void written_and_read_back(void **state)
{
    (void)state;
    for (int sync = JS_SYNC_NONE; sync <= (int)JS_SYNC_ALL; sync++) {
        json_t *in = json_pack("{s:i, s:f, s:o}", "n", 7 + sync, "x", 0.1, "bad", js_real(NAN));
        json_t *out;
        assert_int_equal(js_write(path, in, (enum js_sync)sync), 0);
        assert_int_equal(js_read(path, &out), 0);
        assert_true(json_equal(in, out));
        assert_int_equal(files_in_dir(), 1);
        json_decref(in);
        json_decref(out);
    }
}

static void reals_have_17_digits(void **state)
{
    (void)state;
    json_t *j = json_pack("{s:f}", "x", 0.1);
    char text[128] = "";
    assert_int_equal(js_write(path, j, JS_SYNC_NONE), 0);
    json_decref(j);
    FILE *f = fopen(path, "r");
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "0.10000000000000001"));
    assert_int_equal(text[strlen(text) - 1], '\n');
}

static void umask_decides(void **state)
{
    (void)state;
    struct stat s;
    json_t *j = json_object();
    mode_t before = umask(027);
    assert_int_equal(js_write(path, j, JS_SYNC_NONE), 0);
    umask(before);
    json_decref(j);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
}

static void link_is_kept(void **state)
{
    (void)state;
    char link[128];
    struct stat s;
    put("{}");
    snprintf(link, sizeof link, "%s/link", dir);
    assert_int_equal(symlink("f.json", link), 0);
    json_t *j = json_pack("{s:i}", "n", 1), *out;
    assert_int_equal(js_write(link, j, JS_SYNC_FILE), 0);
    assert_int_equal(lstat(link, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(js_read(path, &out), 0);
    assert_true(json_equal(j, out));
    json_decref(j);
    json_decref(out);
}

static void link_to_nothing_is_kept(void **state)
{
    (void)state;
    char link[128];
    struct stat s;
    snprintf(link, sizeof link, "%s/link", dir);
    assert_int_equal(symlink("nothing.json", link), 0);
    json_t *j = json_object();
    err_clear();
    assert_int_equal(js_write(link, j, JS_SYNC_NONE), ERR_IO);
    err_clear();
    assert_int_equal(js_check_target(link, "nht1-bt/"), ERR_USAGE);
    err_clear();
    assert_int_equal(lstat(link, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(files_in_dir(), 1);
    json_decref(j);
}

/* 255 bytes, the most that file systems allow, in characters of two bytes but the last five. */
static void longest_name(void **state)
{
    (void)state;
    char name[300] = "";
    json_t *j = json_object();
    for (int c = 0; c < 125; c++)
        strcat(name, "\xc3\xa4");
    strcat(name, ".json");
    char long_path[512];
    snprintf(long_path, sizeof long_path, "%s/%s", dir, name);
    assert_int_equal(strlen(name), 255);
    assert_int_equal(js_check_target(long_path, "nht1-bt/"), 0);
    assert_int_equal(js_write(long_path, j, JS_SYNC_NONE), 0);
    assert_int_equal(access(long_path, R_OK), 0);
    assert_int_equal(files_in_dir(), 1);
    json_decref(j);
}

/* A text is replaced when it begins as ours do; a name that no file can have is found out first. */
static void texts_and_targets(void **state)
{
    (void)state;
    char name[5000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(js_check_target(name, "nht1-bt/"), ERR_USAGE);
    err_clear();
    assert_int_equal(js_check_text(path, "ours "), 0);
    assert_int_equal(js_write_text(path, "ours 1\n", JS_SYNC_NONE), 0);
    assert_int_equal(js_check_text(path, "ours "), 0);
    assert_int_equal(js_check_text(path, "theirs "), ERR_USAGE);
    err_clear();
    assert_int_equal(unlink(path), 0);
}

/* A pipe that nobody reads is found out before the work; its reader does not take the check for the end. */
static void a_pipe_needs_its_reader(void **state)
{
    (void)state;
    char text[16];
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(js_check_target(path, "nht1-bt/"), ERR_IO);
    assert_non_null(strstr(err_message(), "no process reads from this pipe"));
    err_clear();
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(js_check_target(path, "nht1-bt/"), 0);
    assert_int_equal(read(reader, text, sizeof text), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(js_result_text(path, "result\n"), 0);
    assert_int_equal(read(reader, text, sizeof text), 7);
    close(reader);
    assert_int_equal(unlink(path), 0);
}

/* The beginning of a file tells whose it is, and none is read that is longer than any of ours: 2^40
 * bytes of nothing would take all memory. */
static void long_files_are_not_loaded(void **state)
{
    (void)state;
    const char *const text[] = {
        "{\"schema\": \"nht1-bt/1\", \"x\": [", "{\n \"schema\" :\"nht1-bt/1\"",
        "{\"x\": 1, \"schema\": \"nht1-bt/1\"}", "{\"schema\": \"nht1-beff/1\"}"};
    json_t *j;
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        assert_int_equal(js_write_text(path, text[i], JS_SYNC_NONE), 0);
        assert_int_equal(truncate(path, INT64_C(1) << 40), 0);
        assert_int_equal(js_check_target(path, "nht1-bt/"), i < 2 ? 0 : ERR_USAGE);
        err_clear();
        assert_int_equal(js_read(path, &j), ERR_USAGE);
        assert_non_null(strstr(err_message(), "longer than 512 MiB"));
        err_clear();
    }
    assert_int_equal(unlink(path), 0);
}

static void devices_are_not_replaced(void **state)
{
    (void)state;
    struct stat s;
    json_t *j = json_object();
    assert_int_equal(js_write("/dev/null", j, JS_SYNC_ALL), 0);
    assert_int_equal(stat("/dev/null", &s), 0);
    assert_true(S_ISCHR(s.st_mode));
    json_decref(j);
}

static void failed_write_leaves_the_old(void **state)
{
    (void)state;
    json_t *j = json_object();
    assert_int_equal(js_write("no such folder/f.json", j, JS_SYNC_NONE), ERR_IO);
    assert_non_null(strstr(err_message(), "no such folder/f.json"));
    err_clear();
    assert_int_equal(js_write(dir, j, JS_SYNC_NONE), ERR_IO);
    json_decref(j);
    assert_int_equal(files_in_dir(), 0);
}

/* A file size limit stands in for a full disk: half of the new text fits. */
static void short_of_space(void **state)
{
    (void)state;
    struct rlimit before, limit;
    json_t *in = json_pack("{s:i}", "n", 1), *out;
    json_t *large = json_pack("{s:o}", "w", json_sprintf("%01024d", 0));
    assert_int_equal(js_write(path, in, JS_SYNC_NONE), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 512;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int rc = js_write(path, large, JS_SYNC_FILE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, ERR_IO);
    assert_int_equal(files_in_dir(), 1);
    assert_int_equal(js_read(path, &out), 0);
    assert_true(json_equal(in, out));
    json_decref(in);
    json_decref(large);
    json_decref(out);
}

/* /dev/full as a device answers every write with ENOSPC. */
static void full_disk(void **state)
{
    (void)state;
    json_t *j = json_object();
    assert_int_equal(js_write("/dev/full", j, JS_SYNC_NONE), ERR_IO);
    assert_non_null(strstr(err_message(), "No space left"));
    json_decref(j);
}

static void broken_files(void **state)
{
    (void)state;
    json_t *j;
    refuses("{\n \"a\": 1,\n \"b\" 2\n}", ":3: not valid JSON: ':' expected");
    refuses("{\"a\": 1", ":1:");
    refuses("", "not valid JSON");
    refuses("[1]", "a JSON object is expected");
    refuses("{\"a\": 1, \"a\": 2}", "duplicate");
    refuses("{} {}", "end of file expected");
    err_clear();
    assert_int_equal(js_read("no such folder/f.json", &j), ERR_IO);
    assert_non_null(strstr(err_message(), "no such folder/f.json"));
    err_clear();
    assert_int_equal(js_read(dir, &j), ERR_IO);
}

static void members(void **state)
{
    (void)state;
    json_t *j = json_loads("{\"n\": 12, \"x\": 2.5, \"t\": \"word\", \"b\": true, \"o\": {},"
                           " \"a\": [1]}",
                           0, NULL);
    json_t *at;
    int64_t n;
    double x;
    bool b;
    const char *t;
    assert_int_equal(js_get_int(j, "f", "n", 6, 12, &n), 0);
    assert_true(js_number(j, "n") == 12 && isnan(js_number(j, "none")) &&
                isnan(js_number(NULL, "n")));
    assert_int_equal(n, 12);
    assert_int_equal(js_get_real(j, "f", "x", &x), 0);
    assert_true(x == 2.5);
    assert_int_equal(js_get_real(j, "f", "n", &x), 0);
    assert_true(x == 12);
    assert_int_equal(js_get_bool(j, "f", "b", &b), 0);
    assert_true(b);
    assert_int_equal(js_get_text(j, "f", "t", &t), 0);
    assert_string_equal(t, "word");
    assert_int_equal(js_get_object(j, "f", "o", &at), 0);
    assert_int_equal(js_get_array(j, "f", "a", &at), 0);
    assert_string_equal(err_message(), "");

    assert_int_equal(js_get_int(j, "f.json", "n", 13, 99, &n), ERR_USAGE);
    assert_string_equal(err_message(),
                        "f.json: \"n\": an integer from 13 to 99 is expected, there is 12");
    err_clear();
    assert_int_equal(js_get_int(j, "f", "x", 0, 9, &n), ERR_USAGE);
    err_clear();
    assert_int_equal(js_get_real(j, "f", "t", &x), ERR_USAGE);
    assert_string_equal(err_message(), "f: \"t\": a number is expected, there is \"word\"");
    err_clear();
    assert_int_equal(js_get_text(j, "f", "nope", &t), ERR_USAGE);
    assert_string_equal(err_message(), "f: \"nope\": a string is expected, there is nothing");
    err_clear();
    assert_int_equal(js_get_bool(j, "f", "o", &b), ERR_USAGE);
    assert_non_null(strstr(err_message(), "there is an object"));
    assert_int_equal(js_get_array(j, "f", "o", &at), ERR_USAGE);
    assert_int_equal(js_get_object(j, "f", "a", &at), ERR_USAGE);
    json_decref(j);
}

static void words(void **state)
{
    (void)state;
    const uint64_t in[] = {0, 1, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
    uint64_t out[4];
    json_t *j = json_pack("{s:s, s:s, s:s}", "w",
                          "00000000000000000000000000000001ffffffffffffffff0123456789abcdef", "up",
                          "0123456789ABCDEF", "odd", "0123456789abcde");
    assert_int_equal(js_get_words(j, "f", "w", 4, out), 0);
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(js_get_words(j, "f", "w", 3, out), ERR_USAGE);
    assert_int_equal(js_get_words(j, "f", "up", 1, out), ERR_USAGE);
    assert_int_equal(js_get_words(j, "f", "odd", 1, out), ERR_USAGE);
    assert_int_equal(js_get_words(j, "f", "none", 0, out), ERR_USAGE);
    json_decref(j);
}

static void foreign_bytes(void **state)
{
    (void)state;
    json_t *j = js_text("na\xefve");
    assert_string_equal(json_string_value(j), "na?ve");
    json_decref(j);
    j = js_text(NULL);
    assert_true(json_is_null(j));
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(written_and_read_back),
        IN_DIR(reals_have_17_digits),
        IN_DIR(umask_decides),
        IN_DIR(link_is_kept),
        IN_DIR(link_to_nothing_is_kept),
        IN_DIR(longest_name),
        IN_DIR(texts_and_targets),
        IN_DIR(a_pipe_needs_its_reader),
        IN_DIR(long_files_are_not_loaded),
        IN_DIR(devices_are_not_replaced),
        IN_DIR(failed_write_leaves_the_old),
        IN_DIR(full_disk),
        IN_DIR(short_of_space),
        IN_DIR(broken_files),
        IN_DIR(members),
        IN_DIR(words),
        IN_DIR(foreign_bytes),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
