/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-report: reports, comparisons and statistics of results. Serial; reads result files only. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "report/commands.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {{"stats", stats_main}, {"compare", compare_main}};

static int dispatch(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    return report_main(argc, argv);
}

static int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return err_set_errno(ERR_IO, errno, "writing to standard output");
}

int main(int argc, char **argv)
{
    int rc = dispatch(argc, argv);
    const int printed = finish_output();
    if (rc == 0) rc = printed;
    if (rc < 0 && err_message()[0]) fprintf(stderr, "nht1-report: %s\n", err_message());
    return err_exit_status(rc);
}
