/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Candidates of --io auto: how they are told, how they differ, and what the space of them holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "bt/search/space.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

#define MIB (INT64_C(1) << 20)

#define BUFFER (8 * MIB) /* the default */

/* Class A on two ranks of one node. */
static const struct io_surroundings two = {
    .ranks = 2, .nodes = 1, .dump_bytes = 10485760, .dumps_n = 40, .readers = IO_HINT_OMPIO};

static struct bt_candidate named(const char *writer)
{
    struct bt_candidate c = {.hints_n = 0};
    io_tuning_complete(&c.tuning);
    snprintf(c.writer, sizeof c.writer, "%s", writer);
    return c;
}

static bool holds(const struct bt_space *s, const char *label)
{
    char text[BT_LABEL_MAX];
    for (int i = 0; i < s->n; i++) {
        bt_candidate_label(&s->candidate[i], text);
        if (strcmp(text, label) == 0) return true;
    }
    return false;
}

static void show(const struct bt_space *s)
{
    char text[BT_LABEL_MAX];
    for (int i = 0; i < s->n; i++) {
        bt_candidate_label(&s->candidate[i], text);
        print_message("%d %s\n", (int)s->kind[i], text);
    }
}

static void labels_are_command_lines(void **state)
{
    (void)state;
    static const char *const hints[] = {"cb_nodes=1", "striping_factor=4"};
    struct bt_candidate c = named("async");
    char text[BT_LABEL_MAX];
    bt_candidate_label(&c, text);
    assert_string_equal(text, "async");
    c.tuning.direct = true;
    c.tuning.buffer_bytes = 512 << 10;
    c.tuning.chunk = 32; /* of no meaning to it */
    bt_candidate_label(&c, text);
    assert_string_equal(text, "async --buffer 512Ki --direct");
    c.hints_n = 2; /* its file is striped, but it opens it without a library */
    c.hint = hints;
    bt_candidate_label(&c, text);
    assert_string_equal(text, "async --buffer 512Ki --direct --hint striping_factor=4");
    c = named("mpiio");
    c.hints_n = 2;
    c.hint = hints;
    bt_candidate_label(&c, text);
    assert_string_equal(text, "mpiio --hint cb_nodes=1 --hint striping_factor=4");
}

static void one_difference_or_none(void **state)
{
    (void)state;
    static const char *const hint[] = {"cb_nodes=1"};
    struct bt_candidate a = named("uring"), b = a;
    char value[IO_SETTING_TEXT_MAX];
    assert_null(bt_space_differ(&a, &b));
    b.tuning.group = 3; /* which uring does not obey */
    assert_null(bt_space_differ(&a, &b));
    b.tuning.staging = 4;
    const struct io_setting *which = bt_space_differ(&a, &b);
    assert_string_equal(which->name, "staging");
    io_setting_text(which, &b.tuning, 0, NULL, value);
    assert_string_equal(value, "4");
    b.tuning.direct = true;
    assert_null(bt_space_differ(&a, &b));
    a = named("mpiio");
    b = a;
    b.hints_n = 1;
    b.hint = hint;
    which = bt_space_differ(&a, &b);
    assert_string_equal(which->name, "hint cb_nodes");
    io_setting_text(which, &a.tuning, a.hints_n, a.hint, value);
    assert_string_equal(value, "default");
    b = named("posix");
    assert_null(bt_space_differ(&a, &b));
}

/* Whatever a row says of a setting holds for what io/ makes of it. */
static void numbers_outside_of_their_range(void **state)
{
    (void)state;
    const struct io_setting *s;
    for (int i = 0; (s = io_setting_at(i)) != NULL; i++) {
        if (!s->arg) continue;
        struct io_tuning t = {0};
        assert_int_equal(io_tuning_check(&t), 0);
        io_setting_put(s, (int64_t)s->least, &t);
        assert_int_equal(io_tuning_check(&t), 0);
        io_setting_put(s, (int64_t)s->most, &t);
        assert_int_equal(io_tuning_check(&t), 0);
        io_setting_put(s, (int64_t)s->most + 1, &t);
        assert_int_equal(io_tuning_check(&t), ERR_USAGE);
        assert_non_null(strstr(err_message(), s->name));
        err_clear();
        io_setting_put(s, -1, &t);
        assert_int_equal(io_tuning_check(&t), ERR_USAGE);
        err_clear();
    }
}

static void the_space_of_two_ranks(void **state)
{
    (void)state;
    const struct bt_candidate writer[] = {named("serial"),      named("posix"),      named("token"),
                                          named("twophase"),    named("async"),      named("mpiio"),
                                          named("mpiio-indep"), named("mpiio-async")};
    struct bt_space s;
    assert_int_equal(bt_space_make(&s, writer, 8, &two), 0);
    show(&s);
    assert_true(s.n >= 25 && s.n <= 60);
    for (int i = 0; i < 8; i++)
        assert_int_equal(s.kind[i], BT_AS_IT_STANDS);
    /* No candidate twice. */
    for (int i = 0; i < s.n; i++)
        assert_int_equal(bt_space_take(&s, &s.candidate[i]), i);
    assert_true(holds(&s, "token --group 1"));
    assert_true(holds(&s, "twophase --aggregators 1"));
    assert_true(holds(&s, "async --direct"));
    assert_true(holds(&s, "async --buffer 2Mi --direct"));
    assert_true(holds(&s, "mpiio --hint cb_nodes=1"));
    assert_true(holds(&s, "mpiio --hint collective_buffering=false"));
    assert_true(holds(&s, "mpiio-async --staging 4"));
    /* All of 5 MB is one request of 8 MiB already; two ranks have no third aggregator; a writer
     * without a setting has no value of it, and OMPIO reads no hints of ROMIO. */
    assert_false(holds(&s, "twophase --buffer 32Mi"));
    assert_false(holds(&s, "twophase --aggregators 2"));
    assert_false(holds(&s, "posix --direct"));
    assert_false(holds(&s, "mpiio-indep --hint cb_nodes=1"));
    assert_false(holds(&s, "mpiio --hint romio_cb_write=disable"));
    assert_false(holds(&s, "posix --hint striping_factor=4"));
    bt_space_free(&s);
}

