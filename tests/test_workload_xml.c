/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workload files: what is written reads back, and what is wrong is named with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/text.h"
#include "companions/workload/point.h"

#define NINE                                                                                       \
    "processNum='4' sizeMean='8192' uniqueBytes='65536' readFrac='0.5' collFrac='0' "              \
    "syncFrac='1' seqFrac='0.2' sharedFrac='0' contMean='8192'"

static int read_text(const char *text, struct workload *w)
{
    err_clear();
    return workload_read("w.xml", text, strlen(text), w);
}

/* A wrong text: ERR_USAGE, the place, the word. */
static void wrong(const char *text, const char *place, const char *word)
{
    struct workload w;
    if (read_text(text, &w) != ERR_USAGE) fail_msg("%s: is accepted", text);
    if (strncmp(err_message(), place, strlen(place)) != 0 || !strstr(err_message(), word))
        fail_msg("%s: expected at %s with '%s': %s", text, place, word, err_message());
    assert_int_equal(w.points_n, 0);
    assert_null(w.point);
}

static void names_of_kinds(void **state)
{
    (void)state;
    int kinds = 0, functions = 0;
    for (int i = 0; i < WORKLOAD_KINDS; i++) {
        const struct workload_kind k = workload_kind_of(i);
        assert_int_equal(workload_kind_index(k), i);
        if (!workload_kind_name(i)) continue;
        assert_string_equal(workload_kind_call(i) + strlen("MPI_File_"), workload_kind_name(i));
        kinds++;
        functions += k.sync == WORKLOAD_SPLIT ? 2 : 1;
        const char *name = workload_kind_name(i);
        assert_int_equal(workload_kind_find(name), i);
        assert_true((strstr(name, "write") != NULL) == k.write);
        assert_true((strstr(name, "_at") != NULL) == (k.position == WORKLOAD_EXPLICIT));
        assert_true((name[0] == 'i') == (k.sync == WORKLOAD_REQUEST));
        assert_true((strstr(name, "_all") || strstr(name, "ordered")) == k.collective);
    }
    assert_int_equal(kinds, 28);
    assert_int_equal(functions, 34);
    assert_int_equal(workload_kind_find("write_at_all_end"), -1);
}

static void nine_numbers_are_read(void **state)
{
    (void)state;
    struct workload w;
    assert_int_equal(read_text("<workload version='1' mode='separate' seed='7'>\n"
                               "<workingPoint file='3' " NINE " think='0.25'/></workload>",
                               &w),
                     0);
    assert_int_equal(w.points_n, 1);
    assert_true(w.separate && w.seed == 7);
    const double expected[] = {4, 8192, 65536, 0.5, 0, 1, 0.2, 0, 8192};
    for (int i = 0; i < WORKLOAD_NUMBERS; i++)
        assert_true(workload_point_number(&w.point[0], i) == expected[i]);
    assert_int_equal(w.point[0].file, 3);
    assert_true(w.point[0].think_s == 0.25);
    assert_int_equal(w.point[0].line, 2);
    assert_int_equal(workload_point_calls(&w.point[0]), 2);
    workload_free(&w);
}

static char *written(const struct workload *w)
{
    struct text t;
    char *out;
    assert_int_equal(text_begin(&t), 0);
    workload_write(w, t.to);
    assert_int_equal(text_end(&t, &out), 0);
    return out;
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct workload w, again;
    assert_int_equal(
        read_text(
            "<workload version='1' seed='9223372036854775807'><file index='2' "
            "name='a&lt;&quot;b'/>"
            "<workingPoint processNum='5' sizeMean='1000.125' uniqueBytes='2600' readFrac='0' "
            "collFrac='1' syncFrac='0' seqFrac='0' sharedFrac='0' contMean='33' "
            "nonblockingCollective='request'><calls function='iwrite_at_all' n='2' "
            "bytes='500'/><rank of='1' calls='2' bytes='500' contMean='12.5'/><rank of='4' "
            "calls='3' "
            "bytes='600'><calls function='iwrite_at_all' n='2' bytes='590'/><calls "
            "function='read' n='1' bytes='10'/></rank></workingPoint>"
            "<workingPoint processNum='1' sizeMean='10' uniqueBytes='30' readFrac='0' "
            "collFrac='0' syncFrac='1' seqFrac='0' sharedFrac='0' contMean='10'><calls "
            "function='write_at' n='3' bytes='30' span='70' skips='1' lead='1' "
            "begin='5' shift='-5'/></workingPoint></workload>",
            &w),
        0);
    char *one = written(&w);
    assert_int_equal(read_text(one, &again), 0);
    assert_int_equal(again.points_n, 2);
    const struct workload_point *p = &again.point[0];
    assert_true(p->request && p->size_mean == 1000.125 && p->ranks_n == 2 && p->list_n == 1);
    assert_int_equal(p->rank[1].list[1].kind, workload_kind_find("read"));
    assert_int_equal(p->rank[1].list[0].bytes, 590);
    assert_true(p->rank[0].cont_mean == 12.5 && p->rank[1].cont_mean == 0);
    assert_true(again.point[1].list[0].span == 70 && again.point[1].list[0].begin == 5 &&
                again.point[1].list[0].skips == 1 && again.point[1].list[0].lead == 1 &&
                again.point[1].list[0].shifted && again.point[1].list[0].shift == -5);
    assert_string_equal(again.file_name[2], "a<\"b");
    char *two = written(&again);
    assert_string_equal(one, two);
    free(one);
    free(two);
    workload_free(&w);
    workload_free(&again);
}

