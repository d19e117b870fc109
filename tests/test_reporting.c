/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a report: arithmetic against the published tables, notations, tables, figures, and
 * the sorting of runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "report/bt.h"
#include "report/figure.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/published.h"
#include "report/runs.h"
#include "report/table.h"
#include "report/text.h"

/* Printed to the last digit of R_IO (T_T has four) and to three decimals of zeta. */
static void published_values_recompute(void **state)
{
    (void)state;
    int n, odd = 0;
    const struct published *p = published_rows(&n);
    assert_int_equal(n, 17);
    for (int i = 0; i < n; i++) {
        const double rate = metric_r_io(p[i].n, p[i].dumps_n, p[i].t_t_s);
        const double zeta = metric_zeta(p[i].t_t_s, p[i].t_c_s);
        const bool agrees = fabs(rate / p[i].r_io - 1) < 6e-4 && fabs(zeta - p[i].zeta) < 0.0011;
        if (agrees != (p[i].note != PUBLISHED_ODD))
            fail_msg("%s N %d: %.0f, %.4f", p[i].system, (int)p[i].n, rate, zeta);
        odd += !agrees;
    }
    assert_int_equal(odd, 2);
    assert_true(fabs(metric_r_io(64, 40, 141.7) - 2959989) < 1);
    assert_true(fabs(metric_zeta(779.9, 435.6) - 0.790) < 0.0005);
}

static void published_best_of_a_system(void **state)
{
    (void)state;
    assert_true(published_best(PUBLISHED_IPSC, 64)->processors == 128);
    assert_true(published_best(PUBLISHED_YMP, 102)->t_t_s == 694.8);
    assert_null(published_best(PUBLISHED_YMP, 24));
}

static void metrics_that_cannot_be(void **state)
{
    (void)state;
    assert_true(isnan(metric_r_io(64, 40, 0)));
    assert_true(isnan(metric_zeta(1, 0)));
    assert_true(isnan(metric_implied_rate(1e6, 1, 1)));
    assert_true(isnan(metric_coffee_min(1e9, NAN)));
    assert_true(metric_coffee_min(6e10, 1e8) == 10);
    assert_true(metric_implied_rate(1e6, 3, 1) == 5e5);
}

static void expect_written(text_writer *write, const char *text, const char *want)
{
    struct text t;
    char *got;
    assert_int_equal(text_begin(&t), 0);
    write(t.to, text);
    assert_int_equal(text_end(&t, &got), 0);
    assert_string_equal(got, want);
    free(got);
}

static void notations(void **state)
{
    (void)state;
    expect_written(text_html, "<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    expect_written(text_html_prose, "T_T > T_C, zeta; MY_T_T T_TX",
                   "T<sub>T</sub> &gt; T<sub>C</sub>, &zeta;; MY_T_T T_TX");
    expect_written(text_markdown, "a|b_c*d\n<e>", "a\\|b\\_c\\*d &lt;e&gt;");
    expect_written(text_csv, "plain", "plain");
    expect_written(text_csv, "a,\"b\"", "\"a,\"\"b\"\"\"");
    expect_written(text_csv_plain, "a, \"b\"`", "a; 'b''");
    expect_written(text_gnuplot, "a\"`\\b\n", "a\\\"\\140\\\\b ");
    expect_written(text_gnuplot_enh, "R_IO of a_b", "R_{IO} of a\\\\_b");
    expect_written(text_html, "bell\a end", "bell end");
}

static void numbers(void **state)
{
    (void)state;
    char buf[TEXT_NUMBER_MAX];
    assert_string_equal(text_number(1.23456, buf), "1.23");
    assert_string_equal(text_number(0.012345, buf), "0.0123");
    assert_string_equal(text_number(99.96, buf), "100");
    assert_string_equal(text_number(9.9996, buf), "10.0");
    assert_string_equal(text_number(12345, buf), "12345");
    assert_string_equal(text_number(0, buf), "0");
    assert_string_equal(text_number(1.5e-7, buf), "1.50e-07");
    assert_string_equal(text_number(NAN, buf), "-");
    assert_string_equal(text_percent(0.1234, buf), "+12.3 %");
}

