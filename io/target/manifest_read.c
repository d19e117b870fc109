/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a manifest back, for a run that goes on where another one ended. What a program must know
 * of a manifest to judge a file is in verify/; here it is what a writer must know. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/plain.h"
#include "io/target/manifest_impl.h"

static int expect_text(const json_t *root, const char *path, const char *key, const char *wanted)
{
    const char *text;
    TRY(js_get_text(root, path, key, &text));
    if (strcmp(text, wanted) == 0) return 0;
    return err_set(ERR_USAGE, "%s: \"%s\" is '%s' and not '%s': this file cannot be used here",
                   path, key, text, wanted);
}

static int copy_text(const json_t *root, const char *path, const char *key, char out[64])
{
    const char *text;
    TRY(js_get_text(root, path, key, &text));
    plain_copy(out, 64, text);
    return 0;
}

/* Dumps from the first on that are complete, each at its step. */
static int read_complete(const json_t *dumps, const char *path, struct io_past *past)
{
    size_t d;
    json_t *dump;
    int64_t step;
    past->complete_n = 0;
    json_array_foreach(dumps, d, dump)
    {
        bool complete;
        TRY(js_get_bool(dump, path, "complete", &complete));
        if (!complete || past->complete_n == past->dumps_n) return 0;
        const int64_t at =
            num_min(num_product(past->complete_n + 1, past->interval), past->steps_n);
        TRY(js_get_int(dump, path, "step", at, at, &step));
        past->complete_n++;
    }
    return 0;
}

static int read_format(const json_t *root, const char *path, struct io_body *body)
{
    const char *name;
    *body = (struct io_body){.format = IO_RAW};
    if (!json_object_get(root, "format")) return 0;
    TRY(js_get_text(root, path, "format", &name));
    TRY(expect_text(root, path, "variable", "solution"));
    const int format = io_format_find(name);
    if (format < 0)
        return err_set(ERR_USAGE, "%s: \"format\" is '%s', which is not known here", path, name);
    body->format = (enum io_format)format;
    return 0;
}

/* Where the dumps of a container lie. */
static int read_body(const json_t *root, const char *path, struct io_past *past)
{
    struct io_body *b = &past->body;
    const int64_t dump_bytes = io_dump_bytes(past->layout, past->n);
    const struct io_setting *chunk = io_setting_find("chunk");
    int64_t end;
    if (b->format == IO_RAW) return 0;
    TRY(js_get_int(root, path, "file_bytes", 1, INT64_MAX, &b->file_bytes));
    b->data_offset = -1;
    if (json_object_get(root, "chunk"))
        return js_get_int(root, path, "chunk", (int64_t)chunk->least, (int64_t)chunk->most,
                          &b->chunk);
    TRY(js_get_int(root, path, "data_offset", 0, INT64_MAX, &b->data_offset));
    if (!__builtin_mul_overflow(dump_bytes, past->dumps_n, &end) &&
        !__builtin_add_overflow(end, b->data_offset, &end) && end == b->file_bytes)
        return 0;
    return err_set(ERR_USAGE, "%s: \"data_offset\" and \"file_bytes\" do not fit the dumps", path);
}

/* The settings of the last run's writer, checked like those of a command line. */
static int read_settings(const json_t *root, const char *path, struct io_past *past)
{
    const char *text;
    json_t *settings, *hints, *hint;
    const struct io_setting *row;
    size_t i, used = 0;
    past->hints_n = 0;
    TRY(js_get_text(root, path, "sync", &text));
    const int sync = io_sync_find(text);
    if (sync < 0)
        return err_set(ERR_USAGE, "%s: \"sync\" is '%s', which is not known here", path, text);
    past->sync = (enum io_sync)sync;
    TRY(js_get_object(root, path, "settings", &settings));
    past->tuning = (struct io_tuning){0};
    for (int r = 0; (row = io_setting_at(r)) != NULL; r++) {
        int64_t number;
        bool flag;
        if (row->key) continue;
        if (row->arg)
            TRY(js_get_int(settings, path, row->name, 0, (int64_t)row->most, &number));
        else
            TRY(js_get_bool(settings, path, row->name, &flag));
        io_setting_put(row, row->arg ? number : flag, &past->tuning);
    }
    TRY(js_get_array(settings, path, "hints", &hints));
    json_array_foreach(hints, i, hint)
    {
        text = json_string_value(hint);
        if (!text || strlen(text) >= sizeof past->hints - used)
            return err_set(ERR_USAGE, "%s: \"hints\" are no texts, or more than %zu bytes", path,
                           sizeof past->hints);
        memcpy(past->hints + used, text, strlen(text) + 1);
        used += strlen(text) + 1;
        past->hints_n++;
    }
    return 0;
}

