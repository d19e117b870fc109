/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run of nht1-workload says: text for people, JSON for programs. */
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/columns.h"
#include "base/json.h"
#include "base/num.h"
#include "base/plain.h"
#include "base/program.h"
#include "base/stamp.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "companions/workload/accesses.h"
#include "companions/workload/job.h"

/* --- judgements ----------------------------------------------------------------------------- */

/* Whether the time is that of memory, not of a device: what was read lay in memory, or what was
 * written was not flushed inside the clock. */
static bool from_memory(const struct workload_job *job, const struct workload_measured *m)
{
    const bool uncached = m->cached_before >= 0 && m->cached_before <= CACHE_SHARE;
    return job->fs.in_memory || (m->reads && !uncached) ||
           (m->writes &&
            (!job->context.sync_end || job->fs.never_flushed || m->dirty_after > CACHE_SHARE));
}

static json_t *measurement_stamps(const struct workload_job *job, const struct workload_measured *m)
{
    json_t *list = json_array();
    const double all_s = workload_times_aggregate(&m->times);
    if (!m->enough)
        stamp_add(
            list, STAMP_TOO_SHORT, SEVERITY_WARN,
            json_pack("{so so}", "aggregate_s", js_real(all_s), "b_share",
                      js_real(all_s > 0 ? m->times.b_s / all_s : 0)),
            "Too little data: the second barrier takes more than 1 %% of the time, or the time is "
            "less than a second or a hundred times the uncertainty of the clocks.");
    if (from_memory(job, m))
        stamp_add(
            list, STAMP_PAGE_CACHE, SEVERITY_NOTE,
            json_pack("{so}", "cached_share_before",
                      m->cached_before >= 0 ? js_real(m->cached_before) : json_null()),
            "The time is at least partly that of memory, or may be: what was read was cached, or "
            "nothing shows that it was not; or what was written was not flushed inside the "
            "clock.");
    return list;
}

/* Measurements that read or write again what they have read or written. */
static int again_n(const struct workload_job *job)
{
    int n = 0;
    for (int i = 0; i < job->measured_n; i++)
        n += workload_job_measured(job, i)->again;
    return n;
}

static json_t *stamps(const struct workload_job *job)
{
    json_t *list = json_array();
    int memory = 0, shorter = 0, done = 0;
    for (int i = 0; i < job->measured_n; i++) {
        const struct workload_measured *m = workload_job_measured(job, i);
        done += m->done;
        memory += from_memory(job, m);
        shorter += job->kind == WORKLOAD_PHASES && !m->enough;
    }
    const bool valid = job->done && job->wrong_n == 0 && shorter == 0;
    const char *good =
        job->kind == WORKLOAD_PHASES ? "Every measurement held enough data" : "The run finished";
    const char *behind = sys_fs_behind(&job->fs);
    const bool disturbed = job->disturbance.disturbed;
    stamp_add(list, valid ? STAMP_VALID : STAMP_NOT_VALID,
              !valid      ? SEVERITY_BAD
              : disturbed ? SEVERITY_NOTE
                          : SEVERITY_GOOD,
              json_pack("{si si}", "measured_n", job->measured_n, "too_short_n", shorter), "%s%s%s",
              valid && disturbed ? "Valid by definition, but disturbed. " : "",
              valid              ? good
              : job->wrong_n > 0 ? "Data were wrong."
              : !job->done       ? "The run did not finish."
                                 : "Some measurements held too little data.",
              !valid               ? ""
              : job->context.check ? ", and all checked data were right."
                                   : ".");
    disturbance_stamp(&job->disturbance, list);
    /* Only a job that has measured, to its end, shows that none of it was memory. */
    if (memory > 0 && done > 0)
        stamp_add(list, STAMP_NOT_CACHE_HONEST, SEVERITY_NOTE,
                  json_pack("{si si}", "measured_n", job->measured_n, "from_memory_n", memory),
                  "Some measurements are of memory at least in part; each says so.");
    else if (job->done && job->measured_n > 0 && again_n(job) == 0)
        stamp_add(list, STAMP_CACHE_HONEST, SEVERITY_GOOD,
                  json_pack("{si si}", "measured_n", job->measured_n, "from_memory_n", memory),
                  "What was read was not in memory before, what was written was flushed inside the "
                  "clock.%s%s%s",
                  behind ? " What " : "", behind ? behind : "", behind ? " is not seen." : "");
    const struct workload_accessfile *a = &job->accesses;
    if (a->lost_n > 0 || a->unplaced_n > 0)
        stamp_add(
            list, STAMP_INCOMPLETE, SEVERITY_WARN,
            json_pack("{sI sI sI}", "replayed_n", (json_int_t)a->calls_n, "unplaced_n",
                      (json_int_t)a->unplaced_n, "lost_n", (json_int_t)a->lost_n),
            "%lld of the program's %lld accesses are not in %s, and were not replayed: of %lld the "
            "place is not known, for %lld there was no room.",
            (long long)num_sum(a->unplaced_n, a->lost_n),
            (long long)num_sum(a->calls_n, num_sum(a->unplaced_n, a->lost_n)), job->name,
            (long long)a->unplaced_n, (long long)a->lost_n);
    const char *note;
    for (size_t i = 0; (note = json_string_value(json_array_get(job->jobfile.notes, i))); i++)
        stamp_add(list, STAMP_DIRECTIVE_OVERRIDDEN, SEVERITY_NOTE, json_object(), "%s", note);
    if (!job->context.check)
        stamp_add(list, STAMP_NOT_VERIFIED, SEVERITY_WARN, json_object(),
                  "No data were checked (--check none).");
    return list;
}

