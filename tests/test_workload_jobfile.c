/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job files: both spellings, repetitions, directives, and what is wrong with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "companions/workload/jobfile.h"

static int read_text(const char *text, bool ini, struct workload_jobfile *j)
{
    err_clear();
    return workload_jobfile_read("j", text, strlen(text), ini, NULL, j);
}

/* A wrong text: ERR_USAGE, the place, the word. */
static void wrong_as(bool ini, const char *text, const char *place, const char *word)
{
    struct workload_jobfile j;
    assert_int_equal(read_text(text, ini, &j), ERR_USAGE);
    if (strncmp(err_message(), place, strlen(place)) != 0 || !strstr(err_message(), word))
        fail_msg("%s: expected at %s with '%s': %s", text, place, word, err_message());
    assert_int_equal(j.n, 0);
    assert_null(j.phase);
}

static void wrong(const char *text, const char *place, const char *word)
{
    wrong_as(false, text, place, word);
}

static void both_spellings_say_the_same(void **state)
{
    (void)state;
    struct workload_jobfile a, b;
    assert_int_equal(
        read_text("Record 4k  # of all\n"
                  "Think 2\n"
                  "<Repeat 3>\n"
                  "<Pattern nested-strided> Temporal write,re-write METHOD collective\n"
                  "</Pattern> Think 0.5 </Repeat>\n"
                  "<Pattern mesh> Temporal \"read, re-read\" Fraction 0.25 </Pattern>",
                  false, &a),
        0);
    assert_int_equal(read_text("[job]\nrecord = 4k ; of all\n[think 2]\n[repeat 3]\n"
                               "[pattern Nested_Strided]\ntemporal = write, re-write\n"
                               "method = collective\n[think 0.5]\n[end]\n"
                               "[pattern mesh]\ntemporal = read, re-read\nfraction = 0.25\n",
                               true, &b),
                     0);
    assert_int_equal(a.n, 1 + 3 * 3 + 2);
    assert_int_equal(b.n, a.n);
    for (int i = 0; i < a.n; i++) {
        const struct workload_phase *x = &a.phase[i], *y = &b.phase[i];
        assert_true(x->pattern == y->pattern && x->temporal == y->temporal &&
                    x->method == y->method && x->view == y->view && x->group == y->group);
        assert_true(x->pause_s == y->pause_s && x->fraction == y->fraction);
        assert_int_equal(x->shape.record_bytes, y->shape.record_bytes);
        assert_int_equal(x->shape.values, y->shape.values);
    }
    assert_true(a.phase[0].pause_s == 2 && a.phase[3].pause_s == 0.5);
    assert_true(a.phase[8].temporal == WORKLOAD_REWRITE && a.phase[8].view);
    assert_true(a.phase[10].pattern == WORKLOAD_MESH && a.phase[10].fraction == 0.25);
    assert_int_equal(a.phase[10].shape.values, 500);
    workload_jobfile_free(&a);
    workload_jobfile_free(&b);
}

static void a_record_or_several(void **state)
{
    (void)state;
    struct workload_jobfile j;
    assert_int_equal(
        read_text("<Pattern segmented> Record 1k,64k,1M Temporal write,read </Pattern>", false, &j),
        0);
    assert_int_equal(j.n, 6);
    assert_int_equal(j.phase[1].shape.record_bytes, 1000);
    assert_int_equal(j.phase[4].shape.record_bytes, 1000000);
    workload_jobfile_free(&j);
}

/* The only note, and the only shape, of a job. */
static void settled(const char *text, const struct conf_list *set, int64_t record_bytes,
                    const char *note)
{
    struct workload_jobfile j;
    err_clear();
    assert_int_equal(workload_jobfile_read("j", text, strlen(text), false, set, &j), 0);
    assert_int_equal(json_array_size(j.notes), note ? 1 : 0);
    if (note) assert_string_equal(json_string_value(json_array_get(j.notes, 0)), note);
    assert_int_equal(j.n, 1);
    assert_int_equal(j.phase[0].shape.record_bytes, record_bytes);
    workload_jobfile_free(&j);
}

