/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer about the balance from rounds that no program saw together ("what": "balance"). */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/stats/request.h"

enum { ROUNDS = 64 };

/* A request, each value of which can be changed before it is asked. */
struct rounds {
    double zeta[ROUNDS], data[ROUNDS], disturbed[ROUNDS], shared[ROUNDS];
};

/* Rounds whose zeta and data lie around these, so that neither rises nor falls. */
static struct rounds about(double zeta, double data)
{
    static const double off[] = {0, 0.002, -0.001, 0.001, -0.002};
    struct rounds r = {{0}, {0}, {0}, {0}};
    for (int i = 0; i < ROUNDS; i++) {
        r.zeta[i] = zeta + off[i % 5];
        r.data[i] = data + off[(i + 2) % 5];
    }
    return r;
}

static json_t *list(const double *x, int n)
{
    json_t *to = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(to, json_real(x[i]));
    return to;
}

/* The answer to the first n rounds. rounds_max: 0: one look at all of them. To be freed. */
static json_t *ask(const struct rounds *r, int n, int rounds_max)
{
    json_t *out = NULL;
    json_t *request = json_pack("{ss so so so so}", "what", "balance", "zeta", list(r->zeta, n),
                                "data", list(r->data, n), "disturbed", list(r->disturbed, n),
                                "shared", list(r->shared, n));
    if (rounds_max > 0) json_object_set_new(request, "rounds_max", json_integer(rounds_max));
    assert_int_equal(answer(request, "here", &out), 0);
    json_decref(request);
    return out;
}

static void expect(const struct rounds *r, int n, int rounds_max, const char *code,
                   const char *reason, bool settled)
{
    json_t *out = ask(r, n, rounds_max);
    const char *said = json_string_value(json_object_get(out, "reason"));
    assert_string_equal(json_string_value(json_object_get(out, "answer")), code);
    assert_string_equal(said ? said : "", reason ? reason : "");
    assert_int_equal(json_is_true(json_object_get(out, "settled")), settled);
    assert_int_equal(json_integer_value(json_object_get(out, "n")), n);
    json_decref(out);
}

static double number(const json_t *out, const char *part, const char *key)
{
    const json_t *at = part ? json_object_get(out, part) : out;
    return json_number_value(json_object_get(at, key));
}

static void each_answer_follows_from_zeta_and_data(void **state)
{
    (void)state;
    const struct {
        double zeta, data;
        const char *code, *reason;
    } row[] = {{0.05, 0.04, "balanced", NULL},    {0.05, 0.004, "io-faster-than-needed", NULL},
               {0.30, 0.20, "io-too-slow", NULL}, {0.30, 0.04, "not-measurable", "not-data"},
               {0.10, 0.04, "undecided", NULL},   {0.30, 0.10, "undecided", NULL}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct rounds r = about(row[i].zeta, row[i].data);
        expect(&r, 8, 0, row[i].code, row[i].reason, strcmp(row[i].code, "undecided") != 0);
    }
}

static void interval_and_median_are_those_of_the_sign_test(void **state)
{
    (void)state;
    const struct rounds r = about(0.05, 0.004);
    json_t *out = ask(&r, 6, 0); /* lowest to highest: 96.9 % */
    assert_true(number(out, "zeta", "lo") == 0.05 - 0.002);
    assert_true(number(out, "zeta", "hi") == 0.05 + 0.002);
    assert_true(number(out, "zeta", "median") == 0.05);
    /* So far data could be slower: 0.10 above zeta's upper end, over the upper end of data. */
    assert_true(number(out, NULL, "data_factor") > 1);
    json_decref(out);
    out = ask(&r, 5, 0); /* 93.75 % at best */
    assert_true(json_is_null(json_object_get(json_object_get(out, "zeta"), "lo")));
    assert_string_equal(json_string_value(json_object_get(out, "answer")), "undecided");
    json_decref(out);
}

static void what_is_undecided_says_how_many_rounds_would_decide(void **state)
{
    (void)state;
    const struct rounds r = about(0.0995, 0.04);
    json_t *out = ask(&r, 8, 0);
    assert_true(number(out, NULL, "rounds_needed") > 8);
    json_decref(out);
    const struct rounds clear = about(0.05, 0.04);
    out = ask(&clear, 8, 0);
    assert_true(json_is_null(json_object_get(out, "rounds_needed")));
    json_decref(out);
}

