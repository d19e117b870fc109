/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_FINDING_H
#define BT_FINDING_H
/* Layer 3. What a search found: for people, and as the member "search" of the result. For rank 0,
 * all functions. docs/tuning.md says how to read it. */
#include <jansson.h>
#include <stdio.h>

#include "bt/job.h"

/* Before the first run: what is searched. After each rung: who is ahead. rung: from 1. */
void bt_finding_begin(const struct bt_job *job, FILE *to);
void bt_finding_rung(const struct bt_job *job, int rung, FILE *to);

/* At the end: the best setting as a command, against the default writers, what mattered, who cannot be
 * told apart, and what to give other programs. */
void bt_finding_print(const struct bt_job *job, FILE *to);

/* The same as JSON. New reference. */
json_t *bt_finding_json(const struct bt_job *job);

#endif
