/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_JUDGE_H
#define VERIFY_JUDGE_H
/* Serial. From what was measured to a verdict: published norms, the listing, what was proved and
 * what was not. */
#include <jansson.h>

#include "verify/check.h"

/* Compares with the published norms where they apply, takes in the listing's result, and sets the
 * verdict. Local. */
void judge(struct check *c);

/* What was proved, what was not, and remarks that take no part in the verdict: sentences without a
 * full stop, plain text. New references. Local. */
json_t *judge_proved(const struct check *c);
json_t *judge_not_proved(const struct check *c);
json_t *judge_notes(const struct check *c);

/* "VERIFIED", "VERIFIED IN PART", "NORMS RIGHT", "PLAUSIBLE" or "WRONG". */
const char *judge_verdict(enum check_verdict v);

#endif
