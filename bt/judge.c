/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/judge.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/balance.h"
#include "base/simulation.h"
#include "base/stamp.h"
#include "base/units.h"
#include "bt/evidence.h"
#include "bt/judge_read.h"
#include "bt/metrics.h"
#include "io/writers/writer.h"

/* From how many times T_C on computing between dumps is suspicious. A writer in the background
 * takes a share of the cores, up to half of them. */
#define SLOW_COMPUTING 2.0
#define SLOW_TODAY     0.10 /* by which computing alone may be slower than the best time known */
#define NOISE          0.05 /* zeta that one round may have by chance */

/* ------------------------------------------------------------------ the whole job */

static void judge_cores(json_t *to, const struct bt_machine *m)
{
    const int64_t wanted = (int64_t)m->nodes.size * m->threads;
    char unbind[BT_MACHINE_UNBIND];
    json_t *n = stamp_number(NULL, "ranks_n", m->nodes.size);
    stamp_number(n, "threads_n", m->threads);
    stamp_number(n, "cores_n", (double)m->nodes.cores);
    if (m->mask_width < INT_MAX) stamp_number(n, "cpus_allowed_n", m->mask_width);
    if (m->threads > m->mask_width)
        stamp_add(to, STAMP_BOUND, SEVERITY_WARN, json_incref(n),
                  "Binding: a rank has %d threads but may use only %d CPU%s; %s.", m->threads,
                  m->mask_width, units_plural(m->mask_width), bt_machine_unbind(m, unbind));
    else if (wanted > m->cpus && wanted <= m->nodes.cores)
        stamp_add(to, STAMP_BOUND, SEVERITY_WARN, json_incref(n),
                  "Binding: %lld threads of all ranks may use only %lld CPU%s; %s.",
                  (long long)wanted, (long long)m->cpus, units_plural(m->cpus),
                  bt_machine_unbind(m, unbind));
    if (wanted > m->nodes.cores)
        stamp_add(
            to, STAMP_OVERSUBSCRIBED, SEVERITY_WARN, json_incref(n),
            "Oversubscribed: ranks x threads = %d x %d on %lld core%s; times say more about the "
            "scheduler than about the system.",
            m->nodes.size, m->threads, (long long)m->nodes.cores, units_plural(m->nodes.cores));
    if (wanted < m->nodes.cores)
        stamp_add(
            to, STAMP_CORES_UNUSED, SEVERITY_NOTE, json_incref(n),
            "Only %lld of %lld cores are in use (ranks x threads = %d x %d); the balance of the "
            "whole system is measured with all of them.%s",
            (long long)wanted, (long long)m->nodes.cores, m->nodes.size, m->threads,
            m->width < m->nodes.node_cores ? " The ranks are bound to some of them, by mpirun "
                                             "without --bind-to none, taskset or a cpuset."
                                           : "");
    json_decref(n);
}

/* Where today's computing alone is slower than the best time known, zeta over that time says more
 * about today than about writing; the paired zeta does not. */
static void judge_t_c(json_t *to, const struct bt_judged *j)
{
    const struct bt_job *job = j->job;
    const struct bt_row *row = j->row;
    const double best = job->tc.entry.t_c_s;
    if (job->tc.origin == BT_TC_FROM_USER)
        stamp_add(to, STAMP_TC_NOT_BEST, SEVERITY_NOTE, stamp_number(NULL, "t_c_s", best),
                  "T_C was given with --tc; it was not measured on this system.");
    for (int i = 0; i < j->rows_n && job->tc.origin != BT_TC_UNKNOWN; i++) {
        const double today = row[i].median.t_t_s;
        if (strcmp(row[i].writer, BT_COMPUTE) != 0 || !(today > (1 + SLOW_TODAY) * best)) continue;
        const json_t *of_row = stamp_find(row[i].stamps, STAMP_DISTURBED);
        const bool spoiled = of_row && strcmp(stamp_text(of_row, "severity"), "warn") == 0;
        json_t *numbers = stamp_number(NULL, "t_c_s", best);
        stamp_number(numbers, "t_c_today_s", today);
        stamp_number(numbers, "runs_n", row[i].runs);
        stamp_add(
            to, STAMP_DISTURBED, SEVERITY_WARN, numbers,
            "Computing alone took %.4g s in this job (median of %d run%s), %.0f %% more than the "
            "T_C used for zeta, %.4g s%s",
            today, row[i].runs, units_plural(row[i].runs), 100 * (today / best - 1), best,
            job->tc.origin == BT_TC_FROM_USER ? "."
            : spoiled                         ? ": the ranks lacked processors meanwhile."
                                              : ": the paired zeta, over the times of this job, "
                                                "is not affected.");
    }
}

