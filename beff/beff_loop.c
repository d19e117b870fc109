/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_loop.h"

#include <math.h>
#include <stdbool.h>

struct beff_loop_rule beff_loop_standard(enum beff_definition definition)
{
    return (struct beff_loop_rule){definition, 300, 2.5e-3, 0.5};
}

static int64_t within(double x, int64_t low, int64_t high)
{
    if (!(x > (double)low)) return low;
    return x < (double)high ? (int64_t)x : high;
}

/* The next size costs between as much as the last one and growth times as much: as it grew before,
 * within these bounds. */
static double predicted(double growth, double last_s, double before_s)
{
    const double grew = before_s > 0 ? last_s / before_s : 1.0;
    return last_s * fmin(fmax(grew, 1.0), growth);
}

int64_t beff_loop_paper(const struct beff_loop_rule *rule, double growth, double same_s,
                        double last_s, double before_s)
{
    const double most = (double)rule->most, window_s = rule->window_s;
    if (!(last_s > 0)) {
        const bool endless = same_s * most > 20 * window_s;
        return endless ? within(window_s / same_s, 1, rule->most) : rule->most;
    }
    const double iteration_s = same_s > 0 ? same_s : predicted(growth, last_s, before_s);
    if (iteration_s * most <= 2 * window_s) return rule->most;
    return within(sqrt(2.0) * window_s / iteration_s, 1, rule->most);
}

int64_t beff_loop_36_cap(const struct beff_loop_rule *rule, double t0_s)
{
    return within(10 * rule->target_s / t0_s, 10, INT32_MAX);
}

int64_t beff_loop_36_next(const struct beff_loop_rule *rule, double growth, int64_t cap,
                          int64_t last, double last_s)
{
    return within((double)last / growth * fmax(1.0, rule->target_s / last_s), 1, cap);
}

enum beff_effort beff_loop_effort(const struct beff_budget *b)
{
    if (b->rep == 0) {
        const double behind_s = (b->rep_left_s - b->size_s) * BEFF_BEST_METHOD_SHARE;
        const bool fits = b->elapsed_s + b->size_s + behind_s <= b->limit_s * 2 / 3;
        return fits ? BEFF_FULL : BEFF_BEST_METHOD;
    }
    const double began_s = b->elapsed_s - b->rep_s;
    const double share_s = (b->limit_s - began_s) / (b->reps_n - b->rep);
    return b->rep_s + b->size_s <= share_s ? BEFF_FULL : BEFF_SKIPPED;
}
