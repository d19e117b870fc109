/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/manifest_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

static const char *const sync_name[] = {
    [IO_SYNC_NONE] = "none", [IO_SYNC_DUMP] = "dump", [IO_SYNC_END] = "end"};

const char *io_sync_name(enum io_sync sync)
{
    return sync_name[sync];
}

int io_sync_find(const char *name)
{
    for (int i = IO_SYNC_NONE; i <= IO_SYNC_END; i++)
        if (strcmp(name, sync_name[i]) == 0) return i;
    return -1;
}

int io_manifest_no_memory(const struct io_manifest *m)
{
    return mem_error("the manifest %s", m->path);
}

int io_manifest_draw_run_id(struct io_manifest *m)
{
    uint64_t word[2];
    if (getrandom(word, sizeof word, 0) != (ssize_t)sizeof word) {
        return err_set_errno(ERR_IO, errno, "getrandom");
    }
    json_t *id = json_sprintf("%016" PRIx64 "%016" PRIx64, word[0], word[1]);
    return json_object_set_new(m->root, "run_id", id) == 0 ? 0 : io_manifest_no_memory(m);
}

const char *io_manifest_endian(enum io_format format)
{
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    return little != io_body_swapped(&(struct io_body){.format = format}) ? "little" : "big";
}

/* Sets what belongs to a run rather than to its file. */
int io_manifest_describe_run(struct io_manifest *m, const struct io_spec *s)
{
    const struct io_setting *row;
    json_t *settings = json_object(), *hints = json_array();
    for (int i = 0; (row = io_setting_at(i)) != NULL; i++) {
        const int64_t value = row->key ? 0 : io_setting_get(row, &s->tuning);
        if (row->key) continue;
        js_set(settings, row->name, row->arg ? json_integer(value) : json_boolean(value != 0));
    }
    for (int h = 0; h < s->hints_n; h++)
        json_array_append_new(hints, js_text(s->hints[h]));
    const bool whole = json_array_size(hints) == (size_t)s->hints_n;
    js_set(settings, "hints", hints);
    if (json_object_set_new(m->root, "settings", settings) < 0 || !whole ||
        json_object_set_new(m->root, "sync", json_string(io_sync_name(s->sync))) < 0)
        return io_manifest_no_memory(m);
    return 0;
}

static json_t *describe(const char *name, const struct io_spec *s)
{
    return json_pack("{ss ss ss ss ss sI si si sI sI sI sf sI ss ss ss s[]}", "schema",
                     IO_MANIFEST_SCHEMA, "run_id", "", "file", name, "layout",
                     io_layout_name(s->layout), "endian", io_manifest_endian(IO_RAW), "n",
                     (json_int_t)s->n, "components", IO_NCOMP, "word_bytes", IO_WORD_BYTES,
                     "dump_bytes", (json_int_t)io_dump_bytes(s->layout, s->n), "dumps_planned",
                     (json_int_t)s->dumps_n, "steps", (json_int_t)s->steps_n, "dt", s->dt,
                     "interval", (json_int_t)s->interval, "writer", s->writer ? s->writer : "",
                     "kernel", s->kernel ? s->kernel : "", "hash", "nht1-h64/1", "dumps");
}

/* jansson writes the head with an empty list, whose end is cut off. */
int io_manifest_make_head(struct io_manifest *m)
{
    json_object_del(m->root, "dumps");
    if (json_object_set_new(m->root, "dumps", json_array()) < 0) return io_manifest_no_memory(m);
    free(m->head);
    m->head = json_dumps(m->root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!m->head) return io_manifest_no_memory(m);
    m->head[strlen(m->head) - strlen("]\n}")] = '\0';
    return 0;
}

int io_manifest_new(struct io_manifest **out, const char *path, const char *name,
                    const struct io_spec *spec)
{
    *out = NULL;
    struct io_manifest *m = mem_new(1, sizeof *m, "the manifest %s", path);
    if (!m) return ERR_NOMEM;
    m->path = path;
    m->n = spec->n;
    m->planned_n = spec->dumps_n;
    m->durable = spec->sync != IO_SYNC_NONE;
    m->root = describe(name, spec);
    int rc = m->root
                 ? io_manifest_draw_run_id(m)
                 : err_set(ERR_USAGE, "cannot put the name %s into a manifest: is it UTF-8?", name);
    if (rc == 0) rc = io_manifest_describe_run(m, spec);
    if (rc == 0) rc = io_manifest_make_head(m);
    if (rc < 0)
        io_manifest_free(m);
    else
        *out = m;
    return rc;
}

