/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/balance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/stamp.h"
#include "base/units.h"

static int estimate(const struct sequential_plan *plan, const double *x, int n,
                    struct balance_estimate *to)
{
    const struct sequential_data data = {.x = x, .n = n, .burst = 1};
    struct sequential_bound bound[BALANCE_BOUNDS] = {
        [BALANCE_AT_NEEDLESS] = {.at = BALANCE_NEEDLESS}, [BALANCE_AT_GOAL] = {.at = BALANCE_GOAL}};
    struct sequential_state state = {0};
    TRY(sequential_run(plan, &data, &state, bound, BALANCE_BOUNDS));
    if (state.looks > 0 && isfinite(state.common_lo) && !state.conflict) {
        to->lo = state.common_lo;
        to->hi = state.common_hi;
    }
    to->looked_at = state.last.rounds;
    to->conflict = state.conflict;
    to->none_at_last = state.looks > 0 && !state.last.exists;
    for (int b = 0; b < BALANCE_BOUNDS; b++) {
        to->side[b] = bound[b].side;
        TRY(sequential_needed(plan, &data, &state, bound[b].at, &to->needed[b]));
    }
    return 0;
}

int balance_plan(int n, bool open, bool cut, struct sequential_plan *plan)
{
    const int last = n < SEQUENTIAL_ROUNDS_MAX ? n : SEQUENTIAL_ROUNDS_MAX;
    if (!open) return sequential_plan_at(BALANCE_ERROR, &last, 1, plan);
    TRY(sequential_plan(BALANCE_ERROR, BALANCE_ROUNDS_MAX, plan));
    return cut && n < BALANCE_ROUNDS_MAX ? sequential_plan_end(plan, n) : 0;
}

int balance_look(const struct sequential_plan *plan, const double *x, int n,
                 struct balance_estimate *to)
{
    const struct balance_estimate none = {.lo = NAN, .hi = NAN, .needed = {NAN, NAN}, .mean = NAN};
    *to = none;
    if (n == 0) return 0;
    const int rc = estimate(plan, x, n, to);
    if (rc < 0) *to = none;
    balance_mean(x, n, to);
    return rc;
}

void balance_mean(const double *x, int n, struct balance_estimate *to)
{
    to->n = n;
    to->above = 0;
    to->mean = 0;
    for (int i = 0; i < n; i++) {
        to->above += x[i] > BALANCE_GOAL;
        to->mean += x[i] / n;
    }
}

enum balance balance_of(const struct balance_estimate *zeta, const struct balance_estimate *data)
{
    const int goal = zeta->side[BALANCE_AT_GOAL], moved = data->side[BALANCE_AT_GOAL];
    if (goal < 0) return data->side[BALANCE_AT_NEEDLESS] < 0 ? BALANCE_FASTER : BALANCE_MET;
    if (goal > 0 && moved > 0) return BALANCE_MISSED;
    if (goal > 0 && moved < 0) return BALANCE_NOT_DATA;
    return BALANCE_UNDECIDED;
}

/* Whether zeta and data, medians over some of the rounds, lie where an answer found from all of them has them. */
static bool agrees(enum balance found, double zeta, double data)
{
    switch (found) {
    case BALANCE_MET:
        return zeta <= BALANCE_GOAL;
    case BALANCE_FASTER:
        return zeta <= BALANCE_GOAL && data <= BALANCE_NEEDLESS;
    case BALANCE_MISSED:
        return zeta > BALANCE_GOAL && data > BALANCE_GOAL;
    case BALANCE_NOT_DATA:
        return zeta > BALANCE_GOAL && data <= BALANCE_GOAL;
    case BALANCE_UNDECIDED:
        return true;
    }
    return true;
}

double balance_needed(const struct balance_estimate *zeta, const struct balance_estimate *data,
                      double value)
{
    const double needed = zeta->side[BALANCE_AT_GOAL] ? 0 : zeta->needed[BALANCE_AT_GOAL];
    /* If it is above, it has to be known whether it is the data. */
    if (value > BALANCE_GOAL && !data->side[BALANCE_AT_GOAL])
        return fmax(needed, data->needed[BALANCE_AT_GOAL]);
    return needed;
}