static void judge_simulation(json_t *to, const struct bt_job *job)
{
    if (!simulation()) return;
    const char *how = bt_job_computing(job);
    char charged[128];
    snprintf(charged, sizeof charged,
             "Computing was not done, its time is that of kernels measured on this machine%s%s.",
             job->charged_utc[0] ? ", " : "", job->charged_utc);
    stamp_add(to, STAMP_SIMULATED, SEVERITY_WARN, NULL,
              "Simulated: ranks and network are those of the platform \"%s\". %s File systems are "
              "not simulated.",
              simulation_platform(),
              strcmp(how, "charged") == 0 ? charged
              : strcmp(how, "measured") == 0
                  ? "Computing took the time that it took in the simulation."
                  : "Computing took no time.");
}

static json_t *judge_job(const struct bt_judged *j)
{
    const struct bt_problem *p = &j->job->setup->problem;
    const int done = j->job->rounds_done;
    const bool open = j->job->setup->rounds_auto; /* how many there are to be is not known */
    const int asked = open ? done : j->job->setup->rounds;
    json_t *to = json_array();
    if (done < asked) {
        json_t *numbers = stamp_number(NULL, "rounds_done_n", done);
        stamp_number(numbers, "rounds_n", asked);
        stamp_add(to, STAMP_INTERRUPTED, SEVERITY_WARN, numbers,
                  "Interrupted: the job did not finish; %d of %d round%s are complete.", done,
                  asked, units_plural(asked));
    }
    if (open && !j->job->rounds_over)
        stamp_add(to, STAMP_INTERRUPTED, SEVERITY_WARN, stamp_number(NULL, "rounds_done_n", done),
                  "Interrupted: the job did not finish; %d round%s %s complete.", done,
                  units_plural(done), done == 1 ? "is" : "are");
    judge_simulation(to, j->job);
    judge_cores(to, &j->job->machine);
    judge_t_c(to, j);
    const struct bt_reference *whole;
    for (int i = 0; (whole = bt_reference_at(i)) != NULL; i++) {
        if (whole->n != p->n || whole->dt != p->dt || p->steps >= whole->steps) continue;
        json_t *numbers = stamp_number(NULL, "steps_n", (double)p->steps);
        stamp_number(numbers, "class_steps_n", (double)whole->steps);
        stamp_add(to, STAMP_EXTRAPOLATED, SEVERITY_NOTE, numbers,
                  "%lld of class %c's %lld steps: conclusions about the class are extrapolated.",
                  (long long)p->steps, whole->cls, (long long)whole->steps);
    }
    return to;
}

/* ------------------------------------------------------------------ one run */

json_t *bt_judge_run(const struct bt_job *job, const struct bt_outcome *o)
{
    const struct cache *c = &o->run.cache;
    json_t *to = json_array();
    if (!o->verified)
        stamp_add(to, STAMP_NOT_VERIFIED, o->wrong ? SEVERITY_BAD : SEVERITY_WARN, NULL, "%s",
                  o->verdict);
    if (c->page_cache) {
        const double file = (double)c->file_bytes;
        json_t *n =
            stamp_number(NULL, "cached_share", file > 0 ? (double)c->cached_bytes / file : NAN);
        if (c->dirty_bytes >= 0 && file > 0)
            stamp_number(n, "dirty_share", (double)c->dirty_bytes / file);
        stamp_add(to, STAMP_PAGE_CACHE, SEVERITY_WARN, n,
                  "Page cache: T_T measures memory, not a device (%s).", cache_why(c));
    }
    disturbance_stamp(&o->run.disturbance, to);
    if (bt_is_official(job, o))
        stamp_add(
            to, STAMP_OFFICIAL, SEVERITY_GOOD, NULL,
            "Official NHT-1 result: N = 102, 200 steps, a dump every 5, serial file, verified%s.",
            job->tc.origin == BT_TC_FROM_USER ? "; zeta is over a given T_C" : "");
    return to;
}

/* ------------------------------------------------------------------ a writer */