/* With one look at whatever there is each number of rounds from 6 on decides; with the looks of a plan for 64 those
 * from 8 on, and what a look has decided holds until the next. */
static void rounds_that_go_on_are_judged_at_the_looks_of_their_plan(void **state)
{
    (void)state;
    struct rounds r = about(0.05, 0.04);
    expect(&r, 6, 0, "balanced", NULL, true);
    expect(&r, 6, 64, "undecided", NULL, false);
    expect(&r, 7, 64, "undecided", NULL, false);
    expect(&r, 8, 64, "balanced", NULL, true);
    expect(&r, 10, 64, "balanced", NULL, true);
    r = about(0.10, 0.04);
    expect(&r, 64, 64, "undecided", NULL, false);
    /* One round of ten that is off leaves an interval below the goal, if 10 is a look. */
    r = about(0.05, 0.04);
    r.zeta[3] = 0.2;
    expect(&r, 10, 0, "balanced", NULL, true);
    expect(&r, 10, 64, "undecided", NULL, false);
    expect(&r, 15, 64, "balanced", NULL, true);
}

static void a_disturbance_takes_the_answer_away_and_may_pass(void **state)
{
    (void)state;
    struct rounds r = about(0.05, 0.04);
    for (int i = 0; i < 3; i++)
        r.disturbed[2 * i] = 1;
    expect(&r, 8, 64, "balanced", NULL, true);
    r.disturbed[7] = 1;
    expect(&r, 8, 64, "not-measurable", "disturbed", false);
    memset(r.disturbed, 0, sizeof r.disturbed);
    for (int i = 0; i < 4; i++)
        r.shared[i] = 1;
    expect(&r, 7, 64, "not-measurable", "processors-shared", false); /* before the first look */
    expect(&r, 8, 64, "not-measurable", "processors-shared", true);
    /* All 40 rounds together lie at or below the goal, the 21 that were not disturbed above. */
    for (int i = 0; i < 40; i++) {
        const int k = i * 17 % 40;
        r.zeta[i] = k < 19 ? 0.05 : k < 29 ? 0.09 : 0.101;
        r.disturbed[i] = k < 19;
        r.shared[i] = 0;
    }
    json_t *out = ask(&r, 40, 0);
    assert_true(number(out, "zeta", "hi") <= 0.10);
    assert_non_null(strstr(json_string_value(json_object_get(out, "why")), "would be another"));
    json_decref(out);
    expect(&r, 40, 0, "not-measurable", "disturbed", false);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    const char *const text[] = {
        "{\"what\": \"balance\", \"zeta\": [1, 2], \"data\": [1], \"disturbed\": [0, 0], "
        "\"shared\": [0, 0]}",
        "{\"what\": \"balance\", \"zeta\": [], \"data\": [], \"disturbed\": [], \"shared\": []}",
        "{\"what\": \"balance\", \"zeta\": [1], \"data\": [1], \"disturbed\": [0]}",
        "{\"what\": \"balance\", \"zeta\": [1], \"data\": [1], \"disturbed\": [0], \"shared\": "
        "[0], "
        "\"level\": 1}",
        "{\"what\": \"balance\", \"zeta\": [1], \"data\": [1], \"disturbed\": [0], \"shared\": "
        "[0], "
        "\"rounds_max\": 5}",
        "{\"what\": \"balance\", \"zeta\": [1], \"data\": [1], \"disturbed\": [0], \"shared\": "
        "[0], "
        "\"rounds_max\": 501}"};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        json_t *out = NULL, *request = json_loads(text[i], 0, NULL);
        assert_non_null(request);
        assert_int_equal(answer(request, "here", &out), ERR_USAGE);
        assert_null(out);
        err_clear();
        json_decref(request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_follows_from_zeta_and_data),
        cmocka_unit_test(interval_and_median_are_those_of_the_sign_test),
        cmocka_unit_test(what_is_undecided_says_how_many_rounds_would_decide),
        cmocka_unit_test(rounds_that_go_on_are_judged_at_the_looks_of_their_plan),
        cmocka_unit_test(a_disturbance_takes_the_answer_away_and_may_pass),
        cmocka_unit_test(wrong_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
