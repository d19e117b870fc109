/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_STRIPING_H
#define IO_STRIPING_H
/* Layer 1. Over how many servers a file is spread, and in what pieces: known to Lustre (lfs),
 * BeeGFS (beegfs, beegfs-ctl) and GPFS (mmlsattr, and the size of its blocks), whose tools are
 * asked. Local, all functions; they start programs, so they are not
 * for use inside timed sections. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct io_striping {
    int64_t count;      /* servers or targets; 0: not known */
    int64_t unit_bytes; /* consecutive bytes on one; 0: not known */
    char pool[64];      /* storage pool, "" when it has none or none is told */
};

/* What a tool of the file system said, in its own words. fs_type: as in base/sys.h. Returns whether
 * anything was understood. */
bool io_striping_parse(const char *fs_type, const char *answer, struct io_striping *out);

/* Asks the file system about a file. Returns false on file systems without striping and where no
 * tool answers. */
bool io_striping_ask(const char *fs_type, const char *path, struct io_striping *out);

/* Makes a new, empty file with a striping, before anything is written to it: Lustre alone can.
 * count and unit_bytes: 0 for what the directory has. Returns 1 when it was made, 0 when this file
 * system cannot, or ERR_IO with the tool's words. */
int io_striping_make(const char *fs_type, const char *path, int64_t count, int64_t unit_bytes);

/* "count", "unit_bytes", "pool"; null for what is not known. New reference. */
json_t *io_striping_json(const struct io_striping *s);

#endif
