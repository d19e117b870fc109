/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/loop.h"

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

int64_t beff_loop_paper(const struct beff_loop_rule *rule, double growth, double same_s,
                        double last_s, double before_s)
{
    const double most = (double)rule->most, window_s = rule->window_s;
    if (!(last_s > 0)) {
        const bool endless = same_s * most > 20 * window_s;
        return endless ? within(window_s / same_s, 1, rule->most) : rule->most;
    }
    /* The next size costs between as much as the last one and growth times as much: as it grew
     * before, within these bounds. */
    const double grew = before_s > 0 ? last_s / before_s : 1.0;
    const double iteration_s = same_s > 0 ? same_s : last_s * fmin(fmax(grew, 1.0), growth);
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

/* Iterations that both rules settle at, for an iteration time; per_target_s: of all patterns. */
static double iterations(const struct beff_loop_rule *rule, double iteration_s, double all_s)
{
    if (rule->definition == BEFF_36) return fmax(1, rule->target_s / all_s);
    if (iteration_s * (double)rule->most <= 2 * rule->window_s) return (double)rule->most;
    return fmax(1, sqrt(2.0) * rule->window_s / iteration_s);
}

/* Seconds of one method: loops, and what two more iterations take for the warm-up and for looking
 * at the messages. loops_s: [out] what the loops of `last` took. */
static double method_s(const struct beff_cube *c, const struct beff_loop_rule *rule, double factor,
                       int last, int method)
{
    double all_s = 0, sum_s = 0;
    for (int p = 0; p < c->patterns_n; p++)
        all_s += beff_iteration_s(beff_cell_at(c, 0, last, method, p)) * factor;
    for (int p = 0; p < c->patterns_n && all_s > 0; p++) {
        const double s = beff_iteration_s(beff_cell_at(c, 0, last, method, p)) * factor;
        if (s > 0) sum_s += s * (iterations(rule, s, all_s) + 2);
    }
    return sum_s;
}

double beff_forecast_size(const struct beff_cube *c, const struct beff_loop_rule *rule,
                          int64_t lmax_bytes, double wall_s, int last, int size)
{
    double factor = 1, now_s = 0, then_s = 0;
    for (int i = last + 1; i <= size; i++)
        factor *= beff_size_growth(lmax_bytes, i);
    for (int m = 0; m < BEFF_METHODS_N; m++) {
        now_s += method_s(c, rule, 1, last, m);
        then_s += method_s(c, rule, factor, last, m);
    }
    return then_s + fmax(0, wall_s - now_s);
}

double beff_forecast_rest(const struct beff_cube *c, const struct beff_loop_rule *rule,
                          int64_t lmax_bytes, double wall_s, int size)
{
    double sum_s = 0;
    for (int i = size; i < BEFF_SIZES_N; i++)
        sum_s += beff_forecast_size(c, rule, lmax_bytes, wall_s, size - 1, i);
    return sum_s;
}
