/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Being asked to stop; each case in a process of its own. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/start.h"
#include "base/stop.h"

static int status_of(void (*body)(void))
{
    int status = -1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(99);
    }
    waitpid(child, &status, 0);
    return status;
}

static void ask_once(void)
{
    if (stop_install() < 0 || stop_requested() || stop_signal() != 0) _exit(1);
    raise(SIGTERM);
    _exit(stop_requested() && stop_signal() == SIGTERM ? 0 : 2);
}

static void ask_twice(void)
{
    stop_install();
    raise(SIGINT);
    raise(SIGTERM);
}

/* A file of more bytes than allowed: an error of the call. */
static void exceed_limit(void)
{
    char path[] = "/tmp/test_stop_XXXXXX";
    struct rlimit limit = {4096, 4096};
    start_clean();
    stop_install();
    int fd = mkstemp(path);
    unlink(path);
    setrlimit(RLIMIT_FSIZE, &limit);
    ssize_t put = pwrite(fd, path, 1, 8192);
    _exit(put < 0 && errno == EFBIG ? 0 : 1);
}

static void leave(void *arg)
{
    if (stop_requested()) _exit(*(int *)arg);
}

/* The thread takes the signal that is blocked where the work is done. */
static void wait_for_ever(void)
{
    int status = 7;
    if (stop_install() < 0 || stop_watch_begin(leave, &status, true) < 0) _exit(1);
    kill(getpid(), SIGTERM);
    for (;;)
        pause();
}

static void watch_nothing(void)
{
    int status = 7;
    stop_watch_end();
    if (stop_install() < 0 || stop_watch_begin(leave, &status, true) < 0) _exit(1);
    stop_watch_end();
    raise(SIGTERM); /* blocked no more, and nobody looks */
    _exit(stop_requested() ? 0 : 2);
}

static void hang_up(void)
{
    if (stop_install() < 0) _exit(1);
    raise(SIGHUP);
    _exit(stop_requested() && stop_signal() == SIGHUP ? 0 : 2);
}

/* As nohup starts it; it is still ignored when another one has asked. */
static void hang_up_ignored(void)
{
    signal(SIGHUP, SIG_IGN);
    if (stop_install() < 0) _exit(1);
    raise(SIGHUP);
    if (stop_requested()) _exit(2);
    raise(SIGTERM);
    raise(SIGHUP);
    _exit(stop_requested() ? 0 : 3);
}

static void hanging_up_asks_unless_it_is_ignored(void **state)
{
    (void)state;
    assert_int_equal(status_of(hang_up), 0);
    assert_int_equal(status_of(hang_up_ignored), 0);
}

static void first_signal_sets_a_flag(void **state)
{
    (void)state;
    assert_int_equal(status_of(ask_once), 0);
}

static void second_signal_ends(void **state)
{
    (void)state;
    int status = status_of(ask_twice);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void size_limit_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(status_of(exceed_limit), 0);
}

static void a_watcher_looks_while_the_work_waits(void **state)
{
    (void)state;
    const int status = status_of(wait_for_ever);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(status_of(watch_nothing), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_signal_sets_a_flag),
        cmocka_unit_test(second_signal_ends),
        cmocka_unit_test(hanging_up_asks_unless_it_is_ignored),
        cmocka_unit_test(size_limit_is_an_error),
        cmocka_unit_test(a_watcher_looks_while_the_work_waits),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
