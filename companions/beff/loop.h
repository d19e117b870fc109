/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_LOOP_H
#define BEFF_LOOP_H
/* Layer 2, free of MPI. How often a measurement is repeated inside its loop, and what is left out
 * when the system is so slow that a whole run would take too long. All functions are local. */
#include <stdint.h>

#include "companions/beff/cube.h"
#include "companions/beff/pattern.h"

/* Lengths of the loops. */
struct beff_loop_rule {
    enum beff_definition definition;
    int64_t most;    /* paper: iterations for 1 B, and the most for any size */
    double window_s; /* paper: a loop takes from window_s to twice as long */
    double target_s; /* 3.6: all patterns of a size and method together */
};

/* The published rules: 300 iterations, 2.5 ms, 0.5 s. */
struct beff_loop_rule beff_loop_standard(enum beff_definition definition);

/* The paper's rule, for one pattern and method. growth: factor from the size before to this one.
 * Iteration times in seconds, 0 when not known: same_s: of this size in an earlier repetition;
 * last_s, before_s: of the size before, and of the one before that, in this repetition. Without
 * last_s it is the first size: its iterations are `most`, except that a loop whose same_s promises
 * more than twenty windows is cut to one. [RK01] section 4. */
int64_t beff_loop_paper(const struct beff_loop_rule *rule, double growth, double same_s,
                        double last_s, double before_s);

/* The rule of release 3.6, for all patterns of one method together. t0_s: 10 iterations of every
 * pattern at 1 B. */
int64_t beff_loop_36_cap(const struct beff_loop_rule *rule, double t0_s);
/* last: iterations at the size before, which took last_s seconds, patterns summed. */
int64_t beff_loop_36_next(const struct beff_loop_rule *rule, double growth, int64_t cap,
                          int64_t last, double last_s);

/* What is measured at one size in one repetition. */
enum beff_effort {
    BEFF_FULL,        /* every method */
    BEFF_BEST_METHOD, /* per pattern the method that was best at the size before, one iteration */
    BEFF_SKIPPED,
};

/* The time of a run against its limit. */
struct beff_budget {
    double limit_s;    /* of the whole run */
    double elapsed_s;  /* of the whole run so far */
    double rep_s;      /* of this repetition so far */
    double rep_left_s; /* that the rest of this repetition is expected to take, all of it */
    double size_s;     /* that this size is expected to take */
    int rep, reps_n;
};

/* What a round with one method and one iteration costs, against a whole one of long messages. */
#define BEFF_BEST_METHOD_SHARE (1.0 / 6)

/* The first repetition measures every size, with every method as long as all sizes, those behind it
 * with one method, are over in two thirds of the limit; later ones have equal shares of the time
 * that is left and leave out the sizes that do not fit into theirs. */
enum beff_effort beff_loop_effort(const struct beff_budget *b);

/* --- how long what has not been measured will take, from what has --- */

/* Seconds that a size takes, all patterns and methods, in the first repetition: every iteration
 * grows by growth(s) from the size `last`, which has been measured; what was not loop stays.
 * wall_s: what `last` took in all. size > last. */
double beff_forecast_size(const struct beff_cube *c, const struct beff_loop_rule *rule,
                          int64_t lmax_bytes, double wall_s, int last, int size);

/* Seconds of all sizes from `size` to the end of the first repetition. size >= 1; the size before
 * has been measured. */
double beff_forecast_rest(const struct beff_cube *c, const struct beff_loop_rule *rule,
                          int64_t lmax_bytes, double wall_s, int size);

#endif