static void every_attribute_is_asked_for(void **state)
{
    (void)state;
    char text[512];
    for (int i = 0; i < WORKLOAD_NUMBERS; i++) {
        snprintf(text, sizeof text, "<workload version='1'>\n <workingPoint " NINE "/></workload>");
        char *at = strstr(text, workload_numbers[i].name);
        *at = 'x';
        wrong(text, "w.xml:2:2: ", "x");
        char *end = strchr(strchr(at, '\'') + 1, '\'');
        memset(at, ' ', (size_t)(end - at) + 1);
        wrong(text, "w.xml:2:2: <workingPoint> lacks", workload_numbers[i].name);
    }
}

#define POINT(text) "<workload version='1'>\n\n <workingPoint " text "</workload>"

static void wrong_texts(void **state)
{
    (void)state;
    wrong("", "w.xml:1:1: ", "no element");
    wrong("<workload version='1'/>", "w.xml:1:1: ", "without a working point");
    wrong("<workload/>", "w.xml:1:1: ", "version");
    wrong("<workload version='2'/>", "w.xml:1:1: ", "version");
    wrong("<other/>", "w.xml:1:1: ", "other");
    wrong("<workingPoint " NINE "/>", "w.xml:1:1: ", "cannot stand here");
    wrong("<workload version='1'>\n  word</workload>", "w.xml:", "text");
    wrong(POINT(NINE ">"), "w.xml:3:", "mismatched tag");
    wrong(POINT(NINE " file='1024'/>"), "w.xml:3:2: ", "file");
    wrong(POINT(NINE " file='-1'/>"), "w.xml:3:2: ", "file");
    wrong(POINT(NINE " " NINE "/>"), "w.xml:3:", "duplicate");
    wrong(POINT(NINE "><workingPoint " NINE "/></workingPoint>"), "w.xml:3:", "cannot stand here");
    wrong(POINT(NINE "><calls function='seek' n='1' bytes='1'/></workingPoint>"),
          "w.xml:3:", "seek");
    wrong(POINT(NINE "><calls function='read' n='1' bytes='1'/></workingPoint>"),
          "w.xml:3:2: ", "uniqueBytes is 65536");
    wrong(POINT(NINE "><rank of='4' calls='1' bytes='1'/></workingPoint>"),
          "w.xml:3:2: ", "0 to 3");
    wrong(POINT(NINE "><rank of='2' calls='1' bytes='1'/><rank of='2' calls='1' bytes='1'/>"
                     "</workingPoint>"),
          "w.xml:3:2: ", "after");
}

static void numbers_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } bad[] = {{"processNum", "0"},        {"processNum", "1.5"},    {"processNum", "99999999999"},
               {"sizeMean", "0"},          {"sizeMean", "-8"},       {"sizeMean", "1e400"},
               {"sizeMean", "nan"},        {"uniqueBytes", "0"},     {"uniqueBytes", "1e3"},
               {"uniqueBytes", "2e63"},    {"readFrac", "1.000001"}, {"readFrac", "-0.1"},
               {"collFrac", "0,5"},        {"syncFrac", ""},         {"seqFrac", "half"},
               {"sharedFrac", "infinity"}, {"contMean", "0.5"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1024] = "<workload version='1'>\n <workingPoint ";
        char *to = text + strlen(text);
        for (int n = 0; n < WORKLOAD_NUMBERS; n++)
            to += snprintf(to, 100, "%s='%s' ", workload_numbers[n].name,
                           strcmp(workload_numbers[n].name, bad[i].name) == 0 ? bad[i].value : "1");
        strcpy(to, "/></workload>");
        wrong(text, "w.xml:2:2: ", bad[i].name);
    }
}

