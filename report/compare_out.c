/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as text, JSON and page. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/units.h"
#include "base/version.h"
#include "report/compare.h"

static const char *const verdict_text[] = {[COMPARE_FEW] = "too few runs",
                                           [COMPARE_SAME] = "same",
                                           [COMPARE_UNCLEAR] = "unclear",
                                           [COMPARE_BETTER] = "better",
                                           [COMPARE_WORSE] = "WORSE"};
static const char *const verdict_key[] = {[COMPARE_FEW] = "too few runs",
                                          [COMPARE_SAME] = "same",
                                          [COMPARE_UNCLEAR] = "unclear",
                                          [COMPARE_BETTER] = "better",
                                          [COMPARE_WORSE] = "worse"};

/* The whole in one word and one sentence. */
static const char *overall(const struct compare *c)
{
    if (!compare_is_possible(c)) return "not comparable";
    if (compare_is_worse(c)) return "worse";
    if (compare_has(c, COMPARE_BETTER)) return "better";
    return compare_has(c, COMPARE_UNCLEAR) ? "unclear" : "same";
}

static void sentence(const struct compare *c, char *buf, size_t size)
{
    const char *word = overall(c);
    if (json_array_size(c->reasons) > 0)
        num_print(buf, size, "A and B cannot be compared:");
    else if (!compare_is_possible(c))
        num_print(buf, size,
                  "A and B cannot be compared: a statement needs at least %d values on each side, "
                  "runs of the same writer (--repeat 5) or several results.",
                  COMPARE_RUNS_MIN);
    else if (strcmp(word, "same") == 0)
        num_print(buf, size, "B is the same as A: no difference beyond %.4g %%.",
                  100 * c->threshold);
    else if (strcmp(word, "unclear") == 0)
        num_print(
            buf, size,
            "No difference is shown, and no sameness either: what differs by more than %.4g %% "
            "may be chance (at %.4g %%). More runs would tell.",
            100 * c->threshold, 100 * c->level);
    else
        num_print(buf, size, "B is %s than A in at least one metric, by more than %.4g %%.", word,
                  100 * c->threshold);
}

/* "12.3 ms", "1.25 GB/s". */
static const char *quantity(const struct compare_metric *m, double x, char buf[TEXT_NUMBER_MAX])
{
    char number[TEXT_NUMBER_MAX];
    const bool rate = strcmp(m->unit, "bytes/s") == 0;
    if (m->a_n == 0) return "-"; /* of all together there are ratios only */
    if (!rate && x < 0.1) return units_duration(x, buf);
    num_print(buf, TEXT_NUMBER_MAX, "%s %s", text_number(rate ? x / 1e6 : x, number),
              rate ? "MB/s" : m->unit);
    return buf;
}

static void list(const json_t *lines, const char *before, FILE *to)
{
    size_t i;
    const json_t *line;
    json_array_foreach(lines, i, line)
    {
        fprintf(to, "%s%s\n", before, json_string_value(line));
    }
}

void compare_text(const struct compare *c, const char *a, const char *b, FILE *to)
{
    char words[320], x[TEXT_NUMBER_MAX], y[TEXT_NUMBER_MAX], p[TEXT_NUMBER_MAX];
    fprintf(to, "A  %s\nB  %s\n\n", a, b);
    if (c->metrics_n > 0)
        fprintf(to, "%-52s %12s %12s %7s  %-15s %8s  %s\n", "metric (median)", "A", "B", "B/A",
                "interval", "p", "B is");
    for (int i = 0; i < c->metrics_n; i++) {
        const struct compare_metric *m = &c->metric[i];
        char interval[64];
        num_print(interval, sizeof interval, "%.3f - %.3f", m->ratio.lo, m->ratio.hi);
        fprintf(to, "%-52s %12s %12s ", m->name, quantity(m, m->a_median, x),
                quantity(m, m->b_median, y));
        num_print(words, sizeof words, "%7.3f", m->ratio.ratio);
        fprintf(to, "%s  %-15s %8s  %s\n", words, interval, text_number(m->p, p),
                verdict_text[m->verdict]);
    }
    sentence(c, words, sizeof words);
    fprintf(to, "%s%s\n", c->metrics_n > 0 ? "\n" : "", words);
    list(c->reasons, "  - ", to);
    list(c->notes, "Note: ", to);
}

static json_t *values_json(const double *x, int n)
{
    json_t *a = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(a, js_real(x[i]));
    return a;
}

