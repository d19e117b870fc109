/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/tc.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/disturbance.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/watch.h"
#include "base/store.h"

void bt_tc_hosts(const char *host, int64_t nodes, char out[128])
{
    size_t used = 0;
    for (const char *c = host; *c && used < 127; c++) {
        const bool digit = nodes > 1 && *c >= '0' && *c <= '9';
        if (!digit || used == 0 || out[used - 1] != '#') out[used++] = digit ? '#' : *c;
    }
    out[used] = '\0';
}

/* Whether an entry is of these hosts, or of some of them. */
static bool matches_hosts(const json_t *entry, const struct bt_tc_key *key, bool fewer)
{
    const json_int_t nodes = json_integer_value(json_object_get(entry, "nodes"));
    char hosts[128];
    if (!fewer || nodes == key->nodes)
        return nodes == key->nodes && strcmp(store_text(entry, "hosts"), key->hosts) == 0;
    bt_tc_hosts(store_text(entry, "hosts"), key->nodes, hosts);
    return nodes > 0 && nodes < key->nodes && strcmp(hosts, key->hosts) == 0;
}

/* Whether an entry has this key, or the same but for fewer cores, of no more nodes. */
static bool matches(const json_t *entry, const struct bt_tc_key *key, bool fewer)
{
    const json_t *cores = json_object_get(entry, "cores");
    const bool less = json_is_integer(cores) && json_integer_value(cores) < key->cores &&
                      json_integer_value(cores) > 0;
    const double dt = json_number_value(json_object_get(entry, "dt"));
    return strcmp(store_text(entry, "cpu"), key->cpu) == 0 && matches_hosts(entry, key, fewer) &&
           strcmp(store_text(entry, "mpi"), key->mpi) == 0 &&
           store_same(entry, "memory_gib", key->memory_gib) &&
           strcmp(store_text(entry, "kernel"), key->kernel) == 0 &&
           (fewer ? less : store_same(entry, "cores", key->cores)) &&
           store_same(entry, "n", key->n) && store_same(entry, "steps", key->steps) &&
           fabs(dt - key->dt) <= 1e-12 * fabs(key->dt);
}

static void entry_read(const json_t *from, struct bt_tc_entry *to)
{
    *to = (struct bt_tc_entry){
        .t_c_s = json_number_value(json_object_get(from, "t_c_s")),
        .verified = json_is_true(json_object_get(from, "verified")),
        .ranks = json_integer_value(json_object_get(from, "ranks")),
        .threads = json_integer_value(json_object_get(from, "threads")),
        .undisturbed = json_is_true(json_object_get(from, "undisturbed")),
        .share_min = js_number(from, "share_min"),
        .steal = js_number(from, "steal"),
        .others = js_number(from, "others"),
    };
    plain_copy(to->decomp, sizeof to->decomp, store_text(from, "decomp"));
    plain_copy(to->isa, sizeof to->isa, store_text(from, "isa"));
    plain_copy(to->host, sizeof to->host, store_text(from, "host"));
    plain_copy(to->utc, sizeof to->utc, store_text(from, "utc"));
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
    if (new) {
        js_set(new, "undisturbed", json_boolean(e->undisturbed));
        js_set(new, "share_min", js_real(e->share_min));
        js_set(new, "steal", js_real(e->steal));
        js_set(new, "others", js_real(e->others));
    }
    const int rc = new ? json_object_update(to, new) : -1;
    json_decref(new);
    return rc == 0 ? 0 : mem_error("an entry of the T_C store");
}

/* A time that is no positive number would poison every comparison. */
static bool has_valid_time(const json_t *entry)
{
    const double t = json_number_value(json_object_get(entry, "t_c_s"));
    return t > 0 && isfinite(t);
}

static const struct store kind = {.name = "tc.json",
                                  .schema = "nht1-tc/1",
                                  .title = "T_C store",
                                  .holds = "compute-only times",
                                  .option = "--tc-store",
                                  .valid = has_valid_time};

int bt_tc_path(const char *asked, char *out, size_t size)
{
    if (!asked) return store_path(&kind, NULL, out, size);
    const int length = snprintf(out, size, "%s", asked);
    if (length <= 0 || (size_t)length + 8 > size)
        return err_set(ERR_USAGE, "--tc-store: the name of the file is empty or too long");
    return 0;
}

