/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/suggestion.h"
#include "companions/beff/pattern.h"
#include "companions/beff/rmax.h"
#include "companions/beff/traffic.h"

#define AT(member)         CONF_AT(struct beff_options, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct beff_options, member, of)

static const struct conf_option table[] = {
    {.name = "definition",
     .arg = "WHICH",
     .def = "paper",
     CHOICE(definition, "paper|3.6"),
     .group = "What is measured",
     .help =
         "Which definition of b_eff: the paper's, or that of release 3.6 of the authors' "
         "program. They differ in rings of two processes (two messages per process, or one), in "
         "mixed rings, for seven processes, in the lengths of the loops, and in what the clock "
         "contains: with 3.6 the first and last byte of each message are set and compared."},
    {.name = "memory-per-process",
     .arg = "BYTES",
     AT(memory),
     CONF_RANGE((double)BEFF_MEMORY_MIN, 1e18),
     .help = "Memory of a process; the largest message L_max is 1/128 of it (at most 128 MiB). "
             "Default: memory of the node, or the limit of the job's control group, "
             "divided by the processes on it."},
    {.name = "lmax",
     .arg = "BYTES",
     AT(lmax),
     CONF_RANGE((double)BEFF_LMAX_MIN, (double)BEFF_LMAX_CAP),
     .help = "Largest message, regardless of memory. Not valid as b_eff."},
    {.name = "random",
     .arg = "N",
     .def = "30",
     AT(random),
     CONF_RANGE(1, BEFF_RANDOM_MAX),
     .help = "Number of random patterns. Only 30 is valid as b_eff."},
    {.name = "seed",
     .arg = "S",
     .def = "1",
     AT(seed),
     CONF_RANGE(0, 4294967295.0),
     .help = "Seed of the random patterns. The same seed and number of processes give the same "
             "patterns, so results with the default are comparable."},
    {.name = "methods",
     .arg = "NAMES",
     .def = "sendrecv,alltoallv,nonblocking",
     AT(methods),
     .words = "sendrecv|alltoallv|nonblocking",
     .help = "Communication methods. Without one of them the result is not valid as b_eff."},
    {.name = "no-analysis",
     AT(no_analysis),
     .help = "Only the patterns that enter b_eff: no worst cycle, bisections, Cartesian grids or "
             "ping-pong."},

    {.name = "buffers",
     .arg = "N",
     .def = "6",
     AT(buffers),
     CONF_RANGE(2, 64),
     .help = "Size of the buffers in multiples of L_max: messages rotate through them so that they "
             "do not come out of the cache. Only 6 is valid as b_eff; fewer need --no-analysis. 2 "
             "reuses the same memory for every message, as HPCC does."},

    {.name = "buffer-offset",
     .arg = "BYTES",
     .def = "definition",
     AT(buffer_offset),
     .help =
         "Where buffers begin: so many bytes off a page, a multiple of 8 from 0 to 4088, or "
         "'malloc': where malloc puts them, 16 bytes off with glibc. By default malloc with 3.6, "
         "as released, else 0. It is printed with the result."},

    {.name = "repetitions",
     .arg = "R",
     .def = "3",
     AT(repetitions),
     CONF_RANGE(1, BEFF_REPS_MAX),
     .group = "How it is measured",
     .help = "Repetitions, of which the best counts. Fewer than 3 are not valid as b_eff."},
    {.name = "time-limit",
     .arg = "S",
     .def = "240",
     AT(time_limit),
     CONF_RANGE(1, 1e6),
     .help =
         "Approximate limit on the measurement, in seconds. On slow networks the longest messages "
         "are then sent less often; what was left out is reported. Not valid as b_eff where less "
         "than 240 leaves something out."},
    {.name = "quick",
     AT(quick),
     .help = "A first impression in less than 20 s: one repetition, shorter loops, messages up to "
             "1 MiB. Not valid as b_eff."},

    {.name = "rmax",
     .arg = "RATE",
     AT(rmax),
     .group = "Balance",
     .help = "Linpack rate R_max of the same processors, in flop/s: 45.3G, 1.2Tflop/s, 4.5e10. The "
             "balance factor is b_eff / R_max, in bytes per flop."},
    {.name = "hpl", .arg = "FILE", AT(hpl), .help = "Take R_max from an output of HPL or HPCC."},
    {.name = "bt-result",
     .arg = "FILE",
     AT(bt_result),
     .help = "Without R_max: use the rate in a result of nht1-bt (--json), labelled as such."},

    {.name = "json",
     .arg = "FILE",
     AT(json),
     .output = true,
     .group = "What is reported",
     .help = "Write the complete result to this file (docs/schema/nht1-beff-1.json)."},
    {.name = "sum",
     .arg = "FILE",
     AT(sum),
     .output = true,
     .help = "Write the summary as text to this file."},
    {.name = "protocol",
     .arg = "FILE",
     AT(protocol),
     .output = true,
     .help =
         "Write every measurement to this file (.prot), in the sections of release 3.6: per size, "
         "method and pattern the least, mean and most that a process sends."},
    {.name = "details",
     AT(details),
     .help = "Print tables by size, repetition and pattern as well."},
    CONF_PROGRESS(struct beff_options),
    CONF_QUIET(struct beff_options),
    {.name = NULL},
};

