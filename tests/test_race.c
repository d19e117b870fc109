/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The race of --io auto on made-up times: with known true times it finds the best, keeps its time,
 * survives candidates that fail, its intervals hold what they should, and under noise like that of shared
 * machines it takes none for a winner that is not. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bt/search/race.h"

#define N_MAX 80
#define SEEDS 40 /* of each kind of noise */

/* Noise beyond the scatter of single runs. */
enum noise {
    QUIET,   /* rounds are slow or fast as a whole, and now and then a run is disturbed */
    HEAVY,   /* Student's t of 2 degrees */
    DRIFT,   /* slower and slower: half of a run's scatter with each run */
    BIMODAL, /* bursts of 5 runs on average, 30 % of all, each 1.6 times as long */
    NOISES
};

/* A machine: a dump computes for step_s and writes for write_s[c], of which a part hides behind the
 * computation, but for the last one; each run costs around_s besides. Times scatter by a share. Candidate
 * 0 is the plain one. */
struct model {
    int n;
    double step_s, around_s;
    double write_s[N_MAX], hidden[N_MAX];
    double scatter, disturbed;
    double busy; /* share of the runs that are said to be disturbed */
    enum noise noise;
    int fails; /* candidate that fails in its second run, -1: none */
    int hangs; /* run, from 1, that 60 s are lost in, with T_T; 0: none */
    int64_t dumps_n;
};

struct outcome {
    int best, runs, failed;
    bool settled; /* before its time was over */
    int begun;    /* newest round of the last rung of which a run was made */
    double needed, needed_s;
    enum race_verdict verdict;
    double spent_s;
    struct race_standing stand[N_MAX];
};

static double true_s(const struct model *m, int c, int64_t dumps)
{
    const double d = (double)dumps;
    if (c < 0) return d * m->step_s;
    return d * m->step_s + m->write_s[c] * (1 + (d - 1) * (1 - m->hidden[c]));
}

/* The logarithm of what a run takes over what is true. burst: kept from run to run. */
static double noise_of(const struct model *m, gsl_rng *rng, int runs, double round_noise,
                       bool *burst)
{
    const double own = gsl_ran_gaussian(rng, m->scatter);
    const bool hit = gsl_rng_uniform(rng) < m->disturbed;
    switch (m->noise) {
    case HEAVY:
        return 0.5 * m->scatter * gsl_ran_tdist(rng, 2) + round_noise;
    case DRIFT:
        return own + 0.005 * runs;
    case BIMODAL:
        *burst = gsl_rng_uniform(rng) < (*burst ? 0.8 : 0.2 * 0.3 / 0.7);
        return own + (*burst ? log(1.6) : 0);
    default:
        return own + round_noise + (hit ? log(1.6) : 0);
    }
}

static struct race *run(const struct model *m, double budget_s, uint64_t seed, struct outcome *o)
{
    struct race_entry entry[N_MAX] = {{0}};
    struct race_plan plan = {
        .n = m->n, .entry = entry, .budget_s = budget_s, .dumps_n = m->dumps_n, .seed = seed};
    struct race_trial t;
    struct race *r;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double now_s = 1000, round_noise = 0;
    int last_round = 0, tried = 0;
    bool burst = false;
    gsl_rng_set(rng, seed + 1);
    *o = (struct outcome){0};
    entry[0].yardstick = entry[1].yardstick = true;
    for (int c = 0; c < m->n; c++) {
        entry[c].order = c < 8 ? 0 : c < 30 ? 1 : 2;
        entry[c].cost = c == 0 ? 0 : 1 + entry[c].order;
    }
    assert_int_equal(race_new(&r, &plan, now_s), 0);
    while (race_next(r, now_s, &t)) {
        if (t.round != last_round) round_noise = gsl_ran_gaussian(rng, m->scatter);
        o->begun = last_round = t.round;
        assert_in_range(t.dumps, 1, m->dumps_n);
        t.t_t_s =
            true_s(m, t.candidate, t.dumps) * exp(noise_of(m, rng, o->runs, round_noise, &burst));
        t.took_s = t.t_t_s + m->around_s;
        if (t.candidate >= 0 && t.candidate == m->fails && ++tried == 2) {
            t.t_t_s = NAN;
            o->failed++;
        }
        o->runs++;
        assert_true(t.rung == 0 || m->noise != QUIET || t.patience_s > t.took_s);
        t.disturbed = m->busy > 0 && gsl_rng_uniform(rng) < m->busy;
        if (o->runs == m->hangs) t.took_s = t.t_t_s += 60;
        now_s += t.took_s;
        assert_int_equal(race_add_result(r, &t), 0);
        assert_true(o->runs < 100000);
    }
    gsl_rng_free(rng);
    o->spent_s = now_s - 1000;
    o->best = race_best(r);
    o->settled = race_settled(r);
    o->verdict = race_verdict(r);
    race_needed(r, &o->needed, &o->needed_s);
    race_standings(r, o->stand);
    return r;
}

