/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_COMMAND_H
#define BT_COMMAND_H
/* Layer 3. Command lines that a user can paste: this job's launcher, ranks, threads and program with
 * other options. Local. */
#include <jansson.h>

#include "bt/job.h"

/* The command line that starts the ranks of this job with these options, followed by the words of
 * settings, an array of texts or NULL. Malloc'ed; NULL without memory. */
char *bt_command(const struct bt_job *job, const struct bt_options *options,
                 const json_t *settings);

/* The command line that continues the file of path, which this job is about to write by writer, after
 * an interruption: with --restart, and of the job's options those that the file's manifest does not
 * hold; for files of single ranks two, the first of which merges them. Malloc'ed; NULL when nothing can be continued (no file, the trials of a search), and
 * without memory. */
char *bt_command_restart(const struct bt_job *job, const char *writer, const char *path);

#endif
