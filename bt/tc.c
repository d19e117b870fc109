/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/tc.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/watch.h"

#define SCHEMA     "nht1-tc/1"
#define LOCK_TRIES 100 /* of 50 ms each */

int bt_tc_path(const char *asked, char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length;
    if (asked)
        length = snprintf(out, size, "%s", asked);
    else if (state && state[0] == '/')
        length = snprintf(out, size, "%s/nht1/tc.json", state);
    else if (home && home[0])
        length = snprintf(out, size, "%s/.local/state/nht1/tc.json", home);
    else
        return err_set(ERR_USAGE, "no place to remember T_C: neither XDG_STATE_HOME nor HOME is "
                                  "set; name a file with --tc-store");
    if (length < 0 || (size_t)length + 8 > size || length == 0)
        return err_set(ERR_USAGE, "--tc-store: the name of the file is empty or too long");
    return 0;
}

static const char *text_of(const json_t *entry, const char *member)
{
    const char *s = json_string_value(json_object_get(entry, member));
    return s ? s : "";
}

static bool same_number(const json_t *entry, const char *member, int64_t value)
{
    const json_t *v = json_object_get(entry, member);
    return json_is_integer(v) && json_integer_value(v) == value;
}

void bt_tc_hosts(const char *host, int64_t nodes, char out[128])
{
    size_t used = 0;
    for (const char *c = host; *c && used < 127; c++) {
        const bool digit = nodes > 1 && *c >= '0' && *c <= '9';
        if (!digit || used == 0 || out[used - 1] != '#') out[used++] = digit ? '#' : *c;
    }
    out[used] = '\0';
}

static bool is_keyed(const json_t *entry)
{
    return json_object_get(entry, "hosts") != NULL;
}

static bool matches(const json_t *entry, const struct bt_tc_key *key)
{
    const double dt = json_number_value(json_object_get(entry, "dt"));
    if (strcmp(text_of(entry, "cpu"), key->cpu) != 0 ||
        strcmp(text_of(entry, "kernel"), key->kernel) != 0 ||
        !same_number(entry, "nodes", key->nodes) || !same_number(entry, "cores", key->cores) ||
        !same_number(entry, "n", key->n) || !same_number(entry, "steps", key->steps) ||
        !(fabs(dt - key->dt) <= 1e-12 * fabs(key->dt)))
        return false;
    if (is_keyed(entry))
        return strcmp(text_of(entry, "hosts"), key->hosts) == 0 &&
               strcmp(text_of(entry, "mpi"), key->mpi) == 0 &&
               same_number(entry, "memory_gib", key->memory_gib);
    char hosts[128];
    bt_tc_hosts(text_of(entry, "host"), key->nodes, hosts);
    return strcmp(hosts, key->hosts) == 0;
}

