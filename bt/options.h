/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_OPTIONS_H
#define BT_OPTIONS_H
/* Layer 3, free of MPI calls. The command line of nht1-bt: one table of options, and what the
 * options together mean: problem, list of writers, durability policy. Every rank reads the same
 * command line to the same result. */
#include <stdbool.h>
#include <stdint.h>

#include "base/balance.h"
#include "base/conf.h"
#include "base/version.h"
#include "bt/candidate.h"
#include "bt/solver/problem.h"
#include "io/file.h"

#define BT_RUNS_MAX   32 /* writers in one comparison */
#define BT_REPEAT_MAX 1000
/* Of --repeat auto: at most, and of its first look. */
#define BT_AUTO_ROUNDS BALANCE_ROUNDS_MAX
#define BT_AUTO_FIRST  BALANCE_ROUNDS_FIRST
#define BT_COMPUTE     "none" /* the word for a run without writing */

#define BT_SEARCH_NAME "auto" /* --io auto: the file of all candidates is FILE.auto */

/* What stands on the command line, as read. */
struct bt_options {
    const char *cls;  /* NULL: not given */
    int64_t n, steps; /* 0: not given */
    double dt;        /* 0: not given */
    int64_t interval; /* 0: that of the class */
    bool last;
    const char *decomp, *isa, *charge;
    const char *io, *layout, *out;
    struct io_tuning tuning; /* each setting by its own option */
    struct conf_list hints;
    const char *sync;
    bool force, keep, restart;
    const char *read, *read_cache, *read_decomp; /* NULL: not given */
    int64_t read_ranks;                          /* 0: all */
    bool read_drop_system;
    const char *repeat;
    int64_t seed;
    double minutes; /* of --io auto and --repeat auto */
    bool known;
    bool dry_run, probe;
    int64_t probe_limit;  /* seconds */
    int64_t ranks, nodes; /* of --dry-run; 0: those that were started */
    const char *tc, *tc_store;
    const char *verify, *json, *progress;
    bool profile, quiet;
};

enum bt_tc_source { BT_TC_BEST, BT_TC_MEASURE, BT_TC_GIVEN };

/* Dumps that are read back after a run. */
enum bt_read { BT_READ_NOTHING, BT_READ_ONE, BT_READ_LAST, BT_READ_ALL, BT_READ_RANDOM };

/* What it means. */
struct bt_setup {
    struct bt_options opt;
    struct bt_problem problem;
    enum io_layout layout;
    enum io_sync sync;
    enum bt_tc_source tc_source;
    double tc_given_s;                          /* with BT_TC_GIVEN */
    int writers_n;                              /* writers to compare, 0 when only computing */
    struct bt_candidate candidate[BT_RUNS_MAX]; /* they, with the settings of the command line */
    unsigned fixed; /* capabilities, of those whose settings stood there */
    bool compute;   /* a run without writing was asked for */
    bool all;       /* --io all: files go after they have been verified */
    bool search;    /* --io auto, auto:NAMES: these writers are raced, all is set as well */
    bool given_minutes;
    int rounds;        /* of --repeat; with auto at most */
    bool rounds_auto;  /* they go on until every writer's balance is decided, or time is over */
    bool list_writers; /* --io help; the rest was not looked at then */
    enum bt_read read;
    int64_t read_dump; /* with BT_READ_ONE, from 1 */
    int read_states_n; /* of the page cache, each read in */
    bool read_warm[2]; /* else cold */
    uint64_t seed;     /* of the order of the writers */
    /* Stood on the command line; --restart takes what did not from the manifest. */
    bool given_layout, given_io, given_sync;
    char *taken_hints; /* of --restart: the texts of opt.hints; NULL: they are the command line's */
};

extern const struct conf_program bt_program;

/* Reads the command line. Local, the same on every rank. setup: [out] a struct bt_setup, zeroed by
 * the caller, to be freed by bt_setup_free also after an error. Returns CONF_RUN, CONF_HELP,
 * CONF_VERSION or ERR_USAGE. */
int bt_setup_parse(void *setup, int argc, char **argv);
void bt_setup_free(void *setup);

/* The settings of writers that stood on the command line, as "options" of a result has them, and "io"
 * where a search is among some writers alone. New reference. */
json_t *bt_setup_fixed(const struct bt_setup *s);

/* A notice for each of these settings, hints apart, that writers of the command line do not obey. */
void bt_setup_idle(const struct bt_setup *s, json_t *notices);

/* The option of this name, "buffer", where it is a setting of writers; NULL for any other name. */
const struct conf_option *bt_setup_writers_option(const char *name);

/* A writer with the settings of the command line. Borrows the hints. */
struct bt_candidate bt_setup_candidate(const struct bt_setup *s, const char *writer);

/* Settings of writers that an earlier run had take the place of those that did not stand on the
 * command line: opt and candidates are made anew. writer: the only one; borrowed. hints: n texts,
 * each with its zero, one behind the other. Returns 0 or ERR_NOMEM. */
int bt_setup_take(struct bt_setup *s, const char *writer, const struct io_tuning *t, int hints_n,
                  const char *hints);

/* Name of the file of a writer: FILE, or FILE.NAME when there are several, FILE.auto in a search.
 * Characters that have a meaning to MPI-IO libraries (':') become '-'. out: [out] at least 4096
 * bytes. */
void bt_setup_path(const struct bt_setup *s, const char *writer, char *out);

/* Whether the names on the command line can be those of files: no directory is there. Local, for rank
 * 0. Returns 0 or ERR_USAGE with the option. */
int bt_setup_names(const struct bt_setup *s);

/* What a candidate is to write of a problem, but for the rank's cells and the kernel. All borrowed. */
struct io_spec bt_setup_spec(const struct bt_setup *s, const struct bt_candidate *c,
                             const struct bt_problem *p, const char *path);

/* Memory that a candidate takes in a job of so many ranks, for blocks of so many cells at most: writing, and, in each
 * rank, reading back, 0 where nothing is read. */
struct io_memory bt_setup_held(const struct bt_setup *s, const struct bt_candidate *c,
                               int64_t ranks, int64_t nodes, int64_t cells, int64_t *reading);

/* Whether the rounds hold compute-only runs: asked for, or, from two rounds of writing on, as what
 * the writers of a round are paired with. */
bool bt_setup_computes(const struct bt_setup *s);

#endif
