/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_CHOICE_H
#define BT_CHOICE_H
/* Layer 4. What a search found is kept beside the T_C store, in choices.json:
 *
 *   { "schema": "nht1-choices/1",
 *     "entries": [
 *       { "key": { of the system "cpu", "hosts", "memory_gib", "mpi", "component", "nodes", "cores",
 *                  of the target "fs_type", "fs_source", "fs_mount",
 *                  of the problem "n", "steps", "dt", "interval", "last",
 *                  of the run "decomp", "layout", "ranks", "threads", "sync", "fixed" },
 *         "utc": "2001-01-31T12:00:00Z", "version": "0.1.0-g1a2b3c4", "writer": "async",
 *         "options": ["--direct"], "best": member search.best of the result } ] }
 *
 * component: of MPI-IO, the one in use, "ompio" or "romio", "unknown" where it may be either. fixed: the
 * writers' settings that stood on the command line, and the writers where not all were tried. A choice
 * holds where all of its key agrees, so one that was kept without a member that the key has now holds
 * nowhere; a new one takes the place of the old. Local, for rank 0. */
#include <jansson.h>

#include "base/err.h"
#include "bt/job.h"

/* The key of a job. New reference. ERR_IO where the target's folder is not there. */
int bt_choice_key(const struct bt_job *job, json_t **key);

/* Looks a key up. [out] entry: new reference when found. Returns 1 when found, 0 when not, errors as
 * store_read. */
int bt_choice_find(const struct bt_job *job, const json_t *key, json_t **entry);

/* Why an entry is not to be believed, "" where it is: what it says of the best must be a verdict, with
 * intervals that exclude chance and span no more than a factor of 1.5; fewer than half of the runs of its
 * last rung were disturbed; and it is neither of another release nor older than a year, in which systems
 * change. Any JSON. Returns why. */
const char *bt_choice_stale(const json_t *entry, char why[ERR_MESSAGE_MAX]);

/* Keeps a choice. options: as bt_candidate_options makes them; best: member search.best. Borrowed.
 * Returns 1; ERR_INVALID for one that bt_choice_stale doubts; errors as store_change. */
int bt_choice_keep(const struct bt_job *job, const json_t *key, const char *writer,
                   const json_t *options, const json_t *best);

/* Makes the options those of a choice: what is run then is what the search said to run. ERR_USAGE for
 * what this version or this command line does not have, and for what is no setting of a writer: the
 * store is a file, and where to write is not its to say. The choice's texts are borrowed, the hints the caller's to free. */
int bt_choice_apply(struct bt_setup *s, const json_t *choice);

/* Seconds since a time as watch_utc writes it; NaN for what is none. */
double bt_choice_age_s(const char *utc);

#endif