/* Like class A on two cores with a disk: writers from 5 % to twice the computation, many alike. */
static struct model class_a(uint64_t seed)
{
    struct model m = {.n = 58,
                      .step_s = 0.1,
                      .around_s = 0.35,
                      .scatter = 0.05,
                      .disturbed = 0.05,
                      .fails = -1,
                      .dumps_n = 40};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (int c = 0; c < m.n; c++) {
        m.write_s[c] = 0.02 + 0.08 * gsl_rng_uniform(rng);
        m.hidden[c] = c % 3 == 0 ? 0.8 * gsl_rng_uniform(rng) : 0;
    }
    gsl_rng_free(rng);
    return m;
}

/* Where the time is over first: what would tell, and does where it is given, and no round of the last rung is
 * begun that is not expected to end, since a part of one tells nothing. */
static void undecided_says_how_many_rounds_would_tell(void **unused)
{
    (void)unused;
    int undecided = 0, told = 0, parts = 0, again = 0, decided = 0;
    for (int seed = 0; seed < 40; seed++) {
        struct model m = class_a((uint64_t)seed);
        struct outcome o;
        const struct race_rung *rung;
        bool last;
        m.scatter = 0.1;
        struct race *r = run(&m, 150, (uint64_t)seed, &o);
        const int n = race_rungs(r, &rung, &last);
        if (last && o.verdict == RACE_UNDECIDED) {
            undecided++;
            parts += o.begun > rung[n - 1].rounds;
            told += isfinite(o.needed) && o.needed > rung[n - 1].rounds && o.needed_s > 0;
        }
        race_free(r);
        if (!last || o.verdict != RACE_UNDECIDED || !isfinite(o.needed)) continue;
        assert_true(o.needed <= 64);
        race_free(run(&m, o.needed_s, (uint64_t)seed, &o));
        again++;
        decided += o.verdict != RACE_UNDECIDED;
    }
    print_message("%d undecided, %d told how many rounds would tell, %d begun in vain; with the "
                  "time told %d of %d "
                  "are decided\n",
                  undecided, told, parts, decided, again);
    assert_true(undecided >= 5 && told >= undecided / 2 && 3 * parts <= undecided);
    assert_true(4 * decided >= 3 * again);
}

static int truly_best(const struct model *m)
{
    int best = 0;
    for (int c = 1; c < m->n; c++)
        if (true_s(m, c, m->dumps_n) < true_s(m, best, m->dumps_n)) best = c;
    return best;
}

