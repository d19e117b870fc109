/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/own_files.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define CHUNK_FILES(c) (INT64_C(128) << (c))

void own_files_begin(struct own_files *s)
{
    memset(s, 0, sizeof *s);
}

void own_files_each(struct own_files *s, void (*call)(struct own_file *m, void *arg), void *arg)
{
    struct own_file *chunk;
    for (int c = 0; c < OWN_CHUNKS && (chunk = atomic_load(&s->chunk[c])); c++)
        for (int64_t i = 0; i < CHUNK_FILES(c); i++)
            if (chunk[i].name[0]) call(&chunk[i], arg);
}

static void file_close(struct own_file *m, void *arg)
{
    (void)arg;
    if (m->fd >= 0) close(m->fd);
    m->fd = -1;
}

void own_files_end(struct own_files *s)
{
    own_files_each(s, file_close, NULL);
    for (int c = 0; c < OWN_CHUNKS; c++)
        free(atomic_load(&s->chunk[c]));
    free(s->unused);
    names_free(&s->made);
}

static struct own_file *file_at(const struct own_files *s, int64_t number)
{
    int c = 0;
    for (; number >= CHUNK_FILES(c); c++)
        number -= CHUNK_FILES(c);
    return &atomic_load(&s->chunk[c])[number];
}

struct own_file *own_files_find(const struct own_files *s, const char *name)
{
    const int64_t number = names_find(&s->made, name, strlen(name));
    struct own_file *m = number >= 0 ? file_at(s, number) : NULL;
    return m && atomic_load(&m->there) ? m : NULL;
}

/* Makes the chunk of the next number, if it is not there. Returns 0 or ERR_NOMEM. */
static int chunk_make(struct own_files *s)
{
    int64_t first = 0;
    int c = 0;
    for (; c < OWN_CHUNKS && s->n >= first + CHUNK_FILES(c); c++)
        first += CHUNK_FILES(c);
    if (c == OWN_CHUNKS) return err_set(ERR_NOMEM, "more than %d files at a time", s->n);
    if (atomic_load(&s->chunk[c])) return 0;
    struct own_file *chunk = mem_new(CHUNK_FILES(c), sizeof *chunk, "the names of files");
    if (!chunk) return ERR_NOMEM;
    for (int64_t i = 0; i < CHUNK_FILES(c); i++) {
        chunk[i].fd = -1;
        chunk[i].number = (int)(first + i);
    }
    atomic_store(&s->chunk[c], chunk);
    return 0;
}

/* A free one, NULL: there is no memory for it, nor for being free again. */
static struct own_file *file_free_one(struct own_files *s)
{
    if (s->unused_n > 0) return file_at(s, s->unused[--s->unused_n]);
    if (chunk_make(s) < 0) return NULL;
    if (s->n == s->unused_room) {
        const int room = s->unused_room ? 2 * s->unused_room : OWN_HELD_MAX;
        int *more = mem_grow(s->unused, room, sizeof *more, "the numbers of files");
        if (!more) return NULL;
        s->unused = more;
        s->unused_room = room;
    }
    return file_at(s, s->n++);
}

struct own_file *own_files_new(struct own_files *s, const char *name, int fd, enum own_kind kind)
{
    struct own_file *m = file_free_one(s);
    if (!m) {
        close(fd);
        return NULL;
    }
    m->fd = fd;
    m->kind = kind;
    snprintf(m->name, sizeof m->name, "%s", name);
    if (names_put(&s->made, name, m->number) < 0) {
        own_files_free(s, m);
        return NULL;
    }
    if (m->number >= OWN_HELD_MAX && identity_of_fd(fd, &m->id)) file_close(m, NULL);
    return m;
}

void own_files_free(struct own_files *s, struct own_file *m)
{
    names_remove(&s->made, m->name);
    file_close(m, NULL);
    s->unused[s->unused_n++] = m->number;
}
