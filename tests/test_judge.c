/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stamps for jobs whose times are made up: which codes, with which numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/balance.h"
#include "base/sequential.h"
#include "base/stamp.h"
#include "bt/judge.h"
#include "bt/judge_read.h"

#define RUNS_MAX 64

static struct bt_outcome outcome[RUNS_MAX];
static struct bt_setup setup;
static struct bt_job job;
static struct bt_reading reading[RUNS_MAX];
#define DUMPS 40 /* of class B */
static struct bt_read_dump right_dump[DUMPS];

/* Class B on a machine whose cores are all in use; T_C from the store. */
static int fresh(void **state)
{
    (void)state;
    memset(outcome, 0, sizeof outcome);
    memset(&setup, 0, sizeof setup);
    assert_int_equal(bt_problem_class('B', &setup.problem), 0);
    setup.writers_n = 1;
    for (int i = 0; i < DUMPS; i++)
        right_dump[i].right = true;
    job = (struct bt_job){.setup = &setup, .outcome = outcome};
    job.machine = (struct bt_machine){.nodes = {.size = 2, .cores = 2, .node_cores = 2, .count = 1},
                                      .threads = 1,
                                      .width = 2,
                                      .mask_width = 2,
                                      .cpus = 2,
                                      .cores_in_use = 2};
    job.tc.origin = BT_TC_FROM_STORE;
    job.tc.entry.t_c_s = 94.0;
    return 0;
}

static void run(const char *writer, int round, double t_t_s, double in_io_s)
{
    struct bt_outcome *o = &outcome[job.outcomes_n++];
    snprintf(o->run.writer, sizeof o->run.writer, "%s", writer);
    o->run.round = round;
    o->run.t_t_s = t_t_s;
    o->run.in_io_s = o->run.data_s = in_io_s; /* no bookkeeping */
    o->run.completed = o->verified = true;
    o->serial_file = strcmp(writer, BT_COMPUTE) != 0;
    if (o->serial_file) o->run.bytes = INT64_C(40) * 42448320;
}

static void rounds(int n, double t_c_s, double t_t_s, double in_io_s)
{
    for (int r = 1; r <= n; r++) {
        const double noise = 1 + 0.004 * (r * 5 % 7);
        run(BT_COMPUTE, r, t_c_s * noise, 0);
        run("posix", r, t_t_s * noise * (1 + 0.001 * (r % 3)),
            in_io_s * noise * (1 + 0.001 * (r % 3)));
    }
}

/* The stamps of the writer. */
static json_t *judged(void)
{
    struct bt_judged j;
    bt_judge(&j, &job);
    assert_true(j.rows_n > 0);
    assert_string_equal(j.row[0].writer, "posix");
    json_t *stamps = json_incref(j.row[0].stamps);
    bt_judge_free(&j);
    return stamps;
}

/* Those of the whole job. */
static json_t *job_judged(void)
{
    struct bt_judged j;
    bt_judge(&j, &job);
    json_t *stamps = json_incref(j.stamps);
    bt_judge_free(&j);
    return stamps;
}

static double numbers(const json_t *stamps, const char *code, const char *key)
{
    const json_t *n = json_object_get(stamp_find_text(stamps, code), "numbers");
    return json_is_number(json_object_get(n, key)) ? json_number_value(json_object_get(n, key))
                                                   : NAN;
}

/* The same with bookkeeping and slower computing, over a T_C of about 94 s. */
static void terms(int n, double data_s, double bookkeeping_s, double slowdown_s)
{
    static const double noise[] = {0, 3, -2, 1, -3, 2, -1, 3, -2, 1, -1, 2};
    for (int r = 1; r <= n; r++) {
        const double t_c_s = 94.0 + 0.1 * (r % 3), noise_s = 0.2 * noise[r - 1];
        run(BT_COMPUTE, r, t_c_s, 0);
        run("posix", r, t_c_s + data_s + bookkeeping_s + slowdown_s + noise_s,
            data_s + bookkeeping_s);
        outcome[job.outcomes_n - 1].run.data_s = data_s;
    }
}

static const char *const code_of[] = {"balanced", "io-too-slow", "io-faster-than-needed",
                                      "not-measurable", "undecided"};

/* The answer about posix, of which there is exactly one; reason: NULL: not asked. */
static void expect_answer(const char *code, const char *reason)
{
    struct bt_judged j;
    int found = 0;
    bt_judge(&j, &job);
    assert_string_equal(j.row[0].writer, "posix");
    for (size_t i = 0; i < sizeof code_of / sizeof code_of[0]; i++)
        found += stamp_find_text(j.row[0].stamps, code_of[i]) != NULL;
    assert_int_equal(found, 1);
    assert_non_null(j.row[0].answer);
    assert_string_equal(j.row[0].answer, code);
    assert_non_null(stamp_find_text(j.row[0].stamps, code));
    if (reason) {
        assert_non_null(j.row[0].reason);
        assert_string_equal(j.row[0].reason, reason);
    }
    bt_judge_free(&j);
}

/* A computer that was slow for all is not called a slow disk: T_T 135.3 s over a T_C of 94.0 s, of
 * which writing took 4.0 s. */
