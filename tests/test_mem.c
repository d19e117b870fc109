/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory: sizes that do not fit, what is said, arrays that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"

static void says_what_it_was_for(int64_t n, size_t element_bytes)
{
    err_clear();
    assert_null(mem_new(n, element_bytes, "the results of %d runs", 7));
    assert_string_equal(err_message(), "no memory for the results of 7 runs");
    err_clear();
    int *array = mem_new(1, sizeof *array, "one"), *more;
    *array = 5;
    more = mem_grow(array, n, element_bytes, "%s", "more");
    assert_null(more);
    assert_int_equal(*array, 5);
    assert_string_equal(err_message(), "no memory for more");
    free(array);
}

/* The address sanitizer ends a program that asks for too much unless it is told not to. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void sizes_that_cannot_be(void **state)
{
    (void)state;
    says_what_it_was_for((INT64_C(1) << 61) + 1, 40); /* 40 when it wraps */
    says_what_it_was_for(INT64_MAX, 1);
    says_what_it_was_for(-1, 8);
    says_what_it_was_for(INT64_C(1) << 61, 1); /* fits, is not there */
    err_clear();
    assert_int_equal(mem_error("a list of %d", 3), ERR_NOMEM);
    assert_string_equal(err_message(), "no memory for a list of 3");
}

static void zero_and_grown(void **state)
{
    (void)state;
    err_clear();
    char *none = mem_new(0, 8, "nothing"), *some = mem_new(100, 1, "some"), zero[100] = {0};
    assert_non_null(none);
    assert_memory_equal(some, zero, 100);
    memset(some, 1, 100);
    char *more = mem_grow(some, 1 << 20, 1, "more");
    assert_true(more[0] == 1 && more[99] == 1);
    char *first = mem_grow(NULL, 0, 8, "a first one");
    assert_non_null(first);
    assert_string_equal(err_message(), "");
    free(none);
    free(more);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_cannot_be),
        cmocka_unit_test(zero_and_grown),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
