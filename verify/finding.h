/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_FINDING_H
#define VERIFY_FINDING_H
/* Serial. What is wrong with a file, one sentence each, with the places where they are known. */
#include <stdint.h>

#include "verify/shape.h"

#define FINDINGS_MAX   64 /* kept with their text; further ones are counted only */
#define FINDING_TEXT   640
#define FINDING_PLACES 8

struct finding {
    const char *kind; /* "size", "shape", "format", "digest", "stale", "marker", "value", ... */
    int64_t dump;     /* -1: the file as a whole */
    int places_n;
    struct place place[FINDING_PLACES]; /* m is -1 when several components of the cell are meant */
    char text[FINDING_TEXT];
};

struct findings {
    int64_t n;                             /* all; those at FINDINGS_MAX and above were not kept */
    struct finding item[FINDINGS_MAX + 1]; /* the last one takes what is not kept */
};

/* Adds a finding. Local. kind: string literal. Returns it, so that places can be added. */
struct finding *finding_add(struct findings *f, const char *kind, int64_t dump, const char *fmt,
                            ...) __attribute__((format(printf, 4, 5)));

/* Adds a place to a finding that has room. Local. */
void finding_place(struct finding *f, const struct place *at);

/* Number of findings whose text is there. Local. */
int findings_kept(const struct findings *f);

#endif