static void entry_read(const json_t *from, struct bt_tc_entry *to)
{
    *to = (struct bt_tc_entry){
        .t_c_s = json_number_value(json_object_get(from, "t_c_s")),
        .verified = json_is_true(json_object_get(from, "verified")),
        .ranks = json_integer_value(json_object_get(from, "ranks")),
        .threads = json_integer_value(json_object_get(from, "threads")),
    };
    plain_copy(to->decomp, sizeof to->decomp, text_of(from, "decomp"));
    plain_copy(to->isa, sizeof to->isa, text_of(from, "isa"));
    plain_copy(to->host, sizeof to->host, text_of(from, "host"));
    plain_copy(to->utc, sizeof to->utc, text_of(from, "utc"));
    to->keyed = is_keyed(from);
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

static int foreign(const char *path, const char *why)
{
    return err_set(ERR_USAGE,
                   "%s is no store of compute-only times (%s): it is left alone; name another with "
                   "--tc-store, or remove it",
                   path, why);
}

/* An entry whose time is no positive number would poison every comparison. */
static bool entries_sound(const json_t *entries)
{
    size_t i;
    const json_t *e;
    json_array_foreach(entries, i, e)
    {
        const double t = json_number_value(json_object_get(e, "t_c_s"));
        if (!json_is_object(e) || !(t > 0) || !isfinite(t)) return false;
    }
    return true;
}

/* [out] root: the store, an empty one when there is no file. */
static int load(const char *path, json_t **root)
{
    json_error_t error;
    struct stat st;
    *root = NULL;
    if (stat(path, &st) < 0 && errno == ENOENT) {
        *root = json_pack("{s:s, s:[]}", "schema", SCHEMA, "entries");
        return *root ? 0 : err_set(ERR_NOMEM, "no memory for the T_C store");
    }
    if (access(path, R_OK) < 0)
        return err_set_errno(ERR_IO, errno, "reading the T_C store %s", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return foreign(path, "not a regular file");
    *root = json_load_file(path, 0, &error);
    if (!*root) return foreign(path, error.text);
    const json_t *entries = json_object_get(*root, "entries");
    if (strcmp(text_of(*root, "schema"), SCHEMA) != 0 || !json_is_array(entries) ||
        !entries_sound(entries)) {
        json_decref(*root);
        *root = NULL;
        return foreign(path, "its schema or entries are not those of " SCHEMA);
    }
    return 0;
}

/* The best entry for a key; keyed: among those that have all of it. */
static json_t *entry_find(const json_t *root, const struct bt_tc_key *key, bool keyed)
{
    json_t *e, *best = NULL;
    struct bt_tc_entry this, shortest = {0};
    size_t i;
    json_array_foreach(json_object_get(root, "entries"), i, e)
    {
        if (!matches(e, key) || (keyed && !is_keyed(e))) continue;
        entry_read(e, &this);
        if (best && !bt_tc_is_better(&this, &shortest)) continue;
        shortest = this;
        best = e;
    }
    return best;
}

/* Makes the folders above path. Failures show when the file is opened. */
static void folders_make(const char *path)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(part, 0777);
        *slash = '/';
    }
}

/* Returns the descriptor that holds the lock, or an error; gives up after some seconds. File systems
 * of clusters may come without locks; a store there can miss a time that another job offers at the
 * same moment, no more. */
static int lock(const char *path)
{
    char name[PATH_MAX + 8];
    struct stat st;
    snprintf(name, sizeof name, "%s.lock", path);
    const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0)
        return err_set_errno(ERR_IO, errno,
                             "the lock file %s of the T_C store cannot be used: make its folder "
                             "writable or name another store with --tc-store",
                             name);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(ERR_IO,
                       "%s is in the way of the T_C store's lock file: remove it or name another "
                       "store with --tc-store",
                       name);
    }
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
        if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL) return fd;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    close(fd);
    return err_set(ERR_IO,
                   "the T_C store %s is locked by another program: wait for it or name another "
                   "store with --tc-store",
                   path);
}

int bt_tc_find(const char *path, const struct bt_tc_key *key, struct bt_tc_entry *entry)
{
    json_t *root;
    TRY(load(path, &root));
    const json_t *found = entry_find(root, key, false);
    if (found) entry_read(found, entry);
    json_decref(root);
    return found ? 1 : 0;
}

bool bt_tc_is_better(const struct bt_tc_entry *candidate, const struct bt_tc_entry *stored)
{
    if (candidate->verified != stored->verified) return candidate->verified;
    return candidate->t_c_s < stored->t_c_s;
}

/* With the lock held: load, compare, replace. Returns 1 when stored. */
static int offer_locked(const char *path, const struct bt_tc_key *key,
                        const struct bt_tc_entry *entry)
{
    json_t *root;
    TRY(load(path, &root));
    json_t *place = entry_find(root, key, true);
    struct bt_tc_entry stored;
    int rc = 1;
    if (place) {
        entry_read(place, &stored);
        rc = bt_tc_is_better(entry, &stored) ? 1 : 0;
    } else {
        place = json_object();
        json_array_append_new(json_object_get(root, "entries"), place);
    }
    if (rc == 1) {
        const int written = entry_write(place, key, entry);
        rc = written < 0 ? written : js_write(path, root, JS_SYNC_FILE);
        if (rc == 0) rc = 1;
    }
    json_decref(root);
    return rc;
}

int bt_tc_offer(const char *path, const struct bt_tc_key *key, const struct bt_tc_entry *entry)
{
    folders_make(path);
    const int fd = lock(path);
    if (fd < 0) return fd;
    const int rc = offer_locked(path, key, entry);
    close(fd);
    return rc;
}
