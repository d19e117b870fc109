/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children: what they get, what is kept of what they say, and that they end. The shell is the child. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/stop.h"

#define LIMIT_S 300.0 /* of what ends by itself */

static int open_n(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Runs a line of shell with all that it says kept. */
static int shell(struct child *c, const char *line)
{
    const char *const argv[] = {"sh", "-c", line, NULL};
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT, .err = CHILD_KEPT};
    return child_run(c, &how, LIMIT_S);
}

static void assert_ending(const char *line, int status, const char *words)
{
    struct child c;
    char text[512];
    assert_int_equal(shell(&c, line), 0);
    assert_int_equal(child_status(&c), status);
    child_ending(&c, text, sizeof text);
    assert_string_equal(text, words);
    child_free(&c);
}

static void an_end_is_told_in_words(void **state)
{
    (void)state;
    assert_ending("exit 0", 0, "ended with status 0");
    assert_ending("echo ---- >&2; echo no room >&2; echo more >&2; exit 3", 3,
                  "ended with status 3: no room");
    assert_ending("printf 'a\\033[2Jb' >&2; exit 1", 1, "ended with status 1: a?[2Jb");
    assert_ending("kill -KILL $$", 137, "ended by signal 9 (Killed)");
    assert_ending("exit 139", 139, "ended by signal 11 (Segmentation fault)");
}

static void what_it_says_is_kept_apart(void **state)
{
    (void)state;
    struct child c;
    char text[64];
    assert_int_equal(shell(&c, "echo out; echo err >&2; read x; echo \"$x.\""), 0);
    child_text(&c, text, sizeof text);
    assert_string_equal(text, "out\n.\n"); /* there is nothing to read */
    child_text(&c, text, 3);
    assert_string_equal(text, "ou");
    child_first_error(&c, text, sizeof text);
    assert_string_equal(text, "err");
    child_free(&c);
    const char *const argv[] = {"sh", "-c", "echo one; echo two >&2", NULL};
    const struct child_start both = {.argv = argv, .out = CHILD_KEPT, .err = CHILD_JOINED};
    assert_int_equal(child_run(&c, &both, LIMIT_S), 0);
    child_text(&c, text, sizeof text);
    assert_string_equal(text, "one\ntwo\n");
    child_free(&c);
}

/* Short lines as they are, of long ones the length. */
static void append(void *arg, const char *line)
{
    char length[24];
    snprintf(length, sizeof length, "%zu", strlen(line));
    strcat(strcat(arg, strlen(line) < 9 ? line : length), "|");
}

static void lines_that_are_whole(void **state)
{
    (void)state;
    struct child c;
    char all[256] = "";
    /* A zero, and 65536 bytes: these lines are passed over. 65535 are not too many. */
    const char *const argv[] = {"sh", "-c",
                                "printf 'a\\nb\\000c\\n'; head -c 65536 /dev/zero | tr '\\0' x; "
                                "printf '\\nd\\n\\n'; head -c 65535 /dev/zero | tr '\\0' x; "
                                "printf '\\ne'; kill -STOP $$; printf 'f\\ng'",
                                NULL};
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT};
    assert_int_equal(child_start(&c, &how), 0);
    int status;
    assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
    assert_true(WIFSTOPPED(status));
    child_lines(&c, append, all);
    assert_string_equal(all, "a|d||65535|");
    child_lines(&c, append, all);
    assert_string_equal(all, "a|d||65535|");
    kill(c.pid, SIGCONT);
    assert_true(child_wait(&c, INFINITY));
    child_lines(&c, append, all);
    assert_string_equal(all, "a|d||65535|ef|"); /* nor has the last one an end */
    child_free(&c);
}

static bool no_home(const char *variable)
{
    return strncmp(variable, "HOME=", 5) != 0;
}

static void an_environment_of_its_own(void **state)
{
    (void)state;
    struct child c;
    char text[64], one[] = "NHT1_ONE=new", two[] = "NHT1_ONES=two";
    char *const set[] = {one, two, NULL};
    setenv("NHT1_ONE", "old", 1);
    setenv("HOME", "/somewhere", 1);
    char **env = child_environment(no_home, set);
    const char *const argv[] = {
        "sh", "-c", "echo $NHT1_ONE $NHT1_ONES ${HOME-none}; env | grep -c ^NHT1_ONE=", NULL};
    const struct child_start how = {.argv = argv, .env = env, .out = CHILD_KEPT};
    assert_int_equal(child_run(&c, &how, LIMIT_S), 0);
    child_text(&c, text, sizeof text);
    assert_string_equal(text, "new two none\n1\n");
    child_free(&c);
    free(env);
}

