/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/report.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "base/wrap.h"
#include "bt/compute.h"
#include "bt/metrics.h"
#include "bt/ranking.h"
#include "bt/restart.h"
#include "io/writer.h"

#define WIDTH 96
/* From how many times T_C on computing between dumps is suspicious. A writer in the background
 * takes a share of the cores, up to half of them. */
#define SLOW_COMPUTING 2.0

static void line(FILE *to, const char *name, const char *text)
{
    char first[32];
    snprintf(first, sizeof first, "%-9s ", name);
    wrap_print(to, WIDTH, first, 10, text);
}

/* As wide as the longest name, mpiio-indep. */
static void writer_line(FILE *to, const char *name, const char *text)
{
    char first[32];
    snprintf(first, sizeof first, "%-11s ", name);
    wrap_print(to, WIDTH, first, 12, text);
}

void bt_report_writers(FILE *to)
{
    const struct io_writer *d;
    fprintf(to, "Writers, for --io (several as NAME,NAME):\n\n");
    writer_line(to, BT_COMPUTE, "Only compute: the time is T_C.");
    for (int i = 0; (d = io_writer_at(i)) != NULL; i++)
        writer_line(to, d->name, d->help);
    fprintf(to, "\n--io all runs every writer that leaves one file in serial format:");
    for (int i = 0; (d = io_writer_at(i)) != NULL; i++)
        if ((d->caps & IO_CAP_SERIAL_FILE) && !(d->caps & IO_CAP_WRAPPER) && io_writer_usable(d))
            fprintf(to, " %s", d->name);
    fprintf(to, "\n");
}

static void problem_line(const struct bt_job *job, FILE *to)
{
    const struct bt_setup *s = job->setup;
    const struct bt_problem *p = &s->problem;
    char text[512], cls[16] = "", bytes[UNITS_TEXT_MAX];
    const int64_t dumps = bt_problem_dumps(p);
    if (p->cls != 'U') snprintf(cls, sizeof cls, "class %c, ", p->cls);
    int used = snprintf(text, sizeof text, "%sN = %lld, %lld steps of dt = %g", cls,
                        (long long)p->n, (long long)p->steps, p->dt);
    if (s->writers_n > 0)
        snprintf(text + used, sizeof text - (size_t)used,
                 "; a dump every %lld steps: %lld dumps, %s in all", (long long)p->interval,
                 (long long)dumps,
                 units_bytes((double)(dumps * io_dump_bytes(s->layout, p->n)), bytes));
    line(to, "Problem", text);
}

static void system_line(const struct bt_job *job, FILE *to)
{
    const struct bt_machine *m = &job->machine;
    char text[512];
    snprintf(text, sizeof text, "%s%s, %lld cores (%s); %d rank%s x %d thread%s, decomposition %s",
             m->nodes.host, m->nodes.count > 1 ? " and others" : "", (long long)m->nodes.cores,
             m->nodes.cpu, m->nodes.size, units_plural(m->nodes.size), m->threads,
             units_plural(m->threads), job->decomp_name);
    line(to, "System", text);
}

void bt_report_heading(const struct bt_job *job, FILE *to)
{
    const struct bt_setup *s = job->setup;
    char text[4096 + 128];
    fprintf(to, "nht1-bt %s: application I/O benchmark (NAS BT with dumps of the solution)\n",
            NHT1_VERSION);
    problem_line(job, to);
    system_line(job, to);
    if (s->writers_n > 0) {
        snprintf(text, sizeof text, "%s%s, layout %s, --sync %s", s->opt.out,
                 s->all || s->writers_n > 1 ? ".NAME" : "", io_layout_name(s->layout), s->opt.sync);
        line(to, "File", text);
    }
    fflush(to);
}

/* A number of the table, or a dash. */
static const char *cell(char out[16], const char *format, double value)
{
    if (isfinite(value))
        snprintf(out, 16, format, value); // NOLINT(clang-diagnostic-format-nonliteral)
    else
        snprintf(out, 16, "-");
    return out;
}

