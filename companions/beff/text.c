/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/columns.h"
#include "base/plain.h"
#include "base/stamp.h"
#include "base/units.h"
#include "companions/beff/traffic.h"

enum { CELL = UNITS_CELL_MAX, WIDTH = 100 };

static const char *mb(char out[CELL], double bytes_per_s)
{
    return units_cell(out, "%.1f", bytes_per_s / 1e6);
}

static const char *us(char out[CELL], double s)
{
    return units_cell(out, "%.3f", s * 1e6);
}

void beff_text_system(const struct beff_job *job, FILE *to)
{
    const struct nodes *n = &job->nodes;
    const struct beff_memory *m = &job->memory;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    fprintf(to, "Definition %s\n",
            job->setup->definition == BEFF_36 ? "3.6 (release 3.6 of the authors' program)"
                                              : "paper (Rabenseifner and Koniges)");
    plain_line(to, "System     %d processes on %lld cores of %lld node%s (%s), placement: %s",
               n->size, (long long)n->cores, (long long)n->count, units_plural(n->count), n->cpu,
               job->placement);
    fprintf(to, "Memory     %s per process (%s); L_max %s\n",
            units_bytes_iec((double)m->process_bytes, a), m->source,
            units_bytes_iec((double)m->lmax_bytes, b));
}

void beff_text_heading(const struct beff_job *job, FILE *to)
{
    const struct beff_plan *p = &job->plan;
    char methods[128] = "";
    for (int m = 0; m < BEFF_METHODS_N; m++)
        if (job->setup->method[m]) {
            const size_t used = strlen(methods);
            snprintf(methods + used, sizeof methods - used, "%s%s", used ? ", " : "",
                     beff_method_name(m));
        }
    fprintf(to, "nht1-beff %s: effective communication bandwidth\n", nht1_build);
    beff_text_system(job, to);
    fprintf(to, "Patterns   %d rings, %d random (seed %lld), %d for information only; by %s\n",
            BEFF_RINGS_N, p->random_n, (long long)job->setup->opt.seed,
            p->patterns_n - BEFF_RINGS_N - p->random_n, methods);
    fprintf(to, "Sizes      %d from 1 B to L_max; %d repetition%s, the best counts\n", BEFF_SIZES_N,
            job->setup->reps_n, units_plural(job->setup->reps_n));
    fflush(to);
}

/* The value, and table 1 of the paper. */
static void values(const struct beff_job *job, FILE *to)
{
    const struct beff_summary *s = &job->summary;
    const struct {
        const char *name;
        double bytes_per_s;
        int n;
    } row[] = {{"b_eff", s->all.both, s->n},
               {"  rings only", s->all.rings, s->n},
               {"  random patterns only", s->all.random, s->n},
               {"at L_max, rings and random", s->at_lmax.both, s->n},
               {"at L_max, rings only", s->at_lmax.rings, s->n},
               {"ping-pong at L_max", s->ping_pong_bytes_per_s, 1}};
    char a[CELL], b[CELL], c[CELL];
    fprintf(to, "\nb_eff = %s MB/s = %s MB/s per process x %d%s\n", mb(a, s->all.both),
            mb(b, s->all.both / s->n), s->n,
            !beff_job_valid(job)                       ? "   (not valid as b_eff)"
            : stamp_find(job->stamps, STAMP_DISTURBED) ? "   (valid by definition, but disturbed)"
                                                       : "");
    fprintf(
        to,
        "      = %.1f %% of what L_max alone reaches: the mean height of the curve of bandwidth "
        "over size\n",
        100 * s->area_ratio);
    struct columns t;
    columns_begin(&t, "-34 14 14");
    columns_row(&t, "MB/s", "whole system", "per process", NULL);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        columns_row(&t, row[i].name, mb(a, row[i].bytes_per_s),
                    mb(b, row[i].bytes_per_s / row[i].n), NULL);
    fputc('\n', to);
    columns_print(&t, to);
    fprintf(to, "\nLatency, us: rings and random %s, rings %s, ping-pong %s\n", us(a, s->latency_s),
            us(b, s->rings_latency_s), us(c, s->ping_pong_s));
}

