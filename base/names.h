/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H
/* Layer 0. A hash table from names to numbers that are not negative, of any size. A table of zeros is
 * empty. All functions are local. */
#include <stddef.h>
#include <stdint.h>

struct names {
    struct names_entry {
        char *name; /* owned; NULL: free */
        int64_t value;
    } * entry; /* [room], owned */
    size_t n, room;
};

/* A number for a name of so many bytes: FNV-1a. */
uint64_t names_hash(const char *name, size_t bytes);

/* Enters a name, a copy of it, or gives the one that is there another number. Returns 0 or ERR_NOMEM. */
int names_put(struct names *t, const char *name, int64_t value);

/* The number of a name of so many bytes, -1: it is not there. */
int64_t names_find(const struct names *t, const char *name, size_t bytes);

/* Takes a name out, if it is there. */
void names_remove(struct names *t, const char *name);

void names_free(struct names *t);

#endif
