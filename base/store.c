/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/mem.h"

#define LOCK_WAIT_MS 5000

int store_path(const struct store *kind, const char *asked, char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const char *slash = asked ? strrchr(asked, '/') : NULL;
    int length;
    if (asked)
        length =
            snprintf(out, size, "%.*s%s", slash ? (int)(slash + 1 - asked) : 0, asked, kind->name);
    else if (state && state[0] == '/')
        length = snprintf(out, size, "%s/nht1/%s", state, kind->name);
    else if (home && home[0])
        length = snprintf(out, size, "%s/.local/state/nht1/%s", home, kind->name);
    else
        return err_set(ERR_USAGE,
                       "no place to remember %s: neither XDG_STATE_HOME nor HOME is set; name a "
                       "file with %s",
                       kind->holds, kind->option);
    if (length < 0 || (size_t)length + 8 > size)
        return err_set(ERR_USAGE, "%s: the name of the file is too long", kind->option);
    return 0;
}

const char *store_text(const json_t *entry, const char *member)
{
    const char *s = json_string_value(json_object_get(entry, member));
    return s ? s : "";
}

bool store_same(const json_t *entry, const char *member, int64_t value)
{
    const json_t *v = json_object_get(entry, member);
    return json_is_integer(v) && json_integer_value(v) == value;
}

static int not_a_store(const struct store *kind, const char *path, const char *why)
{
    return err_set(ERR_USAGE,
                   "%s is no store of %s (%s), so it is not replaced; name another with %s, or "
                   "remove it",
                   path, kind->holds, why, kind->option);
}

static bool entries_valid(const struct store *kind, const json_t *entries)
{
    size_t i;
    const json_t *e;
    if (!json_is_array(entries)) return false;
    json_array_foreach(entries, i,
                       e) if (!json_is_object(e) || (kind->valid && !kind->valid(e))) return false;
    return true;
}

int store_read(const struct store *kind, const char *path, json_t **root)
{
    json_error_t error;
    struct stat st;
    *root = NULL;
    if (stat(path, &st) < 0 && errno == ENOENT) {
        *root = json_pack("{s:s, s:[]}", "schema", kind->schema, "entries");
        return *root ? 0 : mem_error("the %s", kind->title);
    }
    if (access(path, R_OK) < 0)
        return err_set_errno(ERR_IO, errno, "reading the %s %s", kind->title, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return not_a_store(kind, path, "not a regular file");
    if (stat(path, &st) == 0 && st.st_size > STORE_BYTES_MAX)
        return not_a_store(kind, path, "longer than 64 MiB, the most that a store may have");
    *root = json_load_file(path, 0, &error);
    if (!*root) return not_a_store(kind, path, error.text);
    if (strcmp(store_text(*root, "schema"), kind->schema) != 0 ||
        !entries_valid(kind, json_object_get(*root, "entries"))) {
        char why[96];
        snprintf(why, sizeof why, "its schema or entries are not those of %s", kind->schema);
        json_decref(*root);
        *root = NULL;
        return not_a_store(kind, path, why);
    }
    return 0;
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
 * of clusters may come without locks; a store there can miss what another job finds at the same
 * moment, no more. */
static int lock(const struct store *kind, const char *path)
{
    char name[PATH_MAX + 8];
    int fd;
    snprintf(name, sizeof name, "%s.lock", path);
    switch (lock_open(name, LOCK_WAIT_MS, &fd)) {
    case LOCK_HELD:
    case LOCK_UNSUPPORTED:
        return fd;
    case LOCK_FOREIGN:
        return err_set(ERR_IO,
                       "%s is in the way of the %s's lock file: remove it or name another "
                       "store with %s",
                       name, kind->title, kind->option);
    case LOCK_BUSY:
        return err_set(ERR_IO,
                       "the %s %s is locked by another program: wait for it or name another "
                       "store with %s",
                       kind->title, path, kind->option);
    case LOCK_ERROR:
        break;
    }
    return err_set_errno(ERR_IO, errno,
                         "the lock file %s of the %s cannot be used: make its folder "
                         "writable or name another store with %s",
                         name, kind->title, kind->option);
}

json_t *store_find(const json_t *entries, const json_t *key)
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

int store_change(const struct store *kind, const char *path,
                 int (*change)(json_t *entries, void *arg), void *arg)
{
    json_t *root;
    folders_make(path);
    const int fd = lock(kind, path);
    if (fd < 0) return fd;
    int rc = store_read(kind, path, &root);
    if (rc == 0) {
        rc = change(json_object_get(root, "entries"), arg);
        const int written = rc == 1 ? js_write(path, root, JS_SYNC_FILE) : 0;
        if (written < 0) rc = written;
        json_decref(root);
    }
    close(fd);
    return rc;
}

struct replacement {
    const struct store *kind;
    const json_t *key;
    json_t *entry;
};

static int put_entry(json_t *entries, void *arg)
{
    const struct replacement *new = arg;
    json_t *old = store_find(entries, new->key);
    const int rc =
        old ? json_object_update(old, new->entry) : json_array_append(entries, new->entry);
    return rc == 0 ? 1 : mem_error("an entry of the %s", new->kind->title);
}

int store_replace(const struct store *kind, const char *path, const json_t *key, json_t *entry)
{
    struct replacement new = {kind, key, entry};
    return store_change(kind, path, put_entry, &new);
}
