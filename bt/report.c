/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/report.h"

#include <math.h>
#include <string.h>

#include "base/columns.h"
#include "base/plain.h"
#include "base/stamp.h"
#include "base/units.h"
#include "bt/compute.h"
#include "bt/judge_read.h"
#include "io/writers/writer.h"

#define WIDTH 96
#define CELL  UNITS_CELL_MAX

static void writer_entry(FILE *to, const char *name, const char *text)
{
    char first[32];
    const int indent = snprintf(first, sizeof first, "%-13s ", name); /* pnetcdf-indep */
    plain_wrap(to, WIDTH, first, indent, text);
}

void bt_report_writers(FILE *to)
{
    const struct io_writer *d;
    char why[IO_WRITER_WHY], text[1024];
    fprintf(to, "Writers, for --io (several as NAME,NAME):\n\n");
    writer_entry(to, BT_COMPUTE, "Only compute: the time is T_C.");
    for (int i = 0; (d = io_writer_at(i)) != NULL; i++) {
        const bool lacks = io_writer_lacks(d, why)[0] != '\0';
        snprintf(text, sizeof text, "%s%s%s%s", d->help, lacks ? " (not here: " : "", why,
                 lacks ? ")" : "");
        writer_entry(to, d->name, text);
    }
    fprintf(to, "\n--io all runs every writer that leaves one file in serial format:");
    for (int i = 0; (d = io_writer_at(i)) != NULL; i++)
        if ((d->caps & IO_CAP_SERIAL_FILE) && !(d->caps & IO_CAP_WRAPPER) && io_writer_usable(d))
            fprintf(to, " %s", d->name);
    fprintf(to, "\n--io auto finds the fastest of these and its settings (docs/tuning.md).\n");
}

void bt_report_heading(const struct bt_job *job, FILE *to)
{
    const struct bt_setup *s = job->setup;
    const struct bt_problem *p = &s->problem;
    const struct bt_machine *m = &job->machine;
    char cls[16] = "", dumps[160] = "", bytes[UNITS_TEXT_MAX];
    const int64_t dumps_n = bt_problem_dumps(p);
    fprintf(to, "nht1-bt %s: application I/O benchmark (NAS BT with dumps of the solution)\n",
            nht1_build);
    if (p->cls != 'U') snprintf(cls, sizeof cls, "class %c, ", p->cls);
    if (s->writers_n > 0)
        snprintf(dumps, sizeof dumps, "; a dump every %lld steps: %lld dumps, %s in all",
                 (long long)p->interval, (long long)dumps_n,
                 units_bytes((double)(dumps_n * io_dump_bytes(s->layout, p->n)), bytes));
    plain_entry(to, "Problem", "%sN = %lld, %lld steps of dt = %g%s", cls, (long long)p->n,
                (long long)p->steps, p->dt, dumps);
    plain_entry(to, "System", "%s%s, %lld cores (%s); %d rank%s x %d thread%s, decomposition %s",
                m->nodes.host, m->nodes.count > 1 ? " and others" : "", (long long)m->nodes.cores,
                m->nodes.cpu, m->nodes.size, units_plural(m->nodes.size), m->threads,
                units_plural(m->threads), job->decomp_name);
    if (s->writers_n > 0)
        plain_entry(to, "File", "%s%s, layout %s, --sync %s", s->opt.out,
                    s->search                    ? "." BT_SEARCH_NAME
                    : s->all || s->writers_n > 1 ? ".NAME"
                                                 : "",
                    io_layout_name(s->layout), s->opt.sync);
    fflush(to);
}

