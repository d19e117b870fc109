/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/result.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/sys.h"
#include "bt/compute.h"
#include "bt/metrics.h"
#include "bt/ranking.h"

#define SCHEMA "nht1-bt/1"

static void set(json_t *to, const char *key, json_t *value)
{
    json_object_set_new(to, key, value);
}

static json_t *five(const double x[BT_NCOMP])
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

/* Minimum, median, maximum and mean over ranks, and who was slowest. */
static json_t *spread(const struct bt_job *job, const struct par_spread *s)
{
    json_t *o = json_object();
    set(o, "min", js_real(s->min));
    set(o, "median", js_real(s->median));
    set(o, "max", js_real(s->max));
    set(o, "mean", js_real(s->mean));
    set(o, "slowest_rank", json_integer(s->max_rank));
    set(o, "slowest_host", host_of(job, s->max_rank));
    return o;
}

static json_t *phases(const struct bt_job *job, const struct bt_run *run)
{
    json_t *o = json_object();
    for (int i = 0; i < BT_RUN_PHASES; i++)
        set(o, bt_run_phase_name(i), spread(job, &run->phase[i]));
    return o;
}

static json_t *dumps(const struct bt_job *job, const struct bt_run *run)
{
    json_t *a = json_array();
    for (int64_t d = run->kept_n; d < run->dumps_n; d++) {
        json_t *o = json_object();
        set(o, "step", json_integer(run->dump[d].step));
        set(o, "start_s", js_real(run->dump[d].start_s));
        set(o, "window_s", js_real(run->dump[d].window_s));
        set(o, "post_s", spread(job, &run->dump[d].post));
        set(o, "wait_s", spread(job, &run->dump[d].wait));
        json_array_append_new(a, o);
    }
    return a;
}

/* Computing and writing at the same time; null for a run without writing. */
static json_t *overlap(const struct bt_job *job, const struct bt_run *run)
{
    if (!run->file) return json_null();
    json_t *o = json_object();
    json_t *basis = json_object_get(run->file, "overlap_basis");
    set(o, "compute_s", spread(job, &run->compute));
    set(o, "io_s", spread(job, &run->io));
    set(o, "both_s", spread(job, &run->both));
    set(o, "basis", basis ? json_incref(basis) : json_string("writing"));
    return o;
}

static json_t *norms(const struct bt_run *run)
{
    json_t *o = json_object();
    set(o, "error", five(run->xce));
    set(o, "residual", five(run->xcr));
    set(o, "published", json_boolean(run->norms_published));
    set(o, "ok",
        run->norms_published && run->completed ? json_boolean(run->norms_ok) : json_null());
    set(o, "largest_deviation",
        run->norms_published && run->completed ? js_real(run->norms_deviation) : json_null());
    return o;
}

static json_t *proof(const struct bt_outcome *o)
{
    json_t *p = json_object();
    set(p, "state", json_string(bt_proof_name(o->proof.state)));
    set(p, "took_s", js_real(o->proof.seconds));
    set(p, "note", js_text(o->proof.note));
    set(p, "summary", o->proof.summary ? json_incref(o->proof.summary) : json_null());
    return p;
}

static void run_values(json_t *r, const struct bt_job *job, const struct bt_run *run)
{
    const struct bt_values v = bt_values_of(job, run);
    const bool known = job->tc.origin != BT_TC_UNKNOWN, counts = run->completed && !run->resumed;
    set(r, "t_t_s", counts ? js_real(run->t_t_s) : json_null());
    set(r, "t_c_s", known ? js_real(job->tc.entry.t_c_s) : json_null());
    set(r, "r_io_bytes_per_s", js_real(counts ? v.r_io : NAN));
    set(r, "r_io_basis", json_string(v.by_dumps ? "dumps" : "steps/interval"));
    set(r, "zeta", js_real(counts ? v.zeta : NAN));
    set(r, "write_rate_bytes_per_s", js_real(v.write_rate));
    set(r, "implied_rate_bytes_per_s", js_real(counts ? v.implied_rate : NAN));
    set(r, "gop_per_s", js_real(counts ? v.gop : NAN));
    set(r, "compute_gop_per_s", js_real(v.compute_gop));
}