static void the_word_of_a_section_holds_against_the_record_of_the_job(void **state)
{
    (void)state;
    settled("Record 512\n<Pattern mesh> Values 8 Temporal write </Pattern>", NULL, 64,
            "j:2:1: values 8 of the section overrides record 512 of the job");
    settled("Record 32k <Pattern flash> Blocks 2 Temporal write </Pattern>", NULL, 2 * 512 * 8,
            "j:1:12: blocks 2 of the section overrides record 32k of the job");
    settled("Record 4k,8k <Pattern tiled> Tile 4x8 Temporal write </Pattern>", NULL, 8 * 32,
            "j:1:14: the columns of tile 4x8 of the section overrides record 4k,8k of the job");
    settled("Values 8 <Pattern mesh> Record 512 Temporal write </Pattern>", NULL, 512,
            "j:1:10: record 512 of the section overrides values 8 of the job");
    settled("Values 64 <Pattern mesh> Record 512 Temporal write </Pattern>", NULL, 512,
            "j:1:11: record 512 of the section overrides values 64 of the job");
    settled("Record 512 <Pattern mesh> Temporal write </Pattern>", NULL, 512, NULL);
    settled("Record 512 Values 8 <Pattern segmented> Temporal write </Pattern>", NULL, 512, NULL);
    settled("Data 1k <Pattern segmented> Limit 4k Temporal write </Pattern>", NULL, 65536,
            "j:1:9: data 1k of the job overrides limit of the section");
}

static void a_word_of_the_command_line_holds_against_that_of_a_section(void **state)
{
    (void)state;
    const char *words[] = {"record=1024", "blocks=3"};
    struct conf_list set = {1, words};
    settled("<Pattern mesh> Values 8 Temporal write </Pattern>", &set, 1024,
            "j:1:1: record 1024 of --set overrides values 8 of the section");
    set = (struct conf_list){1, words + 1};
    settled("<Pattern flash> Record 4k Temporal write </Pattern>", &set, 3 * 512 * 8,
            "j:1:1: blocks 3 of --set overrides record 4k of the section");
}

static void two_words_of_one_place_agree(void **state)
{
    (void)state;
    settled("<Pattern mesh> Values 64 Record 512 Temporal write </Pattern>", NULL, 512, NULL);
    wrong("<Pattern mesh> Values 8 Record 512 </Pattern>", "j:1:1: ", "contradict");
    wrong("Record 4k Blocks 2\n<Pattern segmented> </Pattern>\n<Pattern flash> </Pattern>",
          "j:3:1: ", "record 4k and blocks 2 contradict each other, 8192 bytes");
    wrong("<Pattern tiled> Tile 8x8 Record 4k,8k </Pattern>", "j:1:1: ", "contradict");
}

static void wrong_nesting(void **state)
{
    (void)state;
    wrong("", "j:1:1: ", "without a phase");
    wrong("\n </Pattern>", "j:2:2: ", "no pattern is open");
    wrong("<Pattern mesh>\nRecord 4k", "j:2:", "</Pattern> is missing");
    wrong("<Pattern mesh>\n <Pattern mesh>", "j:2:2: ", "</Pattern> is missing");
    wrong("<Pattern mesh>\n <Repeat 2>", "j:2:2: ", "inside of a pattern");
    wrong("<Repeat 2>\n<Pattern mesh></Pattern>", "j:2:", "</Repeat> is missing");
    wrong("<Pattern mesh></Pattern>\n</Repeat>", "j:2:1: ", "no repetition is open");
    wrong("<Repeat 2><Repeat 2><Repeat 2><Repeat 2><Repeat 2><Repeat 2><Repeat 2><Repeat 2>\n"
          "<Repeat 2>",
          "j:2:1: ", "nested");
    wrong("<Pattern mesh\n>", "j:1:1: ", "not closed");
    wrong("<Other 3>", "j:1:1: ", "other");
    wrong("<Pattern other></Pattern>", "j:1:1: ", "no pattern \"other\"");
    wrong_as(true, "[pattern mesh]\n[end]", "j:2:1: ", "no repetition is open");
    wrong_as(true, "[repeat 2]\n[pattern mesh]\n", "j:3:1: ", "[end] is missing");
    wrong_as(true, "[pattern mesh\n", "j:1:1: ", "not closed by ]");
}