static const char *verified_word(const struct bt_row *row)
{
    return row->verified ? "yes" : row->wrong ? "WRONG" : "no";
}

static void table_row(FILE *to, const struct bt_row *row)
{
    char t[16], best[16], zeta[16], r_io[16], rate[16], sync[16];
    fprintf(to, "%-14s %10s %10s %8s %11s %11s %8s  %s\n", row->writer, cell(t, "%.3f", row->t_t_s),
            cell(best, "%.3f", row->best_t_t_s), cell(zeta, "%.3f", row->zeta),
            cell(r_io, "%.2f", row->r_io / 1e6),
            cell(rate, "%.1f", row->serial_file ? row->write_rate / 1e6 : NAN),
            cell(sync, "%.3f", row->serial_file ? row->sync_s : NAN), verified_word(row));
}

static void table(FILE *to, const struct bt_row *row, int n)
{
    fprintf(to, "\n%-14s %10s %10s %8s %11s %11s %8s  %s\n", "writer", "T_T", "best T_T", "zeta",
            "R_IO", "writing", "sync", "verified");
    fprintf(to, "%-14s %10s %10s %8s %11s %11s %8s\n", "", "s", "s", "", "MB/s", "MB/s", "s");
    for (int i = 0; i < n; i++)
        table_row(to, &row[i]);
    fputc('\n', to);
}

static void tc_line(const struct bt_job *job, FILE *to)
{
    char words[512], text[640];
    if (job->tc.origin == BT_TC_UNKNOWN) return;
    bt_compute_words(job, words, sizeof words);
    snprintf(text, sizeof text, "%.4g s: %s", job->tc.entry.t_c_s, words);
    line(to, "T_C", text);
}

static bool is_slow(const struct bt_row *row)
{
    return row->slowness > SLOW_COMPUTING;
}

/* Gop/s with and without writing, and what rate the extra time stands for. */
static void rates(const struct bt_job *job, FILE *to, const struct bt_row *row)
{
    const struct bt_values v = bt_values_of(job, &row->first->run);
    char text[512], with[16], without[16], implied[UNITS_TEXT_MAX];
    int used =
        snprintf(text, sizeof text, "The whole run came to %s Gop/s", cell(with, "%.3f", v.gop));
    if (isfinite(v.compute_gop))
        used += snprintf(text + used, sizeof text - (size_t)used, ", computing alone to %s",
                         cell(without, "%.3f", v.compute_gop));
    if (isfinite(v.implied_rate) && !is_slow(row))
        snprintf(text + used, sizeof text - (size_t)used,
                 "; the extra time is that of writing at %s.", units_rate(v.implied_rate, implied));
    else
        snprintf(text + used, sizeof text - (size_t)used, ".");
    wrap_print(to, WIDTH, "", 2, text);
}

/* The row to talk about: the fastest that left a file which anybody can read, else the fastest. A
 * wrong file is no merit. */
static const struct bt_row *headline(const struct bt_row *row, int n, bool *several)
{
    const struct bt_row *first = NULL;
    int files = 0;
    for (int i = 0; i < n; i++) {
        if (!row[i].serial_file || row[i].wrong) continue;
        if (!first) first = &row[i];
        files++;
    }
    *several = files > 1;
    return first ? first : &row[0];
}

/* Whether the time above T_C is that of writing. */
static void verdict_words(const struct bt_row *row, char *words, size_t size)
{
    if (is_slow(row) && row->zeta > BT_BALANCE_GOAL)
        snprintf(words, size,
                 "Undecided: the run took %.1f %% longer than the best compute time, but computing "
                 "between the dumps alone took %.3g times as long as that.",
                 100 * row->zeta, row->slowness);
    else
        bt_metric_words(row->zeta, words, size);
}

