/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CONF_IMPL_H
#define BASE_CONF_IMPL_H
/* Floor 0. What the three files of the options table share: conf.c reads command lines,
 * conf_text.c writes help, JSON and the echoed line, conf_explain.c finds out what is wrong. */
#include <argp.h>

#include "base/conf.h"

/* What argp reads and prints help from: the options, --help and --version; to be freed. NULL when
 * there is no memory. */
struct argp_option *conf_argp_table(const struct conf_program *p);

/* Number of options in the table. */
int conf_count(const struct conf_program *p);

/* The member of the options struct that an option sets. */
void *conf_member(const struct conf_option *o, void *opts);

/* Zeroes the member. */
void conf_clear(const struct conf_option *o, void *opts);

/* Sets the member from a text, as if given on the command line. */
int conf_set(const struct conf_option *o, void *opts, const char *text);

/* Sets a cleared member to its default. */
int conf_set_default(const struct conf_option *o, void *opts);

/* " from 1 to 8", ", at least 1", ", at most 8" or "" in buf, to be put behind "a number". */
const char *conf_range(double min, double max, char *buf, size_t size);

/* Records what is wrong with a command line that argp has refused. argv: as argp left it.
 * next: index of the word that would have been read next. Returns ERR_USAGE. */
int conf_explain(const struct conf_program *p, int argc, char **argv, int next);

#endif