static void descriptors_are_not_passed_on(void **state)
{
    (void)state;
    struct child c;
    char text[256] = "";
    const int before = open_n(), leaks = memfd_create("leaks", 0), given = memfd_create("given", 0);
    const char *const argv[] = {"sh", "-c",
                                "echo given >&3; for f in 4 5 6 7 8 9; do "
                                "[ ! -e /proc/self/fd/$f ] || echo $f; done",
                                NULL};
    const struct child_start how = {
        .argv = argv, .out = CHILD_KEPT, .err = CHILD_JOINED, .pass_fd = given};
    assert_true(leaks >= 0 && given >= 0);
    assert_int_equal(child_run(&c, &how, LIMIT_S), 0);
    child_text(&c, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(pread(given, text, sizeof text, 0), 6);
    child_free(&c);
    close(leaks);
    close(given);
    assert_int_equal(open_n(), before);
}

static void in_place_it_has_what_a_shell_would_give(void **state)
{
    (void)state;
    struct child c;
    char text[64];
    int ends[2];
    const int kept = memfd_create("kept", 0);
    const struct child_signal ignored[] = {{SIGUSR1, {.sa_handler = SIG_IGN}}};
    const char *const argv[] = {"sh", "-c", "echo kept >&9; kill -USR1 $$; read x; echo $x", NULL};
    const struct child_start how = {
        .argv = argv, .out = CHILD_KEPT, .in_place = true, .signal = ignored, .signals_n = 1};
    assert_int_equal(dup2(kept, 9), 9);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "input\n", 6), 6);
    const int in = dup(STDIN_FILENO);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(child_run(&c, &how, LIMIT_S), 0);
    dup2(in, STDIN_FILENO);
    assert_int_equal(child_status(&c), 0);
    child_text(&c, text, sizeof text);
    assert_string_equal(text, "input\n");
    assert_int_equal(pread(kept, text, sizeof text, 0), 5);
    struct sigaction now;
    assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
    child_free(&c);
    close(in), close(ends[0]), close(ends[1]), close(kept), close(9);
}

static void what_cannot_be_started(void **state)
{
    (void)state;
    struct child c;
    const char *const argv[] = {"/nowhere/program", NULL};
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT, .err = CHILD_KEPT};
    const int before = open_n();
    assert_int_equal(child_run(&c, &how, LIMIT_S), ERR_IO);
    assert_int_equal(c.errnum, ENOENT);
    assert_non_null(strstr(err_message(), "/nowhere/program: No such file"));
    err_clear();
    child_free(&c);
    assert_int_equal(open_n(), before);
}

static void a_script_that_names_no_shell(void **state)
{
    (void)state;
    struct child c;
    char path[] = "/tmp/test_child_XXXXXX", text[16];
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, "echo $1\n", 8), 8);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    const char *const argv[] = {path, "word", NULL};
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT};
    assert_int_equal(child_run(&c, &how, LIMIT_S), 0);
    child_text(&c, text, sizeof text);
    assert_string_equal(text, "word\n");
    child_free(&c);
    unlink(path);
}

/* Waits until a process of another parent is gone, or a zombie of its new one. */
static bool goes(pid_t pid)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    for (int i = 0; i < 60000; i++) {
        FILE *f = fopen(path, "re");
        const char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        const bool gone = !end || end[2] == 'Z' || end[2] == 'X';
        if (f) fclose(f);
        if (gone) return true;
        usleep(5000);
    }
    return false;
}

static void take_pid(void *arg, const char *line)
{
    *(pid_t *)arg = (pid_t)strtol(line, NULL, 10);
}

/* The child and what it has started, which does not heed SIGTERM either. */
static void a_group_ends_as_a_whole(void **state)
{
    (void)state;
    struct child c;
    pid_t inner = 0;
    const char *const argv[] = {"sh", "-c", "trap '' TERM; sleep 1000 & echo $!; wait", NULL};
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT, .group = true};
    assert_int_equal(child_start(&c, &how), 0);
    while (inner == 0) {
        assert_false(child_wait(&c, 0));
        child_lines(&c, take_pid, &inner);
    }
    child_stop(&c, 0.05, LIMIT_S);
    assert_true(c.ended);
    assert_int_equal(child_status(&c), 128 + SIGKILL);
    assert_true(goes(inner));
    child_free(&c);
}

static void what_takes_too_long_or_says_too_much_is_ended(void **state)
{
    (void)state;
    struct child c;
    const char *const sleeps[] = {"sleep", "1000", NULL}, *const yes[] = {"yes", NULL};
    const struct child_start slow = {.argv = sleeps}, loud = {.argv = yes, .out = CHILD_KEPT};
    assert_int_equal(child_run(&c, &slow, 0.05), ERR_IO);
    assert_string_equal(err_message(), "sleep: no end after 0.05 s");
    assert_true(c.ended);
    err_clear();
    child_free(&c);
    assert_int_equal(child_run(&c, &loud, INFINITY), ERR_IO);
    assert_string_equal(err_message(), "yes wrote more than 64 MiB to its output");
    assert_true(c.ended);
    err_clear();
    child_free(&c);
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* In a process of its own: a signal that asks this program to stop ends its child. */
static void asked_to_stop(void **state)
{
    (void)state;
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
        struct child c;
        if (stop_install() < 0) _exit(1);
        const int rc = shell(&c, "kill -INT $PPID; exec sleep 1000");
        _exit(rc == ERR_INTERRUPT && c.ended && child_status(&c) == 128 + SIGTERM ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_told_in_words),
        cmocka_unit_test(what_it_says_is_kept_apart),
        cmocka_unit_test(lines_that_are_whole),
        cmocka_unit_test(an_environment_of_its_own),
        cmocka_unit_test(descriptors_are_not_passed_on),
        cmocka_unit_test(in_place_it_has_what_a_shell_would_give),
        cmocka_unit_test(what_cannot_be_started),
        cmocka_unit_test(a_script_that_names_no_shell),
        cmocka_unit_test(a_group_ends_as_a_whole),
        cmocka_unit_test(what_takes_too_long_or_says_too_much_is_ended),
        cmocka_unit_test(asked_to_stop),
        cmocka_unit_test(nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
