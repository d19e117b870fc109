/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run of nht1-workload says: text for people, JSON for programs. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/program.h"
#include "base/stamp.h"
#include "base/units.h"
#include "base/version.h"
#include "workload/job.h"

#define CACHED_SHARE 0.05 /* of a file in memory: less than that does not make a result */

/* --- judgements ----------------------------------------------------------------------------- */

static bool is_reading(const struct workload_phase_result *r)
{
    return r->phase->temporal == WORKLOAD_READ || r->phase->temporal == WORKLOAD_REREAD ||
           r->phase->temporal == WORKLOAD_MODIFY;
}

/* Whether a measurement tells about a device: what it wrote was flushed inside the clock, what it
 * read was not in memory. */
static bool from_memory(bool reads, bool writes, double cached_before, bool flushed,
                        const struct sys_fs *fs)
{
    if (fs->in_memory) return true;
    return (reads && cached_before > CACHED_SHARE) || (writes && !flushed);
}

static bool phase_from_memory(const struct workload_job *job, const struct workload_phase_result *r)
{
    const bool writes =
        r->phase->temporal != WORKLOAD_READ && r->phase->temporal != WORKLOAD_REREAD;
    return from_memory(is_reading(r), writes, r->cached_before, job->context.sync_end, &job->fs);
}

static bool point_from_memory(const struct workload_job *job, const struct workload_outcome *o)
{
    const struct workload_point p = workload_achieved_point(&o->achieved, o->asked);
    return from_memory(p.read_frac > 0, p.read_frac < 1, o->cached_before, job->context.sync_end,
                       &job->fs);
}

static void stamp_measurement(json_t *list, const struct workload_times *t, bool enough,
                              bool memory, double cached)
{
    const double all_s = workload_times_aggregate(t);
    if (!enough)
        stamp_add(
            list, "too-short", "warn",
            json_pack("{so so}", "aggregate_s", js_real(all_s), "b_share",
                      js_real(all_s > 0 ? t->b_s / all_s : 0)),
            "Too little data: the second barrier takes more than 1 %% of the time, or the time is "
            "less than a second or a hundred times the uncertainty of the clocks.");
    if (memory)
        stamp_add(
            list, "page-cache", "note",
            json_pack("{so}", "cached_share_before", cached >= 0 ? js_real(cached) : json_null()),
            "The time is at least partly that of memory: what was read was cached, or what was "
            "written was not flushed inside the clock.");
}

