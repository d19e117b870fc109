/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages: the first one wins; codes and exit statuses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/watch.h"

static int clear(void **state)
{
    (void)state;
    err_clear();
    return 0;
}

static void first_message_wins(void **state)
{
    (void)state;
    assert_string_equal(err_message(), "");
    assert_int_equal(err_set(ERR_IO, "cause %d", 1), ERR_IO);
    assert_int_equal(err_set(ERR_MPI, "consequence"), ERR_MPI);
    assert_int_equal(err_set_errno(ERR_NOMEM, ENOSPC, "consequence"), ERR_NOMEM);
    assert_string_equal(err_message(), "cause 1");
    err_clear();
    assert_string_equal(err_message(), "");
    err_set(ERR_MPI, "next");
    assert_string_equal(err_message(), "next");
}

static void errno_text_is_appended(void **state)
{
    (void)state;
    assert_int_equal(err_set_errno(ERR_IO, ENOSPC, "%s: write", "f.bin"), ERR_IO);
    assert_string_equal(err_message(), "f.bin: write: No space left on device");
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[3 * ERR_MESSAGE_MAX];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set_errno(ERR_IO, EIO, "%s", text);
    assert_int_equal(strlen(err_message()), ERR_MESSAGE_MAX - 1);
    /* The reason stays. */
    err_clear();
    err_set_errno(ERR_IO, ENAMETOOLONG, "%s", text);
    assert_int_equal(strlen(err_message()), ERR_MESSAGE_MAX - 1);
    assert_non_null(strstr(err_message(), ": File name too long"));
}

static void shared_messages_replace(void **state)
{
    (void)state;
    err_set(ERR_IO, "mine");
    assert_false(err_is_shared());
    err_share("rank 3 on h: theirs");
    assert_true(err_is_shared());
    assert_string_equal(err_message(), "rank 3 on h: theirs");
    err_clear();
    assert_false(err_is_shared());
}

static void a_prefix_goes_before_the_message(void **state)
{
    (void)state;
    err_prefix("--json: ");
    assert_string_equal(err_message(), "");
    err_set(ERR_IO, "r.json: no room");
    err_prefix("--json: ");
    assert_string_equal(err_message(), "--json: r.json: no room");
    err_clear();
    err_set(ERR_IO, "%01100d", 0);
    err_prefix("--json: ");
    assert_int_equal(strlen(err_message()), ERR_MESSAGE_MAX - 1);
    assert_memory_equal(err_message(), "--json: 000", 11);
}

static void exit_statuses(void **state)
{
    (void)state;
    assert_int_equal(err_exit_status(0), 0);
    assert_int_equal(err_exit_status(7), 0);
    assert_int_equal(err_exit_status(ERR_USAGE), 1);
    assert_int_equal(err_exit_status(ERR_VERIFY), 2);
    assert_int_equal(err_exit_status(ERR_IO), 3);
    assert_int_equal(err_exit_status(ERR_NOMEM), 3);
    assert_int_equal(err_exit_status(ERR_MPI), 3);
    assert_int_equal(err_exit_status(ERR_INVALID), 4);
    assert_int_equal(err_exit_status(ERR_INTERRUPT), 3);
    assert_int_equal(err_exit_status(-99), 3);
    assert_string_equal(err_text(ERR_NOMEM), "out of memory");
}

static int three_tries(int a, int b, int *calls)
{
    TRY(((*calls)++, a));
    TRY(((*calls)++, b));
    return 0;
}

static void try_stops_at_the_first_failure(void **state)
{
    (void)state;
    int calls = 0;
    assert_int_equal(three_tries(1, 0, &calls), 0);
    assert_int_equal(calls, 2);
    calls = 0;
    assert_int_equal(three_tries(ERR_IO, ERR_MPI, &calls), ERR_IO);
    assert_int_equal(calls, 1);
}

static void clock_runs_forward(void **state)
{
    (void)state;
    double before = watch_now();
    double after = watch_now();
    while (after == before) {
        after = watch_now();
    }
    assert_true(after > before && after - before < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(first_message_wins, clear),
        cmocka_unit_test_setup(errno_text_is_appended, clear),
        cmocka_unit_test_setup(long_messages_are_cut, clear),
        cmocka_unit_test_setup(shared_messages_replace, clear),
        cmocka_unit_test_setup(a_prefix_goes_before_the_message, clear),
        cmocka_unit_test_setup(exit_statuses, clear),
        cmocka_unit_test_setup(try_stops_at_the_first_failure, clear),
        cmocka_unit_test(clock_runs_forward),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
