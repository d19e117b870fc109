/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H
/* Layer 0. Knows MPI. Cache honesty: how much of the file was in the page cache when the clock stopped,
 * and whether the time measured is that of memory rather than of a device. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/nodes.h"
#include "base/resident.h"

#define CACHE_SHARE RESIDENT_BEHIND

struct cache {
    bool known; /* the system tells */
    int64_t file_bytes;
    int64_t cached_bytes; /* in the memory of the nodes, sum */
    int64_t dirty_bytes;  /* of these, not yet on the device; -1: the system does not tell */
    int64_t memory_bytes; /* of all nodes */
    bool in_memory;       /* the file system itself is in memory */
    bool flushed;         /* the clock held the flushing of all data */
    bool never_flushed;   /* which does nothing there */
    bool page_cache;      /* the stamp: the time is one of memory */
    char how[16];
};

/* Asks on every node, or of a file of each rank's own. Collective over n->comm; the same on every rank. flushed: all data were made
 * durable inside the clock. Where a node does not tell, known is false. */
int cache_ask(const struct nodes *n, const char *path, bool own, bool flushed, struct cache *c);

/* The stamp for what was counted. Pure. */
bool cache_stamp(const struct cache *c);

/* Why a stamped time is one of memory. Borrowed. */
const char *cache_why(const struct cache *c);

/* One sentence for people. out: [out] size bytes. */
void cache_words(const struct cache *c, char *out, size_t size);

/* The "cache" object of a run, null when nothing is known. New reference. */
json_t *cache_json(const struct cache *c);

#endif
