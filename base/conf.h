/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CONF_H
#define BASE_CONF_H
/* Layer 0. One table of options per program: it yields parsing, range checks, --help, the echo in
 * the printed result and the "options" object of the JSON. Command lines are read by glibc's argp.
 * Every rank parses the same argv to the same result; rank 0 alone prints. */
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum conf_type {
    CONF_FLAG,   /* bool: present or not */
    CONF_INT,    /* int64_t; decimal, optional suffix of base/num.h */
    CONF_REAL,   /* double */
    CONF_STRING, /* const char *, borrowed from argv or the table */
    CONF_CHOICE, /* const char *, one of choices; given in any case, kept as the table has it */
    CONF_LIST,   /* struct conf_list: the option may be repeated, values in order of appearance */
};

struct conf_list {
    int n;
    const char **item; /* borrowed strings; the array is freed by conf_free */
};

struct conf_option {
    const char *name;    /* without the leading "--"; a NULL name ends the table */
    const char *arg;     /* what stands for the value in --help; NULL for CONF_FLAG */
    const char *def;     /* default, parsed as if given; NULL: zero, false, NULL or empty */
    const char *choices; /* "a|b|c", for CONF_CHOICE */
    const char *words; /* "a|b|c": what other values are made of, offered by completion, or NULL */
    const char *(*word)(int i); /* the same as a function: word i, NULL behind the last; or NULL */
    const char *help;           /* what it does, in full sentences, units included */
    bool output; /* of a CONF_STRING: a file that is written at the end; "-" is standard output */
    bool once;   /* a second value is refused; of other options but lists the last one counts */
    double min, max; /* inclusive range for numbers; not checked when both are 0 */
    size_t offset;   /* of the member in the program's options struct */
    enum conf_type type;
    int key;           /* one-letter form, 0 when there is none */
    const char *kind;  /* a word for programs that read the table, "setting"; or NULL */
    const char *group; /* heading in --help under which this and the next options stand, or NULL */
};

/* Where the value of an option goes, for a row of a table: a member of the program's options
 * struct, of which its type follows. */
#define CONF_AT(options, member)                                                                   \
    .offset = offsetof(options, member),                                                           \
    .type = _Generic(((options *)0)->member,                                                       \
        bool: CONF_FLAG,                                                                           \
        int64_t: CONF_INT,                                                                         \
        double: CONF_REAL,                                                                         \
        const char *: CONF_STRING,                                                                 \
        struct conf_list: CONF_LIST)

/* The same of a text that is one of choices, "a|b|c". */
#define CONF_CHOICE_AT(options, member, of)                                                        \
    .offset = offsetof(options, member), .type = CONF_CHOICE, .choices = (of)

/* The numbers that are allowed, both ends included. */
#define CONF_RANGE(least, most) .min = (least), .max = (most)

/* Options that the measuring programs share, for their tables: members progress, a const char *,
 * and quiet, a bool. */
#define CONF_PROGRESS(options)                                                                     \
    {                                                                                              \
        .name = "progress", .arg = "WHEN", .def = "auto",                                          \
        CONF_CHOICE_AT(options, progress, "auto|always|never"),                                    \
        .help = "Show progress with the time left; auto: only on a terminal."                      \
    }
#define CONF_QUIET(options)                                                                        \
    {                                                                                              \
        .name = "quiet", CONF_AT(options, quiet), .help = "Print nothing but errors."              \
    }

struct conf_program {
    const char *name, *version;
    const char *summary; /* one line: what the program is for */
    const char *args;    /* what follows the options, "FILE", or NULL when nothing may */
    int max_args;
    const char *examples; /* printed at the end of --help, lines as they stand */
    const struct conf_option *options;
};

enum { CONF_RUN = 0, CONF_HELP = 1, CONF_VERSION = 2 };

