/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/choice.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/balance.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/sequential.h"
#include "base/sys.h"
#include "base/version.h"
#include "base/watch.h"
#include "bt/compute.h"
#include "base/store.h"
#include "io/writers/hint.h"

#define SPAN_MAX 1.5 /* of an interval of T_T over T_C, its upper over its lower end */
#define DAYS_MAX 365.0

/* The members that say what to run. */
static bool is_choice(const json_t *entry)
{
    const json_t *options = json_object_get(entry, "options"), *one;
    size_t i;
    json_array_foreach(options, i, one) if (!json_is_string(one)) return false;
    return json_is_object(json_object_get(entry, "key")) && json_is_array(options) &&
           json_is_string(json_object_get(entry, "writer")) &&
           json_is_string(json_object_get(entry, "utc"));
}

static const struct store kind = {.name = "choices.json",
                                  .schema = "nht1-choices/1",
                                  .title = "store of choices",
                                  .holds = "choices of --io auto",
                                  .option = "--tc-store",
                                  .valid = is_choice};

int bt_choice_key(const struct bt_job *job, json_t **key)
{
    const struct bt_setup *s = job->setup;
    const struct bt_problem *p = &s->problem;
    const struct nodes *n = &job->machine.nodes;
    const struct bt_tc_key k = bt_compute_key(n, n->count, job->machine.cores_in_use, p);
    struct sys_fs fs;
    *key = NULL;
    TRY(sys_path_fs(s->opt.out, &fs));
    const unsigned readers = mpilib_io(fs.type);
    const char *component = readers == IO_HINT_OMPIO   ? "ompio"
                            : readers == IO_HINT_ROMIO ? "romio"
                                                       : "unknown";
    *key = json_pack("{ss ss sI ss ss sI sI so so so sI sI sf sI sb ss ss si si ss so}", "cpu",
                     k.cpu, "hosts", k.hosts, "memory_gib", (json_int_t)k.memory_gib, "mpi", k.mpi,
                     "component", component, "nodes", (json_int_t)k.nodes, "cores",
                     (json_int_t)k.cores, "fs_type", js_text(fs.type), "fs_source",
                     js_text(fs.source), "fs_mount", js_text(fs.mount), "n", (json_int_t)p->n,
                     "steps", (json_int_t)p->steps, "dt", p->dt, "interval",
                     (json_int_t)p->interval, "last", (int)p->last, "decomp", job->decomp_name,
                     "layout", io_layout_name(s->layout), "ranks", job->size, "threads",
                     job->machine.threads, "sync", s->opt.sync, "fixed", bt_setup_fixed(s));
    return *key ? 0 : mem_error("the key of a choice");
}

int bt_choice_find(const struct bt_job *job, const json_t *key, json_t **entry)
{
    char path[4096];
    json_t *root;
    *entry = NULL;
    TRY(store_path(&kind, job->setup->opt.tc_store, path, sizeof path));
    TRY(store_read(&kind, path, &root));
    json_t *members = json_pack("{sO}", "key", key);
    *entry = json_incref(store_find(json_object_get(root, "entries"), members));
    json_decref(members);
    json_decref(root);
    return *entry ? 1 : 0;
}