static void what_the_user_gave_stays(void **state)
{
    (void)state;
    struct bt_candidate writer[] = {named("async"), named("mpiio")};
    struct io_surroundings fixed = two;
    struct bt_space s;
    fixed.fixed = IO_CAP_BUFFER | IO_CAP_DIRECT | IO_CAP_HINTS;
    writer[0].tuning.buffer_bytes = MIB;
    assert_int_equal(bt_space_make(&s, writer, 2, &fixed), 0);
    show(&s);
    assert_true(holds(&s, "async --buffer 1Mi"));
    assert_true(holds(&s, "async --buffer 1Mi --staging 4"));
    for (int i = 0; i < s.n; i++) {
        const bool async = strcmp(s.candidate[i].writer, "async") == 0;
        assert_true(s.candidate[i].tuning.buffer_bytes == (async ? MIB : BUFFER));
        assert_false(s.candidate[i].tuning.direct);
        assert_int_equal(s.candidate[i].hints_n, 0);
    }
    bt_space_free(&s);
}

static void a_parallel_file_system_and_romio(void **state)
{
    (void)state;
    const struct bt_candidate writer[] = {named("posix"), named("mpiio")};
    const struct io_surroundings many = {.ranks = 64,
                                         .nodes = 4,
                                         .dump_bytes = INT64_C(40) * 408 * 408 * 408,
                                         .dumps_n = 50,
                                         .readers = IO_HINT_ROMIO,
                                         .striped = true};
    struct bt_space s;
    assert_int_equal(bt_space_make(&s, writer, 2, &many), 0);
    show(&s);
    assert_true(holds(&s, "posix --hint striping_factor=16"));
    assert_true(holds(&s, "mpiio --hint cb_nodes=4"));
    assert_true(holds(&s, "mpiio --hint cb_nodes=16"));
    assert_true(holds(&s, "mpiio --hint cb_nodes=64"));
    assert_true(holds(&s, "mpiio --hint romio_cb_write=disable"));
    assert_true(holds(&s, "mpiio --hint cb_nodes=4 --hint cb_buffer_size=67108864"));
    assert_false(holds(&s, "mpiio --hint cb_nodes=64 --hint cb_buffer_size=67108864"));
    assert_false(holds(&s, "mpiio --hint collective_buffering=false"));
    bt_space_free(&s);
}

static void a_known_choice_is_taken_in(void **state)
{
    (void)state;
    const struct bt_candidate writer[] = {named("posix"), named("async")};
    struct bt_candidate known = named("async");
    struct bt_space s;
    assert_int_equal(bt_space_make(&s, writer, 2, &two), 0);
    assert_int_equal(bt_space_take(&s, &known), 1);
    const int before = s.n;
    known.tuning.buffer_bytes = 3 * MIB;
    assert_int_equal(bt_space_take(&s, &known), before);
    assert_int_equal(s.kind[before], BT_KNOWN);
    assert_int_equal(s.n, before + 1);
    bt_space_free(&s);
}

static void what_somebody_asks_for_costs(void **state)
{
    (void)state;
    static const char *const hints[] = {"cb_nodes=1"};
    const struct bt_candidate writers[] = {named("async"), named("posix"), named("hdf5"),
                                           named("mpiio")};
    struct bt_space s;
    assert_int_equal(bt_space_make(&s, writers, 4, &two), 0);
    struct bt_candidate c = named("async");
    c.tuning.direct = true;
    c.tuning.buffer_bytes = MIB;
    const int pair = bt_space_take(&s, &c);
    struct bt_candidate hinted = named("mpiio");
    hinted.hint = hints;
    hinted.hints_n = 1;
    const int hint = bt_space_take(&s, &hinted);
    assert_int_equal(bt_space_cost(&s, 1), 0);
    assert_int_equal(bt_space_cost(&s, 0), 1);
    assert_int_equal(bt_space_cost(&s, 3), 1);
    assert_int_equal(bt_space_cost(&s, hint), 2);
    assert_int_equal(bt_space_cost(&s, pair), 3);
    assert_true(bt_space_cost(&s, 2) > bt_space_cost(&s, pair));
    bt_space_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_command_lines),
        cmocka_unit_test(one_difference_or_none),
        cmocka_unit_test(numbers_outside_of_their_range),
        cmocka_unit_test(the_space_of_two_ranks),
        cmocka_unit_test(what_the_user_gave_stays),
        cmocka_unit_test(a_parallel_file_system_and_romio),
        cmocka_unit_test(a_known_choice_is_taken_in),
        cmocka_unit_test(what_somebody_asks_for_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
