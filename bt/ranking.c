/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sequential.h"
#include "base/simulation.h"
#include "base/stat.h"
#include "bt/metrics.h"
#include "io/writers/writer.h"

static bool writes(const struct bt_run *run)
{
    return strcmp(run->writer, BT_COMPUTE) != 0;
}

/* Whether what a run handed out is kept: what drops it has no rate. */
static bool leaves_data(const struct bt_run *run)
{
    return (io_writer_caps(run->writer) & IO_CAPS_DATA) != 0;
}

/* A run that went on with another's file has no T_T. */
static bool counts(const struct bt_run *run)
{
    return run->completed && !run->resumed;
}

/* T_C of the round that a run belongs to, NaN when it holds none. */
static double round_t_c(const struct bt_job *job, const struct bt_run *run)
{
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        if (!writes(&o->run) && counts(&o->run) && !o->wrong && o->run.round == run->round)
            return o->run.t_t_s;
    }
    return NAN;
}

struct bt_values bt_values_of(const struct bt_job *job, const struct bt_run *run)
{
    const struct bt_problem *p = &job->setup->problem;
    const double t_c = job->tc.origin == BT_TC_UNKNOWN ? NAN : job->tc.entry.t_c_s;
    const double flop = bt_problem_flop(p);
    const int64_t dumps = bt_problem_dumps(p);
    struct bt_values v = {.t_t_s = run->t_t_s,
                          .computing_s = run->t_t_s - run->in_io_s,
                          .r_io = NAN,
                          .zeta = NAN,
                          .zeta_io = NAN,
                          .zeta_compute = NAN,
                          .t_c_round_s = round_t_c(job, run),
                          .zeta_paired = NAN,
                          .zeta_data = NAN,
                          .zeta_bookkeeping = NAN,
                          .zeta_slowdown = NAN,
                          .write_rate = NAN,
                          .implied_rate = NAN,
                          .sync_s = run->phase[BT_RUN_SYNC].max,
                          .compute_s = run->compute.max,
                          .io_s = run->io.max,
                          .both_s = run->both.max,
                          .both_share = run->io.max > 0 ? run->both.max / run->io.max : NAN,
                          .gop = flop / run->t_t_s / 1e9,
                          .compute_gop = flop / t_c / 1e9,
                          .by_dumps = dumps * p->interval != p->steps};
    if (!writes(run)) return v;
    v.zeta = bt_metric_zeta(run->t_t_s, t_c);
    v.zeta_io = run->in_io_s / t_c;
    v.zeta_compute = bt_metric_zeta(v.computing_s, t_c);
    v.zeta_paired = bt_metric_zeta(run->t_t_s, v.t_c_round_s);
    const double over_s = isfinite(v.t_c_round_s) ? v.t_c_round_s : t_c;
    v.zeta_data = run->data_s / over_s;
    v.zeta_bookkeeping = (run->in_io_s - run->data_s) / over_s;
    v.zeta_slowdown = bt_metric_zeta(v.computing_s, over_s);
    if (!leaves_data(run)) return v;
    v.r_io = v.by_dumps ? bt_metric_r_io_dumps(p->n, dumps, run->t_t_s)
                        : bt_metric_r_io(p->n, p->steps, p->interval, run->t_t_s);
    v.implied_rate = bt_metric_implied_rate((double)run->bytes, run->t_t_s, t_c);
    if (run->writing_s > 0) v.write_rate = (double)run->bytes / run->writing_s;
    return v;
}

bool bt_is_official(const struct bt_job *job, const struct bt_outcome *o)
{
    return bt_metric_is_official_case(&job->setup->problem) && o->serial_file && o->verified &&
           !o->run.resumed && !simulation();
}

/* The finite values of one quantity, the member at offset of structs of so many bytes, over the runs of a
 * row. */
static int column(const void *v, size_t bytes, int n, size_t offset, double *out)
{
    int finite = 0;
    for (int i = 0; i < n; i++) {
        const double x =
            *(const double *)(const void *)((const char *)v + (size_t)i * bytes + offset);
        if (isfinite(x)) out[finite++] = x;
    }
    return finite;
}

/* Without memory there is no interval. */
static void estimate(const struct bt_job *job, const double *x, int n, struct balance_estimate *to)
{
    struct sequential_plan plan = {0};
    if (n > 0 && balance_plan(n, job->setup->rounds_auto, job->rounds_cut, &plan) < 0) n = 0;
    if (balance_look(&plan, x, n, to) < 0) err_clear();
}

