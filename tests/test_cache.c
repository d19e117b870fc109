/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a result is stamped as one of memory, and what is said about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/cache.h"

/* A file of 1000 bytes. */
static struct cache of(int64_t cached_bytes, int64_t dirty_bytes, bool flushed)
{
    return (struct cache){.known = true,
                          .file_bytes = 1000,
                          .cached_bytes = cached_bytes,
                          .dirty_bytes = dirty_bytes,
                          .memory_bytes = 8000,
                          .flushed = flushed,
                          .how = "cachestat"};
}

static void the_stamp_follows_what_was_not_waited_for(void **state)
{
    (void)state;
    static const struct {
        int64_t cached, dirty;
        bool flushed, stamp;
    } cases[] = {
        {1000, 1000, false, true}, {1000, 51, false, true},  {1000, 50, false, false},
        {1000, 0, false, false},   {1000, -1, false, true},  {50, -1, false, false},
        {51, -1, false, true},     {1000, 1000, true, true}, {1000, 50, true, false},
        {1000, -1, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct cache c = of(cases[i].cached, cases[i].dirty, cases[i].flushed);
        assert_int_equal(cache_stamp(&c), cases[i].stamp);
    }
}

static void a_file_system_in_memory_is_always_stamped(void **state)
{
    (void)state;
    struct cache c = of(0, 0, true);
    c.in_memory = true;
    assert_true(cache_stamp(&c));
    c.known = false;
    assert_true(cache_stamp(&c));
}

static void where_flushing_does_nothing_all_that_is_cached_counts(void **state)
{
    (void)state;
    struct cache c = of(1000, -1, true);
    c.never_flushed = true;
    assert_true(cache_stamp(&c));
    assert_non_null(strstr(cache_why(&c), "flushing does nothing"));
}

static void what_is_not_known_has_to_be_flushed(void **state)
{
    (void)state;
    struct cache c = {.dirty_bytes = -1};
    char words[512];
    assert_true(cache_stamp(&c));
    assert_non_null(strstr(cache_why(&c), "does not tell"));
    c.flushed = true;
    assert_false(cache_stamp(&c));
    cache_words(&c, words, sizeof words);
    assert_non_null(strstr(words, "cannot say"));
    json_t *null = cache_json(&c);
    assert_true(json_is_null(null));
    json_decref(null);
}

static void words_and_numbers_say_the_same(void **state)
{
    (void)state;
    struct cache c = of(750, 200, false);
    char words[512];
    cache_words(&c, words, sizeof words);
    assert_non_null(strstr(words, "75 %"));
    assert_non_null(strstr(words, "200 B of it not yet on the device"));
    assert_non_null(strstr(words, "0.12 times the memory"));
    json_t *o = cache_json(&c);
    assert_int_equal(json_integer_value(json_object_get(o, "dirty_bytes")), 200);
    assert_false(json_is_true(json_object_get(o, "beyond_memory")));
    json_decref(o);
    c.dirty_bytes = -1;
    c.memory_bytes = 50;
    cache_words(&c, words, sizeof words);
    assert_null(strstr(words, "not yet on the device"));
    o = cache_json(&c);
    assert_true(json_is_null(json_object_get(o, "dirty_bytes")));
    assert_true(json_is_true(json_object_get(o, "beyond_memory")));
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stamp_follows_what_was_not_waited_for),
        cmocka_unit_test(a_file_system_in_memory_is_always_stamped),
        cmocka_unit_test(where_flushing_does_nothing_all_that_is_cached_counts),
        cmocka_unit_test(what_is_not_known_has_to_be_flushed),
        cmocka_unit_test(words_and_numbers_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
