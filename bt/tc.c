/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/tc.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/plain.h"
#include "base/watch.h"
#include "bt/store.h"

void bt_tc_hosts(const char *host, int64_t nodes, char out[128])
{
    size_t used = 0;
    for (const char *c = host; *c && used < 127; c++) {
        const bool digit = nodes > 1 && *c >= '0' && *c <= '9';
        if (!digit || used == 0 || out[used - 1] != '#') out[used++] = digit ? '#' : *c;
    }
    out[used] = '\0';
}

static bool matches(const json_t *entry, const struct bt_tc_key *key)
{
    const double dt = json_number_value(json_object_get(entry, "dt"));
    return strcmp(bt_store_text(entry, "cpu"), key->cpu) == 0 &&
           strcmp(bt_store_text(entry, "hosts"), key->hosts) == 0 &&
           strcmp(bt_store_text(entry, "mpi"), key->mpi) == 0 &&
           bt_store_same(entry, "memory_gib", key->memory_gib) &&
           strcmp(bt_store_text(entry, "kernel"), key->kernel) == 0 &&
           bt_store_same(entry, "nodes", key->nodes) && bt_store_same(entry, "cores", key->cores) &&
           bt_store_same(entry, "n", key->n) && bt_store_same(entry, "steps", key->steps) &&
           fabs(dt - key->dt) <= 1e-12 * fabs(key->dt);
}

static void entry_read(const json_t *from, struct bt_tc_entry *to)
{
    *to = (struct bt_tc_entry){
        .t_c_s = json_number_value(json_object_get(from, "t_c_s")),
        .verified = json_is_true(json_object_get(from, "verified")),
        .ranks = json_integer_value(json_object_get(from, "ranks")),
        .threads = json_integer_value(json_object_get(from, "threads")),
    };
    plain_copy(to->decomp, sizeof to->decomp, bt_store_text(from, "decomp"));
    plain_copy(to->isa, sizeof to->isa, bt_store_text(from, "isa"));
    plain_copy(to->host, sizeof to->host, bt_store_text(from, "host"));
    plain_copy(to->utc, sizeof to->utc, bt_store_text(from, "utc"));
}

/* Overwrites the members known here and leaves others as they are. */
static int entry_write(json_t *to, const struct bt_tc_key *key, const struct bt_tc_entry *e)
{
    char utc[32];
    watch_utc(utc);
    json_t *new = json_pack(
        "{ss ss sI ss sI sI sI sI sf ss sf sb ss sI sI ss ss ss}", "cpu", key->cpu, "hosts",
        key->hosts, "memory_gib", (json_int_t)key->memory_gib, "mpi", key->mpi, "nodes",
        (json_int_t)key->nodes, "cores", (json_int_t)key->cores, "n", (json_int_t)key->n, "steps",
        (json_int_t)key->steps, "dt", key->dt, "kernel", key->kernel, "t_c_s", e->t_c_s, "verified",
        e->verified, "decomp", e->decomp, "ranks", (json_int_t)e->ranks, "threads",
        (json_int_t)e->threads, "isa", e->isa, "host", e->host, "utc", utc);
    const int rc = new ? json_object_update(to, new) : -1;
    json_decref(new);
    return rc == 0 ? 0 : err_set(ERR_NOMEM, "no memory for an entry of the T_C store");
}

/* A time that is no positive number would poison every comparison. */
static bool sound(const json_t *entry)
{
    const double t = json_number_value(json_object_get(entry, "t_c_s"));
    return t > 0 && isfinite(t);
}

static const struct bt_store kind = {.name = "tc.json",
                                     .schema = "nht1-tc/1",
                                     .title = "T_C store",
                                     .holds = "compute-only times",
                                     .sound = sound};

int bt_tc_path(const char *asked, char *out, size_t size)
{
    if (!asked) return bt_store_path(&kind, NULL, out, size);
    const int length = snprintf(out, size, "%s", asked);
    if (length <= 0 || (size_t)length + 8 > size)
        return err_set(ERR_USAGE, "--tc-store: the name of the file is empty or too long");
    return 0;
}

/* The best entry for a key. */
static json_t *entry_find(const json_t *entries, const struct bt_tc_key *key)
{
    json_t *e, *best = NULL;
    struct bt_tc_entry this, shortest = {0};
    size_t i;
    json_array_foreach(entries, i, e)
    {
        if (!matches(e, key)) continue;
        entry_read(e, &this);
        if (best && !bt_tc_is_better(&this, &shortest)) continue;
        shortest = this;
        best = e;
    }
    return best;
}

int bt_tc_find(const char *path, const struct bt_tc_key *key, struct bt_tc_entry *entry)
{
    json_t *root;
    TRY(bt_store_read(&kind, path, &root));
    const json_t *found = entry_find(json_object_get(root, "entries"), key);
    if (found) entry_read(found, entry);
    json_decref(root);
    return found ? 1 : 0;
}

bool bt_tc_is_better(const struct bt_tc_entry *candidate, const struct bt_tc_entry *stored)
{
    if (candidate->verified != stored->verified) return candidate->verified;
    return candidate->t_c_s < stored->t_c_s;
}

struct offer {
    const struct bt_tc_key *key;
    const struct bt_tc_entry *entry;
};

/* Returns 1 when the time has taken its place among the entries. */
static int take(json_t *entries, void *arg)
{
    const struct offer *new = arg;
    json_t *place = entry_find(entries, new->key);
    struct bt_tc_entry stored;
    if (place) {
        entry_read(place, &stored);
        if (!bt_tc_is_better(new->entry, &stored)) return 0;
    } else {
        place = json_object();
        json_array_append_new(entries, place);
    }
    TRY(entry_write(place, new->key, new->entry));
    return 1;
}

int bt_tc_offer(const char *path, const struct bt_tc_key *key, const struct bt_tc_entry *entry)
{
    struct offer new = {key, entry};
    return bt_store_change(&kind, path, take, &new);
}
