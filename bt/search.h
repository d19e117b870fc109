/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SEARCH_H
#define BT_SEARCH_H
/* Layer 3. --io auto: the race (bt/race.h) of the candidates (bt/candidate.h) in runs of the job's own
 * problem, decomposition, layout and durability, with fewer steps. Each file is proved and then
 * removed, so one at a time needs room; its lock is held from the first run to the last. A candidate
 * that fails, or whose file is wrong, is left out and the search goes on. Rank 0 holds the race and its
 * clock, and tells the others which run is next; a thread of it tells of a run that hangs, and when
 * asked to stop then says what was found and ends the process. The result so far is kept in the file
 * of --json. What came out: bt/finding.h. */
#include <stdio.h>

#include "base/err.h"
#include "bt/candidate.h"
#include "bt/job.h"
#include "bt/race.h"

enum bt_search_end { BT_SEARCH_SETTLED, BT_SEARCH_BUDGET, BT_SEARCH_INTERRUPTED, BT_SEARCH_KNOWN };

struct bt_search {
    struct bt_space space;
    struct race *race;            /* rank 0 */
    char (*why)[ERR_MESSAGE_MAX]; /* [space.n] of those that failed, "" for the others */
    unsigned readers;             /* of hints, those in force (struct bt_surroundings) */
    enum bt_search_end end;       /* as if asked to stop now, while it goes on */
    double seconds;
    bool told;                /* what was found is printed already */
    json_t *key;              /* of the choice (bt/choice.h); NULL: it cannot be remembered */
    json_t *known;            /* entry of the store, which an earlier search left; NULL: none */
    const char **known_hints; /* of the candidate made of it; the texts are in known */
};

/* The space of a setup on so many ranks and nodes, as far as one rank sees it. Local. [out] space, to
 * be freed also after an error. */
int bt_search_space(const struct bt_setup *s, int64_t ranks, int64_t nodes, struct bt_space *space);

/* Runs what an earlier search on this system has found, as one of the job's ordinary runs, unless
 * --minutes, without --known, asks for a new one; else searches. What is found is kept. Collective.
 * to: where rank 0 tells how far it is, NULL: nowhere. [out] job->search. Returns ERR_INTERRUPT when
 * asked to stop, with what was found up to then; an error where nothing can be written at all, another
 * job holds the lock, or no candidate could write. */
int bt_search_make(struct bt_job *job, FILE *to);

/* Whether there is anything to report; search may be NULL. For rank 0. Local. */
bool bt_search_found(const struct bt_search *search);
void bt_search_free(struct bt_search *search);

#endif
