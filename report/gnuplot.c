/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/watch.h"

enum { LIMIT_S = 60, SAID_MAX = 400 };

static const char *program(void)
{
    const char *named = getenv("NHT1_GNUPLOT");
    return named && named[0] ? named : "gnuplot";
}

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Whether one of the directories of a PATH holds the program. */
static bool on_path(const char *path, const char *name)
{
    char file[4096];
    while (path && *path) {
        const size_t len = strcspn(path, ":");
        const int n = snprintf(file, sizeof file, "%.*s/%s", (int)len, path, name);
        if (n > 0 && (size_t)n < sizeof file && is_program(file)) return true;
        path += len + (path[len] == ':');
    }
    return false;
}

bool gnuplot_found(void)
{
    const char *name = program();
    return strchr(name, '/') ? is_program(name) : on_path(getenv("PATH"), name);
}

/* In the child: never returns. Nothing of the user's settings or screen has a part in it. */
static _Noreturn void become(const char *directory, const char *script, int said)
{
    const int null = open("/dev/null", O_RDWR);
    if (null >= 0 && dup2(null, 0) >= 0 && dup2(said, 1) >= 0 && dup2(said, 2) >= 0 &&
        chdir(directory) == 0) {
        unsetenv("DISPLAY");
        unsetenv("GNUTERM");
        setenv("LC_ALL", "C.UTF-8", 1);
        execlp(program(), "gnuplot", "-d", script, (char *)NULL);
    }
    _exit(127);
}

/* Reads what the child says until it closes the pipe. Returns 0, or ERR_TIMEOUT. */
static int listen_to(int from, char *said, size_t room)
{
    const double end_s = watch_now() + LIMIT_S;
    char chunk[512];
    for (;;) {
        struct pollfd p = {.fd = from, .events = POLLIN};
        const double left_s = end_s - watch_now();
        if (left_s <= 0) return ERR_TIMEOUT;
        const int ready = poll(&p, 1, (int)(1000 * left_s) + 1);
        if (ready < 0 && errno != EINTR) return 0;
        if (ready <= 0) continue;
        const ssize_t n = read(from, chunk, sizeof chunk);
        if (n <= 0) return 0;
        for (ssize_t i = 0; i < n && room > 1; i++, room--)
            *said++ = chunk[i];
        *said = '\0';
    }
}

/* gnuplot points at the place with lines of spaces and '^'; the words come after them. */
static const char *words(char *said)
{
    char *last = said;
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
        if (strspn(line, " ^") != strlen(line)) last = line;
    return last;
}

static int judge(int status, char *said, const char *script)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(ERR_INVALID, "%s: %s could not be started", script, program());
    return err_set(ERR_INVALID, "%s: gnuplot failed: %s", script, words(said));
}

int gnuplot_run(const char *directory, const char *script)
{
    int ends[2], status = 0;
    char said[SAID_MAX] = "no reason given";
    if (pipe2(ends, O_CLOEXEC) < 0) return err_set_errno(ERR_IO, errno, "%s: no pipe", script);
    const pid_t child = fork();
    if (child == 0) become(directory, script, ends[1]);
    close(ends[1]);
    int rc = child < 0 ? err_set_errno(ERR_IO, errno, "%s: no process for gnuplot", script) : 0;
    if (rc == 0) rc = listen_to(ends[0], said, sizeof said);
    close(ends[0]);
    if (rc == ERR_TIMEOUT) {
        kill(child, SIGKILL);
        err_set(rc, "%s: gnuplot did not finish within %d s", script, LIMIT_S);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return rc < 0 ? rc : judge(status, said, script);
}