/* The writer of the last run: the first one, or that of the last restart. */
static int read_writer(const json_t *root, const char *path, char writer[64])
{
    const json_t *resumed = json_object_get(root, "resumed");
    const size_t n = json_array_size(resumed);
    return copy_text(n > 0 ? json_array_get(resumed, n - 1) : root, path, "writer", writer);
}

static int read_all(struct io_manifest *m, const char *name, struct io_past *past)
{
    const json_t *root = m->root;
    const char *path = m->path, *layout;
    int64_t bytes;
    TRY(expect_text(root, path, "schema", IO_MANIFEST_SCHEMA));
    TRY(expect_text(root, path, "file", name));
    TRY(read_format(root, path, &past->body));
    TRY(expect_text(root, path, "endian", io_manifest_endian(past->body.format)));
    TRY(expect_text(root, path, "hash", "nht1-h64/1"));
    TRY(js_get_int(root, path, "n", 1, IO_N_MAX, &past->n));
    TRY(js_get_int(root, path, "dumps_planned", 1, INT64_MAX, &past->dumps_n));
    TRY(js_get_int(root, path, "steps", 1, INT64_MAX, &past->steps_n));
    TRY(js_get_int(root, path, "interval", 1, INT64_MAX, &past->interval));
    TRY(js_get_real(root, path, "dt", &past->dt));
    TRY(js_get_text(root, path, "layout", &layout));
    TRY(io_layout_parse(layout, &past->layout));
    TRY(js_get_int(root, path, "dump_bytes", 1, INT64_MAX, &bytes));
    if (bytes != io_dump_bytes(past->layout, past->n)) {
        return err_set(ERR_USAGE, "%s: \"dump_bytes\" is %" PRId64 " and not %" PRId64, path, bytes,
                       io_dump_bytes(past->layout, past->n));
    }
    if (num_product(past->dumps_n, bytes) == NUM_ENDLESS)
        return err_set(ERR_USAGE,
                       "%s: \"dumps_planned\" is %" PRId64
                       ": so many dumps are longer than 2^63 bytes",
                       path, past->dumps_n);
    TRY(read_body(root, path, past));
    TRY(read_writer(root, path, past->writer));
    TRY(read_settings(root, path, past));
    TRY(copy_text(root, path, "kernel", past->kernel));
    json_t *dumps; /* the manifest owns it only where it is what it should be */
    TRY(js_get_array(root, path, "dumps", &dumps));
    m->loaded = json_incref(dumps);
    m->n = past->n;
    m->planned_n = past->dumps_n;
    return read_complete(m->loaded, path, past);
}

/* Files beside this one whose manifests are there: a run of several writers leaves FILE.NAME. */
static void name_other_manifests(const char *path, const char *name, char *text, size_t size)
{
    char folder[PATH_MAX], manifest[2 * PATH_MAX], file[NAME_MAX + 1];
    size_t used = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - strlen(name) - strlen(".json")),
             path);
    DIR *dir = opendir(folder[0] ? folder : ".");
    text[0] = '\0';
    for (struct dirent *e; dir && (e = readdir(dir)) && used < size;) {
        const size_t length = strlen(e->d_name), begin = strlen(name);
        if (strncmp(e->d_name, name, begin) != 0 || e->d_name[begin] != '.') continue;
        if (length < begin + 7 || strcmp(e->d_name + length - 5, ".json") != 0) continue;
        snprintf(file, sizeof file, "%.*s", (int)(length - 5), e->d_name);
        snprintf(manifest, sizeof manifest, "%s%s", folder, e->d_name);
        if (io_manifest_identify(manifest, file) != IO_MANIFEST_OURS) continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", folder, file);
    }
    if (dir) closedir(dir);
}

