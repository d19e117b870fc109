/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/judge.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stamp.h"
#include "base/stat.h"
#include "base/units.h"
#include "bt/metrics.h"
#include "io/writers/writer.h"

#define ROUNDS_MIN 5   /* of which fewer give no verdict on the balance */
#define SHORT_S    1.0 /* a T_T below this is dominated by noise */
/* From how many times T_C on computing between dumps is suspicious. A writer in the background
 * takes a share of the cores, up to half of them. */
#define SLOW_COMPUTING 2.0
#define SLOW_TODAY     0.10 /* by which computing alone may be slower than the best time known */
#define NOISE          0.05 /* zeta that one round may have by chance */

#define GOOD "good"
#define NOTE "note"
#define WARN "warn"
#define BAD  "bad"

/* Adds a number, none where the value is not finite; NULL begins a new object. */
static json_t *number(json_t *to, const char *key, double value)
{
    json_t *o = to ? to : json_object();
    if (isfinite(value)) json_object_set_new(o, key, json_real(value));
    return o;
}

/* ------------------------------------------------------------------ the whole job */

static void judge_cores(json_t *to, const struct bt_machine *m)
{
    const int64_t wanted = (int64_t)m->nodes.size * m->threads;
    json_t *n = number(NULL, "ranks_n", m->nodes.size);
    number(n, "threads_n", m->threads);
    number(n, "cores_n", (double)m->nodes.cores);
    if (m->mask_width < INT_MAX) number(n, "cpus_allowed_n", m->mask_width);
    if (m->threads > m->mask_width)
        stamp_add(to, "bound", WARN, json_incref(n),
                  "Binding: a rank has %d threads but may use only %d CPU%s: start with mpirun "
                  "--bind-to none, or --map-by slot:PE=%d.",
                  m->threads, m->mask_width, units_plural(m->mask_width), m->threads);
    if (wanted > m->nodes.cores)
        stamp_add(
            to, "oversubscribed", WARN, json_incref(n),
            "Oversubscribed: ranks x threads = %d x %d on %lld core%s; times say more about the "
            "scheduler than about the system.",
            m->nodes.size, m->threads, (long long)m->nodes.cores, units_plural(m->nodes.cores));
    if (wanted < m->nodes.cores)
        stamp_add(
            to, "cores-unused", NOTE, json_incref(n),
            "Only %lld of %lld cores are in use (ranks x threads = %d x %d); the balance of the "
            "whole system is measured with all of them.%s",
            (long long)wanted, (long long)m->nodes.cores, m->nodes.size, m->threads,
            m->mask_width < m->nodes.node_cores
                ? " The ranks are bound: with mpirun --bind-to none their threads may use every "
                  "core."
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
        stamp_add(to, "tc-not-best", NOTE, number(NULL, "t_c_s", best),
                  "T_C was given with --tc; it was not measured on this system.");
    for (int i = 0; i < j->rows_n && job->tc.origin != BT_TC_UNKNOWN; i++) {
        const double today = row[i].median.t_t_s;
        if (strcmp(row[i].writer, BT_COMPUTE) != 0 || !(today > (1 + SLOW_TODAY) * best)) continue;
        json_t *numbers = number(NULL, "t_c_s", best);
        number(numbers, "t_c_today_s", today);
        number(numbers, "runs_n", row[i].runs);
        stamp_add(
            to, "disturbed", WARN, numbers,
            "Computing alone took %.4g s in this job (median of %d run%s), %.0f %% more than the "
            "T_C used for zeta, %.4g s%s",
            today, row[i].runs, units_plural(row[i].runs), 100 * (today / best - 1), best,
            job->tc.origin == BT_TC_FROM_USER ? "."
                                              : ": the paired zeta, over the times of this job, "
                                                "is not affected.");
    }
}

static json_t *judge_job(const struct bt_judged *j)
{
    const struct bt_problem *p = &j->job->setup->problem;
    const int asked = (int)j->job->setup->opt.repeat, done = j->job->rounds_done;
    json_t *to = json_array();
    if (done < asked) {
        json_t *numbers = number(NULL, "rounds_done_n", done);
        number(numbers, "rounds_n", asked);
        stamp_add(to, "interrupted", WARN, numbers,
                  "Interrupted: the job did not finish; %d of %d round%s are complete.", done,
                  asked, units_plural(asked));
    }
    judge_cores(to, &j->job->machine);
    judge_t_c(to, j);
    const struct bt_reference *whole;
    for (int i = 0; (whole = bt_reference_at(i)) != NULL; i++) {
        if (whole->n != p->n || whole->dt != p->dt || p->steps >= whole->steps) continue;
        json_t *numbers = number(NULL, "steps_n", (double)p->steps);
        number(numbers, "class_steps_n", (double)whole->steps);
        stamp_add(to, "extrapolated", NOTE, numbers,
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
    if (!o->verified) stamp_add(to, "not-verified", o->wrong ? BAD : WARN, NULL, "%s", o->verdict);
    if (c->page_cache) {
        const double file = (double)c->file_bytes;
        json_t *n = number(NULL, "cached_share", file > 0 ? (double)c->cached_bytes / file : NAN);
        if (c->dirty_bytes >= 0 && file > 0)
            number(n, "dirty_share", (double)c->dirty_bytes / file);
        stamp_add(
            to, "page-cache", WARN, n, "Page cache: T_T measures memory, not a device (%s).",
            c->in_memory
                ? "the file system is in memory"
                : "data had not reached the device, and nothing waited for it: --sync end does");
    }
    if (bt_is_official(job, o))
        stamp_add(
            to, "official", GOOD, NULL,
            "Official NHT-1 result: N = 102, 200 steps, a dump every 5, serial file, verified%s.",
            job->tc.origin == BT_TC_FROM_USER ? "; zeta is over a given T_C" : "");
    return to;
}

/* ------------------------------------------------------------------ a reading */

json_t *bt_judge_reading(const struct bt_reading *r)
{
    const double share = bt_reading_cached(r);
    json_t *to = json_array();
    for (int64_t i = 0; i < r->dumps_n && !stamp_find(to, "read-wrong"); i++)
        if (!r->dump[i].right)
            stamp_add(to, "read-wrong", BAD, number(NULL, "dump_n", (double)r->dump[i].dump + 1),
                      "What was read of dump %lld is not what the manifest's digest says: wrong on "
                      "disk, or misread.",
                      (long long)r->dump[i].dump + 1);
    if (r->warm && share < 1 - CACHE_SHARE)
        stamp_add(to, "read-not-cached", WARN, number(NULL, "cached_share", share),
                  "Read warm, but only %.0f %% was in memory after it had been read once.",
                  100 * share);
    else if (r->warm && !isfinite(share) && !r->in_memory)
        stamp_add(to, "read-not-cached", WARN, NULL,
                  "Perhaps not read warm: the system does not tell how much was in memory.");
    if (r->warm) return to;
    if (r->in_memory)
        stamp_add(to, "read-cached", WARN, number(NULL, "cached_share", share),
                  "Not read cold: the file system is in memory.");
    else if (share > CACHE_SHARE)
        stamp_add(to, "read-cached", WARN, number(NULL, "cached_share", share),
                  "Not read cold: %.0f %% was still in memory after the file had been dropped "
                  "from it.",
                  100 * share);
    else if (!isfinite(share))
        stamp_add(to, "read-cached", WARN, NULL,
                  "Perhaps not read cold: the system does not tell how much was in memory.");
    if (r->in_memory) return to; /* neither servers nor a disk hold anything of it */
    if (r->network)
        stamp_add(to, "read-server-cache", NOTE, NULL,
                  "Read cold as far as the nodes go: what the servers of a network file system "
                  "hold in memory cannot be dropped or seen from here.");
    else if (r->virtual)
        stamp_add(to, "read-server-cache", NOTE, NULL,
                  "Read cold as far as this virtual machine goes: what its host holds of the disk "
                  "in memory cannot be dropped or seen from here.");
    return to;
}

json_t *bt_judge_readings(const struct bt_job *job, const char *writer,
                          const struct bt_reading *like)
{
    json_t *to = json_array();
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        for (int k = 0; strcmp(run->writer, writer) == 0 && k < run->readings.n; k++) {
            json_t *one, *of_reading = bt_judge_reading(&run->readings.reading[k]);
            size_t s;
            json_array_foreach(of_reading, s, one)
            {
                const bool known = stamp_find(to, stamp_text(one, "code")) != NULL;
                if (bt_reading_alike(like, &run->readings.reading[k]) && !known)
                    json_array_append(to, one);
            }
            json_decref(of_reading);
        }
    }
    return to;
}

/* ------------------------------------------------------------------ a writer */

static void judge_balance(json_t *to, const struct bt_row *row)
{
    const double zeta = row->median.zeta, paired = row->median.zeta_paired;
    const double lo = row->paired_lo, hi = row->paired_hi;
    const bool enough = row->pairs >= ROUNDS_MIN;
    char interval[96] = "", rounds[80];
    double needed = ROUNDS_MIN;
    if (!isfinite(zeta)) return;
    if (isfinite(lo))
        snprintf(interval, sizeof interval,
                 "paired zeta %.3f, 95 %% interval %.3f to %.3f, %d rounds", paired, lo, hi,
                 row->pairs);
    if (enough) needed = stat_values_needed(row->pairs, paired, lo, hi, BT_BALANCE_GOAL);
    snprintf(rounds, sizeof rounds, "About %.0f rounds", needed);
    if (needed > BT_REPEAT_MAX)
        snprintf(rounds, sizeof rounds, "More than %d rounds", BT_REPEAT_MAX);

    json_t *n = number(NULL, "zeta", zeta);
    number(n, "goal", BT_BALANCE_GOAL);
    number(n, "zeta_paired", paired);
    number(n, "zeta_paired_ci95_lo", lo);
    number(n, "zeta_paired_ci95_hi", hi);
    number(n, "rounds_n", row->pairs > 0 ? row->pairs : row->runs);
    if (enough && hi <= BT_BALANCE_GOAL) {
        stamp_add(to, "balanced", GOOD, n, "Balanced: %s; NAS's goal is at most %.2f.", interval,
                  BT_BALANCE_GOAL);
        return;
    }
    if (enough && lo > BT_BALANCE_GOAL) {
        stamp_add(
            to, "not-balanced", BAD, n,
            "Not balanced: %s; NAS's goal is at most %.2f. I/O is too slow for this computation.",
            interval, BT_BALANCE_GOAL);
        return;
    }
    number(n, "rounds_needed_n", needed);
    if (enough)
        stamp_add(to, "undecided", NOTE, n,
                  "Undecided: %s, on both sides of NAS's goal of %.2f. %s would decide.", interval,
                  BT_BALANCE_GOAL, rounds);
    else if (row->pairs > 1)
        stamp_add(to, "undecided", NOTE, n,
                  "Undecided: %s. A verdict needs %d rounds: --repeat %d.", interval, ROUNDS_MIN,
                  ROUNDS_MIN);
    else if (row->runs == 1)
        stamp_add(to, "undecided", NOTE, n,
                  "Undecided: one round. zeta is %.3f; NAS's goal is at most %.2f. A verdict needs "
                  "%d rounds: --repeat %d.",
                  zeta, BT_BALANCE_GOAL, ROUNDS_MIN, ROUNDS_MIN);
    else
        stamp_add(to, "undecided", NOTE, n,
                  "Undecided: zeta is %.3f, but no round holds a compute-only run to compare with: "
                  "leave out --tc SECONDS.",
                  zeta);
}

/* The rate that the time above T_C stands for, where that time is more than noise. */
static void judge_rate(json_t *to, const struct bt_row *row)
{
    const bool paired = row->pairs > 1;
    const double t_c =
        paired ? row->median.t_c_round_s : row->median.t_t_s / (1 + row->median.zeta);
    const double zeta = paired ? row->median.zeta_paired : row->median.zeta;
    const double bytes = (double)row->bytes, rate = bytes / (zeta * t_c);
    const double goal = bytes / (BT_BALANCE_GOAL * t_c);
    char is[UNITS_TEXT_MAX], should[UNITS_TEXT_MAX];
    if (!(paired ? row->paired_lo > 0 : zeta > NOISE) || bytes <= 0) return;
    json_t *n = number(NULL, "rate_bytes_per_s", rate);
    number(n, "needed_bytes_per_s", goal);
    units_rate(rate, is);
    units_rate(goal, should);
    if (zeta > BT_BALANCE_GOAL)
        stamp_add(to, "implied-rate", NOTE, n,
                  "Effective write rate %s; %s would meet the goal of %.0f %%.", is, should,
                  100 * BT_BALANCE_GOAL);
    else
        stamp_add(to, "implied-rate", NOTE, n,
                  "Effective write rate %s; the goal of %.0f %% needs %s.", is,
                  100 * BT_BALANCE_GOAL, should);
}

static void judge_times(json_t *to, const struct bt_job *job, const struct bt_row *row)
{
    const double slowness = 1 + row->median.zeta_compute;
    const bool slow = slowness > SLOW_COMPUTING;
    const unsigned caps = io_writer_caps(row->writer);
    if (!(caps & IO_CAP_SERIAL_FILE)) {
        stamp_add(to, caps & IO_CAP_PARTS ? "no-serial-file" : "writer-null", NOTE, NULL,
                  "Leaves no serial file, so this is not a result of the benchmark: its times show "
                  "the cost of everything except that file.");
    } else {
        judge_balance(to, row);
        if (!slow) judge_rate(to, row);
    }
    if (slow)
        stamp_add(
            to, "disturbed", WARN, number(NULL, "computing_per_t_c", slowness),
            "Computing beside the dumps took %.3g times T_C, so zeta says more about that than "
            "about writing. Is the computer busy with something else? Are ranks bound to too few "
            "cores?",
            slowness);
    if (row->median.zeta < 0)
        stamp_add(
            to, "tc-not-best", job->tc.origin == BT_TC_FROM_USER ? NOTE : WARN,
            number(NULL, "zeta", row->median.zeta),
            "zeta is below 0: the run with I/O was %.1f %% faster than %s, so that time is not "
            "the best: measure it again with --tc measure.",
            -100 * row->median.zeta,
            job->tc.origin == BT_TC_FROM_USER    ? "the T_C given with --tc"
            : job->tc.origin == BT_TC_FROM_STORE ? "the best compute-only time known"
                                                 : "the compute-only run of this job");
    if (row->median.t_t_s < SHORT_S)
        stamp_add(to, "too-short", NOTE, number(NULL, "t_t_s", row->median.t_t_s),
                  "The run took less than a second: start-up and noise dominate times this short; "
                  "use a larger class to judge the system.");
}

static json_t *judge_row(const struct bt_job *job, const struct bt_row *row)
{
    json_t *to = json_array();
    /* Times of wrong files mean nothing. */
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
            const bool partly = strcmp(code, "official") == 0 && !row->official;
            if (!partly && !stamp_find(to, code)) json_array_append(to, one);
        }
        json_decref(of_run);
    }
    return to;
}

void bt_judge(struct bt_judged *to, const struct bt_job *job)
{
    to->job = job;
    to->rows_n = bt_ranking(job, to->row);
    for (int i = 0; i < to->rows_n; i++)
        to->row[i].stamps = judge_row(job, &to->row[i]);
    to->stamps = judge_job(to);
}

void bt_judge_free(struct bt_judged *judged)
{
    for (int i = 0; i < judged->rows_n; i++)
        json_decref(judged->row[i].stamps);
    json_decref(judged->stamps);
}
