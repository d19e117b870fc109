/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_BALANCE_H
#define BASE_BALANCE_H
/* Layer 0. Whether I/O keeps up with a computation, from the rounds so far: zeta of each pair of runs, with
 * I/O and without, and the part of it that moving data is. docs/zeta.md says what follows from it.
 * The caller checks first for what makes a measurement meaningless (too short, disturbed). Local. */
#include <jansson.h>
#include <stdbool.h>

#include "base/disturbance.h"
#include "base/sequential.h"

#define BALANCE_GOAL     0.10 /* NAS's goal: zeta is at most this */
#define BALANCE_NEEDLESS 0.01 /* data that cost at most this would do with slower I/O */
#define BALANCE_ERROR    0.05 /* of an interval, both sides, all looks together */
#define BALANCE_SHORT_S  1.0  /* a T_T below this is dominated by noise */

enum balance_bound { BALANCE_AT_NEEDLESS, BALANCE_AT_GOAL, BALANCE_BOUNDS };

/* Where the median of a quantity lies. */
struct balance_estimate {
    int looked_at;            /* rounds of the last look; 0: none yet */
    double lo, hi;            /* in the intervals of all looks; NaN: there is none yet */
    int side[BALANCE_BOUNDS]; /* 1 above, -1 at or below, 0 undecided */
    double
        needed[BALANCE_BOUNDS]; /* rounds in all that would probably decide; NaN: not known yet */
    bool conflict;              /* looks contradict each other: what was measured has changed */
    int n,
        above; /* rounds, and those of them that lie above the goal: a median says nothing of a few of these */
    double mean;
    bool
        none_at_last; /* no interval at the last look: the rounds rise, fall or depend on the one before */
};

/* Rounds that go on until it is decided: how many at most, and those of the first look (base/sequential.h). */
#define BALANCE_ROUNDS_MAX   64
#define BALANCE_ROUNDS_FIRST 8

/* Looks for n >= 1 rounds. open: they go on until it is decided; else one look at the last, which was fixed in
 * advance. cut: they have ended at n because their time was over. Returns 0 or ERR_NOMEM. */
int balance_plan(int n, bool open, bool cut, struct sequential_plan *plan);

/* By the sign test: only one run of a pair adds to the quantity, so it is not symmetric. x: a finite value
 * for each of n rounds, in their order; n may be 0. [out] to: without interval where there is none. Returns
 * 0 or ERR_NOMEM. */
int balance_look(const struct sequential_plan *plan, const double *x, int n,
                 struct balance_estimate *to);

/* Counts rounds above the goal, and takes their mean; balance_look does that, too. n >= 1. */
void balance_mean(const double *x, int n, struct balance_estimate *to);

enum balance {
    BALANCE_UNDECIDED,
    BALANCE_MET,      /* zeta lies at or below the goal */
    BALANCE_FASTER,   /* besides, data lie at or below BALANCE_NEEDLESS */
    BALANCE_MISSED,   /* zeta and data lie above the goal */
    BALANCE_NOT_DATA, /* zeta lies above it, data at or below */
};

/* The interval of zeta decides whether the goal is met, that of data whether I/O is the cause. A wrong answer needs
 * one of the two to miss on one side, which has a probability of at most half of BALANCE_ERROR. */
enum balance balance_of(const struct balance_estimate *zeta, const struct balance_estimate *data);

/* What disturbed the rounds that are compared with computing alone. */
struct balance_rounds {
    int rounds;
    int disturbed; /* what was measured, or computing alone */
    int shared;    /* computing alone lacked processors that no other program had */
    /* Median of what is judged over the rounds that were not disturbed; NaN: there is none. */
    double zeta, data;
};

#define BALANCE_WHY 400

/* Who takes processors from ranks that are disturbed (base/disturbance.h); which of them, the evidence of a run says. */
#define BALANCE_TAKERS "other programs, other virtual machines, a CPU quota or a suspension"

