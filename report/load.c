/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/load.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "report/text.h"

#define SIZE_MAX_BYTES (1LL << 30)
#define DEPTH_MAX      8

/* What is reported on, and the newest version known. */
static const struct kind {
    const char *name;
    int64_t version;
} kinds[] = {{"nht1-bt", 1}, {"nht1-beff", 1}, {"nht1-beffio", 1}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The kind that a "schema" names; NULL for none. version: [out] the number after it. */
static const struct kind *kind_of(const char *schema, int64_t *version)
{
    const char *slash = strchr(schema, '/');
    if (!slash || num_int_parse(slash + 1, version) < 0) return NULL;
    for (int i = 0; i < KINDS; i++)
        if (strlen(kinds[i].name) == (size_t)(slash - schema) &&
            strncmp(kinds[i].name, schema, (size_t)(slash - schema)) == 0)
            return &kinds[i];
    return NULL;
}

/* Takes path and root. */
static int keep(struct docs *docs, struct doc doc)
{
    if (docs->n == docs->room) {
        const int room = docs->room ? 2 * docs->room : 16;
        struct doc *wider = realloc(docs->doc, (size_t)room * sizeof *wider);
        if (wider) docs->doc = wider;
        if (wider) docs->room = room;
    }
    if (!doc.path || docs->n == docs->room) {
        free(doc.path);
        json_decref(doc.root);
        return err_set(ERR_NOMEM, "no memory for the names of results");
    }
    docs->doc[docs->n++] = doc;
    return 0;
}

static int no_result(const char *path, const char *schema)
{
    if (schema)
        return err_set(ERR_USAGE,
                       "%s: \"schema\" is \"%.60s\"; reports are made of nht1-bt, nht1-beff and "
                       "nht1-beffio results",
                       path, schema);
    return err_set(ERR_USAGE,
                   "%s: this JSON is no result of this project: it has no \"schema\"; give the "
                   "files that nht1-bt and its companions write with --json",
                   path);
}

/* Of a dump file. It lies beside results without having been asked for, where *.json meets it. */
static bool is_manifest(const char *schema)
{
    const char *const start = "nht1-dump/";
    return schema && strncmp(schema, start, strlen(start)) == 0;
}

/* One file. strict: what is no result is an error, a manifest excepted; else it is passed over. */
static int load_file(struct docs *docs, const char *path, bool strict)
{
    json_t *root;
    int rc = js_read(path, &root);
    int64_t version = 0;
    if (rc < 0) {
        if (strict || rc == ERR_NOMEM) return rc;
        err_clear();
        docs->skipped_n++;
        return 0;
    }
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const struct kind *kind = schema ? kind_of(schema, &version) : NULL;
    if (kind) {
        docs->newer_n += version > kind->version;
        return keep(docs, (struct doc){strdup(path), root, kind->name, version});
    }
    docs->skipped_n++;
    rc = strict && !is_manifest(schema) ? no_result(path, schema) : 0;
    json_decref(root);
    return rc;
}

static int load(struct docs *docs, const char *path, int depth);

static int is_candidate(const struct dirent *e)
{
    const size_t len = strlen(e->d_name);
    if (e->d_name[0] == '.') return 0;
    return e->d_type != DT_REG || (len > 5 && strcmp(e->d_name + len - 5, ".json") == 0);
}

static int load_directory(struct docs *docs, const char *path, int depth)
{
    struct dirent **entry;
    int rc = 0;
    const int n = scandir(path, &entry, is_candidate, alphasort);
    if (n < 0) return err_set_errno(ERR_IO, errno, "%s: cannot read the directory", path);
    for (int i = 0; i < n; i++) {
        char *below = text_print("%s/%s", path, entry[i]->d_name);
        if (rc == 0) rc = below ? load(docs, below, depth + 1) : ERR_NOMEM;
        free(below);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

static bool ends_in_json(const char *path)
{
    const size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

/* A file or directory; depth: 0 for one that was named. Links inside directories are followed to
 * files only. */
static int load(struct docs *docs, const char *path, int depth)
{
    struct stat s;
    if (stat(path, &s) < 0) {
        if (depth > 0) return 0;
        return strpbrk(path, "./")
                   ? err_set_errno(ERR_IO, errno, "%s: cannot open for reading", path)
                   : err_set_errno(ERR_IO, errno,
                                   "%s: no file that can be read, and "
                                   "no command: those are compare and stats",
                                   path);
    }
    if (S_ISDIR(s.st_mode)) {
        struct stat link;
        if (depth > DEPTH_MAX || (depth > 0 && lstat(path, &link) == 0 && S_ISLNK(link.st_mode)))
            return 0;
        return load_directory(docs, path, depth);
    }
    if (depth > 0 && (!S_ISREG(s.st_mode) || !ends_in_json(path))) return 0;
    if (s.st_size > SIZE_MAX_BYTES)
        return depth > 0 ? 0
                         : err_set(ERR_USAGE, "%s: %.1f GB are more than any result has", path,
                                   (double)s.st_size / 1e9);
    return load_file(docs, path, depth == 0);
}

int docs_load(struct docs *docs, const char *const *path, int n)
{
    *docs = (struct docs){0};
    for (int i = 0; i < n; i++)
        TRY(load(docs, path[i], 0));
    if (docs->n > 0) return 0;
    return err_set(ERR_USAGE, "%s: no result of nht1-bt, nht1-beff or nht1-beffio there",
                   n > 0 ? path[0] : "no file named");
}

void docs_free(struct docs *docs)
{
    for (int i = 0; i < docs->n; i++) {
        free(docs->doc[i].path);
        json_decref(docs->doc[i].root);
    }
    free(docs->doc);
    *docs = (struct docs){0};
}

int docs_count(const struct docs *docs, const char *kind)
{
    int n = 0;
    for (int i = 0; i < docs->n; i++)
        n += strcmp(docs->doc[i].kind, kind) == 0;
    return n;
}

const json_t *doc_at(const json_t *from, const char *at)
{
    while (from && *at) {
        char key[64];
        const size_t len = strcspn(at, ".");
        if (len >= sizeof key) return NULL;
        memcpy(key, at, len);
        key[len] = '\0';
        from = json_object_get(from, key);
        at += len + (at[len] == '.');
    }
    return from;
}

double doc_real(const json_t *from, const char *at)
{
    const json_t *v = doc_at(from, at);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int64_t doc_int(const json_t *from, const char *at, int64_t def)
{
    const json_t *v = doc_at(from, at);
    return json_is_integer(v) ? json_integer_value(v) : def;
}

bool doc_true(const json_t *from, const char *at)
{
    return json_is_true(doc_at(from, at));
}

const char *doc_text(const json_t *from, const char *at)
{
    const json_t *v = doc_at(from, at);
    return json_is_string(v) ? json_string_value(v) : "";
}