/* "Fastest writer, NAME: Balanced ..." */
static void meaning(const struct bt_job *job, FILE *to, const struct bt_row *rows, int n)
{
    char words[512], first[96];
    bool several;
    const struct bt_row *row = headline(rows, n, &several);
    if (!isfinite(row->r_io) || row->wrong) return;
    verdict_words(row, words, sizeof words);
    snprintf(first, sizeof first, "%s%s: ", several ? "Fastest writer, " : "", row->writer);
    wrap_print(to, WIDTH, first, 2,
               row->serial_file
                   ? words
                   : "leaves no serial file, so this is no result of the benchmark: its "
                     "times show what all but that file costs.");
    if (isfinite(row->ci_lo_s))
        fprintf(to,
                "T_T is the median of %d runs; its 95 %% confidence interval is %.3f to %.3f s.\n",
                row->runs, row->ci_lo_s, row->ci_hi_s);
    rates(job, to, row);
    if (bt_values_of(job, &row->first->run).by_dumps)
        wrap_print(
            to, WIDTH, "", 2,
            "R_IO counts the dumps that were written, 40 N^3 D / T_T, since the number of steps "
            "is not a multiple of the interval or the last step was dumped too.");
}

/* What the writers in the background reached. */
static void overlaps(const struct bt_job *job, FILE *to)
{
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        char text[256];
        if (!run->completed || run->round > 1 || !(run->both.max > 0)) continue;
        snprintf(
            text, sizeof text,
            "%s: of %.3f s in which data were on their way, %.3f s (%.0f %%) went on while the "
            "ranks computed for %.3f s.",
            run->writer, run->io.max, run->both.max, 100 * run->both.max / run->io.max,
            run->compute.max);
        wrap_print(to, WIDTH, "Overlap: ", 2, text);
    }
}

static void stamps(const struct bt_job *job, FILE *to, const struct bt_row *row, int n)
{
    const bool given = job->tc.origin == BT_TC_FROM_USER;
    for (int i = 0; i < n; i++)
        if (row[i].official)
            fprintf(to,
                    "Official NHT-1 result: N = 102, 200 steps, a dump every 5, serial file, "
                    "verified (%s%s).\n",
                    row[i].writer, given ? "; zeta from a given T_C" : "");
    if (n > 0 && row[0].t_t_s < BT_SHORT_RUN_S)
        wrap_print(
            to, WIDTH, "Note: ", 2,
            "the run took less than a second: start-up and noise dominate such times; take a "
            "larger class for a statement about the system.");
}

/* Where the data were when the clock stopped: of the row that is talked about, and the stamp of
 * every row that measured memory. */
static void cache(FILE *to, const struct bt_row *rows, int n)
{
    char text[512];
    bool several;
    const struct bt_row *row = headline(rows, n, &several);
    if (row->serial_file) {
        cache_words(&row->first->run.cache, text, sizeof text);
        wrap_print(to, WIDTH, "", 2, text);
    }
    for (int i = 0; i < n; i++) {
        if (!rows[i].page_cache) continue;
        const bool tmpfs = rows[i].first->run.cache.in_memory;
        snprintf(
            text, sizeof text, "page cache: T_T of %s is one of memory, not of a device (%s).",
            rows[i].writer,
            tmpfs ? "the file system is in memory"
                  : "data had not reached the device, and nothing waited for it: --sync end does");
        wrap_print(to, WIDTH, "", 2, text);
    }
}

/* Whether an earlier run of the same writer had the same verdict. */
static bool told(const struct bt_job *job, int run)
{
    const struct bt_outcome *o = &job->outcome[run];
    for (int i = 0; i < run; i++)
        if (strcmp(job->outcome[i].run.writer, o->run.writer) == 0 &&
            strcmp(job->outcome[i].verdict, o->verdict) == 0)
            return true;
    return false;
}

static void verdicts(const struct bt_job *job, FILE *to)
{
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        char first[80];
        if (o->verified || !o->run.completed || told(job, i)) continue;
        snprintf(first, sizeof first, "%s: ", o->run.writer);
        wrap_print(to, WIDTH, first, 2, o->verdict);
    }
}

