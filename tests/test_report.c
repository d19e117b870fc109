/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report says of runs that nobody has time to make in a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bt/report.h"

static struct bt_setup setup;
static struct bt_outcome outcome;
static struct bt_job job;

/* A verified run of the official case. */
static void official_run(enum bt_tc_origin origin)
{
    memset(&setup, 0, sizeof setup);
    memset(&outcome, 0, sizeof outcome);
    assert_int_equal(bt_problem_class('B', &setup.problem), 0);
    outcome.serial_file = outcome.verified = outcome.run.completed = true;
    outcome.run.t_t_s = 110;
    snprintf(outcome.run.writer, sizeof outcome.run.writer, "posix");
    job = (struct bt_job){.setup = &setup, .outcome = &outcome, .outcomes_n = 1};
    job.tc.origin = origin;
    job.tc.entry.t_c_s = 100;
}

static char *report(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    bt_report_results(&job, to);
    fclose(to);
    return text;
}

static void given_t_c_is_told_in_the_stamp(void **state)
{
    (void)state;
    official_run(BT_TC_MEASURED);
    char *text = report();
    assert_non_null(strstr(text, "Official NHT-1 result"));
    assert_null(strstr(text, "given T_C"));
    free(text);
    official_run(BT_TC_FROM_USER);
    text = report();
    assert_non_null(strstr(text, "Official NHT-1 result"));
    assert_non_null(strstr(text, "zeta from a given T_C"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_t_c_is_told_in_the_stamp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