static void noise_is_not_called_slow_writing(void **state)
{
    (void)state;
    run("posix", 1, 135.3, 4.0);
    json_t *s = judged();
    assert_non_null(stamp_find(s, STAMP_UNDECIDED));
    assert_null(stamp_find(s, STAMP_IO_TOO_SLOW));
    assert_non_null(stamp_find(s, STAMP_OFFICIAL));
    json_decref(s);
    const struct bt_values v = bt_values_of(&job, &outcome[0].run);
    assert_true(fabs(v.zeta_io - 4.0 / 94) < 1e-12);
    assert_true(fabs(v.zeta_compute - (131.3 / 94 - 1)) < 1e-12);
    job.outcomes_n = 0;
    rounds(6, 131.0, 135.3, 4.0);
    s = judged();
    assert_non_null(stamp_find(s, STAMP_BALANCED));
    assert_null(stamp_find(s, STAMP_IO_TOO_SLOW));
    assert_true(numbers(s, "balanced", "zeta") > 0.4); /* over the best T_C */
    assert_true(fabs(numbers(s, "balanced", "zeta_paired") - 0.034) < 0.005);
    json_decref(s);
    s = job_judged();
    assert_true(numbers(s, "disturbed", "t_c_s") == 94.0);
    assert_non_null(
        strstr(stamp_text(stamp_find(s, STAMP_DISTURBED), "sentence"), "is not affected"));
    json_decref(s);
    /* That would deny what is said of disturbed rounds. */
    for (int i = 0; i < job.outcomes_n; i++)
        outcome[i].run.disturbance = (struct disturbance){.known = true, .disturbed = true};
    s = job_judged();
    assert_null(strstr(stamp_text(stamp_find(s, STAMP_DISTURBED), "sentence"), "is not affected"));
    json_decref(s);
}

/* Evidence that ranks did not have their processors is told of the run, and the worst of the writer. */
static void disturbed_runs_are_told(void **state)
{
    (void)state;
    rounds(3, 94.0, 95.0, 1.0);
    outcome[1].run.disturbance = (struct disturbance){
        .known = true, .disturbed = true, .share_min = 0.6, .others = NAN, .sentence = "60 %"};
    outcome[5].run.disturbance = (struct disturbance){
        .known = true, .disturbed = true, .share_min = 0.09, .others = 0.85, .sentence = "9 %"};
    json_t *s = judged();
    assert_string_equal(stamp_text(stamp_find(s, STAMP_DISTURBED), "sentence"), "9 %");
    assert_true(numbers(s, "disturbed", "share_min") == 0.09);
    assert_true(numbers(s, "disturbed", "others") == 0.85);
    json_decref(s);
    /* One that is shared is told of the run alone: beside the other, it would say otherwise of the same writer. */
    outcome[3].run.disturbance =
        (struct disturbance){.known = true, .shared = true, .share_min = 0.94};
    s = judged();
    assert_non_null(stamp_find(s, STAMP_DISTURBED));
    assert_null(stamp_find(s, STAMP_PROCESSORS_SHARED));
    json_decref(s);
    s = bt_judge_run(&job, &outcome[3]);
    assert_non_null(stamp_find(s, STAMP_PROCESSORS_SHARED));
    json_decref(s);
    outcome[3].run.disturbance = (struct disturbance){.known = true};
    s = bt_judge_run(&job, &outcome[1]);
    assert_true(numbers(s, "disturbed", "share_min") == 0.6);
    assert_true(isnan(numbers(s, "disturbed", "others")));
    json_decref(s);
    s = bt_judge_run(&job, &outcome[3]);
    assert_null(stamp_find(s, STAMP_DISTURBED));
    json_decref(s);
}

/* "Nothing can be concluded", and beside it a conclusion. A writer with steal of 1.6 % in 2 of 8 rounds keeps its
 * answer, and the stamp says in how many; in half of them it does not. */
static void an_answer_has_no_stamp_that_denies_it(void **state)
{
    static const char steal[] = "Disturbed: steal 1.6 %.";
    for (int n = 1; n <= 8; n++) {
        fresh(state);
        terms(8, 4, 1, 0);
        for (int r = 0; r < n; r++) {
            outcome[2 * r + 1].run.disturbance = (struct disturbance){
                .known = true, .disturbed = true, .share_min = 1, .steal = 0.016, .others = NAN};
            memcpy(outcome[2 * r + 1].run.disturbance.sentence, steal, sizeof steal);
        }
        json_t *s = judged();
        const json_t *told = stamp_find(s, STAMP_DISTURBED);
        assert_true((stamp_find(s, STAMP_BALANCED) != NULL) == (n < 4));
        assert_string_equal(stamp_text(told, "severity"), n < 4 ? "note" : "warn");
        assert_non_null(strstr(stamp_text(told, "sentence"), steal));
        assert_true((strstr(stamp_text(told, "sentence"), "of 8 rounds") != NULL) == (n < 4));
        assert_true(n >= 4 || numbers(s, "disturbed", "rounds_disturbed_n") == n);
        json_decref(s);
    }
    for (int alone = 0; alone < 2; alone++) {
        fresh(state);
        terms(8, 4, 1, 0);
        for (int r = 0; r < 8; r++) {
            outcome[2 * r + 1].run.disturbance.shared = true;
            outcome[2 * r].run.disturbance.shared = alone;
        }
        json_t *s = judged();
        assert_true((stamp_find(s, STAMP_BALANCED) != NULL) == !alone);
        assert_string_equal(stamp_text(stamp_find(s, STAMP_PROCESSORS_SHARED), "severity"),
                            alone ? "warn" : "note");
        json_decref(s);
    }
}

