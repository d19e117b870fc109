/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"

void start_clean(void)
{
    /* The lowest free number is given out first: each open fills the gap that was found. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

int start_printed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return err_set_errno(ERR_IO, errno, "writing to standard %s",
                         js_stdout_taken() ? "error" : "output");
}

bool start_table(const struct conf_program *p, int argc, char **argv, int *status)
{
    if (argc != 2 || strcmp(argv[1], "--help-json") != 0) return false;
    json_t *table = conf_table_json(p);
    json_dumpf(table, stdout, JSON_INDENT(1));
    json_decref(table);
    *status = err_exit_status(start_printed());
    return true;
}

int start_program(const struct conf_program *p, int argc, char **argv, void *opts,
                  int (*run)(const void *opts, const struct conf_list *args))
{
    struct conf_list args;
    int status;
    start_clean();
    if (start_table(p, argc, argv, &status)) return status;
    const int what = conf_parse(p, argc, argv, opts, &args, NULL);
    int rc = what < 0 ? what : 0;
    if (what == CONF_HELP) conf_help(p, stdout);
    if (what == CONF_VERSION) printf("%s %s\n", p->name, p->version);
    if (what == CONF_RUN && conf_takes_stdout(p, opts)) rc = js_take_stdout();
    if (what == CONF_RUN && rc == 0) rc = run(opts, &args);
    if (what >= 0) conf_free(p, opts, &args);
    if (rc == 0) rc = start_printed();
    if (rc < 0 && err_message()[0]) fprintf(stderr, "%s: %s\n", p->name, err_message());
    return rc < 0 ? err_exit_status(rc) : rc;
}