static void table(const struct bt_judged *j, FILE *to)
{
    const struct bt_row *row = j->row;
    char t[CELL], best[CELL], zeta[CELL], r_io[CELL], rate[CELL], sync[CELL];
    struct columns table;
    columns_begin(&table, "-14 10 10 8 11 11 8  -0");
    columns_row(&table, "writer", "T_T", "best T_T", "zeta", "R_IO", "writing", "sync", "verified",
                NULL);
    columns_row(&table, "", "s", "s", "", "MB/s", "MB/s", "s", NULL);
    for (int i = 0; i < j->rows_n; i++) {
        const struct bt_values *v = &row[i].median;
        const bool file = row[i].first->serial_file;
        columns_row(&table, row[i].writer, units_cell(t, "%.3f", v->t_t_s),
                    units_cell(best, "%.3f", row[i].best.t_t_s), units_cell(zeta, "%.3f", v->zeta),
                    units_cell(r_io, "%.2f", v->r_io / 1e6),
                    units_cell(rate, "%.1f", file ? v->write_rate / 1e6 : NAN),
                    units_cell(sync, "%.3f", file ? v->sync_s : NAN),
                    row[i].verified ? "yes"
                    : row[i].wrong  ? "WRONG"
                                    : "no",
                    NULL);
    }
    fputc('\n', to);
    columns_print(&table, to);
    fputc('\n', to);
}

/* The row of the table for a decomposition: the readings of it that are cold and warm. */
static void read_row(const struct bt_read_row *row, int n, struct columns *to)
{
    const struct bt_read_row none = {.median = {.t_r_s = NAN, .rate = NAN, .cached_share = NAN}};
    const struct bt_read_row *cold = &none, *warm = &none;
    bool right = true;
    char c[6][CELL];
    if (to->cells_n == 0) {
        columns_row(to, "read back", "decomp", "cold T_R", "rate", "cached", "warm T_R", "rate",
                    "cached", "right", NULL);
        columns_row(to, "", "", "s", "MB/s", "%", "s", "MB/s", "%", NULL);
    }
    for (int i = 0; i < n; i++) {
        if (row[i].first->ranks != row->first->ranks ||
            strcmp(row[i].first->decomp, row->first->decomp) != 0)
            continue;
        *(row[i].first->warm ? &warm : &cold) = &row[i];
        right = right && row[i].right;
    }
    columns_row(to, row->writer, row->first->decomp, units_cell(c[0], "%.4f", cold->median.t_r_s),
                units_cell(c[1], "%.1f", cold->median.rate / 1e6),
                units_cell(c[2], "%.0f", 100 * cold->median.cached_share),
                units_cell(c[3], "%.4f", warm->median.t_r_s),
                units_cell(c[4], "%.1f", warm->median.rate / 1e6),
                units_cell(c[5], "%.0f", 100 * warm->median.cached_share), right ? "yes" : "WRONG",
                NULL);
}

/* "0.031 to 0.040", "-" for none. */
static const char *interval_words(const struct balance_estimate *e, char out[2 * CELL + 8])
{
    char lo[CELL], hi[CELL];
    if (!isfinite(e->lo)) return "-";
    snprintf(out, 2 * CELL + 8, "%s to %s", units_cell(lo, "%.3f", e->lo),
             units_cell(hi, "%.3f", e->hi));
    return out;
}

/* What reading back costs as a share of computing, and the answer. */
static void read_answers(const struct bt_read_row *row, int n, struct columns *to)
{
    char c[4][CELL], interval[2 * CELL + 8];
    for (int i = 0; i < n; i++) {
        if (!row[i].answer) continue;
        if (to->cells_n == 0)
            columns_row(to, "read back", "decomp", "cache", "zeta", "data", "bookkeeping",
                        "95 % interval", "rounds", "answer", NULL);
        columns_row(to, row[i].writer, row[i].first->decomp, row[i].first->warm ? "warm" : "cold",
                    units_cell(c[0], "%.3f", row[i].median.zeta),
                    units_cell(c[1], "%.3f", row[i].median.zeta_data),
                    units_cell(c[2], "%.3f", row[i].median.zeta_bookkeeping),
                    interval_words(&row[i].zeta, interval), units_cell(c[3], "%.0f", row[i].runs),
                    row[i].answer, NULL);
    }
}

