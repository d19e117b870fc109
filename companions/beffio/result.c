/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/report.h"

#include <stdio.h>

#include "base/json.h"
#include "base/num.h"
#include "base/program.h"

static json_t *pattern_json(const struct beffio_part *p, int a, int no)
{
    const struct beffio_bench *b = &p->bench;
    const struct beffio_pattern pat = beffio_layout_pattern(&b->layout, no);
    const struct beffio_place at = beffio_place(&b->layout, no);
    const struct beffio_pattern_time *t = &b->result[a].pattern[no];
    json_t *o = json_object();
    js_set(o, "no", json_integer(no));
    js_set(o, "u", json_integer(pat.u));
    js_set(o, "position",
           pat.pos >= 1 && pat.pos <= BEFFIO_POSITIONS ? json_integer(pat.pos) : json_null());
    js_set(o, "fill", json_boolean(pat.fill));
    js_set(o, "chunk_bytes", json_integer(at.chunk_bytes));
    js_set(o, "call_bytes", json_integer(at.chunk_bytes * at.chunks_per_call));
    js_set(o, "calls_n", json_integer(at.calls_n));
    js_set(o, "bytes", json_integer(b->measured.pattern[a][no].bytes));
    js_set(o, "scheduled_s", js_real(beffio_pattern_time_s(b->schedule, b->index, pat.u)));
    js_set(o, "s", js_real(t->s));
    js_set(o, "view_s", js_real(t->view_s));
    js_set(o, "calls_s", js_real(t->calls_s));
    js_set(o, "wait_s", js_real(t->wait_s));
    js_set(o, "sync_s", js_real(t->sync_s));
    js_set(o, "batches_n", json_integer(t->batches_n));
    js_set(o, "capped", json_boolean(t->capped));
    js_set(o, "bytes_per_s", js_real(p->values.pattern[a][no]));
    js_set(o, "wrong_n", json_integer(p->wrong[a].wrong_by_pattern[no]));
    js_set(o, "single_read", json_boolean(beffio_bench_single_read(b, (enum beffio_access)a, no)));
    return o;
}

static json_t *type(const struct beffio_part *p, int a, int t)
{
    const struct beffio_bench *b = &p->bench;
    const struct beffio_type_time *time = &b->result[a].type[t];
    json_t *o = json_object(), *list = json_array();
    for (int no = beffio_type_first((enum beffio_type)t); no < beffio_type_end((enum beffio_type)t);
         no++)
        json_array_append_new(list, pattern_json(p, a, no));
    js_set(o, "type", json_integer(t));
    js_set(o, "name", json_string(beffio_type_name((enum beffio_type)t)));
    js_set(o, "bytes", json_integer(b->measured.type[a][t].bytes));
    js_set(o, "s", js_real(p->values.type_s[a][t]));
    js_set(o, "open_s", js_real(time->open_s));
    js_set(o, "close_s", js_real(time->close_s));
    js_set(o, "create_s", js_real(a == BEFFIO_WRITE ? b->measured.create_s[t] : 0));
    js_set(o, "remove_s", js_real(a == BEFFIO_READ ? b->measured.remove_s[t] : 0));
    js_set(o, "bytes_per_s", js_real(p->values.type[a][t]));
    js_set(o, "cached_share_before", a == BEFFIO_READ ? js_real(time->cached_share) : json_null());
    js_set(o, "patterns", list);
    return o;
}

static json_t *access_json(const struct beffio_part *p, int a)
{
    json_t *o = json_object(), *list = json_array();
    char words[512];
    for (int t = 0; t < BEFFIO_TYPES; t++)
        json_array_append_new(list, type(p, a, t));
    beffio_findings_words(&p->wrong[a], words, sizeof words);
    js_set(o, "access", json_string(beffio_access_name((enum beffio_access)a)));
    js_set(o, "bytes", json_integer(p->values.access_bytes[a]));
    js_set(o, "bytes_per_s", js_real(p->values.access[a]));
    js_set(o, "weighted_bytes_per_s", js_real(p->values.weighted[a]));
    js_set(o, "plain_bytes_per_s", js_real(p->values.plain[a]));
    js_set(o, "checked_bytes", json_integer(p->wrong[a].checked_bytes));
    js_set(o, "wrong_n", json_integer(p->wrong[a].wrong_n));
    js_set(o, "first_wrong", p->wrong[a].wrong_n > 0 ? json_string(words) : json_null());
    js_set(o, "types", list);
    return o;
}

static json_t *values_json(const struct beffio_job *job, const struct beffio_part *p)
{
    const enum beffio_definition own = job->setup->schedule.definition;
    json_t *list = json_array();
    for (int d = 0; d < BEFFIO_DEFINITIONS; d++)
        json_array_append_new(list,
                              json_pack("{ss so sb ss}", "definition",
                                        beffio_definition_name((enum beffio_definition)d),
                                        "bytes_per_s", js_real(p->values.partition[d]), "headline",
                                        d == (int)own, "schedule", beffio_definition_name(own)));
    return list;
}

