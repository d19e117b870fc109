/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_PROBE_KEPT_H
#define IO_PROBE_KEPT_H
/* Layer 2. What --probe has found, kept beside the T_C store; io/probe/probe.h shows the file. Local, all
 * functions; for rank 0. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"

/* Name of the store: probe.json beside the T_C store. Errors as store_path. */
int probe_store(const char *tc_store, char *out, size_t size);

/* An entry for it: findings, as in the result of --probe, of a file system, with this MPI library.
 * components: of MPI-IO, NULL where they could not be asked for. New reference. */
json_t *probe_entry(const struct sys_fs *fs, const json_t *components, const json_t *findings);

/* Puts an entry in the place of an earlier one of the same file system and MPI library. Returns 1 or
 * an error. */
int probe_store_put(const char *store, const struct sys_fs *fs, json_t *entry);

/* The entry for the file system of a path and this MPI library; NULL where there is none. A store
 * that cannot be read is one sentence in notices. New reference. */
json_t *probe_store_get(const char *tc_store, const char *path, json_t *notices);

/* Whether what a writer needs was found not to work, in an entry (NULL: nothing was found). why:
 * [out] what, and when it was tried. Of MPI-IO those components count that may be in force now. */
bool probe_denies(const json_t *entry, const char *writer, char *why, size_t size);

#endif
