/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_TIMELINE_H
#define PROFILE_TIMELINE_H
/* Layer 3. The timelines of all processes of a run as one. Local. */
#include <jansson.h>

#include "companions/profile/record.h"

/* Of a row for each process, or for as many neighbours as leave so many rows, and columns of time: a picture has
 * no more, and a result is no longer, whatever the numbers of processes and calls. */
#define TIMELINE_ROWS_MAX    64
#define TIMELINE_COLUMNS_MAX 128

/* The "timeline" object of the result. process: [n], NULL for one that left nothing; ranks_n: those whose time is shared between
 * I/O and the rest, without what they have started; zero_s: from when on times count. New reference. */
json_t *timeline_json(const struct profile_map *const *process, int n, int ranks_n, double zero_s);

#endif
