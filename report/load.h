/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H
/* Serial. Result files of the project's programs, told apart by their "schema". All functions are
 * local. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct doc {
    char *path;
    json_t *root;
    const char *kind; /* "nht1-bt": one of the list below */
    int64_t version;  /* the number after it */
};

struct docs {
    int n, room;
    struct doc *doc;
    int newer_n; /* results of a version that this program does not know, read as far as it does */
    int skipped_n; /* files of directories that are no results to report on */
};

/* Reads result files; a directory stands for all results below it, whatever else it holds. Files
 * come in the order given, those of a directory by name. docs: [out] freed by docs_free, also after
 * an error. Returns 0; ERR_USAGE with the file's name when it is no JSON, not a result, not of a
 * program that is reported on, larger than any result (1 GiB), or when there is no result at all;
 * ERR_IO, ERR_NOMEM. */
int docs_load(struct docs *docs, const char *const *path, int n);
void docs_free(struct docs *docs);

/* How many are of a kind. */
int docs_count(const struct docs *docs, const char *kind);

/* Members that may be missing, null or of another type in a result of an older version; at: names
 * of members, "problem.n". Borrowed; the default when there is no such value. */
const json_t *doc_at(const json_t *from, const char *at);
double doc_real(const json_t *from, const char *at);              /* NaN */
int64_t doc_int(const json_t *from, const char *at, int64_t def); /* def */
bool doc_true(const json_t *from, const char *at);                /* false */
const char *doc_text(const json_t *from, const char *at);         /* "" */

#endif
