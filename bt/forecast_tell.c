/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/units.h"
#include "bt/forecast.h"
#include "bt/metrics.h"
#include "bt/result.h"

#define SCHEMA "nht1-bt-plan/1"

static const char *const origin_name[] = {
    [BT_FORECAST_STORE] = "store", [BT_FORECAST_PROBE] = "probe", [BT_FORECAST_GIVEN] = "given"};
static const char *const origin_words[] = {
    [BT_FORECAST_STORE] = "remembered for this system and problem",
    [BT_FORECAST_PROBE] = "estimated from a few steps of one rank, to a factor of two",
    [BT_FORECAST_GIVEN] = "given with --tc",
};

static void bytes_line(const struct bt_forecast *f, FILE *to)
{
    char all[UNITS_TEXT_MAX], one[UNITS_TEXT_MAX], at[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    if (f->file_bytes == 0) {
        fprintf(to, "Bytes     nothing is left on disk\n");
        return;
    }
    fprintf(to, "Bytes     %lld dumps of %s: a file of %s\n", (long long)f->dumps_n,
            units_bytes((double)f->dump_bytes, one), units_bytes((double)f->file_bytes, all));
    fprintf(to, "          %s at a time, %s free; %s written in all; %lld files are left\n",
            units_bytes((double)f->disk_bytes, at), units_bytes((double)f->free_bytes, has),
            units_bytes((double)f->written_bytes, all), (long long)f->files_n);
}

static void memory_lines(const struct bt_forecast *f, FILE *to)
{
    char rank[UNITS_TEXT_MAX], node[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX], total[UNITS_TEXT_MAX];
    fprintf(to, "Memory    %s per rank, %s per node, %s available here\n",
            units_bytes((double)f->rank_bytes, rank), units_bytes((double)f->node_bytes, node),
            units_bytes((double)f->available_bytes, has));
    if (f->file_bytes == 0) return;
    fprintf(to,
            "Cache     the file is %.3g times the memory of %lld node%s (%s each). From %d times\n",
            f->ratio, (long long)f->nodes, units_plural(f->nodes),
            units_bytes((double)f->total_bytes, total), RESIDENT_RULE);
    fprintf(to, "          on it is sure not to be read back from memory: %s\n",
            f->rule_holds ? "met" : "not met");
}

static void time_lines(const struct bt_forecast *f, FILE *to)
{
    char t_c[UNITS_TEXT_MAX], t_t[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
    char needed[UNITS_TEXT_MAX];
    fprintf(to, "T_C       %s: %s\n", units_duration(f->t_c_s, t_c), origin_words[f->tc_origin]);
    if (f->file_bytes > 0) {
        fprintf(to, "T_T       %s if writing went at %s; zeta = %.2f needs %s\n",
                units_duration(f->t_t_s, t_t), units_rate(BT_FORECAST_WRITE, rate), BT_BALANCE_GOAL,
                units_rate(f->needed_rate, needed));
    }
    fprintf(to, "Time      about %s for the whole command\n", units_duration(f->time_s, all));
}

void bt_forecast_print(const struct bt_forecast *f, const struct bt_setup *setup, FILE *to)
{
    const struct bt_problem *p = &setup->problem;
    size_t i;
    const json_t *text;
    fprintf(to, "%s %s: a dry run, nothing is computed or written\n", bt_program.name,
            NHT1_VERSION);
    fprintf(to, "Problem   class %c, N = %lld, %lld steps, a dump every %lld\n", p->cls,
            (long long)p->n, (long long)p->steps, (long long)p->interval);
    fprintf(to, "Ranks     %lld x %lld thread%s on %lld node%s, decomposition %s\n",
            (long long)f->ranks, (long long)f->threads, units_plural(f->threads),
            (long long)f->nodes, units_plural(f->nodes), f->decomp);
    bytes_line(f, to);
    memory_lines(f, to);
    time_lines(f, to);
    json_array_foreach(f->misfits, i, text)
        fprintf(to, "DOES NOT FIT: %s\n", json_string_value(text));
    if (json_array_size(f->misfits) == 0) fprintf(to, "Fits      yes\n");
}

static void set(json_t *to, const char *key, json_t *value)
{
    json_object_set_new(to, key, value);
}

static void set_integers(json_t *to, const struct bt_forecast *f)
{
    const struct {
        const char *key;
        int64_t value;
    } member[] = {{"ranks", f->ranks},
                  {"threads", f->threads},
                  {"nodes", f->nodes},
                  {"cores_of_nodes", f->cores},
                  {"file_bytes", f->file_bytes},
                  {"files_n", f->files_n},
                  {"disk_bytes", f->disk_bytes},
                  {"disk_free_bytes", f->free_bytes},
                  {"written_bytes", f->written_bytes},
                  {"rank_memory_bytes", f->rank_bytes},
                  {"memory_bytes", f->memory_bytes},
                  {"node_memory_bytes", f->node_bytes},
                  {"memory_available_bytes", f->available_bytes},
                  {"memory_total_bytes", f->total_bytes}};
    for (size_t i = 0; i < sizeof member / sizeof member[0]; i++)
        set(to, member[i].key, json_integer(member[i].value));
}

json_t *bt_forecast_json(const struct bt_forecast *f, const struct bt_setup *setup)
{
    json_t *o = json_object();
    set(o, "schema", json_string(SCHEMA));
    set(o, "version", json_string(nht1_build));
    set(o, "problem", bt_result_problem(setup));
    set(o, "decomp", js_text(f->decomp));
    set_integers(o, f);
    set(o, "memory_ratio", js_real(f->ratio));
    set(o, "memory_rule", json_integer(RESIDENT_RULE));
    set(o, "memory_rule_holds", json_boolean(f->rule_holds));
    set(o, "t_c_s", js_real(f->t_c_s));
    set(o, "t_c_origin", json_string(origin_name[f->tc_origin]));
    set(o, "t_t_s", js_real(f->t_t_s));
    set(o, "time_s", js_real(f->time_s));
    set(o, "time_source", json_string(origin_words[f->tc_origin]));
    set(o, "write_rate_assumed_bytes_per_s", js_real(BT_FORECAST_WRITE));
    set(o, "balance_rate_bytes_per_s", f->file_bytes > 0 ? js_real(f->needed_rate) : json_null());
    set(o, "fits", json_boolean(json_array_size(f->misfits) == 0));
    set(o, "misfits", json_incref(f->misfits));
    return o;
}

static int json_write(const struct bt_forecast *f, const struct bt_setup *setup)
{
    json_t *plan = bt_forecast_json(f, setup);
    int rc = js_check_target(setup->opt.json, "nht1-bt-plan/");
    if (rc == 0) rc = js_write(setup->opt.json, plan, JS_SYNC_NONE);
    if (rc < 0) err_prefix("--json: ");
    json_decref(plan);
    return rc;
}

static int tell(const struct bt_forecast *f, const struct bt_setup *setup)
{
    if (!setup->opt.quiet) bt_forecast_print(f, setup, stdout);
    if (setup->opt.json) TRY(json_write(f, setup));
    const json_t *first = json_array_get(f->misfits, 0);
    return first ? err_set(ERR_IO, "does not fit: %s", json_string_value(first)) : 0;
}

int bt_forecast_run(MPI_Comm comm, const struct bt_setup *setup)
{
    struct bt_forecast f;
    int rank, rc;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    rc = bt_forecast_make(comm, setup, &f);
    if (rc == 0) rc = par_agree(comm, rank == 0 ? tell(&f, setup) : 0);
    bt_forecast_free(&f);
    return rc;
}
