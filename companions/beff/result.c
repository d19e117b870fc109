/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/report.h"

#include <stdio.h>

#include "base/json.h"
#include "base/program.h"
#include "base/stamp.h"
#include "companions/beff/traffic.h"

/* Geometric means in bytes/s. */
static json_t *mean(const struct beff_mean *m)
{
    json_t *o = json_object();
    js_set(o, "all_bytes_per_s", js_real(m->both));
    js_set(o, "rings_bytes_per_s", js_real(m->rings));
    js_set(o, "random_bytes_per_s", js_real(m->random));
    return o;
}

static json_t *rings(const struct beff_rings *r)
{
    json_t *a = json_array();
    json_array_append_new(a, json_pack("{si si}", "rings_n", r->first_n, "processes_n", r->first));
    if (r->second_n > 0)
        json_array_append_new(
            a, json_pack("{si si}", "rings_n", r->second_n, "processes_n", r->second));
    return a;
}

static json_t *patterns(const struct beff_job *job)
{
    const struct beff_cube *c = &job->measured.cube;
    json_t *a = json_array();
    for (int p = 0; p < job->plan.patterns_n; p++) {
        const struct beff_pattern *pattern = &job->plan.pattern[p];
        json_t *o = json_object(), *best = json_array(); /* of all methods and repetitions */
        for (int i = 0; i < BEFF_SIZES_N; i++)
            json_array_append_new(
                best, js_real(beff_value(c, p, (struct beff_pick){BEFF_ALL, BEFF_ALL, i})));
        js_set(o, "name", json_string(pattern->name));
        js_set(o, "kind", json_string(beff_kind_name(pattern->kind)));
        js_set(o, "processes_n", json_integer(pattern->processes_n));
        js_set(o, "messages_n", json_integer(pattern->messages_n));
        if (pattern->kind == BEFF_RING) js_set(o, "rings", rings(&pattern->rings));
        for (int d = 0; d < 3 && pattern->dims[d] > 0; d++) {
            if (d == 0) js_set(o, "dims", json_array());
            json_array_append_new(json_object_get(o, "dims"), json_integer(pattern->dims[d]));
        }
        js_set(o, "bytes_per_s", js_real(beff_value(c, p, BEFF_EVERYTHING)));
        js_set(o, "by_size_bytes_per_s", best);
        json_array_append_new(a, o);
    }
    return a;
}

/* Members of a measurement as arrays [repetition][size]; null where nothing was measured. */
enum { LOOP, TIME, WHOLE, LEAST, MEAN, MOST, MEMBERS };
static const char *const member_name[MEMBERS] = {"loop_n",
                                                 "time_s",
                                                 "bytes_per_s",
                                                 "process_min_bytes_per_s",
                                                 "process_mean_bytes_per_s",
                                                 "process_max_bytes_per_s"};

static json_t *member_array(const struct beff_cube *c, int method, int pattern, int member)
{
    json_t *reps = json_array();
    for (int r = 0; r < c->reps_n; r++) {
        json_t *sizes = json_array();
        for (int i = 0; i < BEFF_SIZES_N; i++) {
            const struct beff_cell *cell = beff_cell_at(c, r, i, method, pattern);
            const double value[MEMBERS] = {0,
                                           cell->time_s,
                                           cell->bandwidth,
                                           cell->process_min,
                                           cell->process_mean,
                                           cell->process_max};
            json_array_append_new(sizes, cell->loop == 0  ? json_null()
                                         : member == LOOP ? json_integer(cell->loop)
                                                          : js_real(value[member]));
        }
        json_array_append_new(reps, sizes);
    }
    return reps;
}

static json_t *measurements(const struct beff_job *job)
{
    json_t *a = json_array();
    for (int p = 0; p < job->plan.patterns_n; p++)
        for (int m = 0; m < BEFF_METHODS_N; m++) {
            const struct beff_pattern *pattern = &job->plan.pattern[p];
            if (!beff_measure_wants(job->setup, m, pattern)) continue;
            json_t *o = json_object();
            js_set(o, "pattern", json_string(pattern->name));
            js_set(o, "pattern_index", json_integer(p));
            js_set(o, "method", json_string(beff_method_name(m)));
            for (int k = 0; k < MEMBERS; k++)
                js_set(o, member_name[k], member_array(&job->measured.cube, m, p, k));
            json_array_append_new(a, o);
        }
    return a;
}

