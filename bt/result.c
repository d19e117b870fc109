/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/result.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/program.h"
#include "base/simulation.h"
#include "base/stamp.h"
#include "base/sys.h"
#include "base/watch.h"
#include "bt/compute.h"
#include "bt/judge.h"
#include "bt/judge_read.h"
#include "io/writers/writer.h"

#define KEEPING 0.05 /* share of the time that bt_result_keep takes, at most */

/* Of another object's, which may be NULL: then null. */
static json_t *shared(json_t *value)
{
    return value ? json_incref(value) : json_null();
}

static json_t *component_array(const double x[BT_NCOMP])
{
    json_t *a = json_array();
    for (int m = 0; m < BT_NCOMP; m++)
        json_array_append_new(a, js_real(x[m]));
    return a;
}

static json_t *host_of(const struct bt_job *job, int rank)
{
    return js_text(job->hosts ? job->hosts[rank] : NULL);
}

/* Minimum, median, maximum and mean over ranks, and the slowest rank. */
static json_t *spread_json(const struct bt_job *job, const struct par_spread *s)
{
    return json_pack("{so so so so si so}", "min", js_real(s->min), "median", js_real(s->median),
                     "max", js_real(s->max), "mean", js_real(s->mean), "slowest_rank", s->max_rank,
                     "slowest_host", host_of(job, s->max_rank));
}

/* What was measured over ranks: phases, dumps, and computing and writing at the same time. */
static void run_spreads(json_t *r, const struct bt_job *job, const struct bt_run *run)
{
    json_t *phases = json_object(), *dumps = json_array();
    for (int i = 0; i < BT_RUN_PHASES; i++)
        js_set(phases, bt_run_phase_name(i), spread_json(job, &run->phase[i]));
    for (int64_t i = run->kept_n; i < run->dumps_n; i++) {
        const struct bt_run_dump *d = &run->dump[i];
        json_array_append_new(
            dumps, json_pack("{sI so so so so}", "step", (json_int_t)d->step, "start_s",
                             js_real(d->start_s), "window_s", js_real(d->window_s), "post_s",
                             spread_json(job, &d->post), "wait_s", spread_json(job, &d->wait)));
    }
    js_set(r, "phases_s", phases);
    js_set(r, "dumps", dumps);
    json_t *basis = json_object_get(run->file, "overlap_basis");
    js_set(r, "overlap",
           !run->file
               ? json_null()
               : json_pack("{so so so so}", "compute_s", spread_json(job, &run->compute), "io_s",
                           spread_json(job, &run->io), "both_s", spread_json(job, &run->both),
                           "basis", basis ? json_incref(basis) : json_string("writing")));
}

/* What was proved: norms and file. */
static void run_proofs(json_t *r, const struct bt_outcome *o)
{
    const struct bt_run *run = &o->run;
    const bool judged = run->norms && run->completed;
    js_set(r, "norms",
           json_pack("{so so sb sb so so}", "error", component_array(run->xce), "residual",
                     component_array(run->xcr), "published", run->norms && !run->norms->computed,
                     "computed", run->norms && run->norms->computed, "ok",
                     judged ? json_boolean(run->norms_ok) : json_null(), "largest_deviation",
                     judged ? js_real(run->norms_deviation) : json_null()));
    js_set(r, "proof",
           json_pack("{ss so so so}", "state", bt_proof_name(o->proof.state), "took_s",
                     js_real(o->proof.seconds), "note", js_text(o->proof.note), "summary",
                     shared(o->proof.summary)));
}

static void run_values(json_t *r, const struct bt_job *job, const struct bt_run *run)
{
    const struct bt_values v = bt_values_of(job, run);
    const bool known = job->tc.origin != BT_TC_UNKNOWN, counts = run->completed && !run->resumed;
    const struct {
        const char *key;
        double value;
    } of_whole_runs[] = {{"t_t_s", v.t_t_s},
                         {"in_io_s", run->in_io_s},
                         {"data_s", run->data_s},
                         {"bookkeeping_s", run->in_io_s - run->data_s},
                         {"computing_s", v.computing_s},
                         {"r_io_bytes_per_s", v.r_io},
                         {"zeta", v.zeta},
                         {"zeta_io", v.zeta_io},
                         {"zeta_compute", v.zeta_compute},
                         {"t_c_round_s", v.t_c_round_s},
                         {"zeta_paired", v.zeta_paired},
                         {"zeta_data", v.zeta_data},
                         {"zeta_bookkeeping", v.zeta_bookkeeping},
                         {"zeta_slowdown", v.zeta_slowdown},
                         {"implied_rate_bytes_per_s", v.implied_rate},
                         {"gop_per_s", v.gop}};
    for (size_t i = 0; i < sizeof of_whole_runs / sizeof of_whole_runs[0]; i++)
        js_set(r, of_whole_runs[i].key, js_real(counts ? of_whole_runs[i].value : NAN));
    js_set(r, "t_c_s", known ? js_real(job->tc.entry.t_c_s) : json_null());
    js_set(r, "r_io_basis", json_string(v.by_dumps ? "dumps" : "steps/interval"));
    js_set(r, "write_rate_bytes_per_s", js_real(v.write_rate));
    js_set(r, "compute_gop_per_s", js_real(v.compute_gop));
}