static void slow_writing_is_called_so(void **state)
{
    (void)state;
    rounds(6, 94.0, 140, 44);
    json_t *s = judged();
    assert_non_null(stamp_find(s, STAMP_IO_TOO_SLOW));
    assert_true(numbers(s, "io-too-slow", "zeta_paired_ci95_lo") > 0.1);
    assert_true(numbers(s, "io-too-slow", "zeta_data_ci95_lo") > 0.1);
    /* 1.7 GB in 46 s, where 9.4 s would do. */
    assert_true(fabs(numbers(s, "implied-rate", "rate_bytes_per_s") / 36.9e6 - 1) < 0.05);
    assert_true(fabs(numbers(s, "implied-rate", "needed_bytes_per_s") / 180.6e6 - 1) < 0.05);
    json_decref(s);
    job.outcomes_n = 0;
    rounds(5, 94.0, 140, 44); /* five rounds have no interval of 95 % */
    s = judged();
    assert_non_null(stamp_find(s, STAMP_UNDECIDED));
    assert_true(numbers(s, "undecided", "rounds_needed_n") == 6);
    assert_true(isnan(numbers(s, "undecided", "zeta_paired_ci95_lo")));
    assert_non_null(strstr(stamp_text(stamp_find(s, STAMP_UNDECIDED), "sentence"),
                           "no interval before 6 rounds"));
    json_decref(s);
}

/* An interval on both sides of the goal; how many rounds would do. */
static void wide_intervals_are_undecided(void **state)
{
    (void)state;
    static const double t_t[] = {100, 98, 104.5, 101, 104, 99};
    for (int r = 1; r <= 6; r++) {
        run(BT_COMPUTE, r, 94, 0);
        run("posix", r, t_t[r - 1], 5);
    }
    json_t *s = judged();
    assert_non_null(stamp_find(s, STAMP_UNDECIDED));
    const double needed = numbers(s, "undecided", "rounds_needed_n");
    assert_true(needed > 6);
    assert_true(isnan(numbers(s, "undecided", "minutes_needed"))); /* nobody measured that */
    json_decref(s);
    job.rounds_done = 6;
    job.rounds_s = 6 * 200;
    s = judged();
    assert_true(fabs(numbers(s, "undecided", "minutes_needed") - needed * 200 / 60) < 1e-9);
    json_decref(s);
}