/* The plain candidate takes 1.08 to 1.09 times as long as the best; what wins is faster than it. */
static void what_it_finds_is_near_the_best_and_its_intervals_hold_the_truth(void **state)
{
    (void)state;
    int good = 0, won = 0, covered = 0, intervals = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct model m = class_a(seed);
        struct outcome o;
        m.write_s[0] = 0.1;
        m.hidden[0] = 0;
        struct race *r = run(&m, 300, seed, &o);
        const double best_s = true_s(&m, truly_best(&m), m.dumps_n);
        const double worse = true_s(&m, o.best, m.dumps_n) / best_s - 1;
        good += worse <= 0.10 ? 1 : 0;
        won += o.verdict == RACE_WINNER;
        const struct race_rung *rung;
        bool last;
        const int rungs = race_rungs(r, &rung, &last);
        assert_true(last);
        if (seed < 5)
            for (int i = 0; i < rungs; i++)
                print_message("rung %d: %d candidates, %d dumps, %d rounds\n", i + 1,
                              rung[i].candidates_n, (int)rung[i].dumps, rung[i].rounds);
        print_message("seed %2d: best %2d, %4.1f %% from the truth, %.0f s, %d runs%s\n", (int)seed,
                      o.best, 100 * worse, o.spent_s, o.runs, o.settled ? ", settled" : "");
        assert_true(o.spent_s <= 300 * 1.05);
        /* Intervals of the last rung against what is true of runs of its length. */
        for (int c = 0; c < 2; c++) {
            double ratio, lo, hi;
            if (c == o.best) continue;
            (void)race_ratio(r, rungs, c, o.best, &ratio, &lo, &hi);
            if (isnan(lo) || isnan(hi)) continue;
            const int64_t d = rung[rungs - 1].dumps;
            const double is = true_s(&m, c, d) / true_s(&m, o.best, d);
            intervals++;
            covered += is >= lo * 0.999 && is <= hi * 1.001 ? 1 : 0;
        }
        race_free(r);
    }
    print_message("%d winners, %d of 30 within 10 %%; %d of %d intervals hold the truth\n", won,
                  good, covered, intervals);
    assert_true(won >= 27);
    assert_true(good >= 27);
    assert_true(intervals >= 20);
    assert_true(covered >= 0.93 * intervals);
}

/* As shared machines are, in searches whose candidates differ, some for the worse, and in some whose
 * candidates do not. */
static void no_noise_makes_a_winner(void **state)
{
    (void)state;
    static const char *const name[NOISES] = {"quiet", "heavy-tailed", "drifting", "bimodal"};
    for (int noise = 0; noise < NOISES; noise++) {
        int wins = 0, worse = 0, plain = 0, undecided = 0;
        double gain = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct model m = class_a(seed);
            struct outcome o;
            m.noise = (enum noise)noise;
            m.n = 20;
            race_free(run(&m, 300, seed, &o));
            const double is = true_s(&m, o.best, m.dumps_n) / true_s(&m, 0, m.dumps_n);
            wins += o.verdict == RACE_WINNER;
            undecided += o.verdict == RACE_UNDECIDED;
            worse += o.verdict == RACE_WINNER && is > 1.05;
            gain += o.verdict == RACE_WINNER ? 1 - is : 0;
            if (o.verdict != RACE_WINNER) assert_int_equal(o.best, 0);
            for (int c = 0; c < m.n; c++) {
                m.write_s[c] = 0.06;
                m.hidden[c] = 0;
            }
            race_free(run(&m, 300, seed + 1000, &o));
            plain += o.best == 0;
        }
        print_message(
            "%-12s: %d of %d differ and have a winner, on average %.0f %% faster, %d worse by 5 "
            "%%, %d undecided; all alike: %d keep the plain one\n",
            name[noise], wins, SEEDS, 100 * gain / fmax(wins, 1), worse, undecided, plain);
        assert_int_equal(worse, 0);
        assert_true(wins > 0);
        assert_true(plain >= 0.95 * SEEDS);
    }
}

/* Beside other programs nothing is concluded, however clear the times are; where fewer than half of the runs
 * were disturbed it is. */
static void what_was_disturbed_makes_no_winner(void **state)
{
    (void)state;
    const double busy[] = {0, 0.3, 0.9};
    for (int i = 0; i < 3; i++) {
        struct model m = class_a(1);
        struct outcome o;
        int runs, disturbed;
        m.n = 8;
        m.disturbed = 0;
        m.scatter = 0.005;
        m.busy = busy[i];
        for (int c = 0; c < m.n; c++)
            m.write_s[c] = c == 5 ? 0.01 : 0.2 + 0.001 * c;
        struct race *r = run(&m, 300, 5, &o);
        const bool spoiled = race_disturbed(r, &runs, &disturbed);
        assert_int_equal(spoiled, busy[i] > 0.5);
        assert_int_equal(disturbed > 0, busy[i] > 0);
        assert_int_equal(o.best, spoiled ? 0 : 5);
        assert_int_equal(o.verdict, spoiled ? RACE_UNDECIDED : RACE_WINNER);
        assert_int_equal(o.settled, !spoiled);
        for (int c = 0; c < m.n; c++)
            assert_false(o.stand[c].state == (spoiled ? RACE_TIED : RACE_IN));
        race_free(r);
    }
}

