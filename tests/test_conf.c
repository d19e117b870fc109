/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options table: values, ranges, prefixes, messages, help, JSON and the echoed line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/conf.h"
#include "base/err.h"

struct opts {
    bool force, last;
    int64_t n, steps;
    double dt;
    const char *out, *layout, *dir;
    struct conf_list hint, io;
};

#define AT(member) CONF_AT(struct opts, member)
static const struct conf_option table[] = {
    {.name = "n",
     .arg = "N",
     .def = "12",
     CONF_RANGE(6, 4096),
     AT(n),
     .help = "Grid points in each direction.",
     .group = "Problem",
     .key = 'n'},
    {.name = "steps", .def = "60", CONF_RANGE(0, 1e18), AT(steps)},
    {.name = "dt", CONF_RANGE(1e-9, 1), .def = "0.01", AT(dt)},
    {.name = "out",
     .def = "btout.bin",
     .arg = "FILE",
     AT(out),
     .group = "Writing",
     .help = "The file that every dump of the solution is written to, which "
             "needs 40 bytes per grid point and dump."},
    {.name = "layout", CONF_CHOICE_AT(struct opts, layout, "mijk|ijkm|records"), .def = "mijk"},
    {.name = "hint", .arg = "KEY=VALUE", AT(hint)},
    {.name = "force", AT(force), .key = 'f'},
    {.name = "last-step", AT(last)},
    {.name = "io", .def = "serial", AT(io)},
    {.name = "dir", .arg = "DIR", .def = ".", AT(dir)},
    {0},
};
static const struct conf_program program = {.name = "prog",
                                            .version = "1",
                                            .summary = "Does something.",
                                            .args = "FILE",
                                            .max_args = 2,
                                            .examples = "  prog --n 33\n",
                                            .options = table};

static struct opts o;
static struct conf_list words;
static bool given[10];

/* Splits a line at blanks and parses it; the texts stay alive until the next call. */
static int parse(const char *line)
{
    static char text[256];
    char *argv[20] = {(char *)"prog"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *w = strtok(text, " "); w; w = strtok(NULL, " ")) {
        argv[argc++] = w;
    }
    err_clear();
    return conf_parse(&program, argc, argv, &o, &words, given);
}

static void release(void)
{
    conf_free(&program, &o, &words);
}

static void refuses(const char *line, const char *message)
{
    assert_int_equal(parse(line), ERR_USAGE);
    if (!strstr(err_message(), message)) {
        fail_msg("\"%s\" gave \"%s\", not \"%s\"", line, err_message(), message);
    }
}

static void defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(""), CONF_RUN);
    assert_int_equal(o.n, 12);
    assert_int_equal(o.steps, 60);
    assert_true(o.dt == 0.01);
    assert_string_equal(o.out, "btout.bin");
    assert_string_equal(o.layout, "mijk");
    assert_false(o.force);
    assert_int_equal(o.hint.n, 0);
    assert_int_equal(words.n, 0);
    assert_false(given[0]);
    release();
}

static void values(void **state)
{
    (void)state;
    assert_int_equal(parse("--n 33 a --steps=2k --dt=2.5e-3 -f --hint a=1 --layout records "
                           "--hint=b=2 -- --out"),
                     CONF_RUN);
    assert_int_equal(o.n, 33);
    assert_int_equal(o.steps, 2000);
    assert_true(o.dt == 2.5e-3);
    assert_true(o.force);
    assert_false(o.last);
    assert_int_equal(o.hint.n, 2);
    assert_string_equal(o.hint.item[0], "a=1");
    assert_string_equal(o.hint.item[1], "b=2");
    assert_string_equal(o.layout, "records");
    assert_int_equal(words.n, 2);
    assert_string_equal(words.item[0], "a");
    assert_string_equal(words.item[1], "--out");
    assert_true(given[0] && given[6] && !given[3]);
    release();
}

static void prefixes_letters_suffixes(void **state)
{
    (void)state;
    assert_int_equal(parse("--lay ijkm -n7 --st 3Ki"), CONF_RUN);
    assert_string_equal(o.layout, "ijkm");
    assert_int_equal(o.n, 7);
    assert_int_equal(o.steps, 3072);
    release();
    assert_int_equal(parse("--steps 1T"), CONF_RUN);
    assert_true(o.steps == INT64_C(1000000000000));
    release();
}