static int is_there(const char *path, const char *name)
{
    char beside[512];
    struct stat st;
    const bool found = stat(path, &st) == 0;
    if (found && !S_ISREG(st.st_mode)) return err_set(ERR_USAGE, "%s is not a regular file", path);
    if (found && st.st_size > IO_MANIFEST_BYTES_MAX)
        return err_set(ERR_USAGE, "%s has %lld bytes, too many for a manifest", path,
                       (long long)st.st_size);
    if (found) return 0;
    if (errno != ENOENT) return err_set_errno(ERR_IO, errno, "cannot look at %s", path);
    name_other_manifests(path, name, beside, sizeof beside);
    if (beside[0]) {
        return err_set(
            ERR_USAGE,
            "there is nothing to continue: %s has no manifest %s, but there are those of "
            "%s: name one of these with --out",
            name, path, beside);
    }
    return err_set(ERR_USAGE,
                   "there is nothing to continue: %s has no manifest %s; run without --restart",
                   name, path);
}

/* With what the journal adds. A run that ends meanwhile replaces the manifest and then removes the journal. */
static int read_whole(const char *path, json_t **root)
{
    TRY(js_read(path, root));
    for (int try = 0; try < 2 && json_is_true(json_object_get(*root, "journal")); try++) {
        json_t *again;
        const int rc = io_journal_merge(path, *root);
        if (rc != 0) return rc < 0 ? rc : 0;
        TRY(js_read(path, &again));
        json_decref(*root);
        *root = again;
    }
    json_object_del(*root, "journal");
    return 0;
}

int io_manifest_load(struct io_manifest **out, const char *path, const char *name,
                     struct io_past *past)
{
    *out = NULL;
    TRY(is_there(path, name));
    struct io_manifest *m = mem_new(1, sizeof *m, "the manifest %s", path);
    if (!m) return ERR_NOMEM;
    m->path = path;
    m->durable = true;
    int rc = read_whole(path, &m->root);
    if (rc == 0) rc = read_all(m, name, past);
    if (rc < 0) {
        io_manifest_free(m);
        return rc;
    }
    *out = m;
    return 0;
}

int io_manifest_dump(const struct io_manifest *m, int64_t d, int64_t *step, uint64_t *digest)
{
    const json_t *dump = json_array_get(m->loaded, (size_t)d);
    const int64_t n = m->n;
    char where[96];
    json_t *words;
    snprintf(where, sizeof where, "the manifest's dumps[%" PRId64 "]", d);
    TRY(js_get_int(dump, where, "step", 1, INT64_MAX, step));
    TRY(js_get_object(dump, where, "digest", &words));
    TRY(js_get_words(words, where, "i", n, digest));
    TRY(js_get_words(words, where, "j", n, digest + n));
    TRY(js_get_words(words, where, "k", n, digest + 2 * n));
    return js_get_words(words, where, "m", IO_NCOMP, digest + 3 * n);
}

int io_manifest_has(MPI_Comm comm, const struct io_manifest *m, int64_t n, int64_t d,
                    const uint64_t *mine, int64_t *step, bool *has)
{
    const int words = (int)digest_words(n);
    uint64_t *sum = mem_new(2 * (int64_t)words, sizeof *sum, "a digest"), *want = sum + words;
    int rank, rc;
    *has = false;
    TRY_TO(out, rc, par_agree_memory(comm, sum));
    TRY_MPI_TO(out, rc, MPI_Comm_rank(comm, &rank));
    TRY_MPI_TO(out, rc, MPI_Reduce(mine, sum, words, MPI_UINT64_T, MPI_SUM, 0, comm));
    if (rank == 0 && io_manifest_dump(m, d, step, want) == 0)
        *has = memcmp(want, sum, (size_t)words * sizeof *want) == 0;
    if (rank == 0) err_clear();
    TRY_MPI_TO(out, rc, MPI_Bcast(has, sizeof *has, MPI_BYTE, 0, comm));
out:
    free(sum);
    return rc;
}