/* Of all readings each stamp once; the answer of each that was asked for cold. told: [in,out] */
static void read_stamps(const struct bt_read_row *row, json_t *told, FILE *to)
{
    char name[160 + 4];
    size_t s;
    json_t *one;
    json_array_foreach(row->stamps, s, one)
    {
        const char *code = stamp_text(one, "code");
        const bool answer = row->answer && strcmp(code, row->answer) == 0;
        if (answer ? row->first->warm : json_object_get(told, code) != NULL) continue;
        bt_judge_read_name(row, name);
        strcat(name, ": ");
        if (!answer) json_object_set_new(told, code, json_true());
        plain_wrap(to, WIDTH, answer ? name : "Reading: ", 2, stamp_text(one, "sentence"));
    }
}

/* --read: T_R of each writer and decomposition, cold and warm, and what follows from it. Continued runs have
 * no row, but their readings are shown. */
static void reading(const struct bt_judged *j, FILE *to)
{
    const struct bt_job *job = j->job;
    if (job->setup->read == BT_READ_NOTHING) return;
    json_t *told = json_object();
    struct columns table, answers;
    struct bt_read_row other[BT_READ_ROWS_MAX];
    columns_begin(&table, "-14 -9 9 9 6 9 9 6  -0");
    columns_begin(&answers, "-14 -9 -5 7 = 6 + 11 17 6  -0");
    for (int i = 0; i < (j->rows_n > 0 ? j->rows_n : job->outcomes_n); i++) {
        const bool ranked = j->rows_n > 0;
        const struct bt_read_row *row = ranked ? j->row[i].read : other;
        const int n =
            ranked ? j->row[i].reads_n : bt_read_rows(job, job->outcome[i].run.writer, other);
        for (int k = 0; k < n; k++) {
            bool before = false;
            for (int p = 0; p < k; p++)
                before = before || strcmp(row[p].first->decomp, row[k].first->decomp) == 0;
            if (!before) read_row(&row[k], n - k, &table);
        }
        read_answers(row, n, &answers);
    }
    for (int i = 0; i < 2; i++) {
        struct columns *of = i == 0 ? &table : &answers;
        if (of->cells_n == 0) continue;
        columns_print(of, to);
        fputc('\n', to);
    }
    for (int i = 0; i < j->rows_n; i++)
        for (int k = 0; k < j->row[i].reads_n; k++)
            read_stamps(&j->row[i].read[k], told, to);
    for (int i = 0; j->rows_n == 0 && i < job->outcomes_n; i++) {
        const int n = bt_read_rows(job, job->outcome[i].run.writer, other);
        for (int k = 0; k < n; k++) {
            bt_judge_readings(job, &other[k]);
            read_stamps(&other[k], told, to);
            json_decref(other[k].stamps);
        }
    }
    json_decref(told);
}

/* The terms of the paired zeta, and the answer; zeta itself where no round has a compute-only run. */
static void zeta_table(const struct bt_judged *j, FILE *to)
{
    const struct bt_row *row = j->row;
    char c[6][CELL];
    if (j->job->tc.origin == BT_TC_UNKNOWN || !isfinite(row[0].median.zeta)) return;
    struct columns table;
    columns_begin(&table, "-14 7 = 6 + 11 + 8 17 6  -0");
    columns_row(&table, "writer", "paired", "data", "bookkeeping", "slowdown", "95 % interval",
                "rounds", "answer", NULL);
    for (int i = 0; i < j->rows_n; i++) {
        const struct bt_values *v = &row[i].median;
        const char *other = stamp_find(row[i].stamps, STAMP_WRITER_NULL)      ? "writer-null"
                            : stamp_find(row[i].stamps, STAMP_NO_SERIAL_FILE) ? "no-serial-file"
                                                                              : "-";
        const double sum = row[i].pairs > 0 ? v->zeta_paired : v->zeta;
        char interval[2 * CELL + 8];
        if (!isfinite(v->zeta)) continue;
        columns_row(&table, row[i].writer, units_cell(c[2], "%.3f", sum),
                    units_cell(c[3], "%.3f", v->zeta_data),
                    units_cell(c[4], "%.3f", v->zeta_bookkeeping),
                    units_cell(c[5], "%.3f", v->zeta_slowdown),
                    interval_words(&row[i].paired, interval), units_cell(c[0], "%.0f", row[i].runs),
                    row[i].wrong    ? "WRONG"
                    : row[i].answer ? row[i].answer
                                    : other,
                    NULL);
    }
    columns_print(&table, to);
    fputc('\n', to);
}