static void given_lists_replace_the_default(void **state)
{
    (void)state;
    assert_int_equal(parse(""), CONF_RUN);
    assert_int_equal(o.io.n, 1);
    assert_string_equal(o.io.item[0], "serial");
    release();
    assert_int_equal(parse("--io posix --io token"), CONF_RUN);
    assert_int_equal(o.io.n, 2);
    assert_string_equal(o.io.item[0], "posix");
    assert_string_equal(o.io.item[1], "token");
    release();
}

static void help_and_version_win(void **state)
{
    (void)state;
    assert_int_equal(parse("--help --nonsense"), CONF_HELP);
    release();
    assert_int_equal(parse("-h"), CONF_HELP);
    release();
    assert_int_equal(parse("--version"), CONF_VERSION);
    release();
}

static void wrong_options(void **state)
{
    (void)state;
    refuses("--layuot mijk", "unknown option --layuot; did you mean --layout?");
    refuses("--n 12 --stesp=3 a", "did you mean --steps?");
    refuses("a b --forse", "did you mean --force?");
    refuses("--qqqqqqqq", "unknown option --qqqqqqqq (see");
    refuses("-z", "unknown option -z");
    refuses("-fz", "unknown option -z");
    refuses("--l x", "could be any of --layout, --last-step");
    refuses("--out", "--out needs a value: --out FILE");
    refuses("--layout", "--layout needs a value: --layout mijk|ijkm|records");
    refuses("--force=yes", "--force takes no value");
    refuses("--help=3", "--help takes no value");
    refuses("--vers=3", "--version takes no value");
    refuses("--hlep", "did you mean --help?");
    refuses("-n", "--n needs a value");
    refuses("a b c", "unexpected word \"c\"");
}

static void wrong_values(void **state)
{
    (void)state;
    refuses("--n 5", "--n: \"5\" is not allowed; give a whole number from 6 to 4096");
    refuses("--n 4097", "from 6 to 4096");
    refuses("--n twelve", "\"twelve\" is not allowed");
    refuses("--n 12x", "\"12x\"");
    refuses("--n 1.5", "\"1.5\"");
    refuses("--n=", "\"\" is not allowed");
    refuses("--n 99999999999999999999", "is not allowed");
    refuses("--steps 9999999999T", "is not allowed");
    refuses("--steps -1", "give a whole number, at least 0");
    refuses("--dt 0", "give a number from 1e-09 to 1");
    refuses("--dt nan", "is not allowed");
    refuses("--dt 1e999", "is not allowed");
    refuses("--dt 0,5", "is not allowed");
    refuses("--layout foo", "choose one of mijk|ijkm|records");
    refuses("--layout abcd", "choose one of");
    refuses("--layout mij", "choose one of");
    refuses("--layout mijk|ijkm", "choose one of");
}

static void no_words_allowed(void **state)
{
    (void)state;
    struct conf_program p = program;
    p.args = NULL;
    p.max_args = 0;
    char *argv[] = {(char *)"prog", (char *)"x", NULL};
    err_clear();
    assert_int_equal(conf_parse(&p, 2, argv, &o, NULL, NULL), ERR_USAGE);
    assert_non_null(strstr(err_message(), "takes options only"));
}

static void help_is_wrapped(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    conf_help(&program, to);
    fclose(to);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 80);
    }
    const char *problem = strstr(text, "Problem"), *writing = strstr(text, "Writing");
    assert_true(problem && writing && problem < writing);
    assert_true(strstr(text, "--n=N") > problem && strstr(text, "--n=N") < writing);
    assert_non_null(strstr(text, "Default: btout.bin."));
    assert_non_null(strstr(text, "Default: '.'."));
    assert_non_null(strstr(text, "4096."));
    assert_non_null(strstr(text, "prog --n 33"));
    free(text);
}

static void echo(void **state)
{
    (void)state;
    assert_int_equal(parse("--n=33 --dt .02 --layout mijk --hint it's --hint b=2 -f"), CONF_RUN);
    char *line = conf_line(&program, &o);
    assert_string_equal(line, "--n 33 --dt 0.02 --hint 'it'\\''s' --hint b=2 --force");
    free(line);
    release();
    assert_int_equal(parse(""), CONF_RUN);
    line = conf_line(&program, &o);
    assert_string_equal(line, "");
    free(line);
    release();
}