/* Whether what so many of the runs or rounds have in common spoils all: half of them or more. */
bool balance_half(int some, int all);

/* Disturbed or shared in half of the rounds or more; or those that were not disturbed would give another
 * answer than found, which all of them together gave; or looks that contradict each other (conflict). Returns
 * the reason as a word, NULL when there is none. rounds: what people call them, "rounds"; alone: when they
 * computed alone, "without writing". why: [out] the same for people, and what to do about it. */
const char *balance_spoiled(const struct balance_rounds *r, enum balance found, bool conflict,
                            const char *rounds, const char *alone, char why[BALANCE_WHY]);

/* Adds the stamp of a disturbance to those beside an answer. spoils: it takes the answer away, and is a
 * warning; else a note that says in how many of the rounds. */
void balance_disturbance(json_t *to, const struct balance_rounds *r, const struct disturbance *d,
                         bool spoils, const char *rounds);

/* Whether a reason of balance_spoiled may be gone after some more rounds. reason: NULL: there is none. */
bool balance_may_pass(const char *reason);

/* Whether more rounds cannot change the answer: it is one of the four, and a disturbance, which may pass, is not
 * its reason. answer: NULL: there is none. */
bool balance_settled(const json_t *stamps, const char *answer, const char *reason);

/* Rounds, in all, that would probably decide what is undecided. value: zeta so far. NaN: not known
 * yet. */
double balance_needed(const struct balance_estimate *zeta, const struct balance_estimate *data,
                      double value);

/* Adds the goal, zeta and data with their intervals to the numbers of a stamp (stamp_number), which it
 * returns; where I/O is faster than needed, balance_spare as well (data_factor_at_goal). name: zeta's key,
 * "zeta_paired". most: as of balance_spare. */
json_t *balance_numbers(json_t *numbers, const char *name, double zeta,
                        const struct balance_estimate *of_zeta, double data,
                        const struct balance_estimate *of_data, double most);

/* Where the mean lies above the goal, a clause for the end of a sentence that says that zeta's median does not, "; in 9 of
 * 36 rounds ...", which adds zeta_mean and rounds_above_n to the numbers of its stamp; else "". Returns out. */
const char *balance_but(const struct balance_estimate *zeta, const char *rounds, json_t *numbers,
                        char out[96]);

/* How many times as slow data could be, all else as it is, with zeta still at the goal: by the upper ends
 * of both intervals. For BALANCE_FASTER. most: so many times as slow, what is hidden now still is; INFINITY:
 * nothing is hidden; NaN: that is not known, and NaN is the answer. At least 1. */
double balance_spare(const struct balance_estimate *zeta, const struct balance_estimate *data,
                     double most);

#define BALANCE_SLOWER 160

/* The sentence about it, with a blank before it, "" where it is not known; returns out. goal: its name, "NAS's
 * goal"; behind: what hides I/O. */
const char *balance_slower(double spare, double most, const char *goal, const char *behind,
                           char out[BALANCE_SLOWER]);

/* What is undecided, for a sentence that says so. */
struct balance_open {
    const char *what;   /* zeta's name, "paired zeta" */
    const char *parts;  /* name of what data are, "data" */
    const char *round;  /* "round" or "pair" */
    int rounds, most;   /* rounds so far, and how many there may be */
    bool until_decided; /* they were to go on until it is decided */
    bool alone_missing; /* no round holds a run that only computed */
    double round_s;     /* what a round takes; 0: not known */
    double zeta, data;
    const struct balance_estimate *of_zeta, *of_data;
};

/* Writes the sentence: why it is undecided, and how many rounds in all, and minutes, would probably decide, which
 * it adds to the numbers of its stamp (rounds_needed_n, minutes_needed); returns out. */
const char *balance_undecided(const struct balance_open *open, json_t *numbers, char out[512]);

/* A number with its interval, "0.034 (0.031 to 0.040)"; returns out. */
const char *balance_words(double value, const struct balance_estimate *e, char out[64]);

#endif
