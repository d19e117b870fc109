/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replacing a file as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/temp.h"

static int write_all(int fd, const char *text, const char *path)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t put = write(fd, text, left);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return err_set_errno(ERR_IO, errno, "%s: write failed", path);
        text += put;
        left -= (size_t)put;
    }
    return 0;
}

static int close_checked(int fd, const char *path, int rc)
{
    if (close(fd) < 0 && rc == 0) rc = err_set_errno(ERR_IO, errno, "%s: close failed", path);
    return rc;
}

int js_sync_directory(const char *path)
{
    char *dir = strdup(path);
    if (!dir) return mem_error("the name of %s", path);
    char *slash = strrchr(dir, '/');
    if (slash) slash[slash == dir] = '\0';
    int rc = 0, fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* EINVAL: a file system that has no fsync for directories. */
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL)) {
        rc = err_set_errno(ERR_IO, errno, "%s: fsync of its directory failed", path);
    }
    if (fd >= 0) close(fd);
    free(dir);
    return rc;
}

/* held: so that temp_sweep tells the temporary file from one that a killed program has left. */
static int replace(const char *path, const char *text, enum js_sync sync, bool held)
{
    char *temp;
    int hold = -1;
    const int fd = held ? temp_open_held(path, &temp, &hold) : temp_open(path, &temp);
    if (fd < 0) return fd;
    int rc = write_all(fd, text, temp);
    if (rc == 0 && sync >= JS_SYNC_FILE && fsync(fd) < 0)
        rc = err_set_errno(ERR_IO, errno, "%s: fsync failed", temp);
    rc = close_checked(fd, temp, rc);
    if (rc == 0 && rename(temp, path) < 0)
        rc = err_set_errno(ERR_IO, errno, "%s: cannot be replaced", path);
    if (rc < 0) unlink(temp);
    if (hold >= 0) close(hold);
    free(temp);
    return rc == 0 && sync == JS_SYNC_ALL ? js_sync_directory(path) : rc;
}

static int not_read(const char *path)
{
    return err_set(ERR_IO, "%s: no process reads from this pipe: start its reader first", path);
}

/* A pipe or device: what it has got already is not to be lost, hence appending. A pipe that nobody
 * reads is an error at once rather than a wait for ever. */
static int write_direct(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENXIO) return not_read(path);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "%s: cannot open for writing", path);
    int flags = fcntl(fd, F_GETFL);
    int rc = 0;
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
        rc = err_set_errno(ERR_IO, errno, "%s: cannot wait for its reader", path);
    }
    return close_checked(fd, path, rc < 0 ? rc : write_all(fd, text, path));
}

/* Where standard output leads, by js_take_stdout. */
static int stdout_fd = STDOUT_FILENO;

bool js_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool js_stdout_taken(void)
{
    return stdout_fd != STDOUT_FILENO;
}

int js_take_stdout(void)
{
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_set_errno(ERR_IO, errno, "standard output cannot be kept for the result");
    stdout_fd = fd;
    return 0;
}

/* /dev/stdout leads to a regular file when it is redirected: not to be replaced either. */
static bool is_stream(const char *path, const struct stat *s)
{
    static const char *const name[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (strncmp(path, name[i], strlen(name[i])) == 0) return true;
    return !S_ISREG(s->st_mode);
}

bool js_is_stream(const char *path)
{
    struct stat s;
    return js_is_stdout(path) || (stat(path, &s) == 0 && is_stream(path, &s));
}

/* Makes and removes the file that js_write would begin with, after what a killed program has left of it. */
static int try_temp(const char *path)
{
    char *temp;
    int hold;
    temp_sweep(path);
    int fd = temp_open_held(path, &temp, &hold);
    if (fd >= 0) {
        close(fd);
        unlink(temp);
        if (hold >= 0) close(hold);
    }
    free(temp);
    return fd < 0 ? fd : 0;
}

/* What the beginning of a JSON text has as the value of "schema" when that is its first member, as in
 * all of ours; "" else. */
static const char *schema_of(const char *text)
{
    static const char *const before[] = {"{", "\"schema\"", ":", "\""};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        text += strspn(text, " \t\r\n");
        if (strncmp(text, before[i], strlen(before[i])) != 0) return "";
        text += strlen(before[i]);
    }
    return text;
}

/* A pipe that nobody reads would cost the result of all the work. What is opened here stays open, or its
 * reader would take this for the end. */
