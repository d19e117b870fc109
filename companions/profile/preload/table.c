/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/table.h"

#include <stdlib.h>

#define ROOM_MIN 64

/* Where a key would stand if the table were empty: handles differ in their middle bits. */
static size_t home_of(const struct table *t, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->room - 1);
}

/* The place of a key, or the free one where it would be entered. There is one always. */
static size_t place_of(const struct table *t, uint64_t key)
{
    size_t at = home_of(t, key);
    while (t->entry[at].value && t->entry[at].key != key)
        at = (at + 1) & (t->room - 1);
    return at;
}

void *table_find(const struct table *t, uint64_t key)
{
    return t->n == 0 ? NULL : t->entry[place_of(t, key)].value;
}

static int grow(struct table *t)
{
    struct table more = {.n = t->n, .room = t->room ? 2 * t->room : ROOM_MIN};
    more.entry = calloc(more.room, sizeof *more.entry);
    if (!more.entry) return -1;
    for (size_t i = 0; i < t->room; i++)
        if (t->entry[i].value) more.entry[place_of(&more, t->entry[i].key)] = t->entry[i];
    struct table_entry *const old = t->entry;
    *t = more;
    free(old);
    return 0;
}

int table_put(struct table *t, uint64_t key, void *value)
{
    if (2 * (t->n + 1) > t->room && grow(t) < 0) return -1;
    struct table_entry *e = &t->entry[place_of(t, key)];
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed was replaced before, in grow */
    t->n += !e->value;
    *e = (struct table_entry){key, value};
    return 0;
}

void *table_remove(struct table *t, uint64_t key)
{
    if (t->n == 0) return NULL;
    size_t gap = place_of(t, key);
    void *const value = t->entry[gap].value;
    if (!value) return NULL;
    t->n--;
    t->entry[gap].value = NULL;
    /* What was put behind it because of it moves up, so that it is found again. */
    for (size_t at = (gap + 1) & (t->room - 1); t->entry[at].value; at = (at + 1) & (t->room - 1)) {
        const size_t home = home_of(t, t->entry[at].key);
        if (((at - home) & (t->room - 1)) < ((at - gap) & (t->room - 1))) continue;
        t->entry[gap] = t->entry[at];
        t->entry[at].value = NULL;
        gap = at;
    }
    return value;
}

uint64_t table_hash(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}
