/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_TABLE_H
#define PROFILE_PRELOAD_TABLE_H
/* Layer 3. A table from numbers to pointers, of any size, that finds what it holds in constant time:
 * handles of MPI and what is known of them. Not locked: the caller sees to that. */
#include <stddef.h>
#include <stdint.h>

/* No name of these is to stand before one of the program's. */
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
