/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_SEARCH_H
#define BT_SEARCH_H
/* Layer 4. --io auto: the race (bt/search/race.h) of the candidates (bt/search/space.h) in runs of the job's own
 * problem, decomposition, layout and durability, with fewer steps. Each file is proved and then
 * removed, so one at a time needs room; its lock is held from the first run to the last. A candidate
 * that fails, or whose file is wrong, is left out and the search goes on. Rank 0 holds the race and its
 * clock, and tells the others which run is next; a thread of it tells of a run that hangs, and when
 * asked to stop then says what was found and ends the process. The result so far is kept in the file
 * of --json. What came out: bt/search/finding.h. */
#include <stdio.h>

#include "bt/search/finding.h"

/* Calls take with each candidate that --io auto would try on so many ranks and nodes, as far as one rank
 * sees it. Local. Returns 0 or ERR_NOMEM. */
int bt_search_each(const struct bt_setup *s, int64_t ranks, int64_t nodes,
                   void (*take)(void *arg, const struct bt_candidate *c), void *arg);

/* Runs what an earlier search on this system has found, as one of the job's ordinary runs, unless
 * --minutes, without --known, asks for a new one; else searches. What is found is kept. Collective.
 * [out] search: to be freed by bt_search_free once the job's result is written, also after an error.
 * to: where rank 0 tells how far it is, NULL: nowhere. Returns ERR_INTERRUPT when asked to stop, with
 * what was found up to then; an error where nothing can be written at all, another job holds the lock,
 * or no candidate could write. */
int bt_search_make(struct bt_search **search, struct bt_job *job, FILE *to);
void bt_search_free(struct bt_search *search);

#endif