/* Takes a dump over from the manifest that was read. */
static int keep_dump(struct io_manifest *m, int64_t d)
{
    int64_t step;
    uint64_t *digest = malloc((size_t)digest_words(m->n) * sizeof *digest);
    if (!digest) return io_manifest_no_memory(m);
    const json_t *durable = json_object_get(json_array_get(m->loaded, (size_t)d), "durable");
    int rc = io_manifest_dump(m, d, &step, digest);
    if (rc == 0) rc = io_manifest_add(m, step, true, json_is_true(durable), digest);
    free(digest);
    return rc;
}

/* Appends to "resumed", which is made when it is not there. */
static int note_resume(struct io_manifest *m, int64_t dumps_n, const struct io_spec *spec)
{
    const json_int_t step = dumps_n > 0 ? (json_int_t)m->dump[dumps_n - 1].step : 0;
    json_t *list = json_object_get(m->root, "resumed");
    if (!json_is_array(list)) {
        json_object_set_new(m->root, "resumed", json_array());
        list = json_object_get(m->root, "resumed");
    }
    json_t *note =
        json_pack("{sI sI ss ss}", "dump", (json_int_t)dumps_n, "step", step, "writer",
                  spec->writer ? spec->writer : "", "kernel", spec->kernel ? spec->kernel : "");
    if (json_array_append_new(list, note) == 0) return io_manifest_make_head(m);
    return io_manifest_no_memory(m);
}

int io_manifest_resume(struct io_manifest *m, int64_t dumps_n, const struct io_spec *spec,
                       bool merged)
{
    for (int64_t d = 0; d < dumps_n; d++)
        TRY(keep_dump(m, d));
    m->durable = spec->sync != IO_SYNC_NONE;
    if (merged) json_object_del(m->root, "parts");
    TRY(io_manifest_draw_run_id(m));
    TRY(io_manifest_describe_run(m, spec));
    return note_resume(m, dumps_n, spec);
}

int64_t io_manifest_parts_n(const struct io_manifest *m)
{
    return (int64_t)json_array_size(json_object_get(m->root, "parts"));
}

struct io_box io_manifest_part(const struct io_manifest *m, int64_t part)
{
    const json_t *list = json_array_get(json_object_get(m->root, "parts"), (size_t)part);
    struct io_box b = {{0}, {0}};
    for (size_t q = 0; q < 3; q++) {
        b.lo[q] = (int64_t)json_integer_value(json_array_get(list, q));
        b.n[q] = (int64_t)json_integer_value(json_array_get(list, q + 3));
        if (b.lo[q] < 0 || b.n[q] < 0 || b.lo[q] > m->n || b.n[q] > m->n - b.lo[q])
            return (struct io_box){{0}, {0}};
    }
    return b;
}

struct identity *io_manifest_inodes(const struct io_manifest *m, int64_t *ids_n)
{
    const json_t *list = json_object_get(m->root, "inodes"), *one;
    struct identity *id = calloc(json_array_size(list) + 1, sizeof *id);
    size_t i;
    *ids_n = id ? (int64_t)json_array_size(list) : 0;
    if (!id) return NULL;
    json_array_foreach(list, i, one)
    {
        const char *text = json_string_value(one);
        struct identity x = IDENTITY_NONE;
        const bool whole = text && sscanf(text, "%" SCNd64 ":%" SCNd64 ":%" SCNd64 ":%" SCNd64,
                                          &x.device, &x.inode, &x.born_ns, &x.bytes) == 4;
        id[i] = whole ? x : IDENTITY_NONE;
    }
    return id;
}

int io_manifest_withdraw_claims(struct io_manifest *m, const struct identity *id, int64_t ids_n)
{
    TRY(io_manifest_identities(m, id, ids_n));
    m->durable = true;
    return io_manifest_write(m, true);
}
