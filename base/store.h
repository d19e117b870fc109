/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STORE_H
#define BASE_STORE_H
/* Layer 0, free of MPI. What one job finds for later ones, a property of the system rather than of a
 * run: T_C (bt/tc.h), what works on file systems (io/probe/kept.h), choices (bt/search/choice.h). One JSON file for
 * each kind,
 *
 *   { "schema": "nht1-tc/1", "entries": [ { what has to agree, what was found }, ... ] }
 *
 * in one folder. Who changes a file holds flock on FILE.lock beside it; who reads one takes no lock,
 * since it is replaced by rename and so is whole at any time. Members of entries that are not known here
 * are kept. One process per job (rank 0) calls these functions. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest store, in bytes: a file that is longer is none, and is not read. */
#define STORE_BYTES_MAX (INT64_C(64) << 20)

/* A kind of store. */
struct store {
    const char *name;   /* of its file: "tc.json" */
    const char *schema; /* "nht1-tc/1" */
    const char *title;  /* for messages: "T_C store" */
    const char *holds;  /* the same: "compute-only times" */
    const char *option; /* that names the file: "--tc-store" */
    /* Whether an entry can be used; a file with one that cannot is no store. NULL: any object can. */
    bool (*valid)(const json_t *entry);
};

/* Name of the file: in the folder of the T_C store, which is that of asked (the value of --tc-store)
 * when not NULL, else $XDG_STATE_HOME/nht1, else $HOME/.local/state/nht1. ERR_USAGE when none is
 * known or the name is too long. */
int store_path(const struct store *kind, const char *asked, char *out, size_t size);

/* Reads the store. [out] root: new reference, its "entries" an array of valid ones; an empty store
 * when there is no file. Returns 0, ERR_USAGE when what is there is no such store, ERR_IO when it
 * cannot be read, ERR_NOMEM. */
int store_read(const struct store *kind, const char *path, json_t **root);

/* Changes the store: with its lock held it is read, change is given its entries, and where that
 * returns 1 the file is replaced. Folders that are missing are made. Returns what change returned,
 * or an error, and then the file is as it was. */
int store_change(const struct store *kind, const char *path,
                 int (*change)(json_t *entries, void *arg), void *arg);

/* The entry all of whose members named in key, an object, are as there; borrowed, NULL: none. */
json_t *store_find(const json_t *entries, const json_t *key);

/* Puts an entry into the store, in the place of the one with that key. Returns 1, or an error as
 * store_change. */
int store_replace(const struct store *kind, const char *path, const json_t *key, json_t *entry);

/* Members of an entry, for comparing keys: a text, "" when there is none, and whether an integer is
 * there and has this value. */
const char *store_text(const json_t *entry, const char *member);
bool store_same(const json_t *entry, const char *member, int64_t value);

#endif
