/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three definitions of b_eff_io on tables of bytes and seconds whose values were worked out by
 * hand, validity, the hints file, the command line of the released program. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "companions/beffio/hints.h"
#include "companions/beffio/options.h"
#include "companions/beffio/value.h"

static void close_to(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g", value, expected);
}

/* Bandwidths of the types, in units per second: bytes are rate times a time of their own. */
static const double write_rate[5] = {60, 30, 50, 40, 20};
static const double rewrite_rate[5] = {90, 10, 20, 30, 40};
static const double read_rate[5] = {200, 100, 150, 120, 80};

static void type_set(struct beffio_measured *m, int access, const double rate[5])
{
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        const double s = 10 * (t + 1); /* makes plain means of rates wrong */
        m->type[access][t] = (struct beffio_amount){(int64_t)(rate[t] * s), s};
    }
}

static struct beffio_measured example(void)
{
    struct beffio_measured m;
    memset(&m, 0, sizeof m);
    type_set(&m, BEFFIO_WRITE, write_rate);
    type_set(&m, BEFFIO_REWRITE, rewrite_rate);
    type_set(&m, BEFFIO_READ, read_rate);
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        for (int no = 0; no < BEFFIO_PATTERNS; no++) {
            const int u = beffio_pattern(no, 8).u;
            /* U = 0 is as fast as can be and must not count */
            m.pattern[a][no] = (struct beffio_amount){u == 0 ? 1000000 : (a + 1) * u * 10, 2};
        }
    return m;
}

static const struct beffio_schedule papers = {.definition = BEFFIO_1_X};

static void type_value_is_bytes_over_time(void **state)
{
    (void)state;
    const struct beffio_measured m = example();
    struct beffio_values v;
    beffio_values(&papers, &m, &v);
    for (int t = 0; t < BEFFIO_TYPES; t++)
        close_to(v.type[BEFFIO_READ][t], read_rate[t], 1e-9);
    assert_int_equal(v.access_bytes[BEFFIO_WRITE], 600 + 600 + 1500 + 1600 + 1000);
    close_to(v.plain[BEFFIO_WRITE], 5300.0 / 150, 1e-9);
}

static void scatter_counts_twice(void **state)
{
    (void)state;
    const struct beffio_measured m = example();
    struct beffio_values v;
    beffio_values(&papers, &m, &v);
    close_to(v.access[BEFFIO_WRITE], (2 * 60 + 30 + 50 + 40 + 20) / 6.0, 1e-9);
    close_to(v.access[BEFFIO_REWRITE], (2 * 90 + 10 + 20 + 30 + 40) / 6.0, 1e-9);
    close_to(v.access[BEFFIO_READ], (2 * 200 + 100 + 150 + 120 + 80) / 6.0, 1e-9);
}

/* 0.25 * 43.333 + 0.25 * 46.667 + 0.5 * 141.667 */
static void definition_1_x(void **state)
{
    (void)state;
    const struct beffio_measured m = example();
    struct beffio_values v;
    beffio_values(&papers, &m, &v);
    close_to(v.partition[BEFFIO_1_X], 93.0 + 1.0 / 3, 1e-9);
}

/* WR = (60 + 30 + 50 + 40 + 20 + 90) / 6 = 48.333, RD = 141.667, value sqrt(WR RD). */
static void definition_2_1(void **state)
{
    (void)state;
    const struct beffio_measured m = example();
    struct beffio_values v;
    beffio_values(&papers, &m, &v);
    close_to(v.write_side, 290.0 / 6, 1e-9);
    close_to(v.partition[BEFFIO_2_1], sqrt(290.0 / 6 * 850.0 / 6), 1e-9);
    close_to(v.partition[BEFFIO_2_1], 82.7479, 1e-4);
}