/* What a writer can do, as words. */
static json_t *capabilities(const char *writer)
{
    static const struct {
        unsigned cap;
        const char *word;
    } list[] = {{IO_CAP_SERIAL_FILE, "serial-file"},
                {IO_CAP_PARTS, "file-per-rank"},
                {IO_CAP_GROUP, "group"},
                {IO_CAP_HINTS, "hints"},
                {IO_CAP_WRAPPER, "wrapper"}};
    const unsigned caps = io_writer_caps(writer);
    json_t *a = json_array();
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (caps & list[i].cap) json_array_append_new(a, json_string(list[i].word));
    return a;
}

/* The options that a run's writer obeys and that differ from their defaults; its group in any case: a report
 * has a column for it, and that it is here says that the writer obeys one. */
static json_t *writer_options(const struct bt_job *job, const struct bt_run *run)
{
    const struct io_setting *s;
    const unsigned caps = io_writer_caps(run->writer);
    json_t *to = json_object(), *changed = conf_changed_json(&bt_program, &job->setup->opt);
    if (caps & IO_CAP_GROUP) js_set(to, "group", json_integer(job->setup->opt.tuning.group));
    for (int i = 0; (s = io_setting_at(i)) != NULL; i++) {
        const json_t *value = s->key ? NULL : json_object_get(changed, s->name);
        if (value && (caps & s->cap)) js_set(to, s->name, json_incref((json_t *)value));
    }
    if (caps & IO_CAP_HINTS && json_object_get(changed, "hint"))
        js_set(to, "hint", json_incref(json_object_get(changed, "hint")));
    json_decref(changed);
    return to;
}

static void run_facts(json_t *r, const struct bt_outcome *o)
{
    const struct bt_run *run = &o->run;
    js_set(r, "driver", js_text(run->writer));
    js_set(r, "writer", js_text(run->writer));
    js_set(r, "round", json_integer(run->round));
    js_set(r, "decomp", js_text(o->decomp));
    js_set(r, "path", o->path[0] ? js_text(o->path) : json_null());
    js_set(r, "completed", json_boolean(run->completed));
    js_set(r, "interrupted", json_boolean(run->interrupted));
    js_set(r, "steps_done", json_integer(run->steps_done));
    js_set(r, "verified", json_boolean(o->verified));
    js_set(r, "verdict", js_text(o->verdict));
    js_set(r, "bytes", json_integer(run->bytes));
    js_set(r, "requests_n", json_integer(run->requests_n));
    js_set(r, "create_s", js_real(run->create_s));
    js_set(r, "open_s", js_real(run->open_s));
    js_set(r, "writing_s", js_real(run->writing_s));
    js_set(r, "file", shared(run->file));
}