int io_manifest_body(struct io_manifest *m, const struct io_body *body)
{
    json_t *said = json_pack("{ss ss ss sI}", "format", io_format_name(body->format), "variable",
                             "solution", "endian", io_manifest_endian(body->format), "file_bytes",
                             (json_int_t)body->file_bytes);
    const bool chunked = body->data_offset < 0;
    int rc = json_object_set_new(said, chunked ? "chunk" : "data_offset",
                                 json_integer(chunked ? body->chunk : body->data_offset));
    if (rc == 0) rc = json_object_update(m->root, said);
    json_decref(said);
    return rc == 0 ? io_manifest_make_head(m) : io_manifest_no_memory(m);
}

int io_manifest_parts(struct io_manifest *m, const struct io_view *views, int ranks_n)
{
    json_t *parts = json_array();
    for (int r = 0; r < ranks_n; r++) {
        const struct io_box *b = &views[r].box;
        json_array_append_new(parts,
                              json_pack("[IIIIII]", (json_int_t)b->lo[0], (json_int_t)b->lo[1],
                                        (json_int_t)b->lo[2], (json_int_t)b->n[0],
                                        (json_int_t)b->n[1], (json_int_t)b->n[2]));
    }
    const bool whole = json_array_size(parts) == (size_t)ranks_n;
    if (json_object_set_new(m->root, "parts", parts) < 0 || !whole) return io_manifest_no_memory(m);
    return io_manifest_make_head(m);
}

int io_manifest_identities(struct io_manifest *m, const struct identity *id, int64_t ids_n)
{
    json_t *list = json_array();
    int rc = list ? 0 : -1;
    for (int64_t i = 0; i < ids_n && rc == 0; i++) {
        if (id[i].inode == IDENTITY_NONE.inode) continue;
        rc = json_array_append_new(
            list, json_sprintf("%" PRId64 ":%" PRId64 ":%" PRId64 ":%" PRId64, id[i].device,
                               id[i].inode, id[i].born_ns, id[i].bytes));
    }
    if (rc < 0) json_decref(list);
    if (rc < 0 || json_object_set_new(m->root, "inodes", list) < 0) return io_manifest_no_memory(m);
    return io_manifest_make_head(m);
}

void io_manifest_free(struct io_manifest *m)
{
    if (!m) return;
    io_journal_end(m->journal, false);
    for (int64_t d = 0; d < m->dumps_n; d++)
        free(m->dump[d].digest);
    free(m->dump);
    free(m->head);
    json_decref(m->root);
    json_decref(m->loaded);
    free(m);
}

const char *io_manifest_run_id(const struct io_manifest *m)
{
    return json_string_value(json_object_get(m->root, "run_id"));
}

static bool text_is(const json_t *root, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text && strcmp(text, wanted) == 0;
}

/* What lies at path if it can be a manifest, else NULL. */
static json_t *load_regular(const char *path)
{
    struct stat st;
    json_error_t error;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) return NULL;
    if (st.st_size > IO_MANIFEST_BYTES_MAX) return NULL;
    return json_load_file(path, JSON_REJECT_DUPLICATES, &error);
}

enum io_manifest_kind io_manifest_identify(const char *path, const char *name)
{
    struct stat st;
    if (lstat(path, &st) != 0) return errno == ENOENT ? IO_MANIFEST_NONE : IO_MANIFEST_BLOCKED;
    if (!S_ISREG(st.st_mode)) return IO_MANIFEST_BLOCKED;
    json_t *root = load_regular(path);
    bool ours = text_is(root, "schema", IO_MANIFEST_SCHEMA) && text_is(root, "file", name);
    json_decref(root);
    return ours ? IO_MANIFEST_OURS : IO_MANIFEST_FOREIGN;
}

bool io_manifest_is_of_run(const char *path, const char *run_id)
{
    json_t *root = load_regular(path);
    const bool is = text_is(root, "run_id", run_id);
    json_decref(root);
    return is;
}
