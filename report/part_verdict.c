/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict, before everything else. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/report.h"

const struct group *report_main_group(const struct report *r)
{
    for (int i = 0; i < r->runs.groups_n; i++)
        if (runs_best(&r->runs, &r->runs.group[i], 0) >= 0) return &r->runs.group[i];
    return NULL;
}

const struct cell *report_main_cell(const struct report *r)
{
    const struct group *g = report_main_group(r);
    const int best = g ? runs_best(&r->runs, g, 0) : -1;
    return best < 0 ? NULL : &r->runs.cell[best];
}

/* What a writer that drops the data came to on as many ranks, NULL: none was tried. */
static const struct cell *dropping(const struct report *r, const struct cell *c)
{
    const struct group *g = report_main_group(r);
    for (int i = 0; i < g->cells_n; i++) {
        const struct cell *other = &r->runs.cell[g->cell[i]];
        if (other->drops && other->ranks == c->ranks && other->threads == c->threads &&
            other->nodes == c->nodes)
            return other;
    }
    return NULL;
}

bool report_is_undecided(const struct report *r, const struct cell *c)
{
    const struct cell *floor = dropping(r, c);
    if (!(c->zeta > METRIC_GOAL)) return false;
    return c->oversubscribed || c->slowness > METRIC_SLOW ||
           (floor && c->zeta - floor->zeta <= METRIC_GOAL);
}

/* One sentence and its colour: whether this system is balanced. */
static void balance_words(struct report *r, const struct cell *c)
{
    char words[256];
    metric_words(c->zeta, words, sizeof words);
    if (report_is_undecided(r, c))
        page_text(r->page, PAGE_CARE,
                  "Undecided: the run takes %.1f %% longer than the best time of computing only, "
                  "but not for writing alone; the notes below say why.",
                  100 * c->zeta);
    else
        page_text(r->page,
                  !(c->zeta >= 0)          ? PAGE_CARE /* nothing about the system */
                  : c->zeta <= METRIC_GOAL ? PAGE_GOOD
                                           : PAGE_BAD,
                  "%s", words);
}

static void verdict_words(struct report *r, const struct group *g, const struct cell *c)
{
    char name[CELL_NAME_MAX], problem[GROUP_NAME_MAX], rate[UNITS_TEXT_MAX];
    char alone[80] = " (T_C is not known)";
    struct cell plain = *c; /* ranks and threads stand before its name */
    plain.shaped = false;
    balance_words(r, c);
    if (isfinite(c->t_c_s))
        num_print(alone, sizeof alone, ", the computation alone T_C = %.4g s", c->t_c_s);
    page_text(r->page, PAGE_PLAIN,
              "Problem %s on %" PRId64 " processor%s (%" PRId64 " rank%s x %" PRId64
              " thread%s): the fastest writer, %s, needs T_T = %.4g s%s; R_IO = %s.",
              group_name(g, problem), c->processors, units_plural(c->processors), c->ranks,
              units_plural(c->ranks), c->threads, units_plural(c->threads), cell_name(&plain, name),
              c->median_s, alone, units_rate(c->r_io, rate));
}

static void verdict_rate(struct report *r, const struct cell *c, const struct group *g)
{
    char rate[UNITS_TEXT_MAX], needed[UNITS_TEXT_MAX];
    const double bytes = 40.0 * pow((double)g->n, 3) * (double)g->dumps_n;
    const double implied = metric_implied_rate(bytes, c->median_s, c->t_c_s);
    if (!isfinite(implied) || report_is_undecided(r, c)) return;
    page_text(r->page, PAGE_PLAIN,
              "The extra time is that of writing at %s; a cost of 10 %% would be %s.",
              units_rate(implied, rate), units_rate(bytes / (METRIC_GOAL * c->t_c_s), needed));
}

/* Computing between the dumps that took far longer than the whole run without writing was
 * disturbed. */
static void disturbed(struct report *r, const struct cell *c)
{
    if (c->slowness > METRIC_SLOW)
        page_text(r->page, PAGE_CARE,
                  "Computing between the dumps took %.4g s, %.3g times T_C: the cost says more "
                  "about that than about writing. Did the computer do something else at the same "
                  "time? Were ranks bound to too few cores?",
                  c->slowness * c->t_c_s, c->slowness);
}