static void answer(json_t *to, struct bt_row *row, enum stamp_code code,
                   enum stamp_severity severity, json_t *numbers, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* The one answer about a writer. */
static void answer(json_t *to, struct bt_row *row, enum stamp_code code,
                   enum stamp_severity severity, json_t *numbers, const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    stamp_add(to, code, severity, numbers, "%s", text);
    row->answer = stamp_text(json_array_get(to, json_array_size(to) - 1), "code");
}

/* Why nothing can be concluded from these runs, whatever the rounds came to, and what to do about it.
 * Returns a word for it, NULL when there is nothing. found: what they came to. why: [out] */
static const char *unmeasurable(const struct bt_job *job, const struct bt_row *row,
                                enum balance found, char why[BALANCE_WHY])
{
    const double slowness = 1 + row->median.zeta_compute;
    const struct balance_rounds evidence = bt_evidence_of(job, row->writer, NULL);
    const char *reason = bt_evidence_cores(&job->machine, why);
    if (reason) return reason;
    if (row->page_cache) {
        snprintf(why, BALANCE_WHY,
                 "T_T measures memory, not a device; write to a file system on a device, "
                 "with --sync end");
        return "page-cache";
    }
    if (row->median.t_t_s < BALANCE_SHORT_S) {
        snprintf(why, BALANCE_WHY,
                 "a run takes %.3g s, and start-up and noise dominate times below %g s; "
                 "take a larger class or more steps",
                 row->median.t_t_s, BALANCE_SHORT_S);
        return "too-short";
    }
    reason = balance_spoiled(&evidence, found, row->paired.conflict || row->data.conflict, "rounds",
                             "while they only computed", why);
    if (reason) return reason;
    if (slowness > SLOW_COMPUTING) {
        snprintf(why, BALANCE_WHY,
                 "computing beside the dumps took %.3g times T_C; measure again when the "
                 "computer does nothing else, with ranks bound to no fewer cores than they have "
                 "threads",
                 slowness);
        return "disturbed";
    }
    return NULL;
}

/* The paired zeta is above the goal, but zeta of data is not: names the larger of the other two terms. */
static const char *not_the_data(const struct bt_row *row, char why[BALANCE_WHY])
{
    const struct bt_values *v = &row->median;
    const bool books = v->zeta_bookkeeping > v->zeta_slowdown;
    char paired[64], data[64], other[64];
    const int used = snprintf(why, BALANCE_WHY,
                              "the paired zeta, %s, is above %.2f, but data, %s, are not: %s %s; ",
                              balance_words(v->zeta_paired, &row->paired, paired), BALANCE_GOAL,
                              balance_words(v->zeta_data, &row->data, data),
                              books ? "bookkeeping of dumps takes" : "computing is slower by",
                              balance_words(books ? v->zeta_bookkeeping : v->zeta_slowdown,
                                            books ? &row->bookkeeping : &row->slowdown, other));
    snprintf(why + used, BALANCE_WHY - (size_t)used, "%s",
             books ? "take a larger class, or a longer --interval"
                   : "leave a core to the writer, and nothing else on the computer");
    return books ? "bookkeeping" : "slowdown";
}

/* How many rounds would decide about the goal, in all, and how long they would take. */
static void undecided(json_t *to, const struct bt_job *job, struct bt_row *row, json_t *n)
{
    char sentence[512];
    const struct balance_open open = {
        .what = row->pairs ? "paired zeta" : "zeta",
        .parts = "data",
        .round = "round",
        .rounds = row->pairs ? row->pairs : row->runs,
        .most = BT_REPEAT_MAX,
        .until_decided = job->setup->rounds_auto,
        .alone_missing = row->pairs == 0 && row->runs > 1,
        .round_s = job->rounds_done > 0 ? job->rounds_s / job->rounds_done : 0,
        .zeta = row->pairs ? row->median.zeta_paired : row->median.zeta,
        .data = row->median.zeta_data,
        .of_zeta = &row->paired,
        .of_data = &row->data};
    answer(to, row, STAMP_UNDECIDED, SEVERITY_NOTE, n, "%s", balance_undecided(&open, n, sentence));
}

/* T_C of the rounds, where there is more than one pair. */
static double t_c_of(const struct bt_row *row)
{
    return row->pairs > 1 ? row->median.t_c_round_s : row->median.t_t_s / (1 + row->median.zeta);
}

/* How many times as slow data would still be on their way beside computing, as they are now: in the background all
 * of them have the time in which a run at the goal ends, and no more. INFINITY: none are there; NaN: not known. */
static double hidden_up_to(const struct bt_row *row)
{
    const struct bt_values *v = &row->median;
    if (v->both_s > 0) return (1 + BALANCE_GOAL) * t_c_of(row) / v->io_s;
    return io_writer_in_background(row->writer) && !(v->io_s > 0) ? NAN : INFINITY;
}

/* One of the four answers, or undecided. What makes measuring meaningless comes first. */
static void judge_balance(json_t *to, const struct bt_job *job, struct bt_row *row)
{
    const struct bt_values *v = &row->median;
    char why[BALANCE_WHY], paired[64], data[64], but[96], slower[BALANCE_SLOWER];
    const double most = hidden_up_to(row);
    if (!isfinite(v->zeta)) return;
    json_t *n = stamp_number(NULL, "zeta", v->zeta);
    balance_numbers(n, "zeta_paired", v->zeta_paired, &row->paired, v->zeta_data, &row->data, most);
    stamp_number(n, "zeta_bookkeeping", v->zeta_bookkeeping);
    stamp_number(n, "zeta_slowdown", v->zeta_slowdown);
    stamp_number(n, "rounds_n", row->pairs > 0 ? row->pairs : row->runs);
    balance_words(v->zeta_paired, &row->paired, paired);
    balance_words(v->zeta_data, &row->data, data);
    const enum balance found = balance_of(&row->paired, &row->data);
    row->reason = unmeasurable(job, row, found, why);
    if (!row->reason && found == BALANCE_NOT_DATA) row->reason = not_the_data(row, why);
    if (row->reason)
        answer(to, row, STAMP_NOT_MEASURABLE, SEVERITY_WARN, n, "Not measurable here and now: %s.",
               why);
    else if (found == BALANCE_FASTER)
        answer(to, row, STAMP_IO_FASTER_THAN_NEEDED, SEVERITY_GOOD, n,
               "I/O is faster than this computation needs: paired zeta %s, data %s, %d rounds%s.%s",
               paired, data, row->pairs, balance_but(&row->paired, "rounds", n, but),
               balance_slower(balance_spare(&row->paired, &row->data, most), most, "NAS's goal",
                              "computing", slower));
    else if (found == BALANCE_MET)
        answer(to, row, STAMP_BALANCED, SEVERITY_GOOD, n,
               "Balanced: paired zeta %s, %d rounds; NAS's goal is at most %.2f%s.", paired,
               row->pairs, BALANCE_GOAL, balance_but(&row->paired, "rounds", n, but));
    else if (found == BALANCE_MISSED)
        answer(to, row, STAMP_IO_TOO_SLOW, SEVERITY_BAD, n,
               "I/O is too slow for this computation: paired zeta %s, data alone %s, %d rounds; "
               "NAS's goal is at most %.2f.",
               paired, data, row->pairs, BALANCE_GOAL);
    else
        undecided(to, job, row, n);
}

/* The rate that the time above T_C stands for, or in the background that of the I/O, where that time is more than
 * noise, and the one that would do: what is written in the background may take the time of computing as well. */
static void judge_rate(json_t *to, const struct bt_row *row)
{
    const bool paired = row->pairs > 1;
    const double t_c = t_c_of(row);
    const double zeta = paired ? row->median.zeta_paired : row->median.zeta;
    const bool hidden = row->median.both_s > 0;
    /* Of what is hidden nothing is in the time above T_C: there the time that data were on their way counts. */
    const double bytes = (double)row->bytes,
                 rate = bytes / (hidden ? row->median.io_s : zeta * t_c);
    const double goal = bytes / ((hidden ? 1 + BALANCE_GOAL : BALANCE_GOAL) * t_c);
    const char *what = hidden ? "Write" : "Effective write";
    const char *how = hidden ? " with all of it in the background" : "";
    char is[UNITS_TEXT_MAX], should[UNITS_TEXT_MAX];
    const bool more = isfinite(row->paired.lo) ? row->paired.lo > 0 : zeta > NOISE;
    if (!more || bytes <= 0) return;
    json_t *n = stamp_number(NULL, "rate_bytes_per_s", rate);
    stamp_number(n, "needed_bytes_per_s", goal);
    units_rate(rate, is);
    units_rate(goal, should);
    if (zeta > BALANCE_GOAL)
        stamp_add(to, STAMP_IMPLIED_RATE, SEVERITY_NOTE, n,
                  "%s rate %s; %s would meet the goal of %.0f %%%s.", what, is, should,
                  100 * BALANCE_GOAL, how);
    else
        stamp_add(to, STAMP_IMPLIED_RATE, SEVERITY_NOTE, n,
                  "%s rate %s; the goal of %.0f %% needs %s%s.", what, is, 100 * BALANCE_GOAL,
                  should, how);
}

static void judge_times(json_t *to, const struct bt_job *job, struct bt_row *row)
{
    const double slowness = 1 + row->median.zeta_compute;
    const bool slow = slowness > SLOW_COMPUTING;
    const unsigned caps = io_writer_caps(row->writer);
    if (!(caps & IO_CAP_SERIAL_FILE)) {
        stamp_add(to, caps & IO_CAP_PARTS ? STAMP_NO_SERIAL_FILE : STAMP_WRITER_NULL, SEVERITY_NOTE,
                  NULL,
                  "Leaves no serial file, so this is not a result of the benchmark: its times show "
                  "the cost of everything except that file.");
    } else {
        judge_balance(to, job, row);
        if (!row->reason) judge_rate(to, row);
    }
    if (slow && !stamp_find(to, STAMP_DISTURBED))
        stamp_add(
            to, STAMP_DISTURBED, SEVERITY_WARN, stamp_number(NULL, "computing_per_t_c", slowness),
            "Computing beside the dumps took %.3g times T_C, so zeta says more about that than "
            "about writing. Is the computer busy with something else? Are ranks bound to too few "
            "cores?",
            slowness);
    if (row->median.zeta < 0)
        stamp_add(
            to, STAMP_TC_NOT_BEST,
            job->tc.origin == BT_TC_FROM_USER ? SEVERITY_NOTE : SEVERITY_WARN,
            stamp_number(NULL, "zeta", row->median.zeta),
            "zeta is below 0: the run with I/O was %.1f %% faster than %s, so that time is not "
            "the best: measure it again with --tc measure.",
            -100 * row->median.zeta,
            job->tc.origin == BT_TC_FROM_USER    ? "the T_C given with --tc"
            : job->tc.origin == BT_TC_FROM_STORE ? "the best compute-only time known"
                                                 : "the compute-only run of this job");
    if (row->median.t_t_s < BALANCE_SHORT_S)
        stamp_add(to, STAMP_TOO_SHORT, SEVERITY_NOTE,
                  stamp_number(NULL, "t_t_s", row->median.t_t_s),
                  "The run took less than a second: start-up and noise dominate times this short; "
                  "use a larger class to judge the system.");
}

/* Stamps a writer by that of its runs whose ranks got the least of their processors. */
static void judge_disturbance(json_t *to, const struct bt_job *job, const char *writer)
{
    const struct disturbance *worst = NULL;
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        const struct disturbance *d = &run->disturbance;
        if (!run->completed || strcmp(run->writer, writer) != 0 || !(d->disturbed || d->shared))
            continue;
        const bool sooner = !worst || (d->disturbed && !worst->disturbed);
        if (sooner || (d->disturbed == worst->disturbed && d->share_min < worst->share_min))
            worst = d;
    }
    const struct balance_rounds evidence = bt_evidence_of(job, writer, NULL);
    if (worst) bt_evidence_stamp(to, &evidence, &job->machine, worst);
}