/* Parses argv into the options struct. Local, same result on every rank.
 * opts: [out] struct with the members named by the table. args: [out] words after the options.
 * given: [out] may be NULL; given[i] tells whether option i of the table stood on the command line.
 * Returns CONF_RUN, CONF_HELP or CONF_VERSION (then the caller prints on one rank with conf_help or
 * the version and leaves with status 0), or ERR_USAGE with a message that names the option, the
 * value, what is allowed and, for an unknown option, the nearest known one. */
int conf_parse(const struct conf_program *p, int argc, char **argv, void *opts,
               struct conf_list *args, bool *given);

/* Whether an option of the table stood on the command line, as conf_parse tells; which of its
 * choices it has, from 0. name: of an option of the table. Local. */
bool conf_given(const struct conf_program *p, const bool *given, const char *name);
int conf_chosen(const struct conf_program *p, const void *opts, const char *name);

/* Whether an option that names an output is "-". Local. */
bool conf_takes_stdout(const struct conf_program *p, const void *opts);

/* Cuts the next word off a list "a,b,c". list: [in,out] NULL when none is left. word: [out] cut to
 * size. Returns whether there was one. Local. */
bool conf_next_word(const char **list, char *word, size_t size);

/* Prints --help by argp: options under their groups, alphabetically in each. Local. */
void conf_help(const struct conf_program *p, FILE *to);

/* The table for programs that make manual pages and completions of it: "name", "version",
 * "summary", "args", "examples" and "options". New reference. Local. */
json_t *conf_table_json(const struct conf_program *p);

/* All options with the values in force, as the "options" object. New reference. Local. */
json_t *conf_json(const struct conf_program *p, const void *opts);

/* The same of the options that differ from their default. New reference. Local. */
json_t *conf_changed_json(const struct conf_program *p, const void *opts);

/* The options that differ from their default as one line "--n 33 --decomp 1d:z", malloc'ed. */
char *conf_line(const struct conf_program *p, const void *opts);

/* Prints a word of such a line, quoted where a shell would not read it back. */
void conf_print_word(FILE *to, const char *text);

/* The name of a file as such a word, for advice that is to be pasted. Local. Returns out, which is cut where it is too long. */
#define CONF_WORD_MAX (PATH_MAX + 64)
const char *conf_file_word(const char *path, char out[CONF_WORD_MAX]);

/* Sets the member of one option from a text, as if given on the command line, and to its default,
 * whatever it holds; conf_set_as where it was given as something else, which what names. Return 0, ERR_USAGE or
 * ERR_NOMEM. Local. */
int conf_set(const struct conf_option *o, void *opts, const char *text);
int conf_set_as(const char *what, const struct conf_option *o, void *opts, const char *text);
int conf_set_default(const struct conf_option *o, void *opts);

/* Frees the arrays of CONF_LIST members and of args (may be NULL). */
void conf_free(const struct conf_program *p, void *opts, struct conf_list *args);

/* One spelling for all names of a file, whether it is there or not. Asks the file system. Local. */
#define CONF_NAME_MAX (2 * PATH_MAX)
void conf_name_full(const char *path, char out[CONF_NAME_MAX]);

/* Whether two options name different files: one result would take the place of the other. path, there:
 * NULL or "" for none. Asks the file system, so of several ranks one asks. Returns 0 or ERR_USAGE. Local. */
int conf_files_differ(const char *option, const char *path, const char *other, const char *there);

/* Whether a path may be that of a file, to which something may be appended: its last part is neither
 * empty nor "." nor "..", and no directory is there. option: for the message. NULL is not a path. Returns
 * 0 or ERR_USAGE; conf_name_ends asks nothing of the file system. Local. */
int conf_name_ends(const char *option, const char *path);
int conf_name_file(const char *option, const char *path);

/* Parse a whole text as a number with a range, both ends allowed and 0 to 0 meaning none; ERR_USAGE
 * with a message naming what. Local. */
int conf_int(const char *what, const char *text, int64_t min, int64_t max, int64_t *out);
int conf_real(const char *what, const char *text, double min, double max, double *out);

#endif