static void without_file(struct report *r, const struct cell *c)
{
    const struct cell *floor = dropping(r, c);
    if (!floor || !(floor->zeta > METRIC_SPREAD)) return;
    page_text(r->page, PAGE_CARE,
              "%.1f %% came up even with the data dropped (writer %s): the spread of this system's "
              "times and the handing over of data, not its file system.",
              100 * floor->zeta, floor->writer);
}

static void stamps(struct report *r, const struct cell *c)
{
    if (!c->official)
        page_text(r->page, PAGE_CARE,
                  "Not an official NHT-1 result: that is N = 102, 200 steps, a dump every 5, a "
                  "serial file, verified.");
    if (c->page_cache)
        page_text(r->page, PAGE_CARE,
                  "Page cache: data were not brought to a device within the clock (--sync none, or "
                  "a file system in memory); the time is one of memory.");
    if (c->oversubscribed)
        page_text(r->page, PAGE_CARE,
                  "Oversubscribed: %" PRId64 " processors were asked for on %" PRId64
                  " cores; T_C is that of the cores, and times say more about the scheduler than "
                  "about the system.",
                  c->processors, c->cores);
    if (!c->verified)
        page_text(r->page, PAGE_CARE, "Not verified: nobody has proved what was written.");
    if (c->median_s < 1)
        page_text(r->page, PAGE_CARE,
                  "Runs of less than a second: start-up and noise dominate; take a larger class "
                  "for a statement about the system.");
    if (c->n < 3)
        page_text(r->page, PAGE_CARE, "%d run%s: no statement about chance; use --repeat 5.", c->n,
                  units_plural(c->n));
}

/* The headline of a result that has one. */
static void headline(struct report *r, const struct doc *d, const char *name, const char *at,
                     const char *valid)
{
    char rate[UNITS_TEXT_MAX];
    const double x = doc_real(d->root, at);
    const bool counts = doc_true(d->root, valid);
    if (isfinite(x))
        page_text(r->page, counts ? PAGE_PLAIN : PAGE_CARE, "%s = %s on %" PRId64 " ranks (%s)%s",
                  name, units_rate(x, rate), doc_int(d->root, "system.ranks", 0), d->path,
                  counts ? "." : ": not valid as a result.");
}

static void headlines(struct report *r)
{
    for (int i = 0; i < r->docs->n; i++) {
        const struct doc *d = &r->docs->doc[i];
        if (strcmp(d->kind, "nht1-beff") == 0)
            headline(r, d, "b_eff", "result.b_eff_bytes_per_s", "result.valid");
        if (strcmp(d->kind, "nht1-beffio") == 0)
            headline(r, d, "b_eff_io", "b_eff_io.bytes_per_s", "b_eff_io.valid");
    }
}

static void left_out(struct report *r)
{
    if (r->runs.wrong_n > 0)
        page_text(r->page, PAGE_BAD, "%d run%s left out: what was computed or written was wrong.",
                  r->runs.wrong_n, units_plural(r->runs.wrong_n));
    if (r->runs.unfinished_n > 0)
        page_text(r->page, PAGE_CARE, "%d run%s left out: interrupted, failed or continued.",
                  r->runs.unfinished_n, units_plural(r->runs.unfinished_n));
    if (r->docs->newer_n > 0)
        page_text(r->page, PAGE_CARE,
                  "%d result%s of a newer version of the programs: shown as far as this one "
                  "understands them.",
                  r->docs->newer_n, units_plural(r->docs->newer_n));
}

int part_verdict(struct report *r)
{
    const struct cell *c = report_main_cell(r);
    page_section(r->page, 2, "verdict", "Verdict");
    if (c) {
        verdict_words(r, report_main_group(r), c);
        verdict_rate(r, c, report_main_group(r));
        without_file(r, c);
        disturbed(r, c);
        stamps(r, c);
    } else if (docs_count(r->docs, "nht1-bt") > 0) {
        page_text(
            r->page, PAGE_CARE,
            "No run that leaves a serial file came to its end, so there is nothing to judge.");
    }
    headlines(r);
    left_out(r);
    return 0;
}
