/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H
/* Serial. Two sets of results of the same thing, A and then B: what became better or worse. A
 * metric is a sample on each side; it changed when a test that is corrected for the number of
 * metrics says so, and matters when the ratio of the medians is beyond a threshold. All functions
 * are local. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/stat.h"
#include "report/load.h"
#include "report/page.h"

enum compare_verdict {
    COMPARE_FEW,     /* fewer than COMPARE_RUNS_MIN values on a side */
    COMPARE_SAME,    /* no difference beyond the threshold, or none worth speaking of */
    COMPARE_UNCLEAR, /* beyond the threshold, but it may be chance: more runs would tell */
    COMPARE_BETTER,  /* B is better */
    COMPARE_WORSE,
};
#define COMPARE_RUNS_MIN 3

struct compare_metric {
    char *name;         /* "T_T of posix on 2 processors" */
    const char *unit;   /* "s", "bytes/s" */
    bool higher_better; /* of rates */
    bool pooled;        /* in: counts in the metric of all writers together; out: is that one */
    bool tested;        /* enough values on both sides */
    int a_n, b_n;
    double *a, *b; /* values > 0; none of a pooled metric */
    double a_median, b_median;
    struct stat_ratio ratio; /* B over A */
    double p_rank, p_welch;  /* Mann-Whitney; Welch of the logarithms; NaN with too few values */
    double p;                /* of the test that decides, corrected (Holm) */
    const char *test;        /* its name */
    double worse_by;         /* share by which B is worse; < 0: better */
    enum compare_verdict verdict;
};

struct compare {
    double level, threshold; /* 0.95; 0.05: share by which B may be worse */
    int metrics_n, room;
    struct compare_metric *metric;
    json_t *reasons; /* why A and B cannot be compared; empty when they can */
    json_t *notes;   /* what differs and does not forbid it, what had no partner */
};

/* Compares; level and threshold are given, the rest is [out] and freed by compare_free, also after
 * an error. Returns 0, also when not comparable, or ERR_NOMEM. */
int compare_docs(struct compare *c, const struct docs *a, const struct docs *b);
void compare_free(struct compare *c);

/* Adds a metric; takes its name and copies the values. Returns 0 or ERR_NOMEM. */
int compare_add(struct compare *c, const struct compare_metric *m);

/* Decides about all metrics that were added. Two or more that are to be pooled make another one:
 * whether they changed on average, which is seen in fewer runs. Returns 0 or ERR_NOMEM. */
int compare_judge(struct compare *c);

/* A reason or note, printf-style. */
void compare_say(json_t *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether anything can be said: comparable, and a metric with enough values. */
bool compare_is_possible(const struct compare *c);
bool compare_has(const struct compare *c, enum compare_verdict v);
bool compare_is_worse(const struct compare *c);

/* Metrics, reasons and notes of one kind of results. Return 0 or ERR_NOMEM. */
int compare_bt(struct compare *c, const struct docs *a, const struct docs *b);
int compare_values(struct compare *c, const struct docs *a, const struct docs *b);

/* Words for people, a "nht1-compare/1" object (new reference), a page. */
void compare_text(const struct compare *c, const char *a, const char *b, FILE *to);
json_t *compare_json(const struct compare *c, const char *a, const char *b);
struct page *compare_page(const struct compare *c, const char *a, const char *b);

#endif
