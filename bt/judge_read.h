/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_JUDGE_READ_H
#define BT_JUDGE_READ_H
/* Layer 3. Judges what --read has measured, as bt/judge the writing; local, for rank 0. Whether reading
 * back keeps up with a computation: zeta of reading is T_R over the computing in which as many dumps are
 * written as were read, and the answer is one of the four of docs/zeta.md, or undecided. */
#include "bt/ranking.h"

/* Stamps of one reading: what was read, from where, and what disturbed it. New reference. */
json_t *bt_judge_reading(const struct bt_reading *r);

/* Those of all readings of a row, each code once, the answer first. row: its stamps (new reference),
 * answer and reason are set. */
void bt_judge_readings(const struct bt_job *job, struct bt_read_row *row);

/* "posix, read back cold (1x1x2)". out: [out] */
void bt_judge_read_name(const struct bt_read_row *row, char out[160]);

#endif
