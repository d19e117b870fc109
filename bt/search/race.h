/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RACE_H
#define BT_RACE_H
/* Layer 4, free of MPI, of clocks and of what a candidate is. A race looks, in a given time, for a
 * candidate whose runs are shorter than those of the plain one, the simplest of all: successive halving
 * [Jamieson] with the elimination of [Maron].
 *
 *   rung 0   a compute-only run and one of the first yardstick: what a run takes, roughly. Where only
 *            one of the two took long, it runs again
 *   rung 1   all candidates, few dumps; a round is a run of each in random order, and a compute-only
 *            run. One that is clearly slower than the best leaves after any round from the
 *            second on; when the rung's time is up the slower half leaves
 *   rung 2.. those that are left, twice the dumps, until RACE_FINALISTS or fewer are left
 *   last     these, the plain candidate and the yardsticks run in rounds of their own, none of which
 *            had a part in choosing them. Each is compared with the plain one at the looks of
 *            base/sequential.h; the error of all comparisons together is 5 %
 *
 * Where half of the runs of the last rung or more were disturbed nothing is concluded: the race goes on while
 * there is time, since that may pass.
 *
 * The winner is the simplest of those shown to be faster than the plain one and not shown to be slower
 * than the fastest of these. Without one the plain candidate wins, which is an
 * answer, too. So among equal candidates the plain one wins at least 95 % of races, and one that is slower
 * than it at most 5 %.
 *
 * It is told what each run took and asked for the next one, until there is none: so one process can
 * hold it, and a test can run it on made-up times. All functions are local. */
#include <stdbool.h>
#include <stdint.h>

#define RACE_FINALISTS  4
#define RACE_MARGIN     0.02 /* ratios closer to 1 than this make no difference */
#define RACE_COMPUTE    (-1) /* as a candidate: the run without writing */
#define RACE_DUMPS_MIN  2    /* of a run: one alone overlaps with nothing */
#define RACE_LAST_SHARE 0.5  /* of the time, kept for the last rung */

struct race_entry {
    int order; /* when there is no time for all, those with the smallest stay */
    int cost;  /* of changed settings, component and file format; the plain one has the least */
    bool yardstick; /* always takes part in the last rung */
};

struct race_plan {
    int n;
    const struct race_entry *entry; /* [n], borrowed */
    double budget_s;
    int64_t dumps_n; /* of a whole run */
    uint64_t seed;
};

/* A run: asked for by race_next, and told with its times by race_add_result. */
struct race_trial {
    int candidate;
    int rung, round; /* from 1; rung 0 is the try before the first */
    int64_t dumps;
    double patience_s; /* who takes longer is waiting for something that does not answer */
    double t_t_s;      /* NaN: failed */
    bool disturbed;    /* other programs took processors from it */
    double took_s;     /* with all around it */
};

enum race_state {
    RACE_UNTRIED, /* no time for it */
    RACE_IN,      /* still running; of a standing: and not judged against the best */
    RACE_CUT,     /* in the slower half of a rung */
    RACE_SLOWER,  /* shown to be, by more than RACE_MARGIN */
    RACE_TIED,    /* in the last rung, and not shown to be */
    RACE_BEST,
    RACE_FAILED,
};

/* What is known of a candidate against the best one. */
struct race_standing {
    enum race_state state;
    int rung; /* the last it ran in, 0: none */
    int runs; /* in all rungs but 0 */
    double ratio, lo,
        hi; /* of T_T over that of the best, in the rounds of that rung which both ran; interval
                             as of race_ratio */
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
int race_add_result(struct race *race, const struct race_trial *done);

/* Whether it came to its end before the time was over: every finalist is shown to be faster than the
 * plain candidate, or slower, or within RACE_MARGIN of it, or was not in 64 rounds. */
bool race_settled(const struct race *race);

enum race_verdict {
    RACE_UNDECIDED, /* it was over before it was known whether any is faster, or was disturbed */
    RACE_WINNER,    /* the best is faster than the plain candidate */
    RACE_NO_WINNER, /* the plain one will do */
};
enum race_verdict race_verdict(const struct race *race);

/* The simplest candidate that has not failed, of the finalists once there are any; -1: all failed. */
int race_plain(const struct race *race);

/* The winner; before the last rung the simplest that ran. -1 when no run of any has ended. And how each
 * stands against it: [n]. */
int race_best(const struct race *race);
/* Who has the shortest times of the newest rung, for whoever looks on: nothing follows from it. -1 as
 * above. */
int race_ahead(const struct race *race);
void race_standings(const struct race *race, struct race_standing *standing);

/* The rungs, the first is rung 1; whether the last of them is the last rung. Borrowed. */
int race_rungs(const struct race *race, const struct race_rung **rung, bool *last);

/* T_T of a over that of b, in the rounds of a rung which both ran; b may be RACE_COMPUTE. [out] centre,
 * and interval by an exact method (docs/statistics.md): in the last rung against the plain candidate with
 * this finalist's share of 5 %, else at 5 %. NaN where there is none, as with fewer than 6 rounds. Returns
 * the number of rounds. */
int race_ratio(const struct race *race, int rung, int a, int b, double *ratio, double *lo,
               double *hi);

/* Of the newest rung: runs that did not fail, and of these the disturbed ones. Whether these are so many in the
 * last rung that nothing is concluded. */
bool race_disturbed(const struct race *race, int *runs, int *disturbed);

/* How many rounds of the last rung, all together, would probably tell how each finalist compares with the plain
 * candidate, at most those after which it is over, and what a race with as many takes: of whole runs where it needs
 * more than the last rung is planned for. NaN where nobody can say. */
void race_needed(const struct race *race, double *rounds, double *seconds);

/* The same over several pairs and all rungs, at 5 %: what a setting does. */
struct race_pair {
    int a, b;
};
int race_effect(const struct race *race, const struct race_pair *pair, int n, double *ratio,
                double *lo, double *hi);

#endif