static json_t *judge_row(const struct bt_job *job, struct bt_row *row)
{
    json_t *to = json_array();
    judge_disturbance(to, job, row->writer);
    /* A wrong file makes its times worthless. */
    if (strcmp(row->writer, BT_COMPUTE) != 0 && !row->wrong) judge_times(to, job, row);
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        size_t s;
        json_t *one, *of_run;
        if (!o->run.completed || strcmp(o->run.writer, row->writer) != 0) continue;
        of_run = bt_judge_run(job, o);
        json_array_foreach(of_run, s, one)
        {
            const char *code = stamp_text(one, "code");
            const bool partly = stamp_is(one, STAMP_OFFICIAL) && !row->official;
            /* Of another run than the worst, which it would seem to contradict. */
            const bool milder =
                stamp_is(one, STAMP_PROCESSORS_SHARED) && stamp_find(to, STAMP_DISTURBED);
            if (!partly && !milder && !stamp_find_text(to, code)) json_array_append(to, one);
        }
        json_decref(of_run);
    }
    return to;
}

void bt_judge(struct bt_judged *to, const struct bt_job *job)
{
    to->job = job;
    to->rows_n = bt_ranking(job, to->row);
    for (int i = 0; i < to->rows_n; i++) {
        struct bt_row *row = &to->row[i];
        row->stamps = judge_row(job, row);
        row->reads_n = bt_read_rows(job, row->writer, row->read);
        for (int k = 0; k < row->reads_n; k++)
            bt_judge_readings(job, &row->read[k]);
    }
    to->stamps = judge_job(to);
}

void bt_judge_free(struct bt_judged *judged)
{
    for (int i = 0; i < judged->rows_n; i++) {
        json_decref(judged->row[i].stamps);
        for (int k = 0; k < judged->row[i].reads_n; k++)
            json_decref(judged->row[i].read[k].stamps);
    }
    json_decref(judged->stamps);
}
