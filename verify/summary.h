/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_SUMMARY_H
#define VERIFY_SUMMARY_H
/* Serial. The result for people and for programs. */
#include <jansson.h>
#include <stdio.h>

#include "verify/check.h"

/* Prints the table of dumps, norms, findings and the verdict. Local. brief: findings and verdict
 * only. */
void summary_print(FILE *to, const struct check *c, bool brief);

/* The result as "nht1-verify/1". New reference, NULL when memory ran out. options: the "options"
 * object, stolen. status: exit status of the program. Local. */
json_t *summary_json(const struct check *c, json_t *options, int status);

#endif