bool balance_half(int some, int all)
{
    return some > 0 && 2 * some >= all;
}

const char *balance_spoiled(const struct balance_rounds *r, enum balance found, bool conflict,
                            const char *rounds, const char *alone, char why[BALANCE_WHY])
{
    if (balance_half(r->shared, r->rounds)) {
        snprintf(why, BALANCE_WHY,
                 "in %d of %d %s ranks did not get their processors %s, and no other program took "
                 "them; give every thread a processor of its own",
                 r->shared, r->rounds, rounds, alone);
        return "processors-shared";
    }
    if (balance_half(r->disturbed, r->rounds)) {
        snprintf(why, BALANCE_WHY,
                 BALANCE_TAKERS
                 " took processors from the ranks in %d of %d %s; measure again when "
                 "the computer does nothing else, with no more threads than a quota allows",
                 r->disturbed, r->rounds, rounds);
        return "disturbed";
    }
    if (r->disturbed > 0 && !agrees(found, r->zeta, r->data)) {
        snprintf(why, BALANCE_WHY,
                 "without the %d of %d %s in which " BALANCE_TAKERS " took processors from the "
                 "ranks, the answer would be another; measure again when the computer does nothing "
                 "else, with no more threads than a quota allows",
                 r->disturbed, r->rounds, rounds);
        return "disturbed";
    }
    if (conflict) {
        snprintf(why, BALANCE_WHY,
                 "what was measured has changed between the %s: their intervals have nothing in "
                 "common; measure again when the computer does nothing else",
                 rounds);
        return "disturbed";
    }
    return NULL;
}

void balance_disturbance(json_t *to, const struct balance_rounds *r, const struct disturbance *d,
                         bool spoils, const char *rounds)
{
    json_t *found = json_array();
    disturbance_stamp(d, found);
    const json_t *one = json_array_get(found, 0);
    if (spoils || !(d->disturbed || d->shared)) {
        json_array_extend(to, found);
    } else if (d->disturbed) {
        json_t *numbers = json_incref(json_object_get(one, "numbers"));
        stamp_number(numbers, "rounds_disturbed_n", r->disturbed);
        stamp_add(to, STAMP_DISTURBED, SEVERITY_NOTE, numbers, "In %d of %d %s. %s", r->disturbed,
                  r->rounds, rounds, stamp_text(one, "sentence"));
    } else {
        stamp_add(to, STAMP_PROCESSORS_SHARED, SEVERITY_NOTE,
                  json_incref(json_object_get(one, "numbers")),
                  "Not in computing alone, but beside I/O, which slows that down itself then. %s",
                  stamp_text(one, "sentence"));
    }
    json_decref(found);
}

bool balance_may_pass(const char *reason)
{
    return reason && strcmp(reason, "disturbed") == 0;
}

bool balance_settled(const json_t *stamps, const char *answer, const char *reason)
{
    return answer && !stamp_find(stamps, STAMP_UNDECIDED) && !balance_may_pass(reason);
}

/* A number by its name, with its interval. */
static void number(json_t *n, const char *name, double value, const struct balance_estimate *e)
{
    char key[64];
    stamp_number(n, name, value);
    snprintf(key, sizeof key, "%s_ci95_lo", name);
    stamp_number(n, key, e->lo);
    snprintf(key, sizeof key, "%s_ci95_hi", name);
    stamp_number(n, key, e->hi);
}

json_t *balance_numbers(json_t *numbers, const char *name, double zeta,
                        const struct balance_estimate *of_zeta, double data,
                        const struct balance_estimate *of_data, double most)
{
    json_t *n = stamp_number(numbers, "goal", BALANCE_GOAL);
    number(n, name, zeta, of_zeta);
    number(n, "zeta_data", data, of_data);
    if (balance_of(of_zeta, of_data) == BALANCE_FASTER)
        stamp_number(n, "data_factor_at_goal", balance_spare(of_zeta, of_data, most));
    return n;
}