static json_t *criteria(const struct beffio_part *p)
{
    json_t *list = json_array();
    for (int c = 0; c < BEFFIO_CRITERIA; c++)
        json_array_append_new(list, json_pack("{ss ss ss}", "name",
                                              beffio_criterion_name((enum beffio_criterion)c),
                                              "verdict", p->criterion[c].met ? "met" : "failed",
                                              "words", p->criterion[c].words));
    return list;
}

/* Least and most of all processes; null before there are buffers. */
static json_t *buffer_offset(const struct beffio_bench *b)
{
    return b->offset_bytes[1] < 0 ? json_null()
                                  : json_pack("[ii]", b->offset_bytes[0], b->offset_bytes[1]);
}

static json_t *part_json(const struct beffio_job *job, const struct beffio_part *p)
{
    const struct beffio_bench *b = &p->bench;
    json_t *o = json_object(), *accesses = json_array();
    const int64_t memory = job->memory_total_bytes;
    for (int a = 0; p->done && a < BEFFIO_ACCESSES; a++)
        json_array_append_new(accesses, access_json(p, a));
    js_set(o, "procs", json_integer(b->procs));
    js_set(o, "scheduled_s",
           js_real(beffio_partition_time_s(&job->setup->schedule, p->bench.index)));
    js_set(o, "buffer_offset_bytes", buffer_offset(b));
    js_set(o, "nodes_n", json_integer(p->nodes_n));
    js_set(o, "memory_bytes", json_integer(p->memory_bytes));
    js_set(o, "completed", json_boolean(p->done));
    js_set(o, "shared_m_part_bytes",
           b->layout.shared_m_part_bytes > 0 ? json_integer(b->layout.shared_m_part_bytes)
                                             : json_null());
    js_set(o, "segment_bytes", json_integer(b->layout.segment_bytes));
    js_set(o, "file_bytes", json_integer(p->done ? beffio_layout_bytes(&b->layout) : 0));
    js_set(o, "share_bytes", json_integer(b->share_bytes));
    js_set(o, "expected_bytes", json_integer(p->expected_bytes));
    js_set(o, "capped", json_boolean(p->capped));
    js_set(o, "accesses", accesses);
    js_set(o, "values", p->done ? values_json(job, p) : json_array());
    js_set(o, "total_bytes_per_s", p->done ? js_real(p->values.total) : json_null());
    js_set(o, "write_side_bytes_per_s", p->done ? js_real(p->values.write_side) : json_null());
    js_set(o, "valid", json_boolean(p->done && p->valid));
    js_set(o, "cache_honest", json_boolean(p->done && p->honesty.honest));
    js_set(o, "cache_factor", p->done ? js_real(p->honesty.factor) : json_null());
    js_set(o, "cache_words", p->done ? json_string(p->honesty.words) : json_null());
    js_set(o, "shift_ranks", json_integer(b->shift));
    js_set(o, "checked", json_string(p->sample ? "sample" : "all"));
    js_set(o, "stamps", beffio_job_stamps(job, p));
    js_set(o, "criteria", p->done ? criteria(p) : json_array());
    js_set(o, "coffee_cup",
           !p->done ? json_null()
                    : json_pack("{sI so so sf}", "memory_bytes", (json_int_t)memory, "write_min",
                                js_real(beffio_minutes(memory, p->values.access[BEFFIO_WRITE])),
                                "read_min",
                                js_real(beffio_minutes(memory, p->values.access[BEFFIO_READ])),
                                "limit_min", BEFFIO_COFFEE_MIN));
    js_set(o, "library", b->library ? json_incref(b->library) : json_array());
    return o;
}

static json_t *headline(const struct beffio_job *job)
{
    if (job->best < 0) return json_null();
    const struct beffio_part *p = &job->part[job->best];
    const enum beffio_definition d = job->setup->schedule.definition;
    bool maximum_valid;
    const double maximum = beffio_job_maximum(job, &maximum_valid);
    return json_pack("{ss so so sb si sb sb so sb so}", "definition", beffio_definition_name(d),
                     "bytes_per_s", js_real(p->values.partition[d]), "maximum_bytes_per_s",
                     js_real(maximum), "maximum_valid", (int)maximum_valid, "procs", p->bench.procs,
                     "valid", (int)p->valid, "cache_honest", (int)p->honesty.honest, "cache_factor",
                     js_real(p->honesty.factor), "files_counted",
                     (int)beffio_counts(&job->setup->schedule, d), "buffer_offset_bytes",
                     buffer_offset(&p->bench));
}