static json_t *stamps(const struct workload_job *job)
{
    json_t *list = json_array();
    int measured = 0, memory = 0, shorter = 0;
    for (int i = 0; i < job->phases_n; i++, measured++) {
        memory += phase_from_memory(job, &job->phase[i]);
        shorter += !job->phase[i].enough;
    }
    for (int i = 0; job->is_points && i < job->workload.points_n && job->outcome[i].asked;
         i++, measured++)
        memory += point_from_memory(job, &job->outcome[i]);
    const bool valid = job->done && job->wrong_n == 0 && shorter == 0;
    stamp_add(list, valid ? "valid" : "not-valid", valid ? "good" : "bad",
              json_pack("{si si}", "measured_n", measured, "too_short_n", shorter), "%s",
              valid ? "Every measurement held enough data, and all checked data were right."
              : job->wrong_n > 0 ? "Data were wrong."
              : !job->done       ? "The run did not finish."
                                 : "Some measurements held too little data.");
    stamp_add(
        list, memory == 0 ? "cache-honest" : "not-cache-honest", memory == 0 ? "good" : "note",
        json_pack("{si si}", "measured_n", measured, "from_memory_n", memory), "%s",
        memory == 0 ? "What was read was not in memory before, what was written was flushed inside "
                      "the clock."
                    : "Some measurements are of memory at least in part; each says so.");
    if (!job->context.check)
        stamp_add(list, "not-verified", "warn", json_object(),
                  "No data were checked (--check none).");
    return list;
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void member(json_t *to, const char *key, json_t *value)
{
    json_object_set_new(to, key, value);
}

static json_t *points_json(const struct workload_job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->workload.points_n; i++) {
        const struct workload_outcome *o = &job->outcome[i];
        if (!o->asked) break;
        json_t *one = workload_outcome_json(o), *marks = json_array();
        stamp_measurement(marks, &o->times, workload_times_enough(&o->times, &job->context.clock),
                          point_from_memory(job, o), o->cached_before);
        member(one, "stamps", marks);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *phases_json(const struct workload_job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->phases_n; i++) {
        const struct workload_phase_result *r = &job->phase[i];
        json_t *one = workload_phase_json(r), *marks = json_array();
        stamp_measurement(marks, &r->times, r->enough, phase_from_memory(job, r), r->cached_before);
        member(one, "stamps", marks);
        json_array_append_new(list, one);
    }
    return list;
}

/* All measurements together. [out] */
static void totals(const struct workload_job *job, int64_t *bytes, double *s)
{
    *bytes = 0;
    *s = 0;
    for (int i = 0; i < job->phases_n; i++) {
        *bytes += job->phase[i].bytes;
        *s += workload_times_aggregate(&job->phase[i].times);
    }
    for (int i = 0; job->is_points && i < job->workload.points_n; i++) {
        *bytes += job->outcome[i].bytes;
        *s += workload_times_aggregate(&job->outcome[i].times);
    }
}

json_t *workload_job_json(const struct workload_job *job, int status)
{
    json_t *o =
               program_result(&workload_program, job->opt, "nht1-workload/1", status, job->started),
           *system = program_system(&job->nodes, job->mpi);
    int64_t bytes;
    double s;
    totals(job, &bytes, &s);
    member(system, "file_system", sys_fs_json(&job->fs));
    member(system, "mpiio_component", js_text(job->component));
    member(o, "system", system);
    member(o, "description", js_text(job->name));
    member(o, "kind", json_string(job->is_points ? "points" : "patterns"));
    member(o, "mode",
           json_string(job->is_points && job->workload.separate ? "separate" : "common"));
    member(o, "clock_uncertainty_s", js_real(job->context.clock.uncertainty_s));
    member(o, "bytes", json_integer((json_int_t)bytes));
    member(o, "aggregate_s", js_real(s));
    member(o, "bytes_per_s", js_real(s > 0 ? (double)bytes / s : 0));
    member(o, "paused_s", js_real(job->paused_s));
    member(o, "took_s", js_real(job->took_s));
    member(o, "wrong_n", json_integer((json_int_t)job->wrong_n));
    member(o, "points", job->is_points ? points_json(job) : json_array());
    member(o, "phases", phases_json(job));
    member(o, "stamps", stamps(job));
    return o;
}

/* --- text ----------------------------------------------------------------------------------- */

void workload_job_heading(const struct workload_job *job, FILE *to)
{
    fprintf(to, "nht1-workload %s: %s on %d process%s\n", nht1_build, job->name, job->context.size,
            job->context.size == 1 ? "" : "es");
    fprintf(to, "files: %s (%s, %s)\n", job->opt->out, job->fs.type, job->component);
}

static void print_point(const struct workload_point *p, FILE *to)
{
    char text[NUM_TEXT_MAX];
    for (int i = 0; i < WORKLOAD_NUMBERS; i++)
        fprintf(to, " %s %s", workload_numbers[i].name,
                num_real(workload_point_number(p, i), text));
    fprintf(to, "\n");
}

static void plan_points(const struct workload_job *job, FILE *to)
{
    int64_t bytes[WORKLOAD_FILES_MAX];
    bool read[WORKLOAD_FILES_MAX];
    char text[UNITS_TEXT_MAX];
    workload_replay_needs(&job->workload, 0, bytes, read);
    for (int i = 0; i < job->workload.points_n; i++) {
        const struct workload_point *p = &job->workload.point[i];
        fprintf(to, "point %d, file %d:", i + 1, p->file);
        print_point(p, to);
        fprintf(to, "    calls per process %lld, %s in all\n", (long long)workload_point_calls(p),
                units_bytes((double)p->unique_bytes, text));
    }
    for (int i = 0; i < WORKLOAD_FILES_MAX; i++)
        if (bytes[i] > 0)
            fprintf(to, "file %d: %s%s%s\n", i, units_bytes((double)bytes[i], text),
                    job->workload.separate ? " (of process 0)" : "",
                    read[i] ? ", laid out before" : "");
}

static void plan_phases(const struct workload_job *job, FILE *to)
{
    for (int i = 0; i < job->jobfile.n; i++) {
        const struct workload_phase *p = &job->jobfile.phase[i];
        const struct workload_shape s = workload_phase_shape(p, job->context.size, 1);
        char title[64], unit[UNITS_TEXT_MAX], data[UNITS_TEXT_MAX];
        if (p->pause_s > 0) {
            fprintf(to, "phase %d: think %g s, %s\n", i + 1, p->pause_s,
                    p->think_busy ? "busy" : "idle");
            continue;
        }
        fprintf(to, "phase %d: %s, %s, %s, memory %s, file %s, record %lld, data %s", i + 1,
                workload_phase_title(p, title), workload_method_name(p->method),
                p->view ? "view" : "offsets", p->memory.strided ? "strided" : "contiguous",
                p->shape.packed ? "contiguous" : "as the pattern", (long long)p->shape.record_bytes,
                p->data_bytes > 0 ? units_bytes((double)p->data_bytes, data) : "auto");
        fprintf(to, " (%s in a repetition)\n", units_bytes((double)workload_shape_bytes(&s), unit));
    }
}

void workload_job_plan(const struct workload_job *job, FILE *to)
{
    if (job->is_points)
        plan_points(job, to);
    else
        plan_phases(job, to);
}

static void result_line(FILE *to, const char *name, int64_t bytes, const struct workload_times *t,
                        double rate, double cached, const char *mark)
{
    char size[UNITS_TEXT_MAX], speed[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX], part[32] = "   n/a";
    const double s = workload_times_aggregate(t);
    if (cached >= 0) snprintf(part, sizeof part, "%4.0f %%", 100 * cached);
    fprintf(to, "%-38s %9s %9s %12s %6.2f %% %6s%s\n", name, units_bytes((double)bytes, size),
            units_duration(s, time), units_rate(rate, speed), s > 0 ? 100 * t->b_s / s : 0, part,
            mark);
}

static void results_points(const struct workload_job *job, FILE *to)
{
    for (int i = 0; i < job->workload.points_n && job->outcome[i].done; i++) {
        const struct workload_outcome *o = &job->outcome[i];
        const struct workload_point achieved = workload_achieved_point(&o->achieved, o->asked);
        char name[32];
        snprintf(name, sizeof name, "point %d, file %d", i + 1, o->asked->file);
        result_line(to, name, o->bytes, &o->times, o->bytes_per_s, o->cached_before,
                    o->findings.wrong_n > 0 ? "  WRONG DATA" : "");
        fprintf(to, "    asked   ");
        print_point(o->asked, to);
        fprintf(to, "    achieved");
        print_point(&achieved, to);
        fprintf(to, "    calls   ");
        for (int k = 0; k < WORKLOAD_KINDS; k++)
            if (o->achieved.calls[k] > 0)
                fprintf(to, " %s %lld", workload_kind_name(workload_kind_of(k)),
                        (long long)o->achieved.calls[k]);
        fprintf(to, "\n");
        if (o->bytes_max != o->bytes_min)
            fprintf(to, "    a process moved %lld to %lld bytes\n", (long long)o->bytes_min,
                    (long long)o->bytes_max);
    }
}

static void results_phases(const struct workload_job *job, FILE *to)
{
    for (int i = 0; i < job->phases_n; i++) {
        const struct workload_phase_result *r = &job->phase[i];
        char title[64], name[128], mark[80] = "";
        if (!r->done) continue;
        snprintf(name, sizeof name, "%s", workload_phase_title(r->phase, title));
        if (!r->enough)
            snprintf(mark, sizeof mark, "  too little data%s%s%s", r->limit ? " (limit: " : "",
                     r->limit ? r->limit : "", r->limit ? ")" : "");
        result_line(to, name, r->bytes, &r->times, r->bytes_per_s, r->cached_before,
                    r->findings.wrong_n > 0 ? "  WRONG DATA" : mark);
    }
}

void workload_job_results(const struct workload_job *job, FILE *to)
{
    int64_t bytes;
    double s;
    char size[UNITS_TEXT_MAX], speed[UNITS_TEXT_MAX], clock[UNITS_TEXT_MAX];
    fprintf(to, "\n%-38s %9s %9s %12s %8s %6s\n", "", "data", "S + T + B", "rate", "B", "cached");
    if (job->is_points)
        results_points(job, to);
    else
        results_phases(job, to);
    totals(job, &bytes, &s);
    fprintf(to, "\nIn all %s at %s. Clocks agree to %s.\n", units_bytes((double)bytes, size),
            units_rate(s > 0 ? (double)bytes / s : 0, speed),
            units_duration(job->context.clock.uncertainty_s, clock));
    if (job->paused_s > 0) fprintf(to, "Thinking between phases took %.3g s.\n", job->paused_s);
    if (job->is_points && job->opt->think)
        fprintf(to, "Times between calls (think) are inside S + T + B.\n");
    json_t *list = stamps(job), *one;
    for (size_t i = 0; (one = json_array_get(list, i)) != NULL; i++)
        fprintf(to, "[%s] %s\n", json_string_value(json_object_get(one, "code")),
                json_string_value(json_object_get(one, "sentence")));
    json_decref(list);
}