static void run_facts(json_t *r, const struct bt_outcome *o)
{
    const struct bt_run *run = &o->run;
    set(r, "driver", js_text(run->writer));
    set(r, "round", json_integer(run->round));
    set(r, "decomp", js_text(o->decomp));
    set(r, "path", o->path[0] ? js_text(o->path) : json_null());
    set(r, "completed", json_boolean(run->completed));
    set(r, "interrupted", json_boolean(run->interrupted));
    set(r, "steps_done", json_integer(run->steps_done));
    set(r, "verified", json_boolean(o->verified));
    set(r, "verdict", js_text(o->verdict));
    set(r, "bytes", json_integer(run->bytes));
    set(r, "requests_n", json_integer(run->requests_n));
    set(r, "create_s", js_real(run->create_s));
    set(r, "open_s", js_real(run->open_s));
    set(r, "writing_s", js_real(run->writing_s));
    set(r, "file", run->file ? json_incref(run->file) : json_null());
}

/* What a continued run took over, null for others. */
static json_t *resumed(const struct bt_run *run)
{
    if (!run->resumed) return json_null();
    return json_pack("{sI sI sI ss sb}", "step", (json_int_t)run->first_step, "kept_n",
                     (json_int_t)run->kept_n, "claimed_n", (json_int_t)run->claimed_n,
                     "past_kernel", run->past_kernel, "bitwise", (int)run->bitwise);
}

static json_t *runs(const struct bt_job *job)
{
    json_t *a = json_array();
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_outcome *o = &job->outcome[i];
        json_t *r = json_object();
        run_facts(r, o);
        run_values(r, job, &o->run);
        set(r, "official", json_boolean(bt_is_official(job, o)));
        set(r, "phases_s", phases(job, &o->run));
        set(r, "dumps", dumps(job, &o->run));
        set(r, "overlap", overlap(job, &o->run));
        set(r, "norms", norms(&o->run));
        set(r, "proof", proof(o));
        set(r, "resumed", resumed(&o->run));
        set(r, "cache", cache_json(&o->run.cache));
        json_array_append_new(a, r);
    }
    return a;
}

static json_t *ranking(const struct bt_job *job)
{
    struct bt_row row[BT_RUNS_MAX + 1];
    json_t *a = json_array();
    const int n = bt_ranking(job, row);
    for (int i = 0; i < n; i++) {
        json_t *r = json_object();
        set(r, "driver", js_text(row[i].writer));
        set(r, "runs_n", json_integer(row[i].runs));
        set(r, "t_t_s", js_real(row[i].t_t_s));
        set(r, "t_t_ci95_lo_s", js_real(row[i].ci_lo_s));
        set(r, "t_t_ci95_hi_s", js_real(row[i].ci_hi_s));
        set(r, "best_t_t_s", js_real(row[i].best_t_t_s));
        set(r, "zeta", js_real(row[i].zeta));
        set(r, "best_zeta", js_real(row[i].best_zeta));
        set(r, "r_io_bytes_per_s", js_real(row[i].r_io));
        set(r, "best_r_io_bytes_per_s", js_real(row[i].best_r_io));
        set(r, "write_rate_bytes_per_s", js_real(row[i].write_rate));
        set(r, "verified", json_boolean(row[i].verified));
        set(r, "official", json_boolean(row[i].official));
        set(r, "page_cache", json_boolean(row[i].page_cache));
        json_array_append_new(a, r);
    }
    return a;
}

