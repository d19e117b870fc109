/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How computing, communicating and writing go together: one table out of all kinds of results. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/report.h"

static void row(struct table *t, const char *what, double x, const char *shown, const char *goal)
{
    if (!isfinite(x)) return;
    table_cell(t, "%s", what);
    table_value(t, x, shown);
    table_cell(t, "%s", goal);
}

static void minutes_row(struct table *t, const char *what, double minutes, const char *goal)
{
    char number[TEXT_NUMBER_MAX], shown[TEXT_NUMBER_MAX + 8];
    num_print(shown, sizeof shown, "%s min", text_number(minutes, number));
    row(t, what, minutes, shown, goal);
}

/* zeta, and the time for all memory at the rate that the extra time implies. */
static void of_bt(struct table *t, const struct report *r)
{
    const struct cell *c = report_main_cell(r);
    char buf[TEXT_NUMBER_MAX], what[160], rate[UNITS_TEXT_MAX];
    if (!c) return;
    row(t, "zeta, what writing costs", c->zeta, text_percent(c->zeta, buf), "at most 10 % [F93]");
    if (report_is_undecided(r, c)) return;
    const json_t *root = c->typical->doc->root;
    const double memory = (double)c->nodes * doc_real(root, "system.memory.total_bytes");
    const double implied = metric_implied_rate(c->typical->bytes, c->median_s, c->t_c_s);
    num_print(what, sizeof what, "coffee cup: all memory at %s, nht1-bt's implied rate%s",
              units_rate(implied, rate), c->page_cache ? " (page cache)" : "");
    minutes_row(t, what, metric_coffee_min(memory, implied), "about 10 min [RK01]");
}

static const char *valid(bool is)
{
    return is ? "" : " (not valid as a result)";
}

static void of_beff(struct table *t, const json_t *root)
{
    char buf[TEXT_NUMBER_MAX], what[160], value[UNITS_TEXT_MAX];
    const bool is_valid = doc_true(root, "result.valid");
    const double b_eff = doc_real(root, "result.b_eff_bytes_per_s");
    num_print(what, sizeof what, "b_eff%s", valid(is_valid));
    row(t, what, b_eff, units_rate(b_eff, value), "");
    const double memory_s = doc_real(root, "result.total_memory_s");
    num_print(what, sizeof what, "all memory communicated at b_eff%s", valid(is_valid));
    row(t, what, memory_s, units_duration(memory_s, value), "seconds rather than minutes [RK01]");
    const double balance = doc_real(root, "balance.bytes_per_flop");
    num_print(what, sizeof what, "b_eff / %s, bytes per flop%s", doc_text(root, "balance.rate"),
              valid(is_valid));
    row(t, what, balance, text_number(balance, buf), "larger is better [RK01]");
}

static void of_beffio(struct table *t, const json_t *root)
{
    char what[160], value[UNITS_TEXT_MAX];
    const bool is_valid = doc_true(root, "b_eff_io.valid");
    const double rate = doc_real(root, "b_eff_io.bytes_per_s");
    num_print(what, sizeof what, "b_eff_io%s", valid(is_valid));
    row(t, what, rate, units_rate(rate, value), "");
    const json_t *parts = json_object_get(root, "partitions");
    const json_t *last = json_array_get(parts, json_array_size(parts) - 1);
    num_print(what, sizeof what, "coffee cup: all memory written, by b_eff_io%s", valid(is_valid));
    minutes_row(t, what, doc_real(last, "coffee_cup.write_min"), "about 10 min [RK01]");
    num_print(what, sizeof what, "coffee cup: all memory read, by b_eff_io%s", valid(is_valid));
    minutes_row(t, what, doc_real(last, "coffee_cup.read_min"), "about 10 min [RK01]");
}

int part_balance(struct report *r)
{
    struct table *t = table_new("balance", "How computing, communicating and writing go together");
    table_column(t, "quantity");
    table_column(t, "value");
    table_column(t, "goal");
    of_bt(t, r);
    for (int i = 0; i < r->docs->n; i++) {
        if (strcmp(r->docs->doc[i].kind, "nht1-beff") == 0) of_beff(t, r->docs->doc[i].root);
        if (strcmp(r->docs->doc[i].kind, "nht1-beffio") == 0) of_beffio(t, r->docs->doc[i].root);
    }
    page_section(r->page, 2, "balance", "Balance");
    page_table(r->page, t);
    page_text(r->page, PAGE_PLAIN,
              "The coffee-cup rule: a balanced system writes its whole memory in about 10 minutes. "
              "b_eff and b_eff_io come from results of nht1-beff and nht1-beffio, given along with "
              "those of nht1-bt. [RK01] R. Rabenseifner, A. E. Koniges, The parallel communication "
              "and I/O bandwidth benchmarks: b_eff and b_eff_io, 2001.");
    return 0;
}
