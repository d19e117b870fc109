/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_FINDING_H
#define BT_FINDING_H
/* Layer 4. What a search found: for people, and as the member "search" of the result. For rank 0,
 * all functions. docs/tuning.md says how to read it. */
#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "bt/job.h"
#include "bt/search/race.h"
#include "bt/search/space.h"

enum bt_search_end { BT_SEARCH_SETTLED, BT_SEARCH_BUDGET, BT_SEARCH_INTERRUPTED, BT_SEARCH_KNOWN };

/* A search (bt/search/search.h) and what it has found so far. */
struct bt_search {
    struct bt_job *job; /* borrowed */
    struct bt_space space;
    struct race *race;            /* rank 0 */
    char (*why)[ERR_MESSAGE_MAX]; /* [space.n] of those that failed, "" for the others */
    unsigned readers;             /* of hints, those in force (struct io_surroundings) */
    enum bt_search_end end;       /* as if asked to stop now, while it goes on */
    int64_t room_bytes; /* rank 0: free behind the first candidate measured; 0: none was */
    double seconds;
    bool printed;  /* what was found is printed already */
    json_t *key;   /* of the choice (bt/search/choice.h); NULL: it cannot be remembered */
    json_t *known; /* entry of the store, which an earlier search left; NULL: none */
    const char **known_hints; /* of the candidate made of it; the texts are in known */
};

/* Whether there is anything to report; s may be NULL. */
bool bt_finding_any(const struct bt_search *s);

/* Before the first run: what is searched. After each rung: who is ahead. rung: from 1. */
void bt_finding_begin(const struct bt_search *s, FILE *to);
void bt_finding_rung(const struct bt_search *s, int rung, FILE *to);

/* At the end: whether a setting is faster than the plain writer, the best as a command, against the
 * default writers, what mattered, who cannot be told apart, and what to give other programs. */
void bt_finding_print(const struct bt_search *s, FILE *to);

/* The same as JSON, of a struct bt_search (struct bt_addition of bt/job.h). New reference. */
json_t *bt_finding_json(const void *search);

#endif
