/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress line: what it says, and that it is there only when somebody looks. Each case runs in
 * a process of its own on a pseudo-terminal whose other end is read here. The clock is the test's: it
 * stands still but for what the work takes. */
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/progress.h"
#include "base/watch.h"

enum { TEXT_MAX = 4096 };

static double clock_s = 1000;

double watch_now(void)
{
    return clock_s;
}

/* 2.5 s of work in eight parts. */
static void work(enum progress_mode mode)
{
    struct progress *p = progress_begin(mode, "class S", "step", 8);
    for (int s = 1; s <= 8; s++) {
        clock_s += 0.31;
        progress_update(p, s);
    }
    progress_end(p);
}

/* Runs body in a child on a terminal of its own; [out] text: what the terminal got. */
static void on_terminal(void (*body)(void), char *text)
{
    int terminal, status = -1;
    size_t used = 0;
    ssize_t got;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    while ((got = read(terminal, text + used, TEXT_MAX - 1 - used)) > 0) {
        used += (size_t)got;
    }
    text[used] = '\0';
    waitpid(child, &status, 0);
    close(terminal);
    assert_int_equal(status, 0);
}

static void redirect(int fd, const char *path)
{
    int other = open(path, O_WRONLY);
    dup2(other, fd);
    close(other);
}

/* The way a launcher starts a rank: own process group, no terminal on output and error. */
static void as_rank(void)
{
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        redirect(1, "/dev/null");
        redirect(2, "/dev/null");
        work(PROGRESS_AUTO);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void as_rank_errors_redirected(void)
{
    redirect(2, "/dev/null");
    as_rank();
}

/* A launcher in the background of a shell that waits in the foreground. */
static void as_rank_in_background(void)
{
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        as_rank();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void directly(void)
{
    work(PROGRESS_AUTO);
}

static void always(void)
{
    work(PROGRESS_ALWAYS);
}

static void never(void)
{
    work(PROGRESS_NEVER);
}

static void shown_on_a_terminal(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    on_terminal(directly, text);
    assert_non_null(strstr(text, "\rclass S: step 7 of 8, 88 %, 1 s left"));
    assert_null(strstr(text, "step 5 of"));
    assert_string_equal(text + strlen(text) - 2, " \r"); /* the line is cleared */
}

static void shown_under_a_launcher(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    on_terminal(as_rank, text);
    assert_non_null(strstr(text, "step 7 of 8"));
}

static void quiet_when_nobody_looks(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    on_terminal(as_rank_errors_redirected, text);
    assert_string_equal(text, "");
    on_terminal(as_rank_in_background, text);
    assert_string_equal(text, "");
    on_terminal(never, text);
    assert_string_equal(text, "");
}

static void always_is_at_once(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    on_terminal(always, text);
    assert_non_null(strstr(text, "step 1 of 8, 12 %, 3 s left"));
}

/* Without a terminal at all. */
static void quiet_without_a_terminal(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setsid();
        _exit(progress_begin(PROGRESS_AUTO, "x", "y", 1) != NULL);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void modes(void **state)
{
    (void)state;
    assert_int_equal(progress_mode_of("auto"), PROGRESS_AUTO);
    assert_int_equal(progress_mode_of("always"), PROGRESS_ALWAYS);
    assert_int_equal(progress_mode_of("never"), PROGRESS_NEVER);
    progress_update(NULL, 1);
    progress_end(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_on_a_terminal),      cmocka_unit_test(shown_under_a_launcher),
        cmocka_unit_test(quiet_when_nobody_looks),  cmocka_unit_test(always_is_at_once),
        cmocka_unit_test(quiet_without_a_terminal), cmocka_unit_test(modes),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
