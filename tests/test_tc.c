/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store of compute-only times: what is found, what is replaced, what is left alone. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/json.h"
#include "base/store.h"
#include "bt/tc.h"

static char folder[64], store[128], why[BT_TC_WHY_MAX];

static const struct bt_tc_key key = {.cpu = "A Processor @ 3 GHz",
                                     .kernel = "1",
                                     .nodes = 2,
                                     .cores = 16,
                                     .n = 102,
                                     .steps = 200,
                                     .dt = 3e-4};

static struct bt_tc_entry entry(double t_c_s, bool verified)
{
    return (struct bt_tc_entry){.t_c_s = t_c_s,
                                .verified = verified,
                                .decomp = "1x1x8",
                                .isa = "avx2",
                                .host = "n1",
                                .ranks = 8,
                                .threads = 2,
                                .undisturbed = true,
                                .share_min = 0.99,
                                .steal = NAN};
}

static int fresh(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_tc-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(store, sizeof store, "%s/deep/down/tc.json", folder);
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

static void write_text(const char *text)
{
    char part[128];
    snprintf(part, sizeof part, "%s/deep", folder);
    mkdir(part, 0777);
    snprintf(part, sizeof part, "%s/deep/down", folder);
    mkdir(part, 0777);
    FILE *f = fopen(store, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void expect_text(const char *text)
{
    char now[512] = "";
    FILE *f = fopen(store, "r");
    assert_non_null(f);
    now[fread(now, 1, sizeof now - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(now, text);
}

static double stored_s(const struct bt_tc_key *k)
{
    struct bt_tc_entry found;
    const int rc = bt_tc_find(store, k, &found, why);
    assert_in_range(rc, 0, 1);
    return rc == 1 ? found.t_c_s : -1;
}

static void missing_store_is_empty(void **state)
{
    (void)state;
    struct bt_tc_entry e;
    assert_int_equal(bt_tc_find(store, &key, &e, why), 0);
    assert_int_equal(access(store, F_OK), -1);
}

static void what_is_stored_is_found(void **state)
{
    (void)state;
    const struct bt_tc_entry in = entry(20.125, true);
    struct bt_tc_entry out;
    assert_int_equal(bt_tc_offer(store, &key, &in), 1);
    assert_int_equal(bt_tc_find(store, &key, &out, why), 1);
    assert_true(out.t_c_s == 20.125 && out.verified);
    assert_string_equal(out.decomp, "1x1x8");
    assert_string_equal(out.isa, "avx2");
    assert_string_equal(out.host, "n1");
    assert_int_equal(out.ranks, 8);
    assert_int_equal(out.threads, 2);
}

static void only_better_times_are_kept(void **state)
{
    (void)state;
    struct bt_tc_entry e = entry(20, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    e = entry(21, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 0);
    assert_true(stored_s(&key) == 20);
    e = entry(19, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    assert_true(stored_s(&key) == 19);
}

static void verified_goes_before_fast(void **state)
{
    (void)state;
    struct bt_tc_entry e = entry(10, false);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    e = entry(20, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    e = entry(5, false);
    assert_int_equal(bt_tc_offer(store, &key, &e), 0);
    assert_true(stored_s(&key) == 20);
}

/* Every part of the key tells systems and problems apart. */
static void keys_differ(void **state)
{
    (void)state;
    struct bt_tc_key other[7];
    const struct bt_tc_entry e = entry(20, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    for (int i = 0; i < 7; i++)
        other[i] = key;
    strcpy(other[0].cpu, "B Processor");
    strcpy(other[1].kernel, "2");
    other[2].nodes++;
    other[3].cores--;
    other[4].n++;
    other[5].steps--;
    other[6].dt *= 1.001;
    for (int i = 0; i < 7; i++)
        assert_true(stored_s(&other[i]) == -1);
    for (int i = 0; i < 7; i++) {
        const struct bt_tc_entry mine = entry(30 + i, true);
        assert_int_equal(bt_tc_offer(store, &other[i], &mine), 1);
    }
    assert_true(stored_s(&key) == 20);
    for (int i = 0; i < 7; i++)
        assert_true(stored_s(&other[i]) == 30 + i);
}

/* Times that a busy machine spoiled, and what older versions kept, take nobody in. */
static void only_undisturbed_times_are_kept_and_used(void **state)
{
    (void)state;
    json_t *root;
    struct bt_tc_entry e = entry(191, true), out;
    e.undisturbed = false;
    assert_int_equal(bt_tc_offer(store, &key, &e), 0);
    e.undisturbed = true;
    e.share_min = NAN;
    assert_int_equal(bt_tc_offer(store, &key, &e), 0);
    assert_int_equal(bt_tc_find(store, &key, &out, why), 0);
    assert_string_equal(why, "");
    /* A step of the system's counters, 0.005 in 2 s, proves nothing. */
    e = entry(2, true);
    e.others = 0.054;
    e.steal = 0.014;
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    assert_true(stored_s(&key) == 2);
    /* Entries without evidence, or with some that contradicts itself. */
    static const char *const spoiled[] = {
        "{}",
        "{\"undisturbed\": false}",
        "{\"undisturbed\": true, \"share_min\": 0.09}",
        "{\"undisturbed\": true, \"share_min\": 7}",
        "{\"undisturbed\": true, \"share_min\": \"1\"}",
        "{\"undisturbed\": true, \"share_min\": 1, \"others\": -1}",
        "{\"undisturbed\": true, \"share_min\": 1, \"others\": 0.07}",
        "{\"undisturbed\": true, \"share_min\": 1, \"steal\": 0.02}"};
    for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++) {
        unlink(store);
        e = entry(2, true);
        assert_int_equal(bt_tc_offer(store, &key, &e), 1);
        assert_int_equal(js_read(store, &root), 0);
        json_t *first = json_array_get(json_object_get(root, "entries"), 0);
        json_t *evidence = json_loads(spoiled[i], 0, NULL);
        json_object_del(first, "undisturbed");
        json_object_del(first, "share_min");
        json_object_update(first, evidence);
        assert_int_equal(json_dump_file(root, store, 0), 0);
        json_decref(evidence);
        json_decref(root);
        assert_int_equal(bt_tc_find(store, &key, &out, why), 0);
        assert_non_null(strstr(why, "2 s, is not used"));
        /* A sound one takes its place, even a longer one. */
        e = entry(3, true);
        assert_int_equal(bt_tc_offer(store, &key, &e), 1);
        assert_true(stored_s(&key) == 3);
        assert_string_equal(why, "");
        assert_int_equal(js_read(store, &root), 0);
        assert_int_equal(json_array_size(json_object_get(root, "entries")), 1);
        json_decref(root);
    }
}

/* 36.9 s for two cores beside 0.44 s for one. */
static void more_cores_are_never_slower(void **state)
{
    (void)state;
    struct bt_tc_key one = key;
    one.cores = 1;
    struct bt_tc_entry e = entry(0.44, true), slow = entry(36.9, true);
    assert_int_equal(bt_tc_offer(store, &one, &e), 1);
    assert_int_equal(bt_tc_offer(store, &key, &slow), 0);
    assert_true(stored_s(&key) == -1);
    e = entry(0.3, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    assert_true(stored_s(&key) == 0.3);
    /* A better time for fewer cores comes later. */
    e = entry(0.2, true);
    assert_int_equal(bt_tc_offer(store, &one, &e), 1);
    assert_true(stored_s(&key) == -1);
    assert_non_null(strstr(why, "with fewer cores it was 0.2 s"));
    e = entry(0.19, true);
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    assert_true(stored_s(&key) == 0.19 && stored_s(&one) == 0.2);
    /* So of fewer nodes, but not of other ones. */
    struct bt_tc_key many = key, host = key;
    many.nodes = 3;
    many.cores = 24;
    many.n = host.n = 64;
    bt_tc_hosts("rack1-n07", many.nodes, many.hosts);
    host.nodes = 1;
    host.cores = 8;
    bt_tc_hosts("rack2-n11", host.nodes, host.hosts);
    slow = entry(3, true);
    assert_int_equal(bt_tc_offer(store, &many, &slow), 1);
    e = entry(1, true);
    assert_int_equal(bt_tc_offer(store, &host, &e), 1);
    assert_true(stored_s(&many) == -1);
    assert_non_null(strstr(why, "with fewer cores it was 1 s"));
    assert_int_equal(bt_tc_offer(store, &many, &slow), 0);
    strcpy(many.hosts, "other#");
    assert_int_equal(bt_tc_offer(store, &many, &slow), 1);
    assert_true(stored_s(&many) == 3);
    /* Norms that nobody checked prove nothing about one whose norms are right. */
    struct bt_tc_key other = key, less = one;
    other.n = less.n = 24;
    e = entry(1, false);
    assert_int_equal(bt_tc_offer(store, &less, &e), 1);
    e = entry(2, true);
    assert_int_equal(bt_tc_offer(store, &other, &e), 1);
    assert_true(stored_s(&other) == 2);
}

static void broken_stores_are_left_alone(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "{ \"schema\": \"nht1-tc/1\", \"entries\": [",
        "",
        "[]",
        "{\"schema\": \"something/1\", \"entries\": []}",
        "{\"schema\": \"nht1-tc/1\"}",
        "{\"schema\": \"nht1-tc/1\", \"entries\": [{\"t_c_s\": 0}]}",
        "{\"schema\": \"nht1-tc/1\", \"entries\": [7]}",
    };
    const struct bt_tc_entry in = entry(1, true);
    struct bt_tc_entry out;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        write_text(broken[i]);
        err_clear();
        assert_int_equal(bt_tc_find(store, &key, &out, why), ERR_USAGE);
        assert_non_null(strstr(err_message(), store));
        assert_int_equal(bt_tc_offer(store, &key, &in), ERR_USAGE);
        expect_text(broken[i]);
    }
}

static void unknown_members_survive(void **state)
{
    (void)state;
    json_t *root;
    const struct bt_tc_entry e = entry(20, true);
    write_text("{\"schema\": \"nht1-tc/1\", \"owner\": \"me\", \"entries\": "
               "[{\"t_c_s\": 3, \"note\": \"n\"}]}");
    assert_int_equal(bt_tc_offer(store, &key, &e), 1);
    assert_int_equal(js_read(store, &root), 0);
    assert_string_equal(json_string_value(json_object_get(root, "owner")), "me");
    const json_t *first = json_array_get(json_object_get(root, "entries"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "note")), "n");
    assert_int_equal(json_array_size(json_object_get(root, "entries")), 2);
    json_decref(root);
}

static void place_cannot_be_written(void **state)
{
    (void)state;
    const struct bt_tc_entry e = entry(20, true);
    assert_true(bt_tc_offer("/proc/nht1/tc.json", &key, &e) < 0);
    assert_true(err_message()[0] != '\0');
}

/* Eight processes offer different times at once: the best one stays, nothing is torn. */
static void offers_at_the_same_time(void **state)
{
    (void)state;
    for (int p = 0; p < 8; p++) {
        if (fork() != 0) continue;
        struct bt_tc_key own = key;
        own.n = 200 + p;
        const struct bt_tc_entry e = entry(10 + p, true);
        const int rc = bt_tc_offer(store, &key, &e) < 0 || bt_tc_offer(store, &own, &e) != 1;
        _exit(rc);
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed += status != 0;
    assert_int_equal(failed, 0);
    assert_true(stored_s(&key) == 10);
    for (int p = 0; p < 8; p++) {
        struct bt_tc_key own = key;
        own.n = 200 + p;
        assert_true(stored_s(&own) == 10 + p);
    }
}

static void names_of_the_store(void **state)
{
    (void)state;
    char path[256];
    setenv("XDG_STATE_HOME", "/x/state", 1);
    setenv("HOME", "/h", 1);
    assert_int_equal(bt_tc_path("mine.json", path, sizeof path), 0);
    assert_string_equal(path, "mine.json");
    assert_int_equal(bt_tc_path(NULL, path, sizeof path), 0);
    assert_string_equal(path, "/x/state/nht1/tc.json");
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(bt_tc_path(NULL, path, sizeof path), 0);
    assert_string_equal(path, "/h/.local/state/nht1/tc.json");
    unsetenv("HOME");
    assert_int_equal(bt_tc_path(NULL, path, sizeof path), ERR_USAGE);
    err_clear();
    assert_int_equal(bt_tc_path("", path, sizeof path), ERR_USAGE);
}

/* A FIFO in place of the lock file, and a folder. */
static void odd_lock_file(void **state)
{
    (void)state;
    char name[160];
    const struct bt_tc_entry mine = entry(2.0, true);
    snprintf(name, sizeof name, "%s.lock", store);
    write_text("{\"schema\": \"nht1-tc/1\", \"entries\": []}");
    assert_int_equal(mkfifo(name, 0666), 0);
    assert_int_equal(bt_tc_offer(store, &key, &mine), ERR_IO);
    assert_non_null(strstr(err_message(), "in the way"));
    assert_non_null(strstr(err_message(), "--tc-store"));
    err_clear();
    assert_int_equal(unlink(name), 0);
    /* A link is not followed, whether it leads to something or to nothing. */
    char target[170];
    snprintf(target, sizeof target, "%s.other", store);
    assert_int_equal(symlink(target, name), 0);
    assert_int_equal(bt_tc_offer(store, &key, &mine), ERR_IO);
    assert_non_null(strstr(err_message(), "in the way"));
    err_clear();
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkdir(name, 0777), 0);
    assert_int_equal(bt_tc_offer(store, &key, &mine), ERR_IO);
    assert_non_null(strstr(err_message(), "--tc-store"));
    expect_text("{\"schema\": \"nht1-tc/1\", \"entries\": []}");
}

/* A sparse one takes no space, and would take all memory if it were read. */
static void too_long(void **state)
{
    (void)state;
    const struct bt_tc_entry mine = entry(2.0, true);
    struct bt_tc_entry found;
    write_text("{\"schema\": \"nht1-tc/1\", \"entries\": []}");
    assert_int_equal(truncate(store, STORE_BYTES_MAX + 1), 0);
    assert_int_equal(bt_tc_find(store, &key, &found, why), ERR_USAGE);
    assert_non_null(strstr(err_message(), "64 MiB"));
    err_clear();
    assert_int_equal(bt_tc_offer(store, &key, &mine), ERR_USAGE);
    err_clear();
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, fresh, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(missing_store_is_empty),
        CASE(what_is_stored_is_found),
        CASE(only_better_times_are_kept),
        CASE(verified_goes_before_fast),
        CASE(keys_differ),
        CASE(only_undisturbed_times_are_kept_and_used),
        CASE(more_cores_are_never_slower),
        CASE(broken_stores_are_left_alone),
        CASE(unknown_members_survive),
        CASE(place_cannot_be_written),
        CASE(offers_at_the_same_time),
        CASE(names_of_the_store),
        CASE(odd_lock_file),
        CASE(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