/* --- JSON ----------------------------------------------------------------------------------- */

/* All complete measurements together. [out] */
static void totals(const struct workload_job *job, int64_t *bytes, double *s)
{
    *bytes = 0;
    *s = 0;
    for (int i = 0; i < job->measured_n && workload_job_measured(job, i)->done; i++) {
        *bytes += workload_job_measured(job, i)->bytes;
        *s += workload_times_aggregate(&workload_job_measured(job, i)->times);
    }
}

/* The description as the argument of the command. */
static void add_argument(json_t *o, const struct workload_job *job)
{
    char word[CONF_WORD_MAX], *line = NULL;
    const char *const options = json_string_value(json_object_get(o, "command_line"));
    struct text t;
    if (job->opt->reference || job->opt->patterns || text_begin(&t) < 0) return;
    fprintf(t.to, "%s%s%s", options ? options : "", options && *options ? " " : "",
            conf_file_word(job->name, word));
    if (text_end(&t, &line) == 0) json_object_set_new(o, "command_line", js_text(line));
    free(line);
}

json_t *workload_job_json(const void *of, int status)
{
    static const char *const kind[] = {"points", "patterns", "accesses"};
    const struct workload_job *job = of;
    json_t *o =
               program_result(&workload_program, job->opt, "nht1-workload/1", status, job->started),
           *system = program_system(&job->nodes), *list = json_array();
    int64_t bytes;
    double s;
    add_argument(o, job);
    totals(job, &bytes, &s);
    json_object_set_new(system, "file_system", sys_fs_json(&job->fs));
    json_object_set_new(system, "mpiio_component", js_text(job->component));
    for (int i = 0; i < job->measured_n; i++) {
        json_t *one = job->kind == WORKLOAD_POINTS ? workload_outcome_json(&job->outcome[i])
                      : job->kind == WORKLOAD_PHASES
                          ? workload_phase_json(&job->phase[i])
                          : workload_access_json(&job->accesses, job->replayed);
        json_object_set_new(one, "stamps", measurement_stamps(job, workload_job_measured(job, i)));
        json_array_append_new(list, one);
    }
    json_t *more = json_pack(
        "{so so ss ss so sI so so so so sI so so so so}", "system", system, "description",
        js_text(job->name), "kind", kind[job->kind], "mode",
        job->kind == WORKLOAD_POINTS && job->workload.separate ? "separate" : "common",
        "clock_uncertainty_s", js_real(job->context.clock.uncertainty_s), "bytes",
        (json_int_t)bytes, "aggregate_s", js_real(s), "bytes_per_s",
        js_real(s > 0 ? (double)bytes / s : 0), "paused_s", js_real(job->paused_s), "took_s",
        js_real(job->took_s), "wrong_n", (json_int_t)job->wrong_n, "points",
        job->kind == WORKLOAD_POINTS ? json_incref(list) : json_array(), "phases",
        job->kind == WORKLOAD_PHASES ? json_incref(list) : json_array(), "replays",
        job->kind == WORKLOAD_ACCESSES ? json_incref(list) : json_array(), "stamps", stamps(job));
    json_decref(list);
    json_object_update_new(o, more);
    json_object_set_new(o, "disturbance", disturbance_json(&job->disturbance));
    return o;
}

/* --- text ----------------------------------------------------------------------------------- */