/* What the writers in the background reached, over all their runs. */
static void overlaps(const struct bt_judged *j, FILE *to)
{
    for (int i = 0; i < j->rows_n; i++) {
        const struct bt_row *row = &j->row[i];
        const struct bt_values *v = &row->median;
        char text[256], of[48] = "";
        if (!(v->both_s > 0)) continue;
        if (row->runs > 1) snprintf(of, sizeof of, " (medians of %d runs)", row->runs);
        snprintf(text, sizeof text,
                 "%s: of %.3f s of I/O time, %.3f s (%.0f %%) overlapped with computing: the "
                 "ranks computed for %.3f s%s.",
                 row->writer, v->io_s, v->both_s, 100 * v->both_share, v->compute_s, of);
        plain_wrap(to, WIDTH, "Overlap: ", 2, text);
    }
}

/* "NAME: sentence" for all stamps of the headline's writer, and for the warnings of others. */
static void row_stamps(FILE *to, const struct bt_row *row, bool all)
{
    size_t i;
    const json_t *s;
    json_array_foreach(row->stamps, i, s)
    {
        const char *severity = stamp_text(s, "severity");
        const bool warns = strcmp(severity, "warn") == 0 || strcmp(severity, "bad") == 0;
        char first[80];
        if (!all && (!warns || stamp_is(s, STAMP_IO_TOO_SLOW)) && !stamp_is(s, STAMP_OFFICIAL))
            continue;
        snprintf(first, sizeof first, "%s: ", row->writer);
        plain_wrap(to, WIDTH, first, 2, stamp_text(s, "sentence"));
    }
}

/* The headline's writer: stamps, spread, results, and where the data were. */
static void print_row_details(FILE *to, const struct bt_row *row)
{
    const struct bt_values *v = &row->median;
    char text[512], with[CELL], without[CELL];
    row_stamps(to, row, true);
    if (strcmp(row->writer, BT_COMPUTE) == 0 || row->wrong) return;
    if (isfinite(row->t_t.lo))
        fprintf(to,
                "T_T is the median of %d runs; its 95 %% confidence interval is %.3f to %.3f s.\n",
                row->runs, row->t_t.lo, row->t_t.hi);
    int used = snprintf(text, sizeof text, "The whole run came to %s Gop/s",
                        units_cell(with, "%.3f", v->gop));
    if (isfinite(v->compute_gop))
        used += snprintf(text + used, sizeof text - (size_t)used, ", computing alone to %s",
                         units_cell(without, "%.3f", v->compute_gop));
    snprintf(text + used, sizeof text - (size_t)used, ".");
    plain_wrap(to, WIDTH, "", 2, text);
    if (v->by_dumps && isfinite(v->r_io))
        plain_wrap(to, WIDTH, "", 2,
                   "R_IO counts the dumps that were written, 40 N^3 D / T_T, since the number of "
                   "steps is not a multiple of the interval or the last step was dumped too.");
    if (!row->first->serial_file) return;
    cache_words(&row->first->run.cache, text, sizeof text);
    plain_wrap(to, WIDTH, "", 2, text);
}

static void notices(const struct bt_job *job, FILE *to)
{
    for (size_t i = 0; i < json_array_size(job->notices); i++)
        plain_wrap(to, WIDTH, "Note: ", 2, json_string_value(json_array_get(job->notices, i)));
}