/* b = (a + 1) 5 U, so sum U b / 64 = (a + 1) 5 sum U^2 / 64; sum of U^2 is 168. */
static void definition_0_5(void **state)
{
    (void)state;
    const struct beffio_measured m = example();
    struct beffio_values v;
    int squares = 0;
    for (int no = 0; no < BEFFIO_PATTERNS; no++)
        squares += beffio_pattern(no, 8).u * beffio_pattern(no, 8).u;
    assert_int_equal(squares, 3 * 16 + 5 * 4 + 16 + 2 * 4 + 4 + 3 * (3 * 4 + 4));
    beffio_values(&papers, &m, &v);
    close_to(v.weighted[BEFFIO_REWRITE], 10.0 * squares / 64, 1e-9);
    close_to(v.partition[BEFFIO_0_5], 10.0 * squares / 64, 1e-9);
    close_to(v.total, (5300.0 + 4900 + 17300) / 450, 1e-6);
}

/* Under 2.1 reading scatter takes 2.5 s more for the removal, and writing 0.5 s for the making; all
 * that is printed agrees. The other definitions count neither. */
static void released_counts_making_and_removing(void **state)
{
    (void)state;
    struct beffio_measured m = example();
    struct beffio_values papers_v, v;
    struct beffio_schedule s = {.definition = BEFFIO_2_1, .all_rewrites = true};
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        m.create_s[t] = 0.5 * (t + 1);
        m.remove_s[t] = 2.5 * (t + 1);
    }
    beffio_values(&papers, &m, &papers_v);
    beffio_values(&s, &m, &v);
    double wr = rewrite_rate[0], rd = v.type[BEFFIO_READ][0];
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        close_to(papers_v.type[BEFFIO_READ][t], read_rate[t], 1e-9);
        close_to(v.type[BEFFIO_READ][t], read_rate[t] * 10 / 12.5, 1e-9);
        close_to(v.type[BEFFIO_WRITE][t], write_rate[t] * 10 / 10.5, 1e-9);
        close_to(v.type_s[BEFFIO_READ][t], 12.5 * (t + 1), 1e-9);
        wr += v.type[BEFFIO_WRITE][t];
        rd += v.type[BEFFIO_READ][t];
    }
    close_to(v.access[BEFFIO_READ], rd / 6, 1e-9);
    close_to(v.partition[BEFFIO_2_1], sqrt(wr / 6 * rd / 6), 1e-9);
    close_to(papers_v.partition[BEFFIO_2_1], v.partition[BEFFIO_2_1], 1e-9);
    close_to(papers_v.partition[BEFFIO_1_X], v.partition[BEFFIO_1_X], 1e-9);
    s.count = BEFFIO_COUNT_NONE;
    beffio_values(&s, &m, &v);
    close_to(v.type[BEFFIO_READ][0], read_rate[0], 1e-9);
    s = (struct beffio_schedule){.definition = BEFFIO_1_X, .count = BEFFIO_COUNT_ALL};
    beffio_values(&s, &m, &v);
    close_to(v.type[BEFFIO_READ][0], read_rate[0] * 10 / 12.5, 1e-9);
}

static void what_was_not_measured_is_no_number(void **state)
{
    (void)state;
    struct beffio_measured m = example();
    struct beffio_values v;
    m.type[BEFFIO_REWRITE][BEFFIO_SHARED] = (struct beffio_amount){0};
    beffio_values(&papers, &m, &v);
    assert_true(isnan(v.partition[BEFFIO_1_X]));
    assert_true(isfinite(v.partition[BEFFIO_2_1]));
}

static void coffee_cup(void **state)
{
    (void)state;
    close_to(beffio_minutes(600, 1), 10, 1e-12);
    assert_true(isnan(beffio_minutes(600, NAN)));
}

/* Facts of a run that is valid under a definition. */
static struct beffio_facts good(const struct beffio_schedule *s)
{
    return (struct beffio_facts){.schedule = s,
                                 .shared = true,
                                 .least_bytes = 20000,
                                 .cache_bytes = 1000,
                                 .cached_share = 1};
}

