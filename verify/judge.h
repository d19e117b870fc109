/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_JUDGE_H
#define VERIFY_JUDGE_H
/* Serial. From what was measured to a verdict: published norms, the listing, what was proved and
 * what was not. */
#include "verify/check.h"

/* Compares with the published norms where they apply, takes in the listing's result, and sets the
 * verdict. Local. */
void judge(struct check *c);

/* The i-th thing that was proved, or that was not, as a sentence without a full stop in buf; NULL
 * past the last. Local. */
#define JUDGE_TEXT 320
const char *judge_proved(const struct check *c, int i, char buf[JUDGE_TEXT]);
const char *judge_not_proved(const struct check *c, int i, char buf[JUDGE_TEXT]);

/* The i-th remark that takes no part in the verdict; as above. */
const char *judge_note(const struct check *c, int i, char buf[JUDGE_TEXT]);

/* "VERIFIED", "VERIFIED IN PART", "PLAUSIBLE" or "WRONG". */
const char *judge_verdict(enum check_verdict v);

#endif