/* The next cells: the mean over all patterns, over rings, over random ones. */
static void mean_row(struct columns *t, const struct beff_mean *mean)
{
    char a[CELL], b[CELL], c[CELL];
    columns_row(t, mb(a, mean->both), mb(b, mean->rings), mb(c, mean->random), NULL);
}

static void by_method(const struct beff_job *job, FILE *to)
{
    const struct beff_summary *s = &job->summary;
    struct columns t;
    columns_begin(&t, "-34 14 14 14");
    columns_row(&t, "MB/s by method", "all", "rings", "random", NULL);
    for (int m = 0; m < BEFF_METHODS_N; m++) {
        if (!job->setup->method[m]) continue;
        columns_cell(&t, "%s", beff_method_name(m));
        mean_row(&t, &s->method[m]);
    }
    columns_cell(&t, "the best for each pattern");
    mean_row(&t, &s->method_last);
    columns_cell(&t, "the best for each pattern and size");
    mean_row(&t, &s->all);
    fputc('\n', to);
    columns_print(&t, to);
}

void beff_text_notes(const struct beff_job *job, FILE *to)
{
    size_t i;
    json_t *stamp;
    json_array_foreach(job->stamps, i, stamp)
    {
        if (stamp_is(stamp, STAMP_VALID) || stamp_is(stamp, STAMP_QUICK)) continue;
        plain_wrap(to, WIDTH, stamp_is(stamp, STAMP_NOT_VALID) ? "Not valid  " : "Note       ", 11,
                   stamp_text(stamp, "sentence"));
    }
}

/* What is not in b_eff. */
static void insight(const struct beff_job *job, FILE *to)
{
    const struct beff_insight *in = &job->insight;
    char a[CELL], b[CELL];
    struct columns t;
    if (!in->done) return;
    columns_begin(&t, "-34 14 14");
    columns_row(&t, "Not in b_eff, MB/s", "at L_max", "at 4 KiB", NULL);
    for (int w = 0; w < BEFF_WAYS_N; w++)
        columns_row(&t, beff_way_name(w), mb(a, in->bytes_per_s[w][BEFF_SIZES_N - 1]),
                    mb(b, in->bytes_per_s[w][BEFF_FIXED_N - 1]), NULL);
    fputc('\n', to);
    columns_print(&t, to);
    if (in->no_put[0]) fprintf(to, "%s was left out: %s\n", beff_way_name(BEFF_PUT), in->no_put);
    fprintf(to, "Message rate, 10^6/s, %d outstanding:", BEFF_WINDOW);
    for (int i = 0; i < BEFF_RATE_SIZES_N; i++)
        fprintf(to, "%s %s at %lld B", i ? "," : "",
                units_cell(a, "%.3f", in->messages_per_s[i] / 1e6), (long long)in->rate_bytes[i]);
    fputc('\n', to);
    columns_row(&t, "As HPCC prints it, of a process", "natural ring", "random rings", NULL);
    columns_row(&t, "latency at 8 B, us", us(a, in->natural_latency_s), us(b, in->random_latency_s),
                NULL);
    columns_row(&t, "bandwidth at 2 000 000 B, GB/s",
                units_cell(a, "%.3f", in->natural_bytes_per_s / 1e9),
                units_cell(b, "%.3f", in->random_bytes_per_s / 1e9), NULL);
    columns_print(&t, to);
}