static void each_criterion_alone_fails_a_result(void **state)
{
    (void)state;
    for (int d = 0; d < BEFFIO_DEFINITIONS; d++) {
        struct beffio_criterion_result r[BEFFIO_CRITERIA];
        struct beffio_schedule s = {.definition = (enum beffio_definition)d, .partitions_n = 3};
        s.t_s = beffio_valid_time_s(s.definition);
        struct beffio_facts f = good(&s);
        assert_true(beffio_judge(&f, r));
        for (int c = 0; c < BEFFIO_CRITERIA; c++) {
            struct beffio_schedule bad = s;
            f = good(&bad);
            if (c == BEFFIO_TIME) bad.t_s -= 1;
            if (c == BEFFIO_POINTERS) f.shared = false;
            if (c == BEFFIO_ERRORS) f.errors_n = 1;
            if (c == BEFFIO_CAP) f.capped = true;
            if (c == BEFFIO_WHOLE) f.quick = true;
            if (c == BEFFIO_SYNC) f.unique = true;
            if (c == BEFFIO_PARTITIONS) f.left_n = 1;
            if (c == BEFFIO_SYNC && bad.definition == BEFFIO_2_1) {
                assert_true(beffio_judge(&f, r)); /* the default of the released program */
                continue;
            }
            assert_false(beffio_judge(&f, r));
            for (int other = 0; other < BEFFIO_CRITERIA; other++)
                assert_int_equal(r[other].met, other != c);
            assert_true(strlen(r[c].words) > 10);
        }
    }
}

static void wrong_data_elsewhere_in_the_run_are_not_valid_either(void **state)
{
    (void)state;
    struct beffio_criterion_result r[BEFFIO_CRITERIA];
    const struct beffio_schedule s = {.definition = BEFFIO_1_X, .t_s = 900, .partitions_n = 3};
    struct beffio_facts f = good(&s);
    f.elsewhere_n = 3;
    assert_false(beffio_judge(&f, r));
    assert_non_null(strstr(r[BEFFIO_ERRORS].words, "3 in other partitions or repetitions"));
}

static void what_nobody_looked_at_is_not_valid(void **state)
{
    (void)state;
    struct beffio_criterion_result r[BEFFIO_CRITERIA];
    const struct beffio_schedule s = {.definition = BEFFIO_1_X, .t_s = 900, .partitions_n = 3};
    struct beffio_facts f = good(&s);
    f.unchecked = true;
    assert_false(beffio_judge(&f, r));
    assert_false(r[BEFFIO_ERRORS].met);
    assert_non_null(strstr(r[BEFFIO_ERRORS].words, "--check none"));
}

/* A stamp of its own, whatever the definition says. */
static void what_comes_from_memory_is_not_cache_honest(void **state)
{
    (void)state;
    struct beffio_criterion_result r[BEFFIO_CRITERIA];
    struct beffio_honesty h;
    const struct beffio_schedule s = {.definition = BEFFIO_1_X, .t_s = 900, .partitions_n = 1};
    const struct {
        int64_t least;
        double share;
        bool shifted, in_memory, honest;
    } c[] = {{20000, 1, false, false, true},   {19992, 1, false, false, false},
             {3000, 0.04, false, false, true}, {3000, 0.2, true, false, false},
             {3000, NAN, true, false, true},   {3000, NAN, false, false, false},
             {90000, 0, true, true, false}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        struct beffio_facts f = good(&s);
        f.least_bytes = c[i].least;
        f.cached_share = c[i].share;
        f.shifted = c[i].shifted;
        f.in_memory = c[i].in_memory;
        beffio_honesty(&f, &h);
        if (h.honest != c[i].honest) fail_msg("case %zu: %s", i, h.words);
        close_to(h.factor, (double)c[i].least / 1000, 1e-12);
        f.behind = "the host of this virtual machine holds";
        beffio_honesty(&f, &h); /* of what was dropped from the memory of nodes alone */
        assert_int_equal(
            strstr(h.words, "; what the host of this virtual machine holds is not seen") != NULL,
            c[i].share == 0.04);
        assert_null(strstr(h.words, "--shift-read"));
        f.nodes_n = 2; /* the way out on several nodes */
        beffio_honesty(&f, &h);
        if (!c[i].honest && !c[i].in_memory) {
            assert_non_null(strstr(h.words, "--shift-read node"));
            assert_non_null(strstr(h.words, "or -T "));
            f.hides = true;
            beffio_honesty(&f, &h);
            assert_null(strstr(h.words, "--drop-cache"));
            assert_non_null(strstr(h.words, "is not seen; -T "));
            f.hides = false;
            f.capped = true;
            beffio_honesty(&f, &h);
            assert_null(strstr(h.words, "-T "));
            f.capped = false;
        }
        assert_true(beffio_judge(&f, r));
    }
}

