/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RACE_H
#define BT_RACE_H
/* Layer 4, free of MPI, of clocks and of what a candidate is. A race finds the candidate whose runs
 * are shortest, in a given time: successive halving [Jamieson] with the elimination of [Maron].
 *
 *   rung 0   a compute-only run and one of the first yardstick: what a run takes, roughly. Where only
 *            one of the two took long, it runs again
 *   rung 1   all candidates, few dumps; a round is a run of each in random order, and a compute-only
 *            run. Who is slower than the best with hardly a doubt leaves after any round from the
 *            second on; when the rung's time is up the slower half leaves
 *   rung 2.. those that are left, twice the dumps, until RACE_FINALISTS or fewer are left
 *   last     the best of these is the incumbent. It, the others and the yardsticks run in rounds of
 *            their own, none of which had a part in choosing it: from these come the intervals
 *
 * It is told what each run took and asked for the next one, until there is none: so one process can
 * hold it, and a test can run it on made-up times. All functions are local. */
#include <stdbool.h>
#include <stdint.h>

#define RACE_FINALISTS  4
#define RACE_ALIKE      0.02 /* ratios closer to 1 than this are not worth more runs */
#define RACE_COMPUTE    (-1) /* as a candidate: the run without writing */
#define RACE_DUMPS_MIN  2    /* of a run: one alone overlaps with nothing */
#define RACE_LAST_SHARE 0.4  /* of the time, kept for the last rung */

struct race_entry {
    int order;      /* when there is no time for all, those with the smallest stay */
    bool yardstick; /* takes part in the last rung, whatever came before */
};

struct race_plan {
    int n;
    const struct race_entry *entry; /* [n], borrowed */
    double budget_s;
    int64_t dumps_n; /* of a whole run */
    uint64_t seed;
};

/* A run: asked for by race_next, and told with its times by race_told. */
struct race_trial {
    int candidate;
    int rung, round; /* from 1; rung 0 is the try before the first */
    int64_t dumps;
    double patience_s; /* who takes longer is waiting for something that does not answer */
    double t_t_s;      /* NaN: failed */
    double took_s;     /* with all around it */
};

enum race_state {
    RACE_UNTRIED, /* no time for it */
    RACE_IN,      /* still running */
    RACE_CUT,     /* in the slower half of a rung */
    RACE_SLOWER,  /* its interval does not reach the best */
    RACE_TIED,    /* in the last rung, and its interval does */
    RACE_BEST,
    RACE_FAILED,
};

/* What is known of a candidate against the best one. */
struct race_standing {
    enum race_state state;
    int rung; /* the last it ran in, 0: none */
    int runs; /* in all rungs but 0 */
    double ratio, lo,
        hi;       /* of T_T over that of the best, in the rounds of that rung which both ran;
                             95 % interval; NaN: not known */
    double t_t_s; /* median in that rung */
};

struct race_rung {
    int64_t dumps;
    int rounds, candidates_n; /* complete rounds; at its start */
};
#define RACE_RUNGS_MAX 32

struct race;

/* Starts a race at now_s of any clock. [out] race, to be freed. Returns 0 or ERR_NOMEM. */
int race_new(struct race **race, const struct race_plan *plan, double now_s);
void race_free(struct race *race);

/* The next run; false when the race is over. */
bool race_next(struct race *race, double now_s, struct race_trial *trial);

/* What became of it. Returns 0 or ERR_NOMEM. */
int race_told(struct race *race, const struct race_trial *done);

/* Whether it came to its end before the time was over: every finalist is slower than the best, or
 * within RACE_ALIKE of it. */
bool race_settled(const struct race *race);

/* The best candidate so far, -1 when no run of any has ended; and how each stands against it: [n]. */
int race_best(const struct race *race);
void race_stand(const struct race *race, struct race_standing *standing);

/* The rungs, the first is rung 1; whether the last of them is the last rung. Borrowed. */
int race_rungs(const struct race *race, const struct race_rung **rung, bool *last);

/* T_T of a over that of b (RACE_COMPUTE among them) in the rounds of a rung which both ran. [out]
 * median; 95 % interval, NaN from too few rounds. Returns the number of rounds. */
int race_ratio(const struct race *race, int rung, int a, int b, double *ratio, double *lo,
               double *hi);

/* The same over several pairs and all rungs: what a setting does. */
struct race_pair {
    int a, b;
};
int race_effect(const struct race *race, const struct race_pair *pair, int n, double *ratio,
                double *lo, double *hi);

#endif
