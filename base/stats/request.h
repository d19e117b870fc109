/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STATS_REQUEST_H
#define STATS_REQUEST_H
/* Serial. Requests for statistics and their answers, both JSON; docs/schema/nht1-stats-requests-1
 * and nht1-stats-1 describe them. Local. */
#include <jansson.h>
#include <stdbool.h>

#define STATS_OUTLIER_LIMIT 3.5 /* scaled median absolute deviations, see stat_outliers */
#define STATS_VALUES_MAX    100000

struct values {
    int n;
    double *x; /* the request's */
};

struct request {
    const json_t *json;
    const char *where; /* its name in messages */
    int owned_n;
    double **owned; /* arrays that are freed with the request */
};

/* An array for n numbers, freed with the request. [out] out, n 0. Returns 0 or ERR_NOMEM. */
int request_room(struct request *r, int n, struct values *out);

/* A member that must be an array of least numbers or more. Returns 0, ERR_USAGE or ERR_NOMEM. */
int request_values(struct request *r, const json_t *from, const char *key, int least,
                   struct values *out);

/* Whether two members have as many values. Returns 0 or ERR_USAGE. */
int request_same_length(const struct request *r, const char *a, int a_n, const char *b, int b_n);

/* Whether all values are above 0. */
bool values_positive(const struct values *v);

/* Members "a" and "b", samples whose ratio is asked for: values above 0; same: as many in both. */
int request_sides(struct request *r, const json_t *from, bool same, struct values *a,
                  struct values *b);

/* Members "x" and "y" with as many values. */
int request_points(struct request *r, struct values *x, struct values *y);

/* level: NAN when the request has none, otherwise inside (0, 1). */
int request_level(const struct request *r, double *level);

/* The summary of values; level: of the interval of the median, NAN for none. jobs: their medians by job
 * (base/stats/jobs.h), where jobs count and have the interval; else NULL. New reference, NULL after an error, which
 * has a message. */
json_t *answer_summary(const struct values *v, const struct values *jobs, double level);

/* Ratios of two samples of each of several quantities, A measured and then B: exact intervals, and p
 * corrected for their number. Rounds that resemble the one before make them wider. */
int answer_unpaired(struct request *r, json_t **out);

/* Spearman's rank correlation of x and y, and how often chance alone makes one as strong: exact for
 * up to 8 points, by Student's t beyond. */
int answer_correlation(struct request *r, json_t **out);

/* Centres of several metrics with their exact intervals, base/rank.h, and whether they differ from a
 * value: corrected for their number. */
int answer_centres(struct request *r, json_t **out);

/* Verdicts on bounds from the rounds so far, base/sequential.h. */
int answer_sequential(struct request *r, json_t **out);

/* Whether I/O keeps up, from pairs of runs: the rule of base/balance.h over all of them. */
int answer_balance(struct request *r, json_t **out);

/* The answer to one request, an object with the member "what". What has no answer (a fit through
 * too few points) is {"error": sentence}. [out] new reference. Returns 0, ERR_USAGE for a request
 * that is not understood, or ERR_NOMEM. */
int answer(const json_t *request, const char *where, json_t **out);

#endif
