/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_FORECAST_H
#define BEFF_FORECAST_H
/* Floor 2, free of MPI. How long what has not been measured will take, from what has. All functions
 * are local. */
#include "beff/beff_cube.h"
#include "beff/beff_loop.h"

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
