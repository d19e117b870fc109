/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

#define ROOM_MIN 64

uint64_t names_hash(const char *name, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Where a name would stand if the table were empty. */
static size_t home_of(const struct names *t, const char *name, size_t bytes)
{
    const uint64_t hash = names_hash(name, bytes);
    return (size_t)(hash ^ hash >> 32) & (t->room - 1);
}

/* The place of a name, or the free one where it would be entered. There is one always. */
static size_t place_of(const struct names *t, const char *name, size_t bytes)
{
    size_t at = home_of(t, name, bytes);
    for (const char *is; (is = t->entry[at].name); at = (at + 1) & (t->room - 1))
        if (strncmp(is, name, bytes) == 0 && is[bytes] == '\0') break;
    return at;
}

static int grow(struct names *t)
{
    struct names more = {.n = t->n, .room = t->room ? 2 * t->room : ROOM_MIN};
    more.entry = mem_new((int64_t)more.room, sizeof *more.entry, "%zu names", more.room);
    if (!more.entry) return ERR_NOMEM;
    for (size_t i = 0; i < t->room; i++) {
        const char *name = t->entry[i].name;
        if (name) more.entry[place_of(&more, name, strlen(name))] = t->entry[i];
    }
    free(t->entry);
    *t = more;
    return 0;
}

int names_put(struct names *t, const char *name, int64_t value)
{
    if (2 * (t->n + 1) > t->room) TRY(grow(t));
    struct names_entry *e = &t->entry[place_of(t, name, strlen(name))];
    if (!e->name) {
        e->name = strdup(name);
        if (!e->name) return mem_error("a name");
        t->n++;
    }
    e->value = value;
    return 0;
}

int64_t names_find(const struct names *t, const char *name, size_t bytes)
{
    if (t->n == 0) return -1;
    const struct names_entry *e = &t->entry[place_of(t, name, bytes)];
    return e->name ? e->value : -1;
}

void names_remove(struct names *t, const char *name)
{
    if (t->n == 0) return;
    size_t gap = place_of(t, name, strlen(name));
    if (!t->entry[gap].name) return;
    free(t->entry[gap].name);
    t->entry[gap].name = NULL;
    t->n--;
    /* What was put behind it because of it moves up, so that it is found again. */
    for (size_t at = (gap + 1) & (t->room - 1); t->entry[at].name; at = (at + 1) & (t->room - 1)) {
        const size_t home = home_of(t, t->entry[at].name, strlen(t->entry[at].name));
        if (((at - home) & (t->room - 1)) < ((at - gap) & (t->room - 1))) continue;
        t->entry[gap] = t->entry[at];
        t->entry[at].name = NULL;
        gap = at;
    }
}

void names_free(struct names *t)
{
    for (size_t i = 0; i < t->room; i++)
        free(t->entry[i].name);
    free(t->entry);
    *t = (struct names){0};
}