static json_t *metric_json(const struct compare_metric *m)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(m->name));
    json_object_set_new(o, "unit", json_string(m->unit));
    json_object_set_new(o, "higher_is_better", json_boolean(m->higher_better));
    json_object_set_new(o, "a", values_json(m->a, m->a_n));
    json_object_set_new(o, "b", values_json(m->b, m->b_n));
    json_object_set_new(o, "a_median", js_real(m->a_median));
    json_object_set_new(o, "b_median", js_real(m->b_median));
    json_object_set_new(o, "ratio", js_real(m->ratio.ratio));
    json_object_set_new(o, "ratio_lo", js_real(m->ratio.lo));
    json_object_set_new(o, "ratio_hi", js_real(m->ratio.hi));
    json_object_set_new(o, "p_mann_whitney", js_real(m->p_rank));
    json_object_set_new(o, "p_welch", js_real(m->p_welch));
    json_object_set_new(o, "p_corrected", js_real(m->p));
    json_object_set_new(o, "test", m->test ? json_string(m->test) : json_null());
    json_object_set_new(o, "worse_by", js_real(m->worse_by));
    json_object_set_new(o, "verdict", json_string(verdict_key[m->verdict]));
    return o;
}

json_t *compare_json(const struct compare *c, const char *a, const char *b)
{
    json_t *o = json_object(), *metrics = json_array();
    for (int i = 0; i < c->metrics_n; i++)
        json_array_append_new(metrics, metric_json(&c->metric[i]));
    json_object_set_new(o, "schema", json_string("nht1-compare/1"));
    json_object_set_new(o, "version", json_string(NHT1_VERSION));
    json_object_set_new(o, "a", js_text(a));
    json_object_set_new(o, "b", js_text(b));
    json_object_set_new(o, "level", js_real(c->level));
    json_object_set_new(o, "threshold", js_real(c->threshold));
    json_object_set_new(o, "comparable", json_boolean(compare_is_possible(c)));
    json_object_set_new(o, "verdict", json_string(overall(c)));
    json_object_set_new(o, "reasons", json_incref(c->reasons));
    json_object_set_new(o, "metrics", metrics);
    json_object_set_new(o, "notes", json_incref(c->notes));
    return o;
}

static struct figure *ratios(const struct compare *c)
{
    /* In the order of colours: better in green, worse in vermillion. */
    static const enum compare_verdict order[] = {COMPARE_SAME, COMPARE_UNCLEAR, COMPARE_BETTER,
                                                 COMPARE_WORSE, COMPARE_FEW};
    struct figure *f = figure_new("ratios", "B against A");
    figure_panel(
        f, &(struct figure_panel){.x = {.label = ""}, .y = {.label = "B / A"}, .across = true});
    for (int i = 0; i < c->metrics_n; i++)
        figure_tick(f, i, c->metric[i].name);
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        figure_series(f, verdict_key[order[k]], FIGURE_POINTS);
        for (int i = 0; i < c->metrics_n; i++) {
            const struct stat_ratio *r = &c->metric[i].ratio;
            if (c->metric[i].verdict == order[k]) figure_interval(f, i, r->ratio, r->lo, r->hi);
        }
    }
    figure_level(f, 1, "equal");
    return f;
}

static struct table *metrics_table(const struct compare *c)
{
    static const char *const header[] = {"metric", "A", "B", "B / A", "from", "to", "p", "B is"};
    char buf[TEXT_NUMBER_MAX];
    struct table *t =
        table_new("comparison", "Medians and their ratio; its interval is that of the "
                                "metric alone, p is corrected for their number");
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
    for (int i = 0; i < c->metrics_n; i++) {
        const struct compare_metric *m = &c->metric[i];
        table_cell(t, "%s", m->name);
        table_value(t, m->a_median, quantity(m, m->a_median, buf));
        table_value(t, m->b_median, quantity(m, m->b_median, buf));
        table_number(t, m->ratio.ratio);
        table_number(t, m->ratio.lo);
        table_number(t, m->ratio.hi);
        table_number(t, m->p);
        table_cell(t, "%s", verdict_key[m->verdict]);
    }
    return t;
}

static void lines(struct page *p, const json_t *from, enum page_mark mark)
{
    size_t i;
    const json_t *line;
    json_array_foreach(from, i, line)
    {
        page_text(p, mark, "%s", json_string_value(line));
    }
}

struct page *compare_page(const struct compare *c, const char *a, const char *b)
{
    char words[320];
    struct page *p = page_new("Comparison of two results");
    const enum page_mark mark = compare_is_worse(c)                 ? PAGE_BAD
                                : strcmp(overall(c), "same") == 0   ? PAGE_GOOD
                                : strcmp(overall(c), "better") == 0 ? PAGE_GOOD
                                                                    : PAGE_CARE;
    sentence(c, words, sizeof words);
    page_section(p, 2, "verdict", "Verdict");
    page_text(p, mark, "%s", words);
    lines(p, c->reasons, PAGE_CARE);
    page_text(p, PAGE_PLAIN, "A: %s. B: %s.", a, b);
    page_section(p, 2, "metrics", "Metrics");
    page_figure(p, ratios(c), "Ratios of medians with their confidence intervals.");
    page_table(p, metrics_table(c));
    lines(p, c->notes, PAGE_PLAIN);
    return p;
}