/* Where the steps between the dumps alone took far longer than the whole run without writing, zeta
 * is not the cost of writing. */
static void slow_computing(FILE *to, const struct bt_row *row, int n)
{
    char text[1024];
    int used = 0;
    for (int i = 0; i < n && used < (int)sizeof text / 2; i++) {
        if (!is_slow(&row[i])) continue;
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.3g times T_C (%s)",
                         used ? ", " : "computing between the dumps took ", row[i].slowness,
                         row[i].writer);
    }
    if (used == 0) return;
    snprintf(text + used, sizeof text - (size_t)used,
             ", so zeta says more about that than about writing. Does the computer do something "
             "else at the same time? Are ranks bound to too few cores?");
    wrap_print(to, WIDTH, "Note: ", 2, text);
}

static void notices(const struct bt_job *job, FILE *to)
{
    for (size_t i = 0; i < json_array_size(job->notices); i++)
        wrap_print(to, WIDTH, "Note: ", 2, json_string_value(json_array_get(job->notices, i)));
}

/* The writer's fastest run that came to its end. */
static const struct bt_run *best_run(const struct bt_job *job, const char *writer)
{
    const struct bt_run *best = NULL;
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (!run->completed || strcmp(run->writer, writer) != 0) continue;
        if (!best || run->t_t_s < best->t_t_s) best = run;
    }
    return best;
}

static void profile_table(const struct bt_job *job, FILE *to, const struct bt_run *run)
{
    const int ranks = job->machine.nodes.size;
    fprintf(to, "\nPhases of %s, round %d: T_T %.4f s on %d rank%s\n", run->writer, run->round,
            run->t_t_s, ranks, units_plural(ranks));
    fprintf(to, "%-14s %10s %10s %10s %10s\n", "phase", "min", "median", "max", "median/T_T");
    fprintf(to, "%-14s %10s %10s %10s %10s\n", "", "s", "s", "s", "%");
    for (int i = 0; i < BT_RUN_PHASES; i++) {
        const struct par_spread *s = &run->phase[i];
        if (s->max > 0)
            fprintf(to, "%-14s %10.4f %10.4f %10.4f %10.1f\n", bt_run_phase_name(i), s->min,
                    s->median, s->max, 100 * s->median / run->t_t_s);
    }
}

/* Where the time of each writer's best run went. Phases that did not occur are left out. */
static void profile(const struct bt_job *job, FILE *to, const struct bt_row *row, int n)
{
    for (int i = 0; i < n; i++) {
        const struct bt_run *run = best_run(job, row[i].writer);
        if (run) profile_table(job, to, run);
    }
    fprintf(to, "\nMaking the solver took %.3f s, before the clock.\n\n", job->setup_s);
}

/* A continued run has no row in the table: what it did, and whether the file is right. */
static void resumed(const struct bt_job *job, FILE *to)
{
    char text[640];
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        if (!o->run.resumed || !o->run.completed) continue;
        bt_restart_words(&o->run, text, sizeof text);
        wrap_print(to, WIDTH, "", 2, text);
        snprintf(text, sizeof text, "%s: ", o->run.writer);
        wrap_print(to, WIDTH, text, 2, o->verdict);
        notices(job, to);
    }
}

void bt_report_results(const struct bt_job *job, FILE *to)
{
    struct bt_row row[BT_RUNS_MAX + 1];
    const int n = bt_ranking(job, row);
    resumed(job, to);
    if (n == 0) return;
    tc_line(job, to);
    table(to, row, n);
    meaning(job, to, row, n);
    overlaps(job, to);
    stamps(job, to, row, n);
    cache(to, row, n);
    verdicts(job, to);
    slow_computing(to, row, n);
    if (job->setup->opt.profile) profile(job, to, row, n);
    notices(job, to);
    fflush(to);
}
