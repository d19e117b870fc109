/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_OPTIONS_H
#define WORKLOAD_OPTIONS_H
/* Layer 2, free of MPI. The command line of nht1-workload. */
#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"

struct workload_options {
    const char *make;
    bool reference, patterns;
    struct conf_list set;
    int64_t seed; /* -1: the file's */
    const char *out;
    bool keep, force;
    struct conf_list hint;
    const char *sync, *check;
    int64_t depth, buffer;
    bool think, dry_run;
    const char *json, *progress;
    bool quiet;
};

/* Words after the options: KEY=VALUE of --make. */
#define WORKLOAD_WORDS_MAX 32

extern const struct conf_program workload_program;

/* Reads the command line. Local. [out] opt and words (what follows the options), to be freed by
 * conf_free. Returns CONF_RUN, CONF_HELP, CONF_VERSION, or ERR_USAGE. */
int workload_options_parse(struct workload_options *opt, struct conf_list *words, int argc,
                           char **argv);

/* Takes a word "KEY=VALUE" apart. option: for the message. key: [out], to be compared. value: [out]
 * points into the word. Returns 0 or ERR_USAGE. Local. */
int workload_options_pair(const char *option, const char *word, char key[64], const char **value);

#endif