void beff_text_result(const struct beff_job *job, FILE *to)
{
    const struct beff_summary *s = &job->summary;
    const struct beff_rate *r = &job->rate;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    values(job, to);
    by_method(job, to);
    insight(job, to);
    fprintf(to,
            "\nMemory     sending all %s once takes %s (%.2f s in the paper's units, 2^20 bytes "
            "over 10^6)\n",
            units_bytes_iec((double)job->memory.total_bytes, a), units_duration(s->memory_s, b),
            s->memory_mixed_s);
    if (r->flop_per_s > 0)
        fprintf(to, "Balance    %.4f bytes per flop: b_eff / %.3f Gflop/s (%s: %s)\n",
                s->all.both / r->flop_per_s, r->flop_per_s / 1e9, r->label, r->source);
    else
        fprintf(to, "Balance    needs a floating-point rate: --rmax, --hpl or --bt-result\n");
    if (r->flop_per_s > 0 && r->cores_n > 0 && r->cores_n != job->nodes.size)
        fprintf(
            to,
            "           the rate is that of %lld core%s, b_eff that of %d process%s: take both of "
            "the same processors\n",
            (long long)r->cores_n, units_plural(r->cores_n), job->nodes.size,
            job->nodes.size == 1 ? "" : "es");
    const int *const at = job->measured.offset_bytes;
    fprintf(to, "Buffers    %d", at[0]);
    if (at[1] != at[0]) fprintf(to, " to %d", at[1]);
    fprintf(to, " bytes off a page%s\n",
            job->setup->buffer_offset == BUFFER_MALLOC ? ", where malloc puts them" : "");
    fprintf(to, "Time       %s\n", units_duration(job->measured.elapsed_s, a));
    beff_text_notes(job, to);
}

static void by_size(const struct beff_job *job, FILE *to)
{
    const struct beff_summary *s = &job->summary;
    char a[CELL];
    struct columns t;
    columns_begin(&t, "10 12 12 12 12 12 12");
    columns_row(&t, "bytes", "all MB/s", "rings", "random", beff_method_name(0),
                beff_method_name(1), beff_method_name(2), NULL);
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        columns_cell(&t, "%lld", (long long)job->measured.size_bytes[i]);
        columns_cell(&t, "%s", mb(a, s->size[i].both));
        columns_cell(&t, "%s", mb(a, s->size[i].rings));
        columns_cell(&t, "%s", mb(a, s->size[i].random));
        for (int m = 0; m < BEFF_METHODS_N; m++)
            columns_cell(&t, "%s", mb(a, job->setup->method[m] ? s->size_method[i][m].both : NAN));
    }
    fputc('\n', to);
    columns_print(&t, to);
}

static void by_repetition(const struct beff_job *job, FILE *to)
{
    struct columns t;
    columns_begin(&t, "10 12 12 12");
    columns_row(&t, "repetition", "all MB/s", "rings", "random", NULL);
    for (int r = 0; r < job->setup->reps_n; r++) {
        columns_cell(&t, "%d", r + 1);
        mean_row(&t, &job->summary.rep[r]);
    }
    fputc('\n', to);
    columns_print(&t, to);
}

static void by_pattern(const struct beff_job *job, FILE *to)
{
    const struct beff_cube *cube = &job->measured.cube;
    char a[CELL], b[CELL], c[CELL];
    struct columns t;
    columns_begin(&t, "-20 9 9 12 14 12");
    columns_row(&t, "pattern", "processes", "messages", "mean MB/s", "at L_max MB/s", "at 1 B, us",
                NULL);
    for (int p = 0; p < cube->patterns_n; p++) {
        const struct beff_pattern *pattern = &job->plan.pattern[p];
        const double first = beff_value(cube, p, (struct beff_pick){BEFF_ALL, BEFF_ALL, 0});
        /* Messages that are on their way at a time: in pairs that answer each other, half of an
         * iteration's. */
        const double at_a_time = pattern->kind != BEFF_ANALYSIS
                                     ? pattern->processes_n
                                     : (double)pattern->messages_n / pattern->slots_max;
        const double last =
            beff_value(cube, p, (struct beff_pick){BEFF_ALL, BEFF_ALL, BEFF_SIZES_N - 1});
        columns_cell(&t, "%s", pattern->name);
        columns_cell(&t, "%d", pattern->processes_n);
        columns_cell(&t, "%lld", (long long)pattern->messages_n);
        columns_row(&t, mb(a, beff_value(cube, p, BEFF_EVERYTHING)), mb(b, last),
                    us(c, at_a_time / first), NULL);
    }
    fputc('\n', to);
    columns_print(&t, to);
}

void beff_text_details(const struct beff_job *job, FILE *to)
{
    by_size(job, to);
    by_repetition(job, to);
    by_pattern(job, to);
}