static char *written(const struct table *t, void (*write)(const struct table *, FILE *))
{
    struct text text;
    char *out;
    assert_int_equal(text_begin(&text), 0);
    write(t, text.to);
    assert_int_equal(text_end(&text, &out), 0);
    return out;
}

static void tables(void **state)
{
    (void)state;
    struct table *t = table_new("t", "Times");
    table_column(t, "writer");
    table_column(t, "T_T in s");
    table_cell(t, "a,<b>|");
    table_number(t, 1.0 / 3);
    table_cell(t, "none");
    char *csv = written(t, table_csv), *html = written(t, table_html);
    char *md = written(t, table_markdown);
    assert_true(table_ok(t) && table_rows(t) == 2);
    assert_string_equal(csv, "writer,T_T in s\n\"a,<b>|\",0.3333333333333333\nnone,\n");
    assert_non_null(strstr(html, "<td>a,&lt;b&gt;|</td><td class=\"n\">0.333</td>"));
    assert_non_null(strstr(html, "T<sub>T</sub> in s"));
    assert_non_null(strstr(md, "| a,&lt;b&gt;\\| | 0.333 |"));
    free(csv);
    free(html);
    free(md);
    table_free(t);
}

static void figures_keep_what_is_finite(void **state)
{
    (void)state;
    struct text t;
    char *csv;
    struct figure *f = figure_new("f", "F");
    figure_point(f, 1, 1); /* no panel yet: nowhere to go */
    figure_panel(f, &(struct figure_panel){.x = {.label = "x"}, .y = {.label = "y"}});
    assert_false(figure_has_points(f));
    figure_series(f, "a, b", FIGURE_POINTS);
    for (int i = 0; i < 5; i++)
        figure_interval(f, i, i == 2 ? (double)NAN : i, i, NAN);
    figure_point(f, INFINITY, 1);
    assert_true(figure_has_points(f) && !figure_is_drawn(f));
    assert_int_equal(text_begin(&t), 0);
    figure_csv(f, t.to);
    assert_int_equal(text_end(&t, &csv), 0);
    assert_string_equal(csv, "panel,series,x,y,low,high\n,a; b,0,0,0,\n,a; b,1,1,1,\n,a; b,3,3,3,\n"
                             ",a; b,4,4,4,\n");
    free(csv);
    figure_free(f);
    figure_free(NULL);
}

/* A result with the members that matter: writers "a" and "none", times in the order given. */
static json_t *result(int ranks, const char *sync, double t_c, int n, const double *t_t)
{
    json_t *runs = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(runs,
                              json_pack("{ss sf sf sb sb sI}", "driver", i < n - 1 ? "a" : "none",
                                        "t_t_s", t_t[i], "t_c_s", t_c, "verified", 1, "completed",
                                        1, "bytes", (json_int_t)419430400));
    return json_pack("{ss s{si si sf si si} s{ss} s{si si si si si s{ss}} so}", "schema",
                     "nht1-bt/1", "problem", "n", 64, "steps", 200, "dt", 0.0008, "interval", 5,
                     "dumps_n", 40, "options", "sync", sync, "system", "ranks", ranks, "threads", 1,
                     "nodes", 1, "cores_of_nodes", 2, "cores_in_use", ranks < 2 ? ranks : 2, "cpu",
                     "model", "x", "runs", runs);
}

