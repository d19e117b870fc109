/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections about nht1-beff. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "report/beff.h"

/* Table 1 of [RK01]; MB/s, NaN where nothing is printed. */
static const struct {
    const char *system;
    int processes;
    double b_eff, lmax_mib, ping_pong, at_lmax, rings_per_process;
} published[] = {
    {"Cray T3E/900", 512, 19919, 1, 330, 50018, 193},
    {"Cray T3E/900", 256, 10056, 1, 330, 22738, 190},
    {"Cray T3E/900", 128, 5620, 1, 330, 12664, 195},
    {"Cray T3E/900", 64, 3159, 1, 330, 7044, 192},
    {"Cray T3E/900", 24, 1522, 1, 330, 3407, 205},
    {"Cray T3E/900", 2, 183, 1, 330, 421, 210},
    {"Hitachi SR 8000, round-robin", 128, 3695, 8, 776, 11609, 105},
    {"Hitachi SR 8000, round-robin", 24, 915, 8, 741, 2764, 110},
    {"Hitachi SR 8000, sequential", 24, 1806, 8, 954, 5415, 400},
    {"Hitachi SR 2201", 16, 528, 2, NAN, 1451, 96},
    {"NEC SX-5/8B", 4, 5439, 2, NAN, 35047, 8758},
    {"NEC SX-4/32", 16, 9670, 2, NAN, 50250, 3242},
    {"NEC SX-4/32", 8, 5766, 2, NAN, 28439, 3552},
    {"NEC SX-4/32", 4, 2622, 2, NAN, 14254, 3552},
    {"HP-V 9000", 7, 435, 8, NAN, 1135, 162},
    {"SGI Cray SV1-B/16-8", 15, 1445, 4, 994, 5591, 375},
};

static bool is_beff(const struct doc *d)
{
    return strcmp(d->kind, "nht1-beff") == 0;
}

static void columns(struct table *t)
{
    static const char *const header[] = {"system",
                                         "processes",
                                         "b_eff, MB/s",
                                         "per process",
                                         "L_max, MB",
                                         "ping-pong, MB/s",
                                         "b_eff at L_max, MB/s",
                                         "per process",
                                         "rings at L_max, per process"};
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        table_column(t, header[i]);
}

static void row_here(struct table *t, const json_t *root)
{
    const double n = doc_real(root, "system.ranks");
    const double b_eff = doc_real(root, "result.b_eff_bytes_per_s") / BEFF_MB;
    const double at_lmax = doc_real(root, "result.at_lmax.all_bytes_per_s") / BEFF_MB;
    const double rings = doc_real(root, "result.at_lmax.rings_bytes_per_s") / BEFF_MB;
    table_cell(t, "%s%s%s", doc_text(root, "system.cpu.model"),
               strcmp(doc_text(root, "definition"), "3.6") == 0 ? ", definition 3.6" : "",
               doc_true(root, "result.valid") ? "" : " (not valid)");
    table_cell(t, "%" PRId64, doc_int(root, "system.ranks", 0));
    table_number(t, b_eff);
    table_number(t, b_eff / n);
    table_number(t, doc_real(root, "memory.lmax_bytes") / BEFF_MB);
    table_number(t, doc_real(root, "result.ping_pong_bytes_per_s") / BEFF_MB);
    table_number(t, at_lmax);
    table_number(t, at_lmax / n);
    table_number(t, rings / n);
}

static void row_published(struct table *t, size_t i)
{
    const double n = published[i].processes;
    table_cell(t, "%s [RK01]", published[i].system);
    table_cell(t, "%d", published[i].processes);
    table_number(t, published[i].b_eff);
    table_number(t, published[i].b_eff / n);
    table_number(t, published[i].lmax_mib * 1048576 / BEFF_MB);
    table_number(t, published[i].ping_pong);
    table_number(t, published[i].at_lmax);
    table_number(t, published[i].at_lmax / n);
    table_number(t, published[i].rings_per_process);
}

void beff_table_results(struct report *r)
{
    struct table *t = table_new("beff", "Effective bandwidth, with the systems of [RK01].");
    columns(t);
    for (int i = 0; i < r->docs->n; i++)
        if (is_beff(&r->docs->doc[i])) row_here(t, r->docs->doc[i].root);
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        row_published(t, i);
    page_table(r->page, t);
}

static void say(struct report *r, const json_t *root)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];
    const double b_eff = doc_real(root, "result.b_eff_bytes_per_s");
    const double balance = doc_real(root, "balance.bytes_per_flop");
    page_text(r->page, PAGE_PLAIN,
              "%" PRId64 " processes communicate at %s, %s each; a message of 1 byte takes %s. The "
              "memory of all could be communicated in %.3g s.",
              doc_int(root, "system.ranks", 0), units_rate(b_eff, a),
              units_rate(b_eff / doc_real(root, "system.ranks"), b),
              units_duration(doc_real(root, "result.latency_s"), c),
              doc_real(root, "result.total_memory_s"));
    if (isfinite(balance))
        page_text(r->page, PAGE_PLAIN, "Balance: %.4g bytes per flop (%s).", balance,
                  doc_text(root, "balance.rate"));
}

static void cares(struct report *r, const json_t *root)
{
    static const char *const list[] = {"result.not_valid_because", "notices"};
    for (int k = 0; k < 2; k++) {
        size_t i;
        const json_t *text;
        json_array_foreach(doc_at(root, list[k]), i, text)
        {
            page_text(r->page, PAGE_CARE, "%s%s", k == 0 ? "Not valid as b_eff: " : "",
                      json_is_string(text) ? json_string_value(text) : "");
        }
    }
}

static void section(struct report *r, const json_t *root, int number)
{
    char key[16] = "", id[32], title[96];
    if (number > 1) num_print(key, sizeof key, "-%d", number);
    num_print(id, sizeof id, "beff%s", key);
    num_print(title, sizeof title, "Communication: b_eff of %" PRId64 " processes",
              doc_int(root, "system.ranks", 0));
    page_section(r->page, 2, id, title);
    say(r, root);
    cares(r, root);
    if (number == 1) beff_table_results(r);
    beff_fig_sizes(r, root, key);
    beff_fig_methods(r, root, key);
    beff_fig_patterns(r, root, key);
}

int part_beff(struct report *r)
{
    int number = 0;
    for (int i = 0; i < r->docs->n; i++)
        if (is_beff(&r->docs->doc[i])) section(r, r->docs->doc[i].root, ++number);
    return 0;
}
