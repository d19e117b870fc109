/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/choice.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/sys.h"
#include "base/watch.h"
#include "bt/compute.h"
#include "bt/store.h"
#include "io/writers/hint.h"
#include "io/writers/mpiio.h"

/* What is run is made of these members. */
static bool is_choice(const json_t *entry)
{
    const json_t *options = json_object_get(entry, "options"), *one;
    size_t i;
    json_array_foreach(options, i, one) if (!json_is_string(one)) return false;
    return json_is_object(json_object_get(entry, "key")) && json_is_array(options) &&
           json_is_string(json_object_get(entry, "writer")) &&
           json_is_string(json_object_get(entry, "utc"));
}

static const struct bt_store kind = {.name = "choices.json",
                                     .schema = "nht1-choices/1",
                                     .title = "store of choices",
                                     .holds = "choices of --io auto",
                                     .sound = is_choice};

int bt_choice_key(const struct bt_job *job, json_t **key)
{
    const struct bt_setup *s = job->setup;
    const struct bt_problem *p = &s->problem;
    const struct nodes *n = &job->machine.nodes;
    const struct bt_tc_key k = bt_compute_key(n, n->count, job->machine.cores_in_use, p);
    struct sys_fs fs;
    *key = NULL;
    TRY(sys_path_fs(s->opt.out, &fs));
    const unsigned readers = io_mpiio_readers(fs.type);
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
    return *key ? 0 : err_set(ERR_NOMEM, "no memory for the key of a choice");
}

int bt_choice_find(const struct bt_job *job, const json_t *key, json_t **entry)
{
    char path[4096];
    json_t *root;
    *entry = NULL;
    TRY(bt_store_path(&kind, job->setup->opt.tc_store, path, sizeof path));
    TRY(bt_store_read(&kind, path, &root));
    json_t *members = json_pack("{sO}", "key", key);
    *entry = json_incref(bt_store_find(json_object_get(root, "entries"), members));
    json_decref(members);
    json_decref(root);
    return *entry ? 1 : 0;
}

int bt_choice_keep(const struct bt_job *job, const json_t *key, const char *writer,
                   const json_t *options, const json_t *best)
{
    char path[4096], utc[32];
    TRY(bt_store_path(&kind, job->setup->opt.tc_store, path, sizeof path));
    watch_utc(utc);
    json_t *members = json_pack("{sO}", "key", key);
    json_t *entry = json_pack("{sO ss ss sO sO}", "key", key, "utc", utc, "writer", writer,
                              "options", options, "best", best);
    const int rc = members && entry ? bt_store_replace(&kind, path, members, entry)
                                    : err_set(ERR_NOMEM, "no memory to remember a choice");
    json_decref(members);
    json_decref(entry);
    return rc;
}

double bt_choice_age_s(const char *utc)
{
    struct tm tm = {0};
    const char *end = strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return end && !*end ? difftime(time(NULL), timegm(&tm)) : NAN;
}
