/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_SETTING_H
#define IO_SETTING_H
/* Layer 1, free of MPI calls. The settings of writers. From a row of io/setting_list.h follow the
 * member of struct io_tuning, the option of a command line with its default, range and help, the
 * check of what a caller gives, the notice where a writer does not obey it, the label of a
 * candidate and the values that a search tries; what reads results knows it from --help-json. Hints
 * that a search tries are settings, too. All functions are local. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What writers obey; 0 or false: the default. Each member is for the writers of its capability. */
struct io_tuning {
#define IO_SETTING(name, type, member, ...) type member;
#include "io/setting_list.h"
#undef IO_SETTING
    int64_t call_bytes; /* of one call of MPI-IO at most; for tests */
};

/* What is read at a time where no buffer_bytes are given: what stays in a core's caches until it is put into
 * place. */
#define IO_READ_BYTES (INT64_C(2) << 20)

enum {
    IO_SETTING_TEXT_MAX = 64,
    IO_VALUES_MAX = 4, /* worth trying of one setting */
};

struct io_setting {
    const char *name;   /* of the option, without "--"; of a hint "hint KEY" */
    const char *key;    /* of a hint, else NULL */
    unsigned cap;       /* of the writers that obey it */
    const char *arg;    /* its value in --help, "BYTES" of bytes; NULL: no number */
    size_t offset;      /* of the member, unless it is a hint */
    const char *def;    /* default; NULL: none */
    double least, most; /* of a number */
};

/* What the values that a search tries depend on. */
struct io_surroundings {
    int ranks;
    int64_t nodes;
    int64_t dump_bytes, dumps_n;
    unsigned readers; /* of hints (io/writers/hint.h): those in force on the target's file system */
    bool striped;     /* FILE can be given a striping (io/target/striping.h) */
    unsigned fixed;   /* capabilities whose settings are the user's and stay */
};

/* The i-th setting, NULL behind the last, and the one of an option's name, NULL where it is none. Both
 * static. */
const struct io_setting *io_setting_at(int i);
const struct io_setting *io_setting_find(const char *name);

/* The value of a setting as on a command line: "4Mi", "yes", "no", "default". hint: [hints_n] "KEY=VALUE",
 * given beside the tuning. */
void io_setting_text(const struct io_setting *s, const struct io_tuning *t, int hints_n,
                     const char *const *hint, char out[IO_SETTING_TEXT_MAX]);

/* A value that a search may try. */
struct io_value {
    const struct io_setting *setting;
    int64_t number;                 /* of a number or a flag */
    char hint[IO_SETTING_TEXT_MAX]; /* "KEY=VALUE" of a hint, else "" */
};

/* Other values of a setting that are worth trying for a writer of these capabilities whose settings are t:
 * none that has the same effect, as requests longer than what there is to write have. Returns how many. */
int io_setting_values(const struct io_setting *s, unsigned caps, const struct io_tuning *t,
                      const struct io_surroundings *a, struct io_value value[IO_VALUES_MAX]);

/* The value of a member, 0 or 1 of a flag; gives it this one. */
int64_t io_setting_get(const struct io_setting *s, const struct io_tuning *t);
void io_setting_put(const struct io_setting *s, int64_t number, struct io_tuning *t);

/* Replaces every number that is 0 by its default. */
void io_tuning_complete(struct io_tuning *t);

/* What a writer holds in memory while it writes, beside the staging buffer of its caller, roughly. */
struct io_memory {
    int64_t holders_n; /* ranks that hold it: all, or the aggregators (io/aggregate.h) */
    int64_t bytes;     /* each of them, at most */
};

/* writer: its name, that of a wrapper included. part_bytes: of a dump, of the rank that has most of it.
 * What cannot be known, as of a library that collects, is taken to be a rank's part. */
struct io_memory io_writer_memory(const char *writer, const struct io_tuning *t, int64_t ranks,
                                  int64_t nodes, int64_t part_bytes);

/* The same of each rank while a writer reads dumps of so many bytes back. */
int64_t io_reader_memory(const char *writer, const struct io_tuning *t, int64_t dump_bytes);

/* Whether all numbers are in their range, or 0. Returns 0, or ERR_USAGE with the option to change. */
int io_tuning_check(const struct io_tuning *t);

#endif