static void hints_apply_where_they_say(void **state)
{
    (void)state;
    struct beffio_hints h;
    const char *text = "# comment\n"
                       "\n"
                       "all all all on_open cb_nodes 2\n"
                       "  4 write scatter 1032   vendor_unit  1 048 576 \r\n"
                       "all read separated Lmax direct_read true\n"
                       "all all seg_coll all romio_cb_write enable";
    assert_int_equal(beffio_hints_parse(&h, "hints", text), 0);
    assert_int_equal(h.n, 4);
    assert_string_equal(h.hint[1].value, "1 048 576");
    struct beffio_spot at = {4, BEFFIO_WRITE, BEFFIO_SCATTER, 2};
    assert_true(beffio_hint_applies(&h.hint[1], &at));
    assert_false(beffio_hint_applies(&h.hint[0], &at));
    at.procs = 3;
    assert_false(beffio_hint_applies(&h.hint[1], &at));
    at = (struct beffio_spot){4, BEFFIO_REWRITE, BEFFIO_SCATTER, 2};
    assert_false(beffio_hint_applies(&h.hint[1], &at));
    at = (struct beffio_spot){9, BEFFIO_READ, BEFFIO_SEPARATE, BEFFIO_ON_OPEN};
    assert_true(beffio_hint_applies(&h.hint[0], &at));
    assert_false(beffio_hint_applies(&h.hint[2], &at));
    at.pos = 7;
    assert_true(beffio_hint_applies(&h.hint[2], &at));
    at = (struct beffio_spot){1, BEFFIO_WRITE, BEFFIO_SEG_COLL, BEFFIO_ON_OPEN};
    assert_true(beffio_hint_applies(&h.hint[3], &at));
    at = (struct beffio_spot){1, BEFFIO_WRITE, BEFFIO_SHARED, 3};
    for (int i = 0; i < h.n; i++)
        assert_false(beffio_hint_applies(&h.hint[i], &at));
    beffio_hints_free(&h);
}

static void bad_hints_are_named_with_their_line(void **state)
{
    (void)state;
    const char *const bad[] = {"all all all on_open cb_nodes", "0 all all all k v",
                               "all written all all k v",      "all all segmentd all k v",
                               "all all all 4096 k v",         "x all all all k v"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct beffio_hints h;
        char text[128] = "# first\n";
        strcat(text, bad[i]);
        err_clear();
        assert_int_equal(beffio_hints_parse(&h, "my.hints", text), ERR_USAGE);
        assert_non_null(strstr(err_message(), "my.hints:2"));
        beffio_hints_free(&h);
    }
    err_clear();
}

static void a_hint_that_crashes_a_library_is_refused(void **state)
{
    (void)state;
    struct beffio_hints h;
    assert_int_equal(beffio_hints_parse(&h, "my.hints",
                                        "all all all on_open cb_nodes 2\n"
                                        "all read all on_open cb_nodes 0\n"),
                     ERR_USAGE);
    assert_non_null(strstr(err_message(), "my.hints:2"));
    assert_non_null(strstr(err_message(), "cb_nodes=0"));
    beffio_hints_free(&h);
    err_clear();
}

static void parse(struct beffio_setup *s, char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    assert_int_equal(beffio_setup_parse(s, argc, argv), CONF_RUN);
}