static json_t *read_back(const struct bt_job *job, const struct bt_run *run)
{
    json_t *a = json_array();
    for (int i = 0; i < run->readings.n; i++) {
        const struct bt_reading *r = &run->readings.reading[i];
        const struct bt_read_values v = bt_read_values_of(job, run, r);
        json_t *dumps = json_array();
        for (int64_t d = 0; d < r->dumps_n; d++)
            json_array_append_new(
                dumps, json_pack("{sI sI so sb}", "dump", (json_int_t)r->dump[d].dump + 1, "step",
                                 (json_int_t)r->dump[d].step, "t_s", js_real(r->dump[d].t_s),
                                 "digest_ok", (int)r->dump[d].right));
        json_t *o = json_pack("{ss ss sb si so so sI so sI sI sI so sb so}", "cache",
                              r->warm ? "warm" : "cold", "decomp", r->decomp, "own_decomp",
                              (int)r->own, "ranks", r->ranks, "t_r_s", js_real(r->t_r_s), "data_s",
                              js_real(r->data_s), "bytes", (json_int_t)r->bytes, "rate_bytes_per_s",
                              js_real(v.rate), "requests_n", (json_int_t)r->requests_n,
                              "file_bytes", (json_int_t)r->file_bytes, "dump_bytes",
                              (json_int_t)r->dump_bytes, "cached_bytes_before",
                              r->cached_bytes >= 0 ? json_integer(r->cached_bytes) : json_null(),
                              "digest_ok", (int)r->right, "dumps", dumps);
        js_set(o, "computing_s", js_real(v.computing_s));
        js_set(o, "paired", json_boolean(v.paired));
        js_set(o, "zeta", js_real(v.zeta));
        js_set(o, "zeta_data", js_real(v.zeta_data));
        js_set(o, "zeta_bookkeeping", js_real(v.zeta_bookkeeping));
        js_set(o, "disturbance", disturbance_json(&r->disturbance));
        js_set(o, "stamps", bt_judge_reading(r));
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *term(double median, const struct balance_estimate *e)
{
    return json_pack("{so so so}", "zeta", js_real(median), "ci95_lo", js_real(e->lo), "ci95_hi",
                     js_real(e->hi));
}

/* How many rounds would decide, by the stamp that says so; null without one. */
static json_t *rounds_needed(json_t *stamps)
{
    const json_t *verdict = stamp_find(stamps, STAMP_UNDECIDED);
    json_t *needed = json_object_get(json_object_get(verdict, "numbers"), "rounds_needed_n");
    return needed ? json_incref(needed) : json_null();
}

/* The readings of a writer over its runs. */
static json_t *read_medians(const struct bt_row *of)
{
    json_t *a = json_array();
    for (int i = 0; i < of->reads_n; i++) {
        const struct bt_read_row *row = &of->read[i];
        const struct bt_reading *r = row->first;
        const struct bt_read_values *v = &row->median;
        const struct balance_estimate none = {.lo = NAN, .hi = NAN};
        json_t *o =
            json_pack("{ss ss sb si so so so so si sb so}", "cache", r->warm ? "warm" : "cold",
                      "decomp", r->decomp, "own_decomp", (int)r->own, "ranks", r->ranks, "t_r_s",
                      js_real(v->t_r_s), "rate_bytes_per_s", js_real(v->rate), "requests_n",
                      js_real(v->requests), "cached_share", js_real(v->cached_share), "runs_n",
                      row->runs, "digest_ok", (int)row->right, "stamps", json_incref(row->stamps));
        js_set(o, "rounds_n", json_integer(row->pairs));
        js_set(o, "computing_s", js_real(v->computing_s));
        js_set(o, "zeta", term(v->zeta, &row->zeta));
        js_set(o, "terms",
               json_pack("{so so}", "data", term(v->zeta_data, &row->data), "bookkeeping",
                         term(v->zeta_bookkeeping, &none)));
        js_set(o, "answer", js_text(row->answer));
        js_set(o, "reason", js_text(row->reason));
        js_set(o, "rounds_needed", rounds_needed(row->stamps));
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *runs(const struct bt_job *job)
{
    json_t *a = json_array();
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        json_t *r = json_object();
        run_facts(r, o);
        run_values(r, job, &o->run);
        js_set(r, "official", json_boolean(bt_is_official(job, o)));
        run_spreads(r, job, &o->run);
        run_proofs(r, o);
        /* What a continued run took over. */
        js_set(r, "resumed",
               !o->run.resumed
                   ? json_null()
                   : json_pack(
                         "{sI sI sI so sb so so}", "step", (json_int_t)o->run.first_step, "kept_n",
                         (json_int_t)o->run.kept_n, "claimed_n", (json_int_t)o->run.claimed_n,
                         "past_kernel", js_text(o->run.past_kernel), "bitwise", (int)o->run.bitwise,
                         "read_s", js_real(o->run.read_s), "ready_s", js_real(o->run.ready_s)));
        js_set(r, "cache", cache_json(&o->run.cache));
        js_set(r, "disturbance", disturbance_json(&o->run.disturbance));
        js_set(r, "capabilities", capabilities(o->run.writer));
        js_set(r, "options", writer_options(job, &o->run));
        if (job->setup->read != BT_READ_NOTHING) js_set(r, "read", read_back(job, &o->run));
        js_set(r, "stamps", bt_judge_run(job, o));
        json_array_append_new(a, r);
    }
    return a;
}

static json_t *ranking(const struct bt_judged *judged)
{
    json_t *a = json_array();
    for (int i = 0; i < judged->rows_n; i++) {
        const struct bt_row *row = &judged->row[i];
        const struct bt_values *median = &row->median, *best = &row->best;
        json_t *r = json_object();
        const json_t *rate = stamp_find(row->stamps, STAMP_IMPLIED_RATE);
        const struct {
            const char *key;
            double value;
        } number[] = {{"t_t_s", median->t_t_s},
                      {"t_t_ci95_lo_s", row->t_t.lo},
                      {"t_t_ci95_hi_s", row->t_t.hi},
                      {"best_t_t_s", best->t_t_s},
                      {"zeta", median->zeta},
                      {"zeta_io", median->zeta_io},
                      {"zeta_compute", median->zeta_compute},
                      {"best_zeta", best->zeta},
                      {"r_io_bytes_per_s", median->r_io},
                      {"best_r_io_bytes_per_s", best->r_io},
                      {"write_rate_bytes_per_s", median->write_rate}};
        for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
            js_set(r, number[k].key, js_real(number[k].value));
        js_set(r, "driver", js_text(row->writer));
        js_set(r, "writer", js_text(row->writer));
        js_set(r, "capabilities", capabilities(row->writer));
        js_set(r, "runs_n", json_integer(row->runs));
        js_set(r, "paired",
               json_pack("{si so so so}", "rounds_n", row->pairs, "zeta",
                         js_real(median->zeta_paired), "ci95_lo", js_real(row->paired.lo),
                         "ci95_hi", js_real(row->paired.hi)));
        js_set(r, "terms",
               json_pack("{so so so}", "data", term(median->zeta_data, &row->data), "bookkeeping",
                         term(median->zeta_bookkeeping, &row->bookkeeping), "slowdown",
                         term(median->zeta_slowdown, &row->slowdown)));
        js_set(r, "answer", js_text(row->answer));
        js_set(r, "reason", js_text(row->reason));
        json_t *implied = json_object_get(json_object_get(rate, "numbers"), "rate_bytes_per_s");
        js_set(r, "rounds_needed", rounds_needed(row->stamps));
        js_set(r, "implied_rate_bytes_per_s", implied ? json_incref(implied) : json_null());
        js_set(r, "dump_s",
               row->dump.n == 0 ? json_null()
                                : json_pack("{sI sf sf sf sf}", "n", (json_int_t)row->dump.n,
                                            "p50_s", row->dump.p50_s, "p90_s", row->dump.p90_s,
                                            "p99_s", row->dump.p99_s, "max_s", row->dump.max_s));
        js_set(r, "verified", json_boolean(row->verified));
        js_set(r, "official", json_boolean(row->official));
        js_set(r, "page_cache", json_boolean(row->page_cache));
        if (judged->job->setup->read != BT_READ_NOTHING) js_set(r, "read", read_medians(row));
        js_set(r, "stamps", json_incref(row->stamps));
        json_array_append_new(a, r);
    }
    return a;
}

json_t *bt_result_problem(const struct bt_setup *s)
{
    const struct bt_problem *p = &s->problem;
    const char cls[2] = {p->cls, '\0'};
    return json_pack("{ss sI sI so sI sb sI ss sI so}", "class", cls, "n", (json_int_t)p->n,
                     "steps", (json_int_t)p->steps, "dt", js_real(p->dt), "interval",
                     (json_int_t)p->interval, "last", (int)p->last, "dumps_n",
                     (json_int_t)bt_problem_dumps(p), "layout", io_layout_name(s->layout),
                     "dump_bytes", (json_int_t)io_dump_bytes(s->layout, p->n), "nominal_flop",
                     js_real(bt_problem_flop(p)));
}

static json_t *tc(const struct bt_judged *judged)
{
    const struct bt_job *job = judged->job;
    static const char *const origin[] = {"unknown", "store", "measured", "given"};
    const struct bt_tc_entry *e = &job->tc.entry;
    const bool ran = job->tc.origin == BT_TC_FROM_STORE || job->tc.origin == BT_TC_MEASURED;
    char words[512];
    bt_compute_origin(job, words, sizeof words);
    json_t *o = json_object();
    js_set(o, "t_c_s", job->tc.origin != BT_TC_UNKNOWN ? js_real(e->t_c_s) : json_null());
    js_set(o, "origin", json_string(origin[job->tc.origin]));
    js_set(o, "verified", json_boolean(ran && e->verified));
    js_set(o, "undisturbed", ran ? json_boolean(e->undisturbed) : json_null());
    js_set(o, "words", json_string(words));
    js_set(o, "decomp", ran ? js_text(e->decomp) : json_null());
    js_set(o, "ranks", ran ? json_integer(e->ranks) : json_null());
    js_set(o, "threads", ran ? json_integer(e->threads) : json_null());
    js_set(o, "store", job->tc.store[0] ? js_text(job->tc.store) : json_null());
    js_set(o, "stored", json_boolean(job->tc.stored));
    const struct bt_tc_key key = bt_compute_key(&job->machine.nodes, job->machine.nodes.count,
                                                job->machine.cores_in_use, &job->setup->problem);
    js_set(o, "host", ran ? js_text(e->host) : json_null());
    js_set(o, "measured_utc", ran && e->utc[0] ? js_text(e->utc) : json_null());
    js_set(o, "isa", ran ? js_text(e->isa) : json_null());
    js_set(o, "mpi_library", ran ? js_text(key.mpi) : json_null());
    js_set(o, "memory_gib", ran ? json_integer(key.memory_gib) : json_null());
    js_set(o, "rounds_median_s", json_null());
    for (int i = 0; i < judged->rows_n; i++)
        if (strcmp(judged->row[i].writer, BT_COMPUTE) == 0)
            js_set(o, "rounds_median_s", js_real(judged->row[i].median.t_t_s));
    return o;
}

static json_t *system_record(const struct bt_job *job)
{
    const struct bt_machine *m = &job->machine;
    const double n = (double)job->setup->problem.n, cells = n * n * n;
    json_t *o = program_system(&m->nodes), *hosts = json_array();
    for (int r = 0; job->hosts && r < job->size; r++)
        json_array_append_new(hosts, host_of(job, r));
    js_set(o, "threads", json_integer(m->threads));
    js_set(o, "cores_in_use", json_integer(m->cores_in_use));
    js_set(o, "narrowest_affinity_cpus",
           m->mask_width < INT_MAX ? json_integer(m->mask_width) : json_null());
    js_set(o, "hosts_by_rank", hosts);
    js_set(o, "decomp", js_text(job->decomp_name));
    js_set(o, "solver_kernel", js_text(job->kernel));
    js_set(o, "solver_memory_bytes", js_real(job->memory_bytes));
    js_set(o, "memory_bytes_per_cell", js_real(job->memory_bytes / cells));
    js_set(o, "setup_s", js_real(job->setup_s));
    if (simulation()) {
        json_t *how = json_pack("{ss ss}", "platform", simulation_platform(), "computing",
                                bt_job_computing(job));
        if (job->charged_utc[0]) js_set(how, "kernels_utc", js_text(job->charged_utc));
        js_set(o, "simulation", how);
    }
    return o;
}

json_t *bt_result_json(const void *of, int status)
{
    const struct bt_judged *judged = of;
    const struct bt_job *job = judged->job;
    json_t *o =
        program_result(&bt_program, &job->setup->opt, "nht1-bt/1", status, job->started_utc);
    js_set(o, "job_id", js_text(sys_job_id()));
    js_set(o, "system", system_record(job));
    js_set(o, "problem", bt_result_problem(job->setup));
    js_set(o, "options_changed", conf_changed_json(&bt_program, &job->setup->opt));
    js_set(o, "seed", json_integer((json_int_t)job->setup->seed));
    js_set(o, "warmup_bytes", json_integer(job->warmup_bytes));
    js_set(o, "t_c", tc(judged));
    js_set(o, "runs", runs(job));
    js_set(o, "ranking", ranking(judged));
    if (job->search.json) js_set(o, "search", job->search.json(job->search.of));
    js_set(o, "stamps", json_incref(judged->stamps));
    js_set(o, "notices", json_incref(job->notices));
    return o;
}

void bt_result_keep(const struct bt_job *job, double *next_s)
{
    const char *path = job->setup->opt.json;
    const double start_s = watch_now();
    struct bt_judged judged;
    if (!path || start_s < *next_s || js_is_stream(path)) return;
    bt_judge(&judged, job);
    json_t *result = bt_result_json(&judged, err_exit_status(ERR_INTERRUPT));
    if (js_result(path, result) < 0) err_clear();
    json_decref(result);
    bt_judge_free(&judged);
    *next_s = watch_now() + (watch_now() - start_s) / KEEPING;
}