const struct conf_program beff_program = {
    .name = "nht1-beff",
    .version = nht1_build,
    .summary = "Effective communication bandwidth b_eff: all processes send at the same time, in "
               "rings and in random order, 21 message sizes, three methods. One number in bytes "
               "per second for the whole system, and what it is made of.",
    .examples = "  mpirun -np 16 nht1-beff\n"
                "      the whole measurement, half a minute to five minutes\n"
                "  mpirun -np 16 nht1-beff --quick\n      a first impression\n"
                "  mpirun -np 16 nht1-beff --hpl HPL.out --json beff.json\n"
                "      with the balance factor, everything kept\n"
                "  mpirun -np 16 nht1-beff --definition 3.6 --details\n"
                "      as the authors' last release counts, with all tables\n"
                "Run it on the whole system, a process per core. Exit status: 0 success, 1 wrong\n"
                "usage, 2 a message arrived wrong, 3 memory or MPI error, or interrupted,\n"
                "4 finished but not valid as b_eff.\n",
    .options = table,
};

static int methods_setup(struct beff_setup *s)
{
    char name[64], meant[SUGGESTION_TEXT_MAX];
    for (const char *list = s->opt.methods; conf_next_word(&list, name, sizeof name);) {
        int m = 0;
        while (m < BEFF_METHODS_N && strcmp(name, beff_method_name(m)) != 0)
            m++;
        if (m == BEFF_METHODS_N)
            return err_set(ERR_USAGE,
                           "--methods '%s': no such method; there are sendrecv, alltoallv, "
                           "nonblocking, separated by ','%s",
                           name, suggestion_of(name, "sendrecv|alltoallv|nonblocking", meant));
        s->method[m] = true;
    }
    return 0;
}

int beff_setup_parse(void *setup, int argc, char **argv)
{
    struct beff_setup *s = setup;
    const struct beff_options *o = &s->opt;
    memset(s, 0, sizeof *s);
    const int rc = conf_parse(&beff_program, argc, argv, &s->opt, NULL, NULL);
    if (rc != CONF_RUN) return rc;
    s->definition = (enum beff_definition)conf_chosen(&beff_program, o, "definition");
    s->rule = beff_loop_standard(s->definition);
    s->reps_n = o->quick ? 1 : (int)o->repetitions;
    s->random_n = (int)o->random;
    s->limit_s = o->quick && o->time_limit > 12 ? 12 : o->time_limit;
    if (o->quick) { /* loops of a tenth of the length */
        s->rule.most = 30;
        s->rule.window_s /= 10;
        s->rule.target_s /= 10;
    }
    if (o->buffers < BEFF_SLOTS_MAX && !o->no_analysis)
        return err_set(ERR_USAGE,
                       "--buffers %lld: the Cartesian patterns need room for %d messages; "
                       "leave them out with --no-analysis",
                       (long long)o->buffers, BEFF_SLOTS_MAX);
    TRY(methods_setup(s));
    TRY(buffer_offset_parse(o->buffer_offset, s->definition == BEFF_36 ? BUFFER_MALLOC : 0,
                            &s->buffer_offset));
    if (!!o->rmax + !!o->hpl + !!o->bt_result > 1)
        return err_set(ERR_USAGE, "--rmax, --hpl and --bt-result exclude each other: give one");
    return o->rmax ? beff_rmax_parse("--rmax", o->rmax, &s->rmax_flop_per_s) : 0;
}
