/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_PROBE_KEPT_H
#define BT_PROBE_KEPT_H
/* Layer 3. What --probe has found, kept beside the T_C store; bt/probe.h shows the file. Local, all
 * functions; for rank 0. */
#include <jansson.h>
#include <stddef.h>

#include "base/sys.h"

/* Name of the store: probe.json beside the T_C store. Errors as bt_store_path. */
int bt_probe_store(const char *tc_store, char *out, size_t size);

/* Puts findings in the place of earlier ones of the same file system and MPI library. findings: as
 * in the result of --probe. Returns 1 or an error. */
int bt_probe_keep(const char *store, const struct sys_fs *fs, const json_t *findings);

#endif
