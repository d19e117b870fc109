/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stamps for jobs whose times are made up: which codes, with which numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/stamp.h"
#include "bt/judge.h"

#define RUNS_MAX 64

static struct bt_outcome outcome[RUNS_MAX];
static struct bt_setup setup;
static struct bt_job job;

/* Class B on a machine whose cores are all in use; T_C from the store. */
static int fresh(void **state)
{
    (void)state;
    memset(outcome, 0, sizeof outcome);
    memset(&setup, 0, sizeof setup);
    assert_int_equal(bt_problem_class('B', &setup.problem), 0);
    setup.writers_n = 1;
    job = (struct bt_job){.setup = &setup, .outcome = outcome};
    job.machine = (struct bt_machine){.nodes = {.size = 2, .cores = 2, .node_cores = 2, .count = 1},
                                      .threads = 1,
                                      .mask_width = 2,
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
    o->run.in_io.max = in_io_s;
    o->run.completed = o->verified = true;
    o->serial_file = strcmp(writer, BT_COMPUTE) != 0;
    if (o->serial_file) o->run.bytes = INT64_C(40) * 42448320;
}

static void rounds(int n, double t_c_s, double t_t_s, double in_io_s)
{
    for (int r = 1; r <= n; r++) {
        const double noise = 1 + 0.004 * r;
        run(BT_COMPUTE, r, t_c_s * noise, 0);
        run("posix", r, t_t_s * noise * (1 + 0.001 * (r % 3)), in_io_s);
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
    const json_t *n = json_object_get(stamp_find(stamps, code), "numbers");
    return json_is_number(json_object_get(n, key)) ? json_number_value(json_object_get(n, key))
                                                   : NAN;
}

/* A computer that was slow for all is not called a slow disk: T_T 135.3 s over a T_C of 94.0 s, of
 * which writing took 4.0 s. */
static void noise_is_not_called_slow_writing(void **state)
{
    (void)state;
    run("posix", 1, 135.3, 4.0);
    json_t *s = judged();
    assert_non_null(stamp_find(s, "undecided"));
    assert_null(stamp_find(s, "not-balanced"));
    assert_non_null(stamp_find(s, "official"));
    json_decref(s);
    const struct bt_values v = bt_values_of(&job, &outcome[0].run);
    assert_true(fabs(v.zeta_io - 4.0 / 94) < 1e-12);
    assert_true(fabs(v.zeta_compute - (131.3 / 94 - 1)) < 1e-12);
    job.outcomes_n = 0;
    rounds(5, 131.0, 135.3, 4.0);
    s = judged();
    assert_non_null(stamp_find(s, "balanced"));
    assert_null(stamp_find(s, "not-balanced"));
    assert_true(numbers(s, "balanced", "zeta") > 0.4); /* over the best T_C */
    assert_true(fabs(numbers(s, "balanced", "zeta_paired") - 0.034) < 0.005);
    json_decref(s);
    s = job_judged();
    assert_true(numbers(s, "disturbed", "t_c_s") == 94.0);
    json_decref(s);
}

static void slow_writing_is_called_so(void **state)
{
    (void)state;
    rounds(5, 94.0, 140, 44);
    json_t *s = judged();
    assert_non_null(stamp_find(s, "not-balanced"));
    assert_true(numbers(s, "not-balanced", "zeta_paired_ci95_lo") > 0.1);
    /* 1.7 GB in 46 s, where 9.4 s would do. */
    assert_true(fabs(numbers(s, "implied-rate", "rate_bytes_per_s") / 36.9e6 - 1) < 0.05);
    assert_true(fabs(numbers(s, "implied-rate", "needed_bytes_per_s") / 180.6e6 - 1) < 0.05);
    json_decref(s);
    job.outcomes_n = 0;
    rounds(4, 94.0, 140, 44); /* four rounds are no verdict */
    s = judged();
    assert_non_null(stamp_find(s, "undecided"));
    assert_true(numbers(s, "undecided", "rounds_needed_n") == 5);
    json_decref(s);
}

/* An interval on both sides of the goal; how many rounds would do. */
static void wide_intervals_are_undecided(void **state)
{
    (void)state;
    static const double t_t[] = {100, 102, 104, 106, 96, 110};
    for (int r = 1; r <= 6; r++) {
        run(BT_COMPUTE, r, 94, 0);
        run("posix", r, t_t[r - 1], 5);
    }
    json_t *s = judged();
    assert_non_null(stamp_find(s, "undecided"));
    assert_true(numbers(s, "undecided", "rounds_needed_n") > 6);
    json_decref(s);
}

/* "The extra time is that of writing at 4.30 TB/s", at zeta 0.000. */
static void no_rate_is_implied_by_noise(void **state)
{
    (void)state;
    run("posix", 1, 94.0004, 0.1);
    json_t *s = judged();
    assert_null(stamp_find(s, "implied-rate"));
    json_decref(s);
    job.outcomes_n = 0;
    for (int r = 1; r <= 5; r++) {
        run(BT_COMPUTE, r, 94 + (r % 2), 0);
        run("posix", r, 94 + (r % 3), 0.1);
    }
    s = judged();
    assert_null(stamp_find(s, "implied-rate"));
    assert_non_null(stamp_find(s, "balanced"));
    json_decref(s);
}

static void wrong_files_get_no_verdict(void **state)
{
    (void)state;
    rounds(5, 94.0, 96, 2);
    outcome[3].wrong = true;
    outcome[3].verified = false;
    json_t *s = judged();
    assert_non_null(stamp_find(s, "not-verified"));
    assert_null(stamp_find(s, "balanced"));
    assert_null(stamp_find(s, "official"));
    json_decref(s);
}

/* What was given is not called the best time known. */
static void a_given_t_c_is_called_given(void **state)
{
    (void)state;
    job.tc.origin = BT_TC_FROM_USER;
    run("posix", 1, 90, 2);
    json_t *s = judged();
    const char *said = stamp_text(stamp_find(s, "tc-not-best"), "sentence");
    assert_non_null(strstr(said, "--tc"));
    assert_null(strstr(said, "best compute-only time known"));
    json_decref(s);
    s = job_judged();
    assert_non_null(stamp_find(s, "tc-not-best"));
    json_decref(s);
}

static void cores_and_steps(void **state)
{
    (void)state;
    static const struct {
        int ranks, threads, mask;
        const char *code;
    } table[] = {{2, 1, 2, NULL},
                 {4, 1, 2, "oversubscribed"},
                 {1, 1, 2, "cores-unused"},
                 {1, 2, 1, "bound"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        job.machine.nodes.size = table[i].ranks;
        job.machine.threads = table[i].threads;
        job.machine.mask_width = table[i].mask;
        json_t *s = job_judged();
        assert_int_equal(json_array_size(s), table[i].code ? 1 : 0);
        if (table[i].code) assert_non_null(stamp_find(s, table[i].code));
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
            assert_non_null(stamp_find(s, table[i].code[c]));
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
            snprintf(r->decomp, sizeof r->decomp, "%s", k == 0 ? "1x1x2" : "2x1x1");
        }
        job.outcome[2 * round + 1].run.readings = (struct bt_readings){2, of[round]};
    }
    assert_int_equal(bt_read_rows(&job, "posix", row), 2);
    assert_int_equal(bt_read_rows(&job, BT_COMPUTE, row + 2), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(row[k].runs, 2);
        assert_true(fabs(row[k].t_r_s - (1.5 + 10 * k)) < 1e-12);
        assert_true(row[k].right);
        json_t *s = bt_judge_readings(&job, "posix", row[k].first);
        assert_int_equal(json_array_size(s), k);
        json_decref(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(noise_is_not_called_slow_writing, fresh),
        cmocka_unit_test_setup(slow_writing_is_called_so, fresh),
        cmocka_unit_test_setup(wide_intervals_are_undecided, fresh),
        cmocka_unit_test_setup(no_rate_is_implied_by_noise, fresh),
        cmocka_unit_test_setup(wrong_files_get_no_verdict, fresh),
        cmocka_unit_test_setup(a_given_t_c_is_called_given, fresh),
        cmocka_unit_test_setup(cores_and_steps, fresh),
        cmocka_unit_test_setup(readings_are_called_what_they_are, fresh),
        cmocka_unit_test_setup(readings_are_put_together_by_kind, fresh),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