static json_t *schedule(const struct beffio_job *job)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    json_t *o = json_object(), *procs = json_array();
    for (int i = 0; i < c->partitions_n; i++)
        json_array_append_new(procs, json_integer(c->procs[i]));
    js_set(o, "definition", json_string(beffio_definition_name(c->definition)));
    js_set(o, "t_s", js_real(c->t_s));
    js_set(o, "partition_s", js_real(beffio_partition_time_s(c, 0)));
    js_set(o, "termination", json_string(c->per_call ? "per-call" : "geometric"));
    js_set(o, "partitions", procs);
    js_set(o, "m_part_bytes", json_integer(job->m_part_bytes));
    js_set(o, "memory_per_process_bytes", json_integer(job->memory_per_process_bytes));
    js_set(o, "memory_total_bytes", json_integer(job->memory_total_bytes));
    js_set(o, "write_rate_assumed_bytes_per_s", js_real(job->rate));
    js_set(o, "room_bytes", json_integer(job->room_bytes));
    js_set(o, "quick", json_boolean(job->setup->opt.quick));
    return o;
}

static json_t *hints(const struct beffio_job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->hints.n; i++) {
        const struct beffio_hint *h = &job->hints.hint[i];
        json_t *o = json_object();
        js_set(o, "procs", h->procs > 0 ? json_integer(h->procs) : json_null());
        js_set(o, "access",
               h->access >= 0 ? json_string(beffio_access_name((enum beffio_access)h->access))
                              : json_null());
        js_set(o, "type",
               h->type >= 0 ? json_string(beffio_type_name((enum beffio_type)h->type))
                            : json_null());
        js_set(o, "on_open", json_boolean(h->chunk == BEFFIO_ON_OPEN || h->chunk < 0));
        js_set(o, "position", h->chunk > 0 ? json_integer(h->chunk) : json_null());
        js_set(o, "key", js_text(h->key));
        js_set(o, "value", js_text(h->value));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *axis(const struct beffio_job *job)
{
    json_t *list = json_array();
    for (int pos = 1; pos <= BEFFIO_POSITIONS; pos++)
        json_array_append_new(list,
                              json_pack("{si ss sI si}", "position", pos, "name",
                                        beffio_position_name(pos), "chunk_bytes",
                                        (json_int_t)beffio_position_bytes(pos, job->m_part_bytes),
                                        "x", beffio_position_x(pos)));
    return list;
}

/* Values of the repetitions, in order. */
static json_t *repetitions_json(const struct beffio_job *job)
{
    json_t *list = json_array();
    for (int r = 0; r < job->reps_done; r++)
        json_array_append_new(list,
                              json_pack("{so si sb sI}", "bytes_per_s", js_real(job->rep[r].value),
                                        "procs", job->rep[r].procs, "valid", (int)job->rep[r].valid,
                                        "wrong_n", (json_int_t)job->rep[r].wrong_n));
    return list;
}

json_t *beffio_result_json(const void *of, int status)
{
    const struct beffio_job *job = of;
    json_t *o = program_result(&beffio_program, &job->setup->opt, "nht1-beffio/1", status,
                               job->started_utc);
    json_t *system = program_system(&job->nodes), *parts = json_array();
    js_set(system, "file_system", sys_fs_json(&job->fs));
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        json_array_append_new(parts, part_json(job, &job->part[i]));
    js_set(o, "schedule", schedule(job));
    js_set(o, "system", system);
    js_set(o, "hints", hints(job));
    js_set(o, "axis", axis(job));
    js_set(o, "b_eff_io", headline(job));
    js_set(o, "repetitions", repetitions_json(job));
    js_set(o, "wrong_n", json_integer(job->wrong_n));
    js_set(o, "stamps", beffio_job_stamps(job, NULL));
    js_set(o, "disturbance", disturbance_json(&job->disturbance));
    js_set(o, "took_s", js_real(job->took_s));
    js_set(o, "partitions", parts);
    return o;
}

json_t *beffio_result_plan(const void *of, int status)
{
    const struct beffio_job *job = of;
    json_t *o = program_result(&beffio_program, &job->setup->opt, "nht1-beffio-plan/1", status,
                               job->started_utc);
    json_t *misfits = json_array();
    const int64_t expected = beffio_job_expected(job);
    const double repeat = (double)job->setup->opt.repeat;
    char text[BEFFIO_REFUSAL_MAX];
    /* A trial run divides what it may use, whatever the rate. */
    const int64_t disk_bytes =
        job->setup->opt.quick ? num_min(expected, job->room_bytes) : expected;
    if (beffio_job_refused(job, text) < 0) {
        json_array_append_new(misfits, js_text(text));
    } else if (disk_bytes > job->room_bytes) {
        snprintf(text, sizeof text, "%lld bytes expected, %lld may be used: --max-space, -T",
                 (long long)expected, (long long)job->room_bytes);
        json_array_append_new(misfits, json_string(text));
    }
    js_set(o, "schedule", schedule(job));
    js_set(o, "time_s",
           js_real(repeat * (beffio_run_time_s(&job->setup->schedule) + beffio_job_check_s(job))));
    js_set(o, "time_source", json_string("its schedule, and the reading for the check"));
    js_set(o, "disk_bytes", json_integer(disk_bytes));
    js_set(o, "memory_bytes", json_integer(num_product(job->m_part_bytes, job->size)));
    js_set(o, "misfits", misfits);
    return o;
}
