/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_OWN_FILES_H
#define BASE_OWN_FILES_H
/* Layer 0. The files that a process has made and not removed, as many as there is memory for. For base/own.c.
 * They are found by their names, and stay where they are: the handler of a signal goes through them at any
 * time. All functions are local. */
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/identity.h"
#include "base/names.h"
#include "base/own_note.h"

/* Of the first files the descriptor is held until they are removed, so that no other file can be taken for
 * them; with more of them a process would run out of descriptors. */
struct own_file {
    atomic_bool there; /* whoever clears it takes the name away */
    int fd;            /* -1: it is known by its identity */
    int number;
    enum own_kind kind;
    struct identity id;
    char name[NAME_MAX + 1]; /* also of one that is not there any more */
};

/* They lie in chunks, each twice as large as the one before. */
enum { OWN_CHUNKS = 24, OWN_HELD_MAX = 128 };
struct own_files {
    _Atomic(struct own_file *) chunk[OWN_CHUNKS]; /* NULL: not there yet */
    int n;                                        /* of them, in use or free */
    int *unused, unused_n, unused_room;           /* numbers of those that are free; owned */
    struct names made;                            /* numbers of those that are in use */
};

void own_files_begin(struct own_files *s);
void own_files_end(struct own_files *s); /* closes their descriptors */

/* A file, not there yet, with its descriptor, which is closed where it is not held. NULL: there is no memory for
 * it, and the descriptor is closed. */
struct own_file *own_files_new(struct own_files *s, const char *name, int fd, enum own_kind kind);

/* One that is there, NULL: there is none. */
struct own_file *own_files_find(const struct own_files *s, const char *name);

/* Forgets one that is not there any more, and closes its descriptor. */
void own_files_free(struct own_files *s, struct own_file *m);

/* Calls a function for each that is or was there. Safe in the handler of a signal. */
void own_files_each(struct own_files *s, void (*call)(struct own_file *m, void *arg), void *arg);

#endif