const char *bt_choice_stale(const json_t *entry, char why[ERR_MESSAGE_MAX])
{
    const json_t *best = json_object_get(entry, "best"), *over = json_object_get(best, "plain");
    const char *verdict = json_string_value(json_object_get(best, "verdict"));
    const char *version = json_string_value(json_object_get(entry, "version"));
    const char *utc = json_string_value(json_object_get(entry, "utc"));
    const double days = utc ? bt_choice_age_s(utc) / 86400 : NAN, ratio = js_number(over, "ratio");
    const double zeta = js_number(best, "zeta"), lo = js_number(best, "zeta_lo"),
                 hi = js_number(best, "zeta_hi");
    const double runs = js_number(best, "rung_runs"), disturbed = js_number(best, "disturbed_runs");
    const size_t release = strlen(NHT1_VERSION);
    const bool won = verdict && strcmp(verdict, "winner") == 0;
    why[0] = '\0';
    if (!verdict || !version)
        snprintf(why, ERR_MESSAGE_MAX, "it has no evidence");
    else if (!won && strcmp(verdict, "no winner") != 0)
        snprintf(why, ERR_MESSAGE_MAX, "its search had not settled");
    else if (!(js_number(best, "rounds") >= SEQUENTIAL_ROUNDS_MIN) ||
             (won && !(js_number(over, "lo") <= ratio && ratio <= js_number(over, "hi") &&
                       js_number(over, "hi") < 1)))
        snprintf(why, ERR_MESSAGE_MAX, "its evidence does not support its verdict");
    else if (!(lo > -1 && lo <= zeta && zeta <= hi && 1 + hi <= SPAN_MAX * (1 + lo)))
        snprintf(why, ERR_MESSAGE_MAX, "the interval of its zeta, %.3f to %.3f, says nothing", lo,
                 hi);
    else if (!(disturbed >= 0 && disturbed <= runs))
        snprintf(why, ERR_MESSAGE_MAX, "it does not say how many of its runs were disturbed");
    else if (2 * disturbed >= runs) /* as of the rounds of an answer (base/balance.h) */
        snprintf(why, ERR_MESSAGE_MAX,
                 BALANCE_TAKERS " took processors from the ranks in "
                                "%.0f of %.0f runs of its last rung",
                 disturbed, runs);
    else if (strncmp(version, NHT1_VERSION, release) != 0 ||
             (version[release] && version[release] != '-'))
        snprintf(why, ERR_MESSAGE_MAX, "another release found it");
    else if (!(days <= DAYS_MAX && days > -1))
        snprintf(why, ERR_MESSAGE_MAX, "it was found %.0f days ago", days);
    return why;
}

int bt_choice_keep(const struct bt_job *job, const json_t *key, const char *writer,
                   const json_t *options, const json_t *best)
{
    char path[4096], utc[32], why[ERR_MESSAGE_MAX];
    TRY(store_path(&kind, job->setup->opt.tc_store, path, sizeof path));
    watch_utc(utc);
    json_t *members = json_pack("{sO}", "key", key);
    json_t *entry = json_pack("{sO ss ss ss sO sO}", "key", key, "utc", utc, "version", nht1_build,
                              "writer", writer, "options", options, "best", best);
    int rc = members && entry ? 0 : mem_error("a choice");
    if (rc == 0 && bt_choice_stale(entry, why)[0])
        rc = err_set(ERR_INVALID, "what was found is not remembered: %s", why);
    if (rc == 0) rc = store_replace(&kind, path, members, entry);
    json_decref(members);
    json_decref(entry);
    return rc;
}

int bt_choice_apply(struct bt_setup *s, const json_t *choice)
{
    const char *writer = json_string_value(json_object_get(choice, "writer"));
    const json_t *options = json_object_get(choice, "options");
    bool here = false;
    for (int w = 0; w < s->writers_n; w++)
        here = here || strcmp(s->candidate[w].writer, writer) == 0;
    if (!here) return err_set(ERR_USAGE, "its writer %s cannot work here", writer);
    s->opt.hints.n = 0;
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *word = json_string_value(json_array_get(options, i)), *value = "";
        const struct conf_option *o =
            strncmp(word, "--", 2) == 0 ? bt_setup_writers_option(word + 2) : NULL;
        if (!o) return err_set(ERR_USAGE, "its option %s is not a setting of writers", word);
        if (o->type != CONF_FLAG) value = json_string_value(json_array_get(options, ++i));
        if (!value) return err_set(ERR_USAGE, "its option %s lacks a value", word);
        TRY(conf_set(o, &s->opt, value));
    }
    s->writers_n = 1;
    s->candidate[0] = bt_setup_candidate(s, writer);
    const struct io_spec spec = bt_setup_spec(s, &s->candidate[0], &s->problem, s->opt.out);
    return io_spec_check(&spec);
}

double bt_choice_age_s(const char *utc)
{
    struct tm tm = {0};
    const char *end = strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return end && !*end ? difftime(time(NULL), timegm(&tm)) : NAN;
}