/* Of settings that do the same the one that needs fewer words, however fast the other looks. */
static void of_tied_winners_the_simplest_wins(void **state)
{
    (void)state;
    int simplest = 0, complex = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct model m = class_a(seed);
        struct outcome o;
        m.n = 40;
        m.disturbed = 0;
        m.scatter = 0.02;
        memset(m.hidden, 0, sizeof m.hidden);
        for (int c = 0; c < m.n; c++)
            m.write_s[c] = c == 5 || c >= 37 ? 0.02 : 0.08;
        race_free(run(&m, 300, seed, &o));
        simplest += o.best == 5;
        complex += o.best >= 37;
    }
    print_message("%d the simplest, %d others\n", simplest, complex);
    assert_true(simplest >= 18);
}

/* A plain candidate that fails is replaced by the next. */
static void without_the_plain_one_the_next_takes_its_place(void **state)
{
    (void)state;
    struct model m = class_a(1);
    struct outcome o;
    for (int c = 0; c < m.n; c++)
        m.write_s[c] = 0.06;
    memset(m.hidden, 0, sizeof m.hidden);
    m.fails = 0;
    struct race *r = run(&m, 300, 5, &o);
    assert_int_equal(race_plain(r), 1);
    assert_int_equal(o.best, 1);
    race_free(r);
}

static void the_time_is_kept_when_it_is_short(void **state)
{
    (void)state;
    static const double budget_s[] = {1, 5, 12, 30, 60};
    for (size_t b = 0; b < sizeof budget_s / sizeof budget_s[0]; b++) {
        const struct model m = class_a(3);
        struct outcome o;
        struct race *r = run(&m, budget_s[b], 7, &o);
        int tried = 0;
        for (int c = 0; c < m.n; c++)
            tried += o.stand[c].runs > 0;
        print_message("%.0f s: %.1f s spent, %d candidates tried, best %d\n", budget_s[b],
                      o.spent_s, tried, o.best);
        assert_true(o.spent_s <= budget_s[b] * 1.1 + 1.2);
        if (b >= 1) assert_true(o.best >= 0);
        race_free(r);
    }
}

/* Runs of 45 s, longer than one of which nothing is known is expected to take. */
static void the_time_is_kept_when_runs_are_long(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct model m = class_a(4);
        struct outcome o;
        m.step_s = 20;
        m.around_s = 5;
        race_free(run(&m, 600, seed, &o));
        print_message("seed %d: %.0f s spent, %d runs, best %d\n", (int)seed, o.spent_s, o.runs,
                      o.best);
        assert_true(o.spent_s <= 600 * 1.1);
        assert_true(o.best >= 0);
    }
}

static void what_is_clear_is_settled_early(void **state)
{
    (void)state;
    struct model m = class_a(1);
    struct outcome o;
    m.scatter = 0.005;
    m.disturbed = 0;
    for (int c = 0; c < m.n; c++)
        m.write_s[c] = c == 17 ? 0.01 : 0.2 + 0.001 * c;
    memset(m.hidden, 0, sizeof m.hidden);
    struct race *r = run(&m, 3600, 5, &o);
    assert_int_equal(o.best, 17);
    assert_int_equal(o.verdict, RACE_WINNER);
    assert_true(o.settled);
    assert_true(o.spent_s < 1200);
    assert_int_equal(o.stand[17].state, RACE_BEST);
    for (int c = 0; c < m.n; c++) {
        if (c == 17) continue;
        assert_true(o.stand[c].state == RACE_SLOWER || o.stand[c].state == RACE_CUT);
        assert_true(o.stand[c].ratio > 1.5);
        /* Runs that made others leave are too few for an interval. */
        if (c < 2) assert_true(o.stand[c].lo > 1 && o.stand[c].hi >= o.stand[c].lo);
    }
    race_free(r);
}

static void what_is_alike_is_tied(void **state)
{
    (void)state;
    struct model m = class_a(1);
    struct outcome o;
    m.scatter = 0.004;
    m.disturbed = 0;
    m.n = 6;
    for (int c = 0; c < m.n; c++)
        m.write_s[c] = 0.1;
    memset(m.hidden, 0, sizeof m.hidden);
    struct race *r = run(&m, 600, 5, &o);
    assert_true(o.settled);
    assert_int_equal(o.verdict, RACE_NO_WINNER);
    assert_int_equal(o.best, 0);
    int tied = 0;
    for (int c = 0; c < m.n; c++)
        tied += o.stand[c].state == RACE_TIED;
    assert_true(tied >= 3);
    race_free(r);
}

