/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/probe/kept.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mpilib.h"
#include "base/plain.h"
#include "base/store.h"
#include "base/watch.h"
#include "io/probe/check.h"
#include "io/writers/writer.h"

static bool is_finding(const json_t *e)
{
    return json_is_array(json_object_get(e, "findings"));
}

static const struct store store = {"probe.json",       "nht1-probe/1",
                                   "store of --probe", "what works on file systems",
                                   "--tc-store",       is_finding};

int probe_store(const char *tc_store, char *out, size_t size)
{
    return store_path(&store, tc_store, out, size);
}

/* The members by which an entry is found. */
static json_t *findings_key(const struct sys_fs *fs)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (!fs->network) gethostname(host, sizeof host - 1);
    return json_pack("{so so so so so}", "type", js_text(fs->type), "source", js_text(fs->source),
                     "mount", js_text(fs->mount), "host", js_text(host), "mpi",
                     js_text(mpilib()->name));
}

json_t *probe_entry(const struct sys_fs *fs, const json_t *components, const json_t *findings)
{
    char utc[32];
    size_t i;
    const json_t *f;
    json_t *entry = findings_key(fs), *kept = json_array();
    json_array_foreach(findings, i, f)
    {
        json_array_append_new(
            kept, json_pack("{sO sO sO sO}", "component", json_object_get(f, "component"), "tried",
                            json_object_get(f, "tried"), "state", json_object_get(f, "state"),
                            "note", json_object_get(f, "note")));
    }
    watch_utc(utc);
    js_set(entry, "utc", json_string(utc));
    js_set(entry, "chosen", js_text(mpilib_component()));
    js_set(entry, "components", components ? json_incref((json_t *)components) : json_null());
    js_set(entry, "findings", kept);
    return entry;
}

int probe_store_put(const char *path, const struct sys_fs *fs, json_t *entry)
{
    json_t *key = findings_key(fs);
    const int rc = store_replace(&store, path, key, entry);
    json_decref(key);
    return rc;
}

json_t *probe_store_get(const char *tc_store, const char *path, json_t *notices)
{
    char name[PATH_MAX];
    struct sys_fs fs;
    json_t *root = NULL, *known = NULL;
    int rc = probe_store(tc_store, name, sizeof name);
    if (rc == 0) rc = store_read(&store, name, &root);
    const json_t *entries = json_object_get(root, "entries");
    if (rc < 0)
        json_array_append_new(notices,
                              js_printf("What --probe has found is not known: %s.", err_message()));
    else if (json_array_size(entries) > 0 && sys_path_fs(path, &fs) == 0) {
        json_t *key = findings_key(&fs);
        known = json_incref(store_find(entries, key));
        json_decref(key);
    }
    err_clear();
    json_decref(root);
    return known;
}

static unsigned need_of(const char *check, bool mpiio)
{
    const struct probe_check *c = mpiio ? probe_mpiio : probe_files;
    while (c->name && strcmp(c->name, check) != 0)
        c++;
    return c->need;
}

/* The first finding of a component (NULL: the file system) by which something needed does not work,
 * or NULL. [out] tried: whether there is any of it. */
static const json_t *obstacle(const json_t *entry, const char *component, unsigned needs,
                              bool *tried)
{
    size_t i;
    const json_t *f;
    *tried = false;
    json_array_foreach(json_object_get(entry, "findings"), i, f)
    {
        const char *state = store_text(f, "state");
        const bool broken = strcmp(state, "fails") == 0 || strcmp(state, "hangs") == 0 ||
                            strcmp(state, "crashes") == 0;
        if (strcmp(store_text(f, "component"), component ? component : "") != 0) continue;
        *tried = true;
        if (broken && (need_of(store_text(f, "tried"), component) & needs)) return f;
    }
    return NULL;
}

/* Of the components that may be in force none does what is needed: the first one's obstacle. */
static const json_t *mpiio_obstacle(const json_t *entry, unsigned needs)
{
    const unsigned in_force = mpilib_io(store_text(entry, "type"));
    const json_t *first = NULL, *name;
    size_t i;
    json_array_foreach(json_object_get(entry, "components"), i, name)
    {
        const char *component = json_string_value(name);
        bool tried;
        if (!component || !(mpilib_io_of(component, NULL) & in_force)) continue;
        const json_t *f = obstacle(entry, component, needs, &tried);
        if (tried && !f) return NULL;
        if (!first) first = f;
    }
    return first;
}

bool probe_denies(const json_t *entry, const char *writer, char *why, size_t size)
{
    const struct io_writer *w = io_writer_find(writer);
    const json_t *components = json_object_get(entry, "components");
    char text[512] = "";
    bool tried;
    if (!entry || !w) return false;
    const json_t *f = obstacle(entry, NULL, w->needs, &tried);
    if (!f && (w->needs & IO_NEED_MPIIO)) f = mpiio_obstacle(entry, w->needs);
    if (f) {
        const char *component = store_text(f, "component");
        snprintf(text, sizeof text, "%s%s%s%s %s here (%.300s)", component[0] ? "MPI-IO " : "",
                 component, component[0] ? ", " : "", store_text(f, "tried"),
                 store_text(f, "state"), store_text(f, "note"));
    } else if ((w->needs & IO_NEED_MPIIO) && json_is_array(components) &&
               json_array_size(components) == 0 &&
               strcmp(store_text(entry, "chosen"), mpilib_component()) == 0) {
        snprintf(text, sizeof text, "there is no component for MPI-IO");
    }
    if (!text[0]) return false;
    snprintf(why, size, "%s, as --probe found on %.16s", text, store_text(entry, "utc"));
    plain_text(why);
    return true;
}