static void wrong_words(void **state)
{
    (void)state;
    wrong("<Pattern mesh>\n  Colour blue </Pattern>", "j:2:3: ", "no directive \"Colour\"");
    wrong("<Pattern mesh>\n Method none </Pattern>", "j:2:2: ", "none");
    wrong("<Pattern mesh>\n Record </Pattern>", "j:2:2: ", "no value");
    wrong("<Pattern mesh>\n Record \"4k </Pattern>", "j:2:", "a quote is not closed");
    wrong("\n<Pattern mesh> Temporal write,never </Pattern>", "j:2:1: ", "never");
    wrong("\n<Pattern mesh> Temporal , </Pattern>", "j:2:1: ", "no pattern is named");
    wrong("<Pattern sequential> File strided </Pattern>", "j:1:1: ", "contiguous");
    wrong("<Pattern mesh> Method posix Access view </Pattern>", "j:1:1: ", "POSIX");
    wrong("<Pattern mesh> Group 2 </Pattern>", "j:1:1: ", "view");
    wrong("\x01", "j:1:1: ", "control character");
    wrong_as(true, "[pattern mesh]\nrecord\n", "j:2:1: ", "no value");
}

static void numbers_out_of_range(void **state)
{
    (void)state;
    wrong("Data -1\n<Pattern mesh></Pattern>", "j:2:1: ", "data");
    wrong("<Pattern mesh>\n Record -4 </Pattern>", "j:1:1: ", "record");
    wrong("<Pattern mesh>\n Record 99999999999999999999999 </Pattern>", "j:1:1: ", "record");
    wrong("<Pattern mesh>\n Fraction 1.5 </Pattern>", "j:2:2: fraction: ", "1.5");
    wrong("<Pattern mesh>\n Fraction nan </Pattern>", "j:2:2: ", "fraction");
    wrong("<Repeat 0>", "j:1:1: ", "repeat");
    wrong("<Repeat 10000>\n<Repeat 10000>\n<Pattern mesh></Pattern>\n</Repeat></Repeat>",
          "j:4:1: ", "more than 10000 phases");
    wrong("Think 1e99", "j:1:1: ", "think");
    wrong("<Pattern tiled> Tile 1000000000x1000000000 </Pattern>", "j:1:1: ", "terabyte");
    wrong("<Pattern tiled> Tile 8x </Pattern>", "j:1:1: ", "tile");
    wrong("<Pattern tiled> Overlap 128x0 </Pattern>", "j:1:1: ", "overlap");
    wrong("<Pattern flash> Cells 1000 Blocks 1000000 </Pattern>", "j:1:1: ", "terabyte");
}

static void a_line_of_10_mb(void **state)
{
    (void)state;
    const size_t n = 10 << 20;
    char *text = malloc(n + 100);
    assert_non_null(text);
    strcpy(text, "\nRecord ");
    const size_t at = strlen(text);
    memset(text + at, '1', n);
    strcpy(text + at + n, "\n");
    wrong(text, "j:2:", "a word of more than");
    free(text);
}

/* The table of docs/workload.md has each directive with its default and the words of the source. */
static void every_directive_is_documented(void **state)
{
    (void)state;
    const char *root = getenv("NHT1_ROOT");
    char path[4096], row[1024];
    snprintf(path, sizeof path, "%s/docs/workload.md", root ? root : ".");
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, from) > 0);
    fclose(from);
    for (const struct conf_option *d = workload_directives; d->name; d++) {
        char choices[256] = "";
        size_t n = 0;
        for (const char *c = d->choices; c && *c; c++)
            n += (size_t)snprintf(choices + n, sizeof choices - n, *c == '|' ? ", " : "%c", *c);
        snprintf(row, sizeof row, "| `%s` | %s | %s%s%s |\n", d->name, d->def[0] ? d->def : "-",
                 choices, choices[0] ? ": " : "", d->help);
        if (!strstr(text, row)) fail_msg("docs/workload.md lacks the row\n%s", row);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_spellings_say_the_same),
        cmocka_unit_test(a_record_or_several),
        cmocka_unit_test(the_word_of_a_section_holds_against_the_record_of_the_job),
        cmocka_unit_test(a_word_of_the_command_line_holds_against_that_of_a_section),
        cmocka_unit_test(two_words_of_one_place_agree),
        cmocka_unit_test(wrong_nesting),
        cmocka_unit_test(wrong_words),
        cmocka_unit_test(numbers_out_of_range),
        cmocka_unit_test(a_line_of_10_mb),
        cmocka_unit_test(every_directive_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
