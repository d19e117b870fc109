/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_PLAN_H
#define STATS_PLAN_H
/* Serial. The looks of a request about rounds that go on until it is decided. Local. */
#include "base/sequential.h"
#include "base/stats/request.h"

/* Whether the request has a plan: "rounds_max" or "stages". */
bool plan_given(const struct request *r);

/* By "stages", else by "rounds_max", else for 64 rounds. Returns 0, ERR_USAGE or ERR_NOMEM. */
int plan_of(const struct request *r, double error, struct sequential_plan *out);

/* Refuses more values than the plan looks at. n: of them, or of their jobs where these count. Returns 0 or ERR_USAGE. */
int plan_covers(const struct request *r, const struct sequential_plan *plan, int n);

#endif