static int check_pipe(const char *path, const struct stat *s)
{
    if (!S_ISFIFO(s->st_mode) || open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK) >= 0) return 0;
    return errno == ENXIO ? not_read(path) : 0;
}

/* Whether a file is an earlier result: JSON whose "schema" begins with the mark, or a text that does.
 * Its beginning tells, however long it is. */
static bool is_ours(const char *path, bool json, const char *mark)
{
    char line[256] = "";
    FILE *from = fopen(path, "re");
    if (from) line[fread(line, 1, sizeof line - 1, from)] = '\0';
    if (from) fclose(from);
    return strncmp(json ? schema_of(line) : line, mark, strlen(mark)) == 0;
}

/* A link to nothing is neither replaced nor followed: what it is meant for is not there. */
static bool leads_nowhere(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

/* Standard output that was closed is /dev/null, to be read alone (base/start.h). */
static int check_stdout(void)
{
    const int flags = fcntl(stdout_fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return 0;
    return err_set_errno(ERR_IO, EBADF, "standard output");
}

static int check_target(const char *path, bool json, const char *mark)
{
    struct stat s;
    const size_t len = strlen(path);
    if (js_is_stdout(path)) return check_stdout();
    if (len == 0) return err_set(ERR_USAGE, "the name of the result file is empty");
    if (stat(path, &s) == 0) {
        if (S_ISDIR(s.st_mode))
            return err_set(ERR_USAGE, "%s: this is a directory; name a file", path);
        if (is_stream(path, &s)) return check_pipe(path, &s);
        if (s.st_size > 0 && !is_ours(path, json, mark))
            return err_set(
                ERR_USAGE,
                "%s: this file exists and is not an earlier result, so it is not replaced; "
                "choose another name, or remove it",
                path);
        if (access(path, W_OK) < 0)
            return err_set_errno(ERR_IO, errno, "%s: this file exists and cannot be written to",
                                 path);
        char *target = realpath(path, NULL);
        if (!target) return err_set_errno(ERR_IO, errno, "%s: cannot be resolved", path);
        const int rc = try_temp(target);
        free(target);
        return rc;
    }
    if (errno == ENAMETOOLONG)
        return err_set(ERR_USAGE, "%.40s...: a name of %zu bytes is too long", path, len);
    if (leads_nowhere(path))
        return err_set(ERR_USAGE, "%s: this symbolic link leads to nothing; choose another name",
                       path);
    if (path[len - 1] == '/') return err_set(ERR_USAGE, "%s: this names no file", path);
    return try_temp(path);
}

int js_check_target(const char *path, const char *schema)
{
    return check_target(path, true, schema);
}

int js_check_text(const char *path, const char *mark)
{
    return check_target(path, false, mark);
}

static int write_text(const char *path, const char *text, enum js_sync sync, bool held)
{
    struct stat s;
    if (stat(path, &s) < 0) {
        if (!leads_nowhere(path)) return replace(path, text, sync, held);
        return err_set(ERR_IO, "%s: this symbolic link leads to nothing", path);
    }
    if (is_stream(path, &s)) return write_direct(path, text);
    char *target = realpath(path, NULL);
    if (!target) return err_set_errno(ERR_IO, errno, "%s: cannot be resolved", path);
    int rc = replace(target, text, sync, held);
    free(target);
    return rc;
}

int js_write_text(const char *path, const char *text, enum js_sync sync)
{
    return write_text(path, text, sync, false);
}

/* text: [out] malloc'ed. */
static int dump_text(const char *path, const json_t *value, char **text)
{
    char *body = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    const int length = body ? asprintf(text, "%s\n", body) : -1;
    free(body);
    return length < 0 ? mem_error("the text of %s", path) : 0;
}

int js_write(const char *path, const json_t *value, enum js_sync sync)
{
    char *text;
    TRY(dump_text(path, value, &text));
    const int rc = write_text(path, text, sync, true);
    free(text);
    return rc;
}

int js_result_text(const char *path, const char *text)
{
    if (!js_is_stdout(path)) return write_text(path, text, JS_SYNC_NONE, true);
    return write_all(stdout_fd, text, "standard output");
}

int js_result(const char *path, const json_t *value)
{
    char *text;
    TRY(dump_text(path, value, &text));
    const int rc = js_result_text(path, text);
    free(text);
    return rc;
}