/* Three results: two of the same, of which the second knows the better T_C; one with 4 ranks. */
static void runs_are_sorted(void **state)
{
    (void)state;
    const double one[] = {3.0, 3.2, 2.6}, two[] = {3.1, 2.5}, four[] = {5, 4};
    struct doc doc[] = {{"1", result(2, "end", 2.7, 3, one), "nht1-bt", 1},
                        {"2", result(2, "end", 2.0, 2, two), "nht1-bt", 1},
                        {"3", result(4, "end", 2.4, 2, four), "nht1-bt", 1},
                        {"4", result(2, "none", 2.7, 2, two), "nht1-bt", 1}};
    const struct docs docs = {.n = 4, .doc = doc};
    struct runs runs;
    assert_int_equal(runs_collect(&runs, &docs, 0.95), 0);
    assert_int_equal(runs.groups_n, 2); /* by --sync */
    assert_int_equal(runs.runs_n, 9);
    const struct group *g = &runs.group[0];
    assert_int_equal(g->cells_n, 4); /* a and none on 2 and on 4 ranks */
    int64_t p[4];
    assert_int_equal(runs_processors(&runs, g, p, 4), 2);
    assert_true(p[0] == 2 && p[1] == 4);
    const struct cell *c = &runs.cell[runs_best(&runs, g, 0)];
    assert_string_equal(c->writer, "a");
    assert_true(c->n == 3 && c->median_s == 3.1 && c->best_s == 3.0 && !c->oversubscribed);
    assert_true(c->lo_s == 3.0 && c->hi_s == 3.2);
    assert_true(c->t_c_s == 2.0); /* the best of all results with 2 cores in use */
    assert_true(fabs(c->zeta - 0.55) < 1e-12);
    assert_true(fabs(c->r_io - 419430400 / 3.1) < 1);
    c = &runs.cell[runs_best(&runs, g, 4)];
    assert_true(c->oversubscribed && c->median_s == 5 && isnan(c->lo_s));
    runs_free(&runs);
    for (int i = 0; i < 4; i++)
        json_decref(doc[i].root);
}

/* Members that an older or a foreign result lacks, or has with other types. */
static void odd_results_do_no_harm(void **state)
{
    (void)state;
    static const char *const text[] = {
        "{}",
        "{\"runs\": 5}",
        "{\"runs\": [1, null, \"x\", [], {}]}",
        "{\"runs\": [{\"driver\": 7, \"t_t_s\": \"fast\"}]}",
        "{\"runs\": [{\"driver\": \"a\", \"t_t_s\": 1}], \"problem\": [], \"system\": null}",
        "{\"runs\": [{\"driver\": \"a\", \"t_t_s\": -1}, {\"driver\": \"a\", \"t_t_s\": 1e308}]}",
        "{\"runs\": [{\"driver\": \"a\", \"t_t_s\": 1, \"dumps\": [3, {}, {\"post_s\": {}}]}],"
        " \"problem\": {\"n\": -5, \"steps\": 0, \"interval\": 0}}",
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        struct doc doc = {"x", json_loads(text[i], 0, NULL), "nht1-bt", 1};
        const struct docs docs = {.n = 1, .doc = &doc};
        struct report r = {.docs = &docs, .level = 0.95};
        struct text t;
        char *page;
        assert_non_null(doc.root);
        assert_int_equal(report_build(&r, NULL), 0);
        assert_int_equal(text_begin(&t), 0);
        page_html(r.page, t.to);
        page_markdown(r.page, t.to, "f");
        assert_int_equal(text_end(&t, &page), 0);
        assert_non_null(strstr(page, "</html>"));
        free(page);
        report_free(&r);
        json_decref(doc.root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values_recompute),
        cmocka_unit_test(published_best_of_a_system),
        cmocka_unit_test(metrics_that_cannot_be),
        cmocka_unit_test(notations),
        cmocka_unit_test(numbers),
        cmocka_unit_test(tables),
        cmocka_unit_test(figures_keep_what_is_finite),
        cmocka_unit_test(runs_are_sorted),
        cmocka_unit_test(odd_results_do_no_harm),
    };
    return cmocka_run_group_tests_name("reporting", tests, NULL, NULL);
}
