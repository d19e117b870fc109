/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "bt/metrics.h"

#define CI_RUNS_MIN 3 /* fewer runs say nothing about their spread */

static bool writes(const struct bt_run *run)
{
    return strcmp(run->writer, BT_COMPUTE) != 0;
}

/* A run that went on with another's file has no T_T. */
static bool counts(const struct bt_run *run)
{
    return run->completed && !run->resumed;
}

static double known_t_c(const struct bt_job *job)
{
    return job->tc.origin == BT_TC_UNKNOWN ? NAN : job->tc.entry.t_c_s;
}

struct bt_values bt_values_of(const struct bt_job *job, const struct bt_run *run)
{
    const struct bt_problem *p = &job->setup->problem;
    const double t_c = known_t_c(job), flop = bt_problem_flop(p);
    const int64_t dumps = bt_problem_dumps(p);
    struct bt_values v = {.r_io = NAN,
                          .zeta = NAN,
                          .write_rate = NAN,
                          .implied_rate = NAN,
                          .gop = flop / run->t_t_s / 1e9,
                          .compute_gop = flop / t_c / 1e9,
                          .by_dumps = dumps * p->interval != p->steps};
    if (!writes(run)) return v;
    v.r_io = v.by_dumps ? bt_metric_r_io_dumps(p->n, dumps, run->t_t_s)
                        : bt_metric_r_io(p->n, p->steps, p->interval, run->t_t_s);
    v.zeta = bt_metric_zeta(run->t_t_s, t_c);
    v.implied_rate = bt_metric_implied_rate((double)run->bytes, run->t_t_s, t_c);
    if (run->writing_s > 0) v.write_rate = (double)run->bytes / run->writing_s;
    return v;
}

bool bt_is_official(const struct bt_job *job, const struct bt_outcome *o)
{
    return bt_metric_is_official_case(&job->setup->problem) && o->serial_file && o->verified &&
           !o->run.resumed;
}

enum quantity { T_T, ZETA, R_IO, WRITE_RATE, SYNC, SLOWNESS };

/* The steps without the dumps. The fastest rank counts: others may have waited for one that wrote.
 */
static double computing_s(const struct bt_run *run)
{
    return writes(run) ? run->compute.min : run->t_t_s;
}

static double quantity(const struct bt_job *job, const struct bt_run *run, enum quantity q)
{
    const struct bt_values v = bt_values_of(job, run);
    const double of[] = {[T_T] = run->t_t_s,
                         [ZETA] = v.zeta,
                         [R_IO] = v.r_io,
                         [WRITE_RATE] = v.write_rate,
                         [SYNC] = run->phase[BT_RUN_SYNC].max,
                         [SLOWNESS] = computing_s(run) / known_t_c(job)};
    return of[q];
}

/* The values of the completed runs of a writer. value: [out] at least BT_REPEAT_MAX. */
static int values_of(const struct bt_job *job, const char *writer, enum quantity q, double *value)
{
    int n = 0;
    for (int i = 0; i < job->outcomes_n && n < BT_REPEAT_MAX; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (counts(run) && strcmp(run->writer, writer) == 0) value[n++] = quantity(job, run, q);
    }
    return n;
}

static double median_of(const struct bt_job *job, const char *writer, enum quantity q)
{
    double value[BT_REPEAT_MAX], median = NAN;
    const int n = values_of(job, writer, q, value);
    return n > 0 && stat_median(value, n, &median) == 0 ? median : NAN;
}

static void interval(const struct bt_job *job, struct bt_row *row)
{
    double value[BT_REPEAT_MAX];
    const int n = values_of(job, row->writer, T_T, value);
    row->ci_lo_s = row->ci_hi_s = NAN;
    if (n < CI_RUNS_MIN) return;
    if (stat_median_ci(value, n, 0.95, job->setup->seed, &row->ci_lo_s, &row->ci_hi_s) < 0)
        row->ci_lo_s = row->ci_hi_s = NAN;
}

static void row_add(struct bt_row *row, const struct bt_job *job, const struct bt_outcome *o)
{
    const struct bt_values v = bt_values_of(job, &o->run);
    row->verified = row->verified && o->verified;
    row->wrong = row->wrong || o->wrong;
    row->official = row->official && bt_is_official(job, o);
    row->page_cache = row->page_cache || o->run.cache.page_cache;
    if (row->runs++ > 0 && o->run.t_t_s >= row->best_t_t_s) return;
    row->best_t_t_s = o->run.t_t_s;
    row->best_zeta = v.zeta;
    row->best_r_io = v.r_io;
}

static struct bt_row *row_of(struct bt_row *row, int *n, const struct bt_outcome *o)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(row[i].writer, o->run.writer) == 0) return &row[i];
    row[*n] = (struct bt_row){.writer = o->run.writer,
                              .bytes = o->run.bytes,
                              .verified = true,
                              .official = true,
                              .serial_file = o->serial_file,
                              .first = o};
    return &row[(*n)++];
}

static int by_time(const void *a, const void *b)
{
    const struct bt_row *x = a, *y = b;
    const int x_writes = writes(&x->first->run), y_writes = writes(&y->first->run);
    if (x_writes != y_writes) return y_writes - x_writes;
    return (x->t_t_s > y->t_t_s) - (x->t_t_s < y->t_t_s);
}

int bt_ranking(const struct bt_job *job, struct bt_row *row)
{
    int n = 0;
    for (int i = 0; i < job->outcomes_n; i++)
        if (counts(&job->outcome[i].run))
            row_add(row_of(row, &n, &job->outcome[i]), job, &job->outcome[i]);
    for (int i = 0; i < n; i++) {
        row[i].t_t_s = median_of(job, row[i].writer, T_T);
        interval(job, &row[i]);
        row[i].zeta = median_of(job, row[i].writer, ZETA);
        row[i].r_io = median_of(job, row[i].writer, R_IO);
        row[i].write_rate = median_of(job, row[i].writer, WRITE_RATE);
        row[i].sync_s = median_of(job, row[i].writer, SYNC);
        row[i].slowness = median_of(job, row[i].writer, SLOWNESS);
    }
    qsort(row, (size_t)n, sizeof *row, by_time);
    return n;
}
