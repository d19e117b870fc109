/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What jobs remember: where the file of a kind lies, and what a change leaves (bt/tc's own entries:
 * tests/test_tc.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/store.h"

static char folder[64], path[160];

static bool valid(const json_t *entry)
{
    return json_is_integer(json_object_get(entry, "value"));
}

static const struct store kind = {.name = "things.json",
                                  .schema = "nht1-things/1",
                                  .title = "store of things",
                                  .holds = "things",
                                  .option = "--things",
                                  .valid = valid};

static int fresh(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_store-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/deep/things.json", folder);
    err_clear();
    return 0;
}

static int clean(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Adds an entry with a value; a negative one is an error, 0 changes nothing. */
static int add(json_t *entries, void *arg)
{
    const int value = *(int *)arg;
    if (value < 0) return err_set(ERR_NOMEM, "no room for it");
    if (value > 0) json_array_append_new(entries, json_pack("{si ss}", "value", value, "of", "x"));
    return value > 0 ? 1 : 0;
}

static int count(void)
{
    json_t *root;
    if (store_read(&kind, path, &root) < 0) return -1;
    const int n = (int)json_array_size(json_object_get(root, "entries"));
    json_decref(root);
    return n;
}

static void a_change_is_kept_and_a_refused_one_is_not(void **state)
{
    (void)state;
    int value = 0;
    assert_int_equal(count(), 0);
    assert_int_equal(store_change(&kind, path, add, &value), 0);
    assert_int_equal(access(path, F_OK), -1);
    value = 7;
    assert_int_equal(store_change(&kind, path, add, &value), 1);
    assert_int_equal(count(), 1);
    value = -1;
    assert_int_equal(store_change(&kind, path, add, &value), ERR_NOMEM);
    assert_int_equal(count(), 1);
}

static void members_of_an_entry(void **state)
{
    (void)state;
    json_t *entry = json_pack("{si ss}", "value", 7, "of", "x");
    assert_true(store_same(entry, "value", 7));
    assert_false(store_same(entry, "value", 8));
    assert_false(store_same(entry, "of", 7));
    assert_false(store_same(entry, "nothing", 0));
    assert_string_equal(store_text(entry, "of"), "x");
    assert_string_equal(store_text(entry, "nothing"), "");
    json_decref(entry);
}

static void what_is_not_sound_is_left_alone(void **state)
{
    (void)state;
    int value = 7;
    assert_int_equal(store_change(&kind, path, add, &value), 1);
    FILE *f = fopen(path, "w");
    fputs("{\"schema\": \"nht1-things/1\", \"entries\": [{\"value\": \"7\"}]}", f);
    fclose(f);
    assert_int_equal(store_change(&kind, path, add, &value), ERR_USAGE);
    assert_non_null(strstr(err_message(), "is no store of things"));
    assert_non_null(strstr(err_message(), "another with --things"));
    assert_int_equal(count(), -1);
}

static void every_kind_lies_beside_the_t_c_store(void **state)
{
    (void)state;
    char out[256], small[16];
    setenv("XDG_STATE_HOME", "/state", 1);
    assert_int_equal(store_path(&kind, NULL, out, sizeof out), 0);
    assert_string_equal(out, "/state/nht1/things.json");
    assert_int_equal(store_path(&kind, "/data/tc.json", out, sizeof out), 0);
    assert_string_equal(out, "/data/things.json");
    assert_int_equal(store_path(&kind, "tc.json", out, sizeof out), 0);
    assert_string_equal(out, "things.json");
    assert_int_equal(store_path(&kind, "/a/long/folder/tc.json", small, sizeof small), ERR_USAGE);
    err_clear();
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/home/me", 1);
    assert_int_equal(store_path(&kind, NULL, out, sizeof out), 0);
    assert_string_equal(out, "/home/me/.local/state/nht1/things.json");
    unsetenv("HOME");
    assert_int_equal(store_path(&kind, NULL, out, sizeof out), ERR_USAGE);
    assert_non_null(strstr(err_message(), "name a file with --things"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, fresh, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_change_is_kept_and_a_refused_one_is_not),
        CASE(members_of_an_entry),
        CASE(what_is_not_sound_is_left_alone),
        CASE(every_kind_lies_beside_the_t_c_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
