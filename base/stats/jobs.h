/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_JOBS_H
#define STATS_JOBS_H
/* Rounds of several jobs: what a job has in common, as its nodes, its rounds share, so they are no independent values.
 * Where jobs have several rounds, each counts once, by its median; docs/statistics.md. Local. */
#include "base/stats/request.h"

/* Student's t takes over where the sign test has no interval of 95 %. */
enum { JOBS_FEW = 5 };

/* job: of each value. [out] to: the median of each job, of its first values, most at the most; in the order of the jobs'
 * first values. Returns 0 or ERR_NOMEM. */
int jobs_medians_of(struct request *r, const struct values *v, const struct values *job, int most,
                    struct values *to);

/* Member "jobs", the job of each value as a number. [out] to: the medians of several jobs, in their order, where one
 * has several values; otherwise v. So jobs count where to->n < v->n. Returns 0, ERR_USAGE or ERR_NOMEM. */
int jobs_medians(struct request *r, const json_t *from, const struct values *v, struct values *to);

/* Whether Student's t says where the centre of values is: they are medians of 2 to JOBS_FEW jobs. all: values that they
 * are made of. */
bool jobs_few(const struct values *medians, int all);

/* The interval of the mean. n >= 2. */
void jobs_interval(const struct values *medians, double level, double *lo, double *hi);

/* How often chance alone would put the mean as far from a value, two-sided. n >= 2. */
double jobs_p(const struct values *medians, double at);

#endif
