/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_WARMUP_H
#define BT_WARMUP_H
/* Floor 3. Warms up memory and file system before the first run that writes: memory that a kernel,
 * or the host below a virtual machine, hands out for the first time can cost ten times the second
 * use, and would make whoever writes first look slow. */
#include "bt/job.h"

/* Writes a file as large as the run's, but at most BT_WARMUP_MAX_BYTES, a quarter of the free
 * memory and half of the free space, spread over the nodes, next to the output, and removes it.
 * Collective. Sets job->warmup_bytes. Trouble with the file is left to be found by the run itself.
 */
#define BT_WARMUP_MAX_BYTES (INT64_C(1) << 30)
int bt_warmup(struct bt_job *job);

#endif