json_t *bt_result_problem(const struct bt_setup *s)
{
    const struct bt_problem *p = &s->problem;
    json_t *o = json_object();
    const char cls[2] = {p->cls, '\0'};
    set(o, "class", json_string(cls));
    set(o, "n", json_integer(p->n));
    set(o, "steps", json_integer(p->steps));
    set(o, "dt", js_real(p->dt));
    set(o, "interval", json_integer(p->interval));
    set(o, "last", json_boolean(p->last));
    set(o, "dumps_n", json_integer(bt_problem_dumps(p)));
    set(o, "layout", json_string(io_layout_name(s->layout)));
    set(o, "dump_bytes", json_integer(io_dump_bytes(s->layout, p->n)));
    set(o, "nominal_flop", js_real(bt_problem_flop(p)));
    return o;
}

static json_t *tc(const struct bt_job *job)
{
    static const char *const origin[] = {"unknown", "store", "measured", "given"};
    const struct bt_tc_entry *e = &job->tc.entry;
    const bool ran = job->tc.origin == BT_TC_FROM_STORE || job->tc.origin == BT_TC_MEASURED;
    char words[512];
    bt_compute_words(job, words, sizeof words);
    json_t *o = json_object();
    set(o, "t_c_s", job->tc.origin != BT_TC_UNKNOWN ? js_real(e->t_c_s) : json_null());
    set(o, "origin", json_string(origin[job->tc.origin]));
    set(o, "verified", json_boolean(ran && e->verified));
    set(o, "words", json_string(words));
    set(o, "decomp", ran ? js_text(e->decomp) : json_null());
    set(o, "ranks", ran ? json_integer(e->ranks) : json_null());
    set(o, "threads", ran ? json_integer(e->threads) : json_null());
    set(o, "store", job->tc.store[0] ? js_text(job->tc.store) : json_null());
    set(o, "stored", json_boolean(job->tc.stored));
    return o;
}

static json_t *hosts(const struct bt_job *job)
{
    json_t *a = json_array();
    for (int r = 0; job->hosts && r < job->size; r++)
        json_array_append_new(a, host_of(job, r));
    return a;
}

static json_t *system_record(const struct bt_job *job)
{
    const struct bt_machine *m = &job->machine;
    const double n = (double)job->setup->problem.n, cells = n * n * n;
    json_t *o = sys_json();
    set(o, "mpi", job->mpi ? json_incref(job->mpi) : json_null());
    set(o, "ranks", json_integer(m->nodes.size));
    set(o, "threads", json_integer(m->threads));
    set(o, "nodes", json_integer(m->nodes.count));
    set(o, "cores_of_nodes", json_integer(m->nodes.cores));
    set(o, "cores_in_use", json_integer(m->cores_in_use));
    set(o, "narrowest_affinity_cpus",
        m->mask_width < INT_MAX ? json_integer(m->mask_width) : json_null());
    set(o, "hosts_by_rank", hosts(job));
    set(o, "decomp", js_text(job->decomp_name));
    set(o, "solver_kernel", js_text(job->kernel));
    set(o, "solver_memory_bytes", js_real(job->memory_bytes));
    set(o, "memory_bytes_per_cell", js_real(job->memory_bytes / cells));
    set(o, "setup_s", js_real(job->setup_s));
    return o;
}

json_t *bt_result_json(const struct bt_job *job, int status)
{
    json_t *o = json_object();
    set(o, "schema", json_string(SCHEMA));
    set(o, "version", json_string(NHT1_VERSION));
    set(o, "status", json_integer(status));
    set(o, "system", system_record(job));
    set(o, "problem", bt_result_problem(job->setup));
    char *line = conf_line(&bt_program, &job->setup->opt);
    set(o, "command_line", js_text(line));
    free(line);
    set(o, "options", conf_json(&bt_program, &job->setup->opt));
    set(o, "seed", json_integer((json_int_t)job->setup->seed));
    set(o, "warmup_bytes", json_integer(job->warmup_bytes));
    set(o, "t_c", tc(job));
    set(o, "runs", runs(job));
    set(o, "ranking", ranking(job));
    set(o, "notices", json_incref(job->notices));
    return o;
}
