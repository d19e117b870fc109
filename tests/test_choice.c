/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the store of choices takes for evidence. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/version.h"
#include "base/watch.h"
#include "bt/search/choice.h"

/* A winner that is one, but for a member of its evidence. */
static json_t *entry_with(const char *path, const char *member, json_t *value)
{
    char utc[32];
    watch_utc(utc);
    json_t *entry =
        json_pack("{ss ss s{ss si si si sf sf sf s{ss sf sf sf}}}", "utc", utc, "version",
                  nht1_build, "best", "verdict", "winner", "rounds", 10, "rung_runs", 40,
                  "disturbed_runs", 19, "zeta", 0.05, "zeta_lo", 0.03, "zeta_hi", 0.08, "plain",
                  "label", "posix", "ratio", 0.8, "lo", 0.7, "hi", 0.9);
    json_t *best = json_object_get(entry, "best");
    json_t *in = strcmp(path, "best") == 0    ? best
                 : strcmp(path, "plain") == 0 ? json_object_get(best, "plain")
                                              : entry;
    if (member) assert_int_equal(json_object_set_new(in, member, value), 0);
    return entry;
}

static void expect(const char *path, const char *member, json_t *value, const char *doubt)
{
    char why[ERR_MESSAGE_MAX];
    json_t *entry = entry_with(path, member, value);
    bt_choice_stale(entry, why);
    if (doubt)
        assert_non_null(strstr(why, doubt));
    else
        assert_string_equal(why, "");
    json_decref(entry);
}

static void only_settled_evidence_of_this_release_is_believed(void **state)
{
    (void)state;
    expect("", NULL, NULL, NULL);
    expect("best", "verdict", json_string("no winner"), NULL);
    expect("", "version", json_string(NHT1_VERSION), NULL);
    expect("best", "verdict", json_string("undecided"), "had not settled");
    expect("best", "verdict", json_null(), "no evidence");
    expect("", "best", json_integer(3), "no evidence");
    expect("", "version", json_null(), "no evidence");
    expect("", "version", json_string("0.0.9"), "another release");
    expect("", "version", json_string(NHT1_VERSION "1"), "another release");
    expect("", "utc", json_string("2001-01-31T12:00:00Z"), "days ago");
    expect("", "utc", json_string("2101-01-31T12:00:00Z"), "days ago");
    expect("", "utc", json_string("yesterday"), "days ago");
}

static void intervals_exclude_chance(void **state)
{
    (void)state;
    expect("plain", "hi", json_real(1.0), "does not support");
    expect("plain", "hi", json_null(), "does not support");
    expect("plain", "lo", json_real(0.85), "does not support");
    expect("plain", "ratio", json_string("0.8"), "does not support");
    expect("best", "plain", json_null(), "does not support");
    expect("best", "rounds", json_integer(5), "does not support");
    expect("best", "zeta_hi", json_real(3.133), "its zeta, 0.030 to 3.133");
    expect("best", "zeta_lo", json_real(-0.392), "its zeta, -0.392 to 0.080");
    expect("best", "zeta_lo", json_null(), "its zeta");
    expect("best", "zeta_lo", json_real(-1), "its zeta");
}

/* A search beside other work found a setting, which from then on was taken for known. */
static void what_was_found_under_load_is_not_believed(void **state)
{
    (void)state;
    expect("best", "disturbed_runs", json_integer(0), NULL);
    expect("best", "disturbed_runs", json_integer(20), "in 20 of 40 runs of its last rung");
    expect("best", "disturbed_runs", json_integer(40), "in 40 of 40 runs of its last rung");
    expect("best", "disturbed_runs", json_null(), "how many of its runs were disturbed");
    expect("best", "disturbed_runs", json_integer(-1), "how many of its runs were disturbed");
    expect("best", "rung_runs", json_null(), "how many of its runs were disturbed");
    expect("best", "rung_runs", json_integer(3), "how many of its runs were disturbed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_settled_evidence_of_this_release_is_believed),
        cmocka_unit_test(intervals_exclude_chance),
        cmocka_unit_test(what_was_found_under_load_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