/* Where the time of each writer's best run went. Phases that did not occur are left out. */
static void profile(const struct bt_judged *judged, FILE *to)
{
    const struct bt_job *job = judged->job;
    const int ranks = job->machine.nodes.size;
    for (int i = 0; i < judged->rows_n; i++) {
        const struct bt_run *run = NULL;
        for (int j = 0; j < job->outcomes_n; j++) {
            const struct bt_run *r = &job->outcome[j].run;
            if (!r->completed || strcmp(r->writer, judged->row[i].writer) != 0) continue;
            if (!run || r->t_t_s < run->t_t_s) run = r;
        }
        if (!run) continue;
        fprintf(to, "\nPhases of %s, round %d: T_T %.4f s on %d rank%s\n", run->writer, run->round,
                run->t_t_s, ranks, units_plural(ranks));
        struct columns table;
        char c[4][CELL];
        columns_begin(&table, "-14 10 10 10 10");
        columns_row(&table, "phase", "min", "median", "max", "median/T_T", NULL);
        columns_row(&table, "", "s", "s", "s", "%", NULL);
        for (int p = 0; p < BT_RUN_PHASES; p++) {
            const struct par_spread *s = &run->phase[p];
            if (s->max > 0)
                columns_row(&table, bt_run_phase_name(p), units_cell(c[0], "%.4f", s->min),
                            units_cell(c[1], "%.4f", s->median), units_cell(c[2], "%.4f", s->max),
                            units_cell(c[3], "%.1f", 100 * s->median / run->t_t_s), NULL);
        }
        columns_print(&table, to);
    }
    fprintf(to, "\nSetting up the solver took %.3f s, before the clock started.\n\n", job->setup_s);
}

/* A continued run has no row in the table: prints what it did and whether the file is right. */
static void resumed(const struct bt_job *job, FILE *to)
{
    char text[640], damaged[96] = "";
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        const struct bt_run *run = &o->run;
        const int64_t lost = run->claimed_n - run->kept_n;
        if (!run->resumed || !run->completed) continue;
        if (lost > 0)
            snprintf(damaged, sizeof damaged, "; %lld more were damaged and are made again",
                     (long long)lost);
        snprintf(
            text, sizeof text,
            "Resumed after step %lld, not a result: %lld of the file's %lld dumps were taken "
            "over, their content right%s. A time for a part of the run says nothing about T_T.",
            (long long)run->first_step, (long long)run->kept_n, (long long)run->dumps_n, damaged);
        plain_wrap(to, WIDTH, "", 2, text);
        snprintf(text, sizeof text, "%s: ", run->writer);
        plain_wrap(to, WIDTH, text, 2, o->verdict);
        notices(job, to);
    }
}

void bt_report_notes(const struct bt_judged *j, FILE *to)
{
    size_t i;
    const json_t *s;
    json_array_foreach(j->stamps, i, s)
        plain_wrap(to, WIDTH, "Note: ", 2, stamp_text(s, "sentence"));
    notices(j->job, to);
    fflush(to);
}

void bt_report_results(const struct bt_judged *j, FILE *to)
{
    const struct bt_job *job = j->job;
    char words[512];
    resumed(job, to);
    if (j->rows_n == 0) {
        if (job->outcomes_n > 0) reading(j, to);
        return;
    }
    if (job->tc.origin != BT_TC_UNKNOWN) {
        bt_compute_origin(job, words, sizeof words);
        plain_entry(to, "T_C", "%.4g s: %s", job->tc.entry.t_c_s, words);
    }
    table(j, to);
    zeta_table(j, to);
    reading(j, to);
    const struct bt_row *first = bt_headline(j->row, j->rows_n);
    print_row_details(to, first);
    for (int r = 0; r < j->rows_n; r++)
        if (&j->row[r] != first) row_stamps(to, &j->row[r], false);
    overlaps(j, to);
    if (job->setup->opt.profile) profile(j, to);
    bt_report_notes(j, to);
}