static void one_that_fails_leaves_and_the_race_goes_on(void **state)
{
    (void)state;
    struct model m = class_a(1);
    struct outcome o;
    m.write_s[0] = 0.001; /* by far the best, and a yardstick */
    m.fails = 0;
    struct race *r = run(&m, 300, 5, &o);
    assert_int_equal(o.failed, 1);
    assert_int_equal(o.stand[0].state, RACE_FAILED);
    assert_true(o.best > 0);
    race_free(r);
    m.n = 1; /* nobody is left */
    r = run(&m, 300, 5, &o);
    assert_int_equal(o.best, -1);
    race_free(r);
}

/* The lost time is all that it costs, also in the first runs, by which the others are judged. */
static void a_file_system_that_does_not_answer_for_a_while(void **state)
{
    (void)state;
    for (int hangs = 1; hangs <= 10; hangs++) {
        struct model m = class_a(4);
        struct outcome o;
        m.hangs = hangs;
        race_free(run(&m, 300, 9, &o));
        const double worse =
            true_s(&m, o.best, m.dumps_n) / true_s(&m, truly_best(&m), m.dumps_n) - 1;
        print_message("run %d: best %d, %.1f %% from the truth, %.0f s\n", hangs, o.best,
                      100 * worse, o.spent_s);
        assert_true(o.spent_s <= 300 * 1.05);
        for (int c = 0; c < m.n; c++)
            assert_int_not_equal(o.stand[c].state, RACE_UNTRIED);
        assert_true(worse <= 0.08);
    }
}

static void the_same_seed_gives_the_same_race(void **state)
{
    (void)state;
    const struct model m = class_a(2);
    struct outcome a, b;
    race_free(run(&m, 100, 11, &a));
    race_free(run(&m, 100, 11, &b));
    assert_int_equal(a.best, b.best);
    assert_int_equal(a.runs, b.runs);
    assert_true(a.spent_s == b.spent_s);
}

static void what_a_setting_does(void **state)
{
    (void)state;
    struct model m = class_a(2);
    struct outcome o;
    double ratio, lo, hi;
    memset(m.hidden, 0, sizeof m.hidden);
    m.n = 8;
    for (int c = 0; c < m.n; c++)
        m.write_s[c] = c < 6 ? 0.02 : 0.032; /* 6 and 7: 10 % more of all time than 4 and 5 */
    m.disturbed = 0;
    struct race *r = run(&m, 300, 11, &o);
    const struct race_pair pairs[] = {{6, 4}, {7, 5}};
    const int n = race_effect(r, pairs, 2, &ratio, &lo, &hi);
    print_message("%.3f, %.3f to %.3f from %d rounds\n", ratio, lo, hi, n);
    assert_true(n >= 6);
    assert_true(fabs(ratio - 1.1) < 0.05);
    assert_true(lo < 1.1 && hi > 1.1 && lo > 1);
    assert_int_equal(race_effect(r, pairs, 0, &ratio, &lo, &hi), 0);
    assert_true(isnan(ratio) && isnan(lo) && isnan(hi));
    race_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undecided_says_how_many_rounds_would_tell),
        cmocka_unit_test(what_it_finds_is_near_the_best_and_its_intervals_hold_the_truth),
        cmocka_unit_test(no_noise_makes_a_winner),
        cmocka_unit_test(of_tied_winners_the_simplest_wins),
        cmocka_unit_test(without_the_plain_one_the_next_takes_its_place),
        cmocka_unit_test(the_time_is_kept_when_it_is_short),
        cmocka_unit_test(the_time_is_kept_when_runs_are_long),
        cmocka_unit_test(what_is_clear_is_settled_early),
        cmocka_unit_test(what_is_alike_is_tied),
        cmocka_unit_test(what_was_disturbed_makes_no_winner),
        cmocka_unit_test(one_that_fails_leaves_and_the_race_goes_on),
        cmocka_unit_test(a_file_system_that_does_not_answer_for_a_while),
        cmocka_unit_test(the_same_seed_gives_the_same_race),
        cmocka_unit_test(what_a_setting_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
