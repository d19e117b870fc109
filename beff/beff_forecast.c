/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_forecast.h"

#include <math.h>

/* Iterations that both rules settle at, for an iteration time; per_target_s: of all patterns. */
static double iterations(const struct beff_loop_rule *rule, double iteration_s, double all_s)
{
    if (rule->definition == BEFF_36) return fmax(1, rule->target_s / all_s);
    if (iteration_s * (double)rule->most <= 2 * rule->window_s) return (double)rule->most;
    return fmax(1, sqrt(2.0) * rule->window_s / iteration_s);
}

static double iteration_s(const struct beff_cube *c, int size, int method, int pattern)
{
    const struct beff_cell *cell = beff_cell_at(c, 0, size, method, pattern);
    return cell->loop > 0 ? cell->time_s / (double)cell->loop : 0;
}

/* Seconds of one method: loops, and what two more iterations take for the warm-up and for looking
 * at the messages. loops_s: [out] what the loops of `last` took. */
static double method_s(const struct beff_cube *c, const struct beff_loop_rule *rule, double factor,
                       int last, int method)
{
    double all_s = 0, sum_s = 0;
    for (int p = 0; p < c->patterns_n; p++)
        all_s += iteration_s(c, last, method, p) * factor;
    for (int p = 0; p < c->patterns_n && all_s > 0; p++) {
        const double s = iteration_s(c, last, method, p) * factor;
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
