/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_CERTIFICATE_H
#define PROFILE_CERTIFICATE_H
/* Layer 3. Whether a program did the same in two runs: only then is the difference of their times the cost of
 * what one of them left out. Compared are, for each rank and file, the calls of each
 * function and their bytes, their order with sizes and offsets where one thread made them, and what they
 * read of files that the program had written by then. Processes that are no ranks are compared by programs:
 * the sums over all of the same name. All functions are local. */
#include <jansson.h>

#include "companions/profile/merge.h"

struct certificate {
    bool agree;
    int ranks_n;   /* compared, or processes */
    int files_n;   /* once for each rank or program that opened it */
    int ordered_n; /* files whose order was compared, too */
    int64_t calls_n, bytes;
    char difference[768]; /* the first one, as a sentence without its end; empty if they agree */
};

/* Compares a run with its writes and one without. writes_only: the command was not the same in both, so
 * that only what was written can be. Returns 0 or ERR_NOMEM. */
int certificate_make(struct certificate *c, const struct profile_run *with,
                     const struct profile_run *without, bool writes_only);

/* The object "certificate" of the result. New reference. */
json_t *certificate_json(const struct certificate *c);

#endif