static void released_spelling_is_understood(void **state)
{
    (void)state;
    struct beffio_setup s;
    char *argv[] = {"nht1-beffio", "-MB", "2048", "-MT", "81920", "-noshared", "-rewrite",  "-keep",
                    "-N",          "32",  "-T",   "60",  "-p",    "/tmp",      "-nounique", "-f",
                    "dir/x",       "-e",  "3",    "-i",  "hints", NULL};
    parse(&s, argv);
    assert_int_equal(s.opt.mb, 2048);
    assert_int_equal(s.opt.mt, 81920);
    assert_true(s.opt.noshared && s.opt.rewrite && s.opt.keep && s.opt.nounique);
    close_to(s.opt.t_s, 60, 0);
    assert_string_equal(s.opt.path, "/tmp");
    assert_string_equal(s.opt.info, "hints");
    assert_int_equal(s.opt.errors, 3);
    assert_string_equal(s.prefix, "x");
    assert_string_equal(s.sum, "dir/x.sum");
    assert_string_equal(s.protocol, "dir/x.prot");
    assert_int_equal(s.schedule.definition, BEFFIO_1_X);
    assert_int_equal(beffio_setup_schedule(&s, 64), 0);
    assert_int_equal(s.schedule.partitions_n, 1);
    assert_int_equal(s.schedule.procs[0], 32);
}

/* The released program does not start without -MB and -MT, and writes its texts without -f. */
static void released_command_line_writes_its_texts(void **state)
{
    (void)state;
    struct beffio_setup s;
    char *argv[] = {"nht1-beffio", "-MB", "2048", "-MT", "81920", NULL};
    parse(&s, argv);
    assert_string_equal(s.sum, "b_eff_io.sum");
    assert_string_equal(s.protocol, "b_eff_io.prot");
}

static void long_spelling_means_the_same(void **state)
{
    (void)state;
    struct beffio_setup s;
    char *argv[] = {"nht1-beffio", "--mb=256", "--partitions", "2,1,4", "--definition",
                    "2.1",         NULL};
    parse(&s, argv);
    assert_int_equal(beffio_setup_schedule(&s, 4), 0);
    assert_int_equal(s.schedule.partitions_n, 3);
    assert_true(s.schedule.procs[0] == 2 && s.schedule.procs[1] == 1 && s.schedule.procs[2] == 4);
    close_to(s.schedule.t_s, 1800, 0);
    assert_string_equal(s.sum, "");
    assert_int_equal(beffio_setup_schedule(&s, 3), ERR_USAGE); /* 4 of 3 */
    err_clear();
}

static void quick_takes_a_minute(void **state)
{
    (void)state;
    struct beffio_setup s;
    char *argv[] = {"nht1-beffio", "--quick", NULL};
    parse(&s, argv);
    assert_int_equal(beffio_setup_schedule(&s, 64), 0);
    close_to(s.schedule.t_s * s.schedule.partitions_n, 60, 1e-9);
    assert_int_equal(s.quick_bytes, 2000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_value_is_bytes_over_time),
        cmocka_unit_test(scatter_counts_twice),
        cmocka_unit_test(definition_1_x),
        cmocka_unit_test(definition_2_1),
        cmocka_unit_test(definition_0_5),
        cmocka_unit_test(released_counts_making_and_removing),
        cmocka_unit_test(what_was_not_measured_is_no_number),
        cmocka_unit_test(coffee_cup),
        cmocka_unit_test(each_criterion_alone_fails_a_result),
        cmocka_unit_test(wrong_data_elsewhere_in_the_run_are_not_valid_either),
        cmocka_unit_test(what_nobody_looked_at_is_not_valid),
        cmocka_unit_test(what_comes_from_memory_is_not_cache_honest),
        cmocka_unit_test(hints_apply_where_they_say),
        cmocka_unit_test(bad_hints_are_named_with_their_line),
        cmocka_unit_test(a_hint_that_crashes_a_library_is_refused),
        cmocka_unit_test(released_spelling_is_understood),
        cmocka_unit_test(released_command_line_writes_its_texts),
        cmocka_unit_test(long_spelling_means_the_same),
        cmocka_unit_test(quick_takes_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
