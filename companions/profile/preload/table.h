/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_TABLE_H
#define PROFILE_PRELOAD_TABLE_H
/* Layer 3. A hash table from numbers to pointers, of any size: handles of MPI and what is known of them. Not
 * locked: the caller holds a lock. */
#include <stddef.h>
#include <stdint.h>

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

struct table {
    size_t n, room; /* room: a power of two, or 0 */
    struct table_entry {
        uint64_t key;
        void *value; /* NULL: a free place */
    } * entry;       /* owned */
};

/* Returns what stands under a key, or NULL. */
void *table_find(const struct table *t, uint64_t key);

/* Enters a value, not NULL, instead of what stood there. Returns 0, or -1 without memory. */
int table_put(struct table *t, uint64_t key, void *value);

/* Takes an entry out. Returns what stood there, or NULL. */
void *table_remove(struct table *t, uint64_t key);

/* A number for a name (FNV-1a). */
uint64_t table_hash(const char *name);

#pragma GCC visibility pop

#endif