double balance_spare(const struct balance_estimate *zeta, const struct balance_estimate *data,
                     double most)
{
    const double spare = 1 + (BALANCE_GOAL - zeta->hi) / fmax(data->hi, 1e-4);
    return isnan(most) ? NAN : fmax(1, fmin(spare, most));
}

const char *balance_slower(double spare, double most, const char *goal, const char *behind,
                           char out[BALANCE_SLOWER])
{
    char hidden[64] = "";
    out[0] = '\0';
    if (spare >= most)
        snprintf(hidden, sizeof hidden, ": slower, they may not hide behind %s", behind);
    if (isfinite(spare))
        snprintf(out, BALANCE_SLOWER, " Data %.3g times as slow would still meet %s of %.2f%s.",
                 spare, goal, BALANCE_GOAL, hidden);
    return out;
}

const char *balance_but(const struct balance_estimate *zeta, const char *rounds, json_t *numbers,
                        char out[96])
{
    out[0] = 0;
    if (!(zeta->mean > BALANCE_GOAL)) return out;
    stamp_number(numbers, "zeta_mean", zeta->mean);
    stamp_number(numbers, "rounds_above_n", zeta->above);
    snprintf(out, 96, "; in %d of %d %s zeta lies above %.2f, the mean is %.3g", zeta->above,
             zeta->n, rounds, BALANCE_GOAL, zeta->mean);
    return out;
}

const char *balance_words(double value, const struct balance_estimate *e, char out[64])
{
    if (isfinite(e->lo))
        snprintf(out, 64, "%.3f (%.3f to %.3f)", value, e->lo, e->hi);
    else
        snprintf(out, 64, "%.3f", value);
    return out;
}

const char *balance_undecided(const struct balance_open *open, json_t *numbers, char out[512])
{
    const int first = open->until_decided ? BALANCE_ROUNDS_FIRST : SEQUENTIAL_ROUNDS_MIN;
    char zeta[64], data[64], why[160], minutes[48] = "", how[48] = "more --minutes", more[160];
    double needed = balance_needed(open->of_zeta, open->of_data, open->zeta);
    if (isnan(needed)) needed = first;
    balance_words(open->zeta, open->of_zeta, zeta);
    balance_words(open->data, open->of_data, data);
    stamp_number(numbers, "rounds_needed_n", needed);
    snprintf(more, sizeof more, "More than %d %ss would be needed to decide", open->most,
             open->round);
    if (needed <= open->most) {
        const double took = needed * open->round_s / 60;
        char text[UNITS_TEXT_MAX];
        if (took > 0) {
            stamp_number(numbers, "minutes_needed", took);
            snprintf(minutes, sizeof minutes, ", some %s minute%s,", units_minutes(took, text),
                     units_plural(took > 1 ? 2 : 1));
        }
        if (!open->until_decided)
            snprintf(how, sizeof how, "--repeat auto, or --repeat %.0f", needed);
        snprintf(more, sizeof more, "About %.0f %ss in all%s would decide: %s", needed, open->round,
                 minutes, how);
    }
    if (open->alone_missing)
        snprintf(why, sizeof why,
                 "no %s holds a compute-only run to compare with: leave out --tc SECONDS",
                 open->round);
    else if (!isfinite(open->of_zeta->lo) && open->of_zeta->looked_at >= SEQUENTIAL_ROUNDS_MIN)
        snprintf(why, sizeof why,
                 "no interval: the %ss rise, fall or depend on the one before, so something else "
                 "goes on here",
                 open->round);
    else if (!isfinite(open->of_zeta->lo))
        snprintf(why, sizeof why, "no interval before %d %ss", first, open->round);
    else if (open->of_zeta->side[BALANCE_AT_GOAL] > 0)
        snprintf(why, sizeof why,
                 "that is above the goal, and whether %s alone, %s, is too is open", open->parts,
                 data);
    else
        snprintf(why, sizeof why, "the goal lies in the interval");
    snprintf(out, 512, "Undecided: %s %s, %d %s%s; NAS's goal is at most %.2f; %s. %s.", open->what,
             zeta, open->rounds, open->round, units_plural(open->rounds), BALANCE_GOAL, why, more);
    return out;
}