void workload_job_heading(const struct workload_job *job, FILE *to)
{
    plain_line(to, "nht1-workload %s: %s on %d process%s", nht1_build, job->name, job->context.size,
               job->context.size == 1 ? "" : "es");
    const bool named = strncmp(job->component, "unknown", 7) != 0;
    plain_line(to, "files: %s (%s, MPI-IO %s)", job->opt->out, job->fs.type,
               named ? job->component : "as the library chooses");
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

/* What all processes move in a phase, and into how long a file; of an amount that is to be found, what
 * the first try takes. */
static void plan_amount(const struct workload_phase *p, const struct workload_shape *s, FILE *to)
{
    char moved[UNITS_TEXT_MAX], file[UNITS_TEXT_MAX];
    int64_t bytes = 0;
    for (int rank = 0; rank < s->procs; rank++)
        bytes = num_sum(bytes, workload_phase_amount(p, s, rank).bytes);
    fprintf(to, "    %scalls per process %lld, %s in all, file of %s\n",
            p->data_bytes > 0 ? "" : "at least: ", (long long)workload_phase_amount(p, s, 0).calls,
            units_bytes((double)bytes, moved), units_bytes((double)workload_shape_length(s), file));
}

static void plan_phases(const struct workload_job *job, FILE *to)
{
    const int procs = job->context.size;
    const char *note;
    int64_t longest = 0;
    bool all_known = true;
    for (size_t i = 0; (note = json_string_value(json_array_get(job->jobfile.notes, i))); i++)
        fprintf(to, "%s\n", note);
    for (int i = 0; i < job->jobfile.n; i++) {
        const struct workload_phase *p = &job->jobfile.phase[i];
        char title[64], unit[UNITS_TEXT_MAX], data[UNITS_TEXT_MAX];
        if (p->pause_s > 0) {
            fprintf(to, "phase %d: think %g s, %s\n", i + 1, p->pause_s,
                    p->think_busy ? "busy" : "idle");
            continue;
        }
        const int64_t n = workload_phase_repetitions(p, procs);
        const struct workload_shape one = workload_phase_shape(p, procs, 1);
        const struct workload_shape s = workload_phase_shape(p, procs, n);
        fprintf(to, "phase %d: %s, %s, %s, memory %s, file %s, record %lld, data %s", i + 1,
                workload_phase_title(p, title), workload_method_name(p->method),
                p->view ? "view" : "offsets", p->memory.strided ? "strided" : "contiguous",
                p->shape.packed ? "contiguous" : "as the pattern", (long long)p->shape.record_bytes,
                p->data_bytes > 0 ? units_bytes((double)p->data_bytes, data) : "auto");
        fprintf(to, " (%s in a repetition)", units_bytes((double)workload_shape_bytes(&one), unit));
        if (p->fraction < 1) fprintf(to, ", fraction %g", p->fraction);
        fputc('\n', to);
        plan_amount(p, &s, to);
        longest = num_max(longest, workload_shape_length(&s));
        all_known = all_known && p->data_bytes > 0;
    }
    char space[UNITS_TEXT_MAX];
    if (longest > 0)
        fprintf(to, "file: %s%s\n", all_known ? "" : "at least ",
                units_bytes((double)longest, space));
}

static void plan_accesses(const struct workload_accessfile *a, FILE *to)
{
    char text[UNITS_TEXT_MAX];
    fprintf(to, "%lld calls of %d process%s, %s in all\n", (long long)a->calls_n, a->processes_n,
            a->processes_n == 1 ? "" : "es", units_bytes((double)a->bytes, text));
    for (int i = 0; i < a->files_n; i++)
        plain_line(to, "file %d: %s%s, %s", i, units_bytes((double)a->file[i].length_bytes, text),
                   a->file[i].read ? ", laid out before" : "", a->file[i].name);
}

void workload_job_plan(const struct workload_job *job, FILE *to)
{
    if (job->kind == WORKLOAD_POINTS)
        plan_points(job, to);
    else if (job->kind == WORKLOAD_PHASES)
        plan_phases(job, to);
    else
        plan_accesses(&job->accesses, to);
}

static void result_head(struct columns *table)
{
    columns_begin(table, "-38 9 9 12 8 6  -0");
    columns_row(table, "", "data", "S + T + B", "rate", "B", "cached", NULL);
}

/* A row of the table. mark: what is wrong with it, or "". */
static void result_row(struct columns *table, const char *name, const struct workload_measured *m,
                       const char *mark)
{
    char size[UNITS_TEXT_MAX], speed[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX], part[32] = "n/a", b[32];
    const double s = workload_times_aggregate(&m->times);
    if (m->cached_before >= 0) snprintf(part, sizeof part, "%.0f %%", 100 * m->cached_before);
    snprintf(b, sizeof b, "%.2f %%", s > 0 ? 100 * m->times.b_s / s : 0);
    columns_row(table, name, units_bytes((double)m->bytes, size), units_duration(s, time),
                units_rate(m->bytes_per_s, speed), b, part,
                m->findings.wrong_n > 0 ? "WRONG DATA" : mark, NULL);
}

/* The point's row, and what belongs to it below. table: with the heading, at the first point. */
static void result_point(const struct workload_outcome *o, int no, struct columns *table, FILE *to)
{
    const struct workload_point achieved = workload_achieved_point(&o->achieved, o->asked);
    char name[32];
    snprintf(name, sizeof name, "point %d, file %d", no + 1, o->asked->file);
    result_row(table, name, &o->m, "");
    columns_print(table, to);
    fprintf(to, "    asked   ");
    print_point(o->asked, to);
    fprintf(to, "    achieved");
    print_point(&achieved, to);
    fprintf(to, "    calls   ");
    for (int k = 0; k < WORKLOAD_KINDS; k++)
        if (o->achieved.calls[k] > 0)
            fprintf(to, " %s %lld", workload_kind_name(k), (long long)o->achieved.calls[k]);
    fprintf(to, "\n");
    if (o->bytes_max != o->bytes_min)
        fprintf(to, "    a process moved %lld to %lld bytes\n", (long long)o->bytes_min,
                (long long)o->bytes_max);
}

static void result_accesses(const struct workload_job *job, struct columns *table, FILE *to)
{
    const struct workload_access_result *r = job->replayed;
    char name[32];
    snprintf(name, sizeof name, "accesses of %d file%s", job->accesses.files_n,
             units_plural(job->accesses.files_n));
    result_row(table, name, &r->m, "");
    columns_print(table, to);
    fprintf(to, "    calls   ");
    for (int i = 0; i < WORKLOAD_RUN_CALLS; i++)
        if (r->calls[i] > 0)
            fprintf(to, " %s %lld", workload_run_call_name(i), (long long)r->calls[i]);
    fprintf(to, "\n");
    if (r->otherwise_n > 0)
        fprintf(to, "    %lld descriptor%s without O_TRUNC or O_APPEND, unlike the program's\n",
                (long long)r->otherwise_n, units_plural(r->otherwise_n));
    if (r->bytes_max != r->bytes_min)
        fprintf(to, "    a process moved %lld to %lld bytes\n", (long long)r->bytes_min,
                (long long)r->bytes_max);
}

static void result_phase(const struct workload_phase_result *r, struct columns *table)
{
    char title[64], mark[80] = "";
    if (!r->m.enough)
        snprintf(mark, sizeof mark, "too little data%s%s%s", r->limit ? " (limit: " : "",
                 r->limit ? r->limit : "", r->limit ? ")" : "");
    result_row(table, workload_phase_title(r->phase, title), &r->m, mark);
}

static void result_all(const struct workload_job *job, FILE *to)
{
    int64_t bytes;
    double s;
    char size[UNITS_TEXT_MAX], speed[UNITS_TEXT_MAX], clock[UNITS_TEXT_MAX];
    struct columns table;
    result_head(&table);
    fputc('\n', to);
    for (int i = 0; i < job->measured_n && workload_job_measured(job, i)->done; i++) {
        if (job->kind == WORKLOAD_POINTS)
            result_point(&job->outcome[i], i, &table, to);
        else if (job->kind == WORKLOAD_PHASES)
            result_phase(&job->phase[i], &table);
        else
            result_accesses(job, &table, to);
    }
    columns_print(&table, to);
    totals(job, &bytes, &s);
    fprintf(to, "\nIn all %s at %s. Clocks agree to %s.\n", units_bytes((double)bytes, size),
            units_rate(s > 0 ? (double)bytes / s : 0, speed),
            units_duration(job->context.clock.uncertainty_s, clock));
    if (job->paused_s > 0) fprintf(to, "Thinking between phases took %.3g s.\n", job->paused_s);
    if (job->kind == WORKLOAD_POINTS && job->opt->think)
        fprintf(to, "Times between calls (think) are inside S + T + B.\n");
}

void workload_job_results(const struct workload_job *job, FILE *to)
{
    json_t *list = stamps(job), *one;
    if (job->measured_n > 0 && workload_job_measured(job, 0)->done) result_all(job, to);
    for (size_t i = 0; (one = json_array_get(list, i)) != NULL; i++)
        fprintf(to, "[%s] %s\n", json_string_value(json_object_get(one, "code")),
                json_string_value(json_object_get(one, "sentence")));
    json_decref(list);
    const int again = again_n(job);
    if (again > 0)
        fprintf(
            to,
            "%d of %d measurement%s read or wrote some bytes more than once: part of that may have "
            "stayed in memory.\n",
            again, job->measured_n, units_plural(job->measured_n));
}