static void medians(const struct bt_job *job, struct bt_row *row, const struct bt_values *v)
{
#define MEMBER(name) offsetof(struct bt_values, name)
    static const size_t member[] = {
        MEMBER(t_t_s),        MEMBER(computing_s),      MEMBER(r_io),          MEMBER(zeta),
        MEMBER(zeta_io),      MEMBER(zeta_compute),     MEMBER(t_c_round_s),   MEMBER(zeta_paired),
        MEMBER(zeta_data),    MEMBER(zeta_bookkeeping), MEMBER(zeta_slowdown), MEMBER(write_rate),
        MEMBER(implied_rate), MEMBER(sync_s),           MEMBER(compute_s),     MEMBER(io_s),
        MEMBER(both_s),       MEMBER(both_share),       MEMBER(gop),           MEMBER(compute_gop)};
    double x[BT_REPEAT_MAX];
    row->median = v[0];
    for (size_t i = 0; i < sizeof member / sizeof member[0]; i++) {
        double *out = (double *)(void *)((char *)&row->median + member[i]);
        const int n = column(v, sizeof *v, row->runs, member[i], x);
        if (n == 0 || stat_median(x, n, out) < 0) *out = NAN;
    }
    row->pairs = column(v, sizeof *v, row->runs, MEMBER(zeta_paired), x);
    const struct {
        struct balance_estimate *to;
        size_t of;
    } estimated[] = {{&row->t_t, MEMBER(t_t_s)},
                     {&row->paired, MEMBER(zeta_paired)},
                     {&row->data, MEMBER(zeta_data)},
                     {&row->bookkeeping, MEMBER(zeta_bookkeeping)},
                     {&row->slowdown, MEMBER(zeta_slowdown)}};
    for (size_t i = 0; i < sizeof estimated / sizeof estimated[0]; i++) {
        int n = 0;
        for (int r = 0; r < row->runs; r++) {
            const double value =
                *(const double *)(const void *)((const char *)&v[r] + estimated[i].of);
            if (i == 0 || isfinite(v[r].zeta_paired)) x[n++] = value;
        }
        estimate(job, x, n, estimated[i].to);
    }
}

/* Percentiles over the dumps of all runs of a writer. */
static void dump_times(const struct bt_job *job, struct bt_row *row)
{
    static const double share[] = {0.5, 0.9, 0.99, 1};
    double q[4], *held = NULL;
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (!counts(run) || strcmp(run->writer, row->writer) != 0 || run->dumps_n == 0) continue;
        double *grown = realloc(held, (size_t)(row->dump.n + run->dumps_n) * sizeof *held);
        if (!grown) { /* no percentiles rather than those of a part */
            row->dump.n = 0;
            break;
        }
        held = grown;
        for (int64_t d = 0; d < run->dumps_n; d++)
            held[row->dump.n++] = run->dump[d].post.max + run->dump[d].wait.max;
    }
    if (row->dump.n > 0 && stat_quantiles(held, (int)row->dump.n, share, 4, q) == 0)
        row->dump = (struct bt_dump_times){row->dump.n, q[0], q[1], q[2], q[3]};
    else
        row->dump.n = 0;
    free(held);
}

static void row_fill(const struct bt_job *job, struct bt_row *row)
{
    struct bt_values v[BT_REPEAT_MAX];
    v[0] = (struct bt_values){0}; // of a writer none of whose runs counts
    row->verified = row->official = true;
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        if (!counts(&o->run) || strcmp(o->run.writer, row->writer) != 0) continue;
        if (row->runs == BT_REPEAT_MAX) break;
        v[row->runs] = bt_values_of(job, &o->run);
        if (row->runs == 0 || v[row->runs].t_t_s < row->best.t_t_s) row->best = v[row->runs];
        row->runs++;
        row->verified = row->verified && o->verified;
        row->wrong = row->wrong || o->wrong;
        row->official = row->official && bt_is_official(job, o);
        row->page_cache = row->page_cache || o->run.cache.page_cache;
    }
    medians(job, row, v);
    dump_times(job, row);
}

double bt_reading_rate(const struct bt_reading *r)
{
    return r->t_r_s > 0 ? (double)r->bytes / r->t_r_s : NAN;
}

double bt_reading_cached(const struct bt_reading *r)
{
    const bool known = r->cached_bytes >= 0 && r->dump_bytes > 0;
    return known ? (double)r->cached_bytes / (double)r->dump_bytes : NAN;
}

bool bt_reading_alike(const struct bt_reading *a, const struct bt_reading *b)
{
    return a->warm == b->warm && a->ranks == b->ranks && strcmp(a->decomp, b->decomp) == 0;
}

