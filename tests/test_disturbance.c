/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What else kept the processors busy, from recorded files of /proc: tests/proc/NAME/before and after, ten
 * seconds on two processors. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/disturbance.h"
#include "base/stamp.h"

/* The part of a rank that read the node's files, too. */
static struct disturbance_part part_of(const char *recorded, int width)
{
    struct disturbance_sample before, after;
    struct disturbance_part part;
    char folder[128];
    snprintf(folder, sizeof folder, "tests/proc/%s", recorded);
    assert_int_equal(setenv(DISTURBANCE_PROC, folder, 1), 0);
    disturbance_take(&before, DISTURBANCE_BEFORE, true);
    disturbance_take(&after, DISTURBANCE_AFTER, true);
    disturbance_between(&before, &after, width, &part);
    disturbance_free(&before);
    disturbance_free(&after);
    strcpy(part.host, "n1");
    return part;
}

static struct disturbance of(const char *recorded)
{
    const struct disturbance_part part = part_of(recorded, 0);
    struct disturbance d;
    disturbance_judge(&part, 1, &d);
    return d;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void quiet_is_undisturbed(void **unused)
{
    (void)unused;
    struct disturbance d = of("quiet");
    json_t *stamps = json_array();
    assert_true(d.known && d.undisturbed && !d.disturbed && !d.shared);
    assert_true(near(d.share_min, 0.999) && near(d.steal, 0) && near(d.others, 0));
    assert_true(near(d.pressure, 0) && near(d.mhz, 2500) && near(d.wall_s, 10));
    assert_string_equal(d.unreadable, "");
    disturbance_stamp(&d, stamps);
    assert_int_equal(json_array_size(stamps), 0);
    json_decref(stamps);
    disturbance_end(&d);
}

static void a_busy_node_is_told_with_numbers(void **unused)
{
    (void)unused;
    struct disturbance d = of("busy");
    json_t *stamps = json_array();
    assert_true(d.disturbed && !d.undisturbed && !d.shared);
    assert_true(near(d.share_min, 0.09) && near(d.steal, 0.03));
    /* 1840 ticks busy, 90 of them ours, of 2000. */
    assert_true(near(d.others, 0.875));
    assert_true(near(d.pressure, 0.1));
    assert_string_equal(d.sentence,
                        "Disturbed: ranks got 9 % of their processors (rank 0 the least, 9 % in "
                        "the median), other programs had 88 % of the processors of n1, steal was "
                        "3 %, tasks waited for memory in 10 % of the time.");
    disturbance_stamp(&d, stamps);
    const json_t *n = json_object_get(stamp_find(stamps, STAMP_DISTURBED), "numbers");
    assert_true(near(json_number_value(json_object_get(n, "share_min")), 0.09));
    assert_true(near(json_number_value(json_object_get(n, "steal")), 0.03));
    json_decref(stamps);
    disturbance_end(&d);
}

/* Ranks waited for processors, but these had threads of the kernel that flush the job's files. */
static void flushing_is_no_other_program(void **unused)
{
    (void)unused;
    struct disturbance d = of("flush");
    json_t *stamps = json_array();
    assert_true(near(d.share_min, 0.8) && near(d.others, 0.01));
    assert_true(d.shared && !d.disturbed && !d.undisturbed);
    assert_true(
        near(json_number_value(json_object_get(json_array_get(d.nodes, 0), "kernel")), 0.25));
    disturbance_stamp(&d, stamps);
    assert_non_null(stamp_find(stamps, STAMP_PROCESSORS_SHARED));
    assert_null(stamp_find(stamps, STAMP_DISTURBED));
    json_decref(stamps);
    disturbance_end(&d);
}

/* The quota of a group above that of the ranks withheld 4 of 20 processor seconds. */
static void a_quota_is_told(void **unused)
{
    (void)unused;
    struct disturbance d = of("quota");
    json_t *stamps = json_array();
    assert_true(d.disturbed && !d.undisturbed && !d.shared);
    assert_true(near(d.throttled, 0.2) && near(d.quota_cpus, 1.5));
    assert_non_null(strstr(d.sentence, "a CPU quota of 1.5 processors withheld 20 %"));
    disturbance_stamp(&d, stamps);
    const json_t *n = json_object_get(stamp_find(stamps, STAMP_DISTURBED), "numbers");
    assert_true(near(json_number_value(json_object_get(n, "throttled")), 0.2));
    json_decref(stamps);
    json_t *o = disturbance_json(&d);
    assert_true(near(json_number_value(json_object_get(o, "quota_cpus")), 1.5));
    json_decref(o);
    disturbance_end(&d);
    d = of("quiet"); /* no group */
    assert_true(isnan(d.throttled) && isnan(d.quota_cpus) && d.undisturbed);
    disturbance_end(&d);
}

/* Version 1 has files of its own, in nanoseconds; a quota that withheld nothing disturbs nothing. */
static void a_quota_of_version_1(void **unused)
{
    (void)unused;
    struct disturbance d = of("quota1");
    assert_true(d.disturbed && near(d.throttled, 0.05) && near(d.quota_cpus, 2.5));
    disturbance_end(&d);
    struct disturbance_part part = part_of("quota1", 0);
    part.throttled_s = 0;
    disturbance_judge(&part, 1, &d);
    assert_true(d.undisturbed && near(d.throttled, 0) && near(d.quota_cpus, 2.5));
    disturbance_end(&d);
}

/* In a container threads of the kernel cannot be seen: what runs inside the kernel is nobody's. */
static void kernel_time_without_kernel_threads(void **unused)
{
    (void)unused;
    struct disturbance_part part = part_of("flush", 0);
    struct disturbance d;
    part.kernel_s = NAN;
    disturbance_judge(&part, 1, &d);
    assert_true(near(d.others, 0) && d.shared);
    assert_non_null(strstr(d.unreadable, "inside the kernel"));
    disturbance_end(&d);
    part.busy_user_s += 4; /* a program that computes is seen all the same */
    disturbance_judge(&part, 1, &d);
    assert_true(near(d.others, 0.2) && d.disturbed);
    disturbance_end(&d);
}

static void what_cannot_be_read_is_said(void **unused)
{
    (void)unused;
    struct disturbance d = of("bare");
    assert_true(d.known && !d.undisturbed && !d.disturbed && !d.shared);
    assert_true(isnan(d.share_min) && isnan(d.steal) && isnan(d.others) && isnan(d.pressure));
    json_t *stamps = json_array();
    disturbance_stamp(&d, stamps);
    assert_int_equal(json_array_size(stamps), 1);
    const json_t *unknown = stamp_find(stamps, STAMP_DISTURBANCE_UNKNOWN);
    assert_string_equal(stamp_text(unknown, "severity"), "note");
    assert_string_equal(stamp_text(unknown, "sentence"), d.sentence);
    /* One of the three is enough. */
    json_array_clear(stamps);
    d.steal = 0;
    disturbance_stamp(&d, stamps);
    assert_int_equal(json_array_size(stamps), 0);
    json_decref(stamps);
    d.steal = NAN;
    assert_string_equal(d.sentence, "Not known whether undisturbed: not readable here: the ranks' "
                                    "share of their processors, steal, other programs, memory "
                                    "pressure, frequency.");
    json_t *o = disturbance_json(&d);
    assert_true(json_is_null(json_object_get(o, "undisturbed")));
    assert_true(json_is_null(json_object_get(o, "steal")));
    assert_non_null(json_string_value(json_object_get(o, "recorded")));
    json_decref(o);
    disturbance_end(&d);
    d = (struct disturbance){0};
    o = disturbance_json(&d);
    assert_true(json_is_null(o));
    json_decref(o);
}

/* Without schedstat CPU time over wall time tells, of ranks that compute all the time. */
static void share_by_cpu_time(void **unused)
{
    (void)unused;
    struct disturbance_sample before = {.at_s = 5, .user_s = 1}, after = before;
    struct disturbance_part part;
    after.at_s = 15;
    after.user_s = 19;
    disturbance_between(&before, &after, 2, &part);
    assert_true(near(part.share, 0.9));
    disturbance_between(&before, &after, 1, &part);
    assert_true(near(part.share, 1));
    disturbance_between(&before, &after, 0, &part);
    assert_true(isnan(part.share));
}

/* A thread that ended in between takes nothing away, one that began counts from its beginning. */
static void threads_come_and_go(void **unused)
{
    (void)unused;
    struct disturbance_task first[] = {{3, 5, 1}, {4, 100, 100}}, last[] = {{3, 8, 1}, {9, 3, 2}};
    struct disturbance_sample before = {.threads = {first, 2}},
                              after = {.at_s = 10, .threads = {last, 2}};
    struct disturbance_part part;
    disturbance_between(&before, &after, 0, &part);
    assert_true(near(part.share, 0.75));
}

static void the_worst_rank_and_node_count(void **unused)
{
    (void)unused;
    struct disturbance_part part[5];
    struct disturbance d;
    for (int r = 0; r < 5; r++) {
        part[r] = part_of("quiet", 0);
        part[r].node = r / 2 * 2;
        part[r].of_node = r % 2 == 0;
        part[r].busy_user_s = 18;
        snprintf(part[r].host, sizeof part[r].host, "n%d", r / 2);
    }
    /* Two ranks on two processors of n0 and n1, one on n2, where the other processor is not ours. */
    part[3].share = 0.90;
    disturbance_judge(part, 5, &d);
    assert_int_equal(d.nodes_n, 3);
    assert_int_equal(d.share_rank, 3);
    assert_true(near(d.share_min, 0.90) && near(d.share_median, 0.999));
    assert_true(near(d.others, 0.45) && d.disturbed);
    assert_non_null(strstr(d.sentence, "processors of n2"));
    const json_t *first = json_array_get(d.nodes, 0);
    assert_string_equal(json_string_value(json_object_get(first, "host")), "n1");
    disturbance_end(&d);
    part[3].share = NAN; /* of one rank not known, nor much of its node */
    part[2].cpus_n = 0;
    part[2].pressure = NAN;
    part[4].busy_user_s = 9;
    part[0].share = part[1].share = 1;
    disturbance_judge(part, 5, &d);
    assert_true(!d.undisturbed && !d.disturbed && near(d.share_min, 0.999));
    assert_true(near(d.share_median, 0.9995)); /* of four: the mean of the two in the middle */
    assert_true(near(d.others, 0) && near(d.steal, 0));
    assert_string_equal(d.unreadable,
                        "the ranks' share of their processors for some ranks, steal on some "
                        "nodes, other programs on some nodes, memory pressure on some nodes");
    assert_non_null(strstr(d.sentence, d.unreadable));
    disturbance_end(&d);
}

/* Counters of 10 ms say nothing about a tenth of a second; the ranks' share does. */
static void short_runs(void **unused)
{
    (void)unused;
    struct disturbance_part part = part_of("busy", 0);
    struct disturbance d;
    part.wall_s = 0.1;
    part.share = 0.99;
    disturbance_judge(&part, 1, &d);
    assert_true(isnan(d.others) && isnan(d.steal) && d.undisturbed);
    assert_non_null(strstr(d.unreadable, "so short a time"));
    disturbance_end(&d);
    part.share = 0.5;
    disturbance_judge(&part, 1, &d);
    assert_true(d.disturbed);
    disturbance_end(&d);
}

/* This system's own files: whatever it tells, the process itself was running. */
static void the_system_itself(void **unused)
{
    (void)unused;
    struct disturbance_sample before, after;
    struct disturbance_part part;
    assert_int_equal(unsetenv(DISTURBANCE_PROC), 0);
    disturbance_take(&before, DISTURBANCE_BEFORE, true);
    disturbance_take(&after, DISTURBANCE_AFTER, true);
    disturbance_between(&before, &after, 0, &part);
    assert_true(part.wall_s > 0 && part.user_s + part.system_s >= 0);
    assert_true(isnan(part.share) || (part.share >= 0 && part.share <= 1));
    assert_true(part.host[0] != '\0');
    disturbance_free(&before);
    disturbance_free(&after);
}

/* All ranks of a batch system's job, or one alone, and only meanwhile. */
static void a_suspended_job_is_told(void **unused)
{
    (void)unused;
    struct disturbance_sample before, after;
    struct disturbance_part part[2] = {part_of("quiet", 0), part_of("quiet", 0)};
    struct disturbance d;
    kill(getpid(), SIGCONT); /* before: part_of takes two samples */
    for (int times = 0; times < 2; times++) {
        disturbance_take(&before, DISTURBANCE_BEFORE, true);
        if (times > 0) kill(getpid(), SIGCONT);
        disturbance_take(&after, DISTURBANCE_AFTER, true);
        disturbance_between(&before, &after, 0, &part[1]);
        disturbance_free(&before);
        disturbance_free(&after);
        disturbance_judge(part, 2, &d);
        assert_true(d.suspended == (times > 0) && d.disturbed == d.suspended);
        assert_true((strstr(d.sentence, "Disturbed: the job was suspended for some time, ranks") !=
                     NULL) == d.suspended);
        disturbance_end(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_is_undisturbed),
        cmocka_unit_test(a_busy_node_is_told_with_numbers),
        cmocka_unit_test(flushing_is_no_other_program),
        cmocka_unit_test(a_quota_is_told),
        cmocka_unit_test(a_quota_of_version_1),
        cmocka_unit_test(kernel_time_without_kernel_threads),
        cmocka_unit_test(what_cannot_be_read_is_said),
        cmocka_unit_test(share_by_cpu_time),
        cmocka_unit_test(threads_come_and_go),
        cmocka_unit_test(the_worst_rank_and_node_count),
        cmocka_unit_test(short_runs),
        cmocka_unit_test(a_suspended_job_is_told),
        cmocka_unit_test(the_system_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
