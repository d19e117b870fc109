/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/probe_kept.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/watch.h"
#include "bt/store.h"
#include "io/mpiio.h"

static bool sound(const json_t *e)
{
    return json_is_array(json_object_get(e, "findings"));
}

static const struct bt_store store = {"probe.json", "nht1-probe/1", "store of --probe",
                                      "what works on file systems", sound};

int bt_probe_store(const char *tc_store, char *out, size_t size)
{
    return bt_store_path(&store, tc_store, out, size);
}

/* The members by which an entry is found. */
static json_t *key_of(const struct sys_fs *fs)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[HOST_NAME_MAX + 1] = "";
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    if (!fs->network) gethostname(host, sizeof host - 1);
    return json_pack("{so so so so so}", "type", js_text(fs->type), "source", js_text(fs->source),
                     "mount", js_text(fs->mount), "host", js_text(host), "mpi", js_text(library));
}

static json_t *find(const json_t *entries, const json_t *key)
{
    size_t i;
    json_t *e;
    json_array_foreach(entries, i, e)
    {
        const char *member;
        json_t *value;
        bool same = true;
        json_object_foreach((json_t *)key, member, value) same =
            same && json_equal(json_object_get(e, member), value);
        if (same) return e;
    }
    return NULL;
}

/* The new entry, in the place of an old one. */
static int put(json_t *entries, void *arg)
{
    json_t *new = arg, *key = json_copy(new);
    json_object_del(key, "utc");
    json_object_del(key, "chosen");
    json_object_del(key, "findings");
    json_t *old = find(entries, key);
    json_decref(key);
    const int rc = old ? json_object_update(old, new) : json_array_append(entries, new);
    return rc == 0 ? 1 : err_set(ERR_NOMEM, "no memory for an entry of the store of --probe");
}

int bt_probe_keep(const char *path, const struct sys_fs *fs, const json_t *findings)
{
    char utc[32];
    size_t i;
    const json_t *f;
    json_t *entry = key_of(fs), *kept = json_array();
    json_array_foreach(findings, i, f) json_array_append_new(
        kept, json_pack("{sO sO sO sO}", "component", json_object_get(f, "component"), "check",
                        json_object_get(f, "check"), "state", json_object_get(f, "state"), "note",
                        json_object_get(f, "note")));
    watch_utc(utc);
    js_set(entry, "utc", json_string(utc));
    js_set(entry, "chosen", json_string(io_mpiio_component()));
    js_set(entry, "findings", kept);
    const int rc = bt_store_change(&store, path, put, entry);
    json_decref(entry);
    return rc;
}