static json_t *by_size_json(const struct beff_job *job)
{
    const struct beff_summary *s = &job->summary;
    json_t *a = json_array();
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        json_t *o = mean(&s->size[i]), *by = json_object();
        js_set(o, "message_bytes", json_integer(job->measured.size_bytes[i]));
        for (int m = 0; m < BEFF_METHODS_N; m++)
            if (job->setup->method[m]) js_set(by, beff_method_name(m), mean(&s->size_method[i][m]));
        js_set(o, "by_method", by);
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *by_method_json(const struct beff_job *job)
{
    const struct beff_summary *s = &job->summary;
    json_t *o = json_object();
    for (int m = 0; m < BEFF_METHODS_N; m++)
        if (job->setup->method[m]) js_set(o, beff_method_name(m), mean(&s->method[m]));
    js_set(o, "best_per_pattern", mean(&s->method_last));
    return o;
}

/* The sentences of the stamps that make the result none of b_eff, or of the others that say more than
 * that it is one, or a trial. */
static json_t *sentences(const struct beff_job *job, bool not_valid)
{
    json_t *texts = json_array(), *stamp;
    size_t i;
    json_array_foreach(job->stamps, i, stamp)
    {
        if (stamp_is(stamp, STAMP_VALID) || stamp_is(stamp, STAMP_QUICK)) continue;
        if (stamp_is(stamp, STAMP_NOT_VALID) == not_valid)
            json_array_append_new(texts, json_string(stamp_text(stamp, "sentence")));
    }
    return texts;
}

static json_t *result(const struct beff_job *job)
{
    const struct beff_summary *s = &job->summary;
    json_t *o = json_object();
    js_set(o, "b_eff_bytes_per_s", js_real(s->all.both));
    js_set(o, "b_eff_per_process_bytes_per_s", js_real(s->all.both / s->n));
    js_set(o, "valid", json_boolean(beff_job_valid(job)));
    js_set(o, "not_valid_because", sentences(job, true));
    js_set(o, "average", mean(&s->all));
    js_set(o, "at_lmax", mean(&s->at_lmax));
    js_set(o, "at_1_byte", mean(&s->at_1b));
    js_set(o, "area_ratio", js_real(s->area_ratio));
    js_set(o, "latency_s", js_real(s->latency_s));
    js_set(o, "rings_latency_s", js_real(s->rings_latency_s));
    js_set(o, "ping_pong_latency_s", js_real(s->ping_pong_s));
    js_set(o, "ping_pong_bytes_per_s", js_real(s->ping_pong_bytes_per_s));
    js_set(o, "total_memory_s", js_real(s->memory_s));
    js_set(o, "total_memory_mixed_units_s", js_real(s->memory_mixed_s));
    return o;
}

/* Null without a rate. */
static json_t *balance_json(const struct beff_job *job)
{
    const struct beff_summary *s = &job->summary;
    const struct beff_rate *r = &job->rate;
    if (!(r->flop_per_s > 0)) return json_null();
    json_t *o = json_object();
    js_set(o, "flop_per_s", js_real(r->flop_per_s));
    js_set(o, "rate", json_string(r->label));
    js_set(o, "source", js_text(r->source));
    js_set(o, "cores_n", r->cores_n > 0 ? json_integer((json_int_t)r->cores_n) : json_null());
    js_set(o, "bytes_per_flop", js_real(s->all.both / r->flop_per_s));
    return o;
}

/* Null without it. */
static json_t *insight_json(const struct beff_job *job)
{
    const struct beff_insight *in = &job->insight;
    if (!in->done) return json_null();
    json_t *ways = json_array(), *rates = json_array();
    for (int w = 0; w < BEFF_WAYS_N; w++) {
        json_t *by_size_list = json_array();
        for (int i = 0; i < BEFF_SIZES_N; i++)
            json_array_append_new(by_size_list, js_real(in->bytes_per_s[w][i]));
        json_array_append_new(ways, json_pack("{ss so ss*}", "method", beff_way_name(w),
                                              "by_size_bytes_per_s", by_size_list, "left_out",
                                              w == BEFF_PUT && in->no_put[0] ? in->no_put : NULL));
    }
    for (int i = 0; i < BEFF_RATE_SIZES_N; i++)
        json_array_append_new(rates,
                              json_pack("{sI so}", "message_bytes", (json_int_t)in->rate_bytes[i],
                                        "messages_per_s", js_real(in->messages_per_s[i])));
    return json_pack(
        "{so si so s{so so so so}}", "ring", ways, "window_n", BEFF_WINDOW, "message_rate", rates,
        "hpcc", "natural_ring_latency_s", js_real(in->natural_latency_s), "random_ring_latency_s",
        js_real(in->random_latency_s), "natural_ring_bytes_per_s", js_real(in->natural_bytes_per_s),
        "random_ring_bytes_per_s", js_real(in->random_bytes_per_s));
}

static json_t *elapsed_json(const struct beff_job *job)
{
    static const char *const effort[] = {"full", "best method", "left out"};
    const struct beff_elapsed e = beff_elapsed(&job->measured.cube);
    json_t *o = json_object(), *walls = json_array(), *efforts = json_array();
    for (int r = 0; r < job->setup->reps_n; r++) {
        json_t *wall = json_array(), *of_rep = json_array();
        for (int i = 0; i < BEFF_SIZES_N; i++) {
            json_array_append_new(wall, js_real(job->measured.wall_s[r][i]));
            json_array_append_new(of_rep, json_string(effort[job->measured.effort[r][i]]));
        }
        json_array_append_new(walls, wall);
        json_array_append_new(efforts, of_rep);
    }
    js_set(o, "whole_s", js_real(job->measured.elapsed_s));
    js_set(o, "loops_s", js_real(e.measured_s));
    js_set(o, "loops_undisturbed_s", js_real(e.undisturbed_s));
    js_set(o, "by_size_s", walls);
    js_set(o, "effort", efforts);
    return o;
}

json_t *beff_result_json(const void *of, int status)
{
    const struct beff_job *job = of;
    const struct beff_summary *s = &job->summary;
    const struct beff_memory *m = &job->memory;
    json_t *system = program_system(&job->nodes), *hosts = json_array();
    json_t *reps = json_array();
    char digest[24];
    for (int r = 0; job->hosts && r < job->nodes.size; r++)
        json_array_append_new(hosts, js_text(job->hosts[r]));
    js_set(system, "placement", json_string(job->placement));
    js_set(system, "hosts_by_rank", hosts);
    for (int r = 0; r < job->setup->reps_n; r++)
        json_array_append_new(reps, mean(&s->rep[r]));
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)job->plan.digest);
    json_t *o =
        program_result(&beff_program, &job->setup->opt, "nht1-beff/1", status, job->started_utc);
    js_set(o, "system", system);
    js_set(o, "stamps", json_incref(job->stamps));
    js_set(o, "disturbance", disturbance_json(&job->disturbance));
    js_set(o, "definition", json_string(job->setup->opt.definition));
    js_set(o, "seed", json_integer(job->setup->opt.seed));
    js_set(o, "patterns_digest", json_string(digest));
    js_set(o, "repetitions_n", json_integer(job->setup->reps_n));
    js_set(o, "memory",
           json_pack("{sI sI sI ss sI}", "per_process_bytes", (json_int_t)m->process_bytes,
                     "detected_per_process_bytes", (json_int_t)m->detected_bytes, "total_bytes",
                     (json_int_t)m->total_bytes, "source", m->source, "lmax_bytes",
                     (json_int_t)m->lmax_bytes));
    js_set(o, "buffer_offset_bytes",
           json_pack("[ii]", job->measured.offset_bytes[0], job->measured.offset_bytes[1]));
    js_set(o, "result", result(job));
    js_set(o, "balance", balance_json(job));
    js_set(o, "by_method", by_method_json(job));
    js_set(o, "by_repetition", reps);
    js_set(o, "by_size", by_size_json(job));
    js_set(o, "patterns", patterns(job));
    js_set(o, "measurements", measurements(job));
    js_set(o, "insight", insight_json(job));
    js_set(o, "elapsed", elapsed_json(job));
    js_set(o, "notices", sentences(job, false));
    return o;
}
