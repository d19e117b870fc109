/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"

#define STACK_BYTES (1 << 20)

/* Of the first write to standard output that failed, 0 while none has: stdio tells only that one did,
 * and the errno of one that was made when the buffer was full has long been another's by the end. */
static int lost_errnum;

static ssize_t write_stdout(void *none, const char *text, size_t size)
{
    size_t done = 0;
    (void)none;
    while (done < size) {
        const ssize_t n = write(STDOUT_FILENO, text + done, size - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno != EINTR) {
            if (!lost_errnum) lost_errnum = errno;
            break;
        }
    }
    return (ssize_t)done;
}

/* Gives way to the C library's own stream where there is no memory for another. */
static void watch_output(void)
{
    static bool watched;
    FILE *f =
        watched ? NULL : fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_stdout});
    if (!f) return;
    watched = true;
    (void)setvbuf(f, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = f;
}

void start_clean(void)
{
    /* The lowest free number is given out first: each open fills the gap that was found. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    watch_output();
}

int start_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= STACK_BYTES)
        return 0;
    return err_set(ERR_USAGE, "the stack is limited to %lld KiB, and it takes %d: ulimit -s 8192",
                   (long long)limit.rlim_cur / 1024, STACK_BYTES / 1024);
}

int start_printed(void)
{
    /* Closing is what asks file systems of a network whether all has arrived: closing a copy does. */
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        const int copy = dup(STDOUT_FILENO);
        if (copy < 0 || close(copy) == 0) return 0;
    }
    return err_set_errno(ERR_IO, lost_errnum ? lost_errnum : errno, "writing to standard %s",
                         js_stdout_taken() ? "error" : "output");
}

/* Whether a launcher of MPI jobs, or a batch system, has numbered this process. */
static bool has_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID", "FLUX_TASK_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i])) return true;
    return false;
}

bool start_answer(const struct conf_program *p, int argc, char **argv, int *status)
{
    if (argc != 2) return false;
    if (strcmp(argv[1], "--help-json") == 0) {
        json_t *table = conf_table_json(p);
        json_dumpf(table, stdout, JSON_INDENT(1));
        json_decref(table);
    } else if (strcmp(argv[1], "--help") == 0 && !has_rank()) {
        conf_help(p, stdout);
    } else if (strcmp(argv[1], "--version") == 0 && !has_rank()) {
        printf("%s %s\n", p->name, p->version);
    } else {
        return false;
    }
    const int rc = start_printed();
    if (rc < 0) fprintf(stderr, "%s: %s\n", p->name, err_message());
    *status = err_exit_status(rc);
    return true;
}

int start_launched(int *rank)
{
    static const char *const told[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                          {"PMI_SIZE", "PMI_RANK"}};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        const char *const started = getenv(told[i][0]), *const as = getenv(told[i][1]);
        if (!started) continue;
        const long n = strtol(started, NULL, 10);
        if (n <= 1 || n > INT_MAX) break;
        if (as) *rank = (int)strtol(as, NULL, 10);
        return (int)n;
    }
    return 1;
}

int start_program(const struct conf_program *p, int argc, char **argv, void *opts,
                  int (*run)(const void *opts, const struct conf_list *args))
{
    struct conf_list args;
    int status;
    start_clean();
    if (start_stack() < 0) {
        fprintf(stderr, "%s: %s\n", p->name, err_message());
        return err_exit_status(ERR_USAGE);
    }
    if (start_answer(p, argc, argv, &status)) return status;
    const int what = conf_parse(p, argc, argv, opts, &args, NULL);
    int rc = what < 0 ? what : 0;
    if (what == CONF_HELP) conf_help(p, stdout);
    if (what == CONF_VERSION) printf("%s %s\n", p->name, p->version);
    if (what == CONF_RUN && conf_takes_stdout(p, opts)) rc = js_take_stdout();
    if (what == CONF_RUN && rc == 0) rc = run(opts, &args);
    if (what >= 0) conf_free(p, opts, &args);
    const int printed = start_printed();
    if (rc == 0) rc = printed;
    if ((rc < 0 || printed < 0) && err_message()[0])
        fprintf(stderr, "%s: %s\n", p->name, err_message());
    return rc < 0 ? err_exit_status(rc) : rc;
}