/* Four answers with made-up times; which of them holds follows from data and the paired zeta. */
static void one_answer_for_each_case(void **state)
{
    (void)state;
    static const struct {
        double data_s, bookkeeping_s, slowdown_s; /* over 94 s */
        const char *code, *reason;
    } table[] = {
        {4, 1, 0, "balanced", NULL},
        {0.2, 0.5, 0, "io-faster-than-needed", NULL},
        {20, 1, 0, "io-too-slow", NULL},
        {20, 40, 5, "io-too-slow", NULL},              /* it is the data, too */
        {5, 25, 0, "not-measurable", "bookkeeping"},   /* 83 % of the time in I/O */
        {0.2, 25, 0, "not-measurable", "bookkeeping"}, /* not "faster than needed" */
        {3, 1, 20, "not-measurable", "slowdown"},      /* a writer that slows computing */
        {9.4, 10, 0, "undecided", NULL},               /* above, but is it the data? */
        {5, 1, 260, "not-measurable", "disturbed"},    /* "computing took 3.83 times T_C" */
        {40, 1, 260, "not-measurable", "disturbed"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        job.outcomes_n = 0;
        terms(12, table[i].data_s, table[i].bookkeeping_s, table[i].slowdown_s);
        for (int o = 0; table[i].data_s == 9.4 && o < job.outcomes_n; o++)
            outcome[o].run.data_s *= 1 + 0.02 * (o * 3 % 9 - 4);
        expect_answer(table[i].code, table[i].reason);
    }
}

/* "Balanced" on /dev/shm; a red verdict above "noise dominates". */
static void nothing_is_concluded_from_what_cannot_be_measured(void **state)
{
    static const double data_s[] = {0.2, 4, 20, 9.4};
    for (size_t i = 0; i < sizeof data_s / sizeof data_s[0]; i++) {
        fresh(state);
        terms(8, data_s[i], 1, 0);
        outcome[3].run.cache.page_cache = outcome[3].run.cache.in_memory = true;
        expect_answer("not-measurable", "page-cache");
        fresh(state);
        terms(8, data_s[i], 1, 0);
        job.machine.threads = 2;
        job.machine.mask_width = 4;
        expect_answer("not-measurable", "processors-shared");
        job.machine = (struct bt_machine){.nodes = {.size = 1, .cores = 2, .node_cores = 2},
                                          .threads = 2,
                                          .mask_width = 1,
                                          .cpus = 1};
        expect_answer("not-measurable", "processors-shared");
        fresh(state);
        terms(8, data_s[i], 1, 0);
        job.machine.cpus = 1; /* both ranks have the same */
        expect_answer("not-measurable", "processors-shared");
        fresh(state);
        terms(8, data_s[i], 1, 0);
        for (int o = 0; o < job.outcomes_n; o++) {
            outcome[o].run.t_t_s /= 200;
            outcome[o].run.in_io_s /= 200;
            outcome[o].run.data_s /= 200;
        }
        job.tc.entry.t_c_s /= 200;
        expect_answer("not-measurable", "too-short");
    }
}

/* Where other programs took processors in half of the rounds, from the writer or from what it is
 * compared with, nothing is concluded; less leaves the answer as it is, and so does a writer that
 * shares processors with its own flushing. */
static void disturbed_rounds_decide_nothing(void **state)
{
    for (int spoiled = 0; spoiled <= 8; spoiled++) {
        fresh(state);
        terms(8, spoiled % 2 ? 20 : 4, 1, 0);
        for (int r = 0; r < spoiled; r++)
            outcome[2 * r + r % 2].run.disturbance.disturbed = true;
        if (spoiled >= 4)
            expect_answer("not-measurable", "disturbed");
        else
            expect_answer(spoiled % 2 ? "io-too-slow" : "balanced", NULL);
    }
    for (int writer = 0; writer <= 1; writer++) {
        fresh(state);
        terms(8, 4, 1, 0);
        for (int r = 0; r < 8; r++)
            outcome[2 * r + writer].run.disturbance.shared = true;
        expect_answer(writer ? "balanced" : "not-measurable", writer ? NULL : "processors-shared");
    }
}

/* data + bookkeeping + slowdown = paired zeta, whatever the times; without a pair, zeta. */
static void the_terms_add_up(void **state)
{
    (void)state;
    uint64_t x = 29;
    for (int i = 0; i < 2000; i++) {
        double u[4];
        for (int k = 0; k < 4; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            u[k] = (double)(x >> 11) / 0x1p53;
        }
        job.outcomes_n = 0;
        const double t_c_s = 0.01 + 100 * u[0], t_t_s = t_c_s * (0.5 + 4 * u[1]);
        run("posix", 1, t_t_s, t_t_s * u[2]);
        outcome[0].run.data_s = t_t_s * u[2] * u[3];
        if (i % 2) run(BT_COMPUTE, 1, t_c_s, 0);
        const struct bt_values v = bt_values_of(&job, &outcome[0].run);
        const double sum = v.zeta_data + v.zeta_bookkeeping + v.zeta_slowdown;
        assert_true(v.zeta_data >= 0 && v.zeta_bookkeeping >= -1e-15);
        assert_true(fabs(sum - (i % 2 ? v.zeta_paired : v.zeta)) < 1e-12 * (1 + fabs(sum)));
    }
}

/* --repeat auto: the first look, what is decided there, and the end of the time. */
static void rounds_go_on_until_it_is_decided(void **state)
{
    struct sequential_plan plan;
    struct bt_judged j;
    assert_int_equal(sequential_plan(BALANCE_ERROR, BT_AUTO_ROUNDS, &plan), 0);
    assert_int_equal(plan.rounds[0], BT_AUTO_FIRST);
    for (int n = 6; n <= 8; n++) {
        fresh(state);
        setup.rounds_auto = true;
        terms(n, 4, 1, 0);
        bt_judge(&j, &job);
        assert_int_equal(balance_settled(j.row[0].stamps, j.row[0].answer, j.row[0].reason),
                         n >= BT_AUTO_FIRST);
        assert_true(isfinite(j.row[0].paired.lo) == (n >= BT_AUTO_FIRST));
        bt_judge_free(&j);
    }
    /* What the eighth round decided, later ones leave as it is, and time makes a look of its own. */
    fresh(state);
    setup.rounds_auto = true;
    terms(10, 4, 1, 0);
    expect_answer("balanced", NULL);
    fresh(state);
    setup.rounds_auto = true;
    terms(7, 4, 1, 0);
    expect_answer("undecided", NULL);
    job.rounds_cut = true;
    expect_answer("balanced", NULL);
    /* A disturbance may pass: rounds go on. */
    fresh(state);
    setup.rounds_auto = true;
    terms(8, 4, 1, 260);
    bt_judge(&j, &job);
    assert_string_equal(j.row[0].answer, "not-measurable");
    assert_false(balance_settled(j.row[0].stamps, j.row[0].answer, j.row[0].reason));
    bt_judge_free(&j);
}

/* The share of samples from a known distribution whose interval misses its median. */
static void intervals_are_what_they_say(void **state)
{
    enum { SAMPLES = 2000 };
    uint64_t x = 1993;
    for (int n = 6; n <= 9; n++) {
        int missed = 0;
        for (int i = 0; i < SAMPLES; i++) {
            struct bt_judged j;
            fresh(state);
            for (int r = 1; r <= n; r++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                const double u = ((double)(x >> 11) + 0.5) / 0x1p53;
                run(BT_COMPUTE, r, 94, 0);
                run("posix", r, 94 * (1.05 - 0.03 * log(2 * u)), 3); /* median 1.05 */
            }
            bt_judge(&j, &job);
            if (isfinite(j.row[0].paired.lo))
                missed += j.row[0].paired.lo > 0.05 || j.row[0].paired.hi < 0.05;
            bt_judge_free(&j);
        }
        assert_true(missed <= 0.05 * SAMPLES + 2 * 10); /* two standard deviations */
    }
}

/* "The extra time is that of writing at 4.30 TB/s", at zeta 0.000. */
static void no_rate_is_implied_by_noise(void **state)
{
    (void)state;
    run("posix", 1, 94.0004, 0.1);
    json_t *s = judged();
    assert_null(stamp_find(s, STAMP_IMPLIED_RATE));
    json_decref(s);
    job.outcomes_n = 0;
    for (int r = 1; r <= 6; r++) {
        run(BT_COMPUTE, r, 94 + (r % 2), 0);
        run("posix", r, 94 + (r % 3), 2);
    }
    s = judged();
    assert_null(stamp_find(s, STAMP_IMPLIED_RATE));
    assert_non_null(stamp_find(s, STAMP_BALANCED));
    json_decref(s);
}

static void wrong_files_get_no_verdict(void **state)
{
    (void)state;
    rounds(5, 94.0, 96, 2);
    outcome[3].wrong = true;
    outcome[3].verified = false;
    json_t *s = judged();
    assert_non_null(stamp_find(s, STAMP_NOT_VERIFIED));
    assert_null(stamp_find(s, STAMP_BALANCED));
    assert_null(stamp_find(s, STAMP_OFFICIAL));
    json_decref(s);
}

/* What was given is not called the best time known. */
static void a_given_t_c_is_called_given(void **state)
{
    (void)state;
    job.tc.origin = BT_TC_FROM_USER;
    run("posix", 1, 90, 2);
    json_t *s = judged();
    const char *said = stamp_text(stamp_find(s, STAMP_TC_NOT_BEST), "sentence");
    assert_non_null(strstr(said, "--tc"));
    assert_null(strstr(said, "best compute-only time known"));
    json_decref(s);
    s = job_judged();
    assert_non_null(stamp_find(s, STAMP_TC_NOT_BEST));
    json_decref(s);
}

static void cores_and_steps(void **state)
{
    (void)state;
    static const struct {
        int ranks, threads, mask, cpus;
        const char *code;
    } table[] = {{2, 1, 2, 2, NULL},
                 {4, 1, 2, 2, "oversubscribed"},
                 {1, 1, 2, 2, "cores-unused"},
                 {1, 2, 1, 1, "bound"},
                 {2, 1, 1, 1, "bound"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        job.machine.nodes.size = table[i].ranks;
        job.machine.threads = table[i].threads;
        job.machine.mask_width = table[i].mask;
        job.machine.cpus = table[i].cpus;
        json_t *s = job_judged();
        assert_int_equal(json_array_size(s), table[i].code ? 1 : 0);
        if (table[i].code) assert_non_null(stamp_find_text(s, table[i].code));
        json_decref(s);
    }
    fresh(NULL);
    setup.problem.steps = 20;
    json_t *s = job_judged();
    assert_true(numbers(s, "extrapolated", "class_steps_n") == 200);
    json_decref(s);
}

/* A reading is cold or warm by what was in memory, whatever was asked for. */
static void readings_are_called_what_they_are(void **state)
{
    (void)state;
    static const struct {
        struct bt_reading r; /* of 1000 bytes */
        const char *code[2]; /* all that it gets */
    } table[] = {
        {{.cached_bytes = 0}, {NULL, NULL}},
        {{.cached_bytes = 50}, {NULL, NULL}},
        {{.cached_bytes = 51}, {"read-cached", NULL}},
        {{.cached_bytes = -1}, {"read-cached", NULL}},
        {{.cached_bytes = 0, .in_memory = true}, {"read-cached", NULL}},
        {{.cached_bytes = 0, .network = true}, {"read-server-cache", NULL}},
        {{.cached_bytes = 900, .virtual = true}, {"read-cached", "read-server-cache"}},
        {{.cached_bytes = 900, .in_memory = true, .virtual = true}, {"read-cached", NULL}},
        {{.warm = true, .cached_bytes = 1000, .network = true, .virtual = true}, {NULL, NULL}},
        {{.warm = true, .cached_bytes = 950}, {NULL, NULL}},
        {{.warm = true, .cached_bytes = 949}, {"read-not-cached", NULL}},
        {{.warm = true, .cached_bytes = -1}, {"read-not-cached", NULL}},
        {{.warm = true, .cached_bytes = -1, .in_memory = true}, {NULL, NULL}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct bt_reading r = table[i].r;
        size_t wanted = 0;
        r.dump_bytes = 1000;
        json_t *s = bt_judge_reading(&r);
        for (int c = 0; c < 2; c++) {
            if (!table[i].code[c]) continue;
            wanted++;
            assert_non_null(stamp_find_text(s, table[i].code[c]));
        }
        assert_int_equal(json_array_size(s), wanted);
        json_decref(s);
    }
    struct bt_read_dump dump[3] = {{.dump = 0, .right = true}, {.dump = 4}, {.dump = 5}};
    struct bt_reading wrong = {.dumps_n = 3, .dump = dump, .dump_bytes = 1000};
    json_t *s = bt_judge_reading(&wrong);
    assert_int_equal(json_array_size(s), 1);
    assert_true(numbers(s, "read-wrong", "dump_n") == 5);
    json_decref(s);
}

/* Two rounds in two decompositions: medians of what is alike, each code once. */
static void readings_are_put_together_by_kind(void **state)
{
    (void)state;
    struct bt_reading of[2][2];
    struct bt_read_row row[BT_READ_ROWS_MAX];
    rounds(2, 94.0, 100.0, 4.0);
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < 2; k++) {
            struct bt_reading *r = &of[round][k];
            *r = (struct bt_reading){.ranks = 2, .bytes = 1000, .dump_bytes = 1000, .right = true};
            r->t_r_s = 1 + round + 10 * k;
            r->cached_bytes = k == 1 ? 1000 : 0;
            r->dumps_n = 1;
            r->dump = right_dump;
            snprintf(r->decomp, sizeof r->decomp, "%s", k == 0 ? "1x1x2" : "2x1x1");
        }
        job.outcome[2 * round + 1].run.readings = (struct bt_readings){2, of[round]};
    }
    assert_int_equal(bt_read_rows(&job, "posix", row), 2);
    assert_int_equal(bt_read_rows(&job, BT_COMPUTE, row + 2), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(row[k].runs, 2);
        assert_true(fabs(row[k].median.t_r_s - (1.5 + 10 * k)) < 1e-12);
        assert_true(row[k].right);
        bt_judge_readings(&job, &row[k]);
        assert_int_equal(json_array_size(row[k].stamps), 1 + k); /* the answer is one */
        json_decref(row[k].stamps);
    }
}

/* Writes and reads back one of the 40 dumps, cold, over a T_C of about 94 s: 2.35 s of computing a dump. */
static void reads(int n, double data_s, double bookkeeping_s)
{
    static const double noise[] = {0, 3, -2, 1, -3, 2, -1, 3, -2, 1, -1, 2};
    terms(n, 4, 1, 0);
    for (int r = 0; r < n; r++) {
        const double by = 1 + 0.01 * noise[r];
        reading[r] = (struct bt_reading){.ranks = 2,
                                         .own = true,
                                         .decomp = "1x1x2",
                                         .bytes = 1000,
                                         .dump_bytes = 1000,
                                         .right = true,
                                         .dumps_n = 1,
                                         .dump = right_dump,
                                         .data_s = data_s * by,
                                         .t_r_s = (data_s + bookkeeping_s) * by};
        outcome[2 * r + 1].run.readings = (struct bt_readings){1, &reading[r]};
    }
}

/* The answer about reading posix back, of which there is exactly one. */
static void expect_read_answer(const char *code, const char *reason)
{
    struct bt_judged j;
    int found = 0;
    bt_judge(&j, &job);
    assert_string_equal(j.row[0].writer, "posix");
    assert_int_equal(j.row[0].reads_n, 1);
    const struct bt_read_row *row = &j.row[0].read[0];
    for (size_t i = 0; i < sizeof code_of / sizeof code_of[0]; i++)
        found += stamp_find_text(row->stamps, code_of[i]) != NULL;
    assert_int_equal(found, code != NULL);
    assert_string_equal(row->answer ? row->answer : "", code ? code : "");
    assert_string_equal(row->reason ? row->reason : "", reason ? reason : "");
    if (code) assert_string_equal(stamp_text(json_array_get(row->stamps, 0), "code"), code);
    bt_judge_free(&j);
}

static void one_answer_about_reading_for_each_case(void **state)
{
    static const struct {
        double data_s, bookkeeping_s; /* over 2.35 s */
        const char *code, *reason;
    } table[] = {
        {0.1, 0.02, "balanced", NULL},
        {0.01, 0.02, "io-faster-than-needed", NULL},
        {0.4, 0.02, "io-too-slow", NULL},
        {0.4, 1, "io-too-slow", NULL},
        {0.1, 0.4, "not-measurable", "bookkeeping"},
        {0.235, 0.1, "undecided", NULL}, /* above, but is it the data? */
        {0.2, 0.035, "undecided", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        fresh(state);
        reads(12, table[i].data_s, table[i].bookkeeping_s);
        expect_read_answer(table[i].code, table[i].reason);
    }
    /* All 40 dumps, read in 40 times the time, say the same of the same computing. */
    fresh(state);
    reads(12, 40 * 0.4, 0);
    for (int r = 0; r < 12; r++)
        reading[r].dumps_n = DUMPS;
    expect_read_answer("io-too-slow", NULL);
}

static const double fast_to_slow_s[] = {0.01, 0.1, 0.4};

static void reading_from_memory_decides_nothing(void **state)
{
    for (int i = 0; i < 3 * 5; i++) {
        const int how = i % 5;
        fresh(state);
        reads(8, fast_to_slow_s[i / 5], 0);
        reading[3].cached_bytes = how == 0 ? 51 : how == 1 ? -1 : 0;
        reading[3].in_memory = how == 2;
        for (int r = 0; how == 3 && r < 8; r++)
            reading[r].warm = true;
        for (int r = 0; how == 4 && r < 8; r++) /* warm, and yet not: the device may hold it */
            reading[r].warm = true, reading[r].cached_bytes = 0;
        expect_read_answer("not-measurable", "page-cache");
    }
}

/* Too short, disturbed, shared processors; and what gets no answer at all. */
static void reading_that_cannot_be_measured_decides_nothing(void **state)
{
    static const char *const answer[] = {"io-faster-than-needed", "balanced", "io-too-slow"};
    for (int i = 0; i < 3; i++) {
        fresh(state);
        reads(8, fast_to_slow_s[i], 0);
        for (int o = 0; o < job.outcomes_n; o++)
            outcome[o].run.t_t_s /= 4;
        for (int r = 0; r < 8; r++)
            reading[r].t_r_s /= 4, reading[r].data_s /= 4;
        expect_read_answer("not-measurable", "too-short");
        fresh(state);
        reads(8, fast_to_slow_s[i], 0);
        job.machine.threads = 2;
        job.machine.mask_width = 4;
        expect_read_answer("not-measurable", "processors-shared");
        fresh(state);
        reads(8, fast_to_slow_s[i], 0);
        for (int r = 0; r < 4; r++) /* in every other of these rounds computing, else reading */
            (r % 2 ? &outcome[2 * r].run.disturbance : &reading[r].disturbance)->disturbed = true;
        expect_read_answer("not-measurable", "disturbed");
        reading[0].disturbance.disturbed = false;
        expect_read_answer(answer[i], NULL);
        for (int r = 0; r < 8; r++) /* the writing alone: that says nothing of reading */
            outcome[2 * r + 1].run.disturbance.disturbed = true;
        expect_read_answer(answer[i], NULL);
        struct bt_judged j;
        bt_judge(&j, &job);
        assert_string_equal(
            stamp_text(stamp_find(j.row[0].read[0].stamps, STAMP_DISTURBED), "severity"), "note");
        bt_judge_free(&j);
        reading[5].right = false;
        expect_read_answer(NULL, NULL);
    }
    fresh(state);
    reads(8, 0.4, 0);
    for (int o = 0; o < job.outcomes_n; o += 2)
        outcome[o].run.round = 100; /* no pairs */
    expect_read_answer("undecided", NULL);
    fresh(state);
    reads(5, 0.4, 0);
    expect_read_answer("undecided", NULL);
}

/* --repeat auto goes on for what is read back, too. */
static void rounds_go_on_for_reading(void **state)
{
    struct bt_judged j;
    for (int open = 0; open < 2; open++) {
        fresh(state);
        setup.rounds_auto = true;
        reads(8, open ? 0.235 : 0.1, 0.02);
        bt_judge(&j, &job);
        assert_true(balance_settled(j.row[0].stamps, j.row[0].answer, j.row[0].reason));
        assert_int_equal(balance_settled(j.row[0].read[0].stamps, j.row[0].read[0].answer,
                                         j.row[0].read[0].reason),
                         !open);
        bt_judge_free(&j);
    }
    fresh(state);
    setup.rounds_auto = true;
    reads(8, 0.1, 0.02);
    reading[0].cached_bytes = 1000; /* what memory holds, more rounds do not change */
    bt_judge(&j, &job);
    assert_true(
        balance_settled(j.row[0].read[0].stamps, j.row[0].read[0].answer, j.row[0].read[0].reason));
    bt_judge_free(&j);
}

/* With zeta of reading on the goal itself, every answer but undecided would be wrong. */
static void answers_about_reading_are_seldom_wrong(void **state)
{
    enum { SAMPLES = 600 };
    uint64_t x = 29;
    for (int rounds_n = 8; rounds_n <= 11; rounds_n += 3) {
        int wrong = 0;
        for (int i = 0; i < SAMPLES; i++) {
            struct bt_judged j;
            fresh(state);
            setup.rounds_auto = true;
            reads(rounds_n, 0.235, 0);
            for (int r = 0; r < rounds_n; r++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                const double u = ((double)(x >> 11) + 0.5) / 0x1p53;
                const double t_c_s = outcome[2 * r].run.t_t_s;
                /* One-sided, as noise is; the median is 0.1. */
                reading[r].t_r_s = reading[r].data_s =
                    t_c_s / 40 * (0.1 + 0.03 * (-log(u) - log(2)));
            }
            bt_judge(&j, &job);
            wrong += strcmp(j.row[0].read[0].answer, "undecided") != 0;
            bt_judge_free(&j);
        }
        assert_true(wrong <= 0.05 * SAMPLES + 2 * 5.4); /* two standard deviations */
    }
}

/* Of 31 rounds 15 were disturbed and above the goal. All rounds together are above it, by the sign test; of
 * the 16 that were not disturbed 9 are below. */
static void disturbed_rounds_do_not_outvote_the_others(void **state)
{
    for (int above = 0; above < 2; above++) {
        fresh(state);
        for (int r = 0; r < 31; r++) {
            const bool spoiled = r % 2 && r < 30, high = spoiled || (r % 4 == 0 && r > 0);
            run(BT_COMPUTE, r + 1, 94, 0);
            run("posix", r + 1, 94 * (high || above ? 1.2 : 1.098) + 0.01 * (r * 7 % 5),
                94 * (high || above ? 0.19 : 0.09));
            outcome[job.outcomes_n - 1].run.disturbance.disturbed = spoiled;
        }
        if (above)
            expect_answer("io-too-slow", NULL);
        else
            expect_answer("not-measurable", "disturbed");
    }
}

/* "Data 10 times as slow would still meet the goal", where bookkeeping left no room for that. */
static void what_is_spare_is_what_the_rest_leaves(void **state)
{
    struct bt_judged j;
    (void)state;
    terms(12, 0.5, 7.5, 0); /* data 0.005, together 0.085, with noise up to 0.091 */
    bt_judge(&j, &job);
    assert_string_equal(j.row[0].answer, "io-faster-than-needed");
    const double spare = balance_spare(&j.row[0].paired, &j.row[0].data, INFINITY);
    assert_true(spare > 1 && spare < 5);
    assert_true(j.row[0].paired.hi + (spare - 1) * j.row[0].data.hi < BALANCE_GOAL + 1e-12);
    const json_t *numbers = json_object_get(json_array_get(j.row[0].stamps, 0), "numbers");
    assert_float_equal(js_number(numbers, "data_factor_at_goal"), spare, 1e-9);
    bt_judge_free(&j);
}

/* A file system that stalls now and then: the median does not show it. */
static void rounds_far_above_the_goal_are_told_beside_it(void **state)
{
    (void)state;
    for (int stalls = 0; stalls < 2; stalls++) {
        fresh(state);
        for (int r = 1; r <= 36; r++) {
            const double more = stalls && r % 4 == 1 ? 94 : 0;
            run(BT_COMPUTE, r, 94, 0);
            run("posix", r, 94 * 1.03 + 0.01 * (r * 5 % 7) + more, 94 * 0.03 + more);
        }
        json_t *s = judged();
        const char *sentence = stamp_text(stamp_find(s, STAMP_BALANCED), "sentence");
        const char *clause = "; in 9 of 36 rounds zeta lies above 0.10, the mean is 0.28.";
        assert_int_equal(strstr(sentence, clause) != NULL, stalls);
        assert_int_equal(strstr(sentence, "mean") != NULL, stalls);
        if (stalls) {
            assert_true(fabs(numbers(s, "balanced", "zeta_mean") - 0.28) < 0.001);
            assert_true(numbers(s, "balanced", "rounds_above_n") == 9);
        }
        json_decref(s);
    }
}

/* All runs that write are those of async, with so much I/O time, of which so much beside computing. */
static void in_background(double io_s, double both_s)
{
    for (int o = 0; o < job.outcomes_n; o++) {
        struct bt_run *r = &outcome[o].run;
        if (strcmp(r->writer, BT_COMPUTE) == 0) continue;
        snprintf(r->writer, sizeof r->writer, "async");
        r->io.max = io_s;
        r->both.max = both_s;
    }
}

/* data_factor_at_goal of the first stamp, NaN without one, and whether the sentence has it; it says why it is no
 * more where that is so. */
static double factor_of(const json_t *stamps, bool *hides)
{
    const json_t *stamp = json_array_get(stamps, 0);
    const double factor = js_number(json_object_get(stamp, "numbers"), "data_factor_at_goal");
    const char *sentence = stamp_text(stamp, "sentence");
    assert_string_equal(stamp_text(stamp, "code"), "io-faster-than-needed");
    assert_int_equal(strstr(sentence, "times as slow") != NULL, isfinite(factor));
    *hides = strstr(sentence, "may not hide behind") != NULL;
    return factor;
}

/* A writer in the background hides I/O behind computing as long as there is computing to hide behind. */
static void what_hides_is_not_spare_without_end(void **state)
{
    static const struct {
        double io_s, both_s, factor; /* 0: by data alone */
    } table[] = {{40, 39.8, 1.1 * 94.1 / 40},
                 {102, 90, 1.1 * 94.1 / 102},
                 {1, 0.8, 0},  /* I/O is so short that the last dump decides */
                 {0.2, 0, 0},  /* --sync dump: each is waited for */
                 {0, 0, NAN}}; /* when it was is not known */
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct bt_judged j;
        bool hides;
        fresh(state);
        terms(12, 0.2, 0, 0);
        in_background(table[i].io_s, table[i].both_s);
        bt_judge(&j, &job);
        const double factor = factor_of(j.row[0].stamps, &hides);
        const double linear = balance_spare(&j.row[0].paired, &j.row[0].data, INFINITY);
        const bool capped = table[i].factor > 0;
        assert_true(linear > 30);
        assert_int_equal(hides, capped);
        if (isnan(table[i].factor))
            assert_true(isnan(factor));
        else
            assert_true(fabs(factor - (capped ? table[i].factor : linear)) < 1e-9);
        bt_judge_free(&j);
    }
}

/* 1.7 GB that take 46 s more than 94 s: in the foreground 9.4 s would do, in the background 103 s. */
static void what_may_hide_needs_no_tenth_of_the_time(void **state)
{
    static const struct {
        double t_t_s, both_s, needed;
        const char *words;
    } table[] = {
        {140, 0, 180.6e6, " would meet the goal of 10 %."},
        {140, 94, 16.4e6,
         "Write rate 12.3 MB/s; 16.2 MB/s would meet the goal of 10 % with all of it in the "
         "background."},
        {101, 94, 16.4e6, "; the goal of 10 % needs 16.2 MB/s with all of it in the background."}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct bt_judged j;
        fresh(state);
        rounds(8, 94.0, table[i].t_t_s, table[i].t_t_s - 95);
        in_background(table[i].t_t_s - 2, table[i].both_s);
        bt_judge(&j, &job);
        const json_t *stamps = j.row[0].stamps;
        const char *sentence = stamp_text(stamp_find(stamps, STAMP_IMPLIED_RATE), "sentence");
        assert_true(fabs(numbers(stamps, "implied-rate", "needed_bytes_per_s") / table[i].needed -
                         1) < 0.02);
        assert_non_null(strstr(sentence, table[i].words));
        bt_judge_free(&j);
    }
}

/* Reading ahead, it hides reading behind putting values into place: all of T_R may be reading. */
static void what_is_read_ahead_is_not_spare_without_end(void **state)
{
    for (int ahead = 0; ahead < 2; ahead++) {
        struct bt_judged j;
        bool hides;
        fresh(state);
        reads(12, 0.01, 0.04);
        if (ahead) in_background(40, 39.8);
        bt_judge(&j, &job);
        const struct bt_read_row *row = &j.row[0].read[0];
        const double factor = factor_of(row->stamps, &hides);
        const double linear = balance_spare(&row->zeta, &row->data, INFINITY);
        assert_int_equal(hides, ahead);
        assert_true(fabs(factor - (ahead ? BALANCE_GOAL / row->zeta.hi : linear)) < 1e-9);
        assert_true(linear > 15 && (!ahead || factor < 5));
        bt_judge_free(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rounds_far_above_the_goal_are_told_beside_it, fresh),
        cmocka_unit_test_setup(noise_is_not_called_slow_writing, fresh),
        cmocka_unit_test_setup(disturbed_runs_are_told, fresh),
        cmocka_unit_test_setup(an_answer_has_no_stamp_that_denies_it, fresh),
        cmocka_unit_test_setup(slow_writing_is_called_so, fresh),
        cmocka_unit_test_setup(wide_intervals_are_undecided, fresh),
        cmocka_unit_test_setup(one_answer_for_each_case, fresh),
        cmocka_unit_test_setup(nothing_is_concluded_from_what_cannot_be_measured, fresh),
        cmocka_unit_test_setup(disturbed_rounds_decide_nothing, fresh),
        cmocka_unit_test_setup(the_terms_add_up, fresh),
        cmocka_unit_test_setup(rounds_go_on_until_it_is_decided, fresh),
        cmocka_unit_test_setup(intervals_are_what_they_say, fresh),
        cmocka_unit_test_setup(no_rate_is_implied_by_noise, fresh),
        cmocka_unit_test_setup(wrong_files_get_no_verdict, fresh),
        cmocka_unit_test_setup(a_given_t_c_is_called_given, fresh),
        cmocka_unit_test_setup(cores_and_steps, fresh),
        cmocka_unit_test_setup(readings_are_called_what_they_are, fresh),
        cmocka_unit_test_setup(readings_are_put_together_by_kind, fresh),
        cmocka_unit_test_setup(one_answer_about_reading_for_each_case, fresh),
        cmocka_unit_test_setup(reading_from_memory_decides_nothing, fresh),
        cmocka_unit_test_setup(reading_that_cannot_be_measured_decides_nothing, fresh),
        cmocka_unit_test_setup(rounds_go_on_for_reading, fresh),
        cmocka_unit_test_setup(answers_about_reading_are_seldom_wrong, fresh),
        cmocka_unit_test_setup(disturbed_rounds_do_not_outvote_the_others, fresh),
        cmocka_unit_test_setup(what_is_spare_is_what_the_rest_leaves, fresh),
        cmocka_unit_test_setup(what_hides_is_not_spare_without_end, fresh),
        cmocka_unit_test_setup(what_may_hide_needs_no_tenth_of_the_time, fresh),
        cmocka_unit_test_setup(what_is_read_ahead_is_not_spare_without_end, fresh),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