static void what_one_number_does_not_show(void **state)
{
    (void)state;
#define SEPARATE(text) "<workload version='1' mode='separate'><workingPoint " text "/></workload>"
#define REST           "processNum='2' sizeMean='8' uniqueBytes='64' readFrac='0' syncFrac='1' seqFrac='1' "
    wrong(SEPARATE(REST "collFrac='0.1' sharedFrac='0' contMean='8'"), "w.xml:1:", "separate");
    wrong(SEPARATE(REST "collFrac='0' sharedFrac='1' contMean='8'"), "w.xml:1:", "separate");
    wrong(POINT(REST "collFrac='0' sharedFrac='0.5' contMean='4'/>"), "w.xml:3:2: ", "contMean");
    wrong(POINT(REST "collFrac='1' sharedFrac='0' contMean='8'><rank of='0' calls='5' bytes='32'/>"
                     "</workingPoint>"),
          "w.xml:3:2: ", "collective");
    wrong(POINT("processNum='2' sizeMean='8' uniqueBytes='32' readFrac='0' collFrac='0' "
                "syncFrac='1' seqFrac='1' sharedFrac='0' contMean='4'><calls "
                "function='write_shared' n='2' bytes='16'/></workingPoint>"),
          "w.xml:3:2: ", "same view");
    wrong(POINT("processNum='16' sizeMean='1152921504606846976' uniqueBytes='1152921504606846976' "
                "readFrac='0' collFrac='0' syncFrac='1' seqFrac='1' sharedFrac='0' "
                "contMean='576460752303423488'/>"),
          "w.xml:3:2: ", "too long a file");
    wrong(POINT("processNum='1' sizeMean='1' uniqueBytes='1152921504606846976' readFrac='0' "
                "collFrac='0' syncFrac='1' seqFrac='1' sharedFrac='0' contMean='1'/>"),
          "w.xml:3:2: ", "calls per process");
}

static void wrong_spans(void **state)
{
    (void)state;
    static const struct {
        const char *calls, *why;
    } row[] = {
        {"function='write_at' n='3' bytes='30' span='70'/>", "span"},
        {"function='write_at' n='3' bytes='30' skips='2'/>", "span"},
        {"function='write_at' n='3' bytes='30' span='70' skips='3'/>", "span"},
        {"function='write_at' n='3' bytes='30' span='9' skips='2'/>", "span"},
        {"function='write_shared' n='3' bytes='30' span='70' skips='2'/>", "span"},
        {"function='write_at' n='3' bytes='30' lead='1'/>", "span"},
        {"function='write_at' n='3' bytes='30' span='70' skips='2' lead='2'/>",
         "lead is 1 to n - skips"},
        {"function='write_at' n='3' bytes='30' span='70' skips='2' begin='-1'/>",
         "process 0 begins before the file does"},
        {"function='write_at' n='3' bytes='30' begin='-1'/>",
         "process 0 begins before the file does"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<workload version='1'>\n <workingPoint processNum='1' sizeMean='10' "
                 "uniqueBytes='30' readFrac='0' collFrac='0' syncFrac='1' seqFrac='0' "
                 "sharedFrac='0' contMean='10'>\n<calls %s</workingPoint></workload>",
                 row[i].calls);
        wrong(text, "w.xml:2:2: ", row[i].why);
    }
}

/* A text that grows a thousandfold with each line must not be expanded, nor a foreign file read. */
static void entities_are_refused(void **state)
{
    (void)state;
    wrong("<!DOCTYPE workload [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>"
          "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]>\n<workload version='&c;'/>",
          "w.xml:1:", "document type");
    wrong("<!DOCTYPE workload SYSTEM '/etc/passwd'><workload version='1'/>",
          "w.xml:1:", "document type");
}

static void a_line_of_10_mb(void **state)
{
    (void)state;
    const size_t n = 10 << 20;
    char *text = malloc(n + 100);
    assert_non_null(text);
    struct workload w;
    strcpy(text, "<workload version='");
    const size_t at = strlen(text);
    memset(text + at, '1', n);
    strcpy(text + at + n, "'/>");
    assert_int_equal(read_text(text, &w), ERR_USAGE);
    assert_non_null(strstr(err_message(), "w.xml:1:1: version"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_kinds),
        cmocka_unit_test(nine_numbers_are_read),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(every_attribute_is_asked_for),
        cmocka_unit_test(wrong_texts),
        cmocka_unit_test(numbers_out_of_range),
        cmocka_unit_test(what_one_number_does_not_show),
        cmocka_unit_test(wrong_spans),
        cmocka_unit_test(entities_are_refused),
        cmocka_unit_test(a_line_of_10_mb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