const struct bt_reading *bt_reading_of(const struct bt_run *run, const struct bt_reading *like)
{
    for (int k = 0; k < run->readings.n; k++)
        if (bt_reading_alike(&run->readings.reading[k], like)) return &run->readings.reading[k];
    return NULL;
}

struct bt_read_values bt_read_values_of(const struct bt_job *job, const struct bt_run *run,
                                        const struct bt_reading *r)
{
    const double of_round_s = round_t_c(job, run);
    const double best_s = job->tc.origin == BT_TC_UNKNOWN ? NAN : job->tc.entry.t_c_s;
    const double written_n = (double)bt_problem_dumps(&job->setup->problem);
    struct bt_read_values v = {.t_r_s = r->t_r_s,
                               .rate = bt_reading_rate(r),
                               .requests = (double)r->requests_n,
                               .cached_share = bt_reading_cached(r),
                               .paired = isfinite(of_round_s)};
    v.computing_s = (v.paired ? of_round_s : best_s) * (double)r->dumps_n / written_n;
    v.zeta = r->t_r_s / v.computing_s;
    v.zeta_data = r->data_s / v.computing_s;
    v.zeta_bookkeeping = (r->t_r_s - r->data_s) / v.computing_s;
    return v;
}

static void read_medians(const struct bt_job *job, struct bt_read_row *row,
                         const struct bt_read_values *v)
{
#define READ(name) offsetof(struct bt_read_values, name)
    static const size_t member[] = {
        READ(t_r_s),       READ(rate), READ(requests),  READ(cached_share),
        READ(computing_s), READ(zeta), READ(zeta_data), READ(zeta_bookkeeping)};
    double x[BT_REPEAT_MAX];
    for (size_t i = 0; i < sizeof member / sizeof member[0]; i++) {
        double *out = (double *)(void *)((char *)&row->median + member[i]);
        const int n = column(v, sizeof *v, row->runs, member[i], x);
        if (n == 0 || stat_median(x, n, out) < 0) *out = NAN;
    }
    for (int i = 0; i < row->runs; i++)
        if (v[i].paired) x[row->pairs++] = v[i].zeta;
    estimate(job, x, row->pairs, &row->zeta);
    for (int i = 0, n = 0; i < row->runs; i++)
        if (v[i].paired) x[n++] = v[i].zeta_data;
    estimate(job, x, row->pairs, &row->data);
}

static void read_row_fill(const struct bt_job *job, struct bt_read_row *row)
{
    struct bt_read_values v[BT_REPEAT_MAX];
    row->right = row->from_device = true;
    for (int i = 0; i < job->outcomes_n && row->runs < BT_REPEAT_MAX; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        const struct bt_reading *r = bt_reading_of(run, row->first);
        if (!run->completed || strcmp(run->writer, row->writer) != 0 || !r) continue;
        v[row->runs] = bt_read_values_of(job, run, r);
        row->right = row->right && r->right;
        row->from_device = row->from_device && !r->warm && !r->in_memory &&
                           v[row->runs].cached_share <= CACHE_SHARE;
        row->runs++;
    }
    read_medians(job, row, v);
}

int bt_read_rows(const struct bt_job *job, const char *writer, struct bt_read_row *row)
{
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        if (!run->completed || strcmp(run->writer, writer) != 0) continue;
        for (int k = 0; k < run->readings.n; k++) {
            row[k] =
                (struct bt_read_row){.writer = run->writer, .first = &run->readings.reading[k]};
            read_row_fill(job, &row[k]);
        }
        return run->readings.n;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct bt_row *x = a, *y = b;
    const int x_writes = writes(&x->first->run), y_writes = writes(&y->first->run);
    if (x_writes != y_writes) return y_writes - x_writes;
    return (x->median.t_t_s > y->median.t_t_s) - (x->median.t_t_s < y->median.t_t_s);
}

int bt_ranking(const struct bt_job *job, struct bt_row *row)
{
    int n = 0;
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        int at = 0;
        if (!counts(&o->run)) continue;
        while (at < n && strcmp(row[at].writer, o->run.writer) != 0)
            at++;
        if (at < n) continue;
        row[n] = (struct bt_row){.writer = o->run.writer, .bytes = o->run.bytes, .first = o};
        row_fill(job, &row[n++]);
    }
    qsort(row, (size_t)n, sizeof *row, by_time);
    return n;
}

const struct bt_row *bt_headline(const struct bt_row *row, int n)
{
    for (int i = 0; i < n; i++)
        if (row[i].first->serial_file && !row[i].wrong) return &row[i];
    return &row[0];
}