static void as_json(void **state)
{
    (void)state;
    assert_int_equal(parse("--n 33 --hint a --last-step"), CONF_RUN);
    json_t *j = conf_json(&program, &o);
    assert_int_equal(json_integer_value(json_object_get(j, "n")), 33);
    assert_true(json_real_value(json_object_get(j, "dt")) == 0.01);
    assert_true(json_is_true(json_object_get(j, "last_step")));
    assert_true(json_is_false(json_object_get(j, "force")));
    assert_string_equal(json_string_value(json_object_get(j, "out")), "btout.bin");
    assert_int_equal(json_array_size(json_object_get(j, "hint")), 1);
    json_decref(j);
    release();
}

/* What a member is decides what an option takes. */
static void types_follow_the_members(void **state)
{
    (void)state;
    static const enum conf_type type[] = {CONF_INT,    CONF_INT,   CONF_REAL, CONF_STRING,
                                          CONF_CHOICE, CONF_LIST,  CONF_FLAG, CONF_FLAG,
                                          CONF_LIST,   CONF_STRING};
    for (int i = 0; table[i].name; i++)
        assert_int_equal(table[i].type, type[i]);
}

static void what_was_given_and_chosen(void **state)
{
    (void)state;
    assert_int_equal(parse("--layout records -f"), CONF_RUN);
    assert_true(conf_given(&program, given, "layout") && conf_given(&program, given, "force"));
    assert_false(conf_given(&program, given, "n"));
    assert_int_equal(conf_chosen(&program, &o, "layout"), 2);
    release();
    assert_int_equal(parse("--layout=ijkm"), CONF_RUN);
    assert_int_equal(conf_chosen(&program, &o, "layout"), 1);
    release();
    assert_int_equal(parse(""), CONF_RUN);
    assert_int_equal(conf_chosen(&program, &o, "layout"), 0);
    release();
}

static void words_of_a_list(void **state)
{
    (void)state;
    const char *list = "one,,three,four";
    static const char *const want[] = {"one", "", "thr", "fou"};
    char word[4];
    for (int i = 0; i < 4; i++) {
        assert_true(conf_next_word(&list, word, sizeof word));
        assert_string_equal(word, want[i]);
    }
    assert_false(conf_next_word(&list, word, sizeof word));
    list = "";
    assert_true(conf_next_word(&list, word, sizeof word));
    assert_string_equal(word, "");
    assert_false(conf_next_word(&list, word, sizeof word));
}

static void numbers_alone(void **state)
{
    (void)state;
    int64_t i = 0;
    double x = 0;
    err_clear();
    assert_int_equal(conf_int("rank", "16Mi", 0, INT64_MAX, &i), 0);
    assert_int_equal(conf_int("rank", "512MiB", 0, INT64_MAX, &i), 0);
    assert_int_equal(i, INT64_C(512) << 20);
    assert_int_equal(conf_int("rank", "512B", 0, INT64_MAX, &i), ERR_USAGE);
    err_clear();
    assert_int_equal(conf_int("rank", "16Mi", 0, INT64_MAX, &i), 0);
    assert_int_equal(i, 16 << 20);
    assert_int_equal(conf_int("rank", "-9223372036854775808", 0, 0, &i), 0);
    assert_true(i == INT64_MIN);
    assert_int_equal(conf_real("ratio", "-1.5", 0, 0, &x), 0);
    assert_true(x == -1.5);
    assert_int_equal(conf_real("ratio", "2", 0, 1, &x), ERR_USAGE);
    assert_non_null(strstr(err_message(), "ratio: \"2\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(values),
        cmocka_unit_test(prefixes_letters_suffixes),
        cmocka_unit_test(given_lists_replace_the_default),
        cmocka_unit_test(help_and_version_win),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(no_words_allowed),
        cmocka_unit_test(help_is_wrapped),
        cmocka_unit_test(echo),
        cmocka_unit_test(as_json),
        cmocka_unit_test(types_follow_the_members),
        cmocka_unit_test(what_was_given_and_chosen),
        cmocka_unit_test(words_of_a_list),
        cmocka_unit_test(numbers_alone),
    };
    return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
