/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_SEQUENTIAL_H
#define BASE_SEQUENTIAL_H
/* Layer 0. Measuring until it is decided: a metric is measured once a round, and at fixed numbers of
 * rounds, the looks, its interval is compared with bounds. The intervals of all looks together miss
 * the parameter, the median of the metric, with at most the probability that the plan was made for;
 * so a verdict at any look, whenever the measuring stops, is wrong at most as often.
 * docs/statistics.md says why and how far that was tested. A plan depends on nothing that is
 * measured. Local. */
#include <stdbool.h>

#include "base/rank.h"

enum {
    SEQUENTIAL_LOOKS_MAX = 64,
    SEQUENTIAL_ROUNDS_MIN = 6,
    SEQUENTIAL_ROUNDS_MAX = RANK_VALUES_MAX,
};

/* Where intervals are made, and how wide they are: cut and share of base/rank.h for each look and
 * method. On each side half of the error is spent along error/2 ln(1 + (e - 1) t), t = rounds over
 * the horizon [LanDeMets]; what a look cannot spend, since probabilities are steps, goes
 * on to the next. Where measuring goes on behind the end of a plan, the next stage spends what is left then, by the
 * same function from there on. For the sign test the joint distribution over the looks is computed, for signed
 * ranks the shares of the looks are added up, which is above it. */
struct sequential_plan {
    double error; /* that the interval of any look misses, on either side */
    int n;        /* looks */
    int rounds[SEQUENTIAL_LOOKS_MAX];
    int horizon[SEQUENTIAL_LOOKS_MAX]; /* rounds of the last look of its stage, as it was planned */
    int first[SEQUENTIAL_LOOKS_MAX];   /* look of its stage */
    bool goes_on; /* a longer plan would be a further stage of this one, not another measurement */
    int cut[RANK_METHODS][SEQUENTIAL_LOOKS_MAX]; /* -1: no interval at this look */
    /* On one side: that of this look's interval alone, and of all up to it. */
    double tail[RANK_METHODS][SEQUENTIAL_LOOKS_MAX], spent[RANK_METHODS][SEQUENTIAL_LOOKS_MAX];
};

/* Looks from the first number of rounds, at least 6, at which its share of the error can be reached,
 * each at a third more rounds than the one before, up to rounds_max: 8 11 15 20 27 36 48 64.
 * error: inside (0, 1), both sides, 0.05. rounds_max: SEQUENTIAL_ROUNDS_MIN to
 * SEQUENTIAL_ROUNDS_MAX. Returns 0 or ERR_NOMEM. */
int sequential_plan(double error, int rounds_max, struct sequential_plan *out);

/* The same with looks that are given, ascending, within these limits but from 1 on: a single one is a
 * fixed plan. Returns 0 or ERR_NOMEM. */
int sequential_plan_at(double error, const int *rounds, int n, struct sequential_plan *out);

/* Measuring that was planned anew while it went on. */
struct sequential_stage {
    int rounds;     /* with which it ended; 0 for a last one that goes on */
    int rounds_max; /* until it is decided, so many at most; 0: their number was given, and there is one look at the end */
};

/* The looks that were taken in each stage, and those which the last one has. stage: numbers of rounds ascend.
 * Returns 0, ERR_USAGE for no look or more than SEQUENTIAL_LOOKS_MAX, or ERR_NOMEM. */
int sequential_plan_stages(double error, const struct sequential_stage *stage, int n,
                           struct sequential_plan *out);

/* Makes this number of rounds the last look, at which all that is left of the error is spent: for
 * measuring that ends for a reason that has nothing to do with what was measured, such as its time.
 * Returns 0 or ERR_NOMEM. */
int sequential_plan_end(struct sequential_plan *p, int rounds);

struct sequential_data {
    const double *x; /* a value for each round, in their order; borrowed */
    int n;
    /* Symmetric about its centre by the way it is measured, as the logarithm of the ratio of two
     * programs' times whose order within the round is random: signed ranks, unless the values are
     * skewed. Otherwise the sign test. */
    bool symmetric;
    /* Rounds that disturbances of this machine last on average; at least 1. */
    double burst;
};

/* One look. */
struct sequential_look {
    int rounds;
    enum rank_method method;
    bool skewed;        /* symmetric by design, but not as measured */
    double correlation; /* of rounds that follow each other; 0 unless there is evidence of it */
    double widening;    /* of the interval for that, 1 for none */
    bool drifting;      /* the values rise or fall with the rounds: there is no centre */
    bool exists;        /* whether there is an interval at this level and number of rounds */
    double centre;
    double lo, hi; /* -INFINITY, INFINITY without one */
};

struct sequential_state {
    int looks; /* that were taken */
    struct sequential_look last;
    double common_lo, common_hi; /* what the intervals of all looks have in common */
    bool conflict; /* nothing: what was measured changed between the looks; no verdict is given */
};

struct sequential_bound {
    double at;
    int side;   /* [out] 1 above, -1 at or below, 0 undecided */
    int rounds; /* [out] of the look that decided; 0 */
};

/* Takes look k = s->looks of the plan, for which the data must have enough rounds, and judges bounds
 * that are undecided. *s starts zeroed. Returns 0 or ERR_NOMEM. */
int sequential_look(const struct sequential_plan *p, const struct sequential_data *d,
                    struct sequential_state *s, struct sequential_bound *bound, int bounds_n);

/* All looks for which there are rounds. Returns 0 or ERR_NOMEM. */
int sequential_run(const struct sequential_plan *p, const struct sequential_data *d,
                   struct sequential_state *s, struct sequential_bound *bound, int bounds_n);

/* An estimate from the spread so far: how many rounds, all together, decide about a bound with 80 %
 * probability if the centre is where all rounds so far have it. A number of the plan's looks or, beyond
 * the last, of rounds of a longer plan, never fewer than have an interval; INFINITY above a million or
 * where the centre lies on the bound, NAN without values enough for an estimate (6). [out]. Returns 0 or ERR_NOMEM. */
int sequential_needed(const struct sequential_plan *p, const struct sequential_data *d,
                      const struct sequential_state *s, double bound, double *rounds);

/* How often chance alone would put the median as far from a value, two-sided, by the method that a
 * look at all rounds has; for Holm's correction of several metrics. 1 where the values drift. d->n:
 * 1 to SEQUENTIAL_ROUNDS_MAX. Returns 0 or ERR_NOMEM. */
int sequential_p(const struct sequential_data *d, double at, double *p);

#endif