/* Whether an entry proves that its run was undisturbed: it says so, and its numbers agree, those from
 * the system's counters within a step of them, as where they were judged. */
static bool proved_undisturbed(const struct bt_tc_entry *e)
{
    const double step = disturbance_unread().tick_s / e->t_c_s;
    return e->undisturbed && e->share_min >= DISTURBANCE_SHARE && e->share_min <= 1 &&
           !(e->steal < 0) && !(e->others < 0) && !disturbance_noticed(e->steal, e->others, step);
}

/* The best entry for a key, or for the same with fewer cores, that is evident. [out] entry: what is in
 * it; other: the first with that key that is not evident. */
static json_t *entry_find(const json_t *entries, const struct bt_tc_key *key, bool fewer,
                          struct bt_tc_entry *entry, json_t **other)
{
    json_t *e, *best = NULL;
    struct bt_tc_entry this;
    size_t i;
    *other = NULL;
    json_array_foreach(entries, i, e)
    {
        if (!matches(e, key, fewer)) continue;
        entry_read(e, &this);
        if (!proved_undisturbed(&this)) {
            if (!*other) *other = e;
            continue;
        }
        if (best && !bt_tc_is_better(&this, entry)) continue;
        *entry = this;
        best = e;
    }
    return best;
}

/* Whether a run on fewer cores, verified no less, was faster. [out] less: that one. */
static bool faster_on_fewer_cores(const json_t *entries, const struct bt_tc_key *key,
                                  const struct bt_tc_entry *entry, struct bt_tc_entry *less)
{
    json_t *other;
    return entry_find(entries, key, true, less, &other) && less->t_c_s < entry->t_c_s &&
           (less->verified || !entry->verified);
}

int bt_tc_find(const char *path, const struct bt_tc_key *key, struct bt_tc_entry *entry,
               char why[BT_TC_WHY_MAX])
{
    json_t *root, *other;
    struct bt_tc_entry less;
    why[0] = '\0';
    TRY(store_read(&kind, path, &root));
    const json_t *entries = json_object_get(root, "entries");
    bool found = entry_find(entries, key, false, entry, &other) != NULL;
    if (!found && other)
        snprintf(
            why, BT_TC_WHY_MAX,
            "The T_C stored for this system and problem, %.4g s, is not used: it comes without "
            "sound evidence that nothing disturbed it (an older version's, or damaged)",
            json_number_value(json_object_get(other, "t_c_s")));
    if (found && faster_on_fewer_cores(entries, key, entry, &less)) {
        found = false;
        snprintf(
            why, BT_TC_WHY_MAX,
            "The T_C stored for this system and problem, %.4g s, is not used: with fewer cores it "
            "was %.4g s",
            entry->t_c_s, less.t_c_s);
    }
    json_decref(root);
    return found ? 1 : 0;
}

bool bt_tc_is_better(const struct bt_tc_entry *candidate, const struct bt_tc_entry *stored)
{
    if (candidate->verified != stored->verified) return candidate->verified;
    return candidate->t_c_s < stored->t_c_s;
}

struct new_time {
    const struct bt_tc_key *key;
    const struct bt_tc_entry *entry;
};

/* Returns 1 when the time was entered. */
static int add_time(json_t *entries, void *arg)
{
    const struct new_time *new = arg;
    struct bt_tc_entry stored, less;
    json_t *other, *place = entry_find(entries, new->key, false, &stored, &other);
    if (!proved_undisturbed(new->entry) ||
        faster_on_fewer_cores(entries, new->key, new->entry, &less))
        return 0;
    if (place && !bt_tc_is_better(new->entry, &stored) &&
        !faster_on_fewer_cores(entries, new->key, &stored, &less))
        return 0;
    if (!place) place = other;
    if (!place) {
        place = json_object();
        json_array_append_new(entries, place);
    }
    TRY(entry_write(place, new->key, new->entry));
    return 1;
}

int bt_tc_offer(const char *path, const struct bt_tc_key *key, const struct bt_tc_entry *entry)
{
    struct new_time new = {key, entry};
    return store_change(&kind, path, add_time, &new);
}
