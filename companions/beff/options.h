/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_OPTIONS_H
#define BEFF_OPTIONS_H
/* Layer 2, free of MPI. The command line of nht1-beff, and what the options together mean. Every
 * rank reads the same command line to the same result. */
#include "base/conf.h"
#include "base/version.h"
#include "companions/beff/cube.h"
#include "companions/beff/loop.h"

#define BEFF_RANDOM_STANDARD  30
#define BEFF_REPS_STANDARD    3
#define BEFF_LIMIT_STANDARD_S 240.0
#define BEFF_QUICK_LMAX       ((int64_t)1 << 20)

/* What stands on the command line, as read. */
struct beff_options {
    const char *definition;
    int64_t memory, lmax; /* bytes, 0: to be found out */
    int64_t random, repetitions, seed;
    const char *methods; /* names, separated by ',' */
    int64_t buffers;     /* room in the longest messages */
    const char *buffer_offset;
    bool no_analysis, quick;
    double time_limit; /* seconds */
    const char *rmax, *hpl, *bt_result;
    const char *json, *sum, *protocol, *progress;
    bool details, quiet;
};

/* What follows from it. */
struct beff_setup {
    struct beff_options opt;
    enum beff_definition definition;
    struct beff_loop_rule rule;
    int reps_n, random_n;
    int buffer_offset; /* bytes from a page, or BUFFER_MALLOC */
    bool method[BEFF_METHODS_N];
    double limit_s;
    double rmax_flop_per_s; /* of --rmax, 0: not given */
};

extern const struct conf_program beff_program;

/* Reads the command line. Local, the same on every rank. [out] s: a struct beff_setup. Returns
 * CONF_RUN, CONF_HELP, CONF_VERSION or ERR_USAGE. */
int beff_setup_parse(void *s, int argc, char **argv);

#endif
